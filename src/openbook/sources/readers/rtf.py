"""Reads RTF: paragraphs and table rows."""

from __future__ import annotations

from openbook.errors import SkippedFileError
from openbook.sources.readers.composing import Composer
from openbook.sources.readers.reading import Reading

# Images are hexadecimal digits in the file, and most of it. Longer files are hardly text.
_MAX_BYTES = 32 * 1024 * 1024


def read_rtf(raw: bytes, path: str) -> Reading:
    """Read a document. A table row is one line. There are no anchors or headings, since RTF styles are not parsed."""
    if len(raw) > _MAX_BYTES:
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
