"""What was read of the project is kept in pytest's cache, and given to the workers of pytest-xdist."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import change

FILE = ".pytest_cache/d/actor-envs/facts.json"
VERDICTS = ".pytest_cache/d/actor-envs/verdicts.json"

# Where CONDITION holds, whoever reads a whole module of the project crashes.
REFUSING = """\
def pytest_configure(config):
    if CONDITION:
        from pytest_actor_envs.sources import parsed_files

        def refuse(*given):
            raise AssertionError("a module is read again")

        parsed_files.excerpt = parsed_files.import_facts = refuse
"""


def refuse(sample: pytest.Pytester, condition: str = "True") -> None:
    sample.makeconftest(REFUSING.replace("CONDITION", condition))


def test_a_second_run_reads_no_module_again(sample: pytest.Pytester) -> None:
    assert_green(run(sample))
    refuse(sample)
    (sample.path / VERDICTS).unlink()
    assert_green(run(sample))
    whole = (sample.path / FILE).read_text()
    assert run(sample, "-p", "no:cacheprovider").ret != 0
    assert (sample.path / FILE).read_text() == whole


def test_a_run_of_one_guard_leaves_the_rest_in_the_cache(sample: pytest.Pytester) -> None:
    run(sample)
    change(sample.path, "sample/__init__.py", "", "X = 1\n")
    sample.runpytest_subprocess("pyproject.toml::import-provided")
    refuse(sample)
    assert_green(run(sample))


def test_a_spoilt_file_is_written_anew(sample: pytest.Pytester) -> None:
    run(sample)
    whole = (sample.path / FILE).read_text()
    (sample.path / FILE).write_text(whole[:100])
    (sample.path / VERDICTS).unlink()
    assert_green(run(sample))
    assert (sample.path / FILE).read_text() == whole


def test_what_changed_is_read_again(sample: pytest.Pytester) -> None:
    starting = 'import ray\n\n\ndef start():\n    return wanted("sample.workers.Fourth")\n'
    (sample.path / "sample" / "starting.py").write_text(starting)
    assert_green(run(sample))
    change(sample.path, "pyproject.toml", "docs = []\n", 'docs = []\nlookups = ["wanted"]\n')
    change(sample.path, "sample/workers.py", "@ray.remote(num_cpus=1)\n", "@staticmethod\n")
    change(sample.path, "sample/workers.py", "import ray\n", "import ray\nimport six\n")
    run(sample).stdout.fnmatch_lines_random(
        [
            "*sample/workers.py:2:8: import-provided: *imports six*",
            "*actor-is-remote: sample.workers.Second is not a Ray actor class",
            "*starting.py:5:19: actor-registered: sample.workers.Fourth is looked up, *",
        ]
    )


def test_nothing_is_kept_where_the_cache_is_off_and_workers_see_the_same(sample: pytest.Pytester) -> None:
    change(sample.path, "sample/workers.py", "import ray\n", "import ray\nimport six\n")
    alone = run(sample, "-p", "no:cacheprovider").parseoutcomes()
    assert not (sample.path / ".pytest_cache").exists()
    shared = run(sample, "-p", "no:cacheprovider", "-n", "2").parseoutcomes()
    assert {kind: shared[kind] for kind in ("passed", "failed")} == {kind: alone[kind] for kind in ("passed", "failed")}


def test_a_checkout_that_cannot_be_written_is_judged_all_the_same(sample: pytest.Pytester) -> None:
    (sample.path / ".pytest_cache").write_text("in the way")
    alone = run(sample, "-W", "ignore")
    assert_green(alone)
    assert run(sample, "-W", "ignore", "-n", "2").parseoutcomes()["passed"] == alone.parseoutcomes()["passed"]


def test_workers_read_no_module_that_the_controller_read(sample: pytest.Pytester) -> None:
    refuse(sample, 'hasattr(config, "workerinput")')
    assert_green(run(sample, "-n", "2", "-p", "no:cacheprovider"))
    refuse(sample)
    assert run(sample, "-n", "2", "-p", "no:cacheprovider").ret != 0


def run(sample: pytest.Pytester, *options: str) -> pytest.RunResult:
    return sample.runpytest_subprocess("pyproject.toml", *options)


def assert_green(result: pytest.RunResult) -> None:
    outcomes = result.parseoutcomes()
    outcomes.pop("workers", None), outcomes.pop("worker", None)
    assert list(outcomes) == ["passed"]
    assert outcomes["passed"] > 40
