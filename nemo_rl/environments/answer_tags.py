"""Read tagged parts of what a model wrote.

Responses may be a megabyte of anything, so everything here is linear in the length of the text.
"""

MAX_ANSWER_CHARACTERS = 100_000
"""A longer answer or code block counts as none: no answer to a question is that long."""


def last_tagged(text: str, tag: str) -> str | None:
    """The content of the last complete ``<tag>...</tag>``, stripped.

    Returns:
        ``None`` where there is no complete pair, or its content is longer than :data:`MAX_ANSWER_CHARACTERS`.
    """
    end = text.rfind(f"</{tag}>")
    if end < 0:
        return None
    opening = f"<{tag}>"
    start = text.rfind(opening, 0, end)
    if start < 0:
        return None
    content = text[start + len(opening) : end].strip()
    return content if len(content) <= MAX_ANSWER_CHARACTERS else None


def last_opened(text: str, tag: str) -> str | None:
    """The content of the last ``<tag>``, stripped: up to ``</tag>``, or to the end of the text without one.

    For tags at whose end generation was told to stop, which leaves the closing tag out.

    Returns:
        ``None`` where there is no opening tag, or the content is longer than :data:`MAX_ANSWER_CHARACTERS`.
    """
    opening = f"<{tag}>"
    start = text.rfind(opening)
    if start < 0:
        return None
    content = text[start + len(opening) :].partition(f"</{tag}>")[0].strip()
    return content if len(content) <= MAX_ANSWER_CHARACTERS else None


def last_code(text: str) -> str | None:
    """The last block of code: the last ``<code>...</code>``, else the last fenced Markdown block.

    Returns:
        The code without the fence and its language, or ``None``: no complete block, or one longer than
        :data:`MAX_ANSWER_CHARACTERS`.
    """
    tagged = last_tagged(text, "code")
    if tagged is not None:
        return tagged
    blocks: list[str] = []
    inside: list[str] | None = None
    for line in text.split("\n"):
        if not line.startswith("```"):
            if inside is not None:
                inside.append(line)
        elif inside is None:
            inside = []
        else:
            blocks.append("\n".join(inside))
            inside = None
    return blocks[-1] if blocks and len(blocks[-1]) <= MAX_ANSWER_CHARACTERS else None
