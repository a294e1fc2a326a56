"""A bad configuration is an error that names the line and the way out; an exemption has a reason and a use."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_actor_envs.cli import main
from pytest_actor_envs.config_keys import KEYS
from pytest_actor_envs.evaluation import Evaluation, guards_for
from pytest_actor_envs.model import ConfigurationError, Verdict
from pytest_actor_envs.project import open_project, project_in_memory

from .conftest import FILES, PYPROJECT, change


def configured(lines: str) -> dict[str, str]:
    return {**FILES, "pyproject.toml": PYPROJECT.replace("docs = []\n", f"docs = []\n{lines}")}


FIRST = PYPROJECT[: PYPROJECT.index("docs = []")].count("\n") + 2


@pytest.mark.parametrize(
    ("lines", "place", "says", "mends"),
    [
        ('leaff = "x"\n', f"{FIRST}:1", "unknown key 'leaff'", "did you mean 'leaf'?"),
        ("zzz = 1\n", f"{FIRST}:1", "unknown key 'zzz'", "keys: leaf, table"),
        ("table = 3\n", f"{FIRST}:1", "'table' has to be a string, not 3", ""),
        ('packages = "sample"\n', f"{FIRST}:1", "'packages' has to be a list of strings, not 'sample'", ""),
        ("time-limit = -1\n", f"{FIRST}:1", "'time-limit' has to be a number greater than 0", ""),
        ('leaf-python = "three"\n', f"{FIRST}:1", "a Python version such as \"3.12\"", ""),
        ('standalone = [\n    "sample/leaf.py",\n    "sample/lef.py",\n]\n', f"{FIRST + 2}:5", "does not exist: sample/lef.py", "did you mean 'sample/leaf.py'?"),  # noqa: E501
        ('ignore = [{ guard = "x", subject = "y" }]\n', f"{FIRST}:11", "an exemption needs a 'reason'", "reason = "),
        ('lock = "../uv.lock"\n', f"{FIRST}:1", "'lock' leads out of the project: ../uv.lock", "name a file below"),
        ('lock = "/uv.lock"\n', f"{FIRST}:1", "'lock' leads out of the project: /uv.lock", "name a file below"),
        ('registry = "./sample//leaf.py"\n', f"{FIRST}:1", "'registry' is not written plainly", 'write "sample/leaf.py"'),
        ('packages = ["sample", "src/more"]\n', f"{FIRST}:23", "'packages' names no package: src/more", "without a path"),
        ('packages = ["smaple"]\n', f"{FIRST}:13", "'packages' names no package: smaple", "beside pyproject.toml"),
        ('stand-alone-extras = { alpa = "why" }\n', f"{FIRST}:24", "not declare: alpa", "did you mean 'alpha'?   declared: alpha, beta"),
        ('[tool.pytest-actor-envs.brings]\nbeta = ["x"]\nzzz = ["x"]\n', f"{FIRST + 2}:1", "'brings' names an extra that pyproject.toml does not declare: zzz", "    declared: alpha, beta"),  # noqa: E501
        ('modules = { yaml = 1 }\n', f"{FIRST}:1", "'modules' has to be a table of strings", ""),
    ],
    ids=lambda value: value.split(" = ")[0] if isinstance(value, str) and " = " in value else None,
)  # fmt: skip
def test_a_bad_key_is_an_error_at_its_line(lines: str, place: str, says: str, mends: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        project_in_memory(configured(lines))
    message = str(error.value)
    assert message.startswith(f"pyproject.toml:{place}: configuration: ")
    assert says in message
    assert mends in message


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ConfigurationError) as error:
        project_in_memory(configured("table = 3\nleaff = 1\n"))
    assert str(error.value).count("configuration:") == 2


def test_a_missing_leaf_is_said_with_the_line_to_write() -> None:
    files = {**FILES, "pyproject.toml": PYPROJECT.replace('leaf = "sample/leaf.py"\n', "")}
    with pytest.raises(ConfigurationError, match=r"the key 'leaf' is missing\n +name the file .*: leaf = "):
        project_in_memory(files)


def test_a_leaf_below_src_is_said_to_be_out_of_reach() -> None:
    files = {f"src/{path}" if path.endswith(".py") else path: text for path, text in FILES.items()}
    files["pyproject.toml"] = PYPROJECT.replace('"sample/leaf.py"', '"src/sample/leaf.py"')
    with pytest.raises(ConfigurationError, match=r"lies in a folder that is no package: src\n +modules are looked for"):
        project_in_memory(files)


def test_a_folder_of_pages_may_be_written_with_a_slash() -> None:
    pages = PYPROJECT.replace("docs = []", 'docs = ["pages/"]')
    project = project_in_memory({**FILES, "pyproject.toml": pages, "pages/a.md": "sample"})
    assert project.config.docs == ("pages/",)


@pytest.mark.parametrize("arguments", [[], ["-q"], ["-q", "pyproject.toml::extra-declared"], ["-q", "."]])
def test_pytest_stops_with_a_usage_error_for_a_bad_key(sample: pytest.Pytester, arguments: list[str]) -> None:
    change(sample.path, "pyproject.toml", "docs = []", 'docs = []\nleaff = "x"')
    result = sample.runpytest_subprocess(*arguments)
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert "no collectors" not in result.stderr.str()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"*pyproject.toml:{FIRST}:1: configuration: unknown key 'leaff'", "*did you mean 'leaf'?*"]
    )


def test_every_key_but_the_leaf_has_a_default_and_a_meaning() -> None:
    config = project_in_memory(FILES).config
    for key in KEYS:
        assert hasattr(config, key.name.replace("-", "_"))
        assert key.name == "leaf" or "Default:" in key.meaning


EXEMPT = 'ignore = [{{ guard = "{guard}", subject = "{subject}", reason = "{reason}" }}]\n'


def with_leaf(files: dict[str, str], old: str, new: str) -> dict[str, str]:
    assert old in files["sample/leaf.py"]
    return {**files, "sample/leaf.py": files["sample/leaf.py"].replace(old, new)}


def verdicts(files: dict[str, str], guard: str) -> dict[str, Verdict]:
    project = project_in_memory(files)
    evaluation = Evaluation(project, guards_for(project))
    return {case.subject.name: evaluation.outcome(case).verdict for case in evaluation.cases(evaluation.guards[guard])}


def test_an_exemption_makes_its_subject_green_and_no_other() -> None:
    files = configured(EXEMPT.format(guard="extra-declared", subject="sample.workers.First", reason="built elsewhere"))
    broken = with_leaf(with_leaf(files, '["alpha"]', '["other"]'), '["beta"]', '["other"]')
    assert verdicts(broken, "extra-declared") == {
        "sample.workers.First": Verdict.HOLDS,
        "sample.workers.Second": Verdict.BROKEN,
        "sample.workers.Third": Verdict.HOLDS,
    }
    assert set(verdicts(broken, "exemption-needed").values()) == {Verdict.HOLDS}


def test_an_exemption_that_exempts_nothing_is_a_finding() -> None:
    files = configured(EXEMPT.format(guard="extra-declared", subject="sample.workers.First", reason="was needed once"))
    assert set(verdicts(files, "exemption-needed").values()) == {Verdict.BROKEN}


def test_an_exemption_from_an_unknown_guard_is_a_finding_with_the_close_name() -> None:
    files = configured(EXEMPT.format(guard="extra-declard", subject="sample.workers.First", reason="why"))
    project = project_in_memory(files)
    evaluation = Evaluation(project, guards_for(project))
    [case] = evaluation.cases(evaluation.guards["exemption-needed"])
    [finding] = evaluation.outcome(case).findings
    assert finding.fix == ("did you mean 'extra-declared'?",)
    assert str(finding.location) == f"pyproject.toml:{FIRST}:11"


@pytest.mark.parametrize("above", [True, False], ids=["line-above", "same-line"])
def test_a_comment_with_a_reason_exempts_its_line(above: bool) -> None:
    comment = "# actor-envs: ignore[extra-declared] built elsewhere"
    old = '    "sample.workers.First": ["alpha"],'
    new = old.replace("alpha", "other")
    files = with_leaf(FILES, old, f"    {comment}\n{new}" if above else f"{new}  {comment}")
    assert set(verdicts(files, "extra-declared").values()) == {Verdict.HOLDS}
    assert set(verdicts(files, "exemption-needed").values()) == {Verdict.HOLDS}


def test_a_comment_without_a_reason_exempts_nothing_and_is_a_finding() -> None:
    files = with_leaf(
        FILES,
        '"sample.workers.First": ["alpha"],',
        '"sample.workers.First": ["other"],  # actor-envs: ignore[extra-declared]',
    )
    assert verdicts(files, "extra-declared")["sample.workers.First"] is Verdict.BROKEN
    assert set(verdicts(files, "exemption-needed").values()) == {Verdict.BROKEN}


def test_a_project_without_the_table_is_not_guarded(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert open_project(tmp_path) is None


def test_a_root_that_is_no_folder_is_said_to_be_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(tmp_path / "gone"), "list"]) == 2
    assert capsys.readouterr().err == f"actor-envs: there is no folder {tmp_path / 'gone'}, which --root names\n"
