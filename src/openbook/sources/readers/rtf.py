"""Reads RTF: the text of its paragraphs and the rows of its tables."""

from __future__ import annotations

from openbook.errors import SkippedFileError
from openbook.sources.readers.composing import Composer
from openbook.sources.readers.reading import Reading

# Pictures are digits in the text of the file, and most of it. What is longer has been read by nobody.
_MOST_BYTES = 32 * 1024 * 1024


def read_rtf(raw: bytes, path: str) -> Reading:
    """Read a document. A row of a table is one line. No anchors and no headings: styles of RTF are not read."""
    if len(raw) > _MOST_BYTES:
        raise SkippedFileError(path, "too large")
    from striprtf.striprtf import rtf_to_text

    try:
        text: str = rtf_to_text(  # type: ignore[no-untyped-call]  # it has no types
            raw.decode("latin-1"), encoding="cp1252", errors="replace"
        )
    except (ValueError, LookupError, IndexError, KeyError, RecursionError) as exc:
        raise SkippedFileError(path, f"damaged: {exc}"[:200]) from exc
    composer = Composer()
    for line in text.replace("\r", "\n").split("\n"):
        if "|" in line and line.rstrip().endswith("|"):
            composer.row(line.rstrip().rstrip("|").split("|"))
        else:
            composer.text(line)
    return composer.reading("rtf", [] if len(composer) else ["no text"])
