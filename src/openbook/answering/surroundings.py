"""What is quoted along with a sentence, so that people understand it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from openbook.answering.context import ContextItem
from openbook.answering.definition_heads import LONGEST_QUOTE_LINES
from openbook.answering.displaying import Example, fence_of
from openbook.answering.list_entries import entry_at
from openbook.answering.passages import (
    Passage,
    examples_in,
    holds_heading,
    is_row,
    is_table_rule,
    join_passages,
    joins,
    overlap,
    slice_of,
)
from openbook.answering.scoring import is_import
from openbook.answering.statements import enclosing, is_whole, layout_of, pieces
from openbook.text import sentences
from openbook.tokens import words_to_read
from openbook.types import Unit

# A sentence that begins so leans on the one before. With that in front, one question in forty more is
# answered by the sentence that is wanted (`benchmarks/courses.py`), for four more words in each answer.
_REFERS = re.compile(r"(?:And |But |So )?(?:This|That|These|Those|It|They|He|She|Such)\b")

# What goes on below: a list, a command, an example.
_LEADS_IN = re.compile(r"[:：][\s*_`]*$")

# What shows code in reStructuredText: the line, and what is indented under it.
_DIRECTIVE = re.compile(r"\s*\.\. [\w-]+::")

# Lines of an example. A quote is read at a glance.
_MOST_LINES = 12
# A list goes on for so many words, however many lines these take.
_LIST_WORDS, _LIST_LINES = 60, 30

# How far a quote of code grows to the statement that it stands in: an `if` with what is under it, a short function.
# Twice as many words cost two questions of 248, fewer change nothing (`python -m benchmarks.answers`).
_HEADED_WORDS, _HEADED_LINES = 30, 10

# How far the first quote grows. See `_MOST_QUOTES` of `openbook.answering.extractive`, which it was chosen with.
_ENLARGED_WORDS, _ENLARGED_LINES = 60, 20
# It grows by statements, of which longer ones are taken by their parts.
_GROWN_LINES = 4


def completed(quote: Passage) -> Passage:
    """Return a quote of prose with what it cannot be understood without, if that is at most twelve lines on each side.

    That is the list or the example that it leads to, the rest of the example that it stands in, or a table down to it,
    if that is short. Headings below are not crossed.
    """
    if (whole := _entry_of(quote)) is not None:
        return whole
    units = quote.shown.units
    first, last = quote.first.number - 1, quote.last.number - 1
    if _is_of_table(quote.text):
        first = _head_of_table(units, first)
    first = _start_of_item(units, first)
    examples = [each for each in examples_in(quote.shown) if each.opening >= 0 and each.closing < len(units)]
    if last + 1 < len(units) and leads_in(quote) and quote.example is None:
        last = _end_of_block(units, last + 1, examples, quote.shown.result.chunk.language)
    for each in examples:
        if each.opening <= last and first <= each.closing:
            first, last = min(first, each.opening), max(last, each.closing)
    is_list = last >= quote.last.number and is_row(units[quote.last.number].text)
    most = _LIST_LINES if is_list else _MOST_LINES
    is_short = quote.first.number - 1 - first <= _MOST_LINES and last - quote.last.number + 1 <= most
    if not is_short or (first, last) == (quote.first.number - 1, quote.last.number - 1):
        return quote
    start = quote.start_char if first == quote.first.number - 1 else units[first].span.start_char
    end = quote.end_char if last == quote.last.number - 1 else units[last].span.end_char
    return Passage(quote.shown, units[first], units[last], (start, end) if quote.part else None)


def leads_in(quote: Passage) -> bool:
    """Return whether prose ends with a colon, so that what it says goes on below."""
    return quote.shown.is_prose and _LEADS_IN.search(quote.text) is not None


def _entry_of(quote: Passage) -> Passage | None:
    """Return what an entry of a definition list says up to a quote, and behind it, from its head on, if that is short.

    None if it stands in no entry, or far below the head.
    """
    shown, start = quote.shown, quote.shown.result.chunk.span.start_char
    entry = entry_at(shown, quote.first.number - 1)
    if entry is None or quote.last.number - 1 > entry.last:
        return None
    last = min(entry.last, len(shown.units) - 1)
    whole = _between(shown, entry.first, last)
    ends = [
        start + end for _, end in sentences(shown.result.chunk.text, whole.start_char - start, whole.end_char - start)
    ]
    places = [place for place in range(last, quote.last.number - 2, -1) if shown.units[place].span.end_char in ends]
    return next((found for place in places if _is_brief(found := _between(shown, entry.first, place))), None)


def _is_brief(quote: Passage) -> bool:
    return words_to_read(quote.text) <= _ENLARGED_WORDS


def enlarged(quote: Passage, passages: Sequence[Passage]) -> Passage:
    """Return a quote with what stands below and above it in the same result, in turn, for as long as it stays short.

    Prose grows by sentences and up to headings, code by whole statements. Transcripts, which have no paragraphs, do
    not grow.

    Args:
        quote: What is to be quoted.
        passages: All that may be, in the order of each document.
    """
    shown = quote.shown
    if shown.result.chunk.kind == "course":
        return quote
    if not shown.is_prose:
        return _enlarged_code(quote)
    entry = entry_at(shown, quote.first.number - 1)
    said = [
        each
        for each in passages
        if each.shown is shown and each.example == quote.example and entry_at(shown, each.first.number - 1) == entry
    ]
    below = iter([each for each in said if each.start_char >= quote.end_char])
    above = iter([each for each in reversed(said) if each.end_char <= quote.start_char])
    sides = [below, above]
    while sides:
        side = sides.pop(0)
        grown = _grown(quote, next(side, None))
        if grown is not None:
            quote = grown
            sides.append(side)
    return quote


def _enlarged_code(quote: Passage) -> Passage:
    """Return a quote of code with the statements that it stands in, from their heads on, and those beside it."""
    quote = with_statement(quote, _ENLARGED_WORDS, _ENLARGED_LINES)
    shown, first, last = quote.shown, quote.first.number - 1, quote.last.number - 1
    lines = layout_of(shown)
    below = iter([end for _, end in pieces(lines, last + 1, len(lines) - 1, 1, _GROWN_LINES)])
    above = iter([start for start, _ in reversed([*pieces(lines, 0, first - 1, 1, _GROWN_LINES)])])
    sides = [below, above]
    while sides:
        side = sides.pop(0)
        for place in side:
            start, end = (first, place) if side is below else (place, last)
            if not _is_short(_between(shown, start, end)) or (side is above and is_import(shown.units[start].text)):
                break
            # Nor from the middle of a comment on: what that is about stands where it begins.
            if is_whole(lines, start, end) and not (start < first and lines[start].inside):
                first, last = start, end
                sides.append(side)
                break
    return replace(quote, first=shown.units[first], last=shown.units[last])


def with_statement(quote: Passage, words: int = _HEADED_WORDS, most_lines: int = _HEADED_LINES) -> Passage:
    """Return a quote of code with the statements that it stands in, whole or from their heads on, if that is short.

    Of a docstring that it breaks off in, it gets the rest.

    Args:
        quote: What is to be quoted.
        words: Most words of it then.
        most_lines: Most lines of it then.
    """
    shown, first, last = quote.shown, quote.first.number - 1, quote.last.number - 1
    lines = layout_of(shown)
    rest = next((at for at in range(last, len(lines) - 1) if not lines[at + 1].inside), len(lines) - 1)
    last = rest if _is_short(_between(shown, first, rest), words, most_lines) else last
    for around in enclosing(lines, first, last):
        ends = (end for end in (around.last, last) if _is_short(_between(shown, around.first, end), words, most_lines))
        longest = next(ends, None)
        if longest is None:
            break
        first, last = around.first, longest
    return replace(quote, first=shown.units[first], last=shown.units[last])


def _between(shown: ContextItem, first: int, last: int) -> Passage:
    return Passage(shown, shown.units[first], shown.units[last])


def _grown(quote: Passage, piece: Passage | None) -> Passage | None:
    """Join a quote and a piece before or behind it; None if they are two things, or too long together."""
    if piece is None:
        return None
    first, last = sorted((quote, piece), key=lambda each: each.start_char)
    whole = join_passages(first, last)
    new = (whole.start_char, quote.start_char) if first is piece else (quote.end_char, whole.end_char)
    if quote.shown.is_prose and holds_heading(slice_of(quote.shown, *new)):
        return None
    return whole if _is_short(whole) else None


def _is_short(quote: Passage, words: int = _ENLARGED_WORDS, lines: int = _ENLARGED_LINES) -> bool:
    return words_to_read(quote.text) <= words and quote.lines <= lines


def _is_of_table(text: str) -> bool:
    return text.lstrip().startswith("|")


def _head_of_table(units: Sequence[Unit], row: int) -> int:
    """Find the head of the table that a row stands in; the row itself if the table begins elsewhere or far above."""
    first = row
    while first and _is_of_table(units[first - 1].text) and _follow(units[first - 1], units[first]):
        first -= 1
    is_near = row - first < LONGEST_QUOTE_LINES
    return first if is_near and first + 1 < len(units) and is_table_rule(units[first + 1].text) else row


def _start_of_item(units: Sequence[Unit], place: int) -> int:
    """Find the line that opens the item of a list which a line stands in; the line itself if it is in none.

    What an item is about stands there, as the option that its second sentence says more of.
    """
    first = place
    while first and place - first < LONGEST_QUOTE_LINES and not is_row(units[first].text):
        if not _follow(units[first - 1], units[first]) or not units[first].text.startswith((" ", "\t")):
            return place
        first -= 1
    is_item = is_row(units[first].text) and not _is_of_table(units[first].text)
    return first if is_item and _is_under(units[first], units[place]) else place


def _end_of_block(units: Sequence[Unit], start: int, examples: Sequence[Example], language: str) -> int:
    """Find the last unit of the example, the list or the paragraph that begins with a unit; the one before is none."""
    if fence_of(units[start].text, language):
        return next((each.closing for each in examples if each.opening == start), start - 1)
    if units[start].text.lstrip().startswith("#"):
        return start - 1
    end, words = start, words_to_read(units[start].text)
    is_directive, is_list = _DIRECTIVE.match(units[start].text) is not None, is_row(units[start].text)
    while end + 1 < len(units) and end - start < (_LIST_LINES if is_list else _MOST_LINES):
        below = units[end + 1]
        if not (
            _follow(units[end], below)
            or (is_list and is_row(below.text))
            or (is_directive and _is_under(units[start], below))
        ):
            break
        words += words_to_read(below.text)
        is_long = words > _LIST_WORDS if is_list else end - start + 1 >= LONGEST_QUOTE_LINES
        if is_long and not is_directive and (is_row(below.text) or _ends(units[end])):
            break
        end += 1
    return end


def _is_under(above: Unit, below: Unit) -> bool:
    """Return whether a line is indented under another one."""
    return len(below.text) - len(below.text.lstrip()) > len(above.text) - len(above.text.lstrip())


def _ends(unit: Unit) -> bool:
    return unit.text.endswith((".", "!", "?", ":"))


def _follow(before: Unit, after: Unit) -> bool:
    return before.span.end_line + 1 >= after.span.start_line


def with_surroundings(quotes: Sequence[Passage], passages: Sequence[Passage], *, room: int) -> list[Passage]:
    """Return quotes with what belongs to them. No two of them come to overlap.

    A sentence that begins with what only the one before explains, such as "That is", gets that one in front.

    Args:
        quotes: What is to be quoted, best first.
        passages: All that may be.
        room: How many words more may be quoted. For as long as they last, each gets the sentences on both sides, in
            its paragraph.
    """
    found = list(quotes)
    for place, quote in enumerate(found):
        if quote.shown.is_prose and quote.setting is None:
            before = next((each for each in passages if joins(each, quote)), quote)
            behind = next((each for each in passages if joins(quote, each)), quote)
            wide = join_passages(before, behind)
            added = words_to_read(wide.text) - words_to_read(quote.text)
            needed = join_passages(before, quote) if _REFERS.match(quote.text) else quote
            whole = wide if added <= room else needed
            if not any(overlap(whole, other) for other in found if other is not quote):
                found[place] = whole
                room -= added if whole is wide else 0
    return found
