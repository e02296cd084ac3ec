"""The door through which bytes become a document, wherever they come from."""

from __future__ import annotations

import hashlib
import re

from openbook.errors import SkippedFileError
from openbook.sources.classify import classify
from openbook.sources.decode import decode
from openbook.sources.readers import read_text
from openbook.types import Document

_PRIVATE_KEY = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File-)")


def read_document(raw: bytes, *, source: str, path: str) -> Document:
    """Make a document of the bytes of a file.

    Args:
        raw: All bytes; none give a document of empty text.
        source: Name of the source.
        path: POSIX path within the source. Its name decides on the format.

    Raises:
        SkippedFileError: The bytes are no text (`binary`, an unknown encoding) or begin with a
            private key (`secret`).
    """
    if _PRIVATE_KEY.match(raw):
        raise SkippedFileError(path, "secret")
    text = decode(raw, path)
    kind, language = classify(path, text)
    reading = read_text(text, path, kind, language)
    return Document(
        source=source,
        path=path,
        kind=reading.kind,
        language=reading.language,
        text=reading.text,
        content_hash=hashlib.sha256(raw).hexdigest(),
        blocks=reading.blocks,
        anchors=reading.anchors,
    )
