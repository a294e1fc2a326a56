"""What keeps a pyproject.toml from being read: no TOML, or a value of another type than its standard says.

Types are those of the packaging specifications `pyproject.toml` and dependency groups, and of uv's settings, as far as
guards read them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_actor_envs.model import ConfigurationError, Location
from pytest_actor_envs.sources.pyproject import PATH, Pyproject
from pytest_actor_envs.sources.toml_positions import Key

Wrong = Iterator[tuple[Key, str, Any]]
"""Keys whose values are of another type: the key, the type that it has to be of, the value."""
Shape = Callable[[Key, Any], Wrong]


def parsed(content: bytes) -> Pyproject:
    """The parsed file. Raises ConfigurationError with the place of what is no TOML."""
    try:
        return Pyproject(content)
    except UnicodeDecodeError as error:
        raise _not_utf8(content, error.start, error.reason) from None
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(content, str(error)) from None
    except RecursionError:
        raise _error(Location(PATH), "lists or tables are nested too deeply to be read", "nest them less") from None


def shape_problems(pyproject: Pyproject) -> list[str]:
    """What is wrong with the types of the values that guards read: each `path:line:column: configuration: what`."""
    return [
        f"{pyproject.at(*key)}: configuration: '{_written(key)}' has to be {wanted}, not {shown(value)}"
        for key, wanted, value in _SHAPE((), pyproject.data)
    ]


def shown(value: Any) -> str:
    """A value in a message."""
    return f"{value!r}" if not isinstance(value, Mapping) else "a table"


def _written(key: Key) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).removeprefix(".")


def _not_utf8(content: bytes, start: int, reason: str) -> ConfigurationError:
    before = content[:start].decode("utf-8")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return _error(Location(PATH, line, column), f"not UTF-8: {reason}", "save the file as UTF-8")


def _not_toml(content: bytes, message: str) -> ConfigurationError:
    if content.startswith(b"\xef\xbb\xbf"):
        return _error(Location(PATH), "a byte order mark, which TOML does not have", "save the file without it")
    what, _, where = message.rpartition(" (at ")
    found = re.fullmatch(r"line (\d+), column (\d+)\)", where)
    place = Location(PATH, int(found[1]), int(found[2])) if found else Location(PATH, len(content.splitlines()) or 1)
    return _error(place, f"not valid TOML: {what}", "mend this line, or what is left open above it")


def _error(place: Location, what: str, mend: str) -> ConfigurationError:
    return ConfigurationError(f"{place}: configuration: {what}\n    {mend}")


def _is(kind: type | tuple[type, ...], wanted: str) -> Shape:
    def shape(key: Key, value: Any) -> Wrong:
        if not isinstance(value, kind):
            yield key, wanted, value

    return shape


def _list_of(element: Shape, wanted: str) -> Shape:
    def shape(key: Key, value: Any) -> Wrong:
        if not isinstance(value, list):
            yield key, wanted, value
            return
        for index, item in enumerate(value):
            yield from element((*key, index), item)

    return shape


def _table_of(element: Shape, wanted: str) -> Shape:
    def shape(key: Key, value: Any) -> Wrong:
        if not isinstance(value, Mapping):
            yield key, wanted, value
            return
        for name, item in value.items():
            yield from element((*key, name), item)

    return shape


def _with(**keys: Shape) -> Shape:
    """A table that may have these keys (`_` for `-`), and others that nobody looks at."""

    def shape(key: Key, value: Any) -> Wrong:
        if not isinstance(value, Mapping):
            yield key, "a table", value
            return
        for name, element in keys.items():
            written = name.replace("_", "-")
            if written in value:
                yield from element((*key, written), value[written])

    return shape


def _groups(key: Key, value: Any) -> Wrong:
    if value != "all":
        yield from _list_of(_STRING, 'a list of strings, or "all"')(key, value)


_STRING = _is(str, "a string")
_STRINGS = _list_of(_STRING, "a list of strings")
_SHAPE = _with(
    project=_with(
        name=_STRING,
        dependencies=_STRINGS,
        optional_dependencies=_table_of(_STRINGS, "a table of lists of strings"),
        dynamic=_STRINGS,
    ),
    dependency_groups=_table_of(
        _list_of(_is((str, Mapping), "a string or a table"), "a list"), "a table of lists of requirements"
    ),
    tool=_with(
        uv=_with(
            conflicts=_list_of(_list_of(_with(extra=_STRING), "a list of tables"), "a list of lists of tables"),
            environments=_STRINGS,
            default_groups=_groups,
            link_mode=_STRING,
        )
    ),
)
