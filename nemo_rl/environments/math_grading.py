"""Decide whether a response gives the same mathematical answer as a reference, with math-verify.

Runs in the processes of a :class:`~nemo_rl.environments.time_limited_pool.TimeLimitedPool`: parsing and comparing are
sympy, which may take for ever on an expression of a dozen characters. math-verify's own time limits are off, since they
are signals, which need the main thread and do not interrupt C code.
"""

import dataclasses
import logging
import re

from math_verify import (  # type: ignore[import-untyped]
    ExprExtractionConfig,
    LatexExtractionConfig,
    parse,
    verify,
)

from nemo_rl.environments.answer_tags import last_tagged

MAX_RESPONSE_CHARACTERS = 20_000
"""Of a longer response only the end is read, where the answer stands."""

# They say, for each process, that the time limits are off, and repeat every expression that cannot be parsed.
logging.getLogger("math_verify").setLevel(logging.CRITICAL)


@dataclasses.dataclass(frozen=True)
class Grade:
    """``answer`` as it was read from the response, ``None`` where none was found, and whether it is the reference's."""

    correct: bool
    answer: str | None


def grade_response(response_and_reference: tuple[str, str]) -> Grade:
    """Compare the answer in a response with the reference.

    The answer is what stands in the last ``<answer>`` tag, else the last ``\\boxed{}``, else the last expression.

    Args:
        response_and_reference: what the model wrote; LaTeX or a plain expression, with or without ``\\boxed{}``.

    Raises:
        ValueError: the reference is no mathematical expression.
    """
    response, reference = response_and_reference
    expected = _parse_expression(reference)
    if not expected:
        raise ValueError(f"the reference answer {reference!r} is no mathematical expression")
    tagged = last_tagged(response, "answer")
    # What stands in a tag is an expression as a whole; prose around it has to be searched for one.
    found = _parse_prose(response) if tagged is None else _parse_expression(tagged) or _parse_prose(tagged)
    if not found:
        return Grade(False, None)
    return Grade(bool(verify(expected, found, timeout_seconds=None)), str(found[-1]))


def _parse_expression(text: str) -> list[object]:
    boxed = text if "\\boxed" in text or "$" in text else f"\\boxed{{{text}}}"
    return _parse(boxed, LatexExtractionConfig()) or _parse(text, ExprExtractionConfig())


def _parse_prose(text: str) -> list[object]:
    # math-verify reads several boxes as one set; here a later one corrects those before.
    text = text[max(0, text.rfind("\\boxed")) :]
    return _parse(text, LatexExtractionConfig(boxed_match_priority=0), ExprExtractionConfig())


def _parse(text: str, *extraction: LatexExtractionConfig | ExprExtractionConfig) -> list[object]:
    # The parsed expression, if any, then the text that it was read from.
    return list(parse(text[-MAX_RESPONSE_CHARACTERS:], extraction_config=extraction, parsing_timeout=None))


_FORMAT = re.compile(r"\s*<think>(?P<thoughts>.*?)</think>\s*<answer>(?P<answer>.*?)</answer>\s*", re.DOTALL)
_INTEGER = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)(\.0*)?")


def has_answer_format(response: str) -> bool:
    """Whether the response is ``<think>...</think><answer>...</answer>``, each tag once, and nothing else."""
    tags = ("<think>", "</think>", "<answer>", "</answer>")
    return all(response.count(tag) == 1 for tag in tags) and _FORMAT.fullmatch(response) is not None


def is_integer(answer: str | None) -> bool:
    """Whether an answer is an integer in digits, with or without sign, thousands separators, and ``.0``."""
    return answer is not None and _INTEGER.fullmatch(answer.strip().strip("$").strip()) is not None
