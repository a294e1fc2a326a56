"""What holds at one point of a stage: variables, working directory, shell, and what was copied from the project."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pytest_actor_envs.sources.dockerfile import (
    Copy,
    Dockerfile,
    Heredoc,
    Instruction,
    Run,
    Settings,
    Stage,
)
from pytest_actor_envs.sources.dockerfile_parser import substituted
from pytest_actor_envs.sources.image_files import Copied, absolute, copied

DEFAULT_SHELL = ("/bin/sh", "-c")


@dataclass(frozen=True, slots=True)
class State:
    """What holds at one point of a stage. `values` are of ENV and ARG, `None` for an argument that has no default.

    `arguments` are the names that an ARG declares and no ENV sets, `copies` what was brought from the project, `written`
    the files that a COPY made of here-documents.
    """

    values: Mapping[str, str | None] = field(default_factory=dict, hash=False)
    arguments: frozenset[str] = frozenset()
    directory: str = "/"
    shell: tuple[str, ...] = DEFAULT_SHELL
    copies: tuple[Copied, ...] = ()
    written: Mapping[str, Heredoc] = field(default_factory=dict, hash=False)


class States:
    """How the instructions of a Dockerfile change what holds.

    `end(stage)` gives what holds behind another stage, `holds(copies, place)` the project's file that COPYs put at a place.
    """

    def __init__(
        self,
        dockerfile: Dockerfile,
        end: Callable[[Stage], State],
        holds: Callable[[tuple[Copied, ...], str], str | None],
    ) -> None:
        self._dockerfile = dockerfile
        self._end = end
        self._holds = holds

    def after(self, item: Instruction, stage: Stage, state: State) -> State:
        """What holds behind an instruction other than RUN."""
        known = {name: value for name, value in state.values.items() if value is not None}
        if isinstance(item, Settings):
            values, arguments = dict(state.values), set(state.arguments)
            above = {setting.name: setting.value for setting in self._dockerfile.arguments}
            for setting in item.settings:
                if item.keyword == "ARG":
                    given = setting.value if setting.value is not None else above.get(setting.name)
                    if setting.name not in values or setting.name in arguments:
                        arguments.add(setting.name)
                        values[setting.name] = (
                            None if given is None else substituted(given, known, self._dockerfile.escape)
                        )
                else:
                    values[setting.name] = substituted(setting.value or "", known, self._dockerfile.escape)
                    arguments.discard(setting.name)
            return replace(state, values=values, arguments=frozenset(arguments))
        if item.keyword == "WORKDIR":
            return replace(state, directory=absolute(self._word(" ".join(item.words), known), state.directory))
        if item.keyword == "SHELL":
            return replace(state, shell=item.words)
        if isinstance(item, Copy):
            found = self._copied(item, stage, state, known)
            written = {**state.written, **self._written(item, state, known)}
            return replace(state, copies=(*state.copies, *found), written=written)
        return state

    def _word(self, word: str, known: Mapping[str, str]) -> str:
        return substituted(word, known, self._dockerfile.escape)

    def _copied(self, item: Copy, stage: Stage, state: State, known: Mapping[str, str]) -> list[Copied]:
        sources = [self._word(source, known) for source in item.sources]
        destination = self._word(item.destination, known)
        origin = None if item.origin is None else self._word(item.origin, known)
        sources = [source for source in sources if "://" not in source]
        found = self._from_stage_or_context(origin, stage, sources, destination, state.directory)
        excluded, keeps_parents = item.flags.get("exclude", ()), "parents" in item.flags
        return [
            replace(copy, excluded=(*copy.excluded, *excluded), keeps_parents=copy.keeps_parents or keeps_parents)
            for copy in found
        ]

    def _written(self, item: Copy, state: State, known: Mapping[str, str]) -> Mapping[str, Heredoc]:
        """The here-documents of a COPY by the places where they become files."""
        destination = self._word(item.destination, known)
        is_folder = destination.endswith("/") or len(item.heredocs) + len(item.sources) > 1
        folder = f"{destination.rstrip('/')}/" if is_folder else ""
        return {
            absolute(f"{folder}{text.name}" if folder else destination, state.directory): text for text in item.heredocs
        }

    def _from_stage_or_context(
        self, origin: str | None, stage: Stage, sources: list[str], destination: str, directory: str
    ) -> list[Copied]:
        """What comes of the project when `sources` are copied from `origin`; nothing from an image of others."""
        other = None if origin is None else self._dockerfile.stage(origin, stage.index)
        if other is not None and not _is_context(other):
            return self._from_stage(other, sources, destination, directory)
        is_image = other is None and origin is not None and re.search(r"[/:.@]", origin) is not None
        return [copied(sources, destination, directory)] if sources and not is_image else []

    def _from_stage(self, other: Stage, sources: list[str], destination: str, directory: str) -> list[Copied]:
        """What a COPY from another stage brings of what that stage has of the project."""
        found = []
        into = copied(sources, destination, directory)
        for source in sources:
            place = absolute(source, "/")
            for copy in self._end(other).copies:
                if copy.destination == place or copy.destination.startswith(f"{place.rstrip('/')}/"):
                    inside = copy.destination.removeprefix(place).lstrip("/")
                    found.append(replace(copy, destination=absolute(inside or ".", into.destination)))
            path = self._holds(self._end(other).copies, place)
            if path is not None:
                found.append(copied([path], destination, directory))
        return found

    def mounted(self, run: Run, stage: Stage, state: State) -> list[Copied]:
        """What of the project a RUN has by its bind mounts."""
        found = []
        for mount in run.flags.get("mount", ()):
            given = dict(part.partition("=")[::2] for part in mount.split(","))
            target = given.get("target") or given.get("dst") or given.get("destination")
            if given.get("type", "bind") == "bind" and target:
                source = given.get("source") or given.get("src") or "."
                found.extend(self._from_stage_or_context(given.get("from"), stage, [source], target, state.directory))
        return found


def _is_context(stage: Stage) -> bool:
    """Whether a stage stands for sources from elsewhere: nothing but an ADD of a repository, for a named context."""
    adds = [item for item in stage.instructions if isinstance(item, Copy)]
    return stage.base == "scratch" and bool(adds) and all("://" in source for item in adds for source in item.sources)
