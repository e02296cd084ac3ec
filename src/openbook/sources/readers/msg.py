"""Reads messages as Outlook saves them: MSG."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

from openbook.errors import SkippedFileError
from openbook.sources.readers.composing import Composer
from openbook.sources.readers.mail import Letter, add_letter
from openbook.sources.readers.reading import AttachedFile, Reading
from openbook.types import SkipReason

_MISSING = f"{SkipReason.OUTLOOK_MESSAGE}; install 'openbook[msg]', or save it as EML"


def read_msg(raw: bytes, path: str) -> Reading:
    """Read a message, as `read_mail` does."""
    try:
        from oxmsg import Message
    except ModuleNotFoundError as exc:
        raise SkippedFileError(path, _MISSING) from exc

    try:
        letter = _letter(Message.load(io.BytesIO(raw)))
    except Exception as exc:  # whatever the package raises for bytes that are no message
        raise SkippedFileError(path, f"damaged: {type(exc).__name__}: {exc}"[:200]) from exc
    composer = Composer()
    add_letter(composer, letter)
    return replace(composer.reading("msg"), attached=letter.attached)


def _letter(message: Any) -> Letter:
    recipients = ", ".join(f"{one.name} <{one.email_address}>" for one in message.recipients)
    files = [(one.file_name or "attachment", one.file_bytes) for one in message.attachments]
    return Letter(
        message.subject or "",
        (("From", message.sender), ("To", recipients), ("Date", message.sent_date)),
        message.body or message.html_body or "",
        not message.body,
        tuple(AttachedFile(name, content) for name, content in files if content is not None),
    )
