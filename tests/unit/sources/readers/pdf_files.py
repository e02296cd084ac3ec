"""PDF files of a few pages, as programs write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fpdf import FPDF

Draw = Callable[[FPDF], object]

FACT = "The library keeps every document in one file and replaces it in a single transaction. "


def pdf(*pages: Draw, password: str = "", of: type[FPDF] = FPDF) -> bytes:
    """Make a PDF; each function draws a page of A4 in a font of 11 points."""
    file = of()
    if password:
        file.set_encryption(owner_password=f"{password} of the owner", user_password=password)
    for draw in pages:
        file.add_page()
        file.set_font("helvetica", size=11)
        draw(file)
    return bytes(file.output())


def text(words: str, width: float = 0, size: int = 11) -> Draw:
    """Write a paragraph; a width of 0 is that of the page."""

    def draw(file: FPDF) -> None:
        file.set_font(size=size)
        file.multi_cell(width, text=words, new_x="LMARGIN", new_y="NEXT")

    return draw


def lines(*words: str) -> Draw:
    """Write lines that end where they are told to."""
    return text("\n".join(words))


def together(*parts: Draw) -> Draw:
    """Draw several things below each other on one page, with space between them."""

    def draw(file: FPDF) -> None:
        for part in parts:
            part(file)
            file.ln(4)

    return draw


def picture(file: FPDF) -> None:
    """Fill a page as a scanner does: with no text."""
    file.rect(20, 20, 100, 100, style="F")


def blank(file: FPDF) -> None:
    """Leave a page empty."""


def pdf_of_glyphs(content: str, characters: str) -> bytes:
    """Make a page of drawing operators; letters from `a` on in its font `/F` mean the characters, one each."""
    meanings = "".join(f"<{code:02x}> <{ord(character):04x}> " for code, character in enumerate(characters, start=97))
    parts = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
    ]
    cmap = f"begincmap {len(characters)} beginbfchar {meanings}endbfchar endcmap"
    objects = [*parts, f"<</Length {len(cmap)}>>stream\n{cmap}\nendstream"]
    body = "".join(f"{number} 0 obj\n{each}\nendobj\n" for number, each in enumerate(objects, start=1))
    return f"%PDF-1.4\n{body}trailer<</Root 1 0 R>>\n%%EOF".encode()


def pdf_of_font(content: str, name: str, glyphs: dict[int, str]) -> bytes:
    """Make a page of drawing operators in Helvetica `/H` and an embedded font `/F` of squares with these names."""
    differences = " ".join(f"{code} /{glyph}" for code, glyph in glyphs.items())
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R/H 8 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content.encode("latin-1")),
        f"<</Type/Font/Subtype/Type1/BaseFont/AAAAAA+{name}/FirstChar 0/LastChar 255/Widths[{'500 ' * 256}]"
        f"/FontDescriptor 6 0 R/Encoding<</Type/Encoding/Differences[{differences}]>>>>".encode(),
        f"<</Type/FontDescriptor/FontName/AAAAAA+{name}/Flags 4/FontFile3 7 0 R>>".encode(),
        b"<</Subtype/Type1C/Length %d>>stream\n%s\nendstream" % (len(squares := _squares(glyphs.values())), squares),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % pair for pair in enumerate(objects, start=1))
    return b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R>>\n%%EOF"


def _squares(names: Iterable[str]) -> bytes:
    """Make a font program whose glyphs are squares of these names."""
    order = [".notdef", *dict.fromkeys(names)]
    pen = T2CharStringPen(500, None)
    pen.moveTo((50, 0))
    for corner in ((450, 0), (450, 500), (50, 500)):
        pen.lineTo(corner)
    pen.closePath()
    square = pen.getCharString()
    builder = FontBuilder(1000, isTTF=False)
    builder.setupGlyphOrder(order)
    builder.setupCFF("Squares", {}, dict.fromkeys(order, square), {})
    return bytes(builder.font["CFF "].compile(builder.font))
