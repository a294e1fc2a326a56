from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Small = Callable[..., Any]
GUARD = "extra-evidenced"
LEAF, WORKERS = "pkg/actor_environments.py", "pkg/workers.py"


def workers(imports: str = "") -> dict[str, str]:
    return {WORKERS: f"import ray\n{imports}\n@ray.remote\nclass A: pass\n@ray.remote\nclass B: pass\n"}


def unexplained(place: str, extra: str, name: str = "A") -> str:
    return (
        f"{LEAF}:{place}: nothing explains why {name} needs extra '{extra}': "
        "no import needs it, and no comment above the entry names it\n"
        f"    drop it, or say why on a line above the entry: # {extra}: ..."
    )


def stale(place: str, extra: str, value: str, name: str = "A") -> str:
    return (
        f"{LEAF}:{place}: the comment above {name} names extra '{extra}', which the entry does not have\n"
        f"    remove the name, or add '{extra}' to the entry at {LEAF}:{value}\n"
        "    to mention it all the same, write it as part of a longer name or a path"
    )


def test_every_extra_that_nothing_explains_is_reported_where_it_is_written(small: Small) -> None:
    table = '    "pkg.workers.A": ["alpha", "beta"],\n    # Alpha.\n    "pkg.workers.B": ["alpha"],\n'
    assert small(table, workers()).report(GUARD) == [unexplained("2:23", "alpha"), unexplained("2:32", "beta")]


@pytest.mark.parametrize(
    "imports",
    [
        "import six",
        "from six.moves import urllib as u",
        "class Z:\n    def f(self):\n        import six",
        'NAME = "pkg.helper"',
        "from pkg import helper",
    ],
)
def test_an_import_that_only_the_extra_provides_explains_it(small: Small, imports: str) -> None:
    files = {**workers(imports), "pkg/helper.py": "import six\n"}
    good = small('    "pkg.workers.A": ["alpha"],\n', files)
    assert (good.report(GUARD), good.reasons(GUARD)) == ([], {})


@pytest.mark.parametrize(
    "imports",
    [
        "import ray",
        "import iniconfig",
        "try:\n    import six\nexcept ImportError:\n    pass",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import six",
        "from pkg import helper",
    ],
)
def test_an_import_that_says_nothing_of_the_extra(small: Small, imports: str) -> None:
    files = {**workers(imports), "pkg/helper.py": "def f():\n    import six\n"}
    assert small('    "pkg.workers.A": ["alpha"],\n', files).report(GUARD) == [unexplained("2:23", "alpha")]


def test_of_two_extras_that_bring_the_same_neither_is_explained(small: Small) -> None:
    brings = '\n[tool.pytest-actor-envs.brings]\nbeta = ["six"]\n'
    table = '    "pkg.workers.A": ["alpha", "beta"],\n'
    assert small(table, workers("import six"), brings).report(GUARD) == [
        unexplained("2:23", "alpha"),
        unexplained("2:32", "beta"),
    ]


@pytest.mark.parametrize("comment", ["# Alpha.", "# why\n    # ALPHA-based", "#alpha", "# needs the alpha, as it is"])
def test_a_comment_directly_above_explains_an_extra(small: Small, comment: str) -> None:
    table = f'    {comment}\n    "pkg.workers.A": ["alpha"],\n'
    assert small(table, workers()).report(GUARD) == []


@pytest.mark.parametrize(
    "comment", ["# pkg/alpha.py", "# alphabet", "# alpha\n", '# alpha\n    "pkg.workers.B": None,', "# x.alpha"]
)
def test_a_comment_that_does_not_explain(small: Small, comment: str) -> None:
    table = f'    {comment}\n    "pkg.workers.A": ["alpha"],  # alpha\n'
    line = 3 + comment.count("\n")
    found = small(table, workers()).outcomes(GUARD)["pkg.workers.A"].findings
    assert [f"{finding.location}: {finding.message}" for finding in found] == [
        unexplained(f"{line}:23", "alpha").split("\n")[0]
    ]


def test_each_extra_that_a_comment_names_and_the_entry_lacks_is_stale(small: Small) -> None:
    table = (
        '    # ä: Beta, alpha and\n    #   beta.\n    "pkg.workers.A": None,\n'
        '    # Alpha and beta.\n    "pkg.workers.B": ["Alpha"],\n'
    )
    broken = small(table, workers())
    assert broken.outcomes(GUARD)["pkg.workers.B"].reason == "extra-declared"
    assert broken.report(GUARD) == [stale("2:10", "beta", "4:22"), stale("2:16", "alpha", "4:22")]
    spelt = small(table.replace('["Alpha"]', '["alpha"]'), workers())
    assert spelt.report(GUARD)[2:] == [stale("5:17", "beta", "6:22", "B")]


def test_every_suggestion_makes_it_green(small: Small) -> None:
    entry = '    "pkg.workers.A": ["alpha"],\n'
    [line] = small(entry, workers()).report(GUARD)
    comment = line.rpartition("entry: ")[2]
    assert small(f"    {comment}\n{entry}", workers()).report(GUARD) == []
    assert small(entry.replace('["alpha"]', "None"), workers()).report(GUARD) == []
    named = '    # Alpha {}.\n    "pkg.workers.A": ["alpha"],\n'
    assert len(small(named.format("and beta"), workers()).report(GUARD)) == 1
    assert small(named.format("and pkg/beta"), workers()).report(GUARD) == []
    assert small(named.format("and beta").replace('"]', '", "beta"]'), workers()).report(GUARD) == []


def test_what_other_guards_reject_is_left_to_them(small: Small) -> None:
    table = '    "pkg.workers.A": ["alfa"],\n    "pkg.workers.Gone": ["alpha"],\n    "pkg.workers.B": ("alpha",),\n'
    assert small(table, workers()).reasons(GUARD) == {
        "pkg.workers.A": "blocked: extra-declared",
        "pkg.workers.Gone": "blocked: actor-resolves",
        "pkg.workers.B": "blocked: leaf-table-literal",
    }


def test_its_mutants_add_and_drop_extras_and_leave_comments(small: Small) -> None:
    table = (
        '    "pkg.workers.Gone": None,\n'
        '    # Needs alpha.\n    "pkg.workers.A": ["alpha"],\n'
        '    "pkg.workers.B": None,\n'
    )
    whole = '    # Alpha, Beta.\n    "pkg.workers.C": ["beta", "alpha"],\n'
    files = workers()
    files[WORKERS] += "@ray.remote\nclass C: pass\n"
    stale_alpha = f"{LEAF}:5: +    # Needs alpha."
    *others, added, stale, one, two = small(table + whole, files).mutants(GUARD)
    # C has every extra, so that one more is declared: test_spare_extra.py.
    assert [shape for _, shape, _ in (added, stale)] == ["extra-added", "comment-stale"]
    assert [*others, one, two] == [
        (
            "pkg.workers.A",
            "extra-added",
            f'{LEAF}:4: -    "pkg.workers.A": ["alpha"],\n{LEAF}:4: +    "pkg.workers.A": ["alpha", "beta"],',
        ),
        ("pkg.workers.A", "comment-stale", f"{LEAF}:4: +    # Needs beta."),
        (
            "pkg.workers.A",
            "extra-dropped",
            f'{LEAF}:4: -    "pkg.workers.A": ["alpha"],\n{LEAF}:4: +    "pkg.workers.A": None,',
        ),
        (
            "pkg.workers.B",
            "extra-added",
            f'{LEAF}:5: -    "pkg.workers.B": None,\n{LEAF}:5: +    "pkg.workers.B": ["alpha"],',
        ),
        ("pkg.workers.B", "comment-stale", stale_alpha),
        (
            "pkg.workers.C",
            "extra-dropped",
            f'{LEAF}:7: -    "pkg.workers.C": ["beta", "alpha"],\n{LEAF}:7: +    "pkg.workers.C": ["beta"],',
        ),
        (
            "pkg.workers.C",
            "extra-dropped",
            f'{LEAF}:7: -    "pkg.workers.C": ["beta", "alpha"],\n{LEAF}:7: +    "pkg.workers.C": ["alpha"],',
        ),
    ]


def test_its_mutants_add_no_extra_that_an_import_would_explain(small: Small) -> None:
    shapes = [shape for _, shape, _ in small('    "pkg.workers.A": None,\n', workers("import six")).mutants(GUARD)]
    assert shapes == ["comment-stale"]
    imported = small('    "pkg.workers.A": ["alpha"],\n', workers("import six")).mutants(GUARD)
    assert [(shape, change.rpartition(": +")[2]) for _, shape, change in imported] == [
        ("extra-added", '    "pkg.workers.A": ["alpha", "beta"],'),
        ("comment-stale", "    # Needs beta."),
    ]
    table = '    # Beta.\n    "pkg.workers.A": ["beta"],\n'
    assert [
        change.rpartition(": +")[2] for _, _, change in small(table, workers("import iniconfig")).mutants(GUARD)
    ] == [
        '    "pkg.workers.A": ["beta", "alpha"],',
        "    # Needs alpha.",
        '    "pkg.workers.A": None,',
    ]
