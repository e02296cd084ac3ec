"""Reads messages as Outlook saves them: MSG."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from openbook.errors import SkippedFileError
from openbook.sources.readers.composing import Composer
from openbook.sources.readers.mail import add_attached, add_body
from openbook.sources.readers.reading import AttachedFile, Reading
from openbook.types import SkipReason

_MISSING = f"{SkipReason.OUTLOOK_MESSAGE}; install 'openbook[msg]', or save it as EML"


def read_msg(raw: bytes, path: str) -> Reading:
    """Read a message, as `read_mail` does.

    Raises:
        SkippedFileError: It is damaged, or the package that reads it is not installed.
    """
    try:
        from oxmsg import Message
    except ModuleNotFoundError as exc:
        raise SkippedFileError(path, _MISSING) from exc

    try:
        message = Message.load(io.BytesIO(raw))
        files = [(one.file_name or "attachment", one.file_bytes) for one in message.attachments]
        attached = tuple(AttachedFile(name, content) for name, content in files if content is not None)
        return replace(_letter(message, attached), attached=attached)
    except Exception as exc:  # whatever the package raises for bytes that are no message
        raise SkippedFileError(path, f"damaged: {type(exc).__name__}: {exc}"[:200]) from exc


def _letter(message: Any, attached: Sequence[AttachedFile]) -> Reading:
    composer = Composer()
    composer.heading(message.subject or "(no subject)", 1)
    recipients = ", ".join(f"{one.name} <{one.email_address}>" for one in message.recipients)
    header = (("From", message.sender), ("To", recipients), ("Date", message.sent_date))
    composer.text("\n".join(f"{name}: {value}" for name, value in header if value))
    add_body(composer, message.body or message.html_body or "", is_html=not message.body)
    add_attached(composer, attached)
    return composer.reading("msg")
