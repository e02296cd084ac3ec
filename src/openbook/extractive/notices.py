"""Finds the notices of licenses at the top of files of code, which answer only who asks for the license."""

from __future__ import annotations

import re
from functools import lru_cache

from openbook.extractive.context import units_of
from openbook.extractive.passages import Passage
from openbook.extractive.statements import layout_of, lines_of
from openbook.questions.question import Question
from openbook.types import Chunk, Unit

# What every paragraph of such a notice has: Apache, BSD, GPL, MIT and SPDX.
LICENSE_WORDS = r"copyright|licen[sc]e|spdx|all rights reserved|redistribut|warrant(?:y|ies)|permission is hereby"
_IS_NOTICE = re.compile(LICENSE_WORDS, re.IGNORECASE)
# What precedes the first comment.
_OPENS_FILE = re.compile(r"\s*<\?\w+")

# Cached chunks: an answer reads each of ten results several times.
_CACHED_CHUNKS = 64


def is_unasked_notice(passage: Passage, query: Question) -> bool:
    """Return whether a passage begins with the notice of a license, and the question does not ask for that.

    Not if a comment in it says something else as well. The head of a definition may begin with the notice, too.
    """
    if passage.is_head or passage.shown.is_prose or _IS_NOTICE.search(query.text):
        return False
    notice, lines = _notice_of(passage.shown.result.chunk), layout_of(passage.shown)
    others = (unit for unit in passage.units if unit.number not in notice)
    remarks = (each for each in others if lines[each.number - 1].leads)
    return passage.first.number in notice and not any(_has_words(unit) for unit in remarks)


@lru_cache(maxsize=_CACHED_CHUNKS)
def _notice_of(chunk: Chunk) -> frozenset[int]:
    """Return the numbers of the units of the paragraphs on the license in the comments that open a file."""
    found, paragraph = set[int](), set[int]()
    if chunk.span.start_line > 1:
        return frozenset()
    every, is_notice = units_of(chunk), False
    for unit, line in zip(every, lines_of(every, chunk.language), strict=True):
        if not (line.leads or _OPENS_FILE.match(unit.text)):
            break
        if line.is_apart or not _has_words(unit):
            paragraph, is_notice = set(), False
        paragraph.add(unit.number)
        is_notice = is_notice or _IS_NOTICE.search(unit.text) is not None
        found |= paragraph if is_notice else set()
    return frozenset(found)


def _has_words(unit: Unit) -> bool:
    return any(map(str.isalnum, unit.text))
