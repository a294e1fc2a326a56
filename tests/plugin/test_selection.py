"""Guards are ordinary items: every way to select tests selects them."""

from __future__ import annotations

import pytest

ITEM = "pyproject.toml::extra-declared::sample.workers.First"


def ids(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line and " " not in line]


def collected(sample: pytest.Pytester, *arguments: str) -> list[str]:
    return ids(sample.runpytest_subprocess("--collect-only", "-q", *arguments))


def test_a_plain_run_adds_the_guards_to_whatever_else_it_runs(sample: pytest.Pytester) -> None:
    found = collected(sample)
    assert ITEM in found
    assert "test_ordinary.py::test_ordinary" in found
    assert len(found) == len(set(found))


def test_a_run_with_testpaths_adds_the_guards(sample: pytest.Pytester) -> None:
    with (sample.path / "pyproject.toml").open("a") as file:
        file.write('[tool.pytest.ini_options]\ntestpaths = ["below"]\n')
    found = collected(sample)
    assert ITEM in found
    assert "below/test_below.py::test_below" in found
    assert "test_ordinary.py::test_ordinary" not in found


def test_explicit_arguments_run_nothing_else(sample: pytest.Pytester) -> None:
    assert collected(sample, "test_ordinary.py") == ["test_ordinary.py::test_ordinary"]
    assert all(name.startswith("pyproject.toml::") for name in collected(sample, "pyproject.toml"))


def test_an_item_is_selected_by_its_id(sample: pytest.Pytester) -> None:
    assert collected(sample, ITEM) == [ITEM]
    sample.runpytest_subprocess(ITEM).assert_outcomes(passed=1)


def test_a_guard_is_selected_by_its_id(sample: pytest.Pytester) -> None:
    assert [name.rpartition(".")[2] for name in collected(sample, "pyproject.toml::actor-resolves")] == [
        "First",
        "Second",
        "Third",
    ]


def test_the_flags_add_the_guards_always_or_never(sample: pytest.Pytester) -> None:
    with_guards = collected(sample, "--actor-envs", "test_ordinary.py")
    assert ITEM in with_guards
    assert "test_ordinary.py::test_ordinary" in with_guards
    assert collected(sample, "--no-actor-envs") == [
        "below/test_below.py::test_below",
        "test_ordinary.py::test_ordinary",
    ]


def test_k_selects_by_guard_and_by_actor(sample: pytest.Pytester) -> None:
    assert collected(sample, "-k", "extra-declared and First") == [ITEM]
    assert {name.rpartition(".")[2] for name in collected(sample, "-k", "Second")} == {"Second"}


def test_deselect_takes_an_item_or_a_guard_out(sample: pytest.Pytester) -> None:
    assert ITEM not in collected(sample, "--deselect", ITEM)
    left = collected(sample, "--deselect", "pyproject.toml::extra-declared")
    assert left and not [name for name in left if "::extra-declared::" in name]


def test_last_failed_runs_the_broken_guard_alone(sample: pytest.Pytester) -> None:
    leaf = sample.path / "sample/leaf.py"
    leaf.write_text(leaf.read_text().replace('["alpha"]', '["alhpa"]'))
    sample.runpytest_subprocess("pyproject.toml::extra-declared").assert_outcomes(failed=1, passed=2)
    leaf.write_text(leaf.read_text().replace('["alhpa"]', '["alpha"]'))
    sample.runpytest_subprocess("--lf", "pyproject.toml::extra-declared").assert_outcomes(passed=1)


def test_a_subdirectory_gives_the_same_ids(sample: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [name for name in collected(sample) if name.startswith("pyproject.toml::")]
    monkeypatch.chdir(sample.path / "below")
    below = collected(sample)
    assert [name for name in below if "pyproject.toml::" in name] == whole
    sample.runpytest_subprocess(f"../{ITEM}").assert_outcomes(passed=1)


def test_two_workers_run_the_same_ids(sample: pytest.Pytester) -> None:
    alone = sample.runpytest_subprocess("-v")
    shared = sample.runpytest_subprocess("-v", "-n", "2")
    assert shared.ret == 0
    assert alone.parseoutcomes() == shared.parseoutcomes()
    reported = {line.split()[-1] for line in shared.outlines if "PASSED" in line}
    assert {name for name in collected(sample) if name.startswith("pyproject")} <= {
        line.split(" <- ")[0] for line in reported
    } | {word for line in shared.outlines for word in line.split() if word.startswith("pyproject.toml::")}


def test_the_guards_run_without_a_cache(sample: pytest.Pytester) -> None:
    assert sample.runpytest_subprocess("-p", "no:cacheprovider").ret == 0


def test_ids_are_sorted_and_hold_no_separator_inside_a_name(sample: pytest.Pytester) -> None:
    names = [name.split("::") for name in collected(sample, "pyproject.toml")]
    assert all(len(parts) == 3 for parts in names)
    for guard in {parts[1] for parts in names}:
        subjects = [parts[2] for parts in names if parts[1] == guard]
        assert subjects == sorted(subjects)


def test_a_run_that_selects_by_change_keeps_the_guards(sample: pytest.Pytester) -> None:
    pytest.importorskip("testmon", reason="pytest-testmon is not installed")
    first = sample.runpytest_subprocess("--testmon", "pyproject.toml", "test_ordinary.py").parseoutcomes()["passed"]
    sample.runpytest_subprocess("--testmon", "pyproject.toml", "test_ordinary.py").assert_outcomes(passed=first - 1)
    leaf = sample.path / "sample/leaf.py"
    leaf.write_text(leaf.read_text().replace('["alpha"]', '["alhpa"]'))
    broken = sample.runpytest_subprocess("--testmon")
    broken.stdout.fnmatch_lines(["*extra-declared: First needs extra 'alhpa'*"])
    leaf.write_text(leaf.read_text().replace('["alhpa"]', '["alpha"]'))
    only = sample.runpytest_subprocess("--testmon", "-k", "extra-declared").parseoutcomes()
    assert only["passed"] == 3
    ignoring = sample.runpytest_subprocess("--testmon", "--ignore=pyproject.toml")
    ignoring.stdout.no_fnmatch_line("*pyproject.toml *")
