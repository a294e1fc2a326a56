"""What a run says: findings, verdicts, places, configuration errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .conftest import change


def test_a_finding_reads_like_a_compilers_error(sample: pytest.Pytester) -> None:
    change(sample.path, "sample/leaf.py", '["alpha"]', '["alhpa"]')
    result = sample.runpytest_subprocess("pyproject.toml::extra-declared")
    result.stdout.fnmatch_lines(
        [
            "sample/leaf.py:7:30: extra-declared: First needs extra 'alhpa', which pyproject.toml does not declare",
            "    did you mean 'alpha'?   declared: alpha, beta",
            "    more: actor-envs explain extra-declared",
        ]
    )


def test_every_finding_is_reported_at_once(sample: pytest.Pytester) -> None:
    change(sample.path, "sample/leaf.py", '["alpha"]', '["alhpa", "betta"]')
    change(sample.path, "sample/leaf.py", "sample.workers.Third", "sample.workers.Thrid")
    result = sample.runpytest_subprocess("pyproject.toml")
    for words in ("'alhpa'", "'betta'", "defines no class Thrid"):
        result.stdout.fnmatch_lines([f"*{words}*"])


def test_a_table_that_cannot_be_read_is_one_finding_and_blocks_the_rest(sample: pytest.Pytester) -> None:
    change(sample.path, "sample/leaf.py", "ACTOR_ENVIRONMENTS = {", "ACTOR_ENVIRONMENTS = {{")
    result = sample.runpytest_subprocess(
        "pyproject.toml", "-rs", "-k", "extra-declared or leaf-table-literal or actor-resolves"
    )
    result.assert_outcomes(failed=1, skipped=2)
    result.stdout.fnmatch_lines(
        ["sample/leaf.py:5:*: leaf-table-literal: the leaf is not valid Python*", "*blocked by leaf-table-literal*"]
    )


def test_verbose_shows_whole_ids(sample: pytest.Pytester) -> None:
    result = sample.runpytest_subprocess("-v", "pyproject.toml::extra-declared")
    result.stdout.fnmatch_lines(["pyproject.toml::extra-declared::sample.workers.First *PASSED*"])


def test_junit_xml_names_file_and_line_of_the_subject(sample: pytest.Pytester) -> None:
    sample.runpytest_subprocess("pyproject.toml", "--junitxml=out.xml", "-o", "junit_family=xunit1")
    cases = ElementTree.parse(sample.path / "out.xml").iter("testcase")
    places = {(case.get("name"), case.get("classname")): (case.get("file"), case.get("line")) for case in cases}
    first = next(
        place
        for (name, classname), place in places.items()
        if name == "sample.workers.First" and "extra-declared" in str(classname)
    )
    assert first == ("sample/leaf.py", "6")


OWN_GUARD = """
from pytest_actor_envs.model import Finding, Guard, Location, Mutant, Place, Undecided

def subjects(project):
    return [Place("one", Location("pyproject.toml"))]

def undecided(project, subject):
    raise Undecided("nobody knows; add x = 1")
    yield

def crash(project, subject):
    raise ZeroDivisionError("oops")
    yield

def nothing(project):
    return []

def holds(project, subject):
    return []

def mutants(project):
    return [Mutant("one", "any", {})]

UNDECIDED = Guard("own-undecided", subjects, undecided, mutants)
CRASH = Guard("own-crash", subjects, crash, mutants)
NOTHING = Guard("own-nothing", nothing, holds, mutants)
"""


@pytest.fixture
def with_own_guards(sample: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """The sample project beside another distribution that brings three guards by the entry-point group."""
    folder = sample.mkdir("other")
    (folder / "own_guards").mkdir()
    (folder / "own_guards/__init__.py").write_text("")
    (folder / "own_guards/guards.py").write_text(OWN_GUARD)
    metadata = folder / "own_guards-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: own-guards\nVersion: 1\n")
    names = "".join(f"{name} = own_guards.guards:{name.upper()}\n" for name in ("undecided", "crash", "nothing"))
    (metadata / "entry_points.txt").write_text(f"[actor_envs.guards]\n{names}")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return sample


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "import no_such_module\n",
            "guard undecided of the distribution own-guards cannot be imported: *no_such_module*",
        ),
        (OWN_GUARD + "NOTHING = 3\n", "3 in the entry points actor_envs.guards is no Guard"),
        (OWN_GUARD.replace("nothing, holds, mutants", "nothing, holds, None"), "guard own-nothing has no mutants:*"),
    ],
)
@pytest.mark.parametrize("quiet", [[], ["-q", "-n", "1"]])
def test_a_guard_that_cannot_be_registered_is_an_error_of_usage(
    with_own_guards: pytest.Pytester, text: str, said: str, quiet: list[str]
) -> None:
    (with_own_guards.path / "other/own_guards/guards.py").write_text(text)
    result = with_own_guards.runpytest_subprocess("pyproject.toml", *quiet)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {said}"])
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


def test_undecided_is_skipped_with_its_reason_and_fails_when_strict(with_own_guards: pytest.Pytester) -> None:
    lenient = with_own_guards.runpytest_subprocess("pyproject.toml::own-undecided", "-rs")
    lenient.assert_outcomes(skipped=1)
    lenient.stdout.fnmatch_lines(["*nobody knows; add x = 1*"])
    strict = with_own_guards.runpytest_subprocess("pyproject.toml::own-undecided", "--actor-envs-strict")
    strict.assert_outcomes(failed=1)
    strict.stdout.fnmatch_lines(["*nobody knows; add x = 1*"])


def test_a_crash_is_an_error_and_hides_no_other_guard(with_own_guards: pytest.Pytester) -> None:
    result = with_own_guards.runpytest_subprocess("pyproject.toml::own-crash", "pyproject.toml::extra-declared")
    result.assert_outcomes(errors=1, passed=3)
    result.stdout.fnmatch_lines(["*own-crash crashed*", "*ZeroDivisionError: oops*"])


def test_a_guard_without_a_subject_fails(with_own_guards: pytest.Pytester) -> None:
    result = with_own_guards.runpytest_subprocess("pyproject.toml::own-nothing")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*own-nothing: found no place to look at*"])


def test_the_header_names_the_leaf_and_the_families_that_are_off(sample: pytest.Pytester) -> None:
    result = sample.runpytest_subprocess("pyproject.toml")
    result.stdout.fnmatch_lines(
        ["actor-envs: sample/leaf.py (off: registry: no registry; *image: no Dockerfile; docs: no documentation*)"]
    )


def test_an_unguarded_project_imports_nothing_heavy(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_modules():
            loaded = [name for name in sys.modules if name.startswith("pytest_actor_envs") or name.startswith("tree_sitter")]
            assert loaded == ["pytest_actor_envs", "pytest_actor_envs.roots", "pytest_actor_envs.plugin"], loaded
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
    (pytester.path / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_leaf_is_never_imported_by_collection(sample: pytest.Pytester) -> None:
    change(sample.path, "sample/__init__.py", "", "raise RuntimeError('imported')\n")
    result = sample.runpytest_subprocess("pyproject.toml", "-k", "extra-declared or actor-resolves")
    result.assert_outcomes(passed=6, deselected=result.parseoutcomes()["deselected"])


def test_the_command_that_findings_name_works(sample: pytest.Pytester) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).parent / "actor-envs"), *arguments]
        return subprocess.run(command, cwd=sample.path / "below", capture_output=True, text=True, check=False)

    explained = run("explain", "extra-declared")
    assert explained.returncode == 0
    assert "sample.workers.First" in explained.stdout
    assert "mutants" in explained.stdout
    assert "sample.workers.Third   -       -" in run("list").stdout
    unknown = run("explain", "extra-declard")
    assert unknown.returncode == 2
    assert "did you mean 'extra-declared'?" in unknown.stderr
