"""Conversations for the environments' tests."""

from collections.abc import Callable

import pytest

from nemo_rl.environments.interfaces import MessageLog


@pytest.fixture
def conversation() -> Callable[[str], MessageLog]:
    """A question and the given response."""
    return lambda response: [{"role": "user", "content": "?"}, {"role": "assistant", "content": response}]
