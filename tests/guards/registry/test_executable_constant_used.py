from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Sample = Callable[..., Any]
GUARD = "executable-constant-used"
LEAF, EXECUTABLES, REGISTRY = (
    "sample/actor_environments.py",
    "sample/py_executables.py",
    "sample/ray_actor_environment_registry.py",
)
ALPHA = '    ALPHA = command(["alpha"])\n'
KEEP_ONE = ("keep one of them",)
GIVE_OR_REMOVE = ("give them to the entry that the constant was made for, or remove the constant",)


def with_constants(code: str) -> dict[str, tuple[str, str]]:
    """The class of command lines with `code` below ALPHA, at line 16."""
    return {EXECUTABLES: (ALPHA, ALPHA + code)}


def test_constants_and_lists_of_extras_are_the_subjects(sample: Sample) -> None:
    guarded = sample()
    places = {
        case.subject.name: str(case.subject.location)
        for case in guarded.evaluation.cases(guarded.evaluation.guards[GUARD])
    }
    constants = {"SYSTEM": 12, "BASE": 13, "BETA_ALPHA": 14, "ALPHA": 15, "TRTLLM": 16}
    assert places == {
        **{name: f"{EXECUTABLES}:{line}:5" for name, line in constants.items()},
        "extras beta alpha": f"{LEAF}:7:29",
        "extras alpha": f"{LEAF}:9:30",
        "extras trtllm": f"{LEAF}:12:30",
    }


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("    ALPHA = command(['alpha'])\n", "16:5"),
        ("    ALPHA: str = command(['alpha'])\n", "16:5"),
        ("    'äö'; OTHER = ALPHA = command(['alpha'])\n", "16:11"),
        ("\n\nPY_EXECUTABLES.ALPHA = command(['alpha'])\n\n\nclass Other:\n", "18:1"),
    ],
)
def test_a_constant_that_is_defined_twice(sample: Sample, code: str, place: str) -> None:
    found = [report for report in sample(with_constants(code)).reports(GUARD) if "TRTLLM" not in report[1]]
    message = "ALPHA is defined a second time; the definition at line 15 is lost"
    assert found[0] == (f"{EXECUTABLES}:{place}", message, KEEP_ONE)


@pytest.mark.parametrize(
    "code",
    [
        "    ANOTHER_ALPHA = command(['alpha'])\n",
        "    _PRIVATE = command(['beta'])\n    _PRIVATE = command(['beta'])\n",
        "    ALPHA: str\n",
        "    ALPHA.upper()\n",
        "    table = {}\n    table['ALPHA'] = 1\n",
        '    UNREADABLE = "uv run \'"\n',
        "    NUMBER = 3\n",
        "    NUMBER, OTHER = 3, 4\n",
        "    def ALPHA_of(self): ...\n",
    ],
)
def test_what_is_no_second_definition_and_no_unused_constant(sample: Sample, code: str) -> None:
    assert sample(with_constants(code)).reports(GUARD) == []


@pytest.mark.parametrize(
    "code",
    [
        "class Other:\n    ALPHA = 1\n    ALPHA = 2\n",
        "class Other: ...\n\n\nOther.ALPHA = 1\n",
        "import os\n\nos.environ['ALPHA'] = os.altsep = 'x'\n",
        "class Other: ...\n\n\nOther.it = Other\nOther.it.ALPHA = 1\n",
    ],
)
def test_definitions_elsewhere_do_not_count(sample: Sample, code: str) -> None:
    text = sample().project.tree.read_text(EXECUTABLES)
    assert sample({EXECUTABLES: f"{text}\n\n{code}"}).reports(GUARD) == []


def test_all_definitions_after_the_first_are_reported(sample: Sample) -> None:
    broken = sample(with_constants(ALPHA + ALPHA))
    assert [place for place, _, _ in broken.reports(GUARD)] == [f"{EXECUTABLES}:16:5", f"{EXECUTABLES}:17:5"]


def test_a_constant_that_serves_nobody(sample: Sample) -> None:
    broken = sample(with_constants("    ALPHA_BETA = command(['alpha', 'beta'])\n"))
    message = "no actor has the extras of ALPHA_BETA: alpha, beta"
    assert broken.reports(GUARD) == [(f"{EXECUTABLES}:16:5", message, GIVE_OR_REMOVE)]
    assert set(broken.not_green()) == {GUARD}


def test_system_and_base_are_free(sample: Sample) -> None:
    assert sample({EXECUTABLES: ("BASE = command([])", "BASE = command(['beta'])")}).reports(GUARD) == []
    assert sample({EXECUTABLES: ("SYSTEM = command(None)", "SYSTEM = command(['beta'])")}).reports(GUARD) == []


def test_extras_without_a_constant_and_what_to_do(sample: Sample) -> None:
    both = '    BETA_ALPHA = command(["beta", "alpha"])\n'
    broken = sample({EXECUTABLES: (both, "")})
    message = "no constant of PY_EXECUTABLES has the extras beta, alpha"
    fix = f"add one to {EXECUTABLES}: BETA_ALPHA = ..."
    assert broken.reports(GUARD) == [(f"{LEAF}:7:29", message, (fix,))]
    added = fix.partition(": ")[2].replace("...", 'command(["beta", "alpha"])')
    assert sample({EXECUTABLES: (both, f"    {added}\n")}).reports(GUARD) == []


def test_a_suggested_name_is_a_name(sample: Sample) -> None:
    edits = {
        "pyproject.toml": ("idle = []", 'idle = []\n"odd-one.x" = []'),
        LEAF: ('"sample.workers.Third": None', '"sample.workers.Third": ["odd-one.x"]'),
        REGISTRY: ("DECLARED = {", 'DECLARED = {"odd-one.x", '),
    }
    assert [fix for _, _, fix in sample(edits).reports(GUARD)] == [(f"add one to {EXECUTABLES}: ODD_ONE_X = ...",)]


def test_a_registry_that_raises_is_reported_by_another_guard_and_hides_no_second_definition(sample: Sample) -> None:
    raises = {REGISTRY: ("DECLARED = {", "raise OSError('no')\n\nDECLARED = {")}
    outcomes = sample({**raises, **with_constants(ALPHA)}).outcomes(GUARD)
    assert {(name, outcome.verdict.value, outcome.reason) for name, outcome in outcomes.items() if name != "ALPHA"} == {
        (name, "blocked", "registry-mirrors-table") for name in outcomes if name != "ALPHA"
    }
    assert [finding.location.line for finding in outcomes["ALPHA"].findings] == [16]


def test_executables_that_do_not_parse_leave_the_lists_to_be_blocked(sample: Sample) -> None:
    outcomes = sample({EXECUTABLES: "x = = 1\n"}).outcomes(GUARD)
    assert sorted(outcomes) == ["extras alpha", "extras beta alpha", "extras trtllm"]
    assert {outcome.reason for outcome in outcomes.values()} == {"registry-mirrors-table"}


def test_what_extra_declared_rejects_is_not_reported_again(sample: Sample) -> None:
    outcomes = sample({LEAF: ('["alpha"]', '["alpa"]')}).outcomes(GUARD)
    assert {outcome.reason for outcome in outcomes.values()} == {"extra-declared"}


def test_a_project_without_executables_has_no_constants(sample: Sample) -> None:
    guarded = sample({EXECUTABLES: None, REGISTRY: REGISTRY_ALONE, "sample/workers.py": ""})
    assert guarded.project.config.executables is None
    assert sorted(guarded.outcomes(GUARD)) == ["extras alpha", "extras beta alpha", "extras trtllm"]
    assert guarded.proofs(GUARD) == []


REGISTRY_ALONE = """\
from sample.actor_environments import ACTOR_ENVIRONMENTS

ACTOR_ENVIRONMENT_REGISTRY = {name: "python" for name in ACTOR_ENVIRONMENTS}
"""


def test_its_mutants(sample: Sample) -> None:
    twice = [
        f"{name}, {shape}: {name} is defined a second time; the definition at line {line} is lost"
        for name, line in (("SYSTEM", 12), ("BASE", 13), ("BETA_ALPHA", 14), ("ALPHA", 15), ("TRTLLM", 16))
        for shape in ("defined-twice", "defined-outside")
    ]
    lost = [
        f"extras {extras}, {shape}: no constant of PY_EXECUTABLES has the extras {extras.replace(' ', ', ')}"
        for extras in ("beta alpha", "alpha", "trtllm")
        for shape in ("constant-without-extra", "constant-changed")
    ]
    assert sample().proofs(GUARD) == [*twice, *lost]
    changes = sample().changes(GUARD)
    assert changes[:5] == [
        "SYSTEM, defined-twice",
        f"{EXECUTABLES}:13: +    SYSTEM = command(None)",
        "SYSTEM, defined-outside",
        f"{EXECUTABLES}:18: +PY_EXECUTABLES.SYSTEM = PY_EXECUTABLES.SYSTEM",
        "BASE, defined-twice",
    ]
    alpha = changes.index("extras alpha, constant-without-extra")
    assert changes[alpha : alpha + 6] == [
        "extras alpha, constant-without-extra",
        f"{EXECUTABLES}:18: +import re as _re",
        f"{EXECUTABLES}:19: +PY_EXECUTABLES.ALPHA = _re.sub(r'--extra[ =]\\S+', '', PY_EXECUTABLES.ALPHA, count=1)",
        "extras alpha, constant-changed",
        f"{EXECUTABLES}:18: +import re as _re",
        f"{EXECUTABLES}:19: +PY_EXECUTABLES.ALPHA = 'uv run python'",
    ]


def test_mutants_change_all_constants_of_the_extras(sample: Sample) -> None:
    proofs = sample(with_constants("    ANOTHER_ALPHA = command(['alpha'])\n")).proofs(GUARD)
    assert [line for line in proofs if line.endswith(": holds")] == []


def test_mutants_of_a_registry_that_raises(sample: Sample) -> None:
    guarded = sample({REGISTRY: ("DECLARED = {", "raise OSError('no')\n\nDECLARED = {")})
    mutants = list(guarded.evaluation.guards[GUARD].mutants(guarded.project))
    assert [mutant.shape for mutant in mutants][-2:] == ["constant-without-extra", "constant-changed"]
