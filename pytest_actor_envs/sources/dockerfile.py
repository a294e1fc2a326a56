"""A Dockerfile as frozen data: stages, their instructions in order, and where everything stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pytest_actor_envs.model import Location


@dataclass(frozen=True, slots=True)
class Heredoc:
    """A here-document of an instruction. `location` is that of its first line; `expands` says whether `$X` in it does."""

    name: str
    text: str
    location: Location
    expands: bool


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `words` are as written, quotes and `$X` included; `flags` map `--name` (no dashes) to values.

    `source` is what the lines say, comments and continuations included, from `location` to the line `end_line`.
    """

    keyword: str
    words: tuple[str, ...]
    flags: Mapping[str, tuple[str, ...]] = field(hash=False)
    location: Location
    end_line: int
    source: str
    is_json: bool
    heredocs: tuple[Heredoc, ...]

    def flag(self, name: str) -> str | None:
        """The last value of a flag, `None` where it is not given."""
        return self.flags[name][-1] if self.flags.get(name) else None


@dataclass(frozen=True, slots=True)
class Setting:
    """One `NAME=value` of an ARG or ENV; `value` is as written, `None` for an ARG without a default."""

    name: str
    value: str | None
    location: Location


@dataclass(frozen=True, slots=True)
class Settings(Instruction):
    """ARG or ENV."""

    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Copy(Instruction):
    """COPY or ADD. `origin` is what `--from` names (stage, index, named context or image), `None` for the context."""

    sources: tuple[str, ...]
    destination: str
    origin: str | None


@dataclass(frozen=True, slots=True)
class Run(Instruction):
    """RUN. `script` is its shell text (empty in exec form) that starts at `script_location`.

    Docker's own parts are blanked in it: flags, comment lines, and marks of here-documents; continuations stay.
    """

    script: str
    script_location: Location
    heredoc_columns: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Trigger(Instruction):
    """ONBUILD, with the instruction that stages built on this one run."""

    triggered: Instruction


@dataclass(frozen=True, eq=False)
class Stage:
    """One stage: `name` as after AS, else its index; `base` as written; `parent` the stage that it is built on."""

    index: int
    name: str
    base: str
    location: Location
    instructions: tuple[Instruction, ...]
    parent: Stage | None

    @cached_property
    def lineage(self) -> tuple[Stage, ...]:
        """The stages that this one is built on, the first one first, and itself."""
        return (*(self.parent.lineage if self.parent else ()), self)

    @cached_property
    def history(self) -> tuple[Instruction, ...]:
        """The instructions of the lineage in the order in which they are carried out, those of ONBUILD where they are."""
        found: list[Instruction] = []
        triggers: list[Instruction] = []
        for stage in self.lineage:
            found.extend(triggers)
            triggers = [item.triggered for item in stage.instructions if isinstance(item, Trigger)]
            found.extend(stage.instructions)
        return tuple(found)

    @property
    def end_line(self) -> int:
        """The last line of the stage's last instruction."""
        return self.instructions[-1].end_line if self.instructions else self.location.line

    def runs(self) -> tuple[Run, ...]:
        """The RUNs that stand in this stage, in order, those of ONBUILD included."""
        shown = (item.triggered if isinstance(item, Trigger) else item for item in self.instructions)
        return tuple(item for item in shown if isinstance(item, Run))


@dataclass(frozen=True, eq=False)
class Dockerfile:
    """A whole file. `arguments` are the ARGs above the first FROM, `escape` is the escape character."""

    path: str
    arguments: tuple[Setting, ...]
    stages: tuple[Stage, ...]
    escape: str

    def stage(self, name: str, before: int | None = None) -> Stage | None:
        """The stage of a name or index, above the stage number `before`; `None` where there is none."""
        known = self.stages[:before]
        named = (stage for stage in reversed(known) if stage.name.lower() == name.lower())
        return next(named, None) or next((stage for stage in known if str(stage.index) == name), None)

    def descendants(self, stage: Stage) -> Sequence[Stage]:
        """The stages that are built on `stage`, in order."""
        return [other for other in self.stages if other is not stage and stage in other.lineage]

    def instructions(self) -> Iterator[tuple[Stage, Instruction]]:
        """Every instruction with its stage, in the order of the file."""
        for stage in self.stages:
            for instruction in stage.instructions:
                yield stage, instruction


class DockerfileError(Exception):
    """Text that is no Dockerfile; the argument says why."""

    def __init__(self, message: str, location: Location) -> None:
        super().__init__(message)
        self.location = location
