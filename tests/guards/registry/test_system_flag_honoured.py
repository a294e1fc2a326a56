from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from pytest_actor_envs.guards.registry import system_flag_honoured

Sample = Callable[..., Any]
GUARD = "system-flag-honoured"
REGISTRY, EXECUTABLES = "sample/ray_actor_environment_registry.py", "sample/py_executables.py"


def test_a_command_line_that_is_built_around_the_flag(sample: Sample) -> None:
    fresh = '"uv run --locked --extra alpha --directory /project"'
    broken = sample({REGISTRY: ("name: command(extras)", f'name: {fresh} if extras == ["alpha"] else command(extras)')})
    message = (
        "sample.workers.Second ignores NEMO_RL_PY_EXECUTABLES_SYSTEM=1: "
        "uv run --locked --extra alpha --directory /project"
    )
    fix = "build the command line in the one function that honours the flag"
    assert broken.reports(GUARD) == [(f"{REGISTRY}:16:1", message, (fix,))]
    assert set(broken.not_green()) == {GUARD}


def test_another_interpreter_than_the_drivers(sample: Sample) -> None:
    broken = sample(
        {EXECUTABLES: ('== "1":\n        return sys.executable', f'== "1":\n        return {sys.executable!r} + "x"')}
    )
    assert f"ignores NEMO_RL_PY_EXECUTABLES_SYSTEM=1: {sys.executable}x" in broken.messages(GUARD)[0]


def test_an_import_that_raises_with_the_flag_only(sample: Sample) -> None:
    asks = 'if os.environ.get("NEMO_RL_PY_EXECUTABLES_SYSTEM"):\n    raise RuntimeError("not supported")'
    code = f"import os\n\n{asks}\n\n\ndef command("
    broken = sample({EXECUTABLES: ("def command(", code)})
    assert set(broken.messages(GUARD)) == {
        f"{EXECUTABLES}:8:1: with NEMO_RL_PY_EXECUTABLES_SYSTEM=1, importing the registry raised "
        "RuntimeError: not supported"
    }
    assert set(broken.not_green()) == {GUARD}


def test_the_flag_of_the_surrounding_environment_does_not_count(sample: Sample, monkeypatch: Any) -> None:
    monkeypatch.setenv("NEMO_RL_PY_EXECUTABLES_SYSTEM", "1")
    assert sample().not_green() == {}


def test_another_flag_by_configuration(sample: Sample) -> None:
    edits = {
        EXECUTABLES: ("NEMO_RL_PY_EXECUTABLES_SYSTEM", "SAMPLE_SYSTEM"),
        "pyproject.toml": ("docs = []", 'docs = []\nsystem-flag = "SAMPLE_SYSTEM"'),
    }
    assert sample(edits).not_green() == {}


def test_an_actor_that_the_registry_lacks_is_another_guards(sample: Sample) -> None:
    broken = sample({REGISTRY: ("ENVIRONMENTS.items()}", 'ENVIRONMENTS.items() if not name.endswith("Second")}')})
    assert broken.reports(GUARD) == []


def test_its_mutants(sample: Sample) -> None:
    assert sample().proofs(GUARD) == [
        f"{actor}, {shape}: {actor} ignores NEMO_RL_PY_EXECUTABLES_SYSTEM=1: {command}"
        for actor in (f"sample.workers.{name}" for name in ("First", "Second", "Third", "Fourth"))
        for shape, command in (("built-around-the-flag", "uv run --locked python"), ("other-interpreter", "python3"))
    ]
    assert sample().changes(GUARD)[:6] == [
        "sample.workers.First, built-around-the-flag",
        f"{REGISTRY}:18: +ACTOR_ENVIRONMENT_REGISTRY['sample.workers.First'] = \"uv run --locked python\"",
        "sample.workers.First, other-interpreter",
        f"{REGISTRY}:18: +import os",
        f"{REGISTRY}:19: +if os.environ.get('NEMO_RL_PY_EXECUTABLES_SYSTEM') == \"1\":",
        f"{REGISTRY}:20: +    ACTOR_ENVIRONMENT_REGISTRY['sample.workers.First'] = \"python3\"",
    ]


def test_without_a_registry_there_is_nothing_to_break(sample: Sample) -> None:
    assert list(system_flag_honoured.mutants(sample({REGISTRY: None}).project)) == []


def test_a_process_that_ends_with_the_flag_only_is_reported_at_the_registry(sample: Sample) -> None:
    guarded = sample()
    error = {"type": "TimeoutExpired", "message": "slow", "path": None, "line": None}
    guarded.answer("registry", {"error": error}, {"NEMO_RL_PY_EXECUTABLES_SYSTEM": "1"})
    message = "with NEMO_RL_PY_EXECUTABLES_SYSTEM=1, importing the registry raised TimeoutExpired: slow"
    assert set(guarded.reports(GUARD)) == {(f"{REGISTRY}:1:1", message, ())}
