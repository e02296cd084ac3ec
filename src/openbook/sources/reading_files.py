"""From the bytes of one file to a reading, with the files that it holds: attachments, pages of exports."""

from __future__ import annotations

import re
from dataclasses import replace

from openbook.errors import SkippedFileError
from openbook.sources.classify import classify
from openbook.sources.decode import decode
from openbook.sources.exclusions import is_secret
from openbook.sources.formats import binary_format
from openbook.sources.readers import PdfOptions, Reading, read_binary, read_text
from openbook.types import SkipReason

# Mail within mail within mail.
_DEEPEST = 3

_PRIVATE_KEY = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File-)")


def has_private_key(raw: bytes) -> bool:
    """Return whether a file begins with a private key."""
    return _PRIVATE_KEY.match(raw) is not None


def read_file(raw: bytes, path: str, pdf_options: PdfOptions, depth: int = 0) -> Reading:
    """Read a file by its bytes and its name. What calls itself mail and is none is read as text.

    Raises:
        SkippedFileError: It holds a private key, is no text, or is of a format that cannot be read.
    """
    if has_private_key(raw):
        raise SkippedFileError(path, SkipReason.SECRET)
    language = binary_format(raw, path)
    if language == "eml" or language == "mbox" or language == "msg" or language == "zip":
        return _with_files(raw, path, language, pdf_options, depth)
    if language is not None:
        return read_binary(raw, path, language, pdf_options)
    text = decode(raw, path)
    return read_text(text, path, *classify(path, text))


def _with_files(raw: bytes, path: str, language: str, pdf_options: PdfOptions, depth: int) -> Reading:
    from openbook.sources.readers.attachments import Attachments

    def read(content: bytes, name: str) -> Reading:
        if is_secret(name.rpartition("/")[2]):
            raise SkippedFileError(name, SkipReason.SECRET)
        if depth >= _DEEPEST:
            raise SkippedFileError(name, "too deep")
        return read_file(content, name, pdf_options, depth + 1)

    attached = Attachments(read)
    if language == "msg":
        from openbook.sources.readers.msg import read_msg

        return read_msg(raw, path, attached)
    if language == "zip":
        from openbook.sources.readers.exports import read_export

        return read_export(raw, path, attached)
    from openbook.sources.readers.mail import is_mail, read_mail

    if not is_mail(raw):
        return replace(read_text(decode(raw, path), path, "docs", "text"), remarks=("no mail; read as text",))
    return read_mail(raw, language, attached)
