from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_actor_envs.evaluation import Evaluation, guards_for
from pytest_actor_envs.model import Verdict
from pytest_actor_envs.project import open_project
from tests.guards.conftest import FILES

Sample = Callable[..., Any]
GUARD = "leaf-table-literal"
LEAF = "sample/actor_environments.py"
WRITE_A_LIST = 'write a list: `["extra"]`, or `None` for the driver\'s interpreter'
IN_THE_DISPLAY = "write the entry into the dict display; whoever reads the table by parsing would miss this"


@pytest.mark.parametrize(
    ("old", "new", "place", "message", "fix"),
    [
        (
            '["alpha"]',
            '("alpha",)',
            "9:30",
            "`('alpha',)` is a tuple (entry sample.workers.Second)",
            WRITE_A_LIST,
        ),
        (
            '["alpha"]',
            "[]",
            "9:30",
            "the list is empty (entry sample.workers.Second)",
            "write `None`: an actor that needs no extra runs on the driver's interpreter",
        ),
        (
            '["beta", "alpha"]',
            '["beta", "beta"]',
            "7:38",
            "the extra 'beta' is listed twice (entry sample.workers.First)",
            "keep one of them",
        ),
        (
            '"sample.workers.Third": None',
            '"sample.workers.First": None',
            "10:5",
            "sample.workers.First is written twice; the first one, at line 7, is lost",
            "keep one of the two entries",
        ),
        (
            '"sample.workers.Third": None',
            '"sample.workers." + "Third": None',
            "10:5",
            "the key `'sample.workers.' + 'Third'` is not a plain string literal",
            "write the actor's fully-qualified name as one string",
        ),
        (
            "\n\n\ndef stage_of",
            '\n\nACTOR_ENVIRONMENTS["x.Y"] = None\n\n\ndef stage_of',
            "15:1",
            "ACTOR_ENVIRONMENTS is changed after it was written",
            IN_THE_DISPLAY,
        ),
    ],
)
def test_what_is_no_plain_literal(sample: Sample, old: str, new: str, place: str, message: str, fix: str) -> None:
    assert sample({LEAF: (old, new)}).reports(GUARD) == [(f"{LEAF}:{place}", message, (fix,))]


def test_all_problems_are_reported_at_once(sample: Sample) -> None:
    broken = sample({LEAF: ('["alpha"],\n    "sample.workers.Third": None', '(),\n    "sample.workers.Third": []')})
    assert len(broken.reports(GUARD)) == 2


def test_the_table_is_the_subject_at_its_place(sample: Sample) -> None:
    guarded = sample()
    [case] = guarded.evaluation.cases(guarded.evaluation.guards[GUARD])
    assert (case.subject.name, str(case.subject.location)) == (LEAF, f"{LEAF}:5:1")


def test_the_advice_for_a_later_assignment_mends_it(sample: Sample) -> None:
    code = '\n\nACTOR_ENVIRONMENTS["sample.workers.First"] = ["beta", "alpha"]\n\n\ndef stage_of'
    assert sample({LEAF: ("\n\n\ndef stage_of", code)}).findings(GUARD)
    assert sample().findings(GUARD) == []


def test_its_mutants(sample: Sample) -> None:
    expected = [f"{LEAF}, assigned-later: ACTOR_ENVIRONMENTS is changed after it was written"]
    for name, line, first, written in (
        ("First", 7, "beta", "'beta', 'alpha'"),
        ("Second", 9, "alpha", "'alpha'"),
        ("Third", 10, "", ""),
        ("Fourth", 12, "trtllm", "'trtllm'"),
    ):
        actor = f"sample.workers.{name}"
        expected.append(f"{LEAF}, key-twice: {actor} is written twice; the first one, at line {line}, is lost")
        if not first:
            expected.append(f"{LEAF}, empty-list: the list is empty (entry {actor})")
            continue
        tuple_of_them = f"({written})" if ", " in written else f"({written},)"
        expected += [
            f"{LEAF}, tuple: `{tuple_of_them}` is a tuple (entry {actor})",
            f"{LEAF}, extra-twice: the extra '{first}' is listed twice (entry {actor})",
            f"{LEAF}, call: `list([{written}])` is neither None nor a list of strings (entry {actor})",
        ]
    assert sample().proofs(GUARD) == expected
    assert sample().changes(GUARD)[2:5] == [
        f"{LEAF}, key-twice",
        f'{LEAF}:7: -    "sample.workers.First": ["beta", "alpha"],',
        f'{LEAF}:7: +    "sample.workers.First": ["beta", "alpha"], "sample.workers.First": None,',
    ]


PAGE = {"docs/page.md": "`python-First` and `python-Second`\n", "pyproject.toml": ("docs = []", 'docs = ["docs"]')}


@pytest.mark.parametrize(
    "change", [('["beta", "alpha"],', '["beta", "alpha"]'), ("ENVIRONMENTS = {", "ENVIRONMENTS = ")]
)
def test_a_leaf_that_is_no_python_is_one_finding_and_blocks_the_rest(sample: Sample, change: tuple[str, str]) -> None:
    changed = sample({**PAGE, LEAF: change})
    evaluation = changed.evaluation
    broken = [case for case in evaluation.all_cases() if evaluation.outcome(case).verdict is Verdict.BROKEN]
    assert [(case.guard.name, case.name) for case in broken] == [(GUARD, LEAF)]
    assert changed.reasons("leaf-stdlib-only") == {LEAF: f"blocked: {GUARD}"}


def test_an_entry_that_cannot_be_read_does_not_make_its_script_unknown(sample: Sample) -> None:
    broken = sample({**PAGE, LEAF: ('["alpha"]', '("alpha",)')})
    assert broken.not_green()[GUARD] == "broken"
    assert broken.messages("docs-name-real-things") == []


@pytest.mark.parametrize(
    ("path", "guard", "what", "mend"),
    [
        (LEAF, GUARD, "the leaf is not UTF-8", "save it as UTF-8; nothing else can be judged until then"),
        ("tools/generate_fingerprint.py", "leaf-stdlib-only", "not UTF-8", "save it as UTF-8"),
    ],
)
def test_a_script_of_another_encoding_is_one_finding_at_its_line(
    tmp_path: Path, path: str, guard: str, what: str, mend: str
) -> None:
    for file, text in FILES.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    (tmp_path / path).write_bytes(f"{FILES[path]}# ä\n".encode("latin-1"))
    project = open_project(tmp_path)
    assert project is not None
    evaluation = Evaluation(project, guards_for(project))
    outcomes = [(case.guard.name, evaluation.outcome(case)) for case in evaluation.all_cases()]
    [(name, red)] = [it for it in outcomes if it[1].verdict not in (Verdict.HOLDS, Verdict.BLOCKED)]
    [finding] = red.findings
    line = FILES[path].count("\n") + 1
    assert (name, str(finding.location)) == (guard, f"{path}:{line}:1")
    assert (finding.message, finding.fix) == (f"{what}: invalid continuation byte", (mend,))
    blocked = {outcome.reason for name, outcome in outcomes if outcome.verdict is Verdict.BLOCKED}
    assert blocked <= {guard, "leaf-stdlib-only"}
