"""A pyproject.toml that cannot be read is an error with its place and the way out, never a traceback, never silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_actor_envs.cli import main
from pytest_actor_envs.model import ConfigurationError
from pytest_actor_envs.project import project_in_memory

from .conftest import FILES, PYPROJECT

TABLE = b'[tool.pytest-actor-envs]\nleaf = "sample/leaf.py"\n'

BROKEN = [
    pytest.param(TABLE + b'x = "caf\xe9"\n', "3:9", "not UTF-8: ", "save the file as UTF-8", id="latin-1"),
    pytest.param(TABLE + "y = 'é'; x".encode(), "3:8", "not valid TOML: ", "mend this line", id="two-statements"),
    pytest.param(TABLE + b"docs = [\n[x]\n", "4:2", "not valid TOML: Invalid value", "left open above", id="open-list"),
    pytest.param(TABLE + b"docs = [\n", "3:1", "not valid TOML: ", "left open above", id="open-at-the-end"),
    pytest.param(b"\xef\xbb\xbf" + TABLE, "1:1", "a byte order mark", "save the file without it", id="byte-order-mark"),
    pytest.param(
        TABLE + b"x = " + b"[" * 5000,
        "1:1",
        "lists or tables are nested too deeply",
        "nest them less",
        id="nested-too-deeply",
    ),
]


@pytest.mark.parametrize(("content", "place", "says", "mends"), BROKEN)
def test_no_toml_is_said_with_its_place(
    pytester: pytest.Pytester, capfd: pytest.CaptureFixture[str], content: bytes, place: str, says: str, mends: str
) -> None:
    (pytester.path / "pyproject.toml").write_bytes(content)
    # Without -c pytest reads pyproject.toml as its own configuration, before any plugin is there.
    (pytester.path / "pytest.ini").write_text("[pytest]", encoding="utf-8")
    result = pytester.runpytest_inprocess("-c", "pytest.ini")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*pyproject.toml:{place}: configuration: {says}*", f"    *{mends}*"])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    capfd.readouterr()
    assert main(["--root", str(pytester.path), "list"]) == 2
    written = capfd.readouterr()
    assert written.err.startswith(f"pyproject.toml:{place}: configuration: {says}")
    assert mends in written.err
    assert written.out == ""


def test_a_folder_that_is_gone_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["list"]) == 2
    assert capfd.readouterr().err == (
        "actor-envs: the folder that it was started in is gone\n    go into the project, or name it by --root\n"
    )
    assert main(["--root", str(tmp_path), "list"]) == 2
    assert "there is no [tool.pytest-actor-envs] here or above" in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["folder", "link to itself"])
def test_a_file_that_cannot_be_read_is_said_with_the_reason(
    pytester: pytest.Pytester, capfd: pytest.CaptureFixture[str], kind: str
) -> None:
    path = pytester.path / "pyproject.toml"
    path.mkdir() if kind == "folder" else path.symlink_to(path)
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*pyproject.toml:1:1: configuration: {path} cannot be read: *", "*--no-actor-envs*"])
    pytester.runpytest_inprocess("--no-actor-envs").assert_outcomes(passed=1)
    capfd.readouterr()
    for arguments in (["list"], ["--root", str(pytester.path), "list"]):
        assert main(arguments) == 2
        assert "cannot be read: " in capfd.readouterr().err


SHAPES = [
    ("project = 3\n", "1:1", "'project' has to be a table, not 3"),
    ('[project]\nname = 3\n', "2:1", "'project.name' has to be a string, not 3"),
    ('[project]\ndependencies = "six"\n', "2:1", "'project.dependencies' has to be a list of strings, not 'six'"),
    ("[project]\ndependencies = [\n  3]\n", "3:3", "'project.dependencies[0]' has to be a string, not 3"),
    ("[project]\noptional-dependencies = []\n", "2:1", "'project.optional-dependencies' has to be a table of lists of"),
    ('[project.optional-dependencies]\na = "six"\n', "2:1", "'project.optional-dependencies.a' has to be a list of str"),
    ("[project]\ndynamic = 3\n", "2:1", "'project.dynamic' has to be a list of strings, not 3"),
    ("dependency-groups = 3\n", "1:1", "'dependency-groups' has to be a table of lists of requirements, not 3"),
    ("[dependency-groups]\ndev = 3\n", "2:1", "'dependency-groups.dev' has to be a list, not 3"),
    ("[dependency-groups]\ndev = [3]\n", "2:8", "'dependency-groups.dev[0]' has to be a string or a table, not 3"),
    ("[tool]\nuv = 3\n", "2:1", "'tool.uv' has to be a table, not 3"),
    ("[tool.uv]\nconflicts = 3\n", "2:1", "'tool.uv.conflicts' has to be a list of lists of tables, not 3"),
    ("[tool.uv]\nconflicts = [3]\n", "2:14", "'tool.uv.conflicts[0]' has to be a list of tables, not 3"),
    ("[tool.uv]\nconflicts = [[3]]\n", "2:15", "'tool.uv.conflicts[0][0]' has to be a table, not 3"),
    ("[tool.uv]\nconflicts = [[{extra = 3}]]\n", "2:16", "'tool.uv.conflicts[0][0].extra' has to be a string, not 3"),
    ('[tool.uv]\nenvironments = "x"\n', "2:1", "'tool.uv.environments' has to be a list of strings, not 'x'"),
    ("[tool.uv]\ndefault-groups = {}\n", "2:1", "'tool.uv.default-groups' has to be a list of strings, or \"all\", not a"),
    ("[tool.uv]\nlink-mode = 3\n", "2:1", "'tool.uv.link-mode' has to be a string, not 3"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "place", "says"), SHAPES, ids=[lines.split("\n")[-2] for lines, _, _ in SHAPES])
def test_a_value_of_another_type_is_said_with_its_place(lines: str, place: str, says: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        project_in_memory({**FILES, "pyproject.toml": f"{lines}{TABLE.decode()}"})
    assert str(error.value).startswith(f"pyproject.toml:{place}: configuration: {says}")


def test_what_the_standards_allow_is_no_error() -> None:
    allowed = '[dependency-groups]\ndev = ["six", { include-group = "more" }]\nmore = []\n[tool.uv.pip]\nx = 1\n'
    for written in ('["dev"]', '"all"'):
        text = PYPROJECT.replace("[tool.uv]\n", f"[tool.uv]\ndefault-groups = {written}\n") + allowed
        assert project_in_memory({**FILES, "pyproject.toml": text}).pyproject.name == "sample"


def test_another_projects_broken_pyproject_is_none_of_ours(pytester: pytest.Pytester) -> None:
    (pytester.path / "pyproject.toml").write_bytes(b'x = "caf\xe9"\n')
    (pytester.path / "pytest.ini").write_text("[pytest]", encoding="utf-8")
    pytester.makepyfile("def test_it(): pass")
    pytester.runpytest_inprocess("-c", "pytest.ini").assert_outcomes(passed=1)


def test_the_command_looks_no_further_than_what_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_bytes(TABLE)
    (tmp_path / "below" / "pyproject.toml").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "below")
    assert main(["list"]) == 2
    assert f"{os.path.join('below', 'pyproject.toml')} cannot be read" in capsys.readouterr().err
