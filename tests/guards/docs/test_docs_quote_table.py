"""docs-quote-table: a quoted entry is the table's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.model import ConfigurationError, MutantDoesNotApply

GUARD = "docs-quote-table"
PAGE = "docs/page.md"
FIRST, SECOND, THIRD, FOURTH = (f"sample.workers.{name}" for name in ("First", "Second", "Third", "Fourth"))
Sample = Callable[..., Any]


@pytest.fixture
def page(sample: Sample) -> Sample:
    """`page(text, more={}, path=PAGE)`: the sample project with a page of documentation, and other edits."""

    def made(text: str, more: dict[str, Any] | None = None, path: str = PAGE) -> Any:
        return sample({path: text, "pyproject.toml": ("docs = []", 'docs = ["docs"]'), **(more or {})})

    return made


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No quote.",
        f'`"{SECOND}": ["alpha"]` and \'{THIRD}\' : None',
        f'```python\nTABLE = {{\n    "{FIRST}": [\n        "beta",\n        "alpha",\n    ],\n    "{THIRD}": None,\n}}\n```',
        f"```\n{FIRST}\tdeps\t--extra beta --extra alpha\n{FOURTH}  trtllm  --extra trtllm\n```",
        f"| actor | extras |\n|---|---|\n| `First` | `beta`, `alpha` |\n| `{SECOND}` | alpha |\n| `Third` | - |\n| `Third` |  |",
        "| actor | engine |\n|---|---|\n| `First` | alpha |",
        "| actor | extras |\n|---|---|\n| First | alpha |\n| `Nobody` | alpha |\n| `sample.workers.Nobody` | alpha |",
        '"package.module.Class": ["extra"], "other.First": None',
        f'"{FIRST}": ["beta", ...] and "{FIRST}": PY_EXECUTABLES.ALPHA and "sample.loggers": "DEBUG"',
        f"{FIRST} deps",
    ],
)
def test_pages_that_hold(page: Sample, text: str) -> None:
    assert page(text).messages(GUARD) == []


@pytest.mark.parametrize(
    ("text", "place", "said", "right", "paste"),
    [
        (f'ä `"{SECOND}": ["beta"]`', "1:29", '["beta"]', '["alpha"]', f'"{SECOND}": ["alpha"],'),
        (
            f"```\n'{FIRST}': ['alpha', 'beta']\n```",
            "2:25",
            '["alpha", "beta"]',
            '["beta", "alpha"]',
            f'"{FIRST}": ["beta", "alpha"],',
        ),
        (f'"{FIRST}": None', "1:25", "None", '["beta", "alpha"]', f'"{FIRST}": ["beta", "alpha"],'),
        (f'\n"{THIRD}":\n  [\n"alpha"]', "3:3", '["alpha"]', "None", f'"{THIRD}": None,'),
        (f'"{SECOND}": ("alpha",)', "1:26", '("alpha",)', '["alpha"]', f'"{SECOND}": ["alpha"],'),
        (f'"{SECOND}": ["alpha"', "1:26", '["alpha"', '["alpha"]', f'"{SECOND}": ["alpha"],'),
        (
            f"    {FIRST}\tdeps\t--extra beta\n",
            "1:26",
            "deps --extra beta",
            "deps --extra beta --extra alpha",
            f"{FIRST}\tdeps\t--extra beta --extra alpha",
        ),
        (
            f"> {FOURTH} deps --extra trtllm",
            "1:25",
            "deps --extra trtllm",
            "trtllm --extra trtllm",
            f"{FOURTH}\ttrtllm\t--extra trtllm",
        ),
        (
            "| actor | its extras |\n|---|---|\n| `First` | `beta` and `idle` |",
            "3:14",
            "beta idle",
            "beta alpha",
            "beta alpha",
        ),
        ("| actor | extras |\n|---|---|\n| `Third` | `alpha` |", "3:14", "alpha", "-", "-"),
        ("| actor | extras |\n|---|---|\n| `First` | None |", "3:13", "-", "beta alpha", "beta alpha"),
    ],
)
def test_a_quote_that_is_not_the_tables(page: Sample, text: str, place: str, said: str, right: str, paste: str) -> None:
    broken = page(text)
    name = next(name for name in ("First", "Second", "Third", "Fourth") if name in text)
    assert broken.messages(GUARD) == [f"{PAGE}:{place}: quotes {name} with {said}, the table has {right}"]
    (finding,) = broken.findings(GUARD)
    assert finding.fix == ("write it as the table has it:", f"    {paste}")
    assert broken.not_green() == {GUARD: "broken"}


@pytest.mark.parametrize("text", [f'"{SECOND}": ["beta"],', f"{SECOND} trtllm --extra beta"])
def test_the_text_to_paste_mends_it(page: Sample, text: str) -> None:
    (finding,) = page(text).findings(GUARD)
    assert page(finding.fix[1].strip()).not_green() == {}


def test_a_row_of_an_actor_without_an_environment(page: Sample) -> None:
    assert page(f"{THIRD} deps --extra alpha").messages(GUARD) == [
        f"{PAGE}:1:22: quotes Third with deps --extra alpha, the table has nothing"
    ]


def test_an_entry_that_the_table_does_not_have(page: Sample) -> None:
    broken = page(f'"{FIRST}s": ["beta"], "sample.b.C": None')
    assert broken.messages(GUARD) == [
        f"{PAGE}:1:2: quotes {FIRST}s, which the table does not have",
        f"{PAGE}:1:37: quotes sample.b.C, which the table does not have",
    ]
    assert [finding.fix for finding in broken.findings(GUARD)] == [
        (f"did you mean '{FIRST}'?",),
        ("quote an entry that is there",),
    ]


def test_a_changed_table_is_noticed_on_every_page_that_quotes_it(page: Sample) -> None:
    changed = {
        "sample/actor_environments.py": (f'"{SECOND}": ["alpha"]', f'"{SECOND}": ["beta"]'),
        "docs/other.md": f"# T\n\n{SECOND} deps --extra alpha",
    }
    guarded = page(f'`"{SECOND}": ["alpha"]`', changed)
    assert [str(finding.location) for finding in guarded.findings(GUARD)] == ["docs/other.md:3:23", f"{PAGE}:1:27"]


def test_an_example_of_an_error_is_free(page: Sample) -> None:
    text = f'<!-- actor-envs: example of an error -->\n```\n"{SECOND}": ["beta"]\n```\n'
    assert page(text).not_green() == {}
    assert len(page(f'{text}"{SECOND}": ["beta"]').findings(GUARD)) == 1


def test_windows_lines_and_restructured_text(page: Sample) -> None:
    text = f'Title\r\n=====\r\n\r\n.. code::\r\n\r\n   "{SECOND}": ["beta"]\r\n'
    guarded = page(text, path="docs/page.rst")
    assert [str(finding.location) for finding in guarded.findings(GUARD)] == ["docs/page.rst:6:29"]


def test_a_table_that_cannot_be_read_blocks_it(page: Sample) -> None:
    guarded = page(f'"{SECOND}": ["beta"]', {"sample/actor_environments.py": "ACTOR_ENVIRONMENTS = 1\n"})
    assert {name: outcome.verdict.value for name, outcome in guarded.outcomes(GUARD).items()} == {PAGE: "blocked"}


def test_an_entry_that_cannot_be_read_blocks_it(page: Sample) -> None:
    broken = {"sample/actor_environments.py": (f'"{SECOND}": ["alpha"]', f'"{SECOND}": ("alpha",)')}
    guarded = page(f'"{SECOND}": ["beta"]', broken)
    assert {name: outcome.verdict.value for name, outcome in guarded.outcomes(GUARD).items()} == {PAGE: "blocked"}


def test_its_mutants(page: Sample) -> None:
    text = f'`"{SECOND}": ["alpha"]`, {FOURTH} trtllm --extra trtllm\n'
    wrong = '["beta", "alpha", "no_such_extra"]'
    quotes = f'`"{SECOND}": ["alpha"]`\n{FOURTH} trtllm --extra trtllm\n'
    leaf = "sample/actor_environments.py"
    assert page(quotes).mutants(GUARD) == [
        (PAGE, "wrong-entry", f'{PAGE}:5: +"{FIRST}": {wrong}'),
        (PAGE, "wrong-entry-in-code", f"{PAGE}:5: +`'{FIRST}': {wrong}`"),
        (PAGE, "wrong-row", f"{PAGE}:5: +{FIRST}\tdeps\t--extra no_such_extra"),
        (PAGE, "unknown-entry", f'{PAGE}:5: +"{FIRST}_gone": None'),
        (
            PAGE,
            "quote-changed",
            f'{PAGE}:1: -`"{SECOND}": ["alpha"]`\n{PAGE}:1: +`"{SECOND}": ["alpha", "no_such_extra"]`',
        ),
        (
            PAGE,
            "table-changed",
            f'{leaf}:9: -    "{SECOND}": ["alpha"],\n{leaf}:9: +    "{SECOND}": ["alpha", "no_such_extra"],',
        ),
        (
            PAGE,
            "quote-changed",
            f"{PAGE}:2: -{FOURTH} trtllm --extra trtllm\n{PAGE}:2: +{FOURTH} trtllm --extra trtllm --extra no_such_extra",
        ),
        (
            PAGE,
            "table-changed",
            f'{leaf}:12: -    "{FOURTH}": ["trtllm"],\n{leaf}:12: +    "{FOURTH}": ["trtllm", "no_such_extra"],',
        ),
    ]
    assert len(page(text).mutants(GUARD)) == 6
    free = f"<!-- actor-envs: example of an error -->\n```\n{FIRST} deps --extra beta\n```\n"
    assert [shape for _, shape, _ in page(free).mutants(GUARD)] == [
        "wrong-entry",
        "wrong-entry-in-code",
        "wrong-row",
        "unknown-entry",
    ]


def test_a_table_without_entries_gives_it_no_mutant(page: Sample) -> None:
    guarded = page("x", {"sample/actor_environments.py": "ACTOR_ENVIRONMENTS = {}\n"})
    with pytest.raises(MutantDoesNotApply) as error:
        guarded.mutants(GUARD)
    assert str(error.value) == "the table has no entry that a page could quote"


def test_a_configured_page_that_is_not_there_is_an_error(sample: Sample) -> None:
    configured = {"guide/page.md": "x", "pyproject.toml": ("docs = []", 'docs = ["guide", "guide/page.md", "giude"]')}
    with pytest.raises(ConfigurationError) as error:
        sample(configured)
    assert str(error.value) == (
        "pyproject.toml:14:35: configuration: 'docs' names a file that does not exist: giude\n"
        "    paths are relative to the folder of pyproject.toml"
    )
    wrong = {"pyproject.toml": ("docs = []", 'docs = "guide"')}
    with pytest.raises(ConfigurationError, match="'docs' has to be a list of paths of files and folders, not 'guide'"):
        sample(wrong)


def test_a_configured_folder_without_a_page_proves_nothing(sample: Sample) -> None:
    guarded = sample({"guide/picture.svg": "x", "pyproject.toml": ("docs = []", 'docs = ["guide"]')})
    assert [finding.message for finding in guarded.findings(GUARD)] == [
        "found no place to look at, so it proves nothing"
    ]
