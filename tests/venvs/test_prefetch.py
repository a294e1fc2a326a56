"""Building everything ahead of time: which actors, how many at once, what a person sees, and the exit code."""

import contextlib
import io
import os
import pathlib
import pickle
import pty
import subprocess
import sys
import threading

import pytest
from environment_checks import distributions_of, imports

from nemo_rl.distributed import actor_environments
from nemo_rl.utils import prefetch_venvs
from nemo_rl.utils.actor_project import ActorProject, this_project
from nemo_rl.utils.environment_stamp import read_stamp
from nemo_rl.utils.prefetch_builds import build_all
from nemo_rl.utils.prefetch_progress import TerminalProgress, progress_for
from nemo_rl.utils.prefetch_venvs import selected

READER = "small.actors.MarkupReader"
ALL = [
    "small.actors.Colourful",
    "small.actors.MarkupReader",
    "small.actors.MarkupWriter",
    "small.actors.OldDecorator",
    "small.exports.NewDecorator",
]


def with_failure(project: ActorProject) -> ActorProject:
    return project._replace(table={**project.table, "small.actors.AFuture": ["future"]})


def test_all_environments_are_built_and_a_second_run_finds_them(
    small: ActorProject, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prefetch_venvs.main([], small) == 0
    assert all("small-project" in distributions_of(small.interpreter_of(actor)) for actor in ALL)
    first = capsys.readouterr()
    assert "5 of 5 environments are complete, 0 failed" in first.out
    assert f"built {READER}" in first.err
    assert prefetch_venvs.main([], small) == 0
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == 5 * ["reused"]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_failure_does_not_keep_others_from_being_built_and_is_the_exit_code(
    small: ActorProject, capsys: pytest.CaptureFixture[str], jobs: str
) -> None:
    assert prefetch_venvs.main(["AFuture", "MarkupReader", "--jobs", jobs], with_failure(small)) == 1
    assert imports(small.interpreter_of(READER), "toml")
    output = capsys.readouterr()
    assert "1 of 2 environments are complete, 1 failed" in output.out
    assert "the environment of small.actors.AFuture (extras: future) was not built" in output.out
    assert "FAILED small.actors.AFuture" in output.err


def test_an_actor_is_named_by_its_class_where_that_is_clear(small: ActorProject) -> None:
    assert selected(small, ["NewDecorator", READER], []) == [READER, "small.exports.NewDecorator"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["MarkupReeder"], "unknown actor 'MarkupReeder'; did you mean 'MarkupReader'?"),
        (["MarkupReader", "Nothing"], "unknown actor 'Nothing'"),
        (["--skip-extra", "markups"], "unknown extra 'markups'; did you mean 'markup'?; known: colour, markup,"),
        (["Twin"], "'Twin' is the class of small.a.Twin and of small.b.Twin; give the whole name"),
    ],
)
def test_an_unknown_or_ambiguous_name_is_exit_code_2_and_nothing_is_built(
    small: ActorProject, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    twins = {"small.a.Twin": None, "small.b.Twin": None}
    assert prefetch_venvs.main(arguments, small._replace(table={**small.table, **twins})) == 2
    output = capsys.readouterr()
    assert message in output.err and output.out == ""
    assert not small.environments.exists()


@pytest.mark.parametrize("locale", ["C.UTF-8", "POSIX"])
def test_a_folder_that_is_not_utf_8_is_exit_code_2_with_its_bytes(tmp_path: pathlib.Path, locale: str) -> None:
    variables = {"NEMO_RL_VENV_DIR": os.fsdecode(os.fsencode(tmp_path) + b"/\xff"), "LC_ALL": locale}
    command = [sys.executable, "-m", "nemo_rl.utils.prefetch_venvs", "--list"]
    run = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
    assert run.returncode == 2 and run.stdout == ""
    assert "/\\xff' is not UTF-8, and uv makes no environment there; set NEMO_RL_VENV_DIR to another" in run.stderr


def test_an_unknown_value_of_the_force_variable_is_exit_code_2(
    small: ActorProject, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NRL_FORCE_REBUILD_VENVS", "yes please")
    assert prefetch_venvs.main([], small) == 2
    assert "NRL_FORCE_REBUILD_VENVS is 'yes please'; set it to true or false" in capsys.readouterr().err
    assert not small.environments.exists()


def test_a_run_that_finds_all_complete_imports_nothing_that_builds(small: ActorProject) -> None:
    assert prefetch_venvs.main(["MarkupReader"], small) == 0
    code = (
        "import pickle, sys; from nemo_rl.utils.prefetch_venvs import main\n"
        "code = main(['MarkupReader'], pickle.loads(bytes.fromhex(sys.argv[1])))\n"
        "builders = {'ray', 'subprocess', 'concurrent.futures', 'packaging', 'tomllib', 'inspect', 'nemo_rl.utils.venvs'}\n"
        "print(code, builders.intersection(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code, pickle.dumps(small).hex()], capture_output=True, text=True)
    assert run.stdout.splitlines()[-1] == "0 set()", run.stderr


@pytest.mark.parametrize("jobs", ["0", "-1", "many"])
def test_a_wrong_number_of_jobs_is_exit_code_2(small: ActorProject, jobs: str) -> None:
    with pytest.raises(SystemExit) as caught:
        prefetch_venvs.main(["--jobs", jobs], small)
    assert caught.value.code == 2


def test_skipping_an_extra_leaves_out_every_actor_that_has_it(small: ActorProject) -> None:
    assert selected(small, [], ["colour"]) == ALL[1:4]
    assert selected(small, [READER], ["markup"]) == []


@pytest.mark.parametrize("extra", actor_environments.known_extras())
def test_skipping_follows_the_rule_of_the_tables_script(extra: str) -> None:
    names = [row.split("\t")[0] for row in actor_environments.rows("all", [extra])]
    assert selected(this_project(), [], [extra]) == names


def test_the_list_has_actors_extras_and_folders_and_builds_nothing(
    small: ActorProject, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prefetch_venvs.main(["--list", "--skip-extra", "markup"], small) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"small.actors.Colourful\tcolour\t{small.environments}/small.actors.Colourful"
    assert len(lines) == 3 and not small.environments.exists()


def test_the_command_line_lists_the_actors_of_nemo_rl_without_importing_ray() -> None:
    code = (
        "import runpy, sys; sys.argv = ['prefetch_venvs', '--list']\n"
        "try:\n    runpy.run_module('nemo_rl.utils.prefetch_venvs', run_name='__main__')\n"
        "except SystemExit as end:\n    assert end.code == 0\n"
        "assert 'ray' not in sys.modules"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) == len(actor_environments.rows("all", []))


def test_an_actor_of_the_drivers_interpreter_is_said_to_need_nothing(
    small: ActorProject, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prefetch_venvs.main(["OnDriver"], small) == 0
    assert "small.actors.OnDriver runs on the driver's interpreter: nothing to build" in capsys.readouterr().out


def test_nothing_is_built_while_every_actor_runs_on_the_driver(
    small: ActorProject, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEMO_RL_PY_EXECUTABLES_SYSTEM", "1")
    assert prefetch_venvs.main([], small) == 0
    assert "every actor runs on the driver's interpreter" in capsys.readouterr().out
    assert not small.environments.exists()


def test_of_actors_with_the_same_extras_the_first_is_built_before_the_others(small: ActorProject) -> None:
    stream = io.StringIO()
    build_all(small, ALL[1:3], "run", 2, progress_for(stream, 2))
    lines = stream.getvalue().splitlines()
    first_done = next(number for number, line in enumerate(lines) if line.startswith(f"built {ALL[1]}"))
    assert all(not line.startswith(ALL[2]) for line in lines[:first_done])
    assert any(line.startswith(f"built {ALL[2]}") for line in lines[first_done:])


def test_a_forced_rebuild_in_another_run_builds_what_is_complete(
    small: ActorProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefetch_venvs.main(["MarkupReader"], small)
    monkeypatch.setenv("NRL_FORCE_REBUILD_VENVS", "true")
    code = (
        "import pickle, sys; from nemo_rl.utils.prefetch_venvs import main\n"
        "sys.exit(main(['MarkupReader'], pickle.loads(bytes.fromhex(sys.argv[1]))))"
    )
    run = subprocess.run([sys.executable, "-c", code, pickle.dumps(small).hex()], capture_output=True, text=True)
    assert f"built {READER}" in run.stderr and run.returncode == 0


def test_a_folder_that_takes_no_wrapper_scripts_is_said_after_the_summary(
    small: ActorProject, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert prefetch_venvs.main(["Colourful", "--wrappers", str(tmp_path / "file")], small) == 1
    output = capsys.readouterr().out
    assert "1 of 1 environments are complete, 0 failed" in output
    assert "the wrapper scripts were not written: " in output and "--wrappers FOLDER" in output


def test_a_container_gets_wrapper_scripts_that_start_the_interpreters(
    small: ActorProject, tmp_path: pathlib.Path
) -> None:
    assert prefetch_venvs.main(["MarkupReader", "Colourful", "--wrappers", str(tmp_path / "bin")], small) == 0
    assert sorted(path.name for path in (tmp_path / "bin").iterdir()) == ["python-Colourful", "python-MarkupReader"]
    code = "import sys, os, toml; print(sys.prefix, os.environ['VIRTUAL_ENV'], *sys.argv[1:])"
    wrapper = tmp_path / "bin" / "python-MarkupReader"
    run = subprocess.run([wrapper, "-c", code, "a  b", "*"], capture_output=True, text=True)
    folder = str(small.folder_of(READER))
    assert run.stdout == f"{folder} {folder} a  b *\n"


def test_wrapper_scripts_are_written_in_a_container_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prefetch_venvs.parser().parse_args([]).wrappers is None
    monkeypatch.setenv("NRL_CONTAINER", "1")
    assert prefetch_venvs.parser().parse_args([]).wrappers == pathlib.Path("/usr/local/bin")


def test_a_failed_environment_gets_no_wrapper_script(small: ActorProject, tmp_path: pathlib.Path) -> None:
    assert prefetch_venvs.main(["AFuture", "Colourful", "--wrappers", str(tmp_path / "bin")], with_failure(small)) == 1
    assert [path.name for path in (tmp_path / "bin").iterdir()] == ["python-Colourful"]


def test_a_clash_of_wrapper_scripts_is_an_error_before_anything_is_written(
    small: ActorProject, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = small._replace(table={**small.table, "other.module.MarkupReader": ["colour"]})
    assert prefetch_venvs.main(["--wrappers", str(tmp_path / "bin")], project) == 2
    error = capsys.readouterr().err
    assert "python-MarkupReader is wanted by other.module.MarkupReader and by small.actors.MarkupReader" in error
    assert not (tmp_path / "bin").exists() and not small.environments.exists()


def test_a_terminal_shows_one_line_that_changes_below_the_finished_ones() -> None:
    controller, terminal = pty.openpty()
    with os.fdopen(terminal, "w") as stream:
        progress = progress_for(stream, 2)
        assert isinstance(progress, TerminalProgress)
        progress.phase("x.A: adding the project")
        progress.finished("built x.A (1.0 s)")
        progress.close()
    # One read may give a part; the end of a terminal that nobody writes to is an error.
    shown = ""
    with contextlib.suppress(OSError):
        while part := os.read(controller, 1000):
            shown += part.decode()
    os.close(controller)
    assert shown == (
        "\r\x1b[K[0/2] x.A: adding the project\r\x1b[Kbuilt x.A (1.0 s)\r\n[1/2] x.A: adding the project\r\x1b[K"
    )


def test_lines_of_several_builders_do_not_mix() -> None:
    stream = io.StringIO()
    progress = progress_for(stream, 4)

    def tell() -> None:
        for _ in range(200):
            progress.phase("x" * 50)

    threads = [threading.Thread(target=tell) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stream.getvalue().splitlines() == 800 * ["x" * 50]


def test_as_many_are_built_at_once_as_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert prefetch_venvs.parser().parse_args([]).jobs == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert prefetch_venvs.parser().parse_args([]).jobs == 1


def test_the_list_has_a_line_of_name_extras_and_folder_for_each(
    small: ActorProject, capsys: pytest.CaptureFixture[str]
) -> None:
    project = small._replace(table={"small.actors.Two": ["markup", "colour"], "small.actors.None": None})
    assert prefetch_venvs.main(["--list"], project) == 0
    assert capsys.readouterr().out == f"small.actors.Two\tmarkup colour\t{small.environments}/small.actors.Two\n"


def test_the_line_that_changes_is_as_wide_as_the_terminal_but_for_one_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    stream = io.StringIO()
    TerminalProgress(stream, 3).phase("x" * 50)
    assert stream.getvalue().endswith(f"[0/3] {13 * 'x'}")


def test_each_environment_is_built_for_the_run_that_asks(small: ActorProject) -> None:
    stream = io.StringIO()
    build_all(small, [READER], "host:1:2", 1, progress_for(stream, 1))
    stamp = read_stamp(small.folder_of(READER))
    assert stamp is not None and stamp.run == "host:1:2"
    *installed, added, _ = [line.rpartition(": ")[2] for line in stream.getvalue().splitlines()]
    # Whether anything has to be downloaded depends on what was built before.
    assert {"installing third-party packages", "downloading and installing third-party packages"}.issuperset(installed)
    assert installed and added == "adding the project"
