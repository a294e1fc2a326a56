"""Builds the image three times, with hard links, symlinks and copies, and prints the tables of docs/docker.md.

    python -m tools.bench.bench_image

Every heavy extra is skipped. Nothing is taken from the cache of an earlier build: a label after the first FROM is new
in every run. Needs what the tests in tests/image need, and a Debian-like base image whose packages can be installed.
"""

import pathlib
import re
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.image.contexts import SKIPPED, make_context  # noqa: E402
from tests.image.engines import Engine, find_engine  # noqa: E402

STAGES = ("base", "deps", "trtllm", "release")
LINK_MODES = ("hardlink", "symlink", "copy")

COUNT = r"""
cd /
count() { find / -xdev "$@" -printf . | wc -c; }
echo "megabytes $(du -xsm / | cut -f 1)"
echo "files $(count -type f)"
echo "symlinks $(count -type l)"
echo "linked $(count -type f -links +1)"
"""

SQUASH = r"""
{ apt-get update && apt-get install -y --no-install-recommends squashfs-tools; } >/dev/null 2>&1
folder=$(mktemp -d)
squash() {
  mksquashfs / "$folder/image" -one-file-system -no-progress -quiet -e "${folder#/}" proc sys dev >"$folder/log" 2>&1
}
TIMEFORMAT='squash_seconds %0R
squash_user_seconds %0U'
{ time squash; } 2>&1 || { cat "$folder/log" >&2; exit 1; }
echo "squashed_megabytes $(du -m "$folder/image" | cut -f 1)"
"""


def fresh_context(folder: pathlib.Path) -> pathlib.Path:
    """A context whose every layer is new."""
    context = make_context(folder)
    dockerfile = context / "docker" / "Dockerfile"
    text = dockerfile.read_text(encoding="utf-8")
    label = f'\\g<0>\nLABEL bench="{time.time_ns()}"'
    dockerfile.write_text(re.sub(r"^FROM \S+ AS base$", label, text, count=1, flags=re.MULTILINE), encoding="utf-8")
    return context


def layers(context: pathlib.Path) -> int:
    """How many layers the Dockerfile adds to its base: one for each instruction that writes."""
    text = (context / "docker" / "Dockerfile").read_text(encoding="utf-8")
    return len(re.findall(r"^(?:RUN|COPY|ADD|WORKDIR) ", text, flags=re.MULTILINE))


def run(engine: Engine, tag: str, script: str) -> dict[str, int]:
    """The ``name number`` lines that a script in a container prints."""
    done = engine.run(tag, script)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return {name: int(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def measure(engine: Engine, mode: str) -> list[tuple[str, float, dict[str, int]]]:
    """Stage, seconds and counts of each stage of a build; the last one with the figures of mksquashfs."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        context = fresh_context(pathlib.Path(folder))
        for stage in STAGES:
            tag = f"nemo-rl-bench-{mode}-{stage}"
            began = time.monotonic()
            built = engine.build(context, tag, {**SKIPPED, "UV_LINK_MODE": mode}, stage)
            if built.returncode != 0:
                raise RuntimeError(built.stdout[-5000:])
            seconds = time.monotonic() - began
            squash = SQUASH if stage == STAGES[-1] else ""
            figures.append((stage, seconds, run(engine, tag, COUNT + squash)))
    return figures


def main() -> int:
    """Print both tables, in Markdown."""
    engine = find_engine()
    measured = {mode: measure(engine, mode) for mode in LINK_MODES}
    print(f"Layers above the base image: {layers(ROOT)}.\n")
    print("| link mode | stage | seconds | MB added | files added | symlinks added |")
    print("|---|---|---|---|---|---|")
    for mode, stages in measured.items():
        before: dict[str, int] = {}
        for stage, seconds, counts in stages:
            added = [str(counts[name] - before.get(name, 0)) for name in ("megabytes", "files", "symlinks")]
            print(f"| {mode} | {stage} | {seconds:.0f} | {' | '.join(added)} |")
            before = counts
    print("\n| link mode | image MB | files | symlinks | hard-linked files | mksquashfs s (user s) | squashed MB |")
    print("|---|---|---|---|---|---|---|")
    for mode, stages in measured.items():
        counts = stages[-1][2]
        sizes = " | ".join(str(counts[name]) for name in ("megabytes", "files", "symlinks", "linked"))
        squashing = f"{counts['squash_seconds']} ({counts['squash_user_seconds']})"
        print(f"| {mode} | {sizes} | {squashing} | {counts['squashed_megabytes']} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
