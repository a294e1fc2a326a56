"""An environment that compares code with a reference by the sets of their tokens."""

import re
from typing import TypedDict

import ray

from nemo_rl.environments.answer_tags import last_code
from nemo_rl.environments.interfaces import (
    EnvironmentInterface,
    EnvironmentReturn,
    MessageLog,
    check_batch,
    ended_episodes,
    last_response,
)


class CodeJaccardConfig(TypedDict, total=False):
    """``ignore_comments``: leave comments (from ``#`` to the end of the line) out; true if not given."""

    ignore_comments: bool


class CodeJaccardMetadata(TypedDict):
    """``ground_truth``: the reference code."""

    ground_truth: str


# Words, numbers, else each character on its own: independent of the programming language, and linear in time.
_TOKEN = re.compile(r"[^\W\d]\w*|\d+(?:\.\d+)?|[^\w\s]")
_COMMENT = re.compile(r"#[^\n]*")


def code_tokens(code: str, *, ignore_comments: bool = True) -> frozenset[str]:
    """The set of tokens of source code: words, numbers and single punctuation characters."""
    return frozenset(_TOKEN.findall(_COMMENT.sub("", code) if ignore_comments else code))


def jaccard_similarity(left: frozenset[str], right: frozenset[str]) -> float:
    """Size of the intersection divided by the size of the union, in [0, 1]; two empty sets are not similar, 0.

    Source: P. Jaccard, Bulletin de la Societe Vaudoise des Sciences Naturelles 37 (1901).
    """
    union = left | right
    return len(left & right) / len(union) if union else 0.0


class CodeJaccardEnvironmentImpl(EnvironmentInterface[CodeJaccardMetadata]):
    """Rewards code with the similarity of its token set to the reference's, in [0, 1]; nothing is executed.

    The code is the last ``<code>`` tag, else the last fenced block. A response without one, or with one of more than
    100,000 characters, has reward 0. An episode is one response.
    """

    def __init__(self, cfg: CodeJaccardConfig | None = None) -> None:
        self._ignore_comments = (cfg or {}).get("ignore_comments", True)

    def step(
        self, message_log_batch: list[MessageLog], metadata: list[CodeJaccardMetadata]
    ) -> EnvironmentReturn[CodeJaccardMetadata]:
        """See :meth:`EnvironmentInterface.step`; every episode ends.

        Raises:
            ValueError: as there, or a reference has no token.
        """
        check_batch(message_log_batch, metadata)
        references = [self._tokens(item["ground_truth"]) for item in metadata]
        for index, reference in enumerate(references):
            if not reference:
                raise ValueError(f"the reference code of conversation {index} has no token")
        blocks = [last_code(last_response(log)) for log in message_log_batch]
        rewards = [
            0.0 if block is None else jaccard_similarity(self._tokens(block), reference)
            for block, reference in zip(blocks, references, strict=True)
        ]
        contents = [
            "Environment: no code found" if block is None else f"Environment: similarity {reward:.3f}"
            for block, reward in zip(blocks, rewards, strict=True)
        ]
        return ended_episodes(contents, rewards, blocks)

    def _tokens(self, code: str) -> frozenset[str]:
        return code_tokens(code, ignore_comments=self._ignore_comments)


@ray.remote
class CodeJaccardEnvironment(CodeJaccardEnvironmentImpl):
    """:class:`CodeJaccardEnvironmentImpl` as a Ray actor."""
