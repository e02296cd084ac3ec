"""The door through which bytes become a document, wherever they come from."""

from __future__ import annotations

from openbook.errors import SkippedFileError
from openbook.sources.content_hash import content_hash, is_content
from openbook.sources.formats import may_be_binary, own_output
from openbook.sources.masking import mask_secrets
from openbook.sources.reader_registry import ReaderRegistry
from openbook.sources.readers import PdfOptions
from openbook.sources.readers.reading import DEFAULT_PDF_OPTIONS
from openbook.sources.reading_files import has_private_key, read_file
from openbook.types import Document, SkipReason


def current_text(
    raw: bytes, path: str, known: Document | None, readers: ReaderRegistry | None = None, *, mask: bool = True
) -> str | None:
    """Return the text of a file that may have changed since it was read.

    Args:
        raw: All bytes of it now.
        path: POSIX path within the source.
        known: What was read of it.
        readers: Of other people.
        mask: As `read_document` takes it.

    Returns:
        What is known, if the bytes are the same; else the text. None for other bytes of a format
        whose text must be extracted, which takes long, and may never end.

    Raises:
        SkippedFileError: It cannot be read any more.
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
    pdf_options: PdfOptions = DEFAULT_PDF_OPTIONS,
    readers: ReaderRegistry | None = None,
    mask: bool = True,
) -> Document:
    """Build a document of the bytes of a file.

    Args:
        raw: All bytes; none give a document of empty text.
        source: Name of the source.
        path: POSIX path within the source. Its name decides on the format of what is text.
        pdf_options: Limits and password for PDF.
        readers: Of other people; what they cover is theirs, even where Openbook could read it.
        mask: Mask access tokens and private keys in the text; a remark names each.

    Raises:
        SkippedFileError: The bytes are no text (`binary`, an unknown encoding), begin with a private
            key (`secret`), are a question set, a run or an answer of ours (see `own_output`), or are of a
            format that cannot be read: damaged, encrypted, not what the suffix says. Or another reader failed.
    """
    if has_private_key(raw):
        raise SkippedFileError(path, SkipReason.SECRET)
    own = own_output(raw)
    if own:
        raise SkippedFileError(path, own)
    reading = readers.read(raw, path) if readers and readers.covers(path) else read_file(raw, path, pdf_options)
    text, secrets = mask_secrets(reading.text) if mask else (reading.text, [])
    masked = (f"masked: {', '.join(secrets)}",) if secrets else ()
    return Document(
        source=source,
        path=path,
        kind=reading.kind,
        language=reading.language,
        text=text,
        content_hash=content_hash(raw, path),
        blocks=reading.blocks,
        anchors=reading.anchors,
        remarks=reading.remarks + masked,
    )
