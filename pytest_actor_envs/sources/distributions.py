"""Which distribution provides an imported name."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Mapping
from functools import cache

from pytest_actor_envs.sources.pyproject import normalized

WELL_KNOWN: Mapping[str, str] = {
    "absl": "absl-py",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "git": "gitpython",
    "google.protobuf": "protobuf",
    "hydra": "hydra-core",
    "jwt": "pyjwt",
    "megatron.bridge": "megatron-bridge",
    "megatron.core": "megatron-core",
    "megatron.energon": "megatron-energon",
    "megatron.training": "megatron-core",
    "modelopt": "nvidia-modelopt",
    "open_clip": "open-clip-torch",
    "PIL": "pillow",
    "pkg_resources": "setuptools",
    "pynvml": "nvidia-ml-py",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}
"""Import names that are not their distribution's, as the distributions' own files say."""


class Distributions:
    """Answers by, in this order: configuration, the names that the project itself knows, what is installed, a table.

    `known` are normalized names of the lock's distributions, or, without a lock, of those that requirements name.
    """

    def __init__(self, configured: Mapping[str, str], known: Iterable[str]) -> None:
        self._configured = {name: normalized(distribution) for name, distribution in configured.items()}
        self._known = frozenset(known)
        self._answers: dict[str, frozenset[str]] = {}

    def of(self, dotted: str) -> frozenset[str]:
        """The distributions, normalized, any of which provides the dotted name; empty where nothing knows it."""
        if dotted not in self._answers:
            self._answers[dotted] = self._find(dotted)
        return self._answers[dotted]

    def _find(self, dotted: str) -> frozenset[str]:
        prefixes = _prefixes(dotted)
        for name in prefixes:
            if name in self._configured:
                return frozenset({self._configured[name]})
        by_name = next((name for name in map(normalized, reversed(prefixes)) if name in self._known), None)
        if by_name is not None:
            return frozenset({by_name})
        installed = _installed(prefixes)
        if installed:
            return installed
        known = next((WELL_KNOWN[name] for name in prefixes if name in WELL_KNOWN), None)
        return frozenset() if known is None else frozenset({normalized(known)})


def _prefixes(dotted: str) -> list[str]:
    """`a.b.c`, `a.b`, `a`."""
    parts = dotted.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def _installed(prefixes: list[str]) -> frozenset[str]:
    """The installed distributions that provide the longest of the dotted names that any of them declares or holds."""
    for name in prefixes:
        if name in _declared_names():
            return _declared_names()[name]
    owners = _top_levels().get(prefixes[-1], ())
    return frozenset(normalized(owner) for owner in owners if _holds(owner, prefixes))


@cache
def _top_levels() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()


@cache
def _declared_names() -> Mapping[str, frozenset[str]]:
    """Import names as PEP 794 lets metadata declare them, with the distributions that do."""
    found: dict[str, set[str]] = {}
    for distribution in importlib.metadata.distributions():
        text = distribution.read_text("METADATA") or ""
        if "\nImport-Name" not in text:
            continue
        for line in text.split("\n\n", 1)[0].split("\n"):
            field, _, value = line.partition(":")
            if field == "Import-Name" and value.strip():
                found.setdefault(value.partition(";")[0].strip(), set()).add(normalized(distribution.name))
    return {name: frozenset(owners) for name, owners in found.items()}


def _holds(owner: str, prefixes: list[str]) -> bool:
    """Whether an installed distribution is the one for a name: other distributions share a namespace package."""
    top = prefixes[-1]
    files = [str(file) for file in importlib.metadata.files(owner) or ()]
    if len(prefixes) == 1 or not files:
        return True
    whole = any(file.startswith((f"{top}/__init__.", f"{top}.")) for file in files)
    below = prefixes[-2].replace(".", "/")
    return whole or any(file.startswith((f"{below}/", f"{below}.")) for file in files)
