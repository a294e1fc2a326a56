"""One run judges the project at pytest's root; it says which other guarded project it did not look at, and how to."""

from __future__ import annotations

import shlex

import pytest

from .conftest import FILES, write

INI = {"pytest.ini": "[pytest]\n"}
UNGUARDED = {"pyproject.toml": '[project]\nname = "around"\nversion = "1"\ndependencies = ["pytest-actor-envs"]\n'}
WARNING = "*{place}:1:1: configuration: the guards of this project are not run: pytest's root is *"


@pytest.fixture
def two(pytester: pytest.Pytester) -> pytest.Pytester:
    """Two guarded projects side by side, in a folder that is no project."""
    write(pytester.path / "one", FILES)
    write(pytester.path / "two", FILES)
    return pytester


@pytest.fixture
def nested(sample: pytest.Pytester) -> pytest.Pytester:
    """A guarded project within the guarded project at pytest's root."""
    write(sample.path, INI)
    write(sample.path / "inner", FILES)
    return sample


def collected(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("--import-mode=importlib", "--collect-only", "-q", *arguments)


def assert_command_judges(pytester: pytest.Pytester, output: str) -> None:
    """Runs the command that a message ends with: it runs guards, and all of them hold."""
    [command] = {line.partition("on their own: ")[2] for line in output.splitlines() if "on their own: " in line}
    program, *arguments = shlex.split(command)
    assert program == "pytest"
    result = pytester.runpytest_subprocess(*arguments)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["actor-envs: sample/leaf.py*"])
    assert result.parseoutcomes()["passed"] > 20


@pytest.mark.parametrize(
    "arguments",
    [
        ["one/pyproject.toml", "two/pyproject.toml"],
        ["one/pyproject.toml::actor-resolves", "two/pyproject.toml::actor-resolves"],
        ["one/test_ordinary.py", "two/pyproject.toml"],
        ["--actor-envs", "two/pyproject.toml", "--rootdir", "one"],
    ],
    ids=" ".join,
)
def test_a_project_that_is_named_and_not_the_root_is_an_error(two: pytest.Pytester, arguments: list[str]) -> None:
    result = two.runpytest_inprocess(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*" + WARNING.format(place="two/pyproject.toml")])
    assert "passed" not in result.stdout.str()


def test_the_error_says_how_to_judge_the_other_project(two: pytest.Pytester) -> None:
    result = two.runpytest_subprocess("-n", "2", "one/pyproject.toml", "two/pyproject.toml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert_command_judges(two, result.stderr.str())


@pytest.mark.parametrize("arguments", [[], ["inner"], ["--actor-envs", "inner/below"]], ids=" ".join)
def test_a_project_below_the_guarded_root_is_warned_of(nested: pytest.Pytester, arguments: list[str]) -> None:
    result = collected(nested, *arguments)
    assert result.ret == 0
    result.stdout.fnmatch_lines([WARNING.format(place="inner/pyproject.toml")])
    assert result.stdout.str().count("are not run") == 1


def test_the_warning_says_how_to_judge_the_other_project(nested: pytest.Pytester) -> None:
    result = nested.runpytest_subprocess("-n", "2", "--import-mode=importlib", "-k", "test_ordinary")
    result.assert_outcomes(passed=2, warnings=2)  # one of each worker, shown once
    assert_command_judges(nested, result.stdout.str())


def test_a_project_below_a_root_without_guards_is_warned_of(pytester: pytest.Pytester) -> None:
    write(pytester.path, {**UNGUARDED, **INI, "tests/test_it.py": "def test_it(): pass\n"})
    write(pytester.path / "inner", FILES)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=3, warnings=1)
    result.stdout.fnmatch_lines([WARNING.format(place="inner/pyproject.toml")])


def test_a_run_in_a_project_that_is_not_the_root_is_warned_of(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(pytester.path, INI)
    write(pytester.path / "inner", FILES)
    monkeypatch.chdir(pytester.path / "inner")
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=2, warnings=1)
    result.stdout.fnmatch_lines([WARNING.format(place="pyproject.toml")])
    assert_command_judges(pytester, result.stdout.str())


@pytest.mark.parametrize(
    "arguments", [["inner/test_ordinary.py"], ["--no-actor-envs"], ["--ignore=inner"]], ids=" ".join
)
def test_nobody_is_warned_where_no_guards_are_asked_for(nested: pytest.Pytester, arguments: list[str]) -> None:
    result = collected(nested, *arguments)
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*warning*")


def test_a_project_that_only_names_the_plugin_is_not_warned_of(sample: pytest.Pytester) -> None:
    write(sample.path, INI)
    write(sample.path / "inner", UNGUARDED)
    result = collected(sample)
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*warning*")


def test_a_project_below_that_cannot_be_read_is_warned_of(sample: pytest.Pytester) -> None:
    write(sample.path, INI)
    (sample.path / "broken/pyproject.toml").mkdir(parents=True)
    (sample.path / "loop").mkdir()
    (sample.path / "loop/pyproject.toml").symlink_to("pyproject.toml")
    (sample.path / "latin").mkdir()
    (sample.path / "latin/pyproject.toml").write_bytes(b'[tool.pytest-actor-envs]\nx = "caf\xe9"\n')
    result = collected(sample)
    assert result.ret == 0
    result.stdout.fnmatch_lines([WARNING.format(place="latin/pyproject.toml")])
    assert "loop/pyproject.toml" not in result.stdout.str()  # pytest takes it for no file


@pytest.mark.parametrize("files", [{}, UNGUARDED], ids=["no-pyproject", "no-table"])
def test_asking_for_guards_where_there_are_none_is_an_error(pytester: pytest.Pytester, files: dict[str, str]) -> None:
    write(pytester.path, {**files, **INI, "test_it.py": "def test_it(): pass\n"})
    result = pytester.runpytest_inprocess("--actor-envs")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*pyproject.toml:1:1: configuration: --actor-envs asks for guards, and there is no *", "*--rootdir FOLDER"]
    )


def test_asking_for_guards_at_the_wrong_root_names_the_project(pytester: pytest.Pytester) -> None:
    write(pytester.path, {**UNGUARDED, **INI})
    write(pytester.path / "inner", FILES)
    result = pytester.runpytest_inprocess("--actor-envs", "inner/below/test_below.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*" + WARNING.format(place="inner/pyproject.toml")])
