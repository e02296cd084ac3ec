"""Reads PowerPoint presentations: the text of slides in order, with speaker notes, and one anchor per slide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from openbook.sources.readers.composing import Composer, numeral, remark_on
from openbook.sources.readers.formulas import formula, on_one_line, raised
from openbook.sources.readers.reading import Reading
from openbook.sources.readers.zipped import ZipPackage

_TITLES = frozenset({"title", "ctrTitle"})

# Placeholders repeated on every slide: number, date, footer and header.
_REPEATED = frozenset({"sldNum", "dt", "ftr", "hdr"})

# Placeholders whose paragraphs have bullets by default. The empty name is one without a type.
_BULLETED = frozenset({"", "body", "obj"})

# List number formats: `romanLcPeriod` for "ii.", `alphaUcParenR` for "B)", `arabicParenBoth` for "(2)".
_NUMBERED = re.compile(r"(alphaLc|alphaUc|arabic|romanLc|romanUc)(ParenBoth|ParenR|Plain)?")
_FORMS = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_AROUND = {"ParenBoth": "({})", "ParenR": "{})", "Plain": "{}"}
_FIRST_NUMBER = re.compile(r"[0-9]{1,5}")

# Baseline offset of superscript, in thousandths of the height; negative for subscript.
_RAISED = re.compile(r"[1-9]")

_SHOWN = frozenset({"pic", "graphicFrame"})


def read_pptx(raw: bytes, path: str) -> Reading:
    """Read a presentation.

    Anchors are `slide 1`, `slide 2` ... as PowerPoint counts them. The title of a slide is a heading, followed by its
    shapes from back to front, the order in which screen readers read them, and its notes. A table row is one line. A
    remark lists slides with only images or charts.
    """
    package = ZipPackage(raw, path)
    main = package.related_by("", "officeDocument")
    root = package.xml(main) if main else None
    if root is None or root.tag != "presentation":
        package.refuse("not a PowerPoint file")
    parts = package.related(main)
    slides = [parts.get(slide.get("r:id", ""), ("", ""))[1] for slide in root.iter("sldId")]
    composer = Composer()
    silent = set()
    try:
        for number, part in enumerate(slides, start=1):
            if part not in package:
                package.refuse(f"damaged: no slide {number}")
            if not _Slide(package, part, composer).read(number):
                silent.add(number)
    except RecursionError:
        package.refuse("nested too deeply")
    return composer.reading("pptx", [remark_on("no text on slide", silent)] if silent else [])


class _Slide:
    def __init__(self, package: ZipPackage, part: str, composer: Composer) -> None:
        self._package = package
        self._part = part
        self._composer = composer

    def read(self, number: int) -> bool:
        """Add the slide. Returns False if it has content but no text."""
        before = len(self._composer)
        self._composer.anchor(f"slide {number}")
        shapes = list(_shapes(self._package.xml(self._part)))
        # The title comes first, whatever its position.
        for shape in sorted(shapes, key=lambda shape: _placeholder(shape) not in _TITLES):
            self._shape(shape)
        notes = self._package.related_by(self._part, "notesSlide")
        if notes:
            for shape in _shapes(self._package.xml(notes)):
                if _placeholder(shape) == "body":
                    self._paragraphs(shape, bulleted=False)
        return len(self._composer) > before or not any(shape.tag in _SHOWN for shape in shapes)

    def _shape(self, shape: Element) -> None:
        kind = _placeholder(shape)
        if kind in _TITLES:
            self._composer.heading(" ".join(_words(paragraph) for paragraph in shape.iter("p")), 1)
        elif kind in _REPEATED:
            return
        elif shape.tag == "graphicFrame":
            self._frame(shape)
        else:
            self._paragraphs(shape, bulleted=kind in _BULLETED)

    def _frame(self, frame: Element) -> None:
        self._composer.part()
        for row in frame.iter("tr"):
            self._composer.row("\n".join(_words(paragraph) for paragraph in cell.iter("p")) for cell in row.iter("tc"))
        self._composer.part()
        for diagram in frame.iter("relIds"):
            part = self._package.related(self._part).get(diagram.get("r:dm", ""), ("", ""))[1]
            for point in self._package.xml(part).iter("pt") if part in self._package else ():
                self._composer.item(" ".join(_words(paragraph) for paragraph in point.iter("p")))

    def _paragraphs(self, shape: Element, *, bulleted: bool) -> None:
        """Add the text of a shape: list paragraphs as items, consecutive other lines as one paragraph."""
        self._composer.part()
        paragraphs = [paragraph for paragraph in shape.iter("p") if _words(paragraph).strip()]
        numbers = _Numbers()
        for paragraph in paragraphs:
            properties = paragraph.find("pPr")
            marks = {} if properties is None else {child.tag: child for child in properties}
            level = "" if properties is None else properties.get("lvl", "")
            depth = int(level) if level in set("12345678") else 0
            number = numbers.next(depth, marks.get("buAutoNum"))
            implied = bulleted and len(paragraphs) > 1 and "buNone" not in marks
            if number or "buChar" in marks or implied:
                self._composer.item(_words(paragraph), number or "-", depth)
            else:
                self._composer.text(_words(paragraph))


class _Numbers:
    """Numbers the list items of a shape."""

    def __init__(self) -> None:
        self._counted: dict[int, tuple[str, int, int]] = {}
        """By depth: number format, start number, and count of items so far."""

    def next(self, depth: int, numbering: Element | None) -> str:
        """Return the formatted number of a paragraph; empty without one. Deeper levels restart."""
        self._counted = {at: counted for at, counted in self._counted.items() if at <= depth}
        before = self._counted.pop(depth, None)
        if numbering is None:
            return ""
        form, first = numbering.get("type", ""), numbering.get("startAt", "1")
        start = int(first) if _FIRST_NUMBER.fullmatch(first) else 1
        count = before[2] + 1 if before and before[:2] == (form, start) else 1
        self._counted[depth] = (form, start, count)
        found = _NUMBERED.match(form)
        kind, around = found.groups() if found else ("", None)
        return _AROUND.get(around or "", "{}.").format(numeral(start + count - 1, _FORMS.get(kind, "1")))


def _shapes(parent: Element) -> Iterator[Element]:
    """Yield the shapes of a tree in order, including those in groups."""
    for child in parent:
        if child.tag in {"sp", "graphicFrame", "pic", "cxnSp"}:
            yield child
        elif child.tag in {"cSld", "spTree", "grpSp", "AlternateContent", "Choice"}:
            yield from _shapes(child)


def _placeholder(shape: Element) -> str | None:
    """Return the type of the placeholder that a shape fills; None if it is not a placeholder."""
    found = shape.find("*/nvPr/ph")
    return None if found is None else found.get("type", "")


def _words(paragraph: Element) -> str:
    return on_one_line("".join(_pieces(paragraph)))


def _pieces(parent: Element) -> Iterator[str]:
    for child in parent:
        if child.tag == "t":
            yield child.text or ""
        elif child.tag == "br":
            yield "\n"
        elif child.tag == "oMath":
            yield formula(child)
        elif child.tag == "r" and _RAISED.match(_baseline(child)):
            yield raised("".join(_pieces(child)))
        elif child.tag != "Fallback":
            yield from _pieces(child)


def _baseline(run: Element) -> str:
    properties = run.find("rPr")
    return "" if properties is None else properties.get("baseline", "")
