"""Which files a tree has, and what it says of those that it cannot give."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_actor_envs.model import ConfigurationError
from pytest_actor_envs.sources.tree import Tree, original_root

NOBODY = 65534


def test_a_file_that_may_not_be_read_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "closed.py").write_text("")
    (tmp_path / "closed.py").chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)  # whom permissions hold for
    try:
        with pytest.raises(ConfigurationError, match=r"^closed\.py:1:1: configuration: this file may not be read$"):
            Tree(tmp_path).read_bytes("closed.py")
    finally:
        os.seteuid(user)


def test_links_are_followed_within_the_project_and_never_back(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "package/one", root / "package/two", root / "elsewhere", outside):
        folder.mkdir(parents=True)
        (folder / "file.py").write_text("")
    links = {
        "package/linked": root / "elsewhere",
        "package/itself": root / "package",
        "package/above": root,
        "package/one/other": root / "package/two",
        "package/two/other": root / "package/one",
        "package/outside": outside,
        "package/linked.py": root / "elsewhere/file.py",
        "package/.#file.py": root / "somebody@host.4711",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "package/pipe.py")
    assert list(Tree(root).files("package")) == [
        "package/linked.py",
        "package/linked/file.py",
        "package/one/file.py",
        "package/one/other/file.py",
        "package/two/file.py",
        "package/two/other/file.py",
    ]


def test_under_mutmut_the_originals_are_judged_and_nowhere_else() -> None:
    copy, root = Path("/project/mutants"), Path("/project")
    assert original_root(copy, {"MUTANT_UNDER_TEST": ""}) == root
    assert original_root(copy, {}) == copy
    assert original_root(root, {"MUTANT_UNDER_TEST": "x"}) == root
