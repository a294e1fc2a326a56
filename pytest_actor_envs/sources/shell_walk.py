"""The commands of a shell program in the order in which they run, each with what is known where it stands.

Both ways of every condition are walked; what an assignment in one of them gives is unknown behind it. Functions are
walked where they are called, shell scripts of the project where they are executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.invocations import (
    SHELLS,
    Options,
    ScriptFile,
    ShellText,
    executed,
    invoked,
    is_python,
    program_name,
    shell_of_shebang,
)
from pytest_actor_envs.sources.shell import (
    AndOr,
    Assignment,
    Background,
    Case,
    Command,
    Function,
    Group,
    If,
    Loop,
    Node,
    Not,
    Pipeline,
    Substitution,
    Word,
    all_nodes,
    words_of,
)
from pytest_actor_envs.sources.shell_steps import Context, Kind, Program, Step, Values, expanded

MAX_DEPTH = 12


@dataclass
class _State:
    values: dict[str, str | None]
    exported: set[str]
    directory: str | None
    options: Options
    functions: dict[str, Function]

    def copy(self) -> _State:
        return _State(dict(self.values), set(self.exported), self.directory, self.options, dict(self.functions))

    def merge(self, others: list[_State]) -> None:
        """Behind several ways: what they agree on."""
        first, *rest = others
        for other in rest:
            for name in first.values.keys() | other.values.keys():
                if first.values.get(name) != other.values.get(name):
                    first.values[name] = None
            first.directory = first.directory if first.directory == other.directory else None
            both = first.options, other.options
            first.options = Options(all(one.errexit for one in both), all(one.pipefail for one in both))
            first.functions.update(other.functions)
            first.exported |= other.exported
        self.values, self.exported, self.directory = first.values, first.exported, first.directory
        self.options, self.functions = first.options, first.functions


class Walk:
    """Walks one program.

    `text_of` gives the text of a script at an absolute path of the image and where it begins, `None` where no script of
    the project is. `read` gives the commands of shell text, `None` for what is none. `programs` fills with every shell
    program met.
    """

    def __init__(
        self,
        text_of: Callable[[str], tuple[str, Location] | None],
        read: Callable[[str, Location], tuple[Node, ...] | None],
    ) -> None:
        self._text_of = text_of
        self._read = read
        self.programs: list[Program] = []

    def steps(self, program: Program, environment: Values, directory: str) -> Iterator[Step]:
        """Every command of the program."""
        self.programs.append(program)
        state = _State(dict(environment), set(environment), directory, program.options, {})
        yield from _ProgramWalk(self, program, state, None, ()).all(program.nodes)

    def text_of(self, path: str) -> tuple[str, Location] | None:
        return self._text_of(path)

    def read(self, text: str, location: Location) -> tuple[Node, ...] | None:
        return self._read(text, location)


class _ProgramWalk:
    def __init__(
        self, walk: Walk, program: Program, state: _State, origin: Location | None, contexts: tuple[Context, ...]
    ) -> None:
        self.walk = walk
        self.program = program
        self.state = state
        self.origin = origin
        self.contexts = contexts

    def all(self, nodes: tuple[Node, ...], *inside: Context) -> Iterator[Step]:
        outer, self.contexts = self.contexts, (*self.contexts, *inside)
        for node in nodes:
            yield from self.node(node)
        self.contexts = outer

    def node(self, node: Node) -> Iterator[Step]:
        if isinstance(node, Command):
            yield from self.command(node)
            return
        for word in words_of(node):
            yield from self._substitutions(word, node)
        if isinstance(node, Pipeline):
            for part in node.parts[:-1]:
                yield from self._aside((part,), Context("pipe", node))
            yield from self._aside(node.parts[-1:], Context("pipe-last", node))
        elif isinstance(node, AndOr):
            yield from self.all((node.left,), Context("and" if node.operator == "&&" else "or", node))
            yield from self._ways([(node.right,), ()], node)
        elif isinstance(node, Not):
            yield from self.all((node.body,), Context("not", node))
        elif isinstance(node, Background):
            yield from self._aside((node.body,), Context("background", node))
        elif isinstance(node, If):
            for condition, _ in node.branches:
                yield from self.all(condition, Context("condition", node))
            yield from self._ways([*(body for _, body in node.branches), node.otherwise], node)
        elif isinstance(node, Case):
            yield from self._ways([*(body for _, body in node.items), ()], node)
        elif isinstance(node, Loop):
            yield from self._loop(node)
        elif isinstance(node, Group):
            yield from self._aside(node.body) if node.is_subshell else self.all(node.body)
        else:
            self.state.functions[node.name] = node

    def _loop(self, node: Loop) -> Iterator[Step]:
        if node.variable is not None:
            self.state.values[node.variable] = None
        yield from self.all(node.condition, Context("condition", node))
        for name in _assigned_in(node.body):
            self.state.values[name] = None
        outer, self.contexts = self.contexts, (*self.contexts, Context("loop", node))
        yield from self._ways([node.body, ()])
        self.contexts = outer

    def _ways(self, ways: list[tuple[Node, ...]], node: Node | None = None) -> Iterator[Step]:
        before, after = self.state, []
        for way in ways:
            self.state = before.copy()
            yield from self.all(way, *([Context("branch", node)] if node is not None else []))
            if not _leaves(way):
                after.append(self.state)
        self.state = before
        if after:
            self.state.merge(after)

    def _aside(self, nodes: tuple[Node, ...], *inside: Context) -> Iterator[Step]:
        """In a shell of its own: nothing that is set in it is left behind it."""
        before, self.state = self.state, self.state.copy()
        yield from self.all(nodes, *inside)
        self.state = before

    def _substitutions(self, word: Word, node: Node) -> Iterator[Step]:
        for part in word.parts:
            if isinstance(part, Substitution):
                kind: Kind = "<(" if part.operator == "<(" else ">(" if part.operator == ">(" else "$("
                yield from self._aside(part.body, Context(kind, node))

    def command(self, command: Command) -> Iterator[Step]:
        for word in words_of(command):
            yield from self._substitutions(word, command)
        values = dict(self.state.values)
        if command.words and command.name not in DECLARING:
            values.update({item.name: self._assigned(item) for item in command.assignments})
        step = Step(
            command,
            self.program,
            self.state.options,
            self.contexts,
            self.state.directory,
            values,
            self.origin or command.location,
            executed(command),
        )
        yield step
        self._remember(command, step)
        yield from self._called(command, step)

    def _assigned(self, item: Assignment) -> str | None:
        if item.is_array or len(item.values) != 1:
            return None
        value = expanded(item.values[0], self.state.values)
        if item.appends:
            before = self.state.values.get(item.name)
            return None if before is None or value is None else before + value
        return value

    def _remember(self, command: Command, step: Step) -> None:
        """What the command changes in the shell itself."""
        state, name = self.state, command.name
        if not command.words or name in DECLARING:
            for item in command.assignments:
                if item.values or item.is_array:
                    state.values[item.name] = self._assigned(item)
                if name in {"export", "declare", "typeset"}:
                    state.exported.add(item.name)
        elif name == "set":
            state.options = state.options.changed([word.value for word in command.words[1:]])
        elif name in {"cd", "pushd"}:
            state.directory = step.path(command.words[1]) if len(command.words) > 1 else None
        elif name in {"read", "mapfile", "readarray"}:
            for word in command.words[1:]:
                if word.value and not word.value.startswith("-"):
                    state.values[word.value] = None
        elif name == "unset":
            for word in command.words[1:]:
                state.values.pop(word.text, None)

    def _called(self, command: Command, step: Step) -> Iterator[Step]:
        if sum(context.kind == "program" for context in self.contexts) >= MAX_DEPTH:
            return
        function = self.state.functions.get(command.name)
        if function is not None:
            outer = dict(self.state.values)
            self.state.values.update(_arguments(command.words[1:], step))
            yield from self._in_this_shell(function.body, function.location, step)
            for key in [key for key in self.state.values if key.isdigit()]:
                self.state.values[key] = outer.get(key)
            return
        what = step.executed
        if isinstance(what, ShellText):
            nodes = self.walk.read(what.text, what.location)
            if nodes is not None:
                yield from self._program(Program(nodes, what.options, what.can_pipefail, what.location), step, {})
        elif isinstance(what, ScriptFile):
            yield from self._script(what, step)

    def _script(self, what: ScriptFile, step: Step) -> Iterator[Step]:
        path = step.path(what.word)
        found = None if path is None else self.walk.text_of(path)
        if found is None:
            return
        text, location = found
        shell = shell_of_shebang(text)
        interpreter = invoked(step.command)[0]
        by_shell = program_name(interpreter) in SHELLS
        if is_python(interpreter) or location.path.endswith(".py"):
            return
        if shell is None and not by_shell and not what.is_sourced:
            return
        nodes = self.walk.read(text, location)
        if nodes is None:
            return
        if what.is_sourced:
            yield from self._in_this_shell(nodes, location, step)
            return
        options = what.options if by_shell or shell is None else shell
        can_pipefail = "bash" in text.partition("\n")[0] or program_name(interpreter) == "bash"
        program = Program(nodes, options, can_pipefail, location)
        yield from self._program(program, step, _arguments(what.arguments, step))

    def _in_this_shell(self, nodes: tuple[Node, ...], location: Location, step: Step) -> Iterator[Step]:
        outer, self.origin = self.origin, self._origin(location, step)
        yield from self.all(nodes, Context("program", step.command))
        self.origin = outer

    def _origin(self, location: Location, step: Step) -> Location | None:
        """Where the program's own text leads to what begins at a location, `None` for what stands in it."""
        own_text = location.path == self.program.location.path and self.origin is None
        return None if own_text else step.origin

    def _program(self, program: Program, step: Step, arguments: Values) -> Iterator[Step]:
        self.walk.programs.append(program)
        prefixed = {item.name for item in step.command.assignments}
        environment = {name: step.values.get(name) for name in self.state.exported | prefixed if name in step.values}
        state = _State({**environment, **arguments}, set(environment), step.directory, program.options, {})
        contexts = (*self.contexts, Context("program", step.command))
        origin = self._origin(program.location, step)
        yield from _ProgramWalk(self.walk, program, state, origin, contexts).all(program.nodes)


DECLARING = frozenset({"export", "readonly", "declare", "local", "typeset"})
LEAVING = frozenset({"exit", "return", "continue", "break", "exec"})


def _arguments(words: tuple[Word, ...], step: Step) -> dict[str, str | None]:
    named = {str(index): step.value(word) for index, word in enumerate(words, start=1)}
    return {**named, "@": None, "*": None}


def _leaves(nodes: tuple[Node, ...]) -> bool:
    """Whether what stands behind these commands does not follow them."""
    last = nodes[-1] if nodes else None
    if isinstance(last, Group) and not last.is_subshell:
        return _leaves(last.body)
    return isinstance(last, Command) and last.name in LEAVING


def _assigned_in(nodes: tuple[Node, ...]) -> Iterator[str]:
    for node in all_nodes(nodes):
        if isinstance(node, Command):
            yield from (item.name for item in node.assignments)
