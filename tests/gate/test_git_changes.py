"""What differs from a commit, as git says it, and what of the table differs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_actor_envs.gate.changes import (
    GIT_VARIABLES_OF_HOOKS,
    Changes,
    _around,
    changed_entries,
    changes_since,
    differ_in_entries_only,
)
from pytest_actor_envs.model import ConfigurationError
from pytest_actor_envs.project import Project, project_in_memory
from tests.gate.conftest import FILES, LEAF

IDENTITY = ("-c", "user.name=someone", "-c", "user.email=someone@example.invalid")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose folder `in` has a file of each kind, changed since its one commit."""
    root = tmp_path_factory.mktemp("repository")
    (root / "in/deep").mkdir(parents=True)
    for name in ("in/changed.txt", "in/moved.txt", "in/gone.txt", "in/same.txt", "in/deep/tab\t.txt", "outside.txt"):
        (root / name).write_text(f"before {name}\n")
    (root / "in/latin.txt").write_bytes(b"caf\xe9\n")
    (root / "in/.gitignore").write_text("*.ignored\n")
    for arguments in (["init", "--quiet"], ["add", "--all"], [*IDENTITY, "commit", "--quiet", "--message", "first"]):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    for name in (
        "in/changed.txt",
        "in/latin.txt",
        "outside.txt",
        "in/deep/new é.txt",
        "in/deep/tab\t.txt",
        "in/new.ignored",
    ):
        (root / name).write_text("after\n")
    (root / "in/moved.txt").rename(root / "in/at.txt")
    subprocess.run(["git", "add", "in/at.txt", "in/moved.txt"], cwd=root, check=True)
    (root / "in/gone.txt").unlink()
    return root


CHANGED = {
    "at.txt": None,
    "changed.txt": "before in/changed.txt\n",
    "deep/new é.txt": None,
    "deep/tab\t.txt": "before in/deep/tab\t.txt\n",
    "gone.txt": "before in/gone.txt\n",
    "latin.txt": "caf�\n",
    "moved.txt": "before in/moved.txt\n",
}


@pytest.mark.parametrize("reference", ["HEAD", "HEAD^0"])
def test_files_of_the_folder_differ_with_their_text_in_the_commit(repository: Path, reference: str) -> None:
    changes = changes_since(repository / "in", reference)
    assert changes == Changes(CHANGED)
    assert list(changes.before) == sorted(CHANGED)
    assert changes.added == {"at.txt", "deep/new é.txt"}


def test_what_a_hook_sets_does_not_count(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in GIT_VARIABLES_OF_HOOKS:
        monkeypatch.setenv(name, str(repository / "nowhere"))
    assert changes_since(repository / "in", "HEAD") == Changes(CHANGED)


def test_no_change_and_changes_of_one_kind_only(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    for arguments in (["init", "--quiet"], ["add", "--all"], [*IDENTITY, "commit", "--quiet", "--message", "first"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    assert changes_since(tmp_path, "HEAD") == Changes({})
    (tmp_path / "a.txt").write_text("b\n")
    assert changes_since(tmp_path, "HEAD") == Changes({"a.txt": "a\n"})
    (tmp_path / "a.txt").write_text("a\n")
    new = os.fsdecode(b"n\xff.txt")  # no UTF-8, which the name of a file need not be
    (tmp_path / new).write_text("")
    assert changes_since(tmp_path, "HEAD") == Changes({new: None})


@pytest.mark.parametrize("reference", ["nowhere", "HEAD:in", "--all"])
def test_what_is_no_commit_is_an_error_with_the_way_out(
    repository: Path, reference: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        changes_since(repository / "in", reference)
    assert str(raised.value) == (
        f"gate: git knows no commit '{reference}' in in\n    commits: git log --oneline; without one: actor-envs gate"
    )
    assert capfd.readouterr() == ("", "")


def test_the_project_is_named_from_within_and_a_shallow_clone_told_how_to_get_more(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    source = f"file://{repository}"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", source, clone], check=True)
    monkeypatch.chdir(clone)
    with pytest.raises(ConfigurationError) as raised:
        changes_since(Path(), "HEAD~1")
    assert str(raised.value) == (
        "gate: git knows no commit 'HEAD~1' in clone\n    commits: git log --oneline; "
        "more of this shallow clone: git fetch --unshallow; without one: actor-envs gate"
    )


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A repository with one commit and a file that has changed since; the tests damage it."""
    root = tmp_path / "damaged"
    root.mkdir()
    (root / "a.txt").write_text("a\n")
    for arguments in (["init", "--quiet"], ["add", "--all"], [*IDENTITY, "commit", "--quiet", "--message", "first"]):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    (root / "a.txt").write_text("longer\n")
    return root


def object_of(root: Path, name: str) -> Path:
    """The file in which git keeps an object."""
    asked = subprocess.run(["git", "rev-parse", name], cwd=root, capture_output=True, text=True, check=True)
    digest = asked.stdout.strip()
    return root / ".git/objects" / digest[:2] / digest[2:]


def damage_index(root: Path) -> None:
    (root / ".git/index").write_text("no index")


def damage_tree(root: Path) -> None:
    object_of(root, "HEAD^{tree}").unlink()


def damage_file(root: Path) -> None:
    (root / "a.txt").unlink()  # git compares the text of one that is there, and fails earlier
    object_of(root, "HEAD:a.txt").unlink()


def damage_configuration(root: Path) -> None:
    (root / ".git/config").write_text("[")


@pytest.mark.parametrize(
    ("damage", "question", "said"),
    [
        (damage_index, "diff", "index file smaller than expected"),
        (damage_tree, "diff", "tree"),
        (damage_file, "show", ""),
        (damage_configuration, "rev-parse", "bad config line"),
    ],
)
def test_where_git_fails_that_is_an_error_and_not_no_change(
    damage: Callable[[Path], None], question: str, said: str, damaged: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    damage(damaged)
    with pytest.raises(ConfigurationError) as raised:
        changes_since(damaged, "HEAD")
    beginning, way_out = str(raised.value).rsplit("\n", 1)
    assert beginning.startswith(f"gate: git {question} fails, so nobody knows what has changed: ")
    assert said in beginning
    assert way_out == "    do what git says (git fsck looks for damage), or prove everything: actor-envs gate"
    assert capfd.readouterr() == ("", "")


def test_outside_a_repository_git_says_why_it_cannot_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(ConfigurationError, match=r"git rev-parse fails.*not a git repository"):
        changes_since(tmp_path, "HEAD")


@pytest.mark.parametrize(
    ("program", "reason"),
    [("exit 3", "it ended with 3"), ("kill -9 $$", "it ended with -9"), ("printf 'x\\351' >&2; exit 2", "x\ufffd")],
)
def test_a_git_that_says_nothing_or_no_text_is_told_by_its_status(
    program: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text(f"#!/bin/sh\n{program}\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(ConfigurationError) as raised:
        changes_since(tmp_path, "HEAD")
    assert str(raised.value).split("\n")[0] == (
        f"gate: git rev-parse fails, so nobody knows what has changed: {reason}"
    )


def test_a_file_that_git_was_told_to_forget_has_its_text_in_the_commit(damaged: Path) -> None:
    subprocess.run(["git", "rm", "--quiet", "--cached", "a.txt"], cwd=damaged, check=True)
    assert changes_since(damaged, "HEAD") == Changes({"a.txt": "a\n"})


def test_a_submodule_is_no_file_of_a_commit(damaged: Path) -> None:
    head = object_of(damaged, "HEAD")
    submodule = f"160000,{head.parent.name}{head.name},inner"
    subprocess.run(["git", "update-index", "--add", "--cacheinfo", submodule], cwd=damaged, check=True)
    subprocess.run(["git", *IDENTITY, "commit", "--quiet", "--message", "second"], cwd=damaged, check=True)
    subprocess.run(["git", "rm", "--quiet", "--cached", "inner"], cwd=damaged, check=True)
    assert changes_since(damaged, "HEAD") == Changes({"a.txt": "a\n", "inner": None})


def test_without_git_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError) as raised:
        changes_since(tmp_path, "HEAD")
    assert str(raised.value) == "gate: --since needs git, which is not installed"


def with_leaf(text: str | None) -> Project:
    return project_in_memory(FILES).with_overlay({"pkg/envs.py": text})


ONE, TWO = '    "pkg.workers.One": ["a"],\n', '    "pkg.others.Two": None,\n'


def test_entries_that_are_new_or_say_something_else_are_changed_wherever_they_stand() -> None:
    before = with_leaf(LEAF)
    three = '    "pkg.three.Three": None,\n'
    assert changed_entries(before, with_leaf(LEAF.replace(ONE + TWO, TWO + ONE + three))) == {"pkg.three.Three"}
    assert changed_entries(before, with_leaf(LEAF.replace('["a"]', '["b"]'))) == {"pkg.workers.One"}
    assert changed_entries(before, with_leaf(LEAF.replace(ONE, ""))) == frozenset()
    assert changed_entries(before, with_leaf(LEAF.replace(TWO, f"    # said\n{TWO}"))) == {"pkg.others.Two"}


def test_what_stands_around_the_entries_of_a_leaf() -> None:
    above, below = _around(with_leaf(LEAF)) or ("", "")
    assert above == LEAF[: LEAF.index("{\n") + 1]
    assert below == LEAF[LEAF.index(TWO) + len(TWO) - 1 :]
    assert _around(with_leaf(LEAF.replace("{\n", "{  # é\n", 1))) == (above, below)
    assert _around(with_leaf(LEAF.replace("None,\n", "None\n"))) == (above, below)


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        (LEAF, True),
        (LEAF.replace(ONE + TWO, f"    # x\n{TWO}{ONE}"), True),
        (LEAF.replace(ONE, "").replace("None,", "[]"), True),
        (LEAF.replace("return 0", "return 3"), False),
        (LEAF.replace('"""The table."""', ""), False),
        (LEAF.replace(ONE, "").replace(TWO, ""), False),
        (LEAF.replace("None,\n", "None,\n    **others,\n"), False),
        (LEAF + "(", False),
        (LEAF.replace('table."""', 'table."""\nX = {1: 2}'), False),
        (LEAF.replace("ACTOR_ENVIRONMENTS: ", "OTHERS: "), False),
    ],
)
def test_only_entries_differ_where_the_rest_is_the_same(text: str, alike: bool) -> None:
    assert differ_in_entries_only(with_leaf(text), with_leaf(LEAF)) is alike
    assert differ_in_entries_only(with_leaf(LEAF), with_leaf(text)) is alike


def test_another_display_above_the_table_is_no_part_of_it() -> None:
    one, other = (with_leaf(LEAF.replace('table."""', f'table."""\nX = {{{number}: 2}}')) for number in (1, 3))
    assert differ_in_entries_only(one, other) is False
    assert differ_in_entries_only(one, one) is True


def test_two_leaves_without_entries_are_not_alike() -> None:
    empty = LEAF.replace(ONE, "").replace(TWO, "")
    assert differ_in_entries_only(with_leaf(empty), with_leaf(empty)) is False


def test_where_there_was_no_leaf_every_entry_is_new() -> None:
    assert changed_entries(with_leaf(None), with_leaf(LEAF)) == {"pkg.workers.One", "pkg.others.Two"}
    assert changed_entries(with_leaf(LEAF), with_leaf(None)) == frozenset()
    assert differ_in_entries_only(with_leaf(None), with_leaf(LEAF)) is False
    assert differ_in_entries_only(with_leaf(None), with_leaf(None)) is False
