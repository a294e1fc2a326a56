"""What was found out, by question, until it is said that what came last is of no more use."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Answer = TypeVar("Answer")


class Memory(dict[Hashable, Any]):
    """Answers by question, in the order in which they were given."""

    def of(self, question: Hashable, make: Callable[[], Answer]) -> Answer:
        """The answer to `question`, made by `make` where it is not known yet. Raises what that raises."""
        try:
            known: Answer = self[question]
        except KeyError:
            known = self[question] = make()
        return known

    def forget_all_but(self, size: int) -> None:
        """Leaves the first `size` answers. What a file says that only one mutant has, no other mutant asks."""
        while len(self) > size:
            self.popitem()
