"""From decoded text or bytes to a reading: one reader for each format that has structure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Literal, assert_never

from openbook.sources.formats import SingleFormat
from openbook.sources.readers.calendar import read_calendar
from openbook.sources.readers.course import is_course, read_course
from openbook.sources.readers.html import read_html
from openbook.sources.readers.markdown import read_markdown
from openbook.sources.readers.markup import read_markup
from openbook.sources.readers.notebook import read_notebook
from openbook.sources.readers.plain import read_plain_text, read_unstructured
from openbook.sources.readers.reading import DEFAULT_PDF_OPTIONS, PdfOptions, Reader, Reading
from openbook.sources.readers.rst import read_rst
from openbook.sources.readers.subtitles import read_subtitles
from openbook.sources.readers.xml import read_xml
from openbook.types import Kind

__all__ = ["READERS", "PdfOptions", "Reader", "Reading", "read_binary", "read_text"]

READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "asciidoc": partial(read_markup, language="asciidoc"),
        "html": read_html,
        "ics": read_calendar,
        "latex": partial(read_markup, language="latex"),
        "man": partial(read_markup, language="man"),
        "markdown": read_markdown,
        "notebook": read_notebook,
        "org": partial(read_markup, language="org"),
        "pod": partial(read_markup, language="pod"),
        "rst": read_rst,
        "srt": read_subtitles,
        "text": read_plain_text,
        "typst": read_plain_text,
        "vtt": read_subtitles,
    }
)
"""Reader by language. All other languages are read without structure."""


def read_text(text: str, path: str, kind: Kind, language: str) -> Reading:
    """Read decoded text with the reader of its language, or as a course if it is one."""
    if kind == "docs" and language in {"text", "markdown"} and is_course(text):
        return read_course(text, path)
    if language == "xml":
        return read_xml(text, path)
    reader = READERS.get(language, read_unstructured) if kind == "docs" else read_unstructured
    return reader(text, path)


def read_binary(
    raw: bytes, path: str, language: SingleFormat, pdf_options: PdfOptions = DEFAULT_PDF_OPTIONS
) -> Reading:
    """Read the bytes of a file whose text must be extracted, as a course if the text is one.

    Raises:
        SkippedFileError: It is damaged, encrypted or too large, or there is no text in it.
    """
    reading = _extract(raw, path, language, pdf_options)
    if reading.kind != "docs" or not is_course(reading.text):
        return reading
    return replace(reading, kind="course", blocks=read_course(reading.text, "").blocks)


def _extract(raw: bytes, path: str, language: SingleFormat, pdf_options: PdfOptions) -> Reading:
    # Each is loaded by the sources that have such files, and by no other.
    match language:
        case "pdf":
            from openbook.sources.readers.pdf import read_pdf

            return read_pdf(raw, path, pdf_options)
        case "docx":
            from openbook.sources.readers.docx import read_docx

            return read_docx(raw, path)
        case "pptx":
            from openbook.sources.readers.pptx import read_pptx

            return read_pptx(raw, path)
        case "odt":
            from openbook.sources.readers.odt import read_odt

            return read_odt(raw, path)
        case "epub":
            from openbook.sources.readers.epub import read_epub

            return read_epub(raw, path)
        case _:
            return _extract_more(raw, path, language)


def _extract_more(
    raw: bytes, path: str, language: Literal["doc", "odp", "ods", "ppt", "rtf", "xls", "xlsx"]
) -> Reading:
    match language:
        case "xlsx" | "xls" | "ods":
            from openbook.sources.readers.spreadsheet import read_spreadsheet

            return read_spreadsheet(raw, path, language)
        case "doc" | "ppt":
            from openbook.sources.readers.legacy import read_legacy

            return read_legacy(raw, path, language)
        case "odp":
            from openbook.sources.readers.odp import read_odp

            return read_odp(raw, path)
        case "rtf":
            from openbook.sources.readers.rtf import read_rtf

            return read_rtf(raw, path)
    assert_never(language)
