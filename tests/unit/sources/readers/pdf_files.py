"""PDF files of a few pages, as programs write them."""

from __future__ import annotations

from collections.abc import Callable

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
