"""Reads OpenDocument texts: headings, paragraphs, lists, tables and notes, in order of the body."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from openbook.sources.readers.composing import Composer
from openbook.sources.readers.docx import CODE_STYLE
from openbook.sources.readers.reading import Reading
from openbook.sources.readers.zipped import Package

_CONTENT = "content.xml"
_MANIFEST = "META-INF/manifest.xml"

# What is deleted, what is made of the rest, and what is no text of the document.
_DROPPED = frozenset(
    """
    tracked-changes table-of-content alphabetical-index illustration-index table-index object-index user-index
    bibliography annotation forms sequence-decls variable-decls user-field-decls note-citation title desc
    """.split()
)

# Spaces are written as a count, which may be anything.
_MOST_SPACES = 100


def read_odt(raw: bytes, path: str) -> Reading:
    """Read an OpenDocument text.

    Headings have the level of the outline, items of lists a dash or their number in the list, a row of
    a table is one line; notes and text boxes follow their paragraph. Left out are indexes, comments and
    what was deleted. No anchors: headings name the places.

    Raises:
        SkippedFileError: The file is damaged, encrypted or too large, or no such text.
    """
    package = Package(raw, path)
    if _MANIFEST in package and b"encryption-data" in package.read(_MANIFEST):
        package.refuse("encrypted")
    if _CONTENT not in package:
        package.refuse("no OpenDocument text")
    root = package.xml(_CONTENT)
    body = root.find("body/text")
    if body is None:
        package.refuse("no OpenDocument text")
    composer = Composer()
    try:
        _Text(root, composer).flow(body)
    except RecursionError:
        package.refuse("nested too deeply")
    has_pictures = next(body.iter("image"), None) is not None
    return composer.reading("odt", ["no text, only pictures"] if has_pictures and not len(composer) else [])


class _Text:
    def __init__(self, root: Element, composer: Composer) -> None:
        self._composer = composer
        self._numbered = {
            style.get("name", "")
            for style in root.iter("list-style")
            if (first := next(iter(style), None)) is not None and first.tag == "list-level-style-number"
        }
        # What is set by hand in a paragraph makes a style without a name of its own.
        self._parents = {style.get("name", ""): style.get("parent-style-name", "") for style in root.iter("style")}

    def flow(self, parent: Element) -> None:
        """Add the parts of a body, a section, a note or a text box."""
        for child in _kept(parent):
            if child.tag in {"h", "p"}:
                self._paragraph(child)
            elif child.tag == "list":
                self._list(child, child.get("style-name", "") in self._numbered, 0)
            elif child.tag == "table":
                self._composer.part()
                for row in _rows(child):
                    self._composer.row(" ".join(_all_words(cell)) for cell in row if cell.tag == "table-cell")
                self._composer.part()
            else:
                self.flow(child)

    def _paragraph(self, paragraph: Element) -> None:
        aside: list[Element] = []
        text = "".join(_words(paragraph, aside))
        if paragraph.tag == "h":
            level = paragraph.get("outline-level", "1")
            self._composer.heading(text, int(level) if level in set("123456789") else 1)
        elif CODE_STYLE.fullmatch(self._style_of(paragraph)):
            self._composer.code(text)
        else:
            self._composer.text(text)
        for part in aside:
            self.flow(part)

    def _style_of(self, paragraph: Element) -> str:
        name = paragraph.get("style-name", "")
        return (self._parents.get(name) or name).replace("_20_", " ")

    def _list(self, parent: Element, is_numbered: bool, depth: int) -> None:
        number = 0
        for item in parent:
            number += item.tag == "list-item"
            for child in item:
                if child.tag == "list":
                    style = child.get("style-name")
                    self._list(child, style in self._numbered if style else is_numbered, depth + 1)
                elif child.tag == "h":
                    self._paragraph(child)
                elif child.tag == "p":
                    self._composer.item(" ".join(_all_words(child)), f"{number}." if is_numbered else "-", depth)


def _kept(parent: Element) -> Iterator[Element]:
    return (child for child in parent if child.tag not in _DROPPED)


def _rows(parent: Element) -> Iterator[Element]:
    for child in parent:
        if child.tag == "table-row":
            yield child
        elif child.tag in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from _rows(child)


def _all_words(parent: Element) -> Iterator[str]:
    """Yield the text of a cell or an item by paragraph, its notes included."""
    aside: list[Element] = []
    yield "".join(_words(parent, aside, " "))
    for part in aside:
        yield from _all_words(part)


def _words(parent: Element, aside: list[Element], border: str = "") -> Iterator[str]:
    """Yield the text of a paragraph, setting notes and text boxes aside."""
    yield parent.text or ""
    for child in parent:
        if child.tag == "s":
            count = child.get("c", "1")
            yield " " * (min(int(count), _MOST_SPACES) if count.isdecimal() and len(count) < 9 else 1)
        elif child.tag == "tab":
            yield "\t"
        elif child.tag == "line-break":
            yield "\n"
        elif child.tag in {"note-body", "text-box"}:
            aside.append(child)
        elif child.tag not in _DROPPED:
            yield from _words(child, aside, border)
            yield border if child.tag in {"p", "h"} else ""
        yield child.tail or ""
