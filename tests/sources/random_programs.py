"""Random valid Python texts, the same for the same seed."""

from __future__ import annotations

import random


class Program:
    """A random valid text: blocks in blocks, with imports, strings, comments and brackets between them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def text(self) -> str:
        return "\n".join(self._block(0, 4)).replace("\0", "") + "\n"

    def _block(self, depth: int, size: int) -> list[str]:
        lines = [line for _ in range(self._random.randint(1, size)) for line in self._statement(depth)]
        return [("    " + line if depth and line and not line.startswith("\0") else line) for line in lines]

    def _statement(self, depth: int) -> list[str]:
        pick = self._random.choice
        if depth < 4 and self._random.random() < 0.5:
            return pick([self._if, self._try, self._loop, self._definition, self._with])(depth + 1)
        simple = pick(
            [
                ["import a.b"],
                ["from . import c, d"],
                ["from e import (", "    f,  # )", ")"],
                ["x = 1"],
                ["x = '''", "\0import g", "\0'''"],
                ['"""import h', "    from i import j", '    """'],
                ["x = [", "    y", "    for y in z", "    if y", "]"],
                ["# import k", "x = 'import l'"],
                ["", "x = 2"],
                ["raise ImportError"],
            ]
        )
        return [*simple, "pass"]

    def _if(self, depth: int) -> list[str]:
        test = self._random.choice(["x", "TYPE_CHECKING", "not TYPE_CHECKING", "sys.version_info >= (3, 12)", "0"])
        lines = [f"if {test}:", *self._block(depth, 3)]
        if self._random.random() < 0.4:
            lines += [f"elif {test} and y:", *self._block(depth, 2)]
        return lines + (["else:", *self._block(depth, 2)] if self._random.random() < 0.5 else [])

    def _try(self, depth: int) -> list[str]:
        lines = ["try:", *self._block(depth, 3)]
        for kind in self._random.sample(["ValueError", "ImportError", "(X, Exception)"], self._random.randint(1, 2)):
            lines += [f"except {kind}:", *self._block(depth, 2)]
        if self._random.random() < 0.4:
            lines += ["else:", *self._block(depth, 2)]
        return lines + (["finally:", *self._block(depth, 2)] if self._random.random() < 0.4 else [])

    def _loop(self, depth: int) -> list[str]:
        lines = [self._random.choice(["for x in y:", "while x:"]), *self._block(depth, 2)]
        return lines + (["else:", *self._block(depth, 2)] if self._random.random() < 0.4 else [])

    def _definition(self, depth: int) -> list[str]:
        header = self._random.choice([["def f():"], ["@d", "class A(B):"], ["async def f(", "    a=1,", ") -> int:"]])
        return [*header, *self._block(depth, 3)]

    def _with(self, depth: int) -> list[str]:
        return [self._random.choice(["with x as y:", "with suppress(ImportError):"]), *self._block(depth, 2)]
