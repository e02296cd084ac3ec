"""Images and PDFs as parts of a message: read from files, checked, and sent only to models that support them.

Attachments are sent only if the caller passes them.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openbook.errors import QueryError, UnreadAttachmentError
from openbook.llm.image_sizes import media_type_of, png, size_of
from openbook.llm.messages import Attachment, AttachmentKind, Request

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MAX_IMAGE_BYTES = 5_000_000
"""Anthropic's documented limit per image; other providers allow at least as much."""

MAX_PDF_BYTES = 20_000_000
"""A third more in base64; Anthropic's documented limit per request is 32 MB."""

MAX_PDF_PAGES = 100
"""Anthropic's documented limit for models with a context of 200,000 tokens."""

MAX_IMAGE_PX = 8_000
"""Limit of the longer side, as documented by Anthropic."""

MAX_IMAGES = 5
"""Limit per question about a library. A budget reserves 4,800 tokens per image, so five take three times as much as the
sources of an answer."""

ImageLike = str | Path | bytes | Attachment
"""An image of a question: a path, the content of a file, or a result of `image` or `pdf_pages`."""

_HINT = "PNG, JPEG, GIF and WebP are supported, up to 5 MB and 8,000 pixels a side, and pages of PDF: plan.pdf#page=3"

_PDF = b"%PDF-"
_PAGE = re.compile(r"(?P<path>.+)#page=(?P<number>\d{1,6})")

# At 110 dpi, the long side of an A4 page has 1,286 pixels. Anthropic scales down images above 1,568.
_DOTS_PER_INCH = 110


def image(source: str | Path | bytes) -> Attachment:
    """Read an image: PNG, JPEG, GIF or WebP, detected by its first bytes.

    Args:
        source: A path, or the content of the file.

    Raises:
        OSError: The file cannot be read.
        ValueError: It has another format, is damaged, or has more than 5 MB or 8,000 pixels on a side.
    """
    return _image(*_read(source))


def _image(raw: bytes, name: str) -> Attachment:
    media_type = media_type_of(raw)
    if not media_type:
        raise ValueError(f"{name or 'it'} is no image of a kind that models read: PNG, JPEG, GIF, WebP")
    _check_size(raw, name, MAX_IMAGE_BYTES)
    try:
        width, height = size_of(raw)
    except ValueError as exc:
        raise ValueError(f"{name or 'it'} is damaged: its size cannot be read") from exc
    if max(width, height) > MAX_IMAGE_PX:
        raise ValueError(f"{name or 'it'} has {width:,} x {height:,} pixels, and a model takes {MAX_IMAGE_PX:,} a side")
    return Attachment(media_type, base64.b64encode(raw).decode(), name)


def pdf(source: str | Path | bytes) -> Attachment:
    """Read a PDF that the model sees as a whole: text, layout and images.

    Args:
        source: A path, or the content of the file.

    Raises:
        OSError: The file cannot be read.
        ValueError: It cannot be opened as a PDF, or has more than 20 MB or 100 pages.
    """
    raw, name = _read(source)
    _check_size(raw, name, MAX_PDF_BYTES)
    with _opened(raw, name) as document:
        pages = len(document)
    if pages > MAX_PDF_PAGES:
        raise ValueError(f"{name or 'it'} has {pages} pages, and a model takes {MAX_PDF_PAGES}; use `pdf_pages`")
    return Attachment("application/pdf", base64.b64encode(raw).decode(), name, pages)


def pdf_pages(source: str | Path | bytes, pages: Iterable[int]) -> list[Attachment]:
    """Render pages of a PDF as images, for models that read only images, or to show some pages of a long file.

    Args:
        source: A path, or the content of the file.
        pages: Page numbers from 1, in the order to show them.

    Raises:
        OSError: The file cannot be read.
        ValueError: It cannot be opened as a PDF, a page does not exist, or a page has more than 5 MB as an image.
    """
    return _pages(*_read(source), pages)


def _pages(raw: bytes, name: str, pages: Iterable[int]) -> list[Attachment]:
    drawn = []
    with _opened(raw, name) as document:
        for number in pages:
            if not 1 <= number <= len(document):
                raise ValueError(f"{name or 'it'} has no page {number}; its pages are 1 to {len(document)}")
            page = _drawn(document, number - 1)
            _check_size(page, f"page {number}", MAX_IMAGE_BYTES)
            drawn.append(Attachment("image/png", base64.b64encode(page).decode(), f"{name} p. {number}".strip()))
    return drawn


def question_images(given: Iterable[ImageLike]) -> tuple[Attachment, ...]:
    """Return the images of a question, in order. PDF pages are rendered.

    Args:
        given: Images and PDFs: paths, file contents, or attachments. `plan.pdf#page=3` is one page.

    Raises:
        QueryError: One cannot be read, is not an image, or is too large; or there are more than `MAX_IMAGES`.
        TypeError: It is a single string, or not a collection of images.
    """
    if isinstance(given, str | bytes | Path | Attachment):
        raise TypeError("pass a list, even for one image: images=[...]")
    found: list[Attachment] = []
    for each in given:
        try:
            found += [each] if isinstance(each, Attachment) else _images_of(each)
        except OSError as exc:
            raise QueryError(f"cannot read {str(each)!r}: {exc.strerror}", hint="check the path of the image") from exc
        except QueryError:
            raise
        except ValueError as exc:
            raise QueryError(str(exc), hint=_HINT) from exc
    check_count(found)
    return tuple(found)


def check_count(images: Sequence[Attachment], most: int = MAX_IMAGES) -> None:
    """Raise an error if a question has too many images; each page of a PDF counts as one."""
    count = sum(each.pages for each in images)
    if count > most:
        hint = "leave some out, or name pages as in plan.pdf#page=3"
        raise QueryError(f"the question has {count} images, and may have {most}", hint=hint)


def _images_of(source: str | Path | bytes) -> list[Attachment]:
    page = None if isinstance(source, bytes) or Path(source).exists() else _PAGE.fullmatch(str(source))
    raw, name = _read(page["path"] if page else source)
    if not raw.startswith(_PDF):
        return [_image(raw, name)]
    if page:
        return _pages(raw, name, [int(page["number"])])
    with _opened(raw, name) as document:
        count = len(document)
    if count > MAX_IMAGES:
        raise QueryError(
            f"{name or 'the PDF'} has {count} pages, and a question may have {MAX_IMAGES} images",
            hint=f"name pages, as in {name or 'plan.pdf'}#page=3",
        )
    return _pages(raw, name, range(1, count + 1))


def has_attachments(request: Request) -> bool:
    """Return whether a request has an image or a PDF."""
    return any(isinstance(part, Attachment) for message in request.messages for part in message.parts)


def check_attachments(request: Request, reads: frozenset[AttachmentKind], model: str) -> None:
    """Raise an error for attachments that the model cannot read, before anything is sent."""
    kinds = {part.kind for message in request.messages for part in message.parts if isinstance(part, Attachment)}
    if refused := sorted(kinds - reads):
        what = " and ".join("images" if kind == "image" else "PDF" for kind in refused)
        hint = "draw pages as images with `pdf_pages`" if "image" in reads else "send text, or name another model"
        raise UnreadAttachmentError(f"{model} does not read {what}", hint=hint)


def _read(source: str | Path | bytes) -> tuple[bytes, str]:
    if isinstance(source, bytes):
        return source, ""
    path = Path(source)
    return path.read_bytes(), path.name


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
        pixels, length = bytes(bitmap.buffer), bitmap.width * bitmap.n_channels
        rows = (pixels[start : start + length] for start in range(0, bitmap.height * bitmap.stride, bitmap.stride))
        return png(rows, bitmap.width, bitmap.height, bitmap.n_channels)
