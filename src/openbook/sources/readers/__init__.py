"""Readers: one per structured format, from text or bytes to a `Reading`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any

from openbook.sources.formats import SingleFormat
from openbook.sources.readers.calendar import read_calendar
from openbook.sources.readers.course import is_course, read_course
from openbook.sources.readers.html import read_html
from openbook.sources.readers.markdown import read_markdown
from openbook.sources.readers.markup import read_markup
from openbook.sources.readers.notebook import read_notebook
from openbook.sources.readers.rd import read_rd
from openbook.sources.readers.reading import (
    DEFAULT_PDF_OPTIONS,
    PdfOptions,
    Reader,
    Reading,
    read_plain_text,
    read_unstructured,
)
from openbook.sources.readers.rst import read_rst
from openbook.sources.readers.subtitles import read_subtitles
from openbook.sources.readers.vimhelp import read_vimhelp
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
        "rd": read_rd,
        "rst": read_rst,
        "sbv": read_subtitles,
        "srt": read_subtitles,
        "text": read_plain_text,
        "typst": read_plain_text,
        "vimhelp": read_vimhelp,
        "vtt": read_subtitles,
    }
)
"""Reader by language. All other languages are read without structure."""

# Modules of the readers of binary formats. Each is imported only when a source has such files.
_OF_BYTES: Mapping[SingleFormat, str] = MappingProxyType(
    {
        "doc": "legacy:read_legacy",
        "docx": "docx:read_docx",
        "epub": "epub:read_epub",
        "odp": "odt:read_odp",
        "ods": "spreadsheet:read_spreadsheet",
        "odt": "odt:read_odt",
        "pdf": "pdf:read_pdf",
        "ppt": "legacy:read_legacy",
        "pptx": "pptx:read_pptx",
        "rtf": "rtf:read_rtf",
        "xls": "spreadsheet:read_spreadsheet",
        "xlsx": "spreadsheet:read_spreadsheet",
    }
)
# Readers of several formats, which take the format as an argument; that of PDF has options.
_MULTI_FORMAT = frozenset({"legacy", "spreadsheet"})


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
        SkippedFileError: It is damaged, encrypted or too large, or contains no text.
    """
    module, _, name = _OF_BYTES[language].partition(":")
    read = getattr(import_module(f"{__name__}.{module}"), name)
    more: tuple[Any, ...] = (pdf_options,) if language == "pdf" else (language,) if module in _MULTI_FORMAT else ()
    reading: Reading = read(raw, path, *more)
    if reading.kind != "docs" or not is_course(reading.text):
        return reading
    return replace(reading, kind="course", blocks=read_course(reading.text, "").blocks)
