"""Which mutants a sample has, and what it says about all."""

from __future__ import annotations

import pytest

from tools.mutant_sample import SampleTooSmall, drawn, wilson_interval

MUTANTS = {"b.py": [f"b.{n}" for n in range(90)], "a.py": [f"a.{n}" for n in range(10)], "c.py": ["c.0"], "none.py": []}


def test_each_file_has_its_share_and_at_least_one() -> None:
    sample = drawn(MUTANTS, 20, seed=1)
    assert {file: len(names) for file, names in sample.items()} == {"a.py": 2, "b.py": 17, "c.py": 1}
    for file, names in sample.items():
        assert set(names) < set(MUTANTS[file]) or file == "c.py"
        assert len(set(names)) == len(names)


def test_the_seed_decides_and_the_order_of_the_mutants_does_not() -> None:
    assert drawn(MUTANTS, 20, seed=1) == drawn({file: names[::-1] for file, names in MUTANTS.items()}, 20, seed=1)
    assert drawn(MUTANTS, 20, seed=1) != drawn(MUTANTS, 20, seed=2)


def test_files_are_drawn_from_apart() -> None:
    assert drawn({"a.py": MUTANTS["b.py"]}, 20, seed=1)["a.py"] != drawn({"b.py": MUTANTS["b.py"]}, 20, seed=1)["b.py"]


@pytest.mark.parametrize("size", [101, 102, 1000])
def test_a_sample_of_all_or_more_is_all(size: int) -> None:
    assert {file: set(names) for file, names in drawn(MUTANTS, size, seed=1).items()} == {
        file: set(names) for file, names in MUTANTS.items() if names
    }


def test_fewer_than_files_are_an_error() -> None:
    assert [len(names) for names in drawn(MUTANTS, 3, seed=1).values()] == [1, 1, 1]
    with pytest.raises(SampleTooSmall, match=r"of each of 3 files\n    draw 3 or more$"):
        drawn(MUTANTS, 2, seed=1)


@pytest.mark.parametrize(
    ("killed", "asked", "low", "high"),
    [
        # R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3; the last one mirrors the third.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0),
    ],
)
def test_the_interval_is_the_published_one(killed: int, asked: int, low: float, high: float) -> None:
    assert wilson_interval(killed, asked) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_nothing_asked_says_nothing() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)
