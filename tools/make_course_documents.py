"""Writes the sample course as PDF and DOCX: `python tools/make_course_documents.py`.

Both say what `examples/course/tides.txt` says, line for line. Running it again changes nothing: no
date and no chance goes into the files.
"""

from __future__ import annotations

import io
import re
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from docx import Document
from fpdf import FPDF

EXAMPLES = Path(__file__).parents[1] / "examples"
COURSE = EXAMPLES / "course" / "tides.txt"
FORMATS = EXAMPLES / "formats"

# Of the files, for good: any moment would do.
_MADE = datetime(2025, 1, 1, tzinfo=UTC)

# The earliest moment that a ZIP file can hold.
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)

_HEADING = re.compile(r"Lesson \d+:")

# Points, and the height of a line in millimetres.
_TEXT_SIZE, _HEADING_SIZE, _LINE_MM = 11, 14, 6


def pdf_of(text: str) -> bytes:
    """Set the course on pages, each lesson on a new one."""
    pdf = FPDF(format="A4")
    pdf.set_creation_date(_MADE)
    pdf.set_title(text.partition("\n")[0].partition(": ")[2])
    pdf.add_page()
    for line in text.splitlines():
        is_heading = _HEADING.match(line) is not None
        if is_heading:
            pdf.add_page()
        pdf.set_font("Helvetica", style="B" if is_heading else "", size=_HEADING_SIZE if is_heading else _TEXT_SIZE)
        pdf.multi_cell(0, _LINE_MM, line, align="L", new_x="LMARGIN", new_y="NEXT")
    return bytes(pdf.output())


def docx_of(text: str) -> bytes:
    """Write the course with its lessons as headings."""
    document = Document()
    facts = document.core_properties
    facts.created = facts.modified = _MADE
    facts.author = facts.comments = ""
    facts.title = text.partition("\n")[0].partition(": ")[2]
    for line in filter(str.strip, text.splitlines()):
        if _HEADING.match(line):
            document.add_heading(line, level=1)
        else:
            document.add_paragraph(line)
    saved = io.BytesIO()
    document.save(saved)
    return _without_times(saved.getvalue())


def _without_times(zipped: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(zipped)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in sorted(old.namelist(), key=lambda name: (name != "[Content_Types].xml", name)):
            new.writestr(zipfile.ZipInfo(name, _ZIP_TIME), old.read(name), zipfile.ZIP_DEFLATED)
    return made.getvalue()


def main() -> None:
    """Write both files."""
    text = COURSE.read_text(encoding="utf-8")
    FORMATS.mkdir(exist_ok=True)
    for name, content in (("tides.pdf", pdf_of(text)), ("tides.docx", docx_of(text))):
        (FORMATS / name).write_bytes(content)
        print(f"{name}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
