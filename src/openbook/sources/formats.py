"""Detects binary formats, and output of Openbook itself, by content."""

from __future__ import annotations

import re
from typing import Any, Literal, get_args

from openbook.errors import SkippedFileError
from openbook.types import SkipReason

BinaryFormat = Literal[
    "doc", "docx", "eml", "epub", "mbox", "msg", "odp", "ods", "odt", "pdf", "ppt", "pptx", "rtf", "xls", "xlsx", "zip"
]
"""Binary formats. The names are document languages and file suffixes."""

SingleFormat = Literal["doc", "docx", "epub", "odp", "ods", "odt", "pdf", "ppt", "pptx", "rtf", "xls", "xlsx"]
"""Formats without embedded files."""

HOLDER_SUFFIXES = ("eml", "mbox", "msg", "zip")
"""Suffixes of formats that contain other files: mail and exports."""

BINARY_FORMATS: tuple[BinaryFormat, ...] = get_args(BinaryFormat)

EMPTY = "empty"
"""Why a file of no bytes is skipped, in a format that is not text."""

# PDF readers have always allowed other bytes before it, within the first 1,024.
_PDF, _PDF_BYTES = b"%PDF-", 1024
_ZIP = b"PK\x03\x04"
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_BEGINNING_BYTES = _PDF_BYTES + len(_PDF)

# Stream name in the directory of an encrypted Office file.
_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")

# Other OLE files, by suffix, because their bytes look the same.
_OF_OLD_OFFICE: dict[str, BinaryFormat] = {"doc": "doc", "msg": "msg", "ppt": "ppt"}

_RTF = b"{\\rtf"

# Text whose parts must be decoded.
_MAIL: dict[str, BinaryFormat] = {"eml": "eml", "mbox": "mbox"}

# Stream names of a spreadsheet in an old Office file.
_WORKBOOKS = ("Workbook".encode("utf-16-le"), "Book".encode("utf-16-le"))

# Formats that are text, but not readable as such, by their first bytes, with what to do about them.
_TEXT_OF_PROGRAMS = {
    re.compile(rb"%!PS"): "PostScript; save it as PDF",
    re.compile(
        rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^<>]*>\s*)?<office:document\s"
    ): "flat OpenDocument; save it as .odt or PDF",
}

_OPEN_DOCUMENT: dict[str, BinaryFormat] = {"odp": "odp", "ods": "ods", "odt": "odt"}

_MIMETYPES: dict[bytes, BinaryFormat] = {
    b"application/epub+zip": "epub",
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.text-template": "odt",
    b"application/vnd.oasis.opendocument.presentation": "odp",
    b"application/vnd.oasis.opendocument.spreadsheet": "ods",
}
# Some programs number the part: `word/document2.xml`. Debian's EPUBs do not have the standard's first entry first.
_MAIN_PARTS: dict[bytes, BinaryFormat] = {
    b"word/document": "docx",
    b"ppt/presentation": "pptx",
    b"xl/workbook": "xlsx",
    b"META-INF/container.xml": "epub",
}

# The keys of a question set, and those of `eval`, `ask` and `search` with --json.
_QUESTION_KEYS = frozenset({"question", "files", "lines", "facts", "unanswerable"})
_PRINTED = {
    SkipReason.EVALUATION: frozenset({"openbook_eval", "questions", "figures"}),
    SkipReason.ANSWER: frozenset({"query", "answer", "refused", "citations", "sources"}),
}
_RESULT_KEYS = frozenset({"source", "path", "start_char", "score", "text"})

# One key of each, so that most JSON need not be parsed.
_OWN_KEY = re.compile(rb'"(?:question|query|openbook_eval)"\s*:')


def may_be_binary(raw: bytes, path: str = "") -> bool:
    """Return whether the first bytes may be those of a binary format, or of mail with attachments. Cheap."""
    if path.lower().endswith(tuple(f".{suffix}" for suffix in _MAIL)):
        return True
    return raw.startswith((_ZIP, _OLD_OFFICE, _RTF)) or _PDF in raw[:_BEGINNING_BYTES]


def binary_format(raw: bytes, path: str) -> BinaryFormat | None:
    r"""Return the format of a binary file; None if it may be text.

    Raises:
        SkippedFileError: The bytes do not match the suffix, or are of an unsupported format: old or encrypted Office
            files, PostScript, flat ODF.

    Example:
        >>> binary_format(b"%PDF-1.7\n", "slides"), binary_format(b"Hello", "a.txt")
        ('pdf', None)
    """
    suffix = path.rpartition("/")[2].rpartition(".")[2].lower()
    found: BinaryFormat | None = None
    if raw.startswith(_ZIP):
        found = _zipped(raw, suffix)
    elif _PDF in raw[:_BEGINNING_BYTES] and (raw.startswith(_PDF) or suffix == "pdf" or b"\0" in raw):
        # Text that mentions PDF at its beginning contains no NUL.
        found = "pdf"
    elif raw.startswith(_RTF):
        found = "rtf"
    elif raw.startswith(_OLD_OFFICE) and suffix in ("xls", "xlt") and any(name in raw for name in _WORKBOOKS):
        found = "xls"
    elif raw.startswith(_OLD_OFFICE) and suffix in _OF_OLD_OFFICE and _ENCRYPTED_OFFICE not in raw:
        found = _OF_OLD_OFFICE[suffix]
    elif suffix in _MAIL:
        found = _MAIL[suffix]
    unread = next((what for begins, what in _TEXT_OF_PROGRAMS.items() if begins.match(raw)), "")
    if found is None and unread:
        raise SkippedFileError(path, unread)
    if found is None and suffix in BINARY_FORMATS:
        raise SkippedFileError(path, _refusal(raw, suffix))
    return found


def _refusal(raw: bytes, suffix: str) -> str:
    if not raw.strip():
        return EMPTY
    if suffix == "zip":
        return f"{SkipReason.BINARY}; of zips, exports of Notion and Confluence are read"
    if not raw.startswith(_OLD_OFFICE):
        return f"not {'an' if suffix[0] in 'eorx' else 'a'} {suffix.upper()} file"
    if _ENCRYPTED_OFFICE in raw:
        return "encrypted; save it without a password"
    return f"old Office format; save it as .{suffix}"


def _zipped(raw: bytes, suffix: str) -> BinaryFormat | None:
    # Search the bytes, since names are not compressed; listing the zip could take a gigabyte of memory.
    named = (language for name, language in _MAIN_PARTS.items() if name in raw)
    found = _MIMETYPES.get(_mimetype(raw)) or next(named, None)
    # Some programs put the type elsewhere, or compress it.
    is_open_document = b"content.xml" in raw and suffix in _OPEN_DOCUMENT
    if found is None and suffix == "zip" and _is_export(raw):
        return "zip"
    return found or (_OPEN_DOCUMENT[suffix] if is_open_document else None)


def _is_export(raw: bytes) -> bool:
    from openbook.sources.readers.exports import is_export  # lazy: few sources contain a zip

    return is_export(raw)


def _mimetype(raw: bytes) -> bytes:
    """Read the first entry of a zip if it is an uncompressed `mimetype`, as in ODF and EPUB."""
    name_bytes, extra_bytes = int.from_bytes(raw[26:28], "little"), int.from_bytes(raw[28:30], "little")
    if raw[30 : 30 + name_bytes] != b"mimetype":
        return b""
    start = 30 + name_bytes + extra_bytes
    return raw[start : start + int.from_bytes(raw[18:22], "little")].strip()


def own_output(raw: bytes) -> SkipReason | None:
    r"""Return the kind of an output file of Openbook; None for other files.

    These are question sets of `openbook eval`, and JSON output of `eval`, `ask` and `search`. They contain questions,
    so as a source each would answer its own question.

    Example:
        >>> own_output(b'{"question": "Which port?", "facts": ["8420"]}\n')
        <SkipReason.QUESTION_SET: 'question set'>
        >>> own_output(b'{"question": "Which port?", "answer": "8420"}\n') is None
        True
    """
    if not raw.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or not _OWN_KEY.search(raw):
        return None
    import json

    text = raw.decode("utf-8-sig", "replace")
    try:
        entries = [json.loads(text)]
    except (ValueError, RecursionError):
        try:
            entries = [json.loads(line) for line in text.split("\n") if line.strip()]
        except (ValueError, RecursionError):
            return None
    kinds = {_kind_of(entry) for entry in entries}
    return kinds.pop() if len(kinds) == 1 else None


def _kind_of(entry: Any) -> SkipReason | None:
    keys = entry.keys() if isinstance(entry, dict) else frozenset[str]()
    if keys <= _QUESTION_KEYS and keys and isinstance(entry.get("question"), str):
        return SkipReason.QUESTION_SET
    if keys == {"query", "results"} and isinstance(entry["results"], list):
        found = [result for result in entry["results"] if isinstance(result, dict) and result.keys() >= _RESULT_KEYS]
        return SkipReason.SEARCH_RESULTS if found else None
    return next((kind for kind, wanted in _PRINTED.items() if keys >= wanted), None)
