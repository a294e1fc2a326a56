"""Mutants of an image, on a Dockerfile with RUNs of every form: each is killed on its subject, by its guard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.evaluation import Evaluation
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.model import Verdict

Image = Callable[..., Any]
FORMS = """\
FROM debian AS other
FROM debian \\
  AS forms
ONBUILD RUN echo one
RUN ["true", "x"]
RUN <<EOF
echo plain
EOF
RUN --mount=type=cache,target=/c \\
    # a comment
    echo continued && \\
    echo two
RUN python3 <<EOF
print(1)
EOF
RUN <<EOF
#!/usr/bin/env python3
print(1)
EOF
RUN bash -e <<EOF
echo
EOF
"""
OWN = ("image-copies-before-run", "image-fails-fast", "image-list-checked", "image-lock-enforced")
FAMILY = [guard for guard in load_guards() if guard.family == "image"]


@pytest.mark.parametrize("forms", [False, True])
@pytest.mark.parametrize("name", OWN)
def test_each_mutant_is_killed_by_its_guard_alone(image: Image, name: str, forms: bool) -> None:
    project = image({"docker/Dockerfile": FORMS} if forms else {}).project
    base = Evaluation(project, FAMILY)
    guard = base.guards[name]
    assert {base.outcome(case).verdict for case in base.cases(guard)} == {Verdict.HOLDS}
    mutants = list(guard.mutants(project))
    for mutant in mutants:
        mutated = Evaluation(project.with_overlay(mutant.files), FAMILY)
        broken = [
            (case.guard.name, case.subject.name)
            for case in mutated.all_cases()
            if mutated.outcome(case).verdict is Verdict.BROKEN
        ]
        assert (name, mutant.subject) in broken, (mutant, broken)
        assert {guard_name for guard_name, _ in broken} == {name}, mutant
    assert {case.subject.name for case in base.cases(guard)} <= {mutant.subject for mutant in mutants}


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        (OWN[0], "absolute-path copy-forgotten in-a-heredoc no-instruction not-in-this-folder"),
        (
            OWN[1],
            "goes-on left-of-and one-more-pipe one-more-run pipe-without-pipefail script-goes-on status-of-a-pipe",
        ),
        (
            OWN[2],
            "appended failure-passed-over filtered-by-grep filtered-in-a-loop in-a-substitution made-twice mapfile "
            "not-tested process-substitution tested-the-wrong-way to-no-file",
        ),
        (OWN[3], "by-variable check-in-condition check-passed-over check-skipped-by-exit never-checked"),
    ],
)
def test_shapes(image: Image, name: str, shapes: str) -> None:
    project = image().project
    guard = Evaluation(project, FAMILY).guards[name]
    assert sorted({mutant.shape for mutant in guard.mutants(project)}) == shapes.split()
