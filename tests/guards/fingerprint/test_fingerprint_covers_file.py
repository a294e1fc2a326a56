from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.guards.fingerprint import fingerprint_covers_file as guard

Sample = Callable[..., Any]
GUARD = "fingerprint-covers-file"
SCRIPT, LEAF = "tools/generate_fingerprint.py", "sample/actor_environments.py"
PLACE = f"{SCRIPT}:8:1: "
HASHED = "hashlib.md5((root / path).read_bytes()).hexdigest()"
EMPTY = hashlib.md5(b"").hexdigest()


def test_each_covered_file_is_a_subject_also_one_that_does_not_exist(sample: Sample) -> None:
    assert sorted(sample().outcomes(GUARD)) == ["pyproject.toml", LEAF, "uv.lock"]


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_other_hashes_are_hashes_too(sample: Sample, kind: str) -> None:
    assert sample({SCRIPT: ("hashlib.md5", f"hashlib.{kind}")}).not_green() == {}


def test_an_entry_that_hashes_another_file(sample: Sample) -> None:
    broken = sample({SCRIPT: (HASHED, HASHED.replace("/ path", '/ ("uv.lock" if path.endswith(".py") else path)'))})
    messages = broken.messages(GUARD)
    stand_in = b"stands in for a file that this checkout does not have\n"
    assert messages == [
        f"{PLACE}the entry {LEAF} is not the hash of that file: {hashlib.md5(stand_in).hexdigest()}",
        f"{PLACE}a changed byte in {LEAF} does not change its entry",
        f"{PLACE}a changed byte in uv.lock changes the entry {LEAF}",
    ]
    assert [finding.fix for finding in broken.findings(GUARD)] == [
        ("hash the bytes of the file that the key names",),
        ("hash the whole file",),
        ("hash only the file that the key names",),
    ]
    assert set(broken.not_green()) == {GUARD}


def test_a_covered_file_that_has_no_entry(sample: Sample) -> None:
    broken = sample({SCRIPT: (', "sample/actor_environments.py")', ")")})
    [finding] = broken.findings(GUARD)
    assert f"{finding.location}: {finding.message}" == f"{PLACE}the fingerprint has no key {LEAF}"
    assert finding.fix == ("cover the file; keys: pyproject.toml, uv.lock",)


def test_a_fingerprint_without_any_entry(sample: Sample) -> None:
    broken = sample({SCRIPT: ("for path in COVERED", "for path in ()")})
    assert {finding.fix for finding in broken.findings(GUARD)} == {("cover the file; keys: none",)}


def test_an_entry_of_less_than_the_whole_file(sample: Sample) -> None:
    broken = sample({SCRIPT: ("read_bytes()", "read_bytes()[:0]")})
    assert broken.messages(GUARD)[:2] == [
        f"{PLACE}the entry pyproject.toml is not the hash of that file: {EMPTY}",
        f"{PLACE}a changed byte in pyproject.toml does not change its entry",
    ]


def test_an_entry_that_mixes_files(sample: Sample) -> None:
    everything = "hashlib.md5(b''.join((root / p).read_bytes() for p in COVERED)).hexdigest()"
    mixed = f"({HASHED} if path != 'uv.lock' else {everything})"
    messages = sample({SCRIPT: (HASHED, mixed)}).messages(GUARD)
    assert f"{PLACE}a changed byte in pyproject.toml changes the entry uv.lock" in messages
    assert f"{PLACE}a changed byte in {LEAF} changes the entry uv.lock" in messages


def test_an_entry_that_comes_and_goes(sample: Sample) -> None:
    extra = "{path: 'x' for path in ('other',) if (root / 'uv.lock').read_bytes().endswith(b'\\n\\n')}"
    broken = sample({SCRIPT: ("for path in COVERED}", f"for path in COVERED}} | {extra}")})
    assert broken.messages(GUARD) == [f"{PLACE}a changed byte in uv.lock changes the entry other"]


def test_more_entries_than_covered_files_are_welcome(sample: Sample) -> None:
    assert (
        sample({SCRIPT: ("for path in COVERED}", "for path in COVERED} | {'submodules/x': 'missing'}")}).not_green()
        == {}
    )


def test_a_function_that_raises(sample: Sample) -> None:
    broken = sample({SCRIPT: ("    return {", "    raise OSError('no git')\n    return {")})
    assert set(broken.messages(GUARD)) == {f"{SCRIPT}:9:1: the function fingerprint raised OSError: no git"}
    assert len(broken.messages(GUARD)) == 3


def test_a_file_that_is_no_text(sample: Sample, tmp_path: Any) -> None:
    from pytest_actor_envs.project import open_project

    for path, text in sample().project.tree.overlay.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    (tmp_path / "uv.lock").write_bytes(b"\xff\xfe\x00")
    project = open_project(tmp_path)
    guarded = type(sample())(project)
    assert guarded.messages(GUARD) == []


def test_the_family_is_off_without_a_script(sample: Sample) -> None:
    guarded = sample({SCRIPT: None})
    assert GUARD not in guarded.evaluation.guards


def test_its_mutants(sample: Sample) -> None:
    covered = ("pyproject.toml", "uv.lock", LEAF)
    digests = {path: sample().project.tree.read_bytes(path) for path in ("pyproject.toml", LEAF)}
    hashes = {path: hashlib.md5(content).hexdigest() for path, content in digests.items()}
    hashes["uv.lock"] = hashlib.md5(b"stands in for a file that this checkout does not have\n").hexdigest()
    expected = []
    for index, file in enumerate(covered):
        other = covered[index - 1]
        no_hash, no_change = f"the entry {file} is not the hash of that file", f"a changed byte in {file}"
        expected += [
            f"{file}, key-lost: the fingerprint has no key {file}",
            f"{file}, constant: {no_hash}: {'0' * 32} | {no_change} does not change its entry",
            f"{file}, other-file: {no_hash}: {hashes[other]} | {no_change} does not change its entry",
            f"{file}, mixed: {no_change} changes the entry {other}",
        ]
    assert sample().proofs(GUARD) == expected


def test_mutants_of_one_covered_file_and_of_no_script(sample: Sample) -> None:
    project = sample({"pyproject.toml": ("docs = []", 'docs = []\nfingerprint-covers = ["pyproject.toml"]')}).project
    assert [mutant.shape for mutant in guard.mutants(project)] == ["key-lost", "constant"]
    two = sample(
        {"pyproject.toml": ("docs = []", f'docs = []\nfingerprint-covers = ["pyproject.toml", "{LEAF}"]')}
    ).project
    assert len(list(guard.mutants(two))) == 8
    bare = sample({SCRIPT: None}).project
    assert (list(guard.mutants(bare)), list(guard.subjects(bare))) == ([], [])


def test_a_process_that_ends_is_reported_at_the_script(sample: Sample) -> None:
    guarded = sample()
    guarded.answer("fingerprint", {"error": {"type": "TimeoutExpired", "message": "slow", "path": None, "line": None}})
    message = "the function fingerprint raised TimeoutExpired: slow"
    assert set(guarded.reports(GUARD)) == {(f"{SCRIPT}:1:1", message, ())}
