"""Splits prose by sections and paragraphs, by a fixed number of words, or both.

Also contains what prose and courses share: the parts of a document and the construction of its chunks.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from operator import attrgetter

from openbook.answers import SPOKEN
from openbook.chunking.fixed import ChunkOptions, Cut, Range, cut, pack_windows, word_windows
from openbook.containers import literal_opening
from openbook.entries import MARKED, entry_heads, entry_starts, indent_of, names_of
from openbook.text import CLOCK, LineIndex, paragraphs, trim
from openbook.types import Anchor, Block, Chunk, Document, Lesson

# Deeper indentation is layout, not structure, and would only lengthen chunks.
_LONG_INDENT_CHARS = 120

# The reader of HTML ends the lines of a page by form feeds as well.
_ENDS_LINE = re.compile(r"[\n\f]")

# How code begins in the Markdown of a notebook.
_FENCE = "```"
_OPENS_CODE = (_FENCE, "~~~", " ", "\t")

# Line ends that introduce what is below, and the mark before a definition below its term.
_INTRODUCES = (":", "：")
_DEFINES = (": ", ":\t")

# What is spoken has a time at each pause, which would cut it into sentences. About 45 s of fluent speech, or a minute
# where it is sparse, share the time of the first; citations have their own.
_NEAR_TIME_CHARS, _NEAR_TIME_S = 700, 60

# Web pages give each heading an id, so even sections of one line have anchors. Text within about five lines of an
# anchor is still found by it, so smaller sections share one. Without this, 25 % of the chunks of the books on Cargo and
# rustc in HTML had less than 120 characters; with it, 10 and 14 % have.
_NEAR_ANCHOR_CHARS = 300


class Slicer:
    """Builds the chunks of one document.

    No chunk crosses a border between two anchors, because its one label would be wrong for the rest; only small
    sections of a page, and what is spoken within a minute, share the label of the first. Consecutive anchors with the
    same label are one.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._lines = LineIndex(document.text)
        self.heads = entry_heads(document.text, document.language)
        """Offsets of the heads of definition list entries, in order."""
        self.entries = entry_starts(document.text, self.heads)
        """Offsets of entries, in order."""
        self._listings = [block for block in document.blocks if block.kind == "code"]
        self._labels = [""]
        self.borders: list[int] = [0]
        """Offsets where the label changes, ascending. The first is 0."""
        headings = {block.start_char for block in document.blocks if block.level}
        for anchor in document.anchors:
            if document.language == "html" and anchor.start_char not in headings:
                continue  # the id of a paragraph is no reason to split
            if document.language in SPOKEN and self._is_near(anchor):
                continue
            if anchor.start_char == self.borders[-1]:
                self._labels[-1] = anchor.label
            elif anchor.label != self._labels[-1] and anchor.start_char < len(document.text):
                self.borders.append(anchor.start_char)
                self._labels.append(anchor.label)

        is_fragment = [not label or label.startswith("#") for label in self._labels]
        self.pages: list[int] = [0]
        """For each border, the index of the border at which its page begins: `#usage` is a place on a page."""
        for place in range(1, len(self.borders)):
            self.pages.append(self.pages[-1] if is_fragment[place - 1] and is_fragment[place] else place)

    def _is_near(self, spoken: Anchor) -> bool:
        """Return whether a time is near the last border that has one."""
        if spoken.start_char - self.borders[-1] >= _NEAR_TIME_CHARS:
            return False
        before, here = _seconds(self._labels[-1]), _seconds(spoken.label)
        return before is not None and here is not None and here - before < _NEAR_TIME_S

    def place_of(self, offset: int) -> int:
        """Return the index of the last border at or before `offset`."""
        return bisect_right(self.borders, offset) - 1

    def regions(self) -> list[Range]:
        """List the ranges between borders, which together are the whole text."""
        return list(zip(self.borders, [*self.borders[1:], len(self._document.text)], strict=True))

    def parts(self) -> list[Block]:
        """List the blocks of the document in order, split at borders and without blank edges.

        Text outside of blocks becomes a text block of the preceding lesson.
        """
        text = self._document.text
        found: list[Block] = []
        for block in _filled(self._document):
            for start, end in self._split(block):
                first, behind = trim(text, start, end)
                if first < behind:
                    # Keep the indentation of the first line.
                    start = max(start, text.rfind("\n", start, first) + 1)
                    is_whole = (start, behind) == (block.start_char, block.end_char)
                    found.append(block if is_whole else replace(block, start_char=start, end_char=behind))
        return found

    def chunk(self, start: int, end: int, context: tuple[str, ...], lesson: Lesson | None = None) -> Chunk:
        """Build a chunk: blank edges are trimmed, the indentation of its first line is kept.

        It defines the names of the definition list entries that begin in it. The range must not be blank.
        """
        text = self._document.text
        start, end = trim(text, start, end)
        place = self.place_of(start)
        floor = max(self.borders[place], start - _LONG_INDENT_CHARS)
        margin = start - len(text[floor:start]) + len(text[floor:start].rstrip(" \t"))
        if margin == 0 or text[margin - 1] == "\n":
            start = margin
        return Chunk(
            source=self._document.source,
            span=self._lines.span(self._document.path, start, end),
            text=text[start:end],
            kind=self._document.kind,
            language=self._document.language,
            defines=self._names_in(start, end),
            context=context,
            anchor=self._labels[place],
            lesson=lesson,
            code_opening=self._code_opening(start),
        )

    def depth(self, start: int, end: int) -> int:
        """Return the nesting depth of a piece: deeper than the one above that it belongs to."""
        if self._document.language in MARKED:  # its text has marks instead of indentation
            return int(bisect_left(self.entries, start) == bisect_left(self.entries, end) > 0)
        if self._document.language == "html":
            return 0
        text = self._document.text
        begins = text.rfind("\n", 0, start) + 1
        # Not the whole line, which may be as long as the document.
        opening = text[begins : min(end, begins + _LONG_INDENT_CHARS)]
        return indent_of(opening) + opening.startswith(_DEFINES)

    def _code_opening(self, start: int) -> str:
        """Return the line above that opens the code block in which a chunk begins; empty if none does."""
        place = bisect_right(self._listings, start, key=attrgetter("start_char")) - 1
        if place < 0 or start >= self._listings[place].end_char:
            return ""
        text, opened = self._document.text, self._listings[place].start_char
        if self._document.language == "rst":
            return literal_opening(text, opened)
        if self._document.language == "notebook" and not text.startswith(_OPENS_CODE, opened):
            return _FENCE  # a cell of code has no fence of its own
        return _ENDS_LINE.split(text[opened:start], maxsplit=1)[0]

    def _names_in(self, start: int, end: int) -> tuple[str, ...]:
        heads = self.heads[bisect_left(self.heads, (start, 0)) : bisect_left(self.heads, (end, 0))]
        return tuple(
            dict.fromkeys(name for first, behind in heads for name in names_of(self._document.text[first:behind]))
        )

    def _split(self, block: Block) -> Iterator[Range]:
        inner = self.borders[bisect_right(self.borders, block.start_char) : bisect_left(self.borders, block.end_char)]
        return zip([block.start_char, *inner], [*inner, block.end_char], strict=True)


def _seconds(label: str) -> int | None:
    """Return the seconds of a time such as `0:01:30`; None for other labels, which readers of others may write."""
    if CLOCK.fullmatch(label) is None:
        return None
    hours, minutes, seconds = map(int, label.split(":"))
    return (60 * hours + minutes) * 60 + seconds


@dataclass(slots=True)
class _Section:
    """A heading and the text below it up to the next one, all between the same two borders."""

    page: int
    """Index of the border at which its page begins."""
    path: tuple[str, ...]
    """Titles of the enclosing headings, outermost first."""
    top: int
    """Number of the outermost heading in the document; 0 before the first."""
    place: int
    """Index of the preceding border."""
    parts: list[Block]
    closes: bool = False
    """It ends the sections of a body above."""

    @property
    def start_char(self) -> int:
        return self.parts[0].start_char

    @property
    def end_char(self) -> int:
        return self.parts[-1].end_char

    @property
    def has_body(self) -> bool:
        return self.parts[-1].kind != "heading"


def chunk_prose(document: Document, options: ChunkOptions) -> list[Chunk]:
    """Split a document at its headings, in order of appearance.

    The context of a chunk is the path of headings above all of its text. Chunks of the semantic strategy do not
    overlap. Blank text has no chunks.
    """
    text = document.text
    slicer = Slicer(document)
    sections = sections_of(slicer.parts(), slicer)
    if options.strategy == "fixed-size":
        ranges = [window for region in slicer.regions() for window in word_windows(text, *region, options)]
    else:
        cut_group = _by_pieces if options.strategy == "semantic" else _by_words
        ranges = [
            window for group in groups_of(text, sections, options) for window in cut_group(text, group, options, slicer)
        ]
    return [slicer.chunk(start, end, shared_path(sections, start, end)) for start, end in ranges]


def pieces(text: str, parts: Iterable[Block], max_chars: int, cut_text: Cut) -> list[Range]:
    """Cut parts into pieces of at most `max_chars`, in order, to be packed into windows.

    Text is always cut by `cut_text`, code only if it is too long. Headings are one piece with the text after them,
    which may add up to half of `max_chars`.
    """
    found: list[Range] = []
    heading: Range | None = None
    for part in parts:
        whole = (part.start_char, part.end_char)
        stretches = cut_text(text, *whole) if part.kind == "text" else [whole]
        for start, end in (piece for stretch in stretches for piece in cut(text, *stretch, max_chars)):
            piece = (start, end)
            if heading is not None:
                if start - heading[0] <= max_chars // 2:
                    piece = (heading[0], end)
                else:
                    found.append(heading)
            heading = piece if part.kind == "heading" else None
            if heading is None:
                found.append(piece)
    return found if heading is None else [*found, heading]


def _by_pieces(text: str, group: Sequence[_Section], options: ChunkOptions, slicer: Slicer) -> Iterator[Range]:
    start, end = group[0].start_char, group[-1].end_char
    if end - start <= options.max_chars:
        yield start, end
        return
    entries = slicer.entries[bisect_left(slicer.entries, start) : bisect_left(slicer.entries, end)]

    def cut_text(text: str, first: int, behind: int) -> Iterator[Range]:
        borders = entries[bisect_right(entries, first) : bisect_left(entries, behind)]
        for a, b in zip([first, *borders], [*borders, behind], strict=True):
            yield from paragraphs(text, a, b)

    parts = (part for section in group for part in section.parts)
    found = pieces(text, parts, options.max_chars, cut_text)
    tied = _tied(found, [slicer.depth(*piece) for piece in found], options.max_chars)
    yield from _windows(list(_with_introductions(text, tied, options.max_chars)), options.max_chars)


def _tied(cuttings: Sequence[Range], depths: Sequence[int], max_chars: int) -> Iterator[Range]:
    """Join each piece with the deeper ones below it if they fit, else with the first of them.

    This keeps a list item, an option, an admonition or a term with its body, or with the beginning of it.
    """
    first = fitting = 0
    while first < len(cuttings):
        fitting = max(fitting, first + 1)
        while fitting < len(cuttings) and cuttings[fitting][1] - cuttings[first][0] <= max_chars:
            fitting += 1
        behind = next((n for n in range(first + 1, fitting) if depths[n] <= depths[first]), fitting)
        if behind < len(cuttings) and depths[behind] > depths[first]:
            behind = next((n for n in range(first + 1, fitting) if depths[n] <= depths[n - 1]), fitting)
        yield cuttings[first][0], cuttings[behind - 1][1]
        first = behind


def _with_introductions(text: str, cuttings: Iterable[Range], max_chars: int) -> Iterator[Range]:
    """Join an introduction such as "The options are as follows:" with the first piece of its list or example."""
    held = (0, 0)
    for first, behind in cuttings:
        if text.endswith(_INTRODUCES, *held) and behind - held[0] <= max_chars:
            held = held[0], behind
            continue
        if held[1]:
            yield held
        held = first, behind
    yield held


def _windows(cuttings: Sequence[Range], max_chars: int) -> Iterator[Range]:
    """Pack pieces into windows, the last two of similar size.

    A remainder of a line or two would rank high because it is short, and answer nothing. In the Markdown and
    reStructuredText of a folder of packages, 63 of the 4,454 chunks of long sections had less than 160 characters
    without this; with it, 14 have.
    """
    found = list(pack_windows(cuttings, max_chars=max_chars))
    if len(found) > 1:
        first, behind = found[-2][0], found[-1][1]
        start, end = cuttings[first][0], cuttings[behind - 1][1]
        border = min(
            range(first + 1, behind), key=lambda index: max(cuttings[index - 1][1] - start, end - cuttings[index][0])
        )
        found[-2:] = [(first, border), (border, behind)]
    for first, behind in found:
        yield cuttings[first][0], cuttings[behind - 1][1]


def _by_words(text: str, group: Sequence[_Section], options: ChunkOptions, _slicer: Slicer) -> Iterator[Range]:
    return word_windows(text, group[0].start_char, group[-1].end_char, options)


def sections_of(parts: Iterable[Block], slicer: Slicer) -> list[_Section]:
    """Return the sections of consecutive parts, in order. Text above the first heading is one as well."""
    found: list[_Section] = []
    opened: list[Block] = []
    top = 0
    for part in parts:
        place, count = slicer.place_of(part.start_char), len(opened)
        closes = min(filter(None, (part.level, part.closes)), default=0)
        while closes and opened and opened[-1].level >= closes:
            opened.pop()
        if part.kind == "heading":
            top += not opened
            opened.append(part)
        elif found and found[-1].place == place and len(opened) == count:
            found[-1].parts.append(part)
            continue
        # A tab often begins with a heading of the same name.
        path = tuple(title for title, _ in groupby(heading.title for heading in opened) if title)
        found.append(_Section(slicer.pages[place], path, top, place, [part], part.closes > 0))
    return found


def groups_of(text: str, sections: Iterable[_Section], options: ChunkOptions) -> Iterator[list[_Section]]:
    """Yield neighbours that are small enough together as one group, and other sections alone."""
    headed = _joined(sections, options.max_chars // 2)
    for _, run in groupby(headed, key=lambda section: (section.page, section.top)):
        group: list[_Section] = []
        for section in run:
            if group and not _fit_together(text, group[0], section, options):
                yield group
                group = []
            group.append(section)
        yield group


def _fit_together(text: str, first: _Section, last: _Section, options: ChunkOptions) -> bool:
    above = first.path[:-1]
    if last.closes and last.path[: len(above)] != above:
        return False  # what a tab is about stands above it, outside of the chunk
    start, end = first.start_char, last.end_char
    if first.place == last.place:
        return end - start <= options.merge_chars
    # Do not count the spaces that replaced markup.
    shown = end - start <= options.max_chars and len(" ".join(text[start:end].split()))
    return 0 < shown <= min(options.merge_chars, _NEAR_ANCHOR_CHARS)


def _joined(sections: Iterable[_Section], max_heading_chars: int) -> Iterator[_Section]:
    """Prepend headings without a body to the next section, so that no chunk ends with one."""
    waiting: _Section | None = None
    for section in sections:
        if waiting is not None:
            if section.page == waiting.page and section.start_char - waiting.start_char <= max_heading_chars:
                section = replace(section, place=waiting.place, parts=[*waiting.parts, *section.parts])
            else:
                yield waiting
        waiting = None if section.has_body else section
        if waiting is None:
            yield section
    if waiting is not None:
        yield waiting


def shared_path(sections: Sequence[_Section], start: int, end: int) -> tuple[str, ...]:
    """Return the titles of the headings above all text of a range, outermost first."""
    begin = attrgetter("start_char")
    sections = sections[bisect_right(sections, start, key=begin) - 1 : bisect_left(sections, end, key=begin)]
    # No text is below a heading without a body.
    first, *others = [section.path for section in sections if section.has_body] or [
        section.path for section in sections
    ]
    for path in others:
        first = tuple(title for title, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, path, strict=False)))
    return first


def _filled(document: Document) -> Iterator[Block]:
    """Yield the blocks, and text blocks for the gaps between them."""
    position = 0
    lesson = _before_lessons(document)
    for block in document.blocks:
        if position < block.start_char:
            yield Block(position, block.start_char, lesson=lesson)
        yield block
        position, lesson = block.end_char, block.lesson
    if position < len(document.text):
        yield Block(position, len(document.text), lesson=lesson)


def _before_lessons(document: Document) -> Lesson | None:
    first = next((block.lesson for block in document.blocks if block.lesson is not None), None)
    return first and replace(first, number=None, title="", link="")
