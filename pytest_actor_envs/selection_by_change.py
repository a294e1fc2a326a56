"""Keeps guards in a run that pytest-testmon narrows to what changed.

testmon knows the Python files that a test executed. A guard reads its files as text, so testmon takes it for unchanged
for ever, and drops it without telling `pytest_deselected` which one it was. Whatever else takes a guard out (`-k`, `--lf`,
`--deselect`, `--ignore`) does tell, or is asked again, and is obeyed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

SELECTOR = "TestmonSelect"


class KeptGuards:
    """A plugin for one run; `guarded` is the path of the pyproject.toml whose items are guards."""

    def __init__(self, guarded: Path) -> None:
        self._guarded = guarded
        self._deselected: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> Iterator[None]:
        ignored = yield
        selector = config.pluginmanager.get_plugin(SELECTOR)
        if not ignored or selector is None or collection_path != self._guarded:
            return ignored
        asked = config.pluginmanager.subset_hook_caller("pytest_ignore_collect", remove_plugins=[selector, self])
        return asked(collection_path=collection_path, config=config)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        # testmon tells of stand-ins that are no items.
        self._deselected.update(item.nodeid for item in items if isinstance(item, pytest.Item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
        guards = [item for item in items if item.path == self._guarded]
        result = yield
        if config.pluginmanager.get_plugin(SELECTOR) is not None:
            kept = {item.nodeid for item in items} | self._deselected
            items.extend(guard for guard in guards if guard.nodeid not in kept)
        return result
