"""The extras of the project that an image build names, and the lists of them that it holds, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.dockerfile import Setting, Stage
from pytest_actor_envs.sources.image import CarriedOut, Image
from pytest_actor_envs.sources.image_variables import settings_of
from pytest_actor_envs.sources.invocations import ScriptFile, invoked
from pytest_actor_envs.sources.shell import Command, Loop, Node, Variable, Word, all_nodes
from pytest_actor_envs.sources.shell_steps import Step

PYPROJECT = "pyproject.toml"
FLAGS = frozenset({"--extra", "--no-extra"})
FOLDERS = frozenset({"--directory", "--project"})
READING = frozenset({"read", "mapfile", "readarray"})
BRACKETS = re.compile(r"^(?:\.|[\w.-]*/[\w./-]*|(?P<name>[\w.-]+))\[(?P<extras>[\w.,\s-]+)\]")


@dataclass(frozen=True, slots=True)
class NamedExtra:
    """One name where it stands."""

    name: str
    location: Location


@dataclass(frozen=True, slots=True)
class ExtraList:
    """Extras that stand together: the value of a variable (`holder`), or the arguments of one command (no holder)."""

    holder: str | None
    extras: tuple[NamedExtra, ...]
    location: Location

    @property
    def names(self) -> frozenset[str]:
        return frozenset(extra.name for extra in self.extras)


class ImageExtras:
    """The extras that an image's RUNs name. `leaf` is the leaf's path, `project` the distribution's name, normalized.

    `variables` are the names of those that give extras to a command of some RUN, directly or through others.
    """

    def __init__(self, image: Image, leaf: str, project: str) -> None:
        self.image = image
        self.leaf = leaf
        self.project = project
        self._runs = tuple(run for stage in image.dockerfile.stages for run in image.own_runs(stage))
        self._nodes = {run: list(_nodes(run)) for run in self._runs}
        self.variables = self._variables_of_extras()
        self._lists = {stage.index: tuple(self._found(stage)) for stage in image.dockerfile.stages}

    def lists(self, stage: Stage) -> tuple[ExtraList, ...]:
        """Every list of a stage: of its ARGs and ENVs, its RUNs, and the scripts that they execute; each place once."""
        return self._lists[stage.index]

    def _found(self, stage: Stage) -> Iterable[ExtraList]:
        runs = self.image.own_runs(stage)
        settings = (*settings_of(stage, "ARG"), *settings_of(stage, "ENV"))
        found = [*self._in_settings(settings), *self._in_nodes(runs), *self._in_commands(runs)]
        once = {(one.location, one.holder): one for one in found if one.extras}
        return once.values()

    def _in_settings(self, settings: Iterable[Setting]) -> Iterator[ExtraList]:
        for setting in settings:
            if setting.name in self.variables and setting.value and "$" not in setting.value:
                words = re.findall(r"[\w.-]+", setting.value)
                yield ExtraList(
                    setting.name, tuple(NamedExtra(word, setting.location) for word in words), setting.location
                )

    def _in_nodes(self, runs: Iterable[CarriedOut]) -> Iterator[ExtraList]:
        for node in (node for run in runs for node in self._nodes[run]):
            if isinstance(node, Loop) and node.variable in self.variables:
                yield ExtraList(node.variable, tuple(_literals(node.words)), node.location)
            for item in node.assignments if isinstance(node, Command) else ():
                if item.name in self.variables:
                    holder = None if item.appends else item.name
                    yield ExtraList(holder, tuple(_literals(item.values)), item.location)

    def _in_commands(self, runs: Iterable[CarriedOut]) -> Iterator[ExtraList]:
        for run in runs:
            for step in run.steps:
                words = invoked(step.command)
                named = [*self._flagged(step, words, run), *self._in_brackets(step, words, run)]
                named += [extra for word in self._arguments_of_leaf(step, run) for extra in _literals([word])]
                yield ExtraList(None, tuple(named), step.command.location)

    def _flagged(self, step: Step, words: tuple[Word, ...], run: CarriedOut) -> Iterator[NamedExtra]:
        """What stands behind `--extra` where uv works on the project itself."""
        if not words or not self._is_in_project(step, words, run):
            return
        for index, word in enumerate(words):
            if word.text.partition("=")[0] in FLAGS:
                for value in _values(word, words[index + 1 :]):
                    if value.value:
                        yield NamedExtra(value.value, value.location)

    def _is_in_project(self, step: Step, words: tuple[Word, ...], run: CarriedOut) -> bool:
        folder = step.directory
        for index, word in enumerate(words):
            flag = word.text.partition("=")[0]
            if flag in FOLDERS:
                folder = next((step.path(value) for value in _values(word, words[index + 1 :])), folder)
        return folder is None or self.image.holds(run.copies, f"{folder.rstrip('/')}/{PYPROJECT}") == PYPROJECT

    def _in_brackets(self, step: Step, words: tuple[Word, ...], run: CarriedOut) -> Iterator[NamedExtra]:
        """`.[a,b]` and `project[a,b]` of an installing command."""
        if "install" not in {word.text for word in words}:
            return
        for word in words:
            match = BRACKETS.match(word.value or "")
            if match is None:
                continue
            name = match["name"]
            own = name is not None and re.sub(r"[-_.]+", "-", name).lower() == self.project
            if own or (match[0].startswith(".[") and self._is_in_project(step, words, run)):
                for extra in re.split(r"[,\s]+", match["extras"]):
                    yield NamedExtra(extra, word.location)

    def _arguments_of_leaf(self, step: Step, run: CarriedOut) -> tuple[Word, ...]:
        what = step.executed
        place = step.path(what.word) if isinstance(what, ScriptFile) else None
        if not isinstance(what, ScriptFile) or place is None or self.image.holds(run.copies, place) != self.leaf:
            return ()
        return what.arguments[1:]

    def _variables_of_extras(self) -> frozenset[str]:
        names: set[str] = set()
        for run in self._runs:
            for step in run.steps:
                words = invoked(step.command)
                names.update(_names(self._arguments_of_leaf(step, run)))
                for index, word in enumerate(words):
                    if word.text.partition("=")[0] in FLAGS and self._is_in_project(step, words, run):
                        names.update(_names(_values(word, words[index + 1 :])))
        found = list(names)
        for name in found:  # it grows
            found.extend([other for other in self._sources_of(name) if other not in found])
        return frozenset(found)

    def _sources_of(self, name: str) -> Iterator[str]:
        """The variables that give a variable its value."""
        for node in (node for nodes in self._nodes.values() for node in nodes):
            if isinstance(node, Loop) and node.variable == name:
                yield from _names(node.words)
            if isinstance(node, Command):
                for item in node.assignments:
                    if item.name == name:
                        yield from _names(item.values)
                if node.name in READING and name in {word.value for word in node.words[1:]}:
                    yield from _names([one.target for one in node.redirects if one.target is not None])


def _nodes(run: CarriedOut) -> Iterator[Node]:
    return (node for program in run.programs for node in all_nodes(program.nodes))


def _values(flag: Word, behind: tuple[Word, ...]) -> tuple[Word, ...]:
    """The value of a flag: what stands behind its `=`, else the next word; none where there is none."""
    name, equals, _ = flag.text.partition("=")
    first, *others = flag.parts
    return (replace(flag, parts=(str(first).removeprefix(f"{name}="), *others)),) if equals else behind[:1]


def _names(words: Iterable[Word]) -> Iterator[str]:
    for word in words:
        yield from (variable.name for variable in word.variables if variable.name.isidentifier())


def _literals(words: Iterable[Word]) -> Iterator[NamedExtra]:
    """The names that stand in words as they are, and in the defaults of their variables."""
    for word in words:
        for part in word.parts:
            if isinstance(part, str):
                yield from (NamedExtra(name, word.location) for name in re.findall(r"[\w.-]+", part))
            elif isinstance(part, Variable) and part.default and "$" not in part.default:
                yield from (NamedExtra(name, part.location) for name in re.findall(r"[\w.-]+", part.default))
