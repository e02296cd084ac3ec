"""Reads HTML into the text that a browser shows, with the same lines as the file."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from operator import itemgetter

from openbook.entries import END_OF_HEADING
from openbook.sources.readers.html_content import (
    attributes,
    content_marks,
    without_notes,
    without_permalinks,
    without_title,
)
from openbook.sources.readers.html_marks import MarkupScanner, MarkupSpan, character_of
from openbook.sources.readers.reading import Reading
from openbook.text import trim
from openbook.types import BEGIN_OF_CODE, END_OF_CODE, Anchor, Block, shown_text

# Block-level elements. Cells are not among them, because a row is one line.
_BLOCK_ELEMENTS = frozenset(
    """
    address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol option p pre search
    section select summary table tbody textarea tfoot thead title tr ul
    """.split()
)

_CELLS = frozenset({"td", "th"})
_CELL_GAP = "  "  # as wide as between columns of plain text, and no word

_HEADINGS = {"title": 1} | {f"h{level}": level for level in range(1, 7)}

# Elements on which documentation generators put section ids, besides a `div` with class section.
_ANCHOR_ELEMENTS = frozenset({"a", "article", "section", "span"})

# Open elements that end implicitly where one of these begins. Any other block element ends only a paragraph.
_ENDING = {"li": frozenset({"li", "p"}), "dt": frozenset({"dt", "dd", "p"}), "dd": frozenset({"dt", "dd", "p"})}

_NO_LINE_END = re.compile(r"[^\r\n]+")
_TEMPLATE = re.compile(r"\{\{|\{%")
# What distinguishes templates from prose about templates or formulas: instructions between tags, or in attributes.
_TEMPLATE_ALONE = re.compile(r"\s*\{[{%].*[}%]\}\s*", re.DOTALL)
# Two chapters of the rustc book have 1 %, left there by its generator; templates have more than 10 %.
_MAX_ALONE = 0.03
_TEMPLATE_IN_TAG = re.compile(r"\b(?:action|class|href|id|src|value)\s*=\s*[\"']?[^\"'<>]{0,200}\{[{%]", re.IGNORECASE)
_WHOLE_PAGE, _BEGINNING_CHARS = re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE), 1024

# A superscript number, before or after the end of the tag.
_RAISED_NUMBER = re.compile(r"\s*(?:<\w[^<>]*>\s*)?(?:[-+\u2212\u2013]|&(?:minus|ndash|#8722|#x2212);)?\d")
_RAISING_TAG = re.compile(rf"<sup\b[^<>]*>(?={_RAISED_NUMBER.pattern})", re.IGNORECASE)

# Permalinks that documentation generators append to headings. A heading may end in "#", but not consist of it.
_PERMALINK = re.compile(r" ?[¶§🔗]$|(?:^| )#$")


def read_html(text: str, path: str = "") -> Reading:
    r"""Read HTML.

    Tags, comments, scripts and styles are removed, except for their line ends; a block-level tag becomes a form feed,
    the text of `pre` is between two marks of `openbook.types`, and the cells of a row are apart. A character
    reference becomes its character. A `^` is before a superscript number, unless it is a footnote link. Such links, and
    permalinks of headings, are removed. Blocks are headings, `pre` as code, and text between block-level tags. The
    title of a page is its first heading; it is removed if there is a heading of level 1. Anchors are the ids of
    headings and of the sections they open, as `#id`, and those of other block elements that contain text.

    Menus and other boilerplate are removed too, unless nothing else remains. Templates and pages without visible text
    are code and are not changed. A complete page with a heading may have template instructions in its sentences.

    Example:
        >>> reading = read_html("<h1 id=a>A &amp; B</h1><p>te<b>x</b>t")
        >>> reading.text
        '\x0cA & B\x0c\x0ctext'
        >>> [(block.kind, block.title) for block in reading.blocks], reading.anchors
        ([('heading', 'A & B'), ('text', '')], (Anchor(start_char=1, label='#a'),))
    """
    source, text = text, shown_text(text)  # our marks are reserved
    marks = _marks(text, is_xml=path.lower().endswith(".xhtml") or text.startswith("<?xml"))
    content = content_marks(text, marks)
    page = _Page(text, without_title(text, content))
    is_suspect = _TEMPLATE.search(text) or any(mark.kind == "template" for mark in marks)
    if content != marks and (is_suspect or not page.has_content):
        whole = _Page(text, without_title(text, marks))
        if whole.is_template or not page.has_content:
            page = whole
    if page.is_template or not page.visible.strip():
        return Reading(source, "code", "html")
    return Reading(page.visible, "docs", "html", tuple(page.blocks), tuple(page.anchors))


def read_chapter(text: str) -> tuple[str, Reading]:
    r"""Read a page of a book, which is XHTML: its title, and its visible text.

    It differs from `read_html` in that table cells begin with `|`, code is not marked, and the title is kept.

    Example:
        >>> title, chapter = read_chapter("<title>1</title><p><b>B</b>read<br/>&amp; salt</p>")
        >>> title, [chapter.text[block.start_char : block.end_char] for block in chapter.blocks]
        ('1', ['Bread\x0c& salt'])
    """
    page = _Page(text, _marks(text, is_xml=True), is_chapter=True)
    title = " ".join(page.visible[: max(0, page.title_end)].split())
    blocks = tuple(block for block in page.blocks if block.start_char >= page.title_end)
    return title, Reading(page.visible, "docs", "html", blocks)


def _marks(text: str, *, is_xml: bool) -> list[MarkupSpan]:
    marks = without_notes(text, list(MarkupScanner(text, is_xml=is_xml).marks()))
    return without_permalinks(text, marks)


class _OpenElements:
    """The open block elements, and the id that applies."""

    def __init__(self) -> None:
        self._opened: list[tuple[str, int, str]] = []
        self._names: Counter[str] = Counter()
        self._term = (0, "")

    def turn(self, offset: int, mark: MarkupSpan, name: str) -> None:
        """Process a tag, with or without an id."""
        if mark.kind == "open":
            while self._opened and self._opened[-1][0] in _ENDING.get(mark.name, {"p"}):
                self._close()
            # The definition of a term has the anchor of the term.
            around = self._term if mark.name == "dd" else self.id
            self._opened.append((mark.name, *((offset, f"#{name}") if name else around)))
            self._names[mark.name] += 1
        elif self._names[mark.name]:
            while self._close() != mark.name:
                pass

    @property
    def id(self) -> tuple[int, str]:
        """The offset of the tag with the innermost id, and the id; 0 and empty without one."""
        return self._opened[-1][1:] if self._opened else (0, "")

    def _close(self) -> str:
        name, offset, label = self._opened.pop()
        self._names[name] -= 1
        if name == "dt":
            self._term = (offset, label)
        return name


class _Page:
    """The visible content of a page.

    Args:
        text: The page.
        marks: The relevant markup, in order.
        is_chapter: Whether it is read for a book: cells begin with `|`, and code is not marked.
    """

    def __init__(self, text: str, marks: Iterable[MarkupSpan], *, is_chapter: bool = False) -> None:
        self._text = text
        self._is_chapter = is_chapter
        self._pieces: list[str] = []
        self._length = 0
        self._borders: list[tuple[int, MarkupSpan]] = []
        self._code_depth = 0
        self._listing = -1
        """Index of the piece before the text of the open `pre`; -1 outside of one."""
        self._ids: list[tuple[int, int, str]] = []
        """Ids of headings and of possible heading anchors, after the offsets of their tags in the text and the page."""
        self._block_ids: dict[int, str] = {}
        """Ids of other block elements, by the offset of their tags in the page."""
        self._anchored_level = 0
        self._heading = (-1, "")
        """Start of the last heading, and the label of the text below it."""
        self._is_begun = False
        """Whether the block or cell contains text so far."""
        self._has_template_marks = False
        self._has_marked_tags = False
        self._alone_count = 0
        """Number of template instructions that open a block."""
        self.is_template = False
        self.title_end = -1
        """End of the page title, which is not content; -1 without a title."""
        self.anchors: list[Anchor] = []
        self.visible = self._read(marks)
        self.blocks = list(self._blocks())
        self.is_template |= self._has_template_marks and not self._is_page_with_heading()
        self.has_content = bool(self.blocks) and self.blocks[-1].start_char >= self.title_end

    def _read(self, marks: Iterable[MarkupSpan]) -> str:
        """Return the visible text. Records block borders and template instructions."""
        reached = 0
        for mark in marks:
            self._keep(self._text[reached : mark.start_char])
            self._replace(mark)
            reached = mark.end_char
        self._keep(self._text[reached:])
        return "".join(self._pieces)

    def _keep(self, text: str) -> None:
        # Documentation of a template language shows instructions, but in code or in sentences.
        if not self._code_depth and _TEMPLATE.search(text):
            self._has_template_marks = True
            self.is_template |= self.title_end < 0
            self._alone_count += not self._is_begun and _TEMPLATE_ALONE.fullmatch(text) is not None
        if text and not text.isspace():
            self._begin()
        self._put(text)

    def _begin(self) -> None:
        """Note that visible text follows."""
        self._is_begun = True
        if self._listing >= 0:
            self._pieces[self._listing] = BEGIN_OF_CODE

    def _is_page_with_heading(self) -> bool:
        if self._has_marked_tags or self._alone_count > len(self.blocks) * _MAX_ALONE:
            return False
        heads = [block.title for block in self.blocks if block.level and block.start_char >= self.title_end]
        is_whole = _WHOLE_PAGE.search(self._text[:_BEGINNING_CHARS]) is not None
        return is_whole and bool(heads) and not any(map(_TEMPLATE.search, heads))

    def _put(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._length += len(text)

    def _replace(self, mark: MarkupSpan) -> None:
        source = self._text[mark.start_char : mark.end_char]
        if mark.kind == "character":
            self._begin()
            self._put(character_of(source))
            return
        self._put(_NO_LINE_END.sub("", source))
        if mark.kind == "template":
            self.is_template = True
        elif mark.kind == "hidden" and mark.name in _BLOCK_ELEMENTS:
            self._put_feed()
        elif mark.kind in {"open", "close"}:
            self._count_code(mark)
            self._note(mark, source)
            self._has_marked_tags |= _TEMPLATE_IN_TAG.search(source) is not None
            self._separate(mark)

    def _separate(self, mark: MarkupSpan) -> None:
        """Write the sign of a tag that separates text, or raises a number."""
        if mark.name in _BLOCK_ELEMENTS:
            self._end_listing(mark)
            self._end_heading(mark)
            self._borders.append((self._length, mark))
            self._put_feed()
            self._begin_listing(mark)
        elif mark.name in _CELLS and mark.kind == "open":
            self._put(" | " if self._is_chapter else _CELL_GAP)
        elif self._is_begun and _RAISING_TAG.match(self._text, mark.start_char):
            self._put("^")
        self._is_begun &= mark.name not in _BLOCK_ELEMENTS and mark.name not in _CELLS

    def _begin_listing(self, mark: MarkupSpan) -> None:
        if mark.name == "pre" and mark.kind == "open" and self._listing < 0 and not self._is_chapter:
            self._listing = len(self._pieces)
            self._put(" ")  # until there is code
            self._put_feed()

    def _end_listing(self, mark: MarkupSpan) -> None:
        if mark.name == "pre" and mark.kind == "close" and self._listing >= 0:
            if self._pieces[self._listing] == BEGIN_OF_CODE:
                self._put_feed()
                self._put(END_OF_CODE)
            self._listing = -1

    def _end_heading(self, mark: MarkupSpan) -> None:
        """Mark the end of a heading, directly behind its text."""
        if mark.kind != "close" or mark.name not in _HEADINGS or not self._is_begun or self._is_chapter:
            return
        behind: list[str] = []
        while self._pieces and self._pieces[-1].isspace() and self._pieces[-1] != "\f":
            behind.insert(0, self._pieces.pop())
        text = self._pieces[-1].rstrip() if self._pieces else ""
        if text:
            feeds = END_OF_HEADING + "\f" * (_HEADINGS[mark.name] - 1)
            self._pieces[-1:] = filter(None, (text, feeds, self._pieces[-1][len(text) :]))
            self._length += len(feeds)
        self._pieces += behind

    def _put_feed(self) -> None:
        # Not two in a row, which mark headings.
        if not self._pieces or not self._pieces[-1].endswith("\f"):
            self._put("\f")

    def _count_code(self, mark: MarkupSpan) -> None:
        if mark.name in {"pre", "code", "kbd", "samp", "tt"}:
            self._code_depth = max(0, self._code_depth + (1 if mark.kind == "open" else -1))

    def _note(self, mark: MarkupSpan, source: str) -> None:
        """Record the id of a tag if headings may be linked by it."""
        if mark.kind == "close":
            self.title_end = self._length if mark.name == "title" and self.title_end < 0 else self.title_end
        elif mark.name in _HEADINGS or mark.name in _ANCHOR_ELEMENTS or (mark.name == "div" and "section" in source):
            values = attributes(source)
            name = values.get("id") or (values.get("name") if mark.name == "a" else "")
            if name and not any(map(str.isspace, name)):
                self._ids.append((self._length, mark.start_char, name))
        if mark.kind == "open" and mark.name in _BLOCK_ELEMENTS and "id" in source:
            name = attributes(source).get("id") or ""
            if not any(map(str.isspace, name)):
                self._block_ids[mark.start_char] = name

    def _blocks(self) -> Iterator[Block]:
        """Yield the blocks between borders, trimmed."""
        start, before, reached, opened = 0, MarkupSpan(0, 0, "close"), 0, _OpenElements()
        end = MarkupSpan(len(self._text), len(self._text), "close")
        for border, mark in [*self._borders, (len(self.visible), end)]:
            inside = before.name if before.kind == "open" else ""
            if mark is not end:
                if inside == "pre" and mark.name != "pre":
                    continue  # block elements within a code block are lines of highlighted code
                if mark.name == "br":
                    continue  # a line break does not end a paragraph
            if (block := self._block(start, border, inside)) is not None:
                if block.level:
                    self._anchor(block, reached, before.start_char, mark.start_char)
                else:
                    self._anchor_text(block, *opened.id)
                yield block
                reached = block.end_char
            opened.turn(border, mark, self._block_ids.get(mark.start_char, ""))
            start, before = border, mark

    def _block(self, start: int, end: int, inside: str) -> Block | None:
        start, end = trim(self.visible, start, end)
        if start == end:
            return None
        level = _HEADINGS.get(inside, 0)
        if level:
            title = " ".join(self.visible[start:end].split())
            return Block(start, end, "heading", level, _PERMALINK.sub("", title))
        return Block(start, end, "code" if inside == "pre" else "text")

    def _anchor(self, block: Block, reached: int, tag: int, end: int) -> None:
        """Anchor a heading by the id of its own tag, of one in it, or of the last tag since the previous text.

        `tag` and `end` are offsets in the page, since tags have no length in the text.
        """
        first = bisect_left(self._ids, (reached, 0, ""))
        own, behind = (bisect_left(self._ids, offset, key=itemgetter(1)) for offset in (tag, end))
        if first < behind:
            name = self._ids[own if own < behind else own - 1][2]
            self.anchors.append(Anchor(block.start_char, f"#{name}"))
            self._anchored_level = block.level
        elif 0 < block.level <= self._anchored_level:
            # Text below a new heading no longer belongs to the previous anchor.
            self.anchors.append(Anchor(block.start_char, ""))
        else:
            self._anchor_text(block, 0, "")
        self._heading = (block.start_char, self.anchors[-1].label if self.anchors else "")

    def _anchor_text(self, block: Block, tag: int, label: str) -> None:
        """Anchor text by the id of an element around it, unless the last heading is nearer."""
        heading, under = self._heading
        label = label if label and tag > heading else under
        if label != (self.anchors[-1].label if self.anchors else ""):
            self.anchors.append(Anchor(block.start_char, label))
