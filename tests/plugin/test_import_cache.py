"""What was read of the project is kept in pytest's cache, and given to the workers of pytest-xdist."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import change

FILE = ".pytest_cache/d/actor-envs/facts.json"


def test_a_run_leaves_what_it_read_in_the_cache(sample: pytest.Pytester) -> None:
    sample.runpytest_subprocess("pyproject.toml").assert_outcomes(passed=_items(sample))
    assert "ray" in (sample.path / FILE).read_text()


def test_nothing_is_kept_where_the_cache_is_off(sample: pytest.Pytester) -> None:
    sample.runpytest_subprocess("pyproject.toml", "-p", "no:cacheprovider").assert_outcomes(passed=_items(sample))
    assert not (sample.path / ".pytest_cache").exists()


def test_a_changed_file_is_read_again(sample: pytest.Pytester) -> None:
    items = _items(sample)
    sample.runpytest_subprocess("pyproject.toml")
    change(sample.path, "sample/workers.py", "import ray\n", "import ray\nimport six\n")
    result = sample.runpytest_subprocess("pyproject.toml")
    assert result.parseoutcomes()["passed"] < items
    result.stdout.fnmatch_lines(["*sample/workers.py:2:8: import-provided: *imports six*"])


@pytest.mark.parametrize("options", [(), ("-p", "no:cacheprovider")])
def test_workers_see_the_same_as_one_process(sample: pytest.Pytester, options: tuple[str, ...]) -> None:
    change(sample.path, "sample/workers.py", "import ray\n", "import ray\nimport six\n")
    alone = sample.runpytest_subprocess("pyproject.toml", *options).parseoutcomes()
    shared = sample.runpytest_subprocess("pyproject.toml", "-n", "2", *options).parseoutcomes()
    assert {kind: shared[kind] for kind in ("passed", "failed")} == {kind: alone[kind] for kind in ("passed", "failed")}


def _items(sample: pytest.Pytester) -> int:
    listed = sample.runpytest_subprocess("pyproject.toml", "--collect-only", "-q", "-p", "no:cacheprovider")
    return sum("pyproject.toml::" in line for line in listed.outlines)
