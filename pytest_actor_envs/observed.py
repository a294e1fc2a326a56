"""What project code did while it was watched: a value, or what it raised, and which files it was imported from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_actor_envs.config import Config
from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.answers import ANY_CHANGE, Read
from pytest_actor_envs.sources.runtime import Runner
from pytest_actor_envs.sources.tree import Tree

OBSERVATION: Read = ("observation",)
"""What every answer was made from that needed project code to run."""


@dataclass(frozen=True, slots=True)
class Raised:
    """What project code raised while it was observed, and where."""

    type: str
    message: str
    location: Location | None

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


class ObservedCode:
    """The code of one state of a project, imported from `code_root` under the tree's overlay by `runner`."""

    def __init__(self, tree: Tree, config: Config, code_root: Path | None, runner: Runner) -> None:
        self._tree = tree
        self._config = config
        self._code_root = code_root
        self._runner = runner

    def observe(self, observer: str, arguments: Mapping[str, Any], variables: Mapping[str, str]) -> Any:
        """What an observer saw: its JSON value, or a `Raised`. Equal questions are asked once."""
        request = {
            "observer": observer,
            "arguments": dict(arguments),
            "variables": dict(variables),
            "time_limit": self._config.time_limit,
            "packages": list(self._config.packages),
            "root": None if self._code_root is None else str(self._code_root),
            "overlay": {path: text for path, text in self._tree.overlay.items() if path.endswith(".py")},
        }
        key = json.dumps([observer, request["arguments"], request["variables"]], sort_keys=True)
        return self._tree.answers.get(("observation", key), lambda: self._answer(request))

    def _answer(self, request: Mapping[str, Any]) -> Any:
        answer = self._runner(request, self._config.time_limit)
        for read in [OBSERVATION, *_made_from(answer)]:
            self._tree.answers.note(read)
        error = answer.get("error")
        if error:
            place = Location(error["path"], error["line"] or 1) if error["path"] else None
            return Raised(error["type"], error["message"], place)
        return answer["value"]


def _made_from(answer: Mapping[str, Any]) -> list[Read]:
    """The files, there or not, that project code was imported from, or every change where that is unknown."""
    paths = answer.get("imported")
    return [ANY_CHANGE] if paths is None else [("files",), *(("bytes", path) for path in paths)]
