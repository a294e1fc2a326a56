"""A small guarded project on disk, for runs of the real pytest in it."""

from __future__ import annotations

from pathlib import Path

import pytest

PYPROJECT = """\
[project]
name = "sample"
version = "1"
dependencies = ["ray"]

[project.optional-dependencies]
alpha = ["six"]
beta = ["iniconfig"]

[tool.uv]
conflicts = [[{ extra = "alpha" }, { extra = "beta" }]]

[tool.pytest-actor-envs]
leaf = "sample/leaf.py"
docs = []
"""

LEAF = '''\
"""The table, and a script."""

import sys

ACTOR_ENVIRONMENTS = {
    # Alpha is unpickled here.
    "sample.workers.First": ["alpha"],
    # Beta is unpickled here.
    "sample.workers.Second": ["beta"],
    "sample.workers.Third": None,
}


def main(argv):
    known = sorted({extra for extras in ACTOR_ENVIRONMENTS.values() for extra in extras or ()})
    if not argv or argv[0] not in ("all", "deps", "trtllm"):
        sys.stderr.write("unknown stage\\n")
        return 2
    if [extra for extra in argv[1:] if extra not in known]:
        sys.stderr.write("unknown extra\\n")
        return 2
    rows = []
    for name, extras in sorted(ACTOR_ENVIRONMENTS.items()):
        if extras is None or set(extras) & set(argv[1:]):
            continue
        stage = "trtllm" if "trtllm" in extras else "deps"
        if argv[0] in ("all", stage):
            rows.append(name + "\\t" + stage + "\\t" + " ".join("--extra " + extra for extra in extras) + "\\n")
    sys.stdout.write("".join(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
'''

WORKERS = """\
import ray


@ray.remote
class First:
    pass


@ray.remote(num_cpus=1)
class Second:
    pass


class ThirdImpl:
    pass


Third = ray.remote(ThirdImpl)
"""

FILES = {
    "pyproject.toml": PYPROJECT,
    "sample/__init__.py": "",
    "sample/leaf.py": LEAF,
    "sample/workers.py": WORKERS,
    "test_ordinary.py": "def test_ordinary():\n    pass\n",
    "below/test_below.py": "def test_below():\n    pass\n",
}


@pytest.fixture
def sample(pytester: pytest.Pytester) -> pytest.Pytester:
    """A pytester folder that holds the sample project; the guards are all green in it."""
    write(pytester.path, FILES)
    return pytester


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def change(folder: Path, path: str, old: str, new: str) -> None:
    """Replaces `old`, which has to stand in the file, by `new`."""
    text = (folder / path).read_text(encoding="utf-8")
    assert old in text
    (folder / path).write_text(text.replace(old, new), encoding="utf-8")
