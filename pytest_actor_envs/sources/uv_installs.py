"""The commands of an image build by which uv installs packages: how they link, from which cache, and what removes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.image import CarriedOut
from pytest_actor_envs.sources.image_files import absolute
from pytest_actor_envs.sources.invocations import UV_FLAGS_WITH_VALUE, invoked, program_name
from pytest_actor_envs.sources.shell import If, Word, all_nodes, words_of
from pytest_actor_envs.sources.shell_steps import Step

INSTALLING = frozenset({("sync",), ("run",), ("pip", "install"), ("pip", "sync")})
WITHOUT_SYNC = frozenset({"--no-sync", "--no-project", "--frozen-script"})


@dataclass(frozen=True, slots=True)
class Install:
    """One such command. `says_mode` is false where nothing says how it links.

    `mode` and `cache` (absolute) are `None` where their values are not known. `keeps_cache` is false under --no-cache.
    """

    location: Location
    says_mode: bool
    mode: str | None
    cache: str | None
    keeps_cache: bool


@dataclass(frozen=True, slots=True)
class Removal:
    """A command that removes a folder, `None` for all of uv's cache; `asks_for_symlinks` is one that an `if` about symlinks guards."""

    location: Location
    folder: str | None
    asks_for_symlinks: bool

    def removes(self, cache: str | None) -> bool:
        """Whether a cache is gone behind it."""
        if self.folder is None:
            return True
        return cache is not None and f"{cache}/".startswith(f"{self.folder.rstrip('/')}/")


def events(run: CarriedOut) -> Iterator[Install | Removal]:
    """The installs and removals of one RUN, in the order in which they run."""
    for step in run.steps:
        words = invoked(step.command)
        if not words:
            continue
        name = program_name(words[0])
        if name == "uv":
            yield from _of_uv(step, words)
        elif name == "rm" and any(word.text.startswith("-") and "r" in word.text.lower() for word in words[1:]):
            for word in words[1:]:
                folder = step.path(word)
                if folder is not None and not word.text.startswith("-"):
                    yield Removal(step.command.location, folder, _is_about_symlinks(step))


def _of_uv(step: Step, words: tuple[Word, ...]) -> Iterator[Install | Removal]:
    plain = _without_flags(words[1:])
    if plain == ("cache", "clean"):
        yield Removal(step.command.location, None, _is_about_symlinks(step))
    if plain[:1] not in INSTALLING and plain[:2] not in INSTALLING:
        return
    values = [word.value for word in words]
    if plain[:1] == ("run",) and WITHOUT_SYNC & set(values):
        return
    given = _flag(words, "--link-mode")
    mode = step.values.get("UV_LINK_MODE") if given is None else _value(step, given, "--link-mode")
    cache = _flag(words, "--cache-dir")
    no_cache = bool({"--no-cache", "-n", "--no-cache-dir"} & set(values)) or "UV_NO_CACHE" in step.values
    yield Install(
        step.command.location,
        given is not None or "UV_LINK_MODE" in step.values,
        mode,
        _cache(step) if cache is None else _absolute(step, _value(step, cache, "--cache-dir")),
        not no_cache,
    )


def _without_flags(words: tuple[Word, ...]) -> tuple[str, ...]:
    """The words of uv's command line that are neither flags nor their values, up to the first that is not literal."""
    found: list[str] = []
    rest = iter(words)
    for word in rest:
        if word.value is None:
            break
        if not word.value.startswith("-"):
            found.append(word.value)
        elif word.value in UV_FLAGS_WITH_VALUE:
            next(rest, None)
    return tuple(found)


def _flag(words: tuple[Word, ...], name: str) -> Word | None:
    """The word that holds a flag's value: the one behind it, or `name=value` itself."""
    for index, word in enumerate(words):
        if word.text == name and index + 1 < len(words):
            return words[index + 1]
        if word.text.startswith(f"{name}="):
            return word
    return None


def _value(step: Step, word: Word, name: str) -> str | None:
    """The value of a flag that `_flag` found in a word."""
    value = step.value(word)
    return None if value is None else value.removeprefix(f"{name}=")


def _cache(step: Step) -> str | None:
    if "UV_CACHE_DIR" in step.values:
        return _absolute(step, step.values["UV_CACHE_DIR"])
    home = step.values.get("XDG_CACHE_HOME", "/root/.cache")
    return None if home is None else f"{home}/uv"


def _absolute(step: Step, path: str | None) -> str | None:
    if path is None or (step.directory is None and not path.startswith("/")):
        return None
    return absolute(path, step.directory or "/")


def _is_about_symlinks(step: Step) -> bool:
    """Whether an `if` around the command has the word symlink in its condition."""
    for context in step.contexts:
        if context.kind == "branch" and isinstance(context.node, If):
            for condition, _ in context.node.branches:
                if any("symlink" in word.text for node in all_nodes(condition) for word in words_of(node)):
                    return True
    return False
