"""From decoded text to a reading: one reader for each format that has structure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from openbook.sources.readers.course import is_course, read_course
from openbook.sources.readers.html import read_html
from openbook.sources.readers.markdown import read_markdown
from openbook.sources.readers.notebook import read_notebook
from openbook.sources.readers.plain import read_plain_text, read_unstructured
from openbook.sources.readers.reading import Reader, Reading
from openbook.sources.readers.rst import read_rst
from openbook.types import Kind

__all__ = ["READERS", "Reader", "Reading", "read_text"]

READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "asciidoc": read_plain_text,
        "html": read_html,
        "latex": read_plain_text,
        "markdown": read_markdown,
        "notebook": read_notebook,
        "org": read_plain_text,
        "rst": read_rst,
        "text": read_plain_text,
        "typst": read_plain_text,
    }
)
"""Reader by language. All other languages are read without structure."""


def read_text(text: str, path: str, kind: Kind, language: str) -> Reading:
    """Read decoded text with the reader of its language, or as a course if it is one."""
    if kind == "docs" and language in {"text", "markdown"} and is_course(text):
        return read_course(text, path)
    reader = READERS.get(language, read_unstructured) if kind == "docs" else read_unstructured
    return reader(text, path)
