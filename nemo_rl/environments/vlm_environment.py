"""An environment that judges tagged answers about pictures: texts, numbers and boxes."""

import json
import math
from typing import Literal, NotRequired, TypedDict

import ray

from nemo_rl.environments.answer_tags import last_tagged
from nemo_rl.environments.interfaces import (
    EnvironmentInterface,
    EnvironmentReturn,
    MessageLog,
    check_batch,
    ended_episodes,
    last_response,
)

Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in whatever unit the reference has."""


class VLMEnvironmentConfig(TypedDict, total=False):
    """``relative_tolerance`` of numbers where the metadata give none; 0.01 if not given."""

    relative_tolerance: float


class VLMMetadata(TypedDict):
    """What is asked for.

    ``kind`` is how to compare. ``ground_truth`` is a text; a number for ``number``; a JSON list of boxes
    ``[left, top, right, bottom]``, or a single box, for ``boxes``.
    """

    kind: Literal["exact", "number", "boxes"]
    ground_truth: str
    relative_tolerance: NotRequired[float]


def read_number(text: str) -> float | None:
    """A finite number: digits with thousands separators, sign, exponent, and a per cent sign (``5%`` is 0.05)."""
    plain = text.strip().replace(",", "")
    percent = plain.endswith("%")
    try:
        value = float(plain.removesuffix("%"))
    except ValueError:
        return None
    return (value / 100 if percent else value) if math.isfinite(value) else None


def read_boxes(text: str) -> list[Box] | None:
    """A JSON list of boxes, or one box; ``None`` where it is something else, or a box has no area."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, list) or not value:
        return None
    boxes = [_box(item) for item in (value if isinstance(value[0], list) else [value])]
    found = [box for box in boxes if box is not None]
    return found if len(found) == len(boxes) else None


def _box(value: object) -> Box | None:
    if not isinstance(value, list) or len(value) != 4:
        return None
    if not all(isinstance(item, int | float) and math.isfinite(item) for item in value):
        return None
    left, top, right, bottom = map(float, value)
    return (left, top, right, bottom) if left < right and top < bottom else None


def intersection_over_union(one: Box, other: Box) -> float:
    """Area that both cover divided by the area that one of them covers, in [0, 1]."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / (_area(one) + _area(other) - shared)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def boxes_overlap(found: list[Box], expected: list[Box]) -> float:
    """How well two sets of boxes agree, in [0, 1]: overlaps of pairs, best first, over the size of the larger set.

    Each box is in at most one pair, so missing and superfluous boxes lower the result. At most the first 100 found
    boxes more than expected are looked at: no answer becomes better by more.
    """
    candidates = found[: len(expected) + 100]
    overlaps = sorted(
        (
            (intersection_over_union(one, other), row, column)
            for row, one in enumerate(candidates)
            for column, other in enumerate(expected)
        ),
        reverse=True,
    )
    rows: set[int] = set()
    columns: set[int] = set()
    total = 0.0
    for overlap, row, column in overlaps:
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            total += overlap
    return total / max(len(found), len(expected))


class VLMEnvironmentImpl(EnvironmentInterface[VLMMetadata]):
    """Judges the last ``<answer>`` of a response; an episode is one response.

    ``exact``: 1 when the texts are equal, case and runs of blanks aside. ``number``: 1 within the relative tolerance.
    ``boxes``: :func:`boxes_overlap`. No answer, one of more than 100,000 characters, and one that is no number or no
    list of boxes, however deeply nested, have reward 0. Pictures are not needed: only texts are compared.
    """

    def __init__(self, cfg: VLMEnvironmentConfig | None = None) -> None:
        self._relative_tolerance = (cfg or {}).get("relative_tolerance", 0.01)

    def step(self, message_log_batch: list[MessageLog], metadata: list[VLMMetadata]) -> EnvironmentReturn[VLMMetadata]:
        """See :meth:`EnvironmentInterface.step`; every episode ends.

        Raises:
            ValueError: as there, or a ground truth is not what its kind asks for, or the kind is unknown.
        """
        check_batch(message_log_batch, metadata)
        answers = [last_tagged(last_response(log), "answer") for log in message_log_batch]
        rewards = [self._reward(answer, item) for answer, item in zip(answers, metadata, strict=True)]
        contents = [
            "Environment: no answer found; write it between <answer> and </answer>"
            if answer is None
            else f"Environment: reward {reward:.3f}"
            for answer, reward in zip(answers, rewards, strict=True)
        ]
        return ended_episodes(contents, rewards, answers)

    def _reward(self, answer: str | None, item: VLMMetadata) -> float:
        truth, kind = item["ground_truth"], item["kind"]
        if kind == "exact":
            return float(answer is not None and _folded(answer) == _folded(truth))
        if kind == "number":
            number = read_number(truth)
            if number is None:
                raise ValueError(f"the ground truth {truth!r} is no number")
            found = None if answer is None else read_number(answer)
            tolerance = item.get("relative_tolerance", self._relative_tolerance)
            return float(found is not None and math.isclose(found, number, rel_tol=tolerance, abs_tol=1e-12))
        if kind == "boxes":
            boxes = read_boxes(truth)
            if boxes is None:
                raise ValueError(f"the ground truth {truth!r} is no JSON list of boxes [left, top, right, bottom]")
            found_boxes = None if answer is None else read_boxes(answer)
            return 0.0 if found_boxes is None else boxes_overlap(found_boxes, boxes)
        raise ValueError(f"unknown kind of answer {kind!r}; there are 'exact', 'number' and 'boxes'")


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


@ray.remote
class VLMEnvironment(VLMEnvironmentImpl):
    """:class:`VLMEnvironmentImpl` as a Ray actor."""
