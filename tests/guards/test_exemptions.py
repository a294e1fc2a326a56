from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Sample = Callable[..., Any]
GUARD = "exemption-needed"
LEAF, WORKERS, PAGE, DOCKERFILE = "sample/actor_environments.py", "sample/workers.py", "docs/page.md", "Dockerfile"
SECOND = "@ray.remote(num_cpus=1)\nclass Second"
BROKEN = "class Second"


def in_configuration(*entries: str) -> dict[str, tuple[str, str]]:
    return {"pyproject.toml": ("docs = []", f"docs = []\nignore = [{', '.join(entries)}]")}


def with_comment(comment: str, broken: bool = True) -> dict[str, Any]:
    """The leaf with `comment` on its third line, and an import that it may not have below it."""
    return {LEAF: ("import sys\n", f"{comment}\nimport {'numpy' if broken else 'json'}\nimport sys\n")}


def test_an_exemption_that_exempts_holds(sample: Sample) -> None:
    exempt = sample(with_comment("# actor-envs: ignore[leaf-stdlib-only] numpy is everywhere"))
    assert exempt.reports(GUARD) == []
    assert sorted(exempt.outcomes(GUARD)) == [f"{LEAF}:3"]
    assert exempt.reports("leaf-stdlib-only") == []


def test_a_comment_that_exempts_nothing(sample: Sample) -> None:
    stale = sample(with_comment("# actor-envs: ignore[leaf-stdlib-only] numpy is everywhere", broken=False))
    message = "exempts nothing: leaf-stdlib-only has no finding there"
    assert stale.reports(GUARD) == [(f"{LEAF}:3:1", message, ("remove the exemption",))]


def test_a_comment_on_another_line_than_the_finding_exempts_nothing(sample: Sample) -> None:
    comment = "# actor-envs: ignore[leaf-stdlib-only] far away\n\n"
    assert [message for _, message, _ in sample(with_comment(comment)).reports(GUARD)] == [
        "exempts nothing: leaf-stdlib-only has no finding there"
    ]


def test_a_comment_in_another_file_than_the_finding_exempts_nothing(sample: Sample) -> None:
    edits = {
        **with_comment(""),
        WORKERS: ("import ray\n", "import ray\n\n# actor-envs: ignore[leaf-stdlib-only] why\n"),
    }
    text = sample().project.tree.read_text(WORKERS)
    assert "import ray\n" in text
    assert [place for place, _, _ in sample(edits).reports(GUARD)] == [f"{WORKERS}:3:1"]


def test_a_comment_without_a_reason(sample: Sample) -> None:
    bare = sample(with_comment("# actor-envs: ignore[leaf-stdlib-only]"))
    fix = "write it behind the bracket: # actor-envs: ignore[leaf-stdlib-only] why this is right"
    assert bare.reports(GUARD) == [(f"{LEAF}:3:1", "exempts from leaf-stdlib-only without a reason", (fix,))]
    mended = sample(with_comment(fix.partition(": ")[2]))
    assert mended.reports(GUARD) == []


def test_a_misspelt_guard_and_the_advice(sample: Sample) -> None:
    wrong = sample(with_comment("# actor-envs: ignore[leaf-stdlib-onli] why"))
    message = "exempts from 'leaf-stdlib-onli', which is no guard that runs here"
    assert wrong.reports(GUARD) == [(f"{LEAF}:3:1", message, ("did you mean 'leaf-stdlib-only'?",))]
    assert sample(with_comment("# actor-envs: ignore[leaf-stdlib-only] why")).reports(GUARD) == []


def test_a_guard_that_is_like_none_lists_them_all(sample: Sample) -> None:
    unknown = sample(with_comment("# actor-envs: ignore[zzz] why"))
    [(_, _, (fix,))] = unknown.reports(GUARD)
    names = [name for name in unknown.evaluation.guards if name != GUARD]
    assert fix == f"guards: {', '.join(names)}"


@pytest.mark.parametrize("reason", ["", "why"])
def test_an_exemption_in_the_configuration(sample: Sample, reason: str) -> None:
    entry = f'{{ guard = "leaf-stdlib-only", subject = "{LEAF}", reason = "{reason or "x"}" }}'
    exempt = sample({**with_comment(""), **in_configuration(entry)})
    assert exempt.reports(GUARD) == []
    [(place, message, fix)] = sample(in_configuration(entry)).reports(GUARD)
    assert place.startswith("pyproject.toml:15:")
    assert (message, fix) == ("exempts nothing: leaf-stdlib-only has no finding there", ("remove the exemption",))


def test_an_exemption_of_another_subject_exempts_nothing(sample: Sample) -> None:
    entry = '{ guard = "leaf-stdlib-only", subject = "tools/generate_fingerprint.py", reason = "why" }'
    assert len(sample({**with_comment(""), **in_configuration(entry)}).reports(GUARD)) == 1


def test_an_exemption_of_what_is_undecided_is_needed(sample: Sample) -> None:
    undecided = {WORKERS: ("PY_EXECUTABLES.ALPHA", "UNKNOWN")}
    entry = '{ guard = "executable-matches-extras", subject = "sample.workers.Second", reason = "why" }'
    assert sample({**undecided, **in_configuration(entry)}).reports(GUARD) == []


def test_exemptions_are_looked_for_in_scripts_modules_pages_and_dockerfiles(sample: Sample) -> None:
    comment = "# actor-envs: ignore[leaf-not-shadowed] why\n"
    edits = {
        "pyproject.toml": ("docs = []", f'docs = ["{PAGE}"]\ndockerfiles = ["{DOCKERFILE}"]'),
        PAGE: "<!-- actor-envs: ignore[leaf-not-shadowed] why -->\n",
        DOCKERFILE: comment,
        WORKERS: ("import ray\n", f"import ray\n{comment}"),
        "tools/generate_fingerprint.py": ("import hashlib\n", f"import hashlib\n{comment}"),
    }
    guarded = sample({**edits, "elsewhere.py": comment, "sample/notes.txt": comment})
    assert sorted(guarded.outcomes(GUARD)) == [
        f"{DOCKERFILE}:1",
        f"{PAGE}:1",
        f"{WORKERS}:2",
        "tools/generate_fingerprint.py:4",
    ]


def test_its_mutants(sample: Sample) -> None:
    exempt = sample(with_comment("# actor-envs: ignore[leaf-stdlib-only] numpy is everywhere"))
    first = next(iter(exempt.evaluation.guards))
    assert exempt.proofs(GUARD) == [
        f"{LEAF}:2, unknown-guard: exempts from 'no-such-guard', which is no guard that runs here",
        f"{LEAF}:2, stale: exempts nothing: {first} has no finding there",
    ]
    assert exempt.changes(GUARD)[1::2] == [
        f"{LEAF}:2: +# actor-envs: ignore[no-such-guard] why",
        f"{LEAF}:2: +# actor-envs: ignore[{first}] why",
    ]


@pytest.mark.parametrize(
    "between",
    [
        "@ray.remote\n",
        "# for people\n@ray.remote(num_cpus=1)\n",
        "# actor-envs: ignore[actor-is-remote] what it may be\n@other\n@ray.remote(\n    num_cpus=1,\n)\n",
        '@named("(")\n@ray.remote\n',
        "",
    ],
)
def test_a_comment_above_the_decorators_is_above_what_they_decorate(sample: Sample, between: str) -> None:
    def added(comment: str) -> str:
        text = f"{sample().project.tree.read_text(WORKERS)}\n\n{comment}\n"
        decorated = between or "import ray\n@ray.remote\n"
        return f"{text}{decorated}class More:\n    pass\n\n\n@ray.remote\nclass Another:\n    pass\n"

    comment = "# actor-envs: ignore[actor-registered] only people make one"
    named = [finding.message.split()[4] for finding in sample({WORKERS: added(comment)}).findings("actor-registered")]
    assert named == (["Another"] if between else ["Another", "More"])
    bare = sample({WORKERS: added("# only people make one")}).findings("actor-registered")
    assert [finding.message.split()[4] for finding in bare] == ["Another", "More"]
