"""A project whose environment takes long enough to install that a kill can strike in the middle, without a network.

It needs one wheel of many files, written here, and its own build backend, also written here, makes an editable wheel of
many files too.
"""

import pathlib
import shutil

import wheel_writer
from small_project import uv

from nemo_rl.utils.actor_project import ActorProject

FILES = 3000
ACTOR = "bulky_project.actors.Worker"
TWIN = "bulky_project.actors.Twin"

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "bulky-project"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = []

[project.optional-dependencies]
bulk = ["bulky"]
none = []

[tool.uv]
default-groups = []

[tool.uv.sources]
bulky = { path = "bulky-1.0-py3-none-any.whl" }
"""

BACKEND = """
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from wheel_writer import write_wheel


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(pathlib.Path(wheel_directory), "bulky_project", "0.1.0", {files})
"""


def write_bulky_project(folder: pathlib.Path) -> ActorProject:
    """Write the project and its lock below a folder."""
    root = folder / "bulky-project"
    root.mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "backend.py").write_text(BACKEND.format(files=FILES))
    shutil.copy(wheel_writer.__file__, root)
    wheel_writer.write_wheel(root, "bulky", "1.0", FILES)
    uv(root, "lock")
    return ActorProject(root, {ACTOR: ["bulk"], TWIN: ["bulk"]}, folder / "environments")
