"""Images and PDF as parts of a message: read from files, checked, and sent only to models that read them.

Nothing here is sent by itself: who asks passes them.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openbook.errors import BadRequestError
from openbook.llm.messages import Attachment, AttachmentKind, Request

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MAX_IMAGE_BYTES = 5_000_000
"""What Anthropic documents for one image; other providers take as much or more."""

MAX_PDF_BYTES = 20_000_000
"""In base64 it is a third more, and Anthropic documents 32 MB for a whole request."""

MAX_PDF_PAGES = 100
"""What Anthropic documents for models with a context of 200,000 tokens."""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)

# At 110 dots per inch, a page of A4 has 1,286 pixels on its long side. Anthropic scales down what has more than 1,568.
_DOTS_PER_INCH = 110


def image(source: str | Path | bytes) -> Attachment:
    """Read an image: PNG, JPEG, GIF or WebP, as its first bytes tell.

    Args:
        source: A path, or the bytes of the file.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is none of these, or has more than 5 MB.
    """
    raw, name = _read(source)
    media_type = _media_type(raw)
    if not media_type.startswith("image/"):
        raise ValueError(f"{name or 'it'} is no image of a kind that models read: PNG, JPEG, GIF, WebP")
    _check_size(raw, name, MAX_IMAGE_BYTES)
    return Attachment(media_type, base64.b64encode(raw).decode(), name)


def pdf(source: str | Path | bytes) -> Attachment:
    """Read a PDF that the model is shown as a whole: text, layout and pictures.

    Args:
        source: A path, or the bytes of the file.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no PDF that can be opened, or has more than 20 MB or 100 pages.
    """
    raw, name = _read(source)
    _check_size(raw, name, MAX_PDF_BYTES)
    with _opened(raw, name) as document:
        pages = len(document)
    if pages > MAX_PDF_PAGES:
        raise ValueError(f"{name or 'it'} has {pages} pages, and a model takes {MAX_PDF_PAGES}; use `pdf_pages`")
    return Attachment("application/pdf", base64.b64encode(raw).decode(), name, pages)


def pdf_pages(source: str | Path | bytes, pages: Iterable[int]) -> list[Attachment]:
    """Draw pages of a PDF as images, for models that read images alone, or for some pages of a long file.

    Args:
        source: A path, or the bytes of the file.
        pages: Their numbers, from 1, in the order in which they are shown.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no PDF that can be opened, has no such page, or a page has more than 5 MB as an image.
    """
    raw, name = _read(source)
    drawn = []
    with _opened(raw, name) as document:
        for number in pages:
            if not 1 <= number <= len(document):
                raise ValueError(f"{name or 'it'} has no page {number}; its pages are 1 to {len(document)}")
            png = _drawn(document, number - 1)
            _check_size(png, f"page {number}", MAX_IMAGE_BYTES)
            drawn.append(Attachment("image/png", base64.b64encode(png).decode(), f"{name} p. {number}".strip()))
    return drawn


def has_attachments(request: Request) -> bool:
    """Return whether a request has an image or a PDF."""
    return any(isinstance(part, Attachment) for message in request.messages for part in message.parts)


def check_attachments(request: Request, reads: frozenset[AttachmentKind], model: str) -> None:
    """Refuse what the model cannot read, before anything is sent.

    Args:
        request: What is asked.
        reads: What the model reads besides text.
        model: Its name, for the message.

    Raises:
        BadRequestError: There is an attachment that it does not read.
    """
    kinds = {part.kind for message in request.messages for part in message.parts if isinstance(part, Attachment)}
    if refused := sorted(kinds - reads):
        what = " and ".join("images" if kind == "image" else "PDF" for kind in refused)
        hint = "draw pages as images with `pdf_pages`" if "image" in reads else "send text, or name another model"
        raise BadRequestError(f"{model} does not read {what}", hint=hint)


def _read(source: str | Path | bytes) -> tuple[bytes, str]:
    if isinstance(source, bytes):
        return source, ""
    path = Path(source)
    return path.read_bytes(), path.name


def _media_type(raw: bytes) -> str:
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for start, media_type in _SIGNATURES if raw.startswith(start)), "")


def _check_size(raw: bytes, name: str, most: int) -> None:
    if len(raw) > most:
        raise ValueError(f"{name or 'it'} has {len(raw) / 1e6:.1f} MB, and a model takes {most / 1e6:.0f} MB")


@contextmanager
def _opened(raw: bytes, name: str) -> Iterator[PdfDocument]:
    import pypdfium2  # 30 ms

    try:
        document = pypdfium2.PdfDocument(raw)
    except pypdfium2.PdfiumError as exc:
        raise ValueError(f"{name or 'it'} is no PDF, is damaged, or is encrypted") from exc
    with closing(document):
        yield document


def _drawn(document: Any, index: int) -> bytes:
    with closing(document[index]) as page:
        bitmap = page.render(scale=_DOTS_PER_INCH / 72, rev_byteorder=True, prefer_bgrx=False)
        return _png(bytes(bitmap.buffer), bitmap.width, bitmap.height, bitmap.stride, bitmap.n_channels)


def _png(pixels: bytes, width: int, height: int, stride: int, channels: int) -> bytes:
    """Write pixels as PNG: three rows of code in place of a package of 7 MB."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    color = {1: 0, 3: 2, 4: 6}[channels]
    rows = b"".join(b"\0" + pixels[y * stride : y * stride + width * channels] for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b"")
