"""Finds the string literals of code that a program fills with values to print a message.

`"berth %s is not free"` prints "berth B7 is not free". A message may be pasted in part, or behind the name of an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from openbook.questions.words import FILLING_WORDS, STOP_WORDS
from openbook.retrieval.roles import is_unasked
from openbook.types import Chunk

_LITERAL = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\\n])*`", re.DOTALL)
# What is between two literals of one text: nothing, an operator, or an expression with one on either side.
_ADJOINS = re.compile(r"\s*(?:[+.~\\]|\.\.|<<|<>)?\s*\w{0,2}")
_VALUE_BETWEEN = re.compile(r"\s*(?P<joins>\+|\.|<<|<>)[^;{}]{1,80}(?P=joins)\s*\w{0,2}|\s*PRI\w+\s*")
_VALUE_BEHIND = re.compile(r"\s*(?:\+|\.\.?|<<|<>)\s*[\w$(]")
_PLACEHOLDER = re.compile(
    r"%(?:\(\w+\))?[-+#*.\d]*[A-Za-z@]|~[a-z]"  # printf; Erlang
    r"|\{[^{}]*\}|[$#]\{[^}]*|\$\w+(?:->\w+)*|\\\([^)]*\)"  # interpolation
)
_ESCAPE = re.compile(r"\\.")
# Stands for a placeholder, and is in no text.
_ANYTHING = "\0"
_WORD = re.compile(rf"[\w{_ANYTHING}]+")

# Longer literals are texts, and time grows with their length. Shorter ones are names, values and paths.
_MIN_PARTS, _MAX_WORDS = 3, 80

# Fewer words in common may be chance, and so may be words that say nothing. A shorter literal counts if it is the whole
# message, and half of its words: then the sum of both numbers decides.
_MIN_COMMON, _MIN_CONTENT = 4, 2
_MIN_SHORT, _MIN_SHORT_SUM = 2, 4
_EMPTY_WORDS = STOP_WORDS | FILLING_WORDS

_CACHED_TEXTS = 1024


class MessageLiteral(NamedTuple):
    """A string literal, or several that make one text."""

    start: int
    """Its offset in the code."""
    words: tuple[str, ...]
    """In lower case; a placeholder and what adjoins it is one word."""


@lru_cache(maxsize=_CACHED_TEXTS)
def literals_of(code: str) -> tuple[MessageLiteral, ...]:
    r"""Return the literals of code that may be messages.

    Example:
        >>> literals_of('fail("berth %s is " +\n  "not " + state)')[0].words == ("berth", "\0", "is", "not", "\0")
        True
    """
    found: list[tuple[int, list[str]]] = []
    parts = list(_LITERAL.finditer(code))
    for before, part in zip((None, *parts), parts, strict=False):
        text = part[0][1:-1]
        gap = None if before is None else code[before.end() : part.start()]
        if gap is not None and _ADJOINS.fullmatch(gap):
            found[-1][1].append(text)
        elif gap is not None and _VALUE_BETWEEN.fullmatch(gap):
            found[-1][1].extend((_ANYTHING, text))
        else:
            found.append((part.start(), [text]))
        if _VALUE_BEHIND.match(code, part.end()):
            found[-1][1].append(f" {_ANYTHING} ")
    said = ((start, "".join(texts)) for start, texts in found)
    read = (MessageLiteral(start, _words_of(text)) for start, text in said if len(text.split()) >= _MIN_PARTS)
    return tuple(each for each in read if len(each.words) <= _MAX_WORDS)


def _words_of(text: str) -> tuple[str, ...]:
    filled = _ESCAPE.sub(" ", _PLACEHOLDER.sub(_ANYTHING, text))
    return tuple(_ANYTHING if _ANYTHING in word else word.casefold() for word in _WORD.findall(filled))


def message_places(messages: Sequence[str], code: str) -> tuple[int, list[int]]:
    """Return where code has the literals that print messages, by their offsets, and how many words are in common.

    Only those with the most words in common count.

    Example:
        >>> message_places(["Error: berth B7 is not free"], 'raise Full(f"berth {name} is not free")')
        (4, [12])
    """
    asked = [tuple(map(str.casefold, re.findall(r"\w+", text))) for text in messages]
    best, places = 0, list[int]()
    for literal in literals_of(code):
        common = max((_common(literal.words, said) for said in asked), default=0)
        if common > best:
            best, places = common, []
        if common and common == best:
            places.append(literal.start)
    return best, places


def _common(literal: tuple[str, ...], said: tuple[str, ...]) -> int:
    """Return how many words a literal and a message have in common; 0 if it does not print the message."""
    if len(set(said).intersection(literal)) < _MIN_SHORT:  # most literals: saves time
        return 0
    if sum(word != _ANYTHING for word in literal) >= _MIN_COMMON:
        common, content = _aligned(literal, said, is_whole=False)
        is_enough = common >= _MIN_COMMON and content >= _MIN_CONTENT
    else:
        common, content = _aligned(literal, said, is_whole=True)
        is_enough = common + content >= _MIN_SHORT_SUM and 2 * common >= len(said)
    return common if is_enough else 0


def _aligned(literal: tuple[str, ...], said: tuple[str, ...], *, is_whole: bool) -> tuple[int, int]:
    """Return how many words agree where one text overlaps the other, and how many of them say something.

    Both begin together, or one within the other, and so they end: a message may be pasted in part, and with other words
    before and behind. `is_whole`: both begin and end together.
    """
    nothing = (-1, -1)
    above = [(0, 0) if not at or not is_whole else nothing for at in range(len(said) + 1)]
    ends = []
    for word in literal:
        # A message that would begin within a value has no word in common there.
        row = [above[0] if word == _ANYTHING and is_whole else nothing]
        for at, spoken in enumerate(said):
            if word == _ANYTHING:
                row.append(max(above[at + 1], row[at]))
            elif word == spoken and above[at] != nothing:
                common, content = above[at]
                row.append((common + 1, content + (word not in _EMPTY_WORDS)))
            else:
                row.append(nothing)
        ends.append(row[-1])
        above = row if is_whole else [(0, 0), *row[1:]]
    return above[-1] if is_whole else max(*above, *ends)


def message_strength(messages: Sequence[str], question: str, chunk: Chunk) -> int:
    """Return how many words of a message a chunk prints; 0 for prose, tests and the like."""
    if chunk.kind != "code" or is_unasked(chunk, question):
        return 0
    return message_places(messages, chunk.text)[0]
