"""Reads the size of an image from its header without decoding it, and encodes pixels as PNG."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Mapping

PNG, JPEG, GIF, WEBP = "image/png", "image/jpeg", "image/gif", "image/webp"

_SIGNATURES = ((b"\x89PNG\r\n\x1a\n", PNG), (b"\xff\xd8\xff", JPEG), (b"GIF87a", GIF), (b"GIF89a", GIF))

# JPEG markers without content, and frame markers, which contain the size. C4, C8 and CC are not frames.
_ALONE = frozenset({0x01, *range(0xD0, 0xDA)})
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SCAN = 0xDA


def media_type_of(raw: bytes) -> str:
    """Return the media type of an image by its first bytes; empty for formats that models do not read."""
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return WEBP
    return next((media_type for start, media_type in _SIGNATURES if raw.startswith(start)), "")


def size_of(raw: bytes) -> tuple[int, int]:
    """Return width and height in pixels.

    Raises:
        ValueError: It is not an image, or its header is damaged.

    Example:
        >>> size_of(b"GIF89a" + bytes([4, 0, 2, 0]))
        (4, 2)
    """
    try:
        width, height = _READERS[media_type_of(raw)](raw)
    except (KeyError, IndexError, struct.error) as exc:
        raise ValueError("it is not an image, or is damaged") from exc
    if width < 1 or height < 1:
        raise ValueError("it is damaged: it has no pixels")
    return width, height


def _jpeg(raw: bytes) -> tuple[int, int]:
    at = 2
    while True:
        marker = raw[at + 1] if raw[at] == 0xFF else _SCAN  # not a marker, so the header has ended
        if marker == 0xFF or marker in _ALONE:
            at += 1 if marker == 0xFF else 2
        elif marker in _FRAMES:
            height, width = struct.unpack_from(">HH", raw, at + 5)
            return width, height
        elif marker == _SCAN:
            raise IndexError(at)
        else:
            at += 2 + int(struct.unpack_from(">H", raw, at + 2)[0])


def _webp(raw: bytes) -> tuple[int, int]:
    match raw[12:16]:
        case b"VP8X":
            wide, narrow, high, low = struct.unpack_from("<HBHB", raw, 24)  # 24 bits each, minus one
            return (narrow << 16 | wide) + 1, (low << 16 | high) + 1
        case b"VP8L":
            packed = int(struct.unpack_from("<I", raw, 21)[0])
            return (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", raw, 26)
            return width & 0x3FFF, height & 0x3FFF
    raise IndexError(12)


_READERS: Mapping[str, Callable[[bytes], tuple[int, ...]]] = {
    PNG: lambda raw: struct.unpack_from(">II", raw, 16),
    JPEG: _jpeg,
    GIF: lambda raw: struct.unpack_from("<HH", raw, 6),
    WEBP: _webp,
}


def png(rows: Iterable[bytes], width: int, height: int, channels: int, *, level: int = 6) -> bytes:
    """Encode rows of pixels as PNG, which saves a dependency of 7 MB. `level` is the compression, from 0 to 9."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), level)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
