"""Which shell program a RUN is: its text, a here-document of Docker's, or the words of its exec form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.dockerfile import Run
from pytest_actor_envs.sources.invocations import SHELL_NAMES_WITH_PIPEFAIL, SHELLS, Options, shell_of_shebang
from pytest_actor_envs.sources.shell import AndOr, Command, Node, Pipeline, Redirect, Word, with_redirects
from pytest_actor_envs.sources.shell_steps import Program

Read = Callable[[str, Location], tuple[Node, ...] | None]


def program_of(run: Run, shell: Sequence[str], read: Read) -> Program | None:
    """The program that a RUN hands to `shell`, the words of SHELL; `None` for one that no shell reads."""
    names = [word.rpartition("/")[2] for word in shell]
    index = next((number for number, name in enumerate(names) if name in SHELLS), None)
    if run.is_json:
        words = tuple(Word(word, (word,), run.location) for word in run.words)
        return Program((Command(words, (), (), run.location),), Options(), False, run.location)
    if index is None:
        return None
    options = Options().changed(list(shell[index + 1 :]))
    can_pipefail = names[index] in SHELL_NAMES_WITH_PIPEFAIL
    if not run.script.replace("\\\n", "").strip() and run.heredocs:
        body = run.heredocs[0]
        own = shell_of_shebang(body.text) if body.text.startswith("#!") else options
        nodes = None if own is None else read(body.text, body.location)
        return None if nodes is None or own is None else Program(nodes, own, can_pipefail, body.location)
    nodes = read(run.script, run.script_location)
    if nodes is None:
        return None
    for heredoc, column in zip(run.heredocs, run.heredoc_columns, strict=False):
        mark = Word(heredoc.name if heredoc.expands else f"'{heredoc.name}'", (heredoc.name,), run.location)
        redirect = Redirect("<<", mark, None, run.location, heredoc.text, heredoc.location)
        if nodes:
            nodes = _with_heredoc_in_one(nodes, redirect, column, run.script_location)
    return Program(nodes, options, can_pipefail, run.script_location)


def with_heredoc(node: Node, redirect: Redirect, column: tuple[int, int], start: Location) -> Node:
    """The node with a here-document of Docker's attached to the last command that begins before its mark, else the first."""
    if isinstance(node, Pipeline):
        return replace(node, parts=_with_heredoc_in_one(node.parts, redirect, column, start))
    if isinstance(node, AndOr):
        left, right = _with_heredoc_in_one((node.left, node.right), redirect, column, start)
        return replace(node, left=left, right=right)
    return with_redirects(node, (redirect,))


def _with_heredoc_in_one(
    nodes: Sequence[Node], redirect: Redirect, column: tuple[int, int], start: Location
) -> tuple[Node, ...]:
    mark = (start.line + column[0], column[1] + 1)
    before = [number for number, node in enumerate(nodes) if (node.location.line, node.location.column) < mark]
    chosen = before[-1] if before else 0
    return tuple(
        with_heredoc(node, redirect, column, start) if number == chosen else node for number, node in enumerate(nodes)
    )
