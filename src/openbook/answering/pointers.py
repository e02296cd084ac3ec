"""Pointers to further places: one line of code or sentence of prose from each result that an answer does not quote."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from openbook.answering.displaying import is_fence
from openbook.answering.passages import Passage, overlap
from openbook.retrieval.signals import coverage
from openbook.tokens import tokenize, words_to_read
from openbook.types import Unit

# So many are read at a glance. A result with a lower share of the best score than this is not pointed to: at .8, an
# answer has 13 words less, and one of a hundred lacks its place. `python -m benchmarks.answers --curve pointers`.
_MOST_POINTERS, _MOST_WORDS, _LEAST_SHARE = 8, 15, 0.7

# A pointer has this share of the words of the question, weighted by rarity. Without it, answers have ten words more and
# are as often right; from .17 on they are less often.
_LEAST_HELD = 0.125

# What opens a heading, an item or a quote in markup, and is not part of what is said.
_OPENING = re.compile(r"(?:\s|[#>=*+-]+\s|\.(?:SS|SH|Sh|Ss|B|BR|BI|I|IR)\s)*")


def further_places(ranked: Sequence[Passage], quotes: Sequence[Passage], rarity: Mapping[str, float]) -> list[Passage]:
    """Return a pointer to each good result that is not quoted, in the order of the results, and none twice.

    Args:
        ranked: What may be quoted, best first.
        quotes: What is quoted.
        rarity: Weight of each token of the question.
    """
    done = {quote.shown.number for quote in quotes}
    least = _LEAST_SHARE * max((passage.shown.result.score for passage in ranked), default=0.0)
    found: dict[int, Passage] = {}
    for passage in ranked:
        number = passage.shown.number
        is_open = number not in done and number not in found and passage.shown.result.score >= least
        if is_open and not any(overlap(passage, quote) for quote in quotes):
            pointer = _pointer(passage, rarity)
            if (
                pointer is not None
                and words_to_read(pointer.text) <= _MOST_WORDS
                and _held(pointer, rarity) >= _LEAST_HELD
            ):
                found[number] = pointer
    distinct = {_said(quote): quote for quote in quotes}
    pointers = [found[number] for number in sorted(found)]
    return [each for each in pointers if distinct.setdefault(_said(each), each) is each][:_MOST_POINTERS]


def _held(passage: Passage | Unit, rarity: Mapping[str, float]) -> float:
    return coverage(frozenset(tokenize(passage.text)), rarity)


def _said(passage: Passage) -> str:
    return " ".join(passage.text.split())


def _pointer(passage: Passage, rarity: Mapping[str, float]) -> Passage | None:
    """Return a sentence of prose without what opens it in markup, of code and examples the line that says most.

    None of transcripts: their sentences say little alone (`benchmarks.courses`: 32 words more, and no answer).
    """
    if passage.shown.result.chunk.kind == "course" or (passage.shown.is_prose and passage.is_title):
        return None
    lines = [unit for unit in passage.units if not is_fence(unit.text)]
    if not lines:
        return None
    if passage.is_code or len(lines) < len(passage.units):
        best = max(lines, key=lambda unit: _held(unit, rarity))
        passage = Passage(passage.shown, best, best)
    opening = _OPENING.match(passage.text) if not passage.is_code else re.match(r"\s*", passage.text)
    start = passage.start_char + (opening.end() if opening else 0)
    end = passage.start_char + len(passage.text.rstrip())
    return Passage(passage.shown, passage.first, passage.last, (start, end)) if start < end else None
