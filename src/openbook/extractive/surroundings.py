"""Extends quotes by the context that readers need to understand them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from openbook.answers import has_lines
from openbook.containers import HEADING
from openbook.extractive.context import ContextItem
from openbook.extractive.definition_heads import MAX_QUOTE_LINES, definition_heads, line_of
from openbook.extractive.displaying import fence_of, indented_code
from openbook.extractive.headings import ends_of_bodies, headings_in
from openbook.extractive.paragraphs import has_paragraphs, is_row, is_table_rule
from openbook.extractive.passages import (
    Passage,
    examples_in,
    holds_heading,
    join_passages,
    joins,
    overlap,
    slice_of,
)
from openbook.extractive.statements import enclosing, layout_of
from openbook.retrieval.definitions import defines_type
from openbook.text import indentation
from openbook.tokens import tokenize, words_to_read
from openbook.types import Chunk, Unit

# Ends a sentence that introduces a list, a command or an example.
_LEADS_IN = re.compile(r"[:：][\s*_`]*$")
# A last sentence that announces steps without a colon, as "Follow these steps to moor a ship."
_ANNOUNCES = re.compile(
    r"\b(?:follow|perform|do|take|complete)\s+(?:these|the\s+(?:following|below))\s+(?:\w+\s+)?(?:steps|instructions)\b"
    r"(?:(?![.!?]\s).)*\s*$",
    re.IGNORECASE | re.DOTALL,
)

# A line of AsciiDoc above a block: `[source,sh]`.
_ATTRIBUTES = re.compile(r"\[[\w,.%#=-]+\]\s*")

# First words of sentences that refer to the one before.
_REFERS = frozenset("This That These Those It They He She Such".split())

# Begins a sentence on what is above: "The code above ..."
_POINTS_UP = re.compile(r"\s*(?:[\w`]+\s+){0,5}above\b")

# A sentence with as many words says something, even if it introduces what follows, or more is said behind it.
_TELLING_WORDS = 15

# An item with so few words is a label of those in it.
_LABEL_WORDS = 3

# Limits of an extended quote. Words were chosen together with `_MAX_QUOTES` of `openbook.extractive.answerer`.
_MAX_WORDS, _MAX_LINES = 60, 20

# What a quote introduces is cut beyond so many words of both, as of all quotes together, but has so many even below a
# long quote: an item or two.
_MAX_LED_WORDS, _MIN_LED_WORDS = 100, 40

# Limits of code that is extended to its enclosing statement: an `if` with its body, a short function. Twice as many
# words cost two questions of 248, fewer change nothing (`python -m benchmarks.answers`).
_HEADED_WORDS, _HEADED_LINES = 30, 10


# Limits of a function that has several of the best passages, and how many lines below them are quoted as well. Of 988
# questions, 150 words and pieces with scores twice as far apart make answers longer, and one less has the right place.
_FUNCTION_WORDS, _FUNCTION_LINES, _CLOSING_LINES = 120, 25, 2


def completed(quote: Passage, passages: Sequence[Passage] = (), most: int = _MAX_LED_WORDS) -> Passage:
    """Return a quote of prose with the context that it needs, if that is short.

    That is the sentence before one that begins with "This" or the like, the head of its list entry or table, the rest
    of its table row or example, and the list, example or steps that it introduces. These are cut to so many words with
    the quote. Quotes do not extend across headings below.
    """
    quote = _with_label(_with_row(quote))
    shown, units = quote.shown, quote.shown.units
    last = quote.last.number - 1
    entry = quote.entry
    if entry is not None and last <= entry.last:
        wholes = (_between(shown, entry.first, end) for end in (min(entry.last, len(units) - 1), last))
        if (whole := next(filter(_is_short, wholes), None)) is not None:
            return whole
    points_up = _POINTS_UP.match(quote.text) is not None
    if not _REFERS.isdisjoint(quote.text.split(maxsplit=1)[:1]):
        before = next((each for each in passages if joins(each, quote)), quote)
        points_up = before is quote
        quote = join_passages(before, quote)
    begun, ended = quote.first.number - 1, quote.last.number - 1
    first, last = _range_of(quote, points_up=points_up)
    if (first, last) == (begun, ended):
        return quote
    start = quote.start_char if first == begun else units[first].span.start_char
    end = quote.end_char if last == ended else units[last].span.end_char
    whole = Passage(shown, units[first], units[last], (start, end) if quote.part else None)
    is_long = last - first > ended - begun + _MAX_LINES
    most = max(most, words_to_read(quote.text) + _MIN_LED_WORDS)
    if leads_in(quote) and (is_long or words_to_read(whole.text) > most):
        return _cut(quote, whole, most)
    return quote if is_long else whole


def _range_of(quote: Passage, *, points_up: bool) -> tuple[int, int]:
    """Return the positions of the first and last unit of a quote with its table, example, or what it introduces.

    If it points up and introduces nothing below, it has the example directly above as well.
    """
    shown, units = quote.shown, quote.shown.units
    first, last = quote.first.number - 1, quote.last.number - 1
    if quote.text.lstrip().startswith("|"):
        first = _head_of_table(units, first)
    examples = [each for each in examples_in(shown) if each.opening >= 0 and each.closing < len(units)]
    is_led = leads_in(quote)
    if is_led and quote.example is None and not any(each.opening == last + 1 for each in examples):
        is_list = any(is_row(unit.text) for unit in units[last + 1 : last + 2])
        ends = _end_of_block if is_list or _LEADS_IN.search(quote.text) else _end_of_section
        last = ends(shown, last)
    for each in examples:
        if each.opening <= last + is_led and first - (points_up and not is_led) <= each.closing:
            first, last = min(first, each.opening), max(last, each.closing)
    return first, last


def _cut(quote: Passage, whole: Passage, most: int) -> Passage:
    """Return a quote with the first items, paragraphs or statements of what it introduces; the quote if none is short.

    It says where code or steps go on; `openbook.extractive.lists` says it of lists.
    """
    shown, units, begin = quote.shown, quote.shown.units, quote.last.number
    language, is_list = shown.result.chunk.language, is_row(units[begin].text)
    ends = [
        at
        for at in range(begin, min(whole.last.number - 1, begin + _MAX_LINES))
        if words_to_read(_between(shown, whole.first.number - 1, at).text) <= most
    ]
    items = [at for at in ends if is_list and is_row(units[at + 1].text)]
    apart = [at for at in ends if units[at + 1].span.start_line > units[at].span.end_line + 1]
    best = items or apart or ends
    if not best or fence_of(units[best[-1]].text, language):
        return quote
    last = whole.last.span.end_line - (fence_of(whole.last.text, language) is not None)
    note = f"(goes on to line {last})" if has_lines(language) else "(goes on)"
    part = (whole.start_char, units[best[-1]].span.end_char) if whole.part else None
    return replace(whole, last=units[best[-1]], part=part, goes_on="" if is_list else note)


def with_block(quote: Passage) -> Passage:
    """Return a quote that ends its paragraph with the list or fenced example directly below, cut if that is long."""
    shown, units = quote.shown, quote.shown.units
    is_block = quote.is_code or quote.has_example or any(is_row(unit.text) for unit in quote.units)
    if is_block or quote.end_char < quote.last.span.end_char:
        return quote
    begin = quote.last.number
    begin += any(_ATTRIBUTES.fullmatch(unit.text) for unit in units[begin : begin + 1])
    openings = {each.opening: each.closing for each in examples_in(shown) if each.closing < len(units)}
    if begin in openings:
        last = openings[begin]
    elif begin < len(units) and is_row(units[begin].text):
        last = _end_of_block(shown, begin - 1)
    else:
        return quote
    part = (quote.start_char, units[last].span.end_char) if quote.part else None
    whole = replace(quote, last=units[last], part=part)
    if whole.included:  # it is quoted by its own passage
        return quote
    most = max(_MAX_LED_WORDS, words_to_read(quote.text) + _MIN_LED_WORDS)
    is_long = last - begin > _MAX_LINES or words_to_read(whole.text) > most
    return _cut(quote, whole, most) if is_long else whole


def with_examples(
    quotes: Sequence[Passage], passages: Sequence[Passage], words: Collection[str]
) -> list[Passage | None]:
    """Return quotes, the first one with the block directly below, and each example with what introduces it.

    If the first is short, it has the sentences behind it as well that have some of the words.

    Those that have become part of the first are None.
    """
    wholes: list[Passage | None] = []
    for quote in quotes:
        is_part = bool(wholes) and wholes[0] is not None and overlap(quote, wholes[0])
        wholes.append(with_block(_with_rest(quote, passages, words)) if not wholes else None if is_part else quote)
    kept = [each for each in wholes if each is not None]
    return [each and _with_lead_in(each, passages, [one for one in kept if one is not each]) for each in wholes]


def _with_rest(quote: Passage, passages: Sequence[Passage], words: Collection[str]) -> Passage:
    """Return a short quote of prose or an entry with the sentences behind it in its paragraph that have such words."""
    is_whole = quote.is_whole or quote.setting is not None or not has_paragraphs(quote.shown.result.chunk)
    if is_whole or (quote.entry is None and (quote.is_code or quote.has_example)):
        return quote
    for each in sorted((each for each in passages if each.shown is quote.shown), key=lambda each: each.start_char):
        # A sentence may come with all of the line in which the quote ends.
        is_next = joins(quote, each) or (overlap(quote, each) and each.end_char > quote.end_char)
        if is_next and not is_row(each.text):
            whole = join_passages(quote, each)
            added = slice_of(quote.shown, quote.end_char, each.end_char)
            if words_to_read(quote.text) >= _TELLING_WORDS or not _is_short(whole):
                break
            if all(word not in words for word in tokenize(added)):
                break
            quote = whole
    return quote


def _with_lead_in(quote: Passage, passages: Sequence[Passage], others: Sequence[Passage]) -> Passage:
    """Return a quote that opens with a fenced example, with the paragraph above that introduces it, if that is short.

    Of a long one, it has the last sentences. It overlaps no other quote.
    """
    shown, units, begin = quote.shown, quote.shown.units, quote.first.number - 1
    if begin == 0 or not any(each.opening == begin for each in examples_in(shown)):
        return quote
    end, led = units[begin - 1].span.end_char, quote
    above = next((each for each in passages if each.shown is shown and each.end_char == end and leads_in(each)), None)
    while above is not None and _is_short(above) and not any(overlap(above, each) for each in others):
        led = join_passages(above, quote)
        before = next((each for each in passages if joins(each, above)), None)
        above = before and join_passages(before, above)
    return led


def leads_in(quote: Passage) -> bool:
    """Return whether prose ends with a colon or announces steps, and so introduces what follows."""
    if not quote.shown.is_prose:
        return False
    return _LEADS_IN.search(quote.text) is not None or _ANNOUNCES.search(quote.text) is not None


def only_leads_in(quote: Passage, passages: Sequence[Passage]) -> bool:
    """Return whether a quote ends with a short sentence that introduces what follows, such as "For example:".

    A longer one says something itself: "Since the queue is not kept, either empty it first or lower the limit:".
    """
    last = next((each for each in passages if each.end_char == quote.end_char), quote)
    return leads_in(quote) and words_to_read(last.text) < _TELLING_WORDS


def with_command(quote: Passage, most: int) -> Passage:
    """Extend prose that introduces code by the first line of that, if both have at most so many words."""
    if quote.is_code or not leads_in(quote):
        return quote
    shown = quote.shown
    below = shown.units[quote.last.number : quote.last.number + 2]
    led = next((unit for unit in below if fence_of(unit.text, shown.result.chunk.language) is None), None)
    if led is None or not _between(shown, led.number - 1, led.number - 1).is_code:
        return quote
    whole = Passage(shown, quote.first, led, (quote.start_char, led.span.end_char))
    return whole if words_to_read(whole.text) <= most else quote


def enlarged(quote: Passage, passages: Sequence[Passage]) -> Passage:
    """Extend a quote by the passages below and above in its result, in turn, as long as it stays short.

    Prose grows by sentences up to headings, code by statements up to the heads of other definitions. It does not end
    with a short sentence that introduces what is not quoted.
    """
    shown = quote.shown
    quote = quote if shown.is_prose else with_statement(quote)
    said = [
        each for each in passages if each.shown is shown and (each.example, each.entry) == (quote.example, quote.entry)
    ]
    heads = {each.start_char for each in said if each.is_head}
    below = iter([each for each in said if each.start_char >= quote.end_char])
    above = iter([each for each in reversed(said) if each.end_char <= quote.start_char])
    sides, complete = [below, above], quote
    while sides:
        side = sides.pop(0)
        piece = next(side, None)
        is_other = quote.start_char in heads if side is above else piece is not None and piece.is_head
        grown = None if is_other else _grown(quote, piece)
        if grown is not None:
            quote = grown
            sides.append(side)
            complete = complete if only_leads_in(quote, said) else quote
    whole = join_passages(quote, complete)
    return completed(whole) if leads_in(whole) else whole


def with_statement(quote: Passage) -> Passage:
    """Extend a quote of code to its enclosing statements, whole or from their heads on, if that is short.

    A docstring that it breaks off is completed.
    """
    shown, first, last = quote.shown, quote.first.number - 1, quote.last.number - 1
    lines = layout_of(shown)
    rest = next((at for at in range(last, len(lines) - 1) if not lines[at + 1].inside), len(lines) - 1)
    last = rest if _is_short(_between(shown, first, rest), _HEADED_WORDS, _HEADED_LINES) else last
    for around in enclosing(lines, first, last):
        if lines[around.opens].is_else:
            continue
        wholes = (_between(shown, around.first, end) for end in (around.last, last))
        whole = next((each for each in wholes if _is_short(each, _HEADED_WORDS, _HEADED_LINES)), None)
        if whole is None:
            break
        first, last = whole.first.number - 1, whole.last.number - 1
    return replace(quote, first=shown.units[first], last=shown.units[last])


def with_function(quote: Passage, others: Sequence[Passage], most: int) -> Passage | None:
    """Return the function around a quote of code, from its head to the last of the other good passages in it.

    Its head alone, which says nothing, has the whole function. None if there is nothing to add, or if that is long;
    `most` is the maximum number of words.
    """
    shown, first, last = quote.shown, quote.first.number - 1, quote.last.number - 1
    beside = [each for each in others if each.shown is shown and each.key != quote.key]
    is_bare = _is_bare(quote)
    around = _function_around(quote) if (beside or is_bare) and not (quote.is_whole or quote.setting) else None
    if around is None or first < around[0]:
        return None
    begin, end = around
    places = [each.last.number - 1 for each in beside if begin < each.first.number <= end + 1]
    told = max([last, *places]) if places else end
    told = end if end - told <= _CLOSING_LINES else told
    if not (places or is_bare) or (begin, told) == (first, last):
        return None
    words, lines = (_FUNCTION_WORDS, _FUNCTION_LINES) if places else (_MAX_WORDS, _MAX_LINES)
    whole = replace(quote, first=shown.units[begin], last=shown.units[told])
    return whole if _is_short(whole, min(words, most), lines) else None


def _is_bare(quote: Passage) -> bool:
    """Return whether a quote is the head of a definition in one line, without a comment above."""
    lines, place = layout_of(quote.shown), quote.first.number - 1
    is_below_comment = place > 0 and lines[place - 1].leads and not lines[place].is_apart
    return quote.is_head and quote.first is quote.last and not is_below_comment


def _function_around(quote: Passage) -> tuple[int, int] | None:
    """Return the first and last position of the innermost definition around a quote; None if that is of a type.

    That of a head is its own. A long comment above does not belong to it.
    """
    shown, heads = quote.shown, definition_heads(quote.shown)
    for around in enclosing(layout_of(shown), quote.first.number - 1, quote.last.number - 1):
        head = next((each for each in heads if each.first.number <= around.opens + 1 <= each.last.number), None)
        if head is not None:
            is_other = quote.is_head and quote.defines != head.defines
            is_type = defines_type(line_of(shown, head), head.defines)
            return None if is_other or is_type else (head.first.number - 1, around.last)
    return None


def _between(shown: ContextItem, first: int, last: int) -> Passage:
    return Passage(shown, shown.units[first], shown.units[last])


def _grown(quote: Passage, piece: Passage | None) -> Passage | None:
    """Join a quote and an adjacent passage; None if they are too long together, or of different sections or bodies."""
    if piece is None:
        return None
    first, last = sorted((quote, piece), key=lambda each: each.start_char)
    whole = join_passages(first, last)
    new = (whole.start_char, quote.start_char) if first is piece else (quote.end_char, whole.end_char)
    # A quote may begin with its heading.
    is_headed = first is piece and quote.example is None and HEADING.match(quote.text.lstrip()) is not None
    crosses_heading = quote.shown.is_prose and (is_headed or holds_heading(slice_of(quote.shown, *new)))
    is_apart = crosses_heading or (quote.shown.is_prose and _leaves_body(quote.shown.result.chunk, *new))
    return whole if _is_short(whole) and not is_apart else None


def _leaves_body(chunk: Chunk, start: int, end: int) -> bool:
    """Return whether the body of an admonition or tab ends in a range of a document, or a tab begins in it."""
    base = chunk.span.start_char
    borders = (*ends_of_bodies(chunk), *(each.start for each in headings_in(chunk)))
    return any(start < base + border <= end for border in borders)


def _is_short(quote: Passage, words: int = _MAX_WORDS, lines: int = _MAX_LINES) -> bool:
    return words_to_read(quote.text) <= words and quote.lines <= lines


def _with_row(quote: Passage) -> Passage:
    """Extend a quote within one row of a table to the row, or else to the cells before, which name what it is about."""
    shown, line = quote.shown, quote.first.span.start_line
    row = [unit for unit in shown.units if unit.span.start_line == line]
    if quote.last.span.end_line > line or not row[0].text.lstrip().startswith("|"):
        return quote
    wholes = (Passage(shown, row[0], last) for last in (row[-1], quote.last))
    return next(filter(_is_short, wholes), quote)


def _with_label(quote: Passage) -> Passage:
    """Extend a quote that begins with an item to the item that it is in, if that is only a label: an option, a name."""
    units, first = quote.shown.units, quote.first.number - 1
    if quote.is_code or not is_row(units[first].text):
        return quote
    indent = indentation(units[first].text)
    label = next((unit for unit in reversed(units[:first]) if indentation(unit.text) < indent), None)
    if label is None or not is_row(label.text) or words_to_read(label.text) > _LABEL_WORDS:
        return quote
    part = (label.span.start_char, quote.end_char) if quote.part else None
    whole = replace(quote, first=label, part=part)
    return whole if _is_short(whole) else quote


def _head_of_table(units: Sequence[Unit], row: int) -> int:
    """Return the header of the table of a row; the row itself if there is none, or if it is far above."""
    first = row
    while first and units[first - 1].text.lstrip().startswith("|"):
        first -= 1
    is_near = row - first < MAX_QUOTE_LINES
    return first if is_near and first + 1 < len(units) and is_table_rule(units[first + 1].text) else row


def _end_of_section(shown: ContextItem, above: int) -> int:
    """Return the last unit below a unit before the next heading."""
    base, end = shown.result.chunk.span.start_char, shown.units[above].span.end_char
    until = next((base + each.start for each in headings_in(shown.result.chunk) if base + each.start >= end), None)
    return max(place for place, unit in enumerate(shown.units) if until is None or unit.span.end_char <= until)


def _end_of_block(shown: ContextItem, above: int) -> int:
    """Return the last unit of the list, paragraph or code below a unit; that unit itself before a heading."""
    units, code = shown.units, indented_code(shown.result.chunk)
    end, words, indent = above, 0, min((indentation(unit.text) for unit in units[above + 1 : above + 2]), default=0)
    while end + 1 < len(units) and not units[end + 1].text.lstrip().startswith("#"):
        below = units[end + 1]
        goes_on = below.span.start_line <= units[end].span.end_line + 1 or is_row(below.text)
        goes_on = goes_on or indentation(below.text) > indent
        words += words_to_read(below.text)
        is_full = words > _MAX_WORDS or end - above >= _MAX_LINES
        is_code = below.span.start_line in code and units[end].span.start_line in code
        goes_on = goes_on or (is_code and not is_full)  # code has blank lines
        can_end = is_row(below.text) or units[end].text.endswith(".")
        if end > above and (not goes_on or (is_full and can_end)):
            break
        end += 1
    return end
