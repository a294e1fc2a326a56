"""A small project with actors of its own, whose environments real uv builds in a moment.

Its extras need tiny packages that the interpreter of the tests does not have: ``markup`` serves two actors, ``old`` and
``new`` conflict, and ``future`` installs nothing on any Python that exists.
"""

import os
import pathlib
import subprocess

from nemo_rl.utils import uv_command
from nemo_rl.utils.actor_project import ActorProject

PYPROJECT = """
[build-system]
requires = ["uv_build>=0.9,<1"]
build-backend = "uv_build"

[project]
name = "small-project"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = [{dependencies}]

[project.optional-dependencies]
colour = ["termcolor"]
markup = ["toml", "xmltodict"]
old = ["decorator==5.1.1"]
new = ["decorator==5.2.1"]
tables = ["sqlparse"]
future = ["iniconfig; python_version >= '3.99'", "small-project[later]"]
later = ["colorama; sys_platform == 'win32' and python_version >= '3.98'"]

[project.scripts]
small-hello = "small:hello"

[tool.uv]
default-groups = []
conflicts = [[{{ extra = "old" }}, {{ extra = "new" }}]]

[tool.uv.build-backend]
module-name = "small"
module-root = ""
"""

PACKAGE = """
def hello():
    print("hello")
"""

ACTORS = '''
"""Actors that tell what they find around them."""

import importlib
import importlib.metadata
import os
import sys

import ray


class Inspector:
    """Answers from inside an actor's process."""

    def interpreter(self):
        return sys.executable

    def prefix(self):
        return sys.prefix

    def distributions(self):
        found = importlib.metadata.distributions()
        return sorted((d.metadata["Name"].lower(), d.version) for d in found)

    def file_of(self, module):
        return importlib.import_module(module).__file__

    def variable(self, name):
        return os.environ.get(name)

    def node(self):
        return ray.get_runtime_context().get_node_id()


@ray.remote
class Colourful(Inspector):
    pass


@ray.remote
class MarkupReader(Inspector):
    pass


@ray.remote(num_cpus=1)
class MarkupWriter(Inspector):
    pass


@ray.remote
class OldDecorator(Inspector):
    pass


class NewDecoratorImpl(Inspector):
    pass


NewDecorator = ray.remote(num_cpus=0)(NewDecoratorImpl)


@ray.remote
class OnDriver(Inspector):
    pass


@ray.remote
class Unregistered(Inspector):
    pass
'''

EXPORTS = """
from small.actors import MarkupReader, NewDecorator
"""

TABLE = {
    "small.actors.Colourful": ["colour"],
    "small.actors.MarkupReader": ["markup"],
    "small.actors.MarkupWriter": ["markup"],
    "small.actors.OldDecorator": ["old"],
    "small.exports.NewDecorator": ["new", "colour"],
    "small.actors.OnDriver": None,
}


def uv(root: pathlib.Path, *arguments: str) -> str:
    """Run uv in a project's folder; returns what it prints."""
    run = subprocess.run(
        [uv_command.find_uv(), *arguments],
        cwd=root,
        env=uv_command.cleaned(os.environ),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout + run.stderr


def write_small_project(folder: pathlib.Path, dependencies: str = "") -> ActorProject:
    """Write the project and its lock below a folder; ``dependencies`` are quoted requirements, separated by commas."""
    root = folder / "small-project"
    (root / "small").mkdir(parents=True)
    (root / "pyproject.toml").write_text(PYPROJECT.format(dependencies=dependencies))
    (root / "small" / "__init__.py").write_text(PACKAGE)
    (root / "small" / "actors.py").write_text(ACTORS)
    (root / "small" / "exports.py").write_text(EXPORTS)
    uv(root, "lock")
    return ActorProject(root, TABLE, folder / "environments")
