"""Reads parts of zip-based formats within limits on memory and time, against zip bombs.

Nested zips are never opened.
"""

from __future__ import annotations

import io
import posixpath
import re
import zlib
from functools import lru_cache
from typing import NoReturn
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from openbook.errors import SkippedFileError

# A book of 1,000 pages has some hundred entries, a presentation about five per slide.
_MAX_ENTRIES = 10_000

# The text of a 1,000-page document is about 20 MB of XML, and its tree takes ten times as much memory.
_MAX_PART_BYTES = 32 << 20
_MAX_TOTAL_BYTES = 256 << 20

# Maximum compression ratio. Deflate reaches 1,032. Office files have 5 to 30; a table with 10,000 equal rows has 250,
# so the ratio is checked only above a size.
_MAX_EXPANSION = 200
_SMALL_BYTES = 16 << 20

# A tree takes 100 bytes for a tag of 4. A table of 30,000 rows with six cells has as many tags.
_MAX_TAGS = 2_000_000

_ENTRY_SIGNATURE = b"PK\x01\x02"
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

# A document type without declarations, as in older books. Its references are not resolved.
_MERE_TYPE = re.compile(
    rb"((?:\xef\xbb\xbf)?\s*(?:<\?xml[^<>]*\?>)?\s*)"
    rb"<!DOCTYPE\s+[\w:.-]+(?:\s+(?:PUBLIC|SYSTEM)(?:\s+(?:\"[^\"]*\"|'[^']*')){1,2})?\s*>"
)

_DAMAGED = "damaged"
_ENCRYPTED = "encrypted"
_TOO_LARGE = "expands too much"

_MAX_NAME_CHARS = 60

# Exceptions of `zipfile` for bytes in memory. 60,000 damaged zips raised these and no others, in CPython 3.11 to 3.13.
_ZIP_ERRORS = (
    BadZipFile,  # its own checks: signatures, lengths, names, checksums
    EOFError,  # a part shorter than its stated size
    NotImplementedError,  # later versions of the format, patched parts, strong encryption
    OverflowError,  # a part at an offset of 2**63 or more, which 64-bit fields can contain
    ValueError,  # a part at a negative offset, or a name that is not UTF-8
    zlib.error,  # invalid compressed data
)


class ZipPackage:
    """The parts of one zip file, with limits for all parts together."""

    def __init__(self, raw: bytes, path: str) -> None:
        """Read the list of parts."""
        self._path = path
        if raw.startswith(_OLD_OFFICE):
            self.refuse("encrypted, or older than its name says")
        # The list itself can be a bomb: an entry takes 46 bytes in it, and 1 kB when parsed.
        if raw.count(_ENTRY_SIGNATURE) > _MAX_ENTRIES:
            self.refuse(_TOO_LARGE)
        try:
            self._zip = ZipFile(io.BytesIO(raw))
        except _ZIP_ERRORS as exc:
            raise SkippedFileError(path, _DAMAGED) from exc
        self._entries = {info.filename: info for info in self._zip.infolist()}
        self._left_bytes = _MAX_TOTAL_BYTES
        declared = sum(info.file_size for info in self._zip.infolist())
        if declared > min(_MAX_TOTAL_BYTES, max(_SMALL_BYTES, _MAX_EXPANSION * len(raw))):
            self.refuse(_TOO_LARGE)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def names(self) -> list[str]:
        """Return the names of all parts, without folders."""
        return [name for name in self._entries if not name.endswith("/")]

    def refuse(self, reason: str) -> NoReturn:
        raise SkippedFileError(self._path, reason)

    def read(self, name: str) -> bytes:
        info = self._entries.get(name)
        if info is None:
            self.refuse(f"{_DAMAGED}: no {short_name(name)}")
        self._check(info)
        if self._left_bytes < 0:  # the caller goes on without the part that was too much
            self.refuse(_TOO_LARGE)
        try:
            # So far the stated sizes were trusted. Reading stops at the stated size, and compares the checksum.
            with self._zip.open(info) as part:
                content = part.read(self._left_bytes + 1)
        except _ZIP_ERRORS as exc:
            raise SkippedFileError(self._path, _DAMAGED) from exc
        self._left_bytes -= len(content)
        if self._left_bytes < 0:
            self.refuse(_TOO_LARGE)
        return content

    def xml(self, name: str) -> Element:
        content = self.read(name)
        if content.count(b"<") > _MAX_TAGS:
            self.refuse(_TOO_LARGE)
        if merely := _MERE_TYPE.match(content):
            content = merely[1] + content[merely.end() :]
        parser = XMLParser(target=_Builder())
        try:
            parser.feed(content)
            root: Element = parser.close()
        except (ParseError, ValueError, LookupError) as exc:
            raise SkippedFileError(self._path, f"{_DAMAGED}: cannot parse the XML of {short_name(name)}") from exc
        return root

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """List the relationships of an Office part: kind and target part by id, in order.

        Kinds are without namespace: `slide`, `styles`. External targets are left out.
        """
        folder, _, file = name.rpartition("/")
        listing = f"{folder}/_rels/{file}.rels" if folder else f"_rels/{file}.rels"
        if listing not in self:
            return {}
        found = {}
        for relation in self.xml(listing):
            if relation.get("TargetMode") != "External":
                part = resolved(folder, relation.get("Target", ""))
                found[relation.get("Id", "")] = (relation.get("Type", "").rpartition("/")[2], part)
        return found

    def related_by(self, name: str, kind: str) -> str:
        """Return the first target part of a kind of relationship; empty if there is none in the file."""
        parts = (part for found, part in self.related(name).values() if found == kind and part in self)
        return next(parts, "")

    def _check(self, info: ZipInfo) -> None:
        if info.flag_bits & 1:
            self.refuse(_ENCRYPTED)
        if info.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
            self.refuse(f"{_DAMAGED}: unknown compression")
        if info.file_size > _MAX_PART_BYTES or (
            info.file_size > _SMALL_BYTES and info.file_size > info.compress_size * _MAX_EXPANSION
        ):
            self.refuse(_TOO_LARGE)


class _Builder(TreeBuilder):
    """Builds a tree of names without namespace, and rejects document type declarations.

    Strict and transitional Office files differ only in their namespaces. The prefix `r:` is kept, because `id` and
    `r:id` occur together. Office formats have no declarations, but entity bombs need them.
    """

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        return super().start(_local(tag), {_local(name): value for name, value in attrs.items()})

    def end(self, tag: str, /) -> Element:
        return super().end(_local(tag))

    def doctype(self, name: str, pubid: str | None, system: str | None) -> NoReturn:
        raise ValueError("declares a document type")


def resolved(folder: str, target: str) -> str:
    """Resolve a reference in a folder of the zip to the name of a part, without its fragment.

    Example:
        >>> resolved("ppt/slides", "../media/a%20b.png#x"), resolved("word", "/word/styles.xml")
        ('ppt/media/a b.png', 'word/styles.xml')
    """
    return posixpath.normpath(posixpath.join("/", folder, unquote(target.partition("#")[0]))).lstrip("/")


def short_name(name: str) -> str:
    """Return the end of the name of a part. Names come from the file, and may be long."""
    return name[-_MAX_NAME_CHARS:]


@lru_cache(maxsize=1024)  # covers the names of all formats
def _local(name: str) -> str:
    space, _, rest = name.rpartition("}")
    return f"r:{rest}" if space.endswith("/relationships") else rest
