"""`actor-envs explain` on a project that is not in order, which is when findings send people there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_actor_envs.cli import main
from pytest_actor_envs.guards import load_guards
from pytest_actor_envs.report.explain import explanation_text

from .conftest import FILES

BROKEN = {
    "no table": ("sample/leaf.py", "ACTOR_ENVIRONMENTS = ", "OTHERS = "),
    "no Python": ("sample/leaf.py", "def main(argv):", "def main(:"),
    "no class": ("sample/workers.py", "class First", "class ("),
    "no such extra": ("sample/leaf.py", '["alpha"]', '["alhpa"]'),
}


@pytest.mark.parametrize(("path", "old", "new"), BROKEN.values(), ids=BROKEN)
def test_every_guard_is_explained(
    path: str, old: str, new: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert old in FILES[path]
    (tmp_path / path).write_text(FILES[path].replace(old, new))
    for guard in load_guards():
        assert main(["--root", str(tmp_path), "explain", guard.name]) == 0, guard.name
        said = capsys.readouterr()
        assert said.err == ""
        assert guard.name in said.out
        assert any(part in said.out for part in ("Proven by ", "Nothing proves it in this project", "off, "))


def test_what_keeps_mutants_from_being_made_stands_in_their_place() -> None:
    guard = load_guards()[0]
    text = explanation_text(guard, ["a"], (), None, "why\n    what to do")
    assert text.endswith(
        "In this project, 1 subject:\n    a\nNothing proves it in this project as it is:\n    why\n        what to do"
    )
