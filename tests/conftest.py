import pytest

pytest_plugins = ["pytester"]

SLOW_FOLDERS = frozenset({"venvs", "actors", "gate"})
"""They have files that take most of a minute: begun first, none of them is left to one worker at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: SLOW_FOLDERS.isdisjoint(item.path.parts))
