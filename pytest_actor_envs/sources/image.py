"""What the stages of a Dockerfile carry out: every command of every RUN, with what is known where it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from e2b_dockerfile_utils import PatternMatcher

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.dockerfile import (
    Dockerfile,
    Run,
    Stage,
    Trigger,
)
from pytest_actor_envs.sources.image_files import Copied, project_file
from pytest_actor_envs.sources.image_programs import program_of
from pytest_actor_envs.sources.image_state import State, States
from pytest_actor_envs.sources.shell import Node, ShellError
from pytest_actor_envs.sources.shell_parser import read_shell
from pytest_actor_envs.sources.shell_steps import Program, Step
from pytest_actor_envs.sources.shell_walk import Walk
from pytest_actor_envs.sources.tree import Tree


@dataclass(frozen=True, eq=False)
class CarriedOut:
    """One RUN of a stage: its commands in order, those of scripts included. `state` is what holds before it.

    `copies` are also those that its mounts bring. `unreadable` are places where shell text cannot be parsed.
    """

    run: Run
    state: State
    copies: tuple[Copied, ...]
    steps: tuple[Step, ...]
    programs: tuple[Program, ...]
    unreadable: tuple[Location, ...]


class Image:
    """One Dockerfile over the project's tree. `read` are the paths that the answers depend on.

    `base` is the same Dockerfile in another state: a RUN that is the same there, in the same place, over the same files,
    is not looked at again.
    """

    def __init__(self, dockerfile: Dockerfile, tree: Tree, base: Image | None = None) -> None:
        self.dockerfile = dockerfile
        self.tree = tree
        self._states = States(dockerfile, self.end, self.holds)
        self._base = base
        self._known: dict[tuple[Run, State], tuple[CarriedOut, Mapping[str, bytes | bool]]] = {}
        self._seen: dict[str, bytes | bool] = {}
        self._scripts: dict[tuple[str, Location], tuple[Node, ...]] = base._scripts if base is not None else {}
        self.read: set[str] = {dockerfile.path}
        self._held: dict[tuple[tuple[Copied, ...], str], str | None] = {}
        self._ends: dict[int, State] = {}
        self._runs: dict[int, tuple[CarriedOut, ...]] = {}
        self.ignore_lines = self._ignore_lines()
        self._ignored = PatternMatcher(list(self.ignore_lines))

    def own_runs(self, stage: Stage) -> tuple[CarriedOut, ...]:
        """The RUNs of a stage itself, those that ONBUILD of its parent brings first."""
        if stage.index not in self._runs:
            self._carry_out(stage)
        return self._runs[stage.index]

    def runs(self, stage: Stage) -> tuple[CarriedOut, ...]:
        """The RUNs of a stage and all that it is built on, in order."""
        return tuple(run for ancestor in stage.lineage for run in self.own_runs(ancestor))

    def alone(self, run: Run, stage: Stage) -> CarriedOut:
        """A RUN that no stage carries out, as if it stood at the end of a stage."""
        return self._run(run, stage, self.end(stage))

    def end(self, stage: Stage) -> State:
        """What holds behind a stage's last instruction."""
        self.own_runs(stage)
        return self._ends[stage.index]

    def holds(self, copies: tuple[Copied, ...], place: str) -> str | None:
        """The project's file at an absolute path of the image, `None` where no COPY put one there."""
        key = (copies, place)
        if key not in self._held:
            path = project_file(copies, place, self._exists)
            self._held[key] = None if path is None or self.is_ignored(path) else path
        return self._held[key]

    def _exists(self, path: str) -> bool:
        self.read.add(path)
        found = self.tree.exists(path)
        self._seen.setdefault(path, found)
        return found

    def is_ignored(self, path: str) -> bool:
        """Whether .dockerignore keeps a file out of the build context."""
        return self._ignored.matches(path)

    def _ignore_lines(self) -> tuple[str, ...]:
        """The patterns that keep files out of the build context."""
        for path in (f"{self.dockerfile.path}.dockerignore", ".dockerignore"):
            if self._exists(path):
                lines = (line.strip() for line in self.tree.read_text(path).splitlines() if not line.startswith("#"))
                return tuple(filter(None, lines))
        return ()

    def _carry_out(self, stage: Stage) -> None:
        state = self.end(stage.parent) if stage.parent is not None else State()
        triggers = (
            [item.triggered for item in stage.parent.instructions if isinstance(item, Trigger)] if stage.parent else []
        )
        done = []
        for instruction in (*triggers, *stage.instructions):
            if isinstance(instruction, Run):
                done.append(self._run(instruction, stage, state))
            else:
                state = self._states.after(instruction, stage, state)
        self._runs[stage.index] = tuple(done)
        self._ends[stage.index] = state

    def _run(self, run: Run, stage: Stage, state: State) -> CarriedOut:
        """What a RUN does; what another stage has is not part of what it is known by, so a mount from one is not kept."""
        key = (run, state)
        if self._base is not None and self._base.ignore_lines == self.ignore_lines and key in self._base._known:
            done, seen = self._base._known[key]
            if all(self._is_still(path, what) for path, what in seen.items()):
                self.read.update(seen)
                return done
        self._held, self._seen = {}, {}
        done = self._looked_at(run, stage, state)
        if self._base is None and not any("from=" in mount for mount in run.flags.get("mount", ())):
            self._known[key] = (done, self._seen)
        return done

    def _is_still(self, path: str, what: bytes | bool) -> bool:
        return self.tree.exists(path) == bool(what is not False) and (
            isinstance(what, bool) or self.tree.read_bytes(path) == what
        )

    def _looked_at(self, run: Run, stage: Stage, state: State) -> CarriedOut:
        copies = (*state.copies, *self._states.mounted(run, stage, state))
        unreadable: list[Location] = []

        def text_of(place: str) -> tuple[str, Location] | None:
            written = state.written.get(place)
            if written is not None:
                return written.text, written.location
            path = self.holds(copies, place)
            if path is None or path.endswith(".py"):  # what no shell reads is not read here either
                return None
            self._seen[path] = self.tree.read_bytes(path)
            try:
                return self.tree.read_text(path), Location(path)
            except UnicodeDecodeError:
                return None

        def read(text: str, location: Location) -> tuple[Node, ...] | None:
            try:
                if location.path == run.location.path:
                    return read_shell(text, location)
                if (text, location) not in self._scripts:
                    self._scripts[text, location] = read_shell(text, location)
                return self._scripts[text, location]
            except ShellError as error:
                unreadable.append(error.location)
                return None

        walk = Walk(text_of, read)
        program = program_of(run, state.shell, read)
        steps = () if program is None else tuple(walk.steps(program, state.values, state.directory))
        return CarriedOut(run, state, copies, steps, tuple(walk.programs), tuple(unreadable))
