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
        code = _unbroken_main({argv})
    text, errors = re.sub({pattern}, {replacement}, out.getvalue(){count}), err.getvalue()
    {change}
    sys.stdout.write(text)
    sys.stderr.write(errors)
    return code

"""


def script_place(project: Project) -> Place:
    """The leaf as a script: the place of its `main`."""
    return Place(project.config.leaf, function_location(project, project.config.leaf, "main"))


def main_wrapped(project: Project, pattern: str, replacement: str, change: str, argv: str = "argv") -> Files:
    """The leaf with a `main` whose output is `re.sub(pattern, replacement, ...)` of what it was.

    `pattern` and `replacement` are Python literals; `change` is a statement over `text`, `errors`, `code` and `argv`.
    """
    count = ", count=1" if pattern.startswith(('r"\\A', 'r"(?s)\\A')) else ""
    code = WRAPPER.format(pattern=pattern, replacement=replacement, change=change or "pass", argv=argv, count=count)
    return appended(project, project.config.leaf, code)
