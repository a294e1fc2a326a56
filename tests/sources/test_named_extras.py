"""Extras as comments name them, with the place of the first mention of each."""

from __future__ import annotations

import pytest

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.named_extras import named_extras

DECLARED = ("vllm", "nemo_gym", "modelopt", "mcore", "nemo", "c++", "a.b-c")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["# vLLM is loaded by name."], [("vllm", 1, 7)]),
        (["#vllm"], [("vllm", 1, 6)]),
        (["##   vllm  "], [("vllm", 1, 10)]),
        (["# needs NeMo Gym, NeMo-Gym, nemo_gym and nemo.gym"], [("nemo-gym", 1, 13)]),
        (["# then NeMo", "#   Gym does"], [("nemo-gym", 1, 12)]),
        (["# then NeMo  ", "# Gym"], [("nemo-gym", 1, 12)]),
        (["#Xvllm"], []),
        (["# first", "#", "# then ModelOpt-based"], [("modelopt", 3, 12)]),
        (["# mcore, vllm", "# mcore"], [("mcore", 1, 7), ("vllm", 1, 14)]),
        (["# nemo alone, and Nemo  Gym"], [("nemo", 1, 7)]),
        (["# the end is mcore."], [("mcore", 1, 18)]),
        (["# C++: yes, A_B.C too"], [("c++", 1, 7), ("a-b-c", 1, 17)]),
        (["# a/vllm vllm/a x.vllm vllm.x -vllm vllms _vllm my-vllm"], []),
        (["# nothing"], []),
        ([], []),
    ],
)
def test_the_extras_that_a_comment_names(lines: list[str], expected: list[tuple[str, int, int]]) -> None:
    comment = [(Location("leaf.py", number, 5), line) for number, line in enumerate(lines, start=1)]
    assert list(named_extras(comment, DECLARED)) == [
        (extra, Location("leaf.py", line, column)) for extra, line, column in expected
    ]


def test_none_where_none_is_declared() -> None:
    assert list(named_extras([(Location("leaf.py", 1, 1), "# vllm and  more")], ())) == []
