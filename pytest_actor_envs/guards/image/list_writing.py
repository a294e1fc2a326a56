"""Where an image build runs the leaf, and what becomes of the list that it prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_actor_envs.project import Project, dotted
from pytest_actor_envs.sources.image import CarriedOut, Image
from pytest_actor_envs.sources.invocations import Module, ScriptFile, invoked, program_name
from pytest_actor_envs.sources.shell import AndOr, Command, Group, If, Node, Pipeline, Redirect, Word
from pytest_actor_envs.sources.shell_steps import Context, Step

TESTS = frozenset({"[", "[[", "test"})


@dataclass(frozen=True, slots=True)
class LeafCall:
    """One run of the leaf in a RUN, step number `number` of it. `file` is what its output goes to, if to a file."""

    done: CarriedOut
    number: int
    step: Step
    file: str | None


def file_name(step: Step, word: Word) -> str:
    """A file as it is compared: its absolute path, or the word itself where that is not known."""
    return step.path(word) or word.text.strip("\"'")


def leaf_calls(project: Project, image: Image, runs: Sequence[CarriedOut]) -> Iterator[LeafCall]:
    """Every run of the leaf, in order; one whose output goes to /dev/null only tries it."""
    for done in runs:
        for number, step in enumerate(done.steps):
            if _runs_leaf(project, image, done, step):
                file = written_file(step)
                if file != "/dev/null":
                    yield LeafCall(done, number, step, file)


def _runs_leaf(project: Project, image: Image, done: CarriedOut, step: Step) -> bool:
    what = step.executed
    if isinstance(what, Module):
        return what.name == dotted(project.config.leaf)
    place = step.path(what.word) if isinstance(what, ScriptFile) else None
    return place is not None and image.holds(done.copies, place) == project.config.leaf


def output(redirects: Sequence[Redirect]) -> Redirect | None:
    """The redirect of standard output, the last one if there are more."""
    found = [item for item in redirects if item.operator in {">", ">|", ">>", "&>"} and item.descriptor in {None, 1}]
    return found[-1] if found else None


def written_file(step: Step) -> str | None:
    """The file that a command's output goes to: its own redirect, or the one behind the pipe that it stands in."""
    found = output(step.command.redirects)
    pipe = next((item.node for item in reversed(step.contexts) if item.kind == "pipe"), None)
    if found is None and isinstance(pipe, Pipeline):
        last = pipe.parts[-1]
        if isinstance(last, Command):
            found = output(last.redirects)
            if found is None and last.name == "tee" and len(last.words) > 1:
                return file_name(step, last.words[-1])
    return None if found is None or found.target is None else file_name(step, found.target)


def lost_failure(step: Step) -> str | None:
    """How the failure of a command gets lost, as a part of a sentence; `None` where it ends the build."""
    for context in step.contexts:
        if context.kind in {"<(", ">("}:
            return "through a process substitution, whose failure nobody notices"
        if context.kind == "$(":
            return "into a substitution"
        if context.kind == "pipe" and not step.options.pipefail:
            return "into a pipe without pipefail"
        if context.kind == "background":
            return "from the background, where its failure is lost"
    for context in step.contexts:
        if context.kind == "or" and isinstance(context.node, AndOr) and not _passes_on(context.node.right):
            return "under ||, which passes over its failure"
        if context.kind == "condition" and not _ends_where_it_fails(context, step.contexts):
            return "in a condition, which passes over its failure"
    return None


def _ends_where_it_fails(context: Context, contexts: Sequence[Context]) -> bool:
    if not isinstance(context.node, If):
        return False
    is_negated = any(item.kind == "not" for item in contexts[contexts.index(context) :])
    return ends_badly(context.node.branches[0][1] if is_negated else context.node.otherwise)


def _passes_on(right: Node) -> bool:
    """Whether the right side of `||` ends with a failure; a bare `exit` does with that of the left side."""
    is_bare = isinstance(right, Command) and right.name in {"exit", "return"} and len(right.words) == 1
    return is_bare or ends_badly((right,))


def ends_badly(nodes: tuple[Node, ...]) -> bool:
    """Whether commands end what they stand in with a failure."""
    last = nodes[-1] if nodes else None
    if isinstance(last, Group):
        return ends_badly(last.body)
    if not isinstance(last, Command):
        return False
    if last.name in {"exit", "return"}:
        return len(last.words) > 1 and last.words[1].value != "0"
    return last.name == "false"


def tests_for_content(step: Step, file: str) -> bool:
    """Whether a command makes the build fail when `file` is empty."""
    words = invoked(step.command)
    if not words or program_name(words[0]) not in TESTS:
        return False
    values = [step.value(word) for word in words]
    for index, value in enumerate(values[:-1]):
        if value == "-s" and file_name(step, words[index + 1]) == file:
            is_negated = ("!" in values[:index]) != any(item.kind == "not" for item in step.contexts)
            return _fails_when_empty(step, is_negated)
    return False


def _fails_when_empty(step: Step, is_negated: bool) -> bool:
    inner = next((item for item in reversed(step.contexts) if item.kind in {"condition", "and", "or"}), None)
    if inner is None:
        return not is_negated
    node = inner.node
    if isinstance(node, If):
        return ends_badly(node.branches[0][1] if is_negated else node.otherwise)
    if isinstance(node, AndOr):
        if inner.kind == "or":
            return not is_negated and _passes_on(node.right)
        return ends_badly((node.right,)) if is_negated else True
    return False
