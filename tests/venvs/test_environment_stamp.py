"""The stamp as a script, on the oldest Python too, and as a module."""

import json
import pathlib
import subprocess
import sys
from typing import Any

import pytest

from nemo_rl.utils import environment_stamp
from nemo_rl.utils.environment_stamp import COMPLETE, DEPENDENCIES, Stamp, differences, read_stamp, write_stamp

STAMP = Stamp(
    state=COMPLETE,
    extras=("a", "b"),
    lock="0" * 64,
    interpreter="CPython 3.12.1 /usr/bin/python3.12",
    platform="linux-x86_64",
    folder="/venvs/x",
    project="/project",
    uv="0.13.9",
    run="host:1:2",
)


@pytest.fixture
def environment(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "environment"
    folder.mkdir()
    (folder / "pyvenv.cfg").touch()
    return folder


def script(*arguments: str | pathlib.Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-I", "-S", environment_stamp.__file__, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_stamp_is_read_as_it_was_written(environment: pathlib.Path) -> None:
    write_stamp(environment, STAMP)
    assert read_stamp(environment) == STAMP
    assert [path.name for path in environment.iterdir() if path.name != "pyvenv.cfg"] == ["actor-environment.json"]


def test_a_folder_without_a_stamp_or_no_folder_has_none(environment: pathlib.Path) -> None:
    assert read_stamp(environment) is None
    assert read_stamp(environment / "missing") is None
    assert read_stamp(environment / "pyvenv.cfg") is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"state": "complete"}', '{"extras": null}', '{"extras": [], "unknown": 1}']
)
def test_what_is_no_stamp_of_this_format_is_none(environment: pathlib.Path, text: str) -> None:
    (environment / environment_stamp.STAMP_NAME).write_text(text)
    assert read_stamp(environment) is None


def test_a_stamp_of_an_unknown_state_is_none(environment: pathlib.Path) -> None:
    write_stamp(environment, STAMP._replace(state="almost"))
    assert read_stamp(environment) is None


def test_a_removed_stamp_is_gone_and_removing_none_is_fine(environment: pathlib.Path) -> None:
    write_stamp(environment, STAMP)
    environment_stamp.remove_stamp(environment)
    environment_stamp.remove_stamp(environment)
    assert read_stamp(environment) is None


def test_a_failed_write_keeps_the_old_stamp_and_leaves_nothing_aside(environment: pathlib.Path) -> None:
    write_stamp(environment, STAMP)
    with pytest.raises(TypeError):
        write_stamp(environment, STAMP._replace(lock=object()))  # type: ignore[arg-type]
    assert read_stamp(environment) == STAMP
    assert len(list(environment.iterdir())) == 2


def changed(field: str) -> dict[str, Any]:
    return {field: "other"}


@pytest.mark.parametrize("field", ["extras", "lock", "interpreter", "platform", "folder", "project", "format"])
def test_each_fact_that_an_environment_was_built_for_makes_a_difference(field: str) -> None:
    other = STAMP._replace(**changed(field))
    assert differences(STAMP, STAMP) == []
    (difference,) = differences(other, STAMP)
    assert difference == f"{field}: other -> {getattr(STAMP, field)}"


@pytest.mark.parametrize("field", ["uv", "run"])
def test_what_is_only_for_the_record_makes_none(field: str) -> None:
    assert differences(STAMP._replace(**changed(field)), STAMP) == []


def test_the_project_does_not_matter_to_dependencies() -> None:
    assert differences(STAMP._replace(state=DEPENDENCIES, project=""), STAMP) == []


def write_arguments(environment: pathlib.Path, *more: str, state: str = DEPENDENCIES) -> list[str | pathlib.Path]:
    lock = environment / "pyvenv.cfg"
    stated: list[str | pathlib.Path] = ["--state", state, "--lock", lock, "--python", sys.executable]
    return ["write", environment, *stated, "--uv", "uv 0.13.9 (x86_64)", *more]


def test_the_script_writes_the_stamp_that_the_module_would(environment: pathlib.Path) -> None:
    run = script(*write_arguments(environment, "--extra", "b", "--extra", "a"))
    assert (run.returncode, run.stderr) == (0, "")
    expected = environment_stamp.stamp_for(
        environment, ["a", "b"], environment / "pyvenv.cfg", sys.executable, uv="0.13.9"
    )
    assert read_stamp(environment) == expected
    assert expected.state == DEPENDENCIES and expected.extras == ("a", "b")
    assert json.loads(script("show", environment).stdout)["lock"] == environment_stamp.hash_of(
        environment / "pyvenv.cfg"
    )


def test_the_script_writes_a_complete_stamp_with_the_project(environment: pathlib.Path) -> None:
    run = script(*write_arguments(environment, "--project", str(environment), state=COMPLETE))
    stamp = read_stamp(environment)
    assert run.returncode == 0 and stamp is not None
    assert (stamp.state, stamp.project) == (COMPLETE, str(environment))


def test_the_script_refuses_what_is_no_environment(tmp_path: pathlib.Path) -> None:
    run = script(*write_arguments(tmp_path))
    assert run.returncode == 1
    assert "is no Python environment: it has no pyvenv.cfg" in run.stderr


@pytest.mark.parametrize(("state", "more"), [(COMPLETE, []), (DEPENDENCIES, ["--project", "x"])])
def test_the_script_wants_a_project_for_complete_and_for_nothing_else(
    environment: pathlib.Path, state: str, more: list[str]
) -> None:
    run = script(*write_arguments(environment, *more, state=state))
    assert run.returncode == 1 and "--project goes with --state complete" in run.stderr
    assert read_stamp(environment) is None


def test_the_script_says_what_it_misses(environment: pathlib.Path) -> None:
    assert "has no stamp" in script("show", environment).stderr
    arguments = write_arguments(environment)
    missing = script(*arguments[:5], environment / "no.lock", *arguments[6:])
    assert missing.returncode == 1 and "no.lock" in missing.stderr
    no_python = script(*arguments[:7], "/nonexistent/python", *arguments[8:])
    assert no_python.returncode == 1 and "/nonexistent/python cannot be started" in no_python.stderr
    no_python = script(*arguments[:7], "/bin/false", *arguments[8:])
    assert no_python.returncode == 1 and "is no Python 3.8 or newer" in no_python.stderr


@pytest.mark.parametrize("arguments", [[], ["write"], ["write", "x", "--state", "almost"], ["unknown"]])
def test_wrong_arguments_are_exit_code_2_with_nothing_on_stdout(arguments: list[str]) -> None:
    run = script(*arguments)
    assert (run.returncode, run.stdout) == (2, "")


def test_another_interpreter_is_described_by_itself_and_by_its_base(tmp_path: pathlib.Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    assert environment_stamp.interpreter_of(str(tmp_path / "venv" / "bin" / "python")) == (
        environment_stamp.this_interpreter()
    )


def test_what_runs_in_this_process_says_what_the_script_says(
    environment: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        environment_stamp.main([str(word) for word in write_arguments(environment, "--extra", "b", "--extra", "a")])
        == 0
    )
    stamp = read_stamp(environment)
    assert stamp == environment_stamp.stamp_for(
        environment, ["a", "b"], environment / "pyvenv.cfg", sys.executable, uv="0.13.9"
    )
    assert environment_stamp.main(["show", str(environment)]) == 0
    assert capsys.readouterr() == (json.dumps(stamp._asdict(), indent=2) + "\n", "")
    assert environment_stamp.main(["interpreter"]) == 0
    assert capsys.readouterr() == (environment_stamp.this_interpreter() + "\n", "")


def test_in_this_process_a_complete_stamp_has_its_project_and_may_have_no_extras(environment: pathlib.Path) -> None:
    arguments = write_arguments(environment, "--project", str(environment), state=COMPLETE)
    assert environment_stamp.main([str(word).replace("uv 0.13.9 (x86_64)", "0.14") for word in arguments]) == 0
    stamp = read_stamp(environment)
    assert stamp is not None
    assert (stamp.state, stamp.project, stamp.extras, stamp.uv) == (COMPLETE, str(environment), (), "0.14")


def test_errors_in_this_process_are_lines_on_stderr(
    environment: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = "environment_stamp.py: --project goes with --state complete, and with that only\n"
    none = f"environment_stamp.py: {tmp_path} is no Python environment: it has no pyvenv.cfg\n"
    unfinished = f"environment_stamp.py: {environment} has no stamp: it is unfinished, or no actor environment\n"
    for arguments, message in (
        (write_arguments(environment, state=COMPLETE), pair),
        (write_arguments(environment, "--project", "x"), pair),
        (write_arguments(tmp_path), none),
        (["show", environment], unfinished),
    ):
        assert environment_stamp.main([str(word) for word in arguments]) == 1
        assert capsys.readouterr() == ("", message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: command"),
        (["unknown"], "argument command: invalid choice: 'unknown'"),
        (["show"], "the following arguments are required: folder"),
        (["write"], "the following arguments are required: folder, --state, --lock, --python, --uv"),
        (["write", "x", "--state", "almost"], "argument --state: invalid choice: 'almost'"),
    ],
)
def test_wrong_arguments_are_named(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        environment_stamp.main(arguments)
    out, err = capsys.readouterr()
    assert (end.value.code, out) == (2, "")
    assert err.startswith("usage: environment_stamp.py") and message in err


def test_the_help_says_what_each_command_does(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        environment_stamp.main(["--help"])
    words = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "Write or show the stamp of an environment." in words
    assert {"interpreter print what this interpreter is", "show print the stamp", "write stamp an environment"} <= set(
        words
    )


def test_a_stamp_is_written_aside_in_its_folder_as_readable_json(
    environment: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[tuple[pathlib.Path, pathlib.Path]] = []
    replace = environment_stamp.os.replace

    def noted(aside: str, place: str) -> None:
        moved.append((pathlib.Path(aside), pathlib.Path(place)))
        replace(aside, place)

    monkeypatch.setattr(environment_stamp.os, "replace", noted)
    write_stamp(environment, STAMP._replace(project="/\N{SNOWMAN}"))
    [(aside, place)] = moved
    assert (aside.parent, place) == (environment, environment / "actor-environment.json")
    assert aside.name.startswith("actor-environment.json")
    assert place.stat().st_mode & 0o777 == 0o644
    expected = json.dumps({**STAMP._asdict(), "project": "/\N{SNOWMAN}"}, indent=2)
    assert place.read_text() == f"{expected}\n"
    environment_stamp.remove_stamp(environment / "pyvenv.cfg")
    assert read_stamp(environment) == STAMP._replace(project="/\N{SNOWMAN}")


def test_the_stamp_of_what_would_be_built_now(environment: pathlib.Path) -> None:
    lock = environment / "pyvenv.cfg"
    (environment.parent / "link").symlink_to(environment)
    link = environment.parent / "link"
    dependencies = Stamp(
        state=DEPENDENCIES,
        extras=("a", "b"),
        lock="e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        interpreter=environment_stamp.this_interpreter(),
        platform=environment_stamp.sysconfig.get_platform(),
        folder=str(environment),
    )
    assert environment_stamp.stamp_for(link, ["b", "a", "b"], lock, sys.executable) == dependencies
    assert environment_stamp.stamp_for(
        link, iter("ab"), lock, sys.executable, link, "1", "run"
    ) == dependencies._replace(state=COMPLETE, project=str(environment), uv="1", run="run")


@pytest.mark.parametrize("base", ["set", "none", "missing"])
def test_an_interpreter_is_named_by_its_base(
    base: str, environment: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (environment / "python").symlink_to("pyvenv.cfg")
    (environment / "other").symlink_to("/bin/sh")
    monkeypatch.setattr(sys, "executable", str(environment / ("other" if base == "set" else "python")))
    if base == "missing":
        monkeypatch.delattr(sys, "_base_executable")
    else:
        monkeypatch.setattr(sys, "_base_executable", str(environment / "python") if base == "set" else None)
    version = ".".join(map(str, sys.version_info[:3]))
    assert environment_stamp.this_interpreter() == f"CPython {version} {environment}/pyvenv.cfg"


def test_another_interpreter_is_asked_what_it_is(environment: pathlib.Path) -> None:
    python = environment / "python"

    def answering(text: str) -> str:
        python.write_text(f"#!/bin/sh\n{text}\n")
        python.chmod(0o755)
        return environment_stamp.interpreter_of(str(python))

    assert answering('echo " $* "; echo warning >&2') == f"-I -S {environment_stamp.__file__} interpreter"
    for code in (1, 2):
        with pytest.raises(environment_stamp.StampError) as error:
            answering(f"echo out; printf ' %0600d ' 7 >&2; exit {code}")
        assert str(error.value) == f"{python} is no Python 3.8 or newer: {7:0500d}"
    python.unlink()
    with pytest.raises(environment_stamp.StampError) as error:
        environment_stamp.interpreter_of(str(python))
    assert str(error.value) == f"{python} cannot be started: No such file or directory"
