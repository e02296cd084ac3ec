"""Reads Word documents: headings, paragraphs, lists, tables, notes and text boxes, in document order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from openbook.sources.readers.composing import Composer
from openbook.sources.readers.docx_lists import ListNumbering, integer, value
from openbook.sources.readers.formulas import formula, on_one_line, raised
from openbook.sources.readers.reading import Reading
from openbook.sources.readers.symbols import FIRST_PICTURE, SYMBOLS
from openbook.sources.readers.zipped import ZipPackage

# Private use area in which symbol fonts place their glyphs, at the codes of letters.
_PICTURES = range(FIRST_PICTURE + 0x20, FIRST_PICTURE + 0x100)

_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{1,4}")


def sign(sym: Element) -> str:
    """Return the character of a symbol given by font and number; U+FFFD if unknown.

    Example:
        >>> [sign(Element("sym", font=font, char=char)) for font, char in (("Symbol", "F0B0"), ("Arial", "00D7"))]
        ['°', '×']
    """
    digits = sym.get("char", "")
    number = int(digits, 16) if _HEXADECIMAL.fullmatch(digits) else 0
    if number not in _PICTURES:
        return chr(number) if number else "\ufffd"
    return SYMBOLS.get(number - FIRST_PICTURE, "\ufffd") if sym.get("font", "").lower() == "symbol" else "\ufffd"


# Built-in styles have English names in the file, whatever the language of the program.
_HEADING_STYLE = re.compile(r"heading (\d)", re.IGNORECASE)
_CONTENTS_STYLE = re.compile(r"toc (?:\d|heading)", re.IGNORECASE)
_TITLE_STYLE = "title"

# Names used by Word, LibreOffice, pandoc and authors.
CODE_STYLE = re.compile(r"html preformatted|preformatted text|(?:source )?code(?: block)?|listing", re.IGNORECASE)

# Outline levels start at 0; 9 is body text.
_BODY_LEVEL = 9

# Deleted text, field codes, properties, and the fallback version of alternate content.
_DROPPED = frozenset({"del", "moveFrom", "Fallback", "instrText", "delText", "pPr", "rPr", "sectPr", "sdtPr"})
_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}

# Tracked changes of a paragraph mark by which the paragraph is no longer one of its own.
_MARK_GONE = ("pPr/rPr/del", "pPr/rPr/moveFrom")
_OFF = frozenset({"0", "false", "off"})

# Limit of the chain of styles that are based on each other.
_MAX_ANCESTORS = 20


@dataclass(frozen=True, slots=True)
class _Style:
    """The relevant properties of a style or paragraph."""

    name: str = ""
    level: int | None = None
    """Outline level, from 0."""
    numbering: str | None = None
    depth: int = 0
    is_hidden: bool = False


def read_docx(raw: bytes, path: str) -> Reading:
    """Read a Word document.

    Headings are recognized by style or outline level; a title is above all of them. List items keep their bullet or
    number, a table row is one line, notes and text boxes follow their paragraph. A superscript number is preceded by
    `^`, a fraction has a `/`. Tracked changes are read as accepted. Hidden text, tables of contents, comments, page
    headers and footers are left out. There are no anchors, since headings name the places.
    """
    package = ZipPackage(raw, path)
    try:
        return _Word(package).read()
    except RecursionError:
        package.refuse("nested too deeply")


class _Word:
    def __init__(self, package: ZipPackage) -> None:
        self._package = package
        self._main = package.related_by("", "officeDocument")
        self._styles = self._read_styles()
        self._lists = ListNumbering(self._related("numbering"))
        self._notes = {kind: self._read_notes(kind) for kind in _NOTES.values()}
        self._composer = Composer()
        self._title_levels = 0

    def read(self) -> Reading:
        body = self._package.xml(self._main).find("body") if self._main else None
        if body is None:
            self._package.refuse("not a Word file")
        _join_paragraphs(body)
        self._flow(body)
        has_pictures = any(element.tag in {"drawing", "pict"} for element in body.iter())
        remarks = ["no text, only pictures"] if has_pictures and not len(self._composer) else []
        return self._composer.reading("docx", remarks)

    def _flow(self, parent: Element) -> None:
        """Add the paragraphs and tables of a body, a text box or a note."""
        for child in _visible(parent):
            if child.tag == "p":
                self._paragraph(child)
            elif child.tag == "tbl":
                self._composer.part()
                self._table(child)
                self._composer.part()
            else:
                self._flow(child)

    def _paragraph(self, paragraph: Element) -> None:
        style = self._style_of(paragraph)
        if _CONTENTS_STYLE.fullmatch(style.name):
            return
        aside: list[Element] = []
        text = self._line(paragraph, aside)
        if style.level is not None and text.strip():
            self._title_levels |= style.level < 0
            self._composer.heading(text, style.level + 1 + self._title_levels)
        elif style.numbering in self._lists and text.strip():
            self._composer.item(text, self._lists.mark(style.numbering or "", style.depth), style.depth)
        elif CODE_STYLE.fullmatch(style.name):
            self._composer.code(text)
        else:
            self._composer.text(text)
        for part in aside:
            self._flow(part)

    def _line(self, paragraph: Element, aside: list[Element]) -> str:
        """Return the text of a paragraph, collecting its notes and text boxes in `aside`."""
        return on_one_line("".join(self._words(paragraph, aside, self._style_of(paragraph))))

    def _words(self, parent: Element, aside: list[Element], style: _Style) -> Iterator[str]:
        for child in _visible(parent):
            if child.tag == "r" and self._is_hidden(child, style):
                continue
            if child.tag == "t":
                yield child.text or ""
            elif child.tag in _CHARACTERS:
                yield _CHARACTERS[child.tag]
            elif child.tag in _NOTES:
                # Pop: notes that cite themselves or each other would never end.
                note = self._notes[_NOTES[child.tag]].pop(child.get("id", ""), None)
                aside.extend([] if note is None else [note])
            elif child.tag == "txbxContent":
                aside.append(child)
            elif child.tag == "sym":
                yield sign(child)
            elif child.tag == "oMath":
                yield formula(child)
            elif child.find("rPr/vertAlign[@val='superscript']") is not None:
                yield raised("".join(self._words(child, aside, style)))
            else:
                yield from self._words(child, aside, style)

    def _is_hidden(self, run: Element, style: _Style) -> bool:
        """Return whether a run is hidden: by itself, by its character style, or by the style of its paragraph."""
        properties = run.find("rPr")
        if properties is None:
            return style.is_hidden
        named = self._styles.get(value(properties, "rStyle"), style)
        return _hides(properties, style.is_hidden or named.is_hidden)

    def _table(self, parent: Element) -> None:
        for child in _visible(parent):
            if child.tag != "tr":
                self._table(child)
            elif child.find("trPr/del") is None:
                self._composer.row(self._cells(child))

    def _cells(self, parent: Element) -> Iterator[str]:
        for child in _visible(parent):
            if child.tag == "tc":
                aside: list[Element] = []
                words = list(self._cell(child, aside))
                for part in aside:  # grows during the loop by nested notes
                    words.extend(self._cell(part, aside))
                yield "".join(words)
            elif child.tag != "trPr":
                yield from self._cells(child)

    def _cell(self, parent: Element, aside: list[Element]) -> Iterator[str]:
        """Yield the text of a cell, including nested tables, collecting its notes in `aside`."""
        for child in _visible(parent):
            if child.tag == "p":
                yield self._line(child, aside)
                yield "\n"
            else:
                yield from self._cell(child, aside)

    def _style_of(self, paragraph: Element) -> _Style:
        properties = paragraph.find("pPr")
        if properties is None:
            return self._styles.get("", _Style())
        return _described(properties, self._styles.get(value(properties, "pStyle"), self._styles.get("", _Style())))

    def _related(self, kind: str) -> Element | None:
        part = self._package.related_by(self._main, kind)
        return self._package.xml(part) if part else None

    def _read_styles(self) -> dict[str, _Style]:
        """Read the styles of paragraphs and characters by id. The default style also has the empty id."""
        root = self._related("styles")
        found = {style.get("styleId", ""): style for style in root.iter("style")} if root is not None else {}
        styles: dict[str, _Style] = {}
        for name, element in found.items():
            line = [element]
            while len(line) < _MAX_ANCESTORS and (above := found.get(value(line[-1], "basedOn"))) is not None:
                line.append(above)
            style = _Style()
            for ancestor in reversed(line):
                properties = ancestor.find("pPr")
                style = replace(style, name=value(ancestor, "name"))
                style = _described(Element("pPr") if properties is None else properties, style)
                style = replace(style, is_hidden=_hides(ancestor.find("rPr"), style.is_hidden))
            styles[name] = style
            if element.get("type") == "paragraph" and element.get("default") in {"1", "true", "on"}:
                styles[""] = style
        return styles

    def _read_notes(self, kind: str) -> dict[str, Element]:
        root = self._related(kind)
        if root is not None:
            _join_paragraphs(root)
        return {} if root is None else {note.get("id", ""): note for note in root if not note.get("type")}


def _visible(parent: Element) -> Iterator[Element]:
    return (child for child in parent if child.tag not in _DROPPED)


def _hides(properties: Element | None, default: bool) -> bool:
    """Return whether properties of characters hide them; `default` if they do not say."""
    vanish = None if properties is None else properties.find("vanish")
    return default if vanish is None else vanish.get("val", "") not in _OFF


def _join_paragraphs(root: Element) -> None:
    """Join each paragraph whose mark was deleted with the next one, whose properties apply to both."""
    if all(root.find(f".//{place}") is None for place in _MARK_GONE):
        return
    for parent in root.iter():
        kept, begun = list[Element](), list[Element]()
        for child in parent:
            if child.tag == "p" and any(child.find(place) is not None for place in _MARK_GONE):
                begun.append(child)
                continue
            if child.tag == "p":
                child[:] = [
                    *child.findall("pPr"),
                    *(part for one in (*begun, child) for part in one if part.tag != "pPr"),
                ]
                begun = []
            elif len(child):  # such as a table, which no text is joined with; bookmarks have no children
                kept += begun
                begun = []
            kept.append(child)
        parent[:] = kept + begun


def _described(properties: Element, style: _Style) -> _Style:
    """Apply the properties of a paragraph, or of a derived style, to a style."""
    heading = _HEADING_STYLE.fullmatch(style.name)
    level = style.level
    if heading:
        level = int(heading.group(1)) - 1
    elif style.name.lower() == _TITLE_STYLE:
        level = -1
    if outline := value(properties, "outlineLvl"):
        level = integer(outline, _BODY_LEVEL)
    level = None if level is not None and level >= _BODY_LEVEL else level
    numbering = properties.find("numPr")
    if numbering is None:
        return replace(style, level=level)
    depth = integer(value(numbering, "ilvl"), style.depth)
    return replace(style, level=level, numbering=value(numbering, "numId") or style.numbering, depth=depth)
