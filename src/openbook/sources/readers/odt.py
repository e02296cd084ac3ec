"""Reads OpenDocument texts and presentations: headings, paragraphs, lists, tables and notes, in document order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from openbook.sources.readers.composing import Composer, numeral, remark_on
from openbook.sources.readers.docx import CODE_STYLE
from openbook.sources.readers.docx_lists import BULLET, integer
from openbook.sources.readers.formulas import on_one_line, raised
from openbook.sources.readers.reading import Reading
from openbook.sources.readers.zipped import ZipPackage

_CONTENT = "content.xml"
_MANIFEST = "META-INF/manifest.xml"

# Deleted, generated and non-text elements.
_DROPPED = frozenset(
    """
    tracked-changes table-of-content alphabetical-index illustration-index table-index object-index user-index
    bibliography annotation forms sequence-decls variable-decls user-field-decls note-citation title desc
    """.split()
)

# Elements with paragraphs outside of the text flow.
_ASIDE = frozenset(
    """
    note-body text-box caption circle connector custom-shape ellipse line measure path polygon polyline rect
    regular-polygon
    """.split()
)

# Superscript is "super 58%" or "33% 58%" (position and size); "sub" and "-33%" are subscript.
_RAISED = re.compile(r"super\b|[1-9]")

# Elements repeated on every slide.
_REPEATED = frozenset({"date-time", "footer", "header", "page-number"})

# Limit for the count of a repeated space, which can be arbitrarily large.
_MAX_SPACES = 100


@dataclass(frozen=True, slots=True)
class _Level:
    """The numbering of list items at one level."""

    form: str = ""
    """Number format; empty for bullets."""
    before: str = ""
    behind: str = ""
    start: int = 1
    shown: int = 1
    """How many levels of numbers are shown before an item."""

    def mark(self, numbers: tuple[str, ...]) -> str:
        """Return the label of an item, from its number and those of the items around it."""
        return f"{self.before}{'.'.join(numbers[-self.shown :])}{self.behind}" if self.form else BULLET


_BULLET = _Level()


def read_odt(raw: bytes, path: str) -> Reading:
    """Read an OpenDocument text.

    Headings have their outline level, list items a dash or their formatted number, a table row is one line; notes and
    text boxes follow their paragraph. A superscript number is preceded by `^`. Indexes, comments and deleted text are
    left out. There are no anchors, since headings name the places.
    """
    package = ZipPackage(raw, path)
    root, body = _open_body(package, "text")
    composer = Composer()
    try:
        _BodyText(root, composer).flow(body)
    except RecursionError:
        package.refuse("nested too deeply")
    has_pictures = next(body.iter("image"), None) is not None
    return composer.reading("odt", ["no text, only pictures"] if has_pictures and not len(composer) else [])


def read_odp(raw: bytes, path: str) -> Reading:
    """Read a presentation.

    Anchors are `slide 1`, `slide 2` ... The title of a slide is a heading, followed by its frames in order, and its
    notes. A remark lists slides with only images.
    """
    package = ZipPackage(raw, path)
    root, body = _open_body(package, "presentation")
    composer = Composer()
    text = _BodyText(root, composer)
    silent = set()
    try:
        for number, page in enumerate((child for child in body if child.tag == "page"), start=1):
            before = len(composer)
            composer.anchor(f"slide {number}")
            _add_slide(page, composer, text)
            if len(composer) == before and next(page.iter("image"), None) is not None:
                silent.add(number)
    except RecursionError:
        package.refuse("nested too deeply")
    return composer.reading("odp", [remark_on("no text on slide", silent)] if silent else [])


def _add_slide(page: Element, composer: Composer, text: _BodyText) -> None:
    frames = [child for child in page if child.get("class") not in _REPEATED and child.tag != "forms"]
    for title in (frame for frame in frames if frame.get("class") == "title"):
        composer.heading(" ".join("".join(title.itertext()).split()), 1)
    for frame in frames:
        if frame.get("class") != "title" and frame.tag != "notes":
            text.flow(frame)
    for notes in (frame for frame in frames if frame.tag == "notes"):
        text.flow(notes)


def _open_body(package: ZipPackage, kind: str) -> tuple[Element, Element]:
    """Return the root of an OpenDocument file and its body: `text` or `presentation`."""
    if _MANIFEST in package and b"encryption-data" in package.read(_MANIFEST):
        package.refuse("encrypted")
    if _CONTENT not in package:
        package.refuse("not an OpenDocument file")
    root = package.xml(_CONTENT)
    body = root.find(f"body/{kind}")
    if body is None:
        package.refuse("not an OpenDocument file")
    return root, body


class _BodyText:
    """Adds the parts of a body to a composer."""

    def __init__(self, root: Element, composer: Composer) -> None:
        self._composer = composer
        self._levels = _read_levels(root)
        self._counted: dict[str | int, tuple[str, int]] = {}
        """The style of the last list and the number of its last item, by list name and by depth."""
        self._raised = {
            style.get("name", "")
            for style in root.iter("style")
            for found in style.iter("text-properties")
            if _RAISED.match(found.get("text-position", ""))
        }
        # Direct formatting of a paragraph creates an unnamed style that has the named one as parent.
        self._parents = {style.get("name", ""): style.get("parent-style-name", "") for style in root.iter("style")}

    def flow(self, parent: Element) -> None:
        """Add the parts of a body, a section, a note or a text box."""
        for child in _kept(parent):
            if child.tag in {"h", "p"}:
                self._paragraph(child)
            elif child.tag == "list":
                self._list(child)
            elif child.tag == "table":
                self._composer.part()
                for row in _rows(child):
                    self._composer.row(" ".join(self._all_words(cell)) for cell in row if cell.tag == "table-cell")
                self._composer.part()
            else:
                self.flow(child)

    def _paragraph(self, paragraph: Element) -> None:
        aside: list[Element] = []
        text = on_one_line("".join(self._words(paragraph, aside)))
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

    def _list(self, parent: Element, style: str = "", above: tuple[str, ...] = ()) -> None:
        """Add a list. `above` has the item numbers of the outer lists."""
        depth, style = len(above), parent.get("style-name") or style
        level = self._levels.get((style, depth), _BULLET)
        number = self._count_before(parent, style, depth, level)
        for item in parent:
            is_counted = item.tag == "list-item" and any(child.tag in {"p", "h"} for child in item)
            if is_counted:
                number = integer(item.get("start-value"), number + 1)
            numbers = (*above, numeral(number, level.form))
            for child in item:
                if child.tag == "list":
                    self._list(child, style, numbers)
                elif child.tag == "p" and is_counted:
                    self._composer.item(" ".join(self._all_words(child)), level.mark(numbers), depth)
                elif child.tag in {"p", "h"}:
                    self._paragraph(child)
                is_counted &= child.tag not in {"p", "h"}  # further paragraphs of the item have no number
        self._counted |= dict.fromkeys((depth, parent.get("id", depth)), (style, number))

    def _count_before(self, parent: Element, style: str, depth: int, level: _Level) -> int:
        """Return the number before that of the first item of a list."""
        goes_on = parent.get("continue-numbering") == "true"
        known = self._counted.get(parent.get("continue-list") or (depth if goes_on else ""))
        return known[1] if known and known[0] == style else level.start - 1

    def _all_words(self, parent: Element) -> Iterator[str]:
        """Yield the text of a cell or item by paragraph, including notes."""
        aside: list[Element] = []
        yield on_one_line("".join(self._words(parent, aside, " ")))
        for part in aside:
            yield from self._all_words(part)

    def _words(self, parent: Element, aside: list[Element], border: str = "") -> Iterator[str]:
        """Yield the text of a paragraph, collecting notes, text boxes and shapes in `aside`."""
        yield parent.text or ""
        for child in parent:
            if child.tag == "s":
                count = child.get("c", "1")
                yield " " * (min(int(count), _MAX_SPACES) if count.isdecimal() and len(count) < 9 else 1)
            elif child.tag == "tab":
                yield "\t"
            elif child.tag == "line-break":
                yield "\n"
            elif child.tag in _ASIDE:
                aside.append(child)
            elif child.tag == "span" and child.get("style-name", "") in self._raised:
                yield raised("".join(self._words(child, aside, border)))
            elif child.tag not in _DROPPED:
                yield from self._words(child, aside, border)
                yield border if child.tag in {"p", "h"} else ""
            yield child.tail or ""


def _read_levels(root: Element) -> dict[tuple[str, int], _Level]:
    """Read the numbering of lists, by style and depth."""
    levels = {}
    for style in root.iter("list-style"):
        for position, element in enumerate(style, start=1):
            if element.tag == "list-level-style-number" and (form := element.get("num-format", "1")):
                before, behind = element.get("num-prefix", ""), element.get("num-suffix", "")
                start, shown = integer(element.get("start-value"), 1), integer(element.get("display-levels"), 1)
                depth = integer(element.get("level"), position) - 1
                levels[style.get("name", ""), depth] = _Level(form, before, behind, start, shown)
    return levels


def _kept(parent: Element) -> Iterator[Element]:
    return (child for child in parent if child.tag not in _DROPPED)


def _rows(parent: Element) -> Iterator[Element]:
    for child in parent:
        if child.tag == "table-row":
            yield child
        elif child.tag in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from _rows(child)
