"""What a tree says of files that it cannot give."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_actor_envs.model import ConfigurationError
from pytest_actor_envs.sources.tree import Tree

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
