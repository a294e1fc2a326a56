"""The guarded project as guards see it: configuration and sources, each read at most once."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_actor_envs.config import Config, read_config
from pytest_actor_envs.model import Blocked, ConfigurationError, Location, Place
from pytest_actor_envs.observed import ObservedCode
from pytest_actor_envs.pyproject_problems import parsed as parsed_pyproject
from pytest_actor_envs.sources import runtime
from pytest_actor_envs.sources.answers import Answers
from pytest_actor_envs.sources.distributions import Distributions
from pytest_actor_envs.sources.evidence import Evidence
from pytest_actor_envs.sources.fact_store import FactStore
from pytest_actor_envs.sources.import_graph import ImportGraph
from pytest_actor_envs.sources.lock import Closures, Lock, LockRecord, platforms, read_lock
from pytest_actor_envs.sources.locked_requirements import parsed
from pytest_actor_envs.sources.memory import Memory
from pytest_actor_envs.sources.modules import Module, Modules
from pytest_actor_envs.sources.parsed_files import ParsedFiles
from pytest_actor_envs.sources.provision import DirectProvision, LockedProvision, Provision, default_groups
from pytest_actor_envs.sources.pyproject import PATH as PYPROJECT
from pytest_actor_envs.sources.pyproject import Extra, Pyproject
from pytest_actor_envs.sources.table import Entry, Table, read_table
from pytest_actor_envs.sources.tree import Tree, original_root

if TYPE_CHECKING:  # only guards of documentation and of images need these, when they look at one
    from pytest_actor_envs.images import Images
    from pytest_actor_envs.sources.docs import Page

UV_LOCK = "uv.lock"
Answer = TypeVar("Answer")


class Project:
    """One guarded project. Nothing is read before it is asked for, and nothing twice.

    `code_root` is the folder that project code is imported from; it differs from the tree's root under mutmut only.
    """

    def __init__(self, tree: Tree, config: Config, code_root: Path | None, runner: runtime.Runner) -> None:
        self.tree = tree
        tree.answers.project = self
        self.config = config
        self.code_root = code_root
        self.runner = runner
        self.is_broken: Callable[[str, str | None], bool] = _holds
        self._evidence: Evidence | None = None
        self.facts = FactStore()
        self._of_files = Memory()
        self._inherited = 0
        self.files = ParsedFiles(self.facts, self._of_files)
        self._images: Images | None = None

    def with_overlay(self, files: Mapping[str, str | None]) -> Project:
        """The project with `files` above its own; answers that the change cannot touch are shared.

        Raises ConfigurationError.
        """
        known = len(self._of_files)
        tree = self.tree.with_overlay(files)
        config = self.config if PYPROJECT not in files else config_of(tree)
        if config is None:
            raise ConfigurationError(f"{PYPROJECT}:1:1: configuration: [tool.pytest-actor-envs] is missing")
        if config != self.config or self._exempts_by_line(files):
            tree.answers = Answers()
        project = Project(tree, config, self.code_root, self.runner)
        project.facts, project.files = self.facts, self.files
        project._of_files, project._inherited = self._of_files, known
        if self._images is not None:
            from pytest_actor_envs.images import Images

            project._images = Images(tree, self._of_files, self._images)
        return project

    def release(self) -> None:
        """Forgets what was found out since the overlay was made, and what refers back to it: its memory is free at once."""
        self._of_files.forget_all_but(self._inherited)
        self.tree.answers.project = None
        self.is_broken = _holds

    def _exempts_by_line(self, files: Mapping[str, str | None]) -> bool:
        """Whether the leaf is changed and has comments that exempt lines, which may be others now."""
        return self.config.leaf in files and b"actor-envs: ignore[" in self.tree.read_bytes(self.config.leaf)

    @property
    def pyproject(self) -> Pyproject:
        return self.tree.answers.get("pyproject", lambda: Pyproject(self.tree.read_bytes(PYPROJECT)))

    @property
    def table(self) -> Table:
        """The table as parsed, with its problems, readable or not."""
        return self._table_of(self.tree.read_bytes(self.config.leaf))

    def _table_of(self, content: bytes) -> Table:
        def answer() -> Table:
            return read_table(self.files, self.config.leaf, content, self.config.table)

        return self._of_files.of(("table", self.config.table, content), answer)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The table's entries. Raises Blocked where the table cannot be read, or is empty of readable ones."""
        # What is made from entries does not depend on where they stand: findings take that from the subject.
        self.tree.reduced("entries", self.config.leaf, self._meaning_of_table)
        table = self._table_of(self.tree.unnoted_bytes(self.config.leaf))
        if not table.readable:
            raise Blocked("leaf-table-literal")
        return table.entries

    def _meaning_of_table(self, content: bytes) -> tuple[object, ...]:
        def answer() -> tuple[object, ...]:
            table = self._table_of(content)
            return table.readable, *(entry.meaning for entry in table.entries)

        return self._of_files.of(("meaning of the table", self.config.table, content), answer)

    @property
    def entries_with_environment(self) -> tuple[Entry, ...]:
        """The entries that name extras. Raises Blocked as `entries` does."""
        return tuple(entry for entry in self.entries if entry.extras is not None)

    def extras_of(self, entry: Entry) -> tuple[str, ...] | None:
        """The entry's extras, `None` for the driver's interpreter. Raises Blocked where they are no literal."""
        if not entry.readable:
            raise Blocked("leaf-table-literal")
        return entry.extras

    @cached_property
    def modules(self) -> Modules:
        config = self.config
        return Modules(self.tree, config.packages, self.files, (*config.lookup_words, "remote"))

    @property
    def python(self) -> tuple[int, int]:
        """The Python of the actors' environments."""
        major, minor = self.config.actor_python.split(".")
        return int(major), int(minor)

    @property
    def lock_path(self) -> str | None:
        """The lock to judge by: the configured one, else uv.lock if there is one."""
        return self.config.lock or (UV_LOCK if self.tree.exists(UV_LOCK) else None)

    @property
    def lock(self) -> Lock | None:
        """The lock, `None` where there is none. Raises Blocked where it cannot be read."""
        return self.tree.answers.get("lock", self._read_lock)

    def _read_lock(self) -> Lock | None:
        if self.lock_path is None:
            return None
        content, name = self.tree.read_bytes(self.lock_path), self.pyproject.name
        try:
            return self.of_file(f"lock of {name}", self.lock_path, lambda: read_lock(content, name))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError):
            raise Blocked("extra-locked") from None

    @property
    def lock_record(self) -> LockRecord | None:
        """What the lock recorded of the project, `None` without a lock or without the project in it. Raises Blocked."""
        return self.tree.answers.get("lock record", self._read_lock_record)

    def _read_lock_record(self) -> LockRecord | None:
        if self.lock_path is None:
            return None

        def row() -> list[Any] | None:
            record = self._locked().record
            return None if record is None else record.row

        kept = self.facts.of(self.tree.read_bytes(self.lock_path), f"record of {self.pyproject.name}", row)
        return None if kept is None else LockRecord.of_row(kept)

    def requirements_of(self, extra: Extra) -> list[list[Any]]:
        """What pyproject.toml requires for an extra (see `locked_requirements.parsed`)."""
        return self.facts.of(self.tree.read_bytes(PYPROJECT), f"requirements of {extra.name}", lambda: parsed(extra))

    @property
    def provision(self) -> Provision:
        """Which distributions an environment has, by the lock or without one. Raises Blocked as `lock` does."""
        return self.tree.answers.get("provision", self._find_provision)

    def _find_provision(self) -> Provision:
        if self.lock_path is None:
            return DirectProvision(self.pyproject, self.config.brings, self.python)
        environments = platforms(self.pyproject.get("tool", "uv", "environments", default=[]), self.python)
        # What the lock says of its packages does not depend on which of them is the project, but its closures do.
        name = self.pyproject.name
        content = self.tree.read_bytes(self.lock_path)
        names = self.facts.of(content, "packages", lambda: " ".join(sorted(self._locked().packages)))

        def remember(question: str, answer: Callable[[], str]) -> str:
            return self.facts.of(content, f"{name}: {question}", answer)

        closures = Closures(self._locked, environments, default_groups(self.pyproject), remember)
        return LockedProvision(self.pyproject, closures, names.split())

    def _locked(self) -> Lock:
        lock = self.lock
        assert lock is not None, "the lock is there when the provision is made from it"
        return lock

    @property
    def distributions(self) -> Distributions:
        """Which distribution provides an imported name."""
        return self.tree.answers.get("distributions", lambda: Distributions(self.config.modules, self.provision.known))

    @cached_property
    def imports(self) -> ImportGraph:
        """Which modules import what, for the actors' Python."""
        return ImportGraph(self.tree, self.config.packages, self.python, self.files.imports)

    @property
    def evidence(self) -> Evidence:
        """What the actors import, and what provides it. Raises Blocked where the lock cannot be read."""
        distributions, provision = self.distributions, self.provision
        if self._evidence is None:
            self._evidence = Evidence(self.imports, self.modules, distributions, provision, self.python)
        return self._evidence

    def of_file(self, question: str, path: str, answer: Callable[[], Answer]) -> Answer:
        """What `answer` gives for a file's text alone, computed once for each text under the name `question`."""
        return self._of_files.of((question, path, self.tree.read_bytes(path)), answer)

    def of_module(self, read: Callable[..., Answer], module: Module, *given: Hashable) -> Answer:
        """What `read(module, *given)` finds in a module's text alone, computed once for each text."""
        return self._of_files.of((read, module.path, module.content, given), lambda: read(module, *given))

    def of_text(self, read: Callable[..., Answer], path: str, *given: Hashable) -> Answer:
        """What `read(text, *given)` finds in a file's text, where what is no UTF-8 is a sign that stands for nothing."""
        content = self.tree.read_bytes(path)
        return self._of_files.of((read, path, content, given), lambda: read(content.decode("utf-8", "replace"), *given))

    def of_page(self, read: Callable[..., Answer], page: Page, *given: Hashable) -> Answer:
        """What `read(page, *given)` finds in a page of documentation, computed once for each text."""
        return self._of_files.of((read, page.path, page.text, given), lambda: read(page, *given))

    def page(self, path: str) -> Page:
        """The page of documentation at a path. Raises FileNotFoundError."""
        return self.of_text(_page_of, path, path)

    def fact(self, read: Callable[..., Answer], name: str, *given: Hashable) -> Answer:
        """The same by the module's name, for what JSON can hold, which is kept for later runs. Raises SyntaxError."""
        path = self.imports.paths[name]

        def answer() -> Answer:
            return read(self.modules.find(name), *given)

        return self.facts.of(self.tree.read_bytes(path), f"{read.__name__} {path} {given}", answer)

    def once(self, answer: Callable[..., Answer], *given: Hashable) -> Answer:
        """What `answer(project, *given)` gives, computed once for this state of the project. Raises what it raises."""
        return self.tree.answers.get((answer, given), lambda: answer(self, *given))

    def settled(self, answer: Callable[..., Answer], *given: Hashable) -> Answer:
        """`once`, for an answer that says little of much text: while it stays equal, what is made from it stays."""
        found: Answer = self.tree.answers.settled((answer, given), lambda project: answer(project, *given))
        return found

    def part(self, answer: Callable[..., Mapping[Any, Answer]], key: Hashable, *given: Hashable) -> Answer | None:
        """What `answer(project, *given)` has for a key: what is made from it stays while that stays equal."""
        found: Answer | None = self.tree.answers.part((answer, given), key, lambda project: answer(project, *given))
        return found

    @property
    def images(self) -> Images:
        """What the configured Dockerfiles say and carry out."""
        if self._images is None:
            from pytest_actor_envs.images import Images

            self._images = Images(self.tree, self._of_files)
        return self._images

    def place(self, path: str) -> Place:
        """A whole file as a subject."""
        return Place(path, Location(path))

    def blocked_by(self, guard: str, subject: str | None = None) -> None:
        """Raises Blocked where `guard` is broken, on `subject` or, without one, on any of its subjects."""
        if self.is_broken(guard, subject):
            raise Blocked(guard)

    def observe(self, observer: str, arguments: Mapping[str, Any], variables: Mapping[str, str] | None = None) -> Any:
        """What an observer saw project code do: its JSON value, or a `Raised`. Equal questions are asked once."""
        code = ObservedCode(self.tree, self.config, self.code_root, self.runner)
        return code.observe(observer, arguments, variables or {})


def _holds(guard: str, subject: str | None) -> bool:
    """What is said of guards where nobody judges them."""
    return False


def dotted(path: str) -> str:
    """The dotted name of a module's file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def config_of(tree: Tree) -> Config | None:
    """The configuration that a tree holds, `None` where there is none. Raises ConfigurationError."""
    try:
        content = tree.read_bytes(PYPROJECT)
    except FileNotFoundError:
        return None
    pyproject = parsed_pyproject(content)
    return read_config(pyproject, tree, f"{sys.version_info.major}.{sys.version_info.minor}")


def open_project(root: Path, tree: Tree | None = None) -> Project | None:
    """The guarded project in a folder, `None` where it configures nothing. Raises ConfigurationError.

    `tree` has its files; by default one whose answers the project's overlays can share.
    """
    tree = tree or Tree(original_root(root, os.environ))
    config = config_of(tree)
    return None if config is None else Project(tree, config, root, runtime.runner_for(os.environ))


def project_in_memory(files: Mapping[str, str]) -> Project:
    """A project that has only `files` (path -> text); its code runs in this process. Raises ConfigurationError."""
    tree = Tree(None, files)
    config = config_of(tree)
    if config is None:
        raise ConfigurationError(f"{PYPROJECT}:1:1: configuration: [tool.pytest-actor-envs] is missing")
    return Project(tree, config, None, runtime.run_in_process)


def _page_of(text: str, path: str) -> Page:
    from pytest_actor_envs.sources.page_reader import read_page

    return read_page(path, text)
