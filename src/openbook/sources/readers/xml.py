"""Reads XML documents: DocBook, TEI, JATS, DITA, feeds. Markup becomes spaces in place, as in HTML.

XML configuration and data are not changed, because their content is in tags and attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from xml.parsers.expat import ExpatError, ParserCreate

from openbook.sources.classify import classify
from openbook.sources.readers.html_marks import character_of
from openbook.sources.readers.reading import Reading
from openbook.text import trim
from openbook.types import Block

# Programs and schemas are read for their tags, however long their comments are.
_PROGRAMS = (".csproj", ".plist", ".props", ".resx", ".targets", ".vcxproj", ".wsdl", ".xlf", ".xsd", ".xsl", ".xslt")

_TITLES = frozenset({"article-title", "head", "heading", "title"})
_LISTINGS = frozenset({"codeblock", "eg", "literallayout", "pre", "programlisting", "screen", "sourcecode", "verbatim"})

# Titles within these are those of other works.
_OF_OTHERS = re.compile(r"bibl|citation|^ref(?:$|-list)", re.IGNORECASE)

# A title in these is the title of the element around them.
_AROUND_TITLES = re.compile(r"(?:info|meta|group|front|prolog|header|stmt|desc)$", re.IGNORECASE)

_MAX_TITLE_CHARS = 300

# In 116 JATS papers, at least 13 % of the words are in elements of eight or more, and in nine of ten papers more than
# 30 %. Configuration and data in 60 repositories have less than 13 %, except templates and files of a few words.
_SENTENCE_WORDS = 8
_MIN_PROSE = 0.25

# Hand-written documents have a depth of about twenty.
_MAX_DEPTH = 200

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_VISIBLE = re.compile(r"[^\r\n]")
_REFERENCE = re.compile(r"&#?\w+;")
_WORD = re.compile(r"\w+")
_WORD_END = re.compile(r"\S*")


def read_xml(text: str, path: str) -> Reading:
    r"""Read XML. Files that are not prose, or not well-formed, are text without blocks.

    Length and lines are those of the file. Inline elements are part of their sentence; block elements begin with a form
    feed. Headings are titles of elements; their level is the number of titled elements around them.

    Example:
        >>> page = "<page><title>Tea</title><para>Pour it &amp; wait for <em>at least</em> four minutes.</para></page>"
        >>> reading = read_xml(page, "tea.xml")
        >>> [" ".join(reading.text[block.start_char : block.end_char].split()) for block in reading.blocks]
        ['Tea', 'Pour it & wait for at least four minutes.']
    """
    kind, language = classify(path, text)
    plain = Reading(text, kind, language)
    if path.lower().endswith(_PROGRAMS) or "{%" in text:
        return plain
    page = _Page(text)
    try:
        visible = page.read()
    except (ExpatError, _RefusedError):
        return plain
    blocks = tuple(page.blocks(visible))
    counts = [len(_WORD.findall(visible, block.start_char, block.end_char)) for block in blocks]
    prose = sum(count for count in counts if count >= _SENTENCE_WORDS)
    if prose < _MIN_PROSE * len(_WORD.findall(text)):
        return plain
    return Reading(visible, "docs", language, blocks)


@dataclass(eq=False, slots=True)
class _Element:
    name: str
    around: _Element | None
    depth: int = 0
    has_words: bool = False
    """Whether it has text of its own, so that its children are inline."""
    level: int = 0
    """Level of its title; 0 before the title."""

    @property
    def is_block(self) -> bool:
        return self.around is None or not self.around.has_words

    def ancestors(self) -> Iterator[_Element]:
        """Yield the enclosing elements, the innermost first."""
        element = self.around
        while element is not None:
            yield element
            element = element.around


class _RefusedError(Exception):
    """The file looks malicious: nested entities, or hundreds of nested elements."""


class _Page:
    """One parse of a file. Entities in its text are not expanded, and nothing external is opened."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces: list[str] = []
        self._reached = 0
        self._padding = 0
        """Spaces that pad replaced references, to be inserted after the current word."""
        self._inside: _Element | None = None
        self._borders: list[tuple[int, _Element, _Element | None]] = []
        """For each tag: its offset, its element, and the element after it."""

    def read(self) -> str:
        """Return the visible text. The parser gets one byte per character, so that its offsets are ours.

        Raises:
            ExpatError: The file is not well-formed.
            _RefusedError: It could take too long.
        """
        parser = ParserCreate("us-ascii")
        parser.UseForeignDTD(True)  # show undeclared entities as written
        parser.StartElementHandler = lambda name, _: self._open(parser.CurrentByteIndex, name)
        parser.EndElementHandler = lambda _: self._close(parser.CurrentByteIndex)
        parser.CharacterDataHandler = lambda data: self._show(parser.CurrentByteIndex, len(data))
        # With a default handler, entities are reported instead of expanded.
        parser.DefaultHandler = lambda data: self._show_entity(parser.CurrentByteIndex, data)
        parser.EntityDeclHandler = _check_entity
        parser.Parse(_NOT_ASCII.sub("x", self._text).encode("ascii"), True)
        self._blank(len(self._text))
        self._pad()
        return self._with_feeds("".join(self._pieces))

    def _open(self, at: int, name: str) -> None:
        depth = self._inside.depth + 1 if self._inside else 0
        if depth > _MAX_DEPTH:
            raise _RefusedError(name)
        self._inside = _Element(name.rpartition(":")[2].lower(), self._inside, depth)
        self._borders.append((at, self._inside, self._inside))

    def _close(self, at: int) -> None:
        if self._inside is not None:
            element, self._inside = self._inside, self._inside.around
            opened = self._borders[-1]
            if opened[1] is element and not element.has_words and self._text.endswith("/>", 0, at):
                self._borders[-1] = (opened[0], element, self._inside)
            else:
                self._borders.append((at, element, self._inside))

    def _show(self, at: int, length: int) -> None:
        self._blank(at)
        reference = _REFERENCE.match(self._text, at) if length == 1 else None
        self._reached = reference.end() if reference else at + length
        source = self._text[at : self._reached]
        word = (character_of(source) or " ") if reference else _WORD_END.match(source)[0]  # type: ignore[index]
        self._pieces.append(word)
        if reference:
            self._padding += len(source) - len(word)
        elif len(word) < len(source):
            self._pad()
            self._pieces.append(source[len(word) :])
        if self._inside is not None:
            self._inside.has_words |= bool(word.strip() or source[len(word) :].strip())

    def _show_entity(self, at: int, data: str) -> None:
        if data.startswith("&") and self._inside is not None:
            self._show(at, 1)

    def _blank(self, end: int) -> None:
        if end > self._reached:
            self._pad()
            self._pieces.append(_VISIBLE.sub(" ", self._text[self._reached : end]))
            self._reached = end

    def _pad(self) -> None:
        self._pieces.append(" " * self._padding)
        self._padding = 0

    def _with_feeds(self, visible: str) -> str:
        """Insert a form feed at each tag of a block element."""
        pieces: list[str] = []
        reached = 0
        for at, element, _ in self._borders:
            if element.is_block:
                pieces += visible[reached:at], "\f"
                reached = at + 1
        return "".join([*pieces, visible[reached:]])

    def blocks(self, visible: str) -> Iterator[Block]:
        """Yield the text between tags of block elements, trimmed."""
        borders = [(at, inside) for at, element, inside in self._borders if element.is_block]
        for (at, inside), (end, _) in pairwise(borders):
            start, end = trim(visible, at, end)
            if start == end or inside is None:
                continue
            title = " ".join(visible[start:end].split())
            level = _level_of(inside) if len(title) <= _MAX_TITLE_CHARS else 0
            if level:
                yield Block(start, end, "heading", level, title)
            else:
                yield Block(start, end, "code" if inside.name in _LISTINGS else "text")


def _level_of(element: _Element) -> int:
    """Return the level of a title; 0 for other elements. The first title of an element is its title."""
    around = list(element.ancestors())
    if element.name not in _TITLES or any(_OF_OTHERS.search(one.name) for one in around):
        return 0
    owner = next((one for one in around if not _AROUND_TITLES.search(one.name)), None)
    if owner is None or owner.level:
        return 0
    owner.level = 1 + max((one.level for one in owner.ancestors()), default=0)
    return owner.level


def _check_entity(name: str, is_parameter: int, value: str | None, *_: str | None) -> None:
    if value is not None and re.search(r"[&%]", value):
        raise _RefusedError(name)
