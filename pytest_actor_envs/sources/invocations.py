"""What a command of a shell program executes: a shell program, a script, a module."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_actor_envs.model import Location
from pytest_actor_envs.sources.shell import Command, Word

SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})
SHELL_NAMES_WITH_PIPEFAIL = frozenset({"bash", "ksh", "zsh", "ash"})
PREFIXES = {"env": 0, "time": 0, "exec": 0, "command": 0, "sudo": 0, "nice": 0, "nohup": 0, "timeout": 1, "xvfb-run": 0}
"""Commands that run the rest of their words, with how many words of their own stand before it."""

UV_FLAGS_WITH_VALUE = frozenset(
    [
        "--extra",
        "--no-extra",
        "--group",
        "--no-group",
        "--only-group",
        "--directory",
        "--project",
        "--python",
        "-p",
        "--package",
        "--with",
        "--env-file",
        "--with-editable",
        "--with-requirements",
        "--link-mode",
        "--cache-dir",
        "--index",
        "--default-index",
        "--no-install-package",
        "--config-file",
        "--color",
        "--index-url",
        "--extra-index-url",
        "-f",
        "--find-links",
        "--refresh-package",
        "--exclude-newer",
    ]
)
PYTHON_FLAGS_WITH_VALUE = frozenset({"-W", "-X", "--check-hash-based-pycs"})


@dataclass(frozen=True, slots=True)
class Options:
    """What a shell does about failures."""

    errexit: bool = False
    pipefail: bool = False

    def changed(self, words: Sequence[str | None]) -> Options:
        """After `set` with these words, or as an interpreter started with these flags."""
        errexit, pipefail = self.errexit, self.pipefail
        for index, word in enumerate(words):
            if word is None or not re.match(r"[-+][a-zA-Z]", word):
                continue
            turns_on = word[0] == "-"
            if "e" in word[1:]:
                errexit = turns_on
            if "o" in word[1:] and index + 1 < len(words):
                if words[index + 1] == "pipefail":
                    pipefail = turns_on
                elif words[index + 1] == "errexit":
                    errexit = turns_on
        return Options(errexit, pipefail)


@dataclass(frozen=True, slots=True)
class ShellText:
    """A shell program given as text: by `-c` or by a here-document."""

    text: str
    location: Location
    options: Options
    can_pipefail: bool


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """A file that is executed. `is_sourced` says that it runs in the very shell; `arguments` are the words behind it."""

    word: Word
    arguments: tuple[Word, ...]
    options: Options
    is_sourced: bool = False


@dataclass(frozen=True, slots=True)
class Module:
    """`python -m name`."""

    word: Word
    name: str


Executed = ShellText | ScriptFile | Module


def invoked(command: Command) -> tuple[Word, ...]:
    """The command's words without `env X=1`, `time`, `exec`, `sudo`, `timeout 5` and their kin before it."""
    words = command.words
    while words and words[0].value in PREFIXES:
        own = PREFIXES[words[0].value or ""]
        words = words[1:]
        while words and (re.match(r"-|\w+=", words[0].text) or own):
            own -= 0 if re.match(r"-|\w+=", words[0].text) else 1
            words = words[1:]
    return words


def program_name(word: Word) -> str:
    """The file name of a command, empty where it is not literal."""
    return (word.value or "").rpartition("/")[2]


def is_python(word: Word) -> bool:
    """Whether a command starts a Python interpreter, also one whose path is in a variable named so."""
    name = program_name(word) if word.value is not None else word.text
    return (
        re.fullmatch(r"python[\d.]*|.*\$\{?\w*python\w*\}?\"?|.*/bin/python[\d.]*\"?", name, re.IGNORECASE) is not None
    )


def executed(command: Command) -> Executed | None:
    """What a command executes, `None` for a program that is no script."""
    words = invoked(command)
    if not words:
        return None
    name = program_name(words[0])
    if name in SHELLS:
        return _by_shell(command, words)
    if name in {"source", "."} and len(words) > 1:
        return ScriptFile(words[1], words[2:], Options(), True)
    if name == "uv" and "run" in [word.value for word in words]:
        return _by_uv(words)
    if is_python(words[0]):
        return _by_python(words)
    if words[0].value is not None and "/" in words[0].value:
        return ScriptFile(words[0], words[1:], Options())
    if words[0].value is None and (words[0].text.endswith((".sh", '.sh"', ".py", '.py"'))):
        return ScriptFile(words[0], words[1:], Options())
    return None


def _by_shell(command: Command, words: tuple[Word, ...]) -> Executed | None:
    values = [word.value for word in words]
    can_pipefail = program_name(words[0]) in SHELL_NAMES_WITH_PIPEFAIL
    index = 1
    while index < len(words) and re.match(r"[-+]", words[index].text):
        flag = values[index] or ""
        if not flag.startswith("--") and "c" in flag:
            index += 2 if "o" in flag else 1
            text = values[index] if index < len(words) else None
            if text is None:
                return None
            place = words[index].location
            inside = Location(place.path, place.line, place.column + words[index].text.startswith(("'", '"')))
            return ShellText(text, inside, Options().changed(values[1:index]), can_pipefail)
        index += 2 if "o" in flag and not flag.startswith("--") else 1
    options = Options().changed(values[1:index])
    if index < len(words):
        return ScriptFile(words[index], words[index + 1 :], options)
    for redirect in command.redirects:
        if redirect.body is not None and redirect.body_location is not None:
            return ShellText(redirect.body, redirect.body_location, options, can_pipefail)
    return None


def _by_python(words: tuple[Word, ...]) -> Executed | None:
    index = 1
    while index < len(words):
        value = words[index].value
        if value == "-m" and index + 1 < len(words):
            return Module(words[index + 1], words[index + 1].value or "")
        if value in {"-c", "-"}:
            return None
        if value is None or not value.startswith("-"):
            return ScriptFile(words[index], words[index + 1 :], Options())
        index += 2 if value in PYTHON_FLAGS_WITH_VALUE else 1
    return None


def _by_uv(words: tuple[Word, ...]) -> Executed | None:
    index = [word.value for word in words].index("run") + 1
    while index < len(words):
        value = words[index].value
        if value in {"-m", "--module"} and index + 1 < len(words):
            return Module(words[index + 1], words[index + 1].value or "")
        if value is None or not value.startswith("-"):
            break
        index += 2 if value in UV_FLAGS_WITH_VALUE else 1
    rest = words[index:]
    if not rest:
        return None
    if is_python(rest[0]):
        return _by_python(rest)
    value = rest[0].value or ""
    return ScriptFile(rest[0], rest[1:], Options()) if value.endswith((".py", ".sh")) or "/" in value else None


def shell_of_shebang(text: str) -> Options | None:
    """The options of a script's own shell, `None` where its first line names another interpreter."""
    first = text.partition("\n")[0]
    if not first.startswith("#!"):
        return Options()
    words = first[2:].split()
    if words and words[0].rpartition("/")[2] == "env":
        words = [word for word in words[1:] if not word.startswith("-S")]
    if not words or words[0].rpartition("/")[2] not in SHELLS:
        return None
    return Options().changed(list(words[1:]))
