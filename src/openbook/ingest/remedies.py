"""What to do about files that are not indexed."""

from __future__ import annotations

from collections.abc import Iterable

from openbook.sources.walk import size_limit
from openbook.types import SkipReason

_AGAIN = "run the command again"
_ELSEWHERE = "add the folder that it leads to"
_NEED_OCR = (SkipReason.SCANNED, SkipReason.GARBLED)
_WITH_OCR = "set OPENBOOK_OCR=on"
_REMEDIES = {
    SkipReason.TOO_LARGE: "raise OPENBOOK_MAX_FILE_BYTES and OPENBOOK_MAX_DOCUMENT_BYTES",
    SkipReason.TOO_LONG: "raise OPENBOOK_MAX_PAGES",
    SkipReason.TOOK_LONGER: "raise OPENBOOK_FILE_TIMEOUT_S, or split the file",
    SkipReason.TOO_MUCH_MEMORY: "raise OPENBOOK_FILE_MEMORY_BYTES, or split the file",
    SkipReason.SECRET: "keys and passwords are never indexed; rename the file if it contains none",
    SkipReason.BINARY_NAME: "nothing reads this format; save it as text, PDF or DOCX",
    SkipReason.BINARY: "nothing reads this format; save it as text, PDF or DOCX",
    SkipReason.ENCRYPTED: "save it without a password",
    SkipReason.UNREADABLE_FOLDER: "check its permissions",
    SkipReason.UNREADABLE: "check its permissions",
    SkipReason.UNKNOWN_ENCODING: "save it as UTF-8",
    SkipReason.DAMAGED: "save it again, text as UTF-8",
    SkipReason.NAME_NOT_UTF8: "rename it",
    SkipReason.CHANGING: _AGAIN,
    SkipReason.VANISHED: _AGAIN,
    SkipReason.LINK_OUTSIDE: _ELSEWHERE,
    SkipReason.OUTSIDE: _ELSEWHERE,
    SkipReason.LINK_INSIDE: "nothing: what it leads to is indexed",
    SkipReason.NOT_REGULAR: "nothing: it has no content of its own",
    SkipReason.READER_FAILED: "ask whoever made the reader; `openbook plugins` names the package",
}


def size_limits(paths: Iterable[str]) -> str:
    """Return the settings that limit the size of files.

    Example:
        >>> size_limits(["a.txt"]), size_limits(["a.txt", "a.pdf"])
        ('OPENBOOK_MAX_FILE_BYTES', 'OPENBOOK_MAX_FILE_BYTES and OPENBOOK_MAX_DOCUMENT_BYTES')
    """
    kinds = {"DOCUMENT" if size_limit(path, 0, 1) else "FILE" for path in paths}
    return " and ".join(f"OPENBOOK_MAX_{kind}_BYTES" for kind in sorted(kinds, reverse=True))


def remedy_for(reason: str) -> str:
    """Return how to get a file indexed that was skipped for a reason; empty if the reason says it.

    Example:
        >>> remedy_for("encrypted"), remedy_for("encrypted; give its password with OPENBOOK_PDF_PASSWORD")
        ('save it without a password', '')
    """
    known = SkipReason.of(reason)
    if known is None or reason.startswith(f"{known};"):
        return ""
    if known in _NEED_OCR:
        from openbook.sources.readers.ocr import is_there  # lazy: few sources have such pages

        return _WITH_OCR if is_there() else f"{_WITH_OCR} and install 'openbook[ocr]' or Tesseract"
    return _REMEDIES.get(known, "")
