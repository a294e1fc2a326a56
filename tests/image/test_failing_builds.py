"""Whatever fails in a build fails the build, and says why."""

import pathlib
import re
import shutil
from collections.abc import Callable, Mapping

import pytest

from tests.image.contexts import LEAF, SKIPPED
from tests.image.engines import Engine

pytestmark = [pytest.mark.image, pytest.mark.xdist_group("image")]


def append(file: str, text: str) -> Callable[[pathlib.Path], None]:
    def change(context: pathlib.Path) -> None:
        with (context / file).open("a", encoding="utf-8") as opened:
            opened.write(text)

    return change


def remove(file: str) -> Callable[[pathlib.Path], None]:
    return lambda context: (context / file).unlink()


def replace(file: str, pattern: str, text: str) -> Callable[[pathlib.Path], None]:
    def change(context: pathlib.Path) -> None:
        old = (context / file).read_text(encoding="utf-8")
        new = re.sub(pattern, lambda _: text, old, count=1, flags=re.MULTILINE)
        assert new != old
        (context / file).write_text(new, encoding="utf-8")

    return change


def unchanged(context: pathlib.Path) -> None:
    pass


SKIP_ALL = {**SKIPPED, "SKIP_EXTRAS": SKIPPED["SKIP_EXTRAS"] + " nemo_gym"}

CASES: Mapping[str, tuple[Callable[[pathlib.Path], None], Mapping[str, str], str]] = {
    "leaf with a syntax error": (append(LEAF, "\n)\n"), SKIPPED, "SyntaxError"),
    "leaf that fails after its output": (
        replace(LEAF, r"raise SystemExit\(main\(sys.argv\[1:\]\)\)", "raise SystemExit(main(sys.argv[1:]) or 3)"),
        SKIPPED,
        "exit status 3",
    ),
    "leaf that prints nothing": (
        replace(LEAF, r"^USAGE = ", "raise SystemExit(0)\nUSAGE = "),
        SKIPPED,
        "no environment",
    ),
    "every extra skipped": (unchanged, SKIP_ALL, "no environment is left to build"),
    "unknown extra to skip": (unchanged, {"SKIP_EXTRAS": "mcore automodle"}, "did you mean 'automodel'?"),
    "no lock": (remove("uv.lock"), SKIPPED, "make lock"),
    "stale lock": (replace("pyproject.toml", r'^    "ray', '    "iniconfig",\n    "ray'), SKIPPED, "lock"),
}


@pytest.mark.parametrize("case", CASES)
def test_build_fails(engine: Engine, context: pathlib.Path, case: str) -> None:
    change, arguments, message = CASES[case]
    change(context)
    built = engine.build(context, "nemo-rl-test-failing", arguments, "deps")
    shutil.rmtree(context)
    assert built.returncode != 0
    assert message in built.stdout, built.stdout[-3000:]
