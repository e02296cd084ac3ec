"""Splits cited units into sentences: joins wrapped lines, strips comment signs, and groups lines of code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from openbook.text import LONG_LINE_CHARS, lines, sentences, trim

# A shorter line was not wrapped, so it ends a sentence.
_WRAPPED_CHARS = 45

# Single lines of code say little, so group them up to the length of about two lines of prose.
_GROUP_CHARS = 160

_COMMENT = re.compile(
    r"^\s*(?:#(?![!\w]):?\s?|//+!?\s?|/\*+\s?|\*+(?=\s)\s?|--(?=\s)|;+\s|>\s?|[rbu]?\"\"\"|''')|(?:\*/|\"\"\")\s*$"
)
_FOR_TOOLS = re.compile(r"(?<!\s)\s*(?:#|//)\s*(?:type:|noqa|pylint|pragma|nolint|eslint|mypy|ty:|pyright).*$")
_ENDS = re.compile(r"[.!?:;。！？{}\[(=,>|]\s*[\"'”’)\]]*$")
# A list item, heading, table row, field or statement starts a new sentence.
_OPENS = re.compile(r"\s*(?:[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|\||@|:\w+|(?:def|class|return|import|const|let|var)\b)")
_CODE = re.compile(r"[{}=;]|\w\(|->|::")
# A word between blanks, with optional punctuation. A line with enough of them is prose, even with signs of code.
_PLAIN_WORD = re.compile(r"(?<!\S)[A-Za-z’'-]+[,.;:!?]?(?!\S)")
_MIN_PLAIN_WORDS = 5


def sentences_of(cited: Iterable[str]) -> list[str]:
    r"""Return the sentences of consecutive units, in order, none of them blank.

    Example:
        >>> sentences_of(["# The server listens on a port that is free, unless", "# PORT is set. Else 8000."])
        ['The server listens on a port that is free, unless PORT is set.', 'Else 8000.']
    """
    found: list[str] = []
    for is_prose, block in _blocks(cited):
        if is_prose:
            found += [block[start:end] for start, end in sentences(block)]
        elif found and len(found[-1]) + len(block) < _GROUP_CHARS:
            found[-1] = f"{found[-1].rstrip()}\n{block}"
        else:
            found.append(block)
    return [sentence for sentence in (text.strip() for text in found) if sentence]


def sentence_ranges(text: str) -> list[tuple[int, int]]:
    r"""Return the sentences of prose and the lines of code as half-open character ranges.

    Ranges are in order, trimmed and not blank; none crosses a blank line. Unlike the result of `sentences_of`, they
    are exact slices: line breaks and comment signs inside a sentence stay.

    Example:
        >>> text = "# The server listens on a port that is free, unless\n# PORT is set. Else 8000.\nx = port()"
        >>> [text[start:end] for start, end in sentence_ranges(text)][1:]
        ['Else 8000.', 'x = port()']
    """
    found: list[tuple[int, int]] = []
    block, before = (0, 0), ""
    for start, end in lines(text):
        line = without_comment_signs(text[start:end])
        is_code = is_code_line(line)
        is_apart = text.count("\n", block[1], start) > 1
        if before and (is_code or is_apart or not _continues(before, line)):
            found += sentences(text, *block)
            before = ""
        if is_code:
            found += [trim(text, start, end)] if end - start <= LONG_LINE_CHARS else sentences(text, start, end)
        elif line:
            block = (block[0] if before else start, end)
            before = f"{before} {line.strip()}".strip()
    return [*found, *sentences(text, *block)] if before else found


def is_code_line(line: str) -> bool:
    """Return whether a line has signs of code and few words.

    Example:
        >>> is_code_line("x = y(1)"), is_code_line("It returns y(1) where that is known; else none.")
        (True, False)
    """
    return _CODE.search(line) is not None and len(_PLAIN_WORD.findall(line)) < _MIN_PLAIN_WORDS


def _blocks(cited: Iterable[str]) -> Iterator[tuple[bool, str]]:
    """Join wrapped lines of prose; yield lines of code one by one, each with its line break."""
    prose = ""
    for unit in cited:
        for line in unit.split("\n"):
            text = without_comment_signs(line)
            if not text.strip():
                continue
            is_code = is_code_line(text)
            if prose and (is_code or not _continues(prose, text)):
                yield True, prose
                prose = ""
            if is_code:
                yield False, text.strip() + "\n"
            else:
                prose = f"{prose} {text.strip()}" if prose else text.strip()
    if prose:
        yield True, prose


def without_comment_signs(line: str) -> str:
    """Remove comment signs and directives for tools.

    Example:
        >>> without_comment_signs("    # It waits.  # noqa: E501")
        'It waits.'
    """
    return _COMMENT.sub("", _FOR_TOOLS.sub("", line)).rstrip()


def _continues(before: str, line: str) -> bool:
    if _OPENS.match(line) or len(before) < _WRAPPED_CHARS:
        return False
    return not _ENDS.search(before) or before.endswith(",") or line[:1].islower()
