"""Reads mail: one message (EML) or many in one file (mbox), with their headers and their text."""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Iterator
from email.message import EmailMessage

from openbook.errors import SkippedFileError
from openbook.sources.readers.composing import Composer, remark_on
from openbook.sources.readers.html import read_html
from openbook.sources.readers.reading import Reading

_MOST_MESSAGES = 10_000
_MOST_PARTS = 1_000
_MOST_LISTED = 5

_SHOWN = ("From", "To", "Cc", "Date")

# mbox: each message opens with such a line, behind a blank one.
_OPENING = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\r?\n")
_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?(?:>?From [^\r\n]*\r?\n)?(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)")
_NAMES = re.compile(rb"^(?:From|Date|Subject|To|Received|Message-ID|Return-Path):", re.IGNORECASE | re.MULTILINE)
_HEADER_BYTES = 8192


def is_mail(raw: bytes) -> bool:
    r"""Return whether a file begins as a message does.

    Example:
        >>> is_mail(b"From: Ada\nSubject: Tides\n\nHello\n"), is_mail(b"Dear Ada,\n")
        (True, False)
    """
    return _HEADER.match(raw) is not None and _NAMES.search(raw[:_HEADER_BYTES]) is not None


def read_mail(raw: bytes, path: str, language: str) -> Reading:
    """Read one message, or those of an mbox in their order.

    The subject is a heading; then come sender, recipients and date, a line each, and the text: the plain part, or
    else the words of the part in HTML. Anchors of an mbox are `message 1`, `message 2` ... Attachments are remarked
    on, and not read.

    Raises:
        SkippedFileError: It is no mail.
    """
    if not is_mail(raw):
        raise SkippedFileError(path, f"not {'an' if language == 'eml' else 'a'} {language.upper()} file")
    messages = list(_messages(raw)) if language == "mbox" else [raw]
    composer = Composer()
    attached: list[str] = []
    damaged = set()
    for number, message in enumerate(messages[:_MOST_MESSAGES], start=1):
        if language == "mbox":
            composer.anchor(f"message {number}")
        try:
            attached += _add(composer, message)
        except (ValueError, LookupError, AttributeError, IndexError, RecursionError):  # of headers that are damaged
            damaged.add(number)
    remarks = [remark_on("damaged: message", damaged)] if damaged else []
    if attached:
        shown = ", ".join(attached[:_MOST_LISTED])
        rest = len(attached) - _MOST_LISTED
        remarks.append(f"not read: attachments {shown}" + (f" and {rest} more" if rest > 0 else ""))
    if len(messages) > _MOST_MESSAGES:
        remarks.append(f"only the first {_MOST_MESSAGES:,} of {len(messages):,} messages are read")
    return composer.reading(language, remarks)


def _messages(raw: bytes) -> Iterator[bytes]:
    starts = [(found.start(), found.end()) for found in _OPENING.finditer(raw)]
    if not starts:
        yield raw
    ends = [start for start, _ in starts[1:]] + [len(raw)]
    for (_, start), end in zip(starts, ends, strict=True):
        yield re.sub(rb"(?m)^>(>*From )", rb"\1", raw[start:end])


def _add(composer: Composer, raw: bytes) -> list[str]:
    """Add a message, and return the names of its attachments."""
    message = email.message_from_bytes(raw, policy=email.policy.default)
    composer.heading(_header(message, "Subject") or "(no subject)", 1)
    composer.text("\n".join(f"{name}: {value}" for name in _SHOWN if (value := _header(message, name))))
    body = message.get_body(("plain", "html"))
    if body is not None:
        text = str(body.get_content())
        if body.get_content_subtype() == "html":
            text = re.sub(r"[ \t]+", " ", read_html(text).text)
        for paragraph in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
            composer.text(paragraph)
    parts = list(message.walk())[:_MOST_PARTS] if message.is_multipart() else []
    named = [" ".join((part.get_filename() or "").split()) for part in parts]
    return [name for name in named if name]


def _header(message: EmailMessage, name: str) -> str:
    return " ".join(str(message.get(name) or "").split())
