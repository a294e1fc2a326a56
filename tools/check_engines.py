"""Check that the names which engine owners import exist in the engines' distributions.

No engine can be installed, let alone run, on a machine without its devices. But what a class imports can be read from
its source, and what a distribution offers from its wheel. This script parses the modules of every engine owner, gets
the wheels from the package index without installing them, and looks each imported name up in them, by parsing.

Usage: ``check_engines.py [--wheels FOLDER] [--markdown FILE]``. Exit 0: every name was found. 1: one was not. 2: wrong
use, or a file that cannot be read. 3: every name that could be looked up was found, but a distribution cannot be had.
"""

import argparse
import ast
import dataclasses
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence

from wheel_names import Wheel

ROOT = pathlib.Path(__file__).resolve().parents[1]
TARGET_PYTHON = "3.12"
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in (17, 24, 27, 28, 31, 34, 35, 39)] + ["manylinux2014_x86_64"]

DISTRIBUTIONS: Mapping[str, str] = {
    "megatron.bridge": "megatron-bridge",
    "megatron.core": "megatron-core",
    "megatron.energon": "megatron-energon",
    "modelopt": "nvidia-modelopt",
    "nemo_automodel": "nemo-automodel",
    "nemo_gym": "nemo-gym",
    "sglang": "sglang",
    "tensorrt_llm": "tensorrt-llm",
    "vllm": "vllm",
    "accelerate": "accelerate",
    "transformers": "transformers",
}
"""Import name -> distribution that has it. The longest name that an import begins with counts."""

NOT_LOOKED_UP: Mapping[str, str] = {
    "torch": "a stable API, and gigabytes",
    "omegaconf": "a stable API",
    "ray": "installed with the project",
}


@dataclasses.dataclass(frozen=True, order=True)
class ImportedName:
    """One name that a module imports from somebody else.

    Attributes:
        module: where it comes from, e.g. ``vllm``.
        name: the name, or the empty string for ``import module``.
        places: ``path:line`` of every import.
    """

    module: str
    name: str
    places: tuple[str, ...] = dataclasses.field(compare=False)


def imported_names(paths: Sequence[pathlib.Path], root: pathlib.Path) -> list[ImportedName]:
    """Every name that these files import, in functions and for type checking too, but for first-party ones.

    Args:
        paths: Python files under ``root``.
        root: what the reported places are relative to.
    """
    places: dict[tuple[str, str], list[str]] = {}
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
                names = [(node.module, alias.name) for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [(alias.name, "") for alias in node.names]
            else:
                continue
            for name in names:
                places.setdefault(name, []).append(f"{path.relative_to(root)}:{node.lineno}")
    return sorted(
        ImportedName(module, name, tuple(found))
        for (module, name), found in places.items()
        if module.split(".")[0] not in (*sys.stdlib_module_names, "nemo_rl")
    )


def distribution_of(module: str) -> str | None:
    """The distribution that is to have a module; ``None`` where this script knows none."""
    known = [prefix for prefix in DISTRIBUTIONS if module == prefix or module.startswith(prefix + ".")]
    return DISTRIBUTIONS[max(known, key=len)] if known else None


def requirements(pyproject: pathlib.Path) -> dict[str, str]:
    """Distribution -> requirement, as the project's extras pin it; without markers and extras of its own."""
    extras = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    pinned: dict[str, str] = {}
    for requirement in itertools.chain.from_iterable(extras.values()):
        parts = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*([^;@]*)", requirement)
        if parts is not None:
            pinned[re.sub(r"[-_.]+", "-", parts[1]).lower()] = f"{parts[1]}{parts[2].strip()}"
    return pinned


def get_wheel(requirement: str, folder: pathlib.Path) -> pathlib.Path | str:
    """The wheel for the actors' Python on Linux, without what it depends on and without installing it.

    Returns:
        Its path, or why it cannot be had.
    """
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        command += ["--python-version", TARGET_PYTHON, *platforms, "--dest", temporary, requirement]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(pathlib.Path(temporary).glob("*.whl"))
        if run.returncode != 0 or not wheels:
            errors = [line for line in run.stderr.splitlines() if line.startswith("ERROR")]
            return errors[-1].removeprefix("ERROR: ") if errors else "the index has no wheel of it"
        return wheels[0].rename(folder / wheels[0].name)


def engine_files(root: pathlib.Path) -> list[pathlib.Path]:
    """The files of the package that import anything this script knows a distribution of."""
    files = sorted((root / "nemo_rl").rglob("*.py"))
    return [path for path in files if any(distribution_of(item.module) for item in imported_names([path], root))]


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the report; ``found`` is ``None`` where the distribution cannot be had."""

    distribution: str
    version: str
    item: ImportedName
    found: bool | None
    how: str


def report(root: pathlib.Path, folder: pathlib.Path) -> list[Row]:
    """Look up every name that the package imports from an engine.

    Args:
        root: of the project.
        folder: wheels that are there are used, others are put there.
    """
    pinned = requirements(root / "pyproject.toml")
    wheels: dict[str, Wheel | str] = {}
    rows = []
    for item in imported_names(engine_files(root), root):
        distribution = distribution_of(item.module)
        if distribution is None:
            if item.module.split(".")[0] not in NOT_LOOKED_UP:
                rows.append(Row("?", "", item, False, "this script knows no distribution of it"))
            continue
        if distribution not in wheels:
            local = sorted(folder.glob(f"{distribution.replace('-', '_')}-*.whl"))
            got = local[-1] if local else get_wheel(pinned.get(distribution, distribution), folder)
            wheels[distribution] = Wheel(got) if isinstance(got, pathlib.Path) else got
        wheel = wheels[distribution]
        if isinstance(wheel, str):
            rows.append(Row(distribution, "", item, None, wheel))
        else:
            resolution = wheel.resolve(item.module, item.name)
            rows.append(Row(distribution, wheel.path.name.split("-")[1], item, resolution.found, resolution.how))
    return sorted(rows, key=lambda row: (row.distribution, row.item))


def as_markdown(rows: Sequence[Row]) -> str:
    """The rows as a table, one line for each name; without line numbers, which a page could not keep up with."""
    words = {True: "yes", False: "**no**", None: "cannot be had"}
    lines = ["| distribution | version | name | found | how | imported at |", "|---|---|---|---|---|---|"]
    for row in rows:
        name = f"{row.item.module}.{row.item.name}" if row.item.name else row.item.module
        places = "<br>".join(sorted({place.rpartition(":")[0] for place in row.item.places}))
        lines.append(f"| {row.distribution} | {row.version} | `{name}` | {words[row.found]} | {row.how} | {places} |")
    return "\n".join(lines) + "\n"


def exit_code(rows: Sequence[Row]) -> int:
    """1 where a name was not found or nothing was looked at, 3 where a distribution cannot be had, else 0."""
    if not rows or any(row.found is False for row in rows):
        return 1
    return 3 if any(row.found is None for row in rows) else 0


def main(argv: Sequence[str]) -> int:
    """Run the check; ``argv`` without the program's name. See the module's docstring for what it returns."""
    parser = argparse.ArgumentParser(
        prog="check_engines.py", description="Do the names that engine owners import exist?"
    )
    parser.add_argument("--wheels", type=pathlib.Path, help="keep wheels in this folder, and use those that are there")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table between the markers of this file")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as temporary:
        folder: pathlib.Path = options.wheels or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows = report(ROOT, folder)
    table = as_markdown(rows)
    counts = {found: sum(row.found is found for row in rows) for found in (True, False, None)}
    summary = (
        f"{counts[True]} names found, {counts[False]} not found, {counts[None]} in distributions that cannot be had"
    )
    print(table + "\n" + summary)
    for row in rows:
        if row.found is False:
            print(f"{row.item.places[0]}: {row.how}", file=sys.stderr)
    if options.markdown is not None:
        write_between_markers(options.markdown, f"{table}\n{summary}.\n")
    return exit_code(rows)


def write_between_markers(path: pathlib.Path, text: str) -> None:
    """Put text between ``<!-- check-engines -->`` and ``<!-- end check-engines -->`` of a page; written aside first.

    Raises:
        ValueError: the page lacks a marker.
    """
    page = path.read_text(encoding="utf-8")
    begin, end = "<!-- check-engines -->\n", "<!-- end check-engines -->"
    if begin not in page or end not in page:
        raise ValueError(f"{path} needs the lines '{begin.strip()}' and '{end}'; the table goes between them")
    aside = path.with_suffix(path.suffix + ".new")
    aside.write_text(page.split(begin)[0] + begin + text + end + page.split(end, 1)[1], encoding="utf-8")
    aside.replace(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
