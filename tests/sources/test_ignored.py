"""What a repository ignores, or takes from another one, as git says."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.ignored import is_made_elsewhere
from pytest_actor_envs.sources.tree import Tree

MODULES = '[submodule "one"]\n\tpath = third_party/one/\n\turl = elsewhere\n'


@pytest.mark.parametrize(
    ("files", "path", "expected"),
    [
        ({".gitmodules": MODULES}, "third_party/one/a.py", True),
        ({".gitmodules": MODULES}, "third_party/one", True),
        ({".gitmodules": MODULES}, "third_party/one/", True),
        ({".gitmodules": MODULES}, "third_party/one_more/a.py", False),
        ({".gitmodules": MODULES}, "third_party/", False),
        ({".gitmodules": MODULES, ".gitignore": "*.log\n"}, "a.log", True),
        ({".gitignore": "*.log\n/results\n"}, "a/b.log", True),
        ({".gitignore": "*.log\n/results\n"}, "results/a.txt", True),
        ({".gitignore": "*.log\n/results\n"}, "a/results/b.txt", False),
        ({".gitignore": "made/\n"}, "made", True),
        ({".gitignore": "made/\n"}, "made/", True),
        ({".gitignore": "/made/\n"}, "a/made", False),
        ({"a/.gitignore": "/made\n"}, "a/made/b", True),
        ({"a/.gitignore": "/made\n"}, "made/b", False),
        ({"a/b/.gitignore": "/made\n"}, "a/b/made", True),
        ({"a/b/.gitignore": "*\n"}, "a/b/", False),
        ({"a/.gitignore": "*\n!kept.py\n"}, "a/kept.py", False),
        ({".gitignore": "*\n!made\n"}, "made/", False),
        ({}, "made/a.py", False),
    ],
)
def test_a_path_that_is_made_elsewhere(files: dict[str, str], path: str, expected: bool) -> None:
    assert is_made_elsewhere(Tree(None, files), path) is expected
