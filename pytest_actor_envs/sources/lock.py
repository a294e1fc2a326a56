"""What uv.lock says each set of extras installs, by the markers and conflict markers of its edges.

Format: uv's lock, version 1. Markers follow PEP 508, with extras of the project written as uv encodes them where
conflicts are declared: `extra-<length of the project's name>-<project>-<extra>`, and likewise for groups.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_actor_envs.sources.imports import Version
from pytest_actor_envs.sources.pyproject import normalized

PLATFORMS: tuple[Mapping[str, str], ...] = (
    {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": "x86_64"},
    {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": "aarch64"},
    {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix", "platform_machine": "arm64"},
    {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt", "platform_machine": "AMD64"},
)

Remember = Callable[[str, Callable[[], str]], str]

EXTRA_TEST = re.compile(r"extra\s*(==|!=)\s*(?:'([^']*)'|\"([^\"]*)\")")
TRUE, FALSE = "os_name != ''", "os_name == ''"


@dataclass(frozen=True, slots=True)
class Edge:
    """One requirement of a locked package: what it requires, with which of its extras, under which marker."""

    name: str
    version: str
    extras: tuple[str, ...]
    marker: str


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """One package of the lock: its own requirements, and those of each of its extras and groups."""

    name: str
    version: str
    requirements: tuple[Edge, ...]
    extras: Mapping[str, tuple[Edge, ...]]
    groups: Mapping[str, tuple[Edge, ...]]


@dataclass(frozen=True, slots=True)
class LockedRequirement:
    """One requirement of the project as the lock recorded it. `specifier` is empty for one with a source of its own."""

    name: str
    extras: frozenset[str]
    specifier: str
    marker: str
    has_source: bool


@dataclass(frozen=True, slots=True)
class LockRecord:
    """What a lock recorded of the project that it belongs to: its extras, normalized, and its requirements."""

    provided_extras: frozenset[str]
    requirements: tuple[LockedRequirement, ...]

    @property
    def row(self) -> list[Any]:
        """The same as JSON can hold it."""
        listed = [
            [item.name, sorted(item.extras), item.specifier, item.marker, item.has_source] for item in self.requirements
        ]
        return [sorted(self.provided_extras), listed]

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> LockRecord:
        """The record that has this `row`."""
        provided, listed = row
        return cls(
            frozenset(provided),
            tuple(LockedRequirement(name, frozenset(extras), *rest) for name, extras, *rest in listed),
        )


@dataclass(frozen=True, slots=True)
class Lock:
    """The parsed lock. `project` is the package that the lock belongs to, `None` where it holds none; so is `record`."""

    packages: Mapping[str, tuple[LockedPackage, ...]]
    project: LockedPackage | None
    record: LockRecord | None


def read_lock(content: bytes, project_name: str) -> Lock:
    """Reads uv.lock. Raises `tomllib.TOMLDecodeError`, UnicodeDecodeError, and KeyError for a package without a name."""
    data = tomllib.loads(content.decode())
    packages: dict[str, list[LockedPackage]] = {}
    project: LockedPackage | None = None
    record: LockRecord | None = None
    for item in data.get("package", []):
        package = LockedPackage(
            item["name"],
            item.get("version", ""),
            _edges(item.get("dependencies", [])),
            {normalized(extra): _edges(listed) for extra, listed in item.get("optional-dependencies", {}).items()},
            {group: _edges(listed) for group, listed in item.get("dev-dependencies", {}).items()},
        )
        packages.setdefault(package.name, []).append(package)
        source = item.get("source", {})
        local = {source.get("editable"), source.get("virtual"), source.get("directory")} & {"."}
        if local or (project is None and package.name == normalized(project_name)):
            project, record = package, _record(item.get("metadata", {}))
    found = {name: tuple(versions) for name, versions in packages.items()}
    return Lock(found, project, record)


def _record(metadata: Mapping[str, Any]) -> LockRecord:
    return LockRecord(
        frozenset(normalized(extra) for extra in metadata.get("provides-extras", [])),
        tuple(
            LockedRequirement(
                item["name"],
                frozenset(normalized(extra) for extra in item.get("extras", [])),
                item.get("specifier", ""),
                item.get("marker", ""),
                bool({"url", "git", "path", "editable", "directory", "virtual"} & set(item)),
            )
            for item in metadata.get("requires-dist", [])
        ),
    )


def _edges(listed: Iterable[Mapping[str, Any]]) -> tuple[Edge, ...]:
    return tuple(
        Edge(
            item["name"], item.get("version", ""), tuple(map(normalized, item.get("extra", ()))), item.get("marker", "")
        )
        for item in listed
    )


def _ask(question: str, answer: Callable[[], str]) -> str:
    return answer()


def known_platforms(python: Version) -> list[dict[str, str]]:
    """The marker environments of one Python on each of `PLATFORMS`."""
    version = f"{python[0]}.{python[1]}"
    return [
        {**platform, "python_version": version, "python_full_version": f"{version}.9", "implementation_name": "cpython",
         "platform_python_implementation": "CPython", "implementation_version": f"{version}.9",
         "platform_release": "", "platform_version": ""}
        for platform in PLATFORMS
    ]  # fmt: skip


def platforms(environments: Sequence[str], python: Version) -> list[dict[str, str]]:
    """The marker environments of `[tool.uv] environments` for one Python; Linux on x86_64 where none is written."""
    known = known_platforms(python)
    chosen = [platform for platform in known if any(holds(marker, platform) for marker in environments)]
    return chosen or known[:1]


def holds(marker: str, environment: Mapping[str, str], active: frozenset[str] = frozenset()) -> bool:
    """Whether a marker holds; `extra == "x"` holds where `x` is one of `active`. An unreadable marker holds."""
    if not marker:
        return True

    def decided(match: re.Match[str]) -> str:
        is_active = (match[2] or match[3]) in active
        return TRUE if is_active == (match[1] == "==") else FALSE

    text = EXTRA_TEST.sub(decided, marker)
    if text in (TRUE, FALSE):
        return text == TRUE
    from packaging.markers import InvalidMarker, Marker

    try:
        return Marker(text).evaluate({**environment})
    except InvalidMarker:
        return True


class Closures:
    """What sets of extras install, on every one of some platforms. Answers are remembered.

    `read` gives the lock; it is called when an answer has to be found. `remember(question, answer)` gives what was
    answered to a question about this very lock before, or calls `answer`.
    """

    def __init__(
        self,
        read: Callable[[], Lock],
        environments: Sequence[Mapping[str, str]],
        groups: Sequence[str],
        remember: Remember = _ask,
    ) -> None:
        self._read = read
        self._environments = tuple(environments)
        self._groups = tuple(groups)
        self._remember = remember
        circumstances = json.dumps([environments, groups], sort_keys=True)
        self._question = f"closure {hashlib.sha256(circumstances.encode()).hexdigest()[:16]} "
        self._answers: dict[frozenset[str], frozenset[str]] = {}
        self._markers: dict[tuple[int, str, frozenset[str]], bool] = {}
        self._mentioned: dict[str, frozenset[str]] = {}

    def of(self, extras: frozenset[str]) -> frozenset[str]:
        """Names of the distributions that base dependencies, default groups and `extras` (normalized) install."""
        if extras not in self._answers:
            names = self._remember(self._question + " ".join(sorted(extras)), lambda: self._found(extras))
            self._answers[extras] = frozenset(names.split())
        return self._answers[extras]

    def _found(self, extras: frozenset[str]) -> str:
        found = [self._installed(index, extras) for index in range(len(self._environments))]
        return " ".join(sorted(frozenset.intersection(*found)))

    @property
    def _lock(self) -> Lock:
        return self._read()

    def _installed(self, index: int, extras: frozenset[str]) -> frozenset[str]:
        project = self._lock.project
        if project is None:
            return frozenset()
        prefix = f"{len(project.name)}-{project.name}"
        active = {f"extra-{prefix}-{extra}" for extra in extras} | {f"group-{prefix}-{group}" for group in self._groups}
        names = frozenset(active | {f"project-{prefix}"} | extras)
        edges = [*project.requirements]
        for extra in sorted(extras):
            edges.extend(project.extras.get(extra, ()))
        for group in self._groups:
            edges.extend(project.groups.get(group, ()))
        done: set[tuple[str, str, str]] = set()
        while edges:
            edge = edges.pop()
            if not self._holds(index, edge.marker, names):
                continue
            for package in self._versions(edge):
                for part in ("", *edge.extras):
                    if (package.name, package.version, part) not in done:
                        done.add((package.name, package.version, part))
                        edges.extend(package.extras.get(part, ()) if part else package.requirements)
        return frozenset(name for name, _, _ in done)

    def _versions(self, edge: Edge) -> Sequence[LockedPackage]:
        versions = self._lock.packages.get(edge.name, ())
        return [package for package in versions if package.version == edge.version] or versions

    def _holds(self, index: int, marker: str, active: frozenset[str]) -> bool:
        if not marker:
            return True
        if marker not in self._mentioned:
            self._mentioned[marker] = frozenset(
                name for pair in EXTRA_TEST.findall(marker) for name in pair[1:] if name
            )
        key = (index, marker, active & self._mentioned[marker])
        if key not in self._markers:
            self._markers[key] = holds(marker, self._environments[index], key[2])
        return self._markers[key]
