"""Joins quotes that are nearly adjacent: steps of a procedure, and parts of a paragraph."""

from __future__ import annotations

import re

from openbook.extractive.headings import headings_in
from openbook.extractive.paragraphs import has_paragraphs, is_row
from openbook.extractive.passages import Passage, join_passages, slice_of
from openbook.extractive.surroundings import leads_in
from openbook.tokens import words_to_read

# Between two steps may be another one of so many words, such as "Leave the shell:" with `exit`; between two sentences,
# the one that they are about.
_MAX_WORDS_BETWEEN = 40
# A blank line.
_PARTS = re.compile(r"\n[ \t]*\r?\n")


def joined(before: Passage, after: Passage) -> Passage | None:
    """Return a quote of two steps of one section, or two parts of one paragraph, with what is between.

    None if they are neither, or far apart.
    """
    shown = before.shown
    if shown is not after.shown or not has_paragraphs(shown.result.chunk):
        return None
    if before.is_whole or after.is_whole or before.entry != after.entry or before.end_char > after.start_char:
        return None
    between = slice_of(shown, before.end_char, after.start_char)
    base = shown.result.chunk.span.start_char
    is_other = any(before.end_char <= base + each.start < after.end_char for each in headings_in(shown.result.chunk))
    whole = join_passages(before, after)
    if is_other or words_to_read(between) > _MAX_WORDS_BETWEEN or whole.includes_code:
        return None
    are_steps = any(each.is_code or each.has_example or leads_in(each) or is_row(each.text) for each in (before, after))
    return whole if are_steps or not _PARTS.search(between) else None
