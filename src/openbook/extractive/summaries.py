"""Selects the central sentences of lessons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from openbook.embedding.protocol import Embedder
from openbook.extractive.context import Context, ContextItem
from openbook.extractive.passages import Passage, overlap, passages_of
from openbook.retrieval.roles import is_home_page
from openbook.types import Chunk

if TYPE_CHECKING:
    from openbook.index.protocol import Vector

# Sentences of a lesson, and of several lessons together.
_SENTENCES, _MAX_TOGETHER = 5, 10

# Shorter sentences say nothing ("So let's see."), longer ones are lists.
_MIN_WORDS, _MAX_WORDS = 9, 60

# Code and formulas say little without context.
_LISTING = ("```", "~~~", "$$")

# Between the cells of a row; in PDF, there are only blanks.
_CELLS = re.compile(r"\s\|\s|^[ \t]*\|[^\n]*\|[ \t]*$", re.MULTILINE)
_PDF_CELLS = re.compile(r"\S {2,}\S")
_CODE = re.compile(r"`[^`\n]*`")

# The beginning of a lesson announces its topic; the end says goodbye.
_OPENING_SHARE, _OPENING_BONUS = 0.06, 0.15

# Weight of the similarity to the title, and the penalty for redundancy.
_TITLE_WEIGHT = 0.3
_REPEAT_WEIGHT = 0.5


def central_passages(context: Context, embedder: Embedder) -> list[Passage]:
    """Return the sentences that are most similar to their whole lesson and to its title, in order of appearance.

    At most five of one lesson, and ten of several. Of more than ten, these are spread over all, with front pages in any
    case. Ties are broken by their order.
    """
    groups = _chosen([list(shown) for _, shown in groupby(context.shown, key=_place)])
    each = max(1, min(_SENTENCES, _MAX_TOGETHER // max(1, len(groups))))
    found = (passage for shown in groups for passage in _central(shown, each, embedder))
    # Slides and transcript, or two formats of a course, may be the same text.
    return list({" ".join(passage.text.split()): passage for passage in found}.values())


def _chosen(groups: Sequence[list[ContextItem]]) -> list[list[ContextItem]]:
    """Return at most ten of the lessons or documents, in order."""
    fronts = [place for place, shown in enumerate(groups) if _is_front(shown[0].result.chunk)][:_MAX_TOGETHER]
    others = [place for place in range(len(groups)) if place not in fronts]
    left = _MAX_TOGETHER - len(fronts)
    step = max(1.0, len(others) / max(1, left))
    spread = [others[int(number * step)] for number in range(min(left, len(others)))]
    return [groups[place] for place in sorted([*fronts, *spread])]


def _is_front(chunk: Chunk) -> bool:
    return is_home_page(chunk.span.path, chunk.kind)


def _place(shown: ContextItem) -> tuple[object, ...]:
    chunk = shown.result.chunk
    return (chunk.source, chunk.span.path, chunk.lesson)


def _central(shown: list[ContextItem], wanted: int, embedder: Embedder) -> list[Passage]:
    every = [passage for one in shown for passage in passages_of(one)]
    passages = list({(each.start_char, each.end_char): each for each in every}.values())
    telling = [passage for passage in passages if _tells(passage)] or passages
    if not telling:
        return []
    title, *vectors = embedder.embed([shown[0].label, *(passage.text for passage in telling)])
    middle = sum(vectors[1:], start=vectors[0]) / len(vectors)
    size = float(middle @ middle) ** 0.5 or 1.0
    first, last = shown[0].result.chunk.span.start_char, shown[-1].result.chunk.span.end_char
    opening = first + _OPENING_SHARE * (last - first)
    scores = [
        float(vector @ middle) / size
        + _TITLE_WEIGHT * float(vector @ title)
        + _OPENING_BONUS * (each.start_char < opening)
        for each, vector in zip(telling, vectors, strict=True)
    ]
    chosen: list[int] = []
    left = list(range(len(telling)))
    while left and len(chosen) < wanted:
        best = max(left, key=lambda one: scores[one] - _REPEAT_WEIGHT * _repeats(vectors[one], chosen, vectors))
        chosen.append(best)
        left = [one for one in left if not overlap(telling[one], telling[best])]
    return [telling[one] for one in sorted(chosen)]


def _tells(passage: Passage) -> bool:
    text = passage.text
    if _is_row(text, passage.shown.result.chunk.language):
        return False
    is_statement = not text.rstrip().endswith("?") and not any(sign in text for sign in _LISTING)
    return is_statement and _MIN_WORDS <= len(text.split()) <= _MAX_WORDS


def _is_row(text: str, language: str) -> bool:
    """Return whether a text is of a table, whose rows say little without the names of the columns."""
    border = _PDF_CELLS if language == "pdf" else _CELLS
    return border.search(_CODE.sub("", text)) is not None


def _repeats(vector: Vector, chosen: Sequence[int], vectors: Sequence[Vector]) -> float:
    return max((float(vector @ vectors[other]) for other in chosen), default=0.0)
