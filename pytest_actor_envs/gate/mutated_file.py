"""The functions of a file that mutmut wrote. As a script, prints name -> (diff, line, function) for (name, path) on stdin."""

from __future__ import annotations

import ast
import difflib
import json
import sys
from pathlib import Path

from mutmut.mutation.data import MutantLineSpans
from mutmut.mutation.diff_apply import generated_function_names, get_diff_for_mutant

from pytest_actor_envs.gate.mutmut_diffs import owner_and_function, placed


class MutatedFile:
    """A file that mutmut wrote, read once; mutmut itself reads and parses it anew for each diff."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.spans = MutantLineSpans.load(path)
        self.lines = (Path("mutants") / path).read_bytes().decode().split("\n")
        self.source = ast.parse(Path(path).read_bytes())

    def change(self, name: str) -> tuple[str, int, str]:
        """Diff, line and function of a mutant."""
        original, mutant = generated_function_names(name)
        if self.spans is None or not {original, mutant} <= self.spans.span_by_function_name.keys():
            return placed(self.source, name, get_diff_for_mutant(name, path=self.path))
        function = owner_and_function(name)[1]
        before, after = self._function(original, function), self._function(mutant, function)
        return placed(
            self.source, name, "\n".join(difflib.unified_diff(before, after, self.path, self.path, lineterm=""))
        )

    def _function(self, generated: str, name: str) -> list[str]:
        """The lines of a function that mutmut generated, under its own name and not indented."""
        assert self.spans is not None
        span = self.spans.span_by_function_name[generated]
        lines = "\n".join(self.lines[span.start - 1 : span.end]).replace(generated, name, 1).strip("\n").split("\n")
        indentation = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
        return [line.removeprefix(indentation) for line in lines]


def main() -> None:
    files: dict[str, MutatedFile] = {}
    found = {}
    for name, path in json.load(sys.stdin):
        if path not in files:
            files[path] = MutatedFile(path)
        found[name] = files[path].change(name)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
