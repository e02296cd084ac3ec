"""Splits results into passages that can be quoted: sentences of prose, blocks of code, examples and list entries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from openbook.containers import HEADING, box_title
from openbook.entries import indent_of
from openbook.extractive.context import ContextItem, Included, units_of
from openbook.extractive.definition_heads import MAX_QUOTE_LINES, definition_heads
from openbook.extractive.displaying import Example, examples_of, fence_of, indented_code
from openbook.extractive.headings import headings_in, lines_of_questions
from openbook.extractive.list_entries import ListEntry, entries_in, entry_at, is_heading
from openbook.extractive.paragraphs import TITLE, is_table_rule, paragraphs_in
from openbook.extractive.statements import layout_of, lines_of, pieces
from openbook.extractive.unshown import MARKUP, is_markup, unshown
from openbook.retrieval.setting_entries import SettingEntry
from openbook.sources.front_matter import FRONT_MATTER
from openbook.text import sentences
from openbook.tokens import WORD, tokenize
from openbook.types import Chunk, Unit

# The underline of a title, or a horizontal rule.
UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}")

# A horizontal rule.
_RULE = re.compile(r"[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*")

# Characters that may follow the title in a heading.
_UNDERLINE = "=-~^\"'`#*+.:_ \t\r\n\f"

# Markup, links within a page, as in tables of contents, references to manual pages, and lines in brackets: `[TOC]`.
_LABEL = re.compile(
    rf"{MARKUP.pattern}|\[[^]\n]*\]\(#[^)\n]*\)|\b[\w.:-]+\([1-9]\w{{0,3}}\)"
    r"|^[ \t]*\[{1,2}[A-Za-z_][^\"'\[\]\n]*\]{1,2}[ \t]*$",
    re.MULTILINE,
)

# Shorter passages are titles, brackets or list markers, and not quoted alone.
_MIN_WORDS = 3

# Languages of diagrams, which are not quoted.
_DRAWINGS = frozenset({"mermaid", "plantuml", "puml", "dot", "graphviz", "d2"})
# What makes a menu in MyST, or shows nothing.
_MENU = re.compile(r"\s*[`~]{3,}\{(?:contents|currentmodule|highlight|index|module|tableofcontents|toctree)\}.*")

# Longer statements are split. With 6, 8 or 12 lines, `python -m benchmarks.answers` differs by at most two questions; a
# call of ten lines is still readable.
_MAX_STATEMENT_LINES = 10

# Cached chunks: a search reads the examples of ten results, once per passage.
_CACHED_CHUNKS = 64


PassageKey = tuple[int, int, int]
"""The number of a result, and the start and end of a passage in its document."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive units of a result, or sentences within them."""

    shown: ContextItem
    first: Unit
    last: Unit
    part: tuple[int, int] | None = None
    """Start and end offsets in the document if it is shorter than its units, which contain parts of other sentences."""
    defines: str = ""
    """The name that a definition head defines; else empty."""
    within: str = ""
    """The scope of a definition head: enclosing lines, names, headings and path."""
    is_head: bool = False
    """It is the head of a definition: signature and summary."""
    setting: SettingEntry | None = None
    """The entry of a setting that the question asks for, if the passage is one."""
    is_whole: bool = False
    """It is quoted as it is, without the rest of its paragraph or statement."""
    is_cause: bool = False
    """It raises the error that the question asks the cause of."""
    change: float = 0.0
    """How well it says the change whose release the question asks for, from 0 to 1; more for the first of several."""
    release: str = ""
    """The line far above that names its release, if no heading does."""
    is_enumeration: bool = False
    """It is the enumeration that the question asks for, or a value of it."""
    goes_on: str = ""
    """Says to which line that goes on, and with which values; empty if it is complete."""

    @property
    def key(self) -> PassageKey:
        """Its identity within a context."""
        return self.shown.number, self.start_char, self.end_char

    @property
    def is_title(self) -> bool:
        """Whether it is nothing but a heading or a label."""
        said = _plain(self.said)
        return not said or any(said == _plain(title) for title in self.shown.result.chunk.context)

    @property
    def signature(self) -> str:
        """The head of a definition without the comment above; empty if it is nothing but that."""
        lines = layout_of(self.shown)
        return "\n".join(unit.text for unit in self.units if not lines[unit.number - 1].leads)

    @property
    def lines(self) -> int:
        """The number of its lines."""
        return self.last.span.end_line - self.first.span.start_line + 1

    @property
    def units(self) -> Sequence[Unit]:
        """Its units."""
        return self.shown.units[self.first.number - 1 : self.last.number]

    @property
    def is_code(self) -> bool:
        """Whether it begins in code, or in a code example of prose."""
        return not self.shown.is_prose or self.example is not None or self._is_set_off

    @property
    def is_line_of_code(self) -> bool:
        """Whether it is a single line of code."""
        return self.first is self.last and self.is_code

    @property
    def example(self) -> Example | None:
        """The fenced example whose code it begins in, if any."""
        position = self.first.number - 1
        return next((each for each in examples_in(self.shown) if each.is_inside(position)), None)

    @property
    def has_example(self) -> bool:
        """Whether it contains code of a fenced example, or includes some."""
        return self.includes_code or any(
            each.opening < self.last.number - 1 and self.first.number - 1 < each.closing
            for each in examples_in(self.shown)
        )

    @property
    def included(self) -> Sequence[Included]:
        """The directives in it that include code from other files."""
        return [
            each for each in self.shown.included if self.first.number <= each.first and each.last <= self.last.number
        ]

    @property
    def includes_code(self) -> bool:
        """Whether a directive in it includes code that is shown."""
        return any(each.item is not None for each in self.included)

    @property
    def is_directive(self) -> bool:
        """Whether it is nothing but directives that include code."""
        numbers = {number for each in self.included for number in range(each.first, each.last + 1)}
        language = self.shown.result.chunk.language
        return bool(numbers) and all(unit.number in numbers or fence_of(unit.text, language) for unit in self.units)

    @property
    def said(self) -> str:
        """Its text with the code that it includes, rather than with the directives for that."""
        code = [each for each in self.included if each.item is not None]
        if not code:
            return self.text
        directives = {number for each in code for number in range(each.first, each.last + 1)}
        own = (unit.text for unit in self.units if unit.number not in directives)
        return "\n".join((*own, *(each.item.result.chunk.text for each in code if each.item)))

    @property
    def entry(self) -> ListEntry | None:
        """The entry of a definition list in which it begins, if any."""
        return entry_at(self.shown, self.first.number - 1)

    @property
    def _is_set_off(self) -> bool:
        return self.first.span.start_line in indented_code(self.shown.result.chunk)

    @property
    def is_front_matter(self) -> bool:
        """Whether it is of the front matter of its document."""
        front = front_matter_in(self.shown)
        return bool(front) and self.last.number <= front[-1].number

    @property
    def start_char(self) -> int:
        """Where it begins in the document."""
        return self.part[0] if self.part else self.first.span.start_char

    @property
    def end_char(self) -> int:
        """Where it ends in the document."""
        return self.part[1] if self.part else self.last.span.end_char

    @property
    def text(self) -> str:
        """Exact slice of the document."""
        return slice_of(self.shown, self.start_char, self.end_char)


# The passages of a result are compared with the same headings.
@lru_cache(maxsize=256)
def _plain(text: str) -> str:
    return " ".join(WORD.findall(_LABEL.sub("", text).casefold().replace("_", " ")))


def opened_by(passage: Passage) -> str:
    """Return the heading directly above a passage; empty if there is text between."""
    chunk = passage.shown.result.chunk
    at = passage.start_char - chunk.span.start_char
    above = next((heading for heading in reversed(headings_in(chunk)) if heading.end <= at), None)
    return above.title if above and not _plain(chunk.text[above.end : at]) else ""


def passages_of(shown: ContextItem) -> list[Passage]:
    """Return the passages of a result in order. They are distinct, but may overlap."""
    return _of_prose(shown) if shown.is_prose else _of_code(shown)


def examples_in(shown: ContextItem) -> Sequence[Example]:
    """Return the fenced examples of a result in order; none for code."""
    if not shown.is_prose:
        return ()
    found, count = _examples(shown.result.chunk), len(shown.units)
    if not found or found[-1].closing <= count:
        return found
    return [replace(each, closing=min(each.closing, count)) for each in found if each.opening < count]


def lines_of_code(shown: ContextItem) -> set[int]:
    """Return the numbers of the lines of code in a result of prose, with those of fences."""
    units = shown.units
    fenced = (range(max(each.opening, 0), min(each.closing + 1, len(units))) for each in examples_in(shown))
    return {units[place].span.start_line for each in fenced for place in each} | set(indented_code(shown.result.chunk))


@lru_cache(maxsize=_CACHED_CHUNKS)
def _examples(chunk: Chunk) -> tuple[Example, ...]:
    return examples_of(chunk, units_of(chunk))


def _of_prose(shown: ContextItem) -> list[Passage]:
    offered, inside = _set_apart(shown)
    found = {(each.start_char, each.end_char): each for each in offered}
    before: list[Unit] = []
    entries = {each.first: each for each in entries_in(shown)}
    code, asked = indented_code(shown.result.chunk), lines_of_questions(shown.result.chunk)
    said = [
        unit
        for unit, above in zip(shown.units, (None, *shown.units), strict=False)
        if unit.number not in inside
        and (unit.span.start_line in code or not (is_markup(unit.text) or _is_rule(above, unit)))
    ]
    for paragraph in paragraphs_in(shown, said):
        if len(paragraph) == 1 and is_table_rule(paragraph[0].text):
            if before and before[-1].span.end_line + 1 == paragraph[0].span.start_line:
                found.pop((before[0].span.start_char, before[-1].span.end_char), None)
            continue
        text = Passage(shown, paragraph[0], paragraph[-1]).text
        entry = entries.get(paragraph[0].number - 1)
        is_entry = entry is not None and paragraph[-1].number - 1 > entry.head
        short = _count_words(text) < _MIN_WORDS and not is_entry
        line = text.lstrip(" \t")
        heading = HEADING.match(line)
        is_title = is_heading(shown.result.chunk, paragraph[0]) or (
            heading is not None and (short or not line[heading.end() :].strip(_UNDERLINE))
        )
        is_box = (len(paragraph) == 1 and _opens_box(shown, paragraph[0])) or paragraph[0].span.start_line in asked
        if is_box or (before and (is_title or (short and _is_bold(text)))):
            offered = []  # it belongs to the text below
        elif short:
            # "8080" answers "What is the default port?" only together with the heading.
            opening = before[-MAX_QUOTE_LINES:] or paragraph
            is_said = before or len(paragraph) == len(shown.units)
            offered = [Passage(shown, opening[0], paragraph[-1])] if is_said else []
        elif entry is not None and entry.is_row and len(paragraph) <= MAX_QUOTE_LINES:
            offered = [Passage(shown, paragraph[0], paragraph[-1])]
        elif all(unit.span.start_line in code for unit in paragraph):
            offered = _statements(shown, paragraph[0].number - 1, paragraph[-1].number - 1)
        else:
            offered = list(_sentences(shown, paragraph))
        for passage in offered:
            fits = short or is_entry or _count_words(passage.text) >= _MIN_WORDS
            if fits and (short or not TITLE.match(passage.text)):
                found.setdefault((passage.start_char, passage.end_char), passage)
        before = paragraph
    return [found[place] for place in sorted(found)]


def _is_rule(above: Unit | None, unit: Unit) -> bool:
    """Return whether a line is a rule between paragraphs, rather than below a title."""
    is_apart = above is None or above.span.end_line + 1 < unit.span.start_line
    return is_apart and _RULE.fullmatch(unit.text) is not None


def _set_apart(shown: ContextItem) -> tuple[list[Passage], set[int]]:
    """Return the passages of fenced examples, and the numbers of what else is no prose.

    These are the units of examples, front matter and comments, and the fences around prose.
    """
    found: list[Passage] = []
    inside: set[int] = set()
    in_examples: set[int] = set()
    for example in examples_in(shown):
        lines = range(example.opening + 1, example.closing + 2)
        in_examples.update(lines)
        opening = shown.units[example.opening].text if example.opening >= 0 else ""
        is_listing = example.language not in _DRAWINGS and _MENU.fullmatch(opening) is None
        offered = _of_example(shown, example) if is_listing else []
        if offered or not is_listing:
            found += offered
            inside.update(lines)
    for each in shown.included:
        if each.item is not None and each.first not in in_examples:
            found.append(Passage(shown, shown.units[each.first - 1], shown.units[each.last - 1], is_whole=True))
            inside.update(range(each.first, each.last + 1))
    language = shown.result.chunk.language
    inside.update(
        unit.number for unit in shown.units if unit.number not in in_examples and fence_of(unit.text, language)
    )
    if front := front_matter_in(shown):
        inside.update(range(1, front[-1].number + 2))
    return found, inside | unshown(shown.result.chunk)


def front_matter_in(shown: ContextItem) -> Sequence[Unit]:
    """Return the lines of the front matter at the beginning of a document, without its fences."""
    chunk = shown.result.chunk
    front = None if chunk.span.start_char else FRONT_MATTER.match(chunk.text)
    return () if front is None else [unit for unit in shown.units if unit.span.start_char < front.end()][1:-1]


def _opens_box(shown: ContextItem, unit: Unit) -> bool:
    """Return whether a line opens or closes an admonition, rather than being all of it."""
    title, below = box_title(unit.text), shown.units[unit.number : unit.number + 1]
    if not title:
        return title is not None
    # In reStructuredText, the text after `.. note::` is not a title but the note.
    if shown.result.chunk.language == "rst":
        return False
    has_end = unit.text.lstrip().startswith((":::", "///"))
    return has_end or any(
        each.text.lstrip().startswith(">") or indent_of(each.text) > indent_of(unit.text) for each in below
    )


def _of_example(shown: ContextItem, example: Example) -> list[Passage]:
    """Return a short example with its fences, or the statements of a long one."""
    first, last = example.opening + 1, min(example.closing, len(shown.units)) - 1
    if first > last or _count_words(Passage(shown, shown.units[first], shown.units[last]).said) < _MIN_WORDS:
        return []
    is_shown = example.opening >= 0 and example.closing < len(shown.units)
    if is_shown and last - first < MAX_QUOTE_LINES:
        return [Passage(shown, shown.units[example.opening], shown.units[example.closing])]
    return _statements(shown, first, last, example.language)


def _statements(shown: ContextItem, first: int, last: int, language: str = "") -> list[Passage]:
    """Return the statements of code in prose, between two positions, both inclusive."""
    lines = lines_of(shown.units[first : last + 1], language)
    found = [
        Passage(shown, shown.units[first + start], shown.units[first + end])
        for start, end in pieces(lines, 0, last - first, MAX_QUOTE_LINES, _MAX_STATEMENT_LINES)
    ]
    return [each for each in found if _count_words(each.text) >= _MIN_WORDS]


def _of_code(shown: ContextItem) -> list[Passage]:
    lines = layout_of(shown)
    heads = [
        Passage(shown, head.first, head.last, None, head.defines, head.within, True) for head in definition_heads(shown)
    ]
    found = {(head.first.number, head.last.number): head for head in heads}
    inside = {number for head in heads for number in range(head.first.number, head.last.number + 1)}
    for is_free, members in groupby(shown.units, key=lambda unit: unit.number not in inside):
        run = list(members)
        if not is_free:
            continue
        first, last = run[0].number - 1, run[-1].number - 1
        for start, end in pieces(lines, first, last, MAX_QUOTE_LINES, _MAX_STATEMENT_LINES):
            passage = Passage(shown, shown.units[start], shown.units[end])
            if _count_words(passage.text) >= _MIN_WORDS:
                found.setdefault((start + 1, end + 1), passage)
    return [found[place] for place in sorted(found)]


def _count_words(text: str) -> int:
    # Chinese has no spaces between words, so a sentence would count as one.
    return len(text.split() if text.isascii() else tokenize(text))


def holds_heading(text: str) -> bool:
    """Return whether a text contains a heading."""
    return HEADING.search(text) is not None


def _is_bold(text: str) -> bool:
    """Return whether a line is bold, perhaps behind an emoji, and so serves as a heading."""
    sign, bold, line = text.strip().removesuffix(":").partition("**")
    line = bold + line
    return not any(map(str.isalnum, sign)) and line.startswith("**") and line.endswith("**") and "*" not in line[2:-2]


def _blocks(paragraph: Sequence[Unit]) -> Iterator[tuple[Unit, Unit]]:
    for start in range(0, len(paragraph), MAX_QUOTE_LINES):
        piece = paragraph[start : start + MAX_QUOTE_LINES]
        yield piece[0], piece[-1]


def _sentences(shown: ContextItem, paragraph: Sequence[Unit]) -> Iterator[Passage]:
    """Yield each sentence with the units that contain it, without parts of other sentences in these.

    Long sentences are split into blocks of units.
    """
    base = shown.result.chunk.span.start_char
    start, end = paragraph[0].span.start_char - base, paragraph[-1].span.end_char - base
    said = list(_with_heads(shown, [(base + a, base + b) for a, b in sentences(shown.result.chunk.text, start, end)]))
    for a, b in said:
        covering = [unit for unit in paragraph if unit.span.start_char < b and unit.span.end_char > a]
        for first, last in _blocks(covering):
            whole = begin, finish = first.span.start_char, last.span.end_char
            if len(covering) <= MAX_QUOTE_LINES:
                begin = min((one for one, _ in said if one >= begin), default=begin)
                finish = max((one for _, one in said if one <= finish), default=finish)
            cut = slice_of(shown, whole[0], begin).strip() or slice_of(shown, finish, whole[1]).strip()
            yield Passage(shown, first, last, (begin, finish) if cut else None)


def _with_heads(shown: ContextItem, said: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join the head of each list entry with the first sentence of its body."""
    heads = {number for each in entries_in(shown) for number in range(each.first, each.head + 1)}
    ends = {shown.units[place].span.end_char for place in heads if place < len(shown.units)}
    opened: int | None = None
    for place, (start, end) in enumerate(said):
        opened = start if opened is None else opened
        if end in ends and place + 1 < len(said):
            continue
        yield opened, end
        opened = None


def slice_of(shown: ContextItem, start: int, end: int) -> str:
    """Return the text between two offsets of a document, which must be within a result."""
    base = shown.result.chunk.span.start_char
    return shown.result.chunk.text[start - base : end - base]


def overlap(a: Passage, b: Passage) -> bool:
    """Return whether two passages overlap in a document."""
    # Chunks of courses overlap, so two results can contain the same sentence.
    if (a.shown.result.chunk.source, a.first.span.path) != (b.shown.result.chunk.source, b.first.span.path):
        return False
    return a.start_char < b.end_char and b.start_char < a.end_char


def joins(before: Passage, after: Passage) -> bool:
    """Return whether one passage directly follows another in the same paragraph."""
    if before.shown is not after.shown or before.end_char > after.start_char:
        return False
    if entry_at(before.shown, before.last.number - 1) != after.entry:
        return False
    between = slice_of(before.shown, before.end_char, after.start_char)
    return not between.strip() and between.count("\n") <= 1


def join_passages(first: Passage, last: Passage) -> Passage:
    """Return the passage from the start of one passage to the end of a later one."""
    part = (first.start_char, last.end_char) if first.part or last.part else None
    return Passage(first.shown, first.first, last.last, part, goes_on=last.goes_on)
