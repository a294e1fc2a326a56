"""fingerprint-documented: the page lists exactly the keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

GUARD = "fingerprint-documented"
PAGE, SCRIPT, LEAF = "docs/versions.md", "tools/generate_fingerprint.py", "sample/actor_environments.py"
LISTED = f"# Versions\n\n- `pyproject.toml`\n- `uv.lock`, if there is one\n- `{LEAF}`\n"
Sample = Callable[..., Any]


@pytest.fixture
def page(sample: Sample) -> Sample:
    """`page(text, more={}, path=PAGE)`: the sample project with its page of the fingerprint's keys, and other edits."""

    def made(text: str, more: dict[str, Any] | None = None, path: str = PAGE) -> Any:
        return sample({path: text, "pyproject.toml": ("docs = []", f'fingerprint-page = "{path}"'), **(more or {})})

    return made


@pytest.mark.parametrize(
    "text",
    [
        LISTED,
        LISTED.replace("- ", "1. "),
        f"| key | what |\n|---|---|\n| `pyproject.toml` | `x` |\n| `uv.lock` | |\n| `{LEAF}` | |\n",
        f"- `other`\n- `uv.lock`\n\ntext\n\n{LISTED}",
        f"{LISTED}- and the submodules\n",
        f"- a\n\n  - `pyproject.toml`\n  - `uv.lock`\n  - `{LEAF}`\n- `b`\n",
    ],
)
def test_pages_that_hold(page: Sample, text: str) -> None:
    guarded = page(text)
    assert sorted(guarded.outcomes(GUARD)) == ["pyproject.toml", LEAF, "uv.lock"]
    assert guarded.not_green() == {}


def test_restructured_text(page: Sample) -> None:
    text = f"* ``pyproject.toml``\n* ``uv.lock`` the lock\n* ``{LEAF}``\n\nEnd\n"
    assert page(text, path="docs/page.rst").not_green() == {}
    assert page(text.replace("uv.lock", "uv.lok"), path="docs/page.rst").messages(GUARD) == [
        "docs/page.rst:3:5: the list of the fingerprint's keys lacks 'uv.lock'",
        "docs/page.rst:2:5: lists 'uv.lok', which is no key of the fingerprint",
    ]


def test_a_key_that_the_page_does_not_list(page: Sample) -> None:
    broken = page(LISTED.replace(f"- `{LEAF}`\n", ""))
    assert broken.messages(GUARD) == [f"{PAGE}:4:4: the list of the fingerprint's keys lacks '{LEAF}'"]
    (finding,) = broken.findings(GUARD)
    assert finding.fix == ("add an item:", f"    - `{LEAF}`")
    mended = LISTED.replace(f"- `{LEAF}`\n", f"{finding.fix[1].strip()}\n")
    assert page(mended).not_green() == {}


def test_a_key_that_the_script_adds(page: Sample) -> None:
    broken = page(LISTED, {SCRIPT: ("for path in COVERED}", "for path in COVERED} | {'ray': '2'}")})
    assert broken.messages(GUARD) == [f"{PAGE}:5:4: the list of the fingerprint's keys lacks 'ray'"]
    assert broken.not_green() == {GUARD: "broken"}


def test_a_listed_key_that_the_script_does_not_have(page: Sample) -> None:
    broken = page(LISTED.replace("- `uv.lock`", "- `ray`\n- `uv.lock`"))
    assert broken.messages(GUARD) == [f"{PAGE}:4:4: lists 'ray', which is no key of the fingerprint"]
    (finding,) = broken.findings(GUARD)
    assert finding.fix == (f"remove the item; keys: pyproject.toml, {LEAF}, uv.lock",)


@pytest.mark.parametrize("text", ["", "`uv.lock`\n", "- uv.lock\n", "- `other`\n"])
def test_a_page_without_a_list(page: Sample, text: str) -> None:
    assert page(text).messages(GUARD) == [f"{PAGE}:1:1: no list of the fingerprint's keys"] * 3


def test_a_script_that_raises_blocks_it(page: Sample) -> None:
    guarded = page(LISTED, {SCRIPT: ("    return {", "    raise OSError('no git')\n    return {")})
    assert guarded.not_green() == {"fingerprint-covers-file": "broken", GUARD: "blocked"}
    assert guarded.reasons(GUARD) == {"(all subjects)": "blocked: fingerprint-covers-file"}


def test_a_subject_stands_on_the_page_or_else_in_the_script(page: Sample) -> None:
    guarded = page(LISTED, {SCRIPT: ("for path in COVERED}", "for path in COVERED} | {'ray': '2'}")})
    cases = guarded.evaluation.cases(guarded.evaluation.guards[GUARD])
    assert {case.subject.name: str(case.subject.location) for case in cases} == {
        "pyproject.toml": f"{PAGE}:3:4",
        "uv.lock": f"{PAGE}:4:4",
        LEAF: f"{PAGE}:5:4",
        "ray": f"{SCRIPT}:8:1",
    }


def test_the_guard_is_off_without_a_page_or_a_script(page: Sample, sample: Sample) -> None:
    assert GUARD not in sample().evaluation.guards
    assert GUARD not in page(LISTED, {SCRIPT: None}).evaluation.guards


def test_its_mutants(page: Sample) -> None:
    lines = {3: "pyproject.toml", 4: "uv.lock", 5: LEAF}
    rests = {"uv.lock": ", if there is one"}
    expected = []
    for line, key in lines.items():
        rest = rests.get(key, "")
        old = f"{PAGE}:{line}: -- `{key}`{rest}"
        expected += [
            (key, "not-listed", old),
            (key, "listed-misspelt", f"{old}\n{PAGE}:{line}: +- `{key}_gone`{rest}"),
            ("no/such/key", "listed-needlessly", f"{old}\n{PAGE}:{line}: +- `no/such/key` and `{key}`{rest}"),
        ]
    *listed, added = page(LISTED).mutants(GUARD)
    assert listed == expected
    assert added[:2] == ("no/such/file", "key-added")
    assert '    values["no/such/file"] = "0" * 32' in added[2]
    assert page(LISTED.rstrip()).mutants(GUARD)[-3][:2] == (LEAF, "listed-misspelt")
