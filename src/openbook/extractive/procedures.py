"""Quotes the steps of a procedure in their order: whole lists of steps, and steps that are nearly adjacent as one."""

from __future__ import annotations

from openbook.extractive.headings import headings_in
from openbook.extractive.passages import Passage, is_row, join_passages, slice_of
from openbook.extractive.surroundings import leads_in
from openbook.tokens import words_to_read

# Between two steps may be another one of so many words, such as "Leave the shell:" with `exit`.
_MAX_WORDS_BETWEEN = 20


def joined_steps(before: Passage, after: Passage) -> Passage | None:
    """Return a quote of two steps of one section with what is between; None if they are no steps, or far apart."""
    shown = before.shown
    if shown is not after.shown or shown.result.chunk.kind != "docs" or shown.result.chunk.language == "html":
        return None
    if before.is_whole or after.is_whole or before.entry != after.entry or before.end_char > after.start_char:
        return None
    between = slice_of(shown, before.end_char, after.start_char)
    base = shown.result.chunk.span.start_char
    is_other = any(before.end_char <= base + each.start < after.end_char for each in headings_in(shown.result.chunk))
    joined = join_passages(before, after)
    if is_other or words_to_read(between) > _MAX_WORDS_BETWEEN or joined.includes_code:
        return None
    are_steps = any(each.is_code or each.has_example or leads_in(each) or is_row(each.text) for each in (before, after))
    return joined if are_steps else None
