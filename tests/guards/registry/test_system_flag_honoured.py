from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

Sample = Callable[..., Any]
GUARD = "system-flag-honoured"
REGISTRY, EXECUTABLES = "sample/ray_actor_environment_registry.py", "sample/py_executables.py"


def test_a_command_line_that_is_built_around_the_flag(sample: Sample) -> None:
    fresh = '"uv run --locked --extra alpha --directory /project"'
    broken = sample({REGISTRY: ("name: command(extras)", f'name: {fresh} if extras == ["alpha"] else command(extras)')})
    assert broken.messages(GUARD) == [
        f"{REGISTRY}:16:1: sample.workers.Second ignores NEMO_RL_PY_EXECUTABLES_SYSTEM=1: "
        "uv run --locked --extra alpha --directory /project"
    ]
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
