"""Reads mail with headers and text: single messages (EML, Outlook's MSG) or mailboxes (mbox)."""

from __future__ import annotations

import codecs
import contextlib
import email
import email.policy
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email.message import EmailMessage, MIMEPart
from itertools import islice
from typing import Any

from openbook.errors import SkippedFileError
from openbook.sources.decode import decode
from openbook.sources.readers.composing import Composer, remark_on
from openbook.sources.readers.html import read_html
from openbook.sources.readers.reading import AttachedFile, Reading, storable
from openbook.types import SkipReason

_MAX_MESSAGES = 10_000
_MAX_PARTS = 1_000
_MESSAGE = "message/rfc822"

_SHOWN = ("From", "To", "Cc", "Date")

# mbox: each message begins with such a line, after a blank one.
_OPENING = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\r?\n")
_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?(?:>?From [^\r\n]*\r?\n)?(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)")
_NAMES = re.compile(rb"^(?:From|Date|Subject|To|Received|Message-ID|Return-Path):", re.IGNORECASE | re.MULTILINE)
_HEADER_BYTES = 8192

# Without UTF-32, which no program uses for mail.
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_AS_IS = frozenset({"7bit", "8bit", "binary"})

# Exceptions that `email` raises for damaged headers, and for parts that are damaged or nested too deeply.
_PARSER_ERRORS = (AttributeError, LookupError, NameError, RecursionError, ValueError)

_OUTLOOK_MISSING = f"{SkipReason.OUTLOOK_MESSAGE}; install 'openbook[msg]', or save it as EML"


def is_mail(raw: bytes) -> bool:
    r"""Return whether a file begins like a message.

    Example:
        >>> is_mail(b"From: Ada\nSubject: Tides\n\nHello\n"), is_mail(b"Dear Ada,\n")
        (True, False)
    """
    raw, _ = _in_utf8(raw[: 4 * _HEADER_BYTES])
    return _HEADER.match(raw) is not None and _NAMES.search(raw[:_HEADER_BYTES]) is not None


@dataclass(frozen=True, slots=True)
class _Message:
    """A message."""

    subject: str
    header: tuple[tuple[str, str], ...]
    """Sender, recipients and date by name; empty ones are not shown."""
    body: str
    is_html: bool
    attached: tuple[AttachedFile, ...]


def read_mail(raw: bytes, language: str) -> Reading:
    """Read one message, or those of an mbox in order.

    The subject is a heading. Sender, recipients and date follow, on a line each, then the text (the plain part, else
    the text of the HTML part) and the names of attachments. Anchors of an mbox are `message 1`, `message 2` ..., which
    are also the folder names of the attachments.
    """
    raw, is_converted = _in_utf8(raw)
    messages = list(_messages(raw)) if language == "mbox" else [raw]
    composer = Composer()
    attached: list[AttachedFile] = []
    damaged = set()
    for number, message in enumerate(messages[:_MAX_MESSAGES], start=1):
        label = f"message {number}" if language == "mbox" else ""
        try:
            letter = _message(message, is_converted=is_converted)
        except _PARSER_ERRORS:
            damaged.add(number)
            continue
        if label:
            composer.anchor(label)
        _add_message(composer, letter)
        attached += (replace(one, name=f"{label}/{one.name}") for one in letter.attached) if label else letter.attached
    remarks = [remark_on("damaged: message", damaged)] if damaged else []
    if len(messages) > _MAX_MESSAGES:
        remarks.append(f"only the first {_MAX_MESSAGES:,} of {len(messages):,} messages are read")
    return replace(composer.reading(language, remarks), attached=tuple(attached))


def _add_message(composer: Composer, letter: _Message) -> None:
    """Add a message: its subject, headers, paragraphs, and names of attachments."""
    composer.heading(letter.subject or "(no subject)", 1)
    composer.text("\n".join(f"{name}: {value}" for name, value in letter.header if value))
    text = re.sub(r"[ \t]+", " ", read_html(letter.body).text) if letter.is_html else letter.body
    for paragraph in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
        composer.text(paragraph)
    if letter.attached:
        composer.text(f"Attached: {', '.join(one.name for one in letter.attached)}")


def _in_utf8(raw: bytes) -> tuple[bytes, bool]:
    """Convert mail saved as UTF-16 or with a byte order mark to UTF-8. Returns it, and whether it was converted."""
    if raw.startswith(codecs.BOM_UTF8):
        return raw.removeprefix(codecs.BOM_UTF8), False
    encoding = next((encoding for mark, encoding in _MARKS if raw.startswith(mark)), "")
    # The first character of a header is ASCII, so in UTF-16 the byte beside it is zero.
    encoding = encoding or {(False, True): "utf-16-le", (True, False): "utf-16-be"}.get(
        (raw[:1] == b"\0", raw[1:2] == b"\0"), ""
    )
    return (raw.decode(encoding, "replace").encode(), True) if encoding else (raw, False)


def _declare_utf8(message: EmailMessage) -> None:
    """Declare the unencoded parts of a converted message as UTF-8."""
    for part in message.walk():
        if (
            part.get_content_maintype() == "text"
            and str(part.get("Content-Transfer-Encoding", "8bit")).lower() in _AS_IS
        ):
            part.set_param("charset", "utf-8")


def _messages(raw: bytes) -> Iterator[bytes]:
    starts = [(found.start(), found.end()) for found in _OPENING.finditer(raw)] or [(0, 0)]
    ends = [start for start, _ in starts[1:]] + [len(raw)]
    for (_, start), end in zip(starts, ends, strict=True):
        yield re.sub(rb"(?m)^>(>*From )", rb"\1", raw[start:end])


def _message(raw: bytes, *, is_converted: bool) -> _Message:
    message = email.message_from_bytes(raw, policy=email.policy.default)
    if is_converted:
        _declare_utf8(message)
    bodies = list(_bodies(message))
    parts = islice(_parts(message), _MAX_PARTS)
    return _Message(
        _header(message, "Subject"),
        tuple((name, _header(message, name)) for name in _SHOWN),
        "\n\n".join(map(_text_of, bodies)),
        any(body.get_content_subtype() == "html" for body in bodies),
        tuple(AttachedFile(name, _bytes_of(part)) for part in parts if part not in bodies and (name := _name(part))),
    )


def _bodies(message: EmailMessage) -> Iterator[MIMEPart]:
    """Yield the body of a message, and what some programs put behind pictures in it: more text without a name."""
    body = message.get_body(("plain", "html"))
    if body is None:
        return
    yield body
    for part in message.iter_parts() if message.get_content_type() == "multipart/mixed" else ():
        is_shown = not part.is_attachment() and not part.get_filename()
        if part is not body and is_shown and part.get_content_type() == body.get_content_type():
            yield part


def _text_of(part: MIMEPart) -> str:
    """Return the text of a part. A character set that is missing, unknown or only ASCII is guessed."""
    raw, charset = _bytes_of(part), part.get_content_charset("")
    with contextlib.suppress(LookupError, UnicodeError):
        if charset and codecs.lookup(charset).name != "ascii":
            return raw.decode(charset, "replace")
    try:
        return decode(raw)
    except SkippedFileError:
        return raw.decode("ascii", "replace")


def _parts(message: MIMEPart) -> Iterator[MIMEPart]:
    """Yield the parts of a message. An embedded message is one part."""
    for part in message.iter_parts() if message.get_content_maintype() == "multipart" else ():
        yield part
        yield from _parts(part)


def _name(part: MIMEPart) -> str:
    name = " ".join((part.get_filename() or "").split())
    if name or part.get_content_type() != _MESSAGE:
        return name
    return f"{_header(_forwarded(part), 'Subject') or 'message'}.eml"


def _forwarded(part: MIMEPart) -> EmailMessage:
    forwarded = part.get_payload(0)
    return forwarded if isinstance(forwarded, EmailMessage) else EmailMessage()


def _bytes_of(part: MIMEPart) -> bytes:
    if part.get_content_type() == _MESSAGE:
        return bytes(_forwarded(part))
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _header(message: EmailMessage, name: str) -> str:
    """Return a header on one line: decoded or, if Python's parser fails on it, as written."""
    try:
        value = str(message.get(name) or "")
    except _PARSER_ERRORS:
        value = next(value for key, value in message.raw_items() if key.lower() == name.lower())
    return " ".join(storable(value).split())


def read_msg(raw: bytes, path: str) -> Reading:
    """Read a message, like `read_mail`."""
    try:
        from oxmsg import Message
    except ModuleNotFoundError as exc:
        raise SkippedFileError(path, _OUTLOOK_MISSING) from exc

    try:
        letter = _outlook_message(Message.load(io.BytesIO(raw)))
    except Exception as exc:  # the package raises various exceptions for invalid bytes
        raise SkippedFileError(path, f"damaged: {type(exc).__name__}: {exc}"[:200]) from exc
    composer = Composer()
    _add_message(composer, letter)
    return replace(composer.reading("msg"), attached=letter.attached)


def _outlook_message(message: Any) -> _Message:
    recipients = ", ".join(f"{one.name} <{one.email_address}>" for one in message.recipients)
    files = [(one.file_name or "attachment", one.file_bytes) for one in message.attachments]
    return _Message(
        message.subject or "",
        (("From", message.sender), ("To", recipients), ("Date", message.sent_date)),
        message.body or message.html_body or "",
        not message.body,
        tuple(AttachedFile(name, content) for name, content in files if content is not None),
    )
