"""An environment that answers searches with passages, ranked by BM25."""

import dataclasses
import math
from typing import NotRequired, TypedDict

import bm25s  # type: ignore[import-untyped]
import ray

from nemo_rl.environments.answer_tags import last_opened, last_tagged
from nemo_rl.environments.interfaces import (
    EnvironmentInterface,
    EnvironmentReturn,
    MessageLog,
    check_batch,
    last_response,
)


@dataclasses.dataclass(frozen=True)
class RAGConfig:
    """Configuration of :class:`RAGEnvironmentImpl`.

    Attributes:
        documents: the passages to search, at least one with a word.
        passages: at most that many for each search.
        max_searches: of an episode.
    """

    documents: tuple[str, ...]
    passages: int = 3
    max_searches: int = 5

    def __post_init__(self) -> None:
        if self.passages < 1 or self.max_searches < 1:
            raise ValueError(
                f"passages and max_searches have to be positive, got {self.passages} and {self.max_searches}"
            )


class RAGMetadata(TypedDict):
    """``ground_truth``: the expected answer, where the environment is to judge; ``searches``: number made so far."""

    ground_truth: NotRequired[str]
    searches: NotRequired[int]


@dataclasses.dataclass(frozen=True)
class Passage:
    """``text`` of document number ``document`` and how well it fits, more is better."""

    document: int
    text: str
    score: float


class PassageIndex:
    """Documents that can be searched. English stop words are left out; words are compared in lower case."""

    def __init__(self, documents: tuple[str, ...]) -> None:
        """Raises ``ValueError`` where no document has a word to search for."""
        self.documents = documents
        tokens = bm25s.tokenize(list(documents), stopwords="en", return_ids=False, show_progress=False)
        if not any(tokens):
            raise ValueError(f"none of the {len(documents)} documents has a word to search for")
        self._bm25 = bm25s.BM25()
        self._bm25.index(tokens, show_progress=False)

    def search(self, query: str, count: int) -> list[Passage]:
        """The best passages, best first, equal ones in the order of the documents.

        Returns:
            At most ``count``; only passages that share a word with the query.
        """
        tokens: list[str] = bm25s.tokenize(query, stopwords="en", return_ids=False, show_progress=False)[0]
        known = [token for token in tokens if token in self._bm25.vocab_dict]
        if not known:
            return []
        scores: list[float] = self._bm25.get_scores(known).tolist()
        ranked = sorted((-score, number) for number, score in enumerate(scores) if score > 0 and math.isfinite(score))
        return [Passage(number, self.documents[number], -score) for score, number in ranked[:count]]


class RAGEnvironmentImpl(EnvironmentInterface[RAGMetadata]):
    """Answers ``<search>query</search>`` with ranked passages, until the response has no search.

    The last search of a response counts. The episode ends with a response that has none, or an ``<answer>`` after it,
    or is the one after the last allowed search; where there is a ground truth, its ``<answer>`` is rewarded with 1 when
    the texts are equal, case, punctuation at the ends and runs of blanks aside, else, as without an answer, with 0. An
    empty search, one that finds nothing and one of more than 100,000 characters are answered by saying so.
    """

    def __init__(self, cfg: RAGConfig) -> None:
        self.cfg = cfg
        self._index = PassageIndex(cfg.documents)

    def step(self, message_log_batch: list[MessageLog], metadata: list[RAGMetadata]) -> EnvironmentReturn[RAGMetadata]:
        """See :meth:`EnvironmentInterface.step`."""
        check_batch(message_log_batch, metadata)
        responses = [last_response(log) for log in message_log_batch]
        turns = [self._turn(response, item) for response, item in zip(responses, metadata, strict=True)]
        return EnvironmentReturn(
            observations=[{"role": "environment", "content": turn.observation} for turn in turns],
            metadata=[turn.metadata for turn in turns],
            rewards=[turn.reward for turn in turns],
            terminateds=[turn.metadata is None for turn in turns],
            next_stop_strings=[None if turn.metadata is None else ["</search>"] for turn in turns],
            answers=[turn.answer for turn in turns],
        )

    def _turn(self, response: str, item: RAGMetadata) -> "_Turn":
        searches = item.get("searches", 0)
        if response.rfind("<answer>") >= response.rfind("<search>"):
            answer = last_tagged(response, "answer")
            truth = item.get("ground_truth")
            correct = answer is not None and truth is not None and _folded(answer) == _folded(truth)
            return _Turn("Environment: the episode ended", None, float(correct), answer)
        if searches >= self.cfg.max_searches:
            return _Turn(f"Environment: no more than {self.cfg.max_searches} searches", None, 0.0, None)
        following: RAGMetadata = {**item, "searches": searches + 1}
        return _Turn(self._result(last_opened(response, "search")), following, 0.0, None)

    def _result(self, query: str | None) -> str:
        passages = self._index.search(query, self.cfg.passages) if query else []
        if not passages:
            return "<result>\nno passage found\n</result>"
        lines = [f"[{rank}] {passage.text}" for rank, passage in enumerate(passages, 1)]
        return "\n".join(["<result>", *lines, "</result>"])


@dataclasses.dataclass(frozen=True)
class _Turn:
    observation: str
    metadata: RAGMetadata | None
    reward: float
    answer: str | None


def _folded(text: str) -> str:
    return " ".join(text.split()).strip(" .,;:!?\"'").casefold()


@ray.remote
class RAGEnvironment(RAGEnvironmentImpl):
    """:class:`RAGEnvironmentImpl` as a Ray actor."""
