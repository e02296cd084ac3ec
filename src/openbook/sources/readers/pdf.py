"""Reads PDF: the text of its pages in file order, without running heads and page numbers."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from openbook.errors import SkippedFileError
from openbook.sources.readers.composing import remark_on
from openbook.sources.readers.ocr import DOTS_PER_INCH, REMARK, is_there
from openbook.sources.readers.pdf_glyphs import HYPHEN, UNKNOWN
from openbook.sources.readers.pdf_heads import without_running_heads
from openbook.sources.readers.pdf_layout import (
    SAME_SIZE,
    Edges,
    body_height,
    by_columns,
    edges_of,
    from_top,
    heading_levels,
    heading_title,
    numbered_headings,
    paragraphs_of,
    text_of,
    unwrapped,
    without_stamps,
)
from openbook.sources.readers.pdf_pages import PageLine, Row, notes_of, rows_of
from openbook.sources.readers.pdf_tables import with_whole_rows
from openbook.sources.readers.pdf_words import KnownWords, whole_words, words_of
from openbook.sources.readers.reading import DEFAULT_PDF_OPTIONS, PdfOptions, Reading
from openbook.types import Anchor, Block, SkipReason

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

ENCRYPTED = "encrypted; give its password with OPENBOOK_PDF_PASSWORD"
WRONG_PASSWORD = "encrypted with another password than OPENBOOK_PDF_PASSWORD"
_FORM_ALONE = "no text outside the fields of a form"

# Dingbats and unknown glyphs next to letters or each other. Alone, they are bullets or table cells. Pages with formulas
# have up to 1.3 %, text whose letters are dingbats at least 28 %.
_SIGN_IN_WORD = re.compile(rf"(?<=\S)[\u2701-\u27bf{UNKNOWN}]")
_MAX_SIGNS = 0.05

# Old Cyrillic fonts use codes of accented Latin letters. No language has words of four or more accented letters only.
_FOREIGN_WORD = re.compile("(?<!\\w)[\u00c0-\u00ff]{4,}(?!\\w)")
_MIN_FOREIGN = 3

# A word that continues on the next page: its first part ends a page.
_CUT_WORD = re.compile(rf"[^\W\d_]{{2,}}[-{HYPHEN}]$")
_REST_OF_WORD = re.compile(r"([^\W\d_A-Z]\S*)\s*")

_POINTS_PER_INCH = 72
# A line without ascenders has two thirds of the height of one with brackets.
_SAME_AS_USUAL = 1.5
# Pixel limit, because a page of A0 would fill the memory.
_MAX_PIXELS = 40_000_000


def read_pdf(raw: bytes, path: str, options: PdfOptions = DEFAULT_PDF_OPTIONS) -> Reading:
    """Read a PDF.

    Pages are separated by a blank line and have anchors `p. 1`, `p. 2` ..., counted from the first page, whatever
    numbers are printed on them. Words broken at line ends are joined. Lines in a larger font are headings; running
    heads, page numbers and pages whose letters are garbled are left out. Each paragraph recognized on a scanned or
    garbled page has an anchor `p. 3 box 72,90,520,131`, in points from the upper left corner. Remarks list non-blank
    pages without text, and pages that could not be read or whose letters are garbled.
    """
    with open_pdf(raw, path, options) as document:
        if len(document) > options.max_pages:
            raise SkippedFileError(path, f"{SkipReason.TOO_LONG} {options.max_pages} pages")
        is_form = document.get_formtype() != 0
        pages = [_page(document, index, options) for index in range(len(document))]
        failed = {number for number, page in enumerate(pages, start=1) if page.failed}
        rows = without_running_heads([page.rows for page in pages], [page.height for page in pages])
        garbled = {number for number, page in enumerate(pages, start=1) if page.garbled}
        without_text = {number for number, left in enumerate(rows, start=1) if not left} - failed - garbled
        scanned = {number for number in without_text if _has_content(document, number - 1, pages[number - 1].rows)}
    notes = [page.notes for page in pages]
    if not any(rows) and not any(notes):
        raise SkippedFileError(path, _why_unread(pages, is_form=is_form, scanned=scanned, garbled=garbled))
    unclear = {number for number, page in enumerate(rows, start=1) if any(UNKNOWN in text_of(row) for row in page)}
    remarks = (
        ("no text on page", scanned),
        ("cannot read page", failed),
        ("cannot read the letters of page", garbled),
        (f"{REMARK}, on page", {number for number, page in enumerate(pages, start=1) if page.recognized}),
        (f"signs without a meaning, shown as {UNKNOWN}, on page", unclear),
    )
    heights = [page.height if page.recognized else None for page in pages]
    return _composed(rows, notes, heights, tuple(remark_on(what, numbers) for what, numbers in remarks if numbers))


def _why_unread(pages: Sequence[_Page], *, is_form: bool, scanned: Collection[int], garbled: Collection[int]) -> str:
    """Return why a PDF without text is not read."""
    if garbled:
        return SkipReason.GARBLED
    if not pages or (not scanned and any(page.failed for page in pages)):
        return SkipReason.DAMAGED
    if is_form:
        return _FORM_ALONE
    return SkipReason.SCANNED if scanned else "no text"


def may_be_read_now(reason: str, options: PdfOptions) -> bool:
    """Return whether a file skipped for a reason of `read_pdf` could be read with these options."""
    if reason in (SkipReason.SCANNED, SkipReason.GARBLED):
        return options.recognizer is not None and is_there()
    if reason in (ENCRYPTED, WRONG_PASSWORD):
        return options.password is not None
    return SkipReason.of(reason) is SkipReason.TOO_LONG and reason != f"{SkipReason.TOO_LONG} {options.max_pages} pages"


@contextlib.contextmanager
def open_pdf(raw: bytes, path: str, options: PdfOptions) -> Iterator[PdfDocument]:
    """Open a PDF, and close it at the end of the block."""
    import pypdfium2  # Lazy: 30 ms, needed only for this format.
    from pypdfium2 import raw as pdfium

    password = options.password.reveal() if options.password else None
    try:
        document = pypdfium2.PdfDocument(raw, password)
    except pypdfium2.PdfiumError as exc:
        if exc.err_code == pdfium.FPDF_ERR_PASSWORD:
            raise SkippedFileError(path, WRONG_PASSWORD if password else ENCRYPTED) from exc
        unknown = exc.err_code == pdfium.FPDF_ERR_SECURITY
        raise SkippedFileError(path, "encrypted in an unknown way" if unknown else "damaged") from exc
    with document:
        yield document


@dataclass(frozen=True, slots=True)
class _Page:
    rows: list[Row]
    height: float
    failed: bool = False
    notes: tuple[str, ...] = ()
    """Texts of annotations and form fields."""
    recognized: bool = False
    """Whether the text comes from OCR."""
    garbled: bool = False
    """Whether it has text, which is left out because its letters are garbled."""


def _page(document: PdfDocument, index: int, options: PdfOptions) -> _Page:
    import pypdfium2

    recognized = False
    try:
        with contextlib.closing(document[index]) as page, contextlib.closing(page.get_textpage()) as text:
            rows = without_stamps(rows_of(text), page.get_width())
            is_garbled = _is_garbled(rows)
            rows = [] if is_garbled else rows
            if not rows and options.recognizer is not None and (is_garbled or _has_content(document, index, ())):
                rows = _recognized_rows(page, options.recognizer)
                recognized = bool(rows)
            return _Page(
                from_top(by_columns(with_whole_rows(rows))),
                page.get_height(),
                notes=notes_of(page),
                recognized=recognized,
                garbled=is_garbled and not recognized,
            )
    except pypdfium2.PdfiumError:
        return _Page([], 0.0, failed=True)


def _recognized_rows(page: Any, recognizer: Callable[[Any], Sequence[Any]]) -> list[Row]:
    """Return the lines of a page by OCR; none if no engine is installed."""
    width, height = page.get_size()
    scale = min(DOTS_PER_INCH / _POINTS_PER_INCH, (_MAX_PIXELS / max(1.0, width * height)) ** 0.5)
    picture = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False).to_numpy()[..., :3]
    try:
        lines = recognizer(picture)
    except (ModuleNotFoundError, OSError):  # a remark lists the page as one without text
        return []
    # Boxes are as high as the letters in them, so lines of text differ in height; headings differ more.
    usual = median([line.bottom - line.top for line in lines] or [0.0]) / scale
    rows: list[Row] = []
    for line in lines:
        left, right = line.left / scale, line.right / scale
        bottom, top = height - line.bottom / scale, height - line.top / scale
        letters = usual if usual / _SAME_AS_USUAL < top - bottom < usual * _SAME_AS_USUAL else top - bottom
        rows.append((PageLine(line.text, left, right, bottom, top, letters, right),))
    return rows


def _has_content(document: PdfDocument, index: int, heads: Sequence[Row]) -> bool:
    """Return whether a page without text has an image, or shapes besides the rules of running heads."""
    from pypdfium2 import raw as pdfium

    with contextlib.closing(document[index]) as page:
        kinds = {pdfium.FPDFPageObj_GetType(shown) for shown in page.get_objects(max_depth=1)}
    return bool(kinds - {pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_PATH} if heads else kinds)


def _is_garbled(rows: Sequence[Row]) -> bool:
    """Return whether the text is garbled, because a font has wrong or missing Unicode mappings."""
    text = " ".join(map(text_of, rows))
    signs = len(_SIGN_IN_WORD.findall(text))
    return signs > _MAX_SIGNS * len(text) or len(set(_FOREIGN_WORD.findall(text))) >= _MIN_FOREIGN


@dataclass(slots=True)
class _Part:
    """A paragraph or heading."""

    text: str
    title: str
    level: int
    heights: tuple[float, float]
    """Font heights of its first and last line."""
    box: str = ""
    """Its box on a scanned page."""


def _composed(
    pages: Sequence[Sequence[Row]],
    notes: Sequence[Sequence[str]],
    scanned_heights: Sequence[float | None],
    remarks: tuple[str, ...],
) -> Reading:
    body = body_height(pages)
    levels = heading_levels(pages, body)
    numbered = numbered_headings(pages, body, levels)
    known = words_of(text_of(row) for rows in pages for row in rows)
    parts = []
    for rows, height in zip(pages, scanned_heights, strict=True):
        edges = edges_of(rows)
        page = [
            _part(lines, heading_title(lines, levels, numbered), edges, known, height) for lines in paragraphs_of(rows)
        ]
        if all(part.level for part in page):
            _keep_largest(page)
        parts.append(page)
    _join_across_pages([page for page in parts if page], known)
    for page, said in zip(parts, notes, strict=True):
        page += (_Part(note, "", 0, (0.0, 0.0)) for note in said)
    pieces: list[str] = []
    blocks: list[Block] = []
    anchors: list[Anchor] = []
    offset = 0
    for number, page in enumerate(parts, start=1):
        for position, part in enumerate(part for part in page if part.text):
            if position == 0 or part.box:
                anchors.append(Anchor(offset, f"p. {number}{part.box}"))
            end = offset + len(part.text)
            blocks.append(Block(offset, end, "heading" if part.level else "text", part.level, part.title))
            pieces.append(part.text)
            offset = end + 2
    return Reading("\n\n".join(pieces), "docs", "pdf", tuple(blocks), tuple(anchors), remarks)


def _part(
    lines: Sequence[Row], heading: tuple[str, int], edges: Edges, known: KnownWords, scanned_height: float | None
) -> _Part:
    title, level = heading
    text = title or "\n".join(unwrapped(lines, edges))
    heights = lines[0][0].height, lines[-1][-1].height
    box = "" if scanned_height is None else f" box {_box(lines, scanned_height)}"
    return _Part(whole_words(text, known), whole_words(title, known), level, heights, box)


def _box(lines: Sequence[Row], height: float) -> str:
    found = [line for row in lines for line in row]
    left, top = min(line.left for line in found), height - max(line.top for line in found)
    right, bottom = max(line.right for line in found), height - min(line.bottom for line in found)
    return f"{left:.0f},{top:.0f},{right:.0f},{bottom:.0f}"


def _keep_largest(page: Sequence[_Part]) -> None:
    """On a page of headings only, keep the largest as headings. The others, such as authors and dates, become text."""
    for part in page:
        if part.level > min(other.level for other in page if other.level):
            part.title, part.level = "", 0


def _join_across_pages(pages: Iterable[list[_Part]], known: KnownWords) -> None:
    """Join words and paragraphs that are broken at the end of a page."""
    halves_unknown = replace(known, whole=frozenset())  # the halves themselves occur as words
    before: _Part | None = None
    for page in pages:
        first = page[0]
        rest = _REST_OF_WORD.match(first.text)
        if before and rest and not first.level and _CUT_WORD.search(before.text) and _is_one_size(before, first):
            before.text = whole_words(f"{before.text[:-1]}{HYPHEN}{rest[1]}", halves_unknown)
            first.text = first.text[rest.end() :]
        before = page[-1]


def _is_one_size(before: _Part, behind: _Part) -> bool:
    """Return whether a text may continue another; footnotes, which are smaller, do not."""
    heights = before.heights[1], behind.heights[0]
    return min(heights) >= SAME_SIZE * max(heights)
