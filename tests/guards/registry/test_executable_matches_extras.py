from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.guards.registry import executable_matches_extras as guard

Sample = Callable[..., Any]
GUARD = "executable-matches-extras"
REGISTRY, EXECUTABLES, WORKERS = (
    "sample/ray_actor_environment_registry.py",
    "sample/py_executables.py",
    "sample/workers.py",
)
PLACE = f"{REGISTRY}:16:1: "
EXTRA_FLAGS = '*("--extra " + extra for extra in extras)'


def commands(sample: Sample, built: str) -> list[str]:
    """The messages of the guard where the registry maps a name and its extras to `built`."""
    broken = sample({REGISTRY: ("name: command(extras)", f"name: {built}")})
    assert set(broken.not_green()) >= {GUARD}
    messages: list[str] = broken.messages(GUARD)
    assert {fix for _, _, fix in broken.reports(GUARD)} == {("build it from the entry's extras, in their order",)}
    return [message.removeprefix(PLACE) for message in messages]


def test_a_lost_extra(sample: Sample) -> None:
    assert commands(sample, "command(extras and extras[:1])") == [
        "the command line of sample.workers.First has the extras beta instead of the extras beta, alpha: "
        "uv run --locked --extra beta --directory /project"
    ]


def test_an_order_that_is_not_the_entrys(sample: Sample) -> None:
    assert commands(sample, "command(extras and sorted(extras))")[0].startswith(
        "the command line of sample.workers.First has the extras alpha, beta instead of the extras beta, alpha: "
    )


def test_no_extras_at_all(sample: Sample) -> None:
    messages = commands(sample, "command(extras and [])")
    assert len(messages) == 3
    assert "has no extras instead of the extras alpha: uv run --locked --directory /project" in messages[2]


def test_an_environment_for_an_actor_of_the_drivers_interpreter(sample: Sample) -> None:
    assert commands(sample, "command(extras or [])") == [
        "the command line of sample.workers.Third is not the driver's interpreter: uv run --locked --directory /project"
    ]


def test_a_flag_that_base_does_not_have(sample: Sample) -> None:
    assert commands(sample, 'command(extras) + (" --isolated" if extras == ["alpha"] else "")') == [
        "the command line of sample.workers.Second differs from BASE by more than its extras: "
        "uv run --locked --extra alpha --directory /project --isolated"
    ]


def test_a_command_line_that_no_shell_can_read(sample: Sample) -> None:
    assert commands(sample, "command(extras) + (\" '\" if extras == ['alpha'] else '')")[0].startswith(
        "the command line of sample.workers.Second cannot be read by a shell (No closing quotation): "
    )


def test_a_command_line_that_is_no_string(sample: Sample) -> None:
    assert "['uv', 'run'" in commands(sample, "extras and command(extras).split() or command(extras)")[0]


def test_extras_written_with_an_equals_sign(sample: Sample) -> None:
    guarded = sample({EXECUTABLES: ('"--extra " + extra', '"--extra=" + extra')})
    assert guarded.not_green() == {}
    assert [line for line in guarded.proofs(GUARD) if line.endswith(": holds")] == []


def test_executables_without_base(sample: Sample) -> None:
    guarded = sample({EXECUTABLES: ("    BASE = command([])\n", "")})
    assert guarded.not_green() == {}
    assert "flag-more" not in " ".join(guarded.proofs(GUARD))


def test_a_class_default_that_contradicts_the_table(sample: Sample) -> None:
    broken = sample({WORKERS: ("PY_EXECUTABLES.ALPHA", "PY_EXECUTABLES.BETA_ALPHA")})
    [finding] = broken.findings(GUARD)
    assert str(finding.location) == f"{WORKERS}:17:5"
    assert finding.message == (
        "DEFAULT_PY_EXECUTABLE of Second contradicts the table: "
        "it has the extras beta, alpha instead of the extras alpha"
    )
    assert finding.fix == ("write PY_EXECUTABLES.ALPHA",)
    assert set(broken.not_green()) == {GUARD}
    assert sample({WORKERS: ("PY_EXECUTABLES.ALPHA", finding.fix[0].removeprefix("write "))}).not_green() == {}


def test_a_class_default_of_a_base_class(sample: Sample) -> None:
    broken = sample({WORKERS: ("PY_EXECUTABLES.BETA_ALPHA", "PY_EXECUTABLES.SYSTEM")})
    assert broken.messages(GUARD)[0].startswith(
        f"{WORKERS}:7:5: DEFAULT_PY_EXECUTABLE of First contradicts the table: "
        "it has no extras instead of the extras beta"
    )


def test_a_class_default_where_the_extras_have_no_constant(sample: Sample) -> None:
    broken = sample(
        {
            EXECUTABLES: ('    BETA_ALPHA = command(["beta", "alpha"])\n', ""),
            WORKERS: ("PY_EXECUTABLES.BETA_ALPHA", "PY_EXECUTABLES.ALPHA"),
        }
    )
    assert [finding.fix for finding in broken.findings(GUARD)] == [
        ("give the table's extras a constant in PY_EXECUTABLES",)
    ]


def test_a_class_default_that_names_no_constant(sample: Sample) -> None:
    broken = sample({WORKERS: ("PY_EXECUTABLES.ALPHA", "PY_EXECUTABLES.ALPA")})
    [finding] = broken.findings(GUARD)
    assert (str(finding.location), finding.message) == (
        f"{WORKERS}:17:5",
        "DEFAULT_PY_EXECUTABLE is PY_EXECUTABLES.ALPA, which does not exist",
    )
    assert finding.fix == ("constants: ALPHA, BASE, BETA_ALPHA, SYSTEM, TRTLLM",)


@pytest.mark.parametrize(
    ("imports", "written"),
    [
        ("from sample.py_executables import PY_EXECUTABLES as Commands", "Commands.{}"),
        ("from sample import py_executables", "py_executables.PY_EXECUTABLES.{}"),
        ("import sample.py_executables", "sample.py_executables.PY_EXECUTABLES.{}"),
        ("from .py_executables import PY_EXECUTABLES\n\nMINE = PY_EXECUTABLES.{}", "MINE"),
    ],
)
def test_a_class_default_by_another_name(sample: Sample, imports: str, written: str) -> None:
    def of(constant: str) -> Any:
        old = "    DEFAULT_PY_EXECUTABLE = PY_EXECUTABLES.ALPHA\n"
        import_line = "from sample.py_executables import PY_EXECUTABLES\n"
        text = sample().project.tree.read_text(WORKERS)
        first, second = imports.format(constant), written.format(constant)
        text = text.replace(import_line, f"{import_line}{first}\n")
        return sample({WORKERS: text.replace(old, f"    DEFAULT_PY_EXECUTABLE = {second}\n")})

    assert of("ALPHA").not_green() == {}
    assert [message.partition(" of ")[2][:30] for message in of("TRTLLM").messages(GUARD)] == [
        "Second contradicts the table: "
    ]


@pytest.mark.parametrize("value", ["command(['alpha'])", "other.ALPHA", "UNKNOWN"])
def test_a_class_default_that_parsing_cannot_tell_is_undecided(sample: Sample, value: str) -> None:
    undecided = sample({WORKERS: ("PY_EXECUTABLES.ALPHA", value)})
    outcome = undecided.outcomes(GUARD)["sample.workers.Second"]
    assert (outcome.verdict.value, outcome.reason) == (
        "undecided",
        f"{WORKERS}:17:5: DEFAULT_PY_EXECUTABLE is `{value}`; write PY_EXECUTABLES.NAME, or a string",
    )


def test_a_class_default_that_parsing_cannot_tell_hides_no_finding(sample: Sample) -> None:
    broken = sample(
        {
            WORKERS: ("PY_EXECUTABLES.ALPHA", "UNKNOWN"),
            REGISTRY: ("name: command(extras)", "name: command(extras and [])"),
        }
    )
    assert "has no extras" in broken.outcomes(GUARD)["sample.workers.Second"].findings[0].message


def test_a_class_default_that_is_a_string_or_none(sample: Sample) -> None:
    assert sample({WORKERS: ("PY_EXECUTABLES.ALPHA", "None")}).not_green() == {}
    right = '"uv run --locked --extra alpha --directory /project"'
    assert sample({WORKERS: ("PY_EXECUTABLES.ALPHA", right)}).not_green() == {}
    broken = sample({WORKERS: ("PY_EXECUTABLES.ALPHA", '"python"')})
    assert "contradicts the table" in broken.messages(GUARD)[0]


def test_an_actor_that_the_registry_lacks_is_another_guards(sample: Sample) -> None:
    broken = sample({REGISTRY: ("ENVIRONMENTS.items()}", 'ENVIRONMENTS.items() if not name.endswith("Second")}')})
    assert broken.reports(GUARD) == []


def test_an_extra_flag_without_its_extra_has_an_extra_without_a_name(sample: Sample) -> None:
    assert commands(sample, 'command(extras) + (" --extra" if extras == ["alpha"] else "")') == [
        "the command line of sample.workers.Second has the extras alpha,  instead of the extras alpha: "
        "uv run --locked --extra alpha --directory /project --extra"
    ]


def test_a_class_default_in_a_package_by_a_relative_import(sample: Sample) -> None:
    text = sample().project.tree.read_text(WORKERS)
    relative = text.replace("from sample.py_executables", "from ..py_executables")
    edits = {
        "sample/workers/__init__.py": relative.replace("PY_EXECUTABLES.ALPHA", "PY_EXECUTABLES.TRTLLM"),
        WORKERS: None,
    }
    edits["sample/workers/__init__.py"] = edits["sample/workers/__init__.py"].replace("from ..", "from sample.")
    assert sample(edits).reports(GUARD)[0][0] == "sample/workers/__init__.py:17:5"


def test_its_mutants(sample: Sample) -> None:
    python, run = sys.executable, "uv run --locked"
    command_of = "the command line of sample.workers."
    beta_alpha, expected = "--extra beta --extra alpha", []
    for name, flags, listed, without, other in (
        ("First", beta_alpha, "the extras beta, alpha", "the extras alpha", "the extras alpha"),
        ("Second", "--extra alpha", "the extras alpha", "no extras", "no extras"),
        ("Fourth", "--extra trtllm", "the extras trtllm", "no extras", None),
    ):
        actor, left = f"sample.workers.{name}", flags.partition("--extra ")[2].partition(" ")[2]
        lost = f"{run}  {left + ' ' if left else ''}--directory /project"
        expected += [f"{actor}, extra-lost: {command_of}{name} has {without} instead of {listed}: {lost}"]
        more = f"{run} {flags} --directory /project --extra one_more"
        expected += [f"{actor}, extra-more: {command_of}{name} has {listed}, one_more instead of {listed}: {more}"]
        expected += [f"{actor}, driver-instead: {command_of}{name} has no extras instead of {listed}: {python}"]
        isolated = f"{run} {flags} --directory /project --isolated"
        expected += [f"{actor}, flag-more: {command_of}{name} differs from BASE by more than its extras: {isolated}"]
        if left:
            swapped = f"{run} --extra alpha --extra beta --directory /project"
            expected += [
                f"{actor}, order-swapped: {command_of}{name} has the extras alpha, beta instead of {listed}: {swapped}"
            ]
        if other:
            contradicts = f"DEFAULT_PY_EXECUTABLE of {name} contradicts the table"
            expected += [f"{actor}, class-default: {contradicts}: it has {other} instead of {listed}"]
        if name == "Second":
            third = "sample.workers.Third"
            not_driver = f"{command_of}Third is not the driver's interpreter"
            expected += [
                f"{third}, environment-for-none: {not_driver}: uv run python",
                f"{third}, interpreter-with-flag: {not_driver}: {python} -O",
                f"{third}, class-default: DEFAULT_PY_EXECUTABLE of Third contradicts the table: "
                "it is not the driver's interpreter",
            ]
    assert sample().proofs(GUARD) == expected


def test_mutants_of_a_registry_that_raises_or_is_none(sample: Sample) -> None:
    raising = sample({REGISTRY: ("DECLARED = {", "raise OSError('no')\n\nDECLARED = {")}).project
    assert [mutant.shape for mutant in guard.mutants(raising)] == [
        *("extra-lost", "extra-more", "driver-instead", "order-swapped"),
        *("extra-lost", "extra-more", "driver-instead", "environment-for-none", "interpreter-with-flag"),
        *("extra-lost", "extra-more", "driver-instead"),
    ]
    assert list(guard.mutants(sample({REGISTRY: None}).project)) == []
