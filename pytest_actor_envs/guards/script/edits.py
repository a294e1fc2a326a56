"""Mutants of a script by what it prints: they fit any leaf, however its rows are made."""

from __future__ import annotations

from pytest_actor_envs.guards.edits import Files, appended
from pytest_actor_envs.guards.observation import function_location
from pytest_actor_envs.model import Place
from pytest_actor_envs.project import Project

WRAPPER = """\
_unbroken_main = main


def main(argv):
    import contextlib, io, re, sys
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = _unbroken_main({argv})
        except SystemExit as stop:
            code = stop.code
    text, errors = out.getvalue(), err.getvalue()
    {change}
    sys.stdout.write(text)
    sys.stderr.write(errors)
    return code

"""


def script_place(project: Project) -> Place:
    """The leaf as a script: the place of its `main`."""
    return Place(project.config.leaf, function_location(project, project.config.leaf, "main"))


def main_wrapped(project: Project, change: str = "pass", argv: str = "argv") -> Files:
    """The leaf with a `main` that is given `argv` and whose result is changed.

    `change` is a statement over `text`, `errors`, `code` and `argv`, with `re` imported; `argv` is an expression.
    """
    return appended(project, project.config.leaf, WRAPPER.format(change=change, argv=argv))
