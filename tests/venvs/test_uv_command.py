"""How uv is found and called and what is said of its failures, with a script in its place; the others call the real one."""

import os
import pathlib
import sys
from collections.abc import Callable

import pytest
import uv

from nemo_rl.utils import uv_command
from nemo_rl.utils.uv_command import UvError

ROOT = pathlib.Path("/project")


@pytest.fixture
def script(tmp_path: pathlib.Path) -> Callable[..., str]:
    """Writes a shell script that can be started, and gives its path."""

    def written(text: str, name: str = "uv") -> str:
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
        return str(file)

    return written


def test_uv_is_the_one_beside_the_interpreter_then_the_packages_then_the_one_on_the_path(
    script: Callable[..., str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> str:
        raise FileNotFoundError

    beside, on_path = script("", "bin/uv"), script("")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(uv, "find_uv_bin", lambda: "/from/the/package")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert uv_command.find_uv() == beside
    os.chmod(beside, 0o644)
    assert uv_command.find_uv() == "/from/the/package"
    os.chmod(beside, 0o755)
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    assert uv_command.find_uv() == "/from/the/package"
    monkeypatch.setattr(uv, "find_uv_bin", missing)
    assert uv_command.find_uv() == on_path
    asked: list[str] = []
    monkeypatch.setattr(uv_command.importlib.util, "find_spec", asked.append)
    assert uv_command.find_uv() == on_path
    assert asked == ["uv"]
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    with pytest.raises(UvError) as error:
        uv_command.find_uv()
    assert str(error.value) == (
        "uv builds the environments of actors, and there is none: neither as a package of this interpreter nor on PATH\n"
        "    install it: python -m pip install uv"
    )


def test_the_cache_is_what_the_variable_says_or_uv(
    script: Callable[..., str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("UV_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UV_CACHE_DIR", "relative")
    assert uv_command.cache_of("/no/uv") == tmp_path / "relative"
    monkeypatch.setenv("UV_CACHE_DIR", "")
    monkeypatch.setenv("UV_PYTHON", "3.8")
    monkeypatch.setenv("ANSWER", "/of uv")
    program = script('echo "$*:$ANSWER:$UV_PYTHON"')
    assert uv_command.cache_of(program) == pathlib.Path("cache dir:/of uv:")
    monkeypatch.setenv("ANSWER", "another")
    assert uv_command.cache_of(program) == pathlib.Path("cache dir:another:")


def test_which_variables_uv_gets(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = {"PATH": "/bin", "UV_INDEX": "x", "UV_INDEX_A": "y", "UV_HTTP_TIMEOUT": "3", "PYTHONUTF8": "1", "XUV_X": "z"}
    dropped = dict.fromkeys(["UV_PYTHON", "UV_NO_SYNC", "UV_INDEXED", "VIRTUAL_ENV", "PYTHONPATH", "CONDA_PREFIX"], "x")
    assert uv_command.cleaned({**kept, **dropped}) == kept
    assert uv_command.cleaned({**kept, "UV_CACHE_DIR": "a"}) == {**kept, "UV_CACHE_DIR": str(tmp_path / "a")}
    assert uv_command.cleaned({"UV_CACHE_DIR": ""}) == {"UV_CACHE_DIR": ""}


def test_the_arguments_of_a_sync() -> None:
    where = ["--python", "/python", "--directory", "/project"]
    assert uv_command.sync_arguments(ROOT, "/python", ["b", "a"], True) == [
        *["sync", "--locked", "--no-default-groups", "--extra", "b", "--extra", "a", "--link-mode", "hardlink"],
        *where,
    ]
    assert uv_command.sync_arguments(ROOT, "/python", [], False, True) == [
        *["sync", "--locked", "--no-default-groups", "--no-install-project", "--link-mode", "hardlink", "--offline"],
        *where,
    ]


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        ("error: No space left on device (os error 28)", "the disk is full: "),
        ("x\nPermission denied\nNo space left on device", "the disk is full: "),
        ("Permission denied", "a folder cannot be written: "),
        ("The lockfile needs to be updated", "uv.lock does not fit pyproject.toml: "),
        ("dns error", "the package index cannot be reached: "),
    ],
)
def test_advice_is_a_line_of_its_own(output: str, advice: str) -> None:
    assert uv_command.advice_on(output).startswith(f"\n    {advice}")
    assert uv_command.advice_on("all is well") == ""


def test_the_version_stands_in_the_environment(tmp_path: pathlib.Path) -> None:
    (tmp_path / "pyvenv.cfg").write_text("home = /\N{SNOWMAN}\nuv = 0.13.9\nversion = 3\n", encoding="utf-8")
    assert uv_command.version_in(tmp_path) == "0.13.9"
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\nnuv = 1\n")
    assert uv_command.version_in(tmp_path) == ""


def test_a_command_ends_with_this_process_by_setpriv_or_by_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uv_command, "setpriv", lambda: "/setpriv")
    assert uv_command.ending_with_this_process(["a", "b"]) == ["/setpriv", "--pdeathsig", "KILL", "a", "b"]
    monkeypatch.setattr(uv_command, "setpriv", lambda: None)
    own = [sys.executable, "-I", "-S", str(uv_command.END_WITH_PARENT), str(os.getpid())]
    assert uv_command.ending_with_this_process(["a", "b"]) == [*own, "a", "b"]


@pytest.fixture
def run(script: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Runs a script as uv, with a pipe for the lock; gives the notes."""
    monkeypatch.setattr(uv_command, "ending_with_this_process", list)

    def ran(text: str) -> list[str]:
        notes: list[str] = []
        reader, writer = os.pipe()
        monkeypatch.setenv("LOCK", str(writer))
        try:
            uv_command.run_uv(script(text), ["sync", "a b"], pathlib.Path("/venvs/the one"), writer, notes.append)
        finally:
            os.close(writer)
            os.close(reader)
        return notes

    return ran


def test_uv_works_in_a_cleaned_environment_without_input_and_keeps_the_lock(
    run: Callable[[str], list[str]], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_PYTHON", "3.8")
    monkeypatch.setenv("OTHER", "kept")
    names = ["UV_PROJECT_ENVIRONMENT", "UV_PYTHON_DOWNLOADS", "UV_NO_PROGRESS", "NO_COLOR", "UV_PYTHON", "OTHER"]
    values = ":".join(f"${name}" for name in names)
    said = tmp_path / "said"
    assert run(f'read line; echo "$1,$2,$line,{values}" > {said}; readlink /proc/$$/fd/$LOCK >> {said}') == []
    told, lock = said.read_text().splitlines()
    assert told == "sync,a b,,/venvs/the one:never:1:1::kept"
    assert lock.startswith("pipe:")


def test_an_interruption_ends_uv_and_what_it_started_which_hear_none_themselves(
    script: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    def interrupted(note: str) -> None:
        raise KeyboardInterrupt

    reader, writer = os.pipe()
    uv = script(f"echo $$ > {tmp_path}/group; sleep 300 & echo falling back to full copy; sleep 300")
    with pytest.raises(KeyboardInterrupt):
        uv_command.run_uv(uv, [], tmp_path, writer, interrupted)
    os.close(writer)
    assert os.read(reader, 1) == b"", "whoever has the lock's descriptor has ended"
    os.close(reader)
    assert int((tmp_path / "group").read_text()) != os.getpgid(0)


def test_a_fall_back_to_copies_is_noted(run: Callable[[str], list[str]]) -> None:
    note = "uv copies instead of linking: put UV_CACHE_DIR and NEMO_RL_VENV_DIR on one file system"
    assert run("echo other >&2; echo another; echo 'warning: falling back to full copy of x' >&2") == [note]


def test_a_failure_has_the_last_lines_the_command_and_advice(
    run: Callable[[str], list[str]], tmp_path: pathlib.Path
) -> None:
    by_hand = f"UV_PROJECT_ENVIRONMENT='/venvs/the one' {tmp_path}/uv sync 'a b'"
    with pytest.raises(UvError) as error:
        run("for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done; exit 1")
    lines = [f"{stream} {number}" for number in range(2, 10) for stream in ("out", "err")][1:]
    assert str(error.value) == "\n".join(
        [
            "uv ended with exit code 1; its last lines:",
            *(f"    | {line}" for line in lines),
            f"    to repeat by hand: {by_hand}",
        ]
    )
    with pytest.raises(UvError) as error:
        run("printf '\\377 Permission '; echo denied; kill -9 $$")
    assert str(error.value) == (
        f"uv ended by signal 9; its last lines:\n    | \N{REPLACEMENT CHARACTER} Permission denied\n"
        f"    to repeat by hand: {by_hand}{uv_command.advice_on('Permission denied')}"
    )
