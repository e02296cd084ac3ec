"""Pointers: further places below the quotes of an answer, a sentence or a line of code each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from openbook.extractive.comments import is_comment_prose, sentences_around, told
from openbook.extractive.definition_heads import definition_at
from openbook.extractive.displaying import fence_of
from openbook.extractive.echoes import text_shown
from openbook.extractive.passages import Passage, overlap
from openbook.extractive.surroundings import with_command
from openbook.retrieval.signals import coverage
from openbook.tokens import tokenize, words_to_read
from openbook.types import Unit

# Limits of pointers, their words, and the least share of the best score. At .8, an answer has 13 words less, and one in
# a hundred loses the right place. `python -m benchmarks.answers --curve pointers` has the curve.
_MAX_POINTERS, _MAX_POINTER_WORDS, _MIN_POINTER_SCORE = 8, 15, 0.7
# Another entry for the setting that is asked for may be longer: rows of tables are.
_MAX_SETTING_WORDS = 40
# As may a sentence of a comment, of which the line that fits best says half.
_MAX_COMMENT_WORDS = 30

# The least share of the question's words in a pointer, weighted by rarity. Without it, answers have ten more words and
# are right as often; from .17 on, they are right less often.
_MIN_POINTER_SHARE = 0.125

# A result with as many definitions is pointed to for one that is not quoted.
_SEVERAL = 2

# Words of languages that questions have as well: "try {" says nothing on what was tried.
_KEYWORDS = frozenset(
    tokenize(
        "and as break case catch class const continue default delete do each else end export extends final finally for"
        " from function if import in is let match new next not null of or package pass private protected public raise"
        " return self static struct super switch then this throw true try type until use using when while with"
    )
)

# Markup that opens a heading, a list item, a block quote or a directive, and an underlined title.
_BLANKS = re.compile(r"\s*")
_MARKUP_BEFORE = re.compile(r"(?:\s|[#>=*+•-]+\s|\.\. [\w:-]+::\s|\S.*\n([=\-~^\"'`#*+.:_])\1{2,}[ \t]*\n)*")


def further_places(
    ranked: Sequence[Passage],
    quotes: Sequence[Passage],
    rarity: Mapping[str, float],
    *,
    points_to_all: bool = False,
) -> list[Passage]:
    """Return distinct pointers to good results that are not quoted, in the order of the results.

    `points_to_all`: include results with much lower scores, because each caller of a name is an answer.
    """
    done = {quote.shown.number for quote in quotes}
    share = 0.0 if points_to_all else _MIN_POINTER_SCORE
    least = share * max((passage.shown.result.score for passage in ranked), default=0.0)
    found: dict[int, Passage] = {}
    for passage in ranked:
        number = passage.shown.number
        is_open = number not in found and passage.shown.result.score >= least
        is_open = is_open and not any(overlap(passage, quote) for quote in quotes)
        if is_open and (number not in done or _is_of_another_definition(passage, quotes)):
            pointer = _pointer(passage, rarity)
            if (
                pointer is not None
                and _is_short(pointer, is_setting=passage.setting is not None)
                and _held_by(pointer, rarity) >= _MIN_POINTER_SHARE
            ):
                found[number] = pointer
    distinct = {text_shown(quote): quote for quote in quotes}
    pointers = [found[number] for number in sorted(found)]
    return [each for each in pointers if distinct.setdefault(text_shown(each), each) is each][:_MAX_POINTERS]


def _is_of_another_definition(passage: Passage, quotes: Sequence[Passage]) -> bool:
    """Return whether a passage of code is in another definition than the quotes of its result."""
    if passage.shown.is_prose or len(passage.shown.result.chunk.defines) < _SEVERAL:
        return False
    own = definition_at(passage.shown, passage.first, passage.last)
    of_quotes = (each for each in quotes if each.shown.number == passage.shown.number)
    return all(definition_at(each.shown, each.first, each.last) != own for each in of_quotes)


def _is_short(pointer: Passage, *, is_setting: bool) -> bool:
    is_comment = pointer.is_code and is_comment_prose(pointer)
    most = _MAX_SETTING_WORDS if is_setting else _MAX_COMMENT_WORDS if is_comment else _MAX_POINTER_WORDS
    return words_to_read(told(pointer)) <= most


def _held_by(passage: Passage | Unit, rarity: Mapping[str, float]) -> float:
    return coverage(frozenset(tokenize(passage.text)), rarity)


def _told_by(line: Unit, rarity: Mapping[str, float]) -> float:
    return coverage(frozenset(tokenize(line.text)) - _KEYWORDS, rarity)


def _pointer(passage: Passage, rarity: Mapping[str, float]) -> Passage | None:
    """Return a sentence of prose without its opening markup, or the best line of code; None for transcripts.

    A line in a comment stands for its sentence.

    Single sentences of transcripts say little (`benchmarks.courses`: 32 more words, and no more answers).
    """
    is_empty = passage.shown.is_prose and (passage.is_title or passage.is_directive)
    if passage.shown.result.chunk.kind == "course" or is_empty:
        return None
    language = passage.shown.result.chunk.language
    lines = [unit for unit in passage.units if not fence_of(unit.text, language)]
    if not lines:
        return None
    if passage.is_code or len(lines) < len(passage.units):
        best = max(lines, key=lambda unit: (_told_by(unit, rarity), _held_by(unit, rarity)))
        said = [] if passage.shown.is_prose else sentences_around(passage.shown, best)
        passage = max(said, key=lambda each: _held_by(each, rarity), default=Passage(passage.shown, best, best))
    is_said = not passage.is_code or is_comment_prose(passage)
    opening = (_MARKUP_BEFORE if is_said else _BLANKS).match(told(passage))
    start = passage.start_char + (opening.end() if opening else 0)
    end = passage.start_char + len(passage.text.rstrip())
    if start >= end:
        return None
    first = next(unit for unit in passage.units if unit.span.end_char > start)
    return with_command(Passage(passage.shown, first, passage.last, (start, end)), _MAX_POINTER_WORDS)
