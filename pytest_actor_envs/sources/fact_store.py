"""Answers about texts, each found once: in this run, or in an earlier one that left them in a folder.

An answer is kept under the hash of the text and under the question, so that nothing is believed of a text that changed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import packaging

from pytest_actor_envs.sources.kept_files import write_into_place

FILE = "facts.json"
RUNS_KEPT = 16
"""How many files are written without an answer being asked for before it is left out."""

Answers = dict[str, Any]
Answer = TypeVar("Answer")


class FactStore:
    """Answers by text and question. An answer is what JSON can hold; its lists are not to be changed."""

    def __init__(self) -> None:
        self._hashes: dict[bytes, str] = {}
        self._kept: dict[str, tuple[int, Answers]] = {}
        self._used: dict[str, Answers] = {}
        self._run = 0
        self._has_news = False

    def of(self, content: bytes, question: str, answer: Callable[[], Answer]) -> Answer:
        """The answer to a question that depends on nothing but the text. What `answer` raises is not kept."""
        key = self._hash(content)
        answers = self._used.get(key)
        if answers is None:
            answers = self._used[key] = self._kept[key][1] if key in self._kept else {}
        if question not in answers:
            answers[question] = answer()
            self._has_news = True
        found: Answer = answers[question]
        return found

    def _hash(self, content: bytes) -> str:
        if content not in self._hashes:
            self._hashes[content] = hashlib.sha256(content).hexdigest()
        return self._hashes[content]

    def keep(self, facts: str) -> None:
        """Takes over what `facts` of another store gave."""
        self._kept.update({key: (0, answers) for key, answers in json.loads(facts).items()})

    @property
    def facts(self) -> str:
        """The answers given so far, as JSON."""
        return json.dumps(self._used, separators=(",", ":"))

    def load(self, folder: Path) -> None:
        """Takes over what `save` of this very version left in a folder, if anything that can be read."""
        try:
            data = json.loads((folder / FILE).read_bytes())
            if data["format"] != _format():
                return
            kept = {key: (int(run), dict(answers)) for key, (run, answers) in data["facts"].items()}
            self._run = int(data["run"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return
        self._kept.update(kept)

    def save(self, folder: Path) -> None:
        """Leaves the answers in a folder, for the next run; written aside and moved into place."""
        if not self._has_news:
            return
        run = self._run + 1
        old = {key: kept for key, kept in self._kept.items() if run - kept[0] <= RUNS_KEPT}
        facts = {**old, **{key: (run, answers) for key, answers in self._used.items() if answers}}
        text = json.dumps({"format": _format(), "run": run, "facts": facts}, separators=(",", ":"))
        write_into_place(folder / FILE, text)
        self._has_news = False


@cache
def _format() -> str:
    """What an answer depends on besides the text: the readers' own source, and who parses for them."""
    digest = hashlib.sha256(f"{sys.version} {packaging.__version__}".encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
