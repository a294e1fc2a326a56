"""The gate without a limit of time: code mutants also of the environments, the launch, the plugin's readers and the gate.

`make gate-full` asks for all of them, which is long (docs/gate.md); `make gate-full SAMPLE=300 SEED=1` for so many,
drawn over all files in proportion; `make gate-full NAMES='package.module.*'` for those with these names. The whole suite
that runs in the process kills. At least 95 % have to be killed, and each survivor is listed with its diff and the tests
that reach it: one of those has to look closer, or, where there is none, one has to be written.

What is found stays in `.gate-full`: a run that was stopped goes on where it was (kept_copy.py says what lasts when the
project changes). `--report FILE` has all reports as JSON, written once a minute.
"""

from __future__ import annotations

import dataclasses
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_actor_envs.gate import reach_recorder
from pytest_actor_envs.gate.code_mutants import NO_LIMIT, CodeMutantsResult, check_can_run
from pytest_actor_envs.gate.code_suppressions import PRAGMA, CodeSuppression, check_can_be_mutated, code_suppressions
from pytest_actor_envs.gate.mutmut_configuration import CodeMutantsNotConfigured, changed, read_configuration
from pytest_actor_envs.gate.mutmut_process import (
    MutantNotFound,
    MutmutFailed,
    MutmutMissing,
    Progress,
    SuiteFails,
    SuiteNotCollected,
)
from pytest_actor_envs.gate.mutmut_results import read_results
from pytest_actor_envs.gate.result import ExitCode
from pytest_actor_envs.interruption import interruptible
from pytest_actor_envs.model import ConfigurationError
from pytest_actor_envs.report.progress import ProgressLine
from pytest_actor_envs.report_file import write_report
from tools.asked_mutants import Selection, ask, selected
from tools.gate_full_options import REPORT, Options, read_options
from tools.gate_full_report import as_json, killed_share, summary
from tools.kept_copy import CopyInUse, FolderInProject, kept_copy
from tools.mutant_sample import SampleTooSmall

ROOT = Path(__file__).resolve().parents[1]
LOWEST_SHARE = 0.95
MUTATED_AS_WELL = (
    "nemo_rl/__init__.py",
    "nemo_rl/utils/*",
    "nemo_rl/distributed/*",
    "pytest_actor_envs/sources/*",
    "pytest_actor_envs/gate/*",
)
NOT_MUTATED = (
    # The instruments: a mutant of what runs the tests and writes kills down would go unrecorded.
    "pytest_actor_envs/gate/kill_recorder.py",
    "pytest_actor_envs/gate/kept_session.py",
    "pytest_actor_envs/gate/reach_recorder.py",
    "pytest_actor_envs/gate/processor_time.py",
    # Run by an interpreter that has nothing but the standard library, where mutmut cannot be imported.
    "pytest_actor_envs/sources/__init__.py",
    "pytest_actor_envs/sources/alone.py",
    "pytest_actor_envs/sources/child_process.py",
    # Part of actors, not of environments; one of them is such a script as well.
    "nemo_rl/utils/process_supervisor.py",
    "nemo_rl/utils/supervised_process.py",
)
KILLERS = (
    "pyproject.toml",
    "tests/system",
    "tests/guards",
    "tests/sources",
    "tests/gate",
    "tests/venvs",
)
# mutmut puts an import into each file that it mutates, on which such a file fails when it is started as a script, and
# makes every function many: these tests start scripts, or judge the text of this project.
NOT_IN_THE_COPY = (
    "tests/system/test_scripts.py",
    "tests/system/test_importing_readers.py",
    "tests/guards/test_mutants.py",
    "tests/guards/test_runtime.py::test_a_module_of_the_project_hides_one_of_the_standard_library",
    "tests/gate/test_judging.py::test_a_sample_of_mutants_breaks_the_same_cases_judged_in_part_and_in_full",
    "tests/venvs/test_build.py::test_an_environment_that_an_image_layer_stamped_is_completed_in_place",
    "tests/venvs/test_build.py::test_dependencies_of_other_extras_are_not_completed_but_rebuilt",
    "tests/venvs/test_build.py::test_dependencies_with_traces_of_the_project_are_rebuilt_since_uv_would_trust_them",
    "tests/venvs/test_environment_stamp.py::test_the_script_writes_the_stamp_that_the_module_would",
    "tests/venvs/test_environment_stamp.py::test_the_script_writes_a_complete_stamp_with_the_project",
    "tests/venvs/test_environment_stamp.py::test_the_script_refuses_what_is_no_environment",
    "tests/venvs/test_environment_stamp.py::test_the_script_wants_a_project_for_complete_and_for_nothing_else",
    "tests/venvs/test_environment_stamp.py::test_the_script_says_what_it_misses",
    "tests/venvs/test_environment_stamp.py::test_wrong_arguments_are_exit_code_2_with_nothing_on_stdout",
    "tests/venvs/test_environment_stamp.py::test_another_interpreter_is_described_by_itself_and_by_its_base",
    "tests/venvs/test_prefetch.py::test_a_run_that_finds_all_complete_imports_nothing_that_builds",
    "tests/venvs/test_failed_builds.py::test_without_uv_the_error_says_how_to_get_it",
    "tests/venvs/test_failed_builds.py::test_without_uv_nothing_is_begun",
)
# What these ask runs in processes of their own, where no mutant is active, or is this whole project: they kill nothing
# that others do not, and take most of the time.
NOT_ASKED = (
    "tests/system/test_container_check.py",
    "tests/guards/faults",
    "tests/gate/test_kept_copy.py",
    "tests/gate/test_interrupted_copies.py",
    "tests/gate/test_gate_full_command.py",
    "tests/gate/test_kept_session.py",
    "tests/gate/test_gate.py::test_interruption_says_what_is_unknown_leaves_no_process_and_is_5",
    "tests/gate/test_gate_layer_two.py",
    "tests/gate/test_code_mutants.py",
    "tests/gate/test_since.py",
    "tests/gate/test_since_plugin.py",
    "tests/venvs/test_launch.py",
    "tests/venvs/test_killed_builds.py",
)
NOT_KILLERS = (*NOT_IN_THE_COPY, *NOT_ASKED)
USAGE = (
    ConfigurationError,
    CodeMutantsNotConfigured,
    CopyInUse,
    FolderInProject,
    MutmutMissing,
    MutantNotFound,
    SampleTooSmall,
)


def widened(text: str) -> str:
    """pyproject.toml with `[tool.mutmut]` made to mutate more, and more to kill."""
    left_out = [f"--deselect={test}" if "::" in test else f"--ignore={test}" for test in NOT_KILLERS]
    table = tomllib.loads(text)["tool"]["mutmut"]
    return changed(
        text,
        {
            "only_mutate": [*table["only_mutate"], *MUTATED_AS_WELL],
            "do_not_mutate": NOT_MUTATED,
            "pytest_add_cli_args": [*table["pytest_add_cli_args"], "-p", reach_recorder.__name__],
            "timeout_multiplier": NO_LIMIT,
            "pytest_add_cli_args_test_selection": [*KILLERS, *left_out, "-m", "not e2e and not image and not slow"],
        },
    )


def suppressions_of(root: Path) -> list[CodeSuppression]:
    """The comments that let mutants survive, in all files that are mutated here.

    Raises CodeMutantsNotConfigured, and ConfigurationError for a file that cannot be mutated.
    """
    configuration = read_configuration(root)
    patterns = (*configuration.patterns, *MUTATED_AS_WELL)
    wide = dataclasses.replace(configuration, patterns=patterns, exceptions=NOT_MUTATED)
    paths = wide.mutated_files(root)
    check_can_be_mutated(root, paths)
    return code_suppressions(root, paths)


def in_the_copy(suppressions: Sequence[CodeSuppression]) -> Callable[[str, bytes], bytes]:
    """(path, content) -> what the file has in the copy: the configuration widened, suppressions lifted."""
    lifted = {suppression.path for suppression in suppressions}

    def content_in_the_copy(path: str, content: bytes) -> bytes:
        if path == "pyproject.toml":
            return widened(content.decode()).encode()
        return PRAGMA.sub("# lifted", content.decode()).encode() if path in lifted else content

    return content_in_the_copy


def exit_code(result: CodeMutantsResult, selection: Selection) -> ExitCode:
    """No reports, or not all, prove nothing; else the share decides, and suppressions that cannot stand."""
    if not result.reports or len(result.reports) < len(selection.names):
        return ExitCode.NO_VERDICT
    enough = killed_share(result.reports) >= LOWEST_SHARE
    return ExitCode.ALL_LIVE if enough and not result.problems else ExitCode.NOT_PROVEN


def main(argv: Sequence[str], root: Path = ROOT) -> int:
    options = read_options(argv, root)
    progress = ProgressLine(sys.stderr)
    try:
        with interruptible():
            result, selection = looked_at(root, options, lambda done, of: progress("code mutants", done, of))
    except KeyboardInterrupt:
        stays = f"interrupted: what was found stays in {options.folder}, and the next run goes on there"
        return _stopped(progress, stays, ExitCode.NO_VERDICT)
    except (SuiteNotCollected, SuiteFails) as error:
        return _stopped(progress, str(error), ExitCode.BASELINE_FAILS)
    except MutmutFailed as error:
        return _stopped(progress, str(error), ExitCode.NO_VERDICT)
    except USAGE as error:
        return _stopped(progress, str(error), ExitCode.USAGE)
    progress.clear()
    print(summary(result, selection))
    return exit_code(result, selection)


def looked_at(root: Path, options: Options, progress: Progress) -> tuple[CodeMutantsResult, Selection]:
    """What is known of the mutants that were asked for, and which these are.

    Raises SuiteNotCollected, SuiteFails, MutmutFailed, and what is in USAGE.
    """
    check_can_run(root)
    suppressions = suppressions_of(root)
    with kept_copy(root, options.folder, in_the_copy(suppressions), options.asking) as project:
        mutants = read_results(project / "mutants").mutants
        selection = selected(mutants, options.names, options.sample, options.seed)

        def show(result: CodeMutantsResult) -> None:
            if options.report is not None:
                write_report(options.report, as_json(result, selection), REPORT)

        result = ask(project, selection, suppressions, options.asking, progress, show)
        show(result)
        return result, selection


def _stopped(progress: ProgressLine, why: str, code: ExitCode) -> ExitCode:
    progress.clear()
    print(f"gate: {why}", file=sys.stderr)
    return code


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
