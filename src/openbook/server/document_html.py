"""Documents as they are meant: Markdown and reStructuredText rendered, tables as tables, the cited lines marked."""

from __future__ import annotations

from openbook.server.rendering import render_document
from openbook.server.rst_markdown import rst_as_markdown
from openbook.server.sheets import SEPARATED, WORKBOOKS, separated_html, workbook_html
from openbook.text import LineIndex
from openbook.types import Document

# Longer ones are shown as their lines.
_MOST_RST_CHARS = 200_000
_MOST_TABLE_CHARS = 1_000_000


def document_html(document: Document, start_char: int, end_char: int) -> str:
    """Return a document as sanitized HTML, what stands in a range of characters with the class `cited`.

    Empty for what is shown as lines: other formats, and what is too long.
    """
    cited = LineIndex(document.text).span(document.path, start_char, end_char)
    first, last = (cited.start_line, cited.end_line) if cited.end_char > cited.start_char else (0, 0)
    if document.language == "markdown":
        return render_document(document.text, first, last)
    if document.language == "rst" and len(document.text) <= _MOST_RST_CHARS:
        made = rst_as_markdown(document.text)
        return render_document("\n".join(made.lines), *made.range_of(first, last))
    if len(document.text) > _MOST_TABLE_CHARS:
        return ""
    if document.language in SEPARATED:
        return separated_html(document.text, SEPARATED[document.language], first, last)
    return workbook_html(document, first, last) if document.language in WORKBOOKS else ""
