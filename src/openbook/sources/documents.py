"""Turns the bytes of files into documents."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from openbook.errors import SkippedFileError
from openbook.sources.classify import classify
from openbook.sources.content_hash import content_hash, is_content
from openbook.sources.decode import decode
from openbook.sources.formats import binary_format, may_be_binary, own_output
from openbook.sources.masking import mask_secrets
from openbook.sources.reader_registry import ReaderRegistry
from openbook.sources.readers import PdfOptions, Reading, read_binary, read_text
from openbook.sources.readers.reading import DEFAULT_PDF_OPTIONS, AttachedFile
from openbook.sources.walk import DEFAULT_MAX_DOCUMENT_BYTES, DEFAULT_MAX_FILE_BYTES, refuse_by_name, size_limit
from openbook.types import Document, SkipReason

# Levels of mail within mail.
_MAX_DEPTH = 3
_MAX_ATTACHED = 5_000

_MAX_NAME_CHARS = 150
_UNFIT_FOR_NAMES = re.compile(r"[\x00-\x1f\x7f\\\\:]+")

_PRIVATE_KEY = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File-)")


def current_text(
    raw: bytes, path: str, known: Document | None, readers: ReaderRegistry | None = None, *, mask: bool = True
) -> str | None:
    """Return the text of a file that may have changed since it was read.

    Returns:
        The known text if the bytes are unchanged, else the text as read again. None for changed files of formats
        whose text must be extracted, which is slow and can hang.

    Raises:
        SkippedFileError: The file can no longer be read.
    """
    if known is not None and is_content(raw, known.content_hash):
        return known.text
    if may_be_binary(raw, path) or (readers and readers.covers(path)):
        return None
    return read_document(raw, source="", path=path, mask=mask).text


def read_document(
    raw: bytes,
    *,
    source: str,
    path: str,
    readers: ReaderRegistry | None = None,
    mask: bool = True,
) -> Document:
    """Build a document from the bytes of a file.

    For text files, the name in `path` decides the format. `readers` are those of plugins and of the caller, which take
    precedence over built-in ones. `mask`: mask access tokens and private keys, with a remark for each.

    Raises:
        SkippedFileError: The file is not text (`binary`, an unknown encoding), begins with a private key (`secret`), is
            output of Openbook (see `own_output`), or cannot be read in its format: damaged, encrypted, or with a wrong
            suffix. Or a plugin's reader failed.
    """
    return DocumentReader(source, readers=readers, mask=mask).read(raw, path)


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file as a document, with its attachments as separate documents."""

    document: Document
    attached: tuple[Document, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    """Paths of attached files that were not read, with reasons."""


class DocumentReader:
    """Reads the files of one source."""

    def __init__(
        self,
        source: str,
        pdf_options: PdfOptions = DEFAULT_PDF_OPTIONS,
        readers: ReaderRegistry | None = None,
        *,
        mask: bool = True,
        max_file_bytes: int = DEFAULT_MAX_FILE_BYTES,
        max_document_bytes: int = DEFAULT_MAX_DOCUMENT_BYTES,
    ) -> None:
        self._source = source
        self._pdf_options = pdf_options
        self._readers = readers
        self._mask = mask
        self._limits = (max_file_bytes, max_document_bytes)

    def read(self, raw: bytes, path: str) -> Document:
        """Read a file without its attachments.

        Raises:
            SkippedFileError: As for `read_document`.
        """
        return self._document(self._reading(raw, path), raw, path)

    def read_all(self, raw: bytes, path: str, late: Callable[[], str] = lambda: "") -> ReadFile:
        """Read a file and its attachments, such as `mail.eml/slides.pdf`.

        `late` returns the skip reason for the remaining attachments once time is up; empty before.

        Raises:
            SkippedFileError: As for `read_document`, for the file itself.
        """
        reading = self._reading(raw, path)
        document = self._document(reading, raw, path)
        attached: list[Document] = []
        skipped: list[tuple[str, str]] = []
        waiting = list(reversed([(one, 1) for one in placed(reading.attached, path)]))
        while waiting and len(attached) + len(skipped) < _MAX_ATTACHED:
            file, depth = waiting.pop()
            reason = late() or ("attached too deep" if depth > _MAX_DEPTH else self._refusal(file))
            if reason:
                skipped.append((file.name, reason))
                continue
            try:
                inner = self._reading(file.raw, file.name)
                attached.append(self._document(inner, file.raw, file.name))
            except SkippedFileError as exc:
                skipped.append((file.name, exc.reason))
                continue
            waiting += reversed([(one, depth + 1) for one in placed(inner.attached, file.name)])
        if waiting:
            remark = f"only the first {_MAX_ATTACHED:,} attached files are read"
            document = replace(document, remarks=(*document.remarks, remark))
        return ReadFile(document, tuple(attached), tuple(skipped))

    def _document(self, reading: Reading, raw: bytes, path: str) -> Document:
        text, secrets = mask_secrets(reading.text) if self._mask else (reading.text, [])
        masked = (f"masked: {', '.join(secrets)}",) if secrets else ()
        return Document(
            source=self._source,
            path=path,
            kind=reading.kind,
            language=reading.language,
            text=text,
            content_hash=content_hash(raw, path),
            blocks=reading.blocks,
            anchors=reading.anchors,
            remarks=reading.remarks + masked,
        )

    def _reading(self, raw: bytes, path: str) -> Reading:
        if _PRIVATE_KEY.match(raw):
            raise SkippedFileError(path, SkipReason.SECRET)
        own = own_output(raw)
        if own:
            raise SkippedFileError(path, own)
        if self._readers and self._readers.covers(path):
            return self._readers.read(raw, path)
        return _read_file(raw, path, self._pdf_options)

    def _refusal(self, file: AttachedFile) -> str:
        limit = size_limit(file.name, *self._limits, self._readers)
        return SkipReason.TOO_LARGE if len(file.raw) > limit else refuse_by_name(file.name, self._readers)


def _read_file(raw: bytes, path: str, pdf_options: PdfOptions) -> Reading:
    """Read a file in the format of its bytes and name. A text file that is only named like mail is read as text."""
    language = binary_format(raw, path)
    if language == "eml" or language == "mbox":
        from openbook.sources.readers.mail import is_mail, read_mail  # lazy: few sources contain mail

        if is_mail(raw):
            return read_mail(raw, language)
        return replace(read_text(decode(raw, path), path, "docs", "text"), remarks=("not mail; read as text",))
    if language == "msg":
        from openbook.sources.readers.mail import read_msg

        return read_msg(raw, path)
    if language == "zip":
        from openbook.sources.readers.exports import read_export

        return read_export(raw, path)
    if language is not None:
        return read_binary(raw, path, language, pdf_options)
    text = decode(raw, path)
    return read_text(text, path, *classify(path, text))


def attached_bytes(raw: bytes, path: str, wanted: str) -> bytes:
    """Return the bytes of an attachment of mail, or of a page of an export.

    Raises:
        SkippedFileError: There is no such attachment, or the file cannot be read.
    """
    for file in placed(_read_file(raw, path, DEFAULT_PDF_OPTIONS).attached, path):
        if file.name == wanted:
            return file.raw
        if wanted.startswith(f"{file.name}/"):
            return attached_bytes(file.raw, file.name, wanted)
    raise SkippedFileError(wanted, SkipReason.VANISHED)


def placed(attached: Iterable[AttachedFile], path: str) -> Iterator[AttachedFile]:
    """Yield the attachments of a file with unique paths in the source.

    Example:
        >>> [file.name for file in placed([AttachedFile("../a.txt", b""), AttachedFile("a.txt", b"")], "m.eml")]
        ['m.eml/a.txt', 'm.eml/a (2).txt']
    """
    taken: set[str] = set()
    for file in attached:
        parts = [_UNFIT_FOR_NAMES.sub("_", part)[-_MAX_NAME_CHARS:] for part in file.name.split("/")]
        name = first = "/".join(part for part in parts if part.strip(" .")) or "attachment"
        number = 1
        while name in taken:
            number += 1
            stem, suffix = posixpath.splitext(first)
            name = f"{stem} ({number}){suffix}"
        taken.add(name)
        yield replace(file, name=f"{path}/{name}")
