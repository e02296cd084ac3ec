"""Hashes file contents, together with the version of the reader for their format."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from types import MappingProxyType

from openbook.sources.formats import BINARY_FORMATS
from openbook.sources.languages import format_of_name, name_of

# Increment a version when a reader returns different text or anchors for the same bytes. The next sync then reads all
# files with that suffix again. Unlisted suffixes have version 1.
_VERSIONS: Mapping[str, int] = MappingProxyType(
    dict.fromkeys("doc odp odt pdf ppt pptx sbv srt t vtt xml".split(), 2)
    | dict.fromkeys("docx ical ics ifb ods pod xls xlsx zip".split(), 3)
    | dict.fromkeys("htm html msg org text txt xhtml".split(), 4)
    | dict.fromkeys("epub latex tex".split(), 5)
    | dict.fromkeys(("eml", "mbox"), 6)
    | dict.fromkeys(("adoc", "asciidoc"), 8)
)

# The suffix of a manual page is its section. Other files with such a suffix match too, which costs one needless read.
_MAN, _MAN_VERSION = re.compile(r"(?:man|[1-9][a-z]{0,4})"), 8
# Files without a suffix, whose format depends on their text.
_UNNAMED_VERSION = 4


def content_hash(raw: bytes, path: str) -> str:
    """Return the SHA-256 of a file, with the version of its reader if that is not 1.

    Example:
        >>> content_hash(b"", "a.md")[-8:], content_hash(b"", "a.org")[-8:]
        ('7852b855', '2b855/v4')
    """
    return hashlib.sha256(raw).hexdigest() + _version_mark(path)


def is_content(raw: bytes, remembered: str) -> bool:
    """Return whether a hash is that of the same bytes, with any version of the reader."""
    return hashlib.sha256(raw).hexdigest() == remembered.partition("/")[0]


def is_read_as_now(remembered: str, path: str) -> bool:
    """Return whether a hash has the current version of the reader."""
    return remembered.partition("/")[2] == _version_mark(path)[1:]


def _version_mark(path: str) -> str:
    _, dot, suffix = name_of(path).rpartition(".")
    if dot and _MAN.fullmatch(suffix):
        version = _MAN_VERSION
    elif dot and (suffix in _VERSIONS or suffix in BINARY_FORMATS):
        version = _VERSIONS.get(suffix, 1)
    else:
        version = _UNNAMED_VERSION if format_of_name(path) is None else 1
    return f"/v{version}" if version > 1 else ""
