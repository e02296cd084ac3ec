"""Decodes the bytes of a file into text."""

from __future__ import annotations

import codecs
import re

from openbook.errors import SkippedFileError
from openbook.types import SkipReason

# UTF-32 first: its little-endian byte order mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# Control characters that do not occur in text. Form feed and escape (terminal colours) do.
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"

# Legacy text has almost no control characters; compressed bytes have about 10 %.
_MAX_CONTROL = 0.02

# Git looks for NUL bytes in as many; binary formats have tables of numbers at the front.
_SEARCHED_BYTES = 8192

# The detector gets only lines with non-ASCII characters, which contain all the information, and at most this many
# bytes: it samples long input anyway, and decodes all of it for each encoding.
_SAMPLE_BYTES = 8192

# UTF-8 with a few damaged bytes is still UTF-8. Text in another encoding rarely contains a valid multi-byte sequence by
# chance.
_MAX_DAMAGED = 0.1

# Encodings in common use. The detector knows 90 more (EBCDIC, old Mac sets), and finds them by mistake in short
# comments.
_LATIN = ["cp1252", "cp1250", "cp1254"]
_OTHERS = ["cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "cp932", "euc_jp", "gb18030", "big5", "cp949"]

# The declared encoding of a web page or Python file, within the bytes that browsers search.
_DECLARED = re.compile(
    rb"<meta\b[^>]{0,200}?\bcharset\s*=\s*[\"']?\s*([\w.:-]{1,40})"
    rb"|<\?xml\b[^>]{0,200}?\bencoding\s*=\s*[\"']([\w.:-]{1,40})"
    rb"|\A(?:#[^\n]*\n)?#[^\n]*?coding[:=][ \t]*([\w.-]{1,40})",
    re.IGNORECASE,
)
_DECLARED_BYTES = 1024

# Python's names of legacy character sets. Its other encodings are Unicode, or not character sets.
_LEGACY = re.compile(r"(?:iso8859|cp|koi8|euc|big5|gb|shift_jis|johab|tis|mac)")

# A declaration of the first means the second, a superset: https://encoding.spec.whatwg.org/#names-and-labels
_SUPERSETS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
}

# In UTF-16 of Latin text, one byte of each pair is zero; most texts have a few other characters.
_MIN_ZEROS = 0.9

_TWO_FOREIGN_BYTES = re.compile(rb"[\x80-\xff]{2}")


def decode(raw: bytes, location: str = "") -> str:
    r"""Decode the bytes of a file. Line ends are kept, a byte order mark is removed.

    A text whose lines all end in `\r`, as on old Macs, gets `\n` in their place: otherwise it would be one line.

    UTF-8, UTF-16 or UTF-32 with a byte order mark, UTF-16 of mostly Latin letters, and the declared encoding of HTML,
    XML and Python are decoded exactly. Any other encoding is guessed from the non-ASCII lines, so rare characters of
    legacy encodings may be wrong; damaged bytes become U+FFFD.

    Raises:
        SkippedFileError: The bytes are binary, or in an unknown encoding.

    Example:
        >>> decode(b"\xef\xbb\xbfcaf\xc3\xa9\r\n")
        'café\r\n'
    """
    text = _decoded(raw, location)
    return text if "\n" in text else text.replace("\r", "\n")


def _decoded(raw: bytes, location: str) -> str:
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _decode_marked(raw, encoding, location)
    if b"\0" in raw:
        return _decode_unmarked(raw, location)
    try:
        text = raw.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError:
        _refuse_binary(raw, location)
        return _decode_damaged(raw) or _decode_declared(raw) or _decode_legacy(raw, location)
    _refuse_binary(raw, location)
    return text


def _decode_marked(raw: bytes, encoding: str, location: str) -> str:
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as exc:
        raise SkippedFileError(location, f"damaged {encoding.upper()} text") from exc
    if "\0" in text:
        raise SkippedFileError(location, SkipReason.BINARY)
    return text


def _decode_unmarked(raw: bytes, location: str) -> str:
    """Decode UTF-16 without a byte order mark: no other text contains NUL."""
    beginning = raw[:_SEARCHED_BYTES]
    for encoding, high in (("utf-16-le", beginning[1::2]), ("utf-16-be", beginning[::2])):
        if len(raw) % 2 == 0 and high.count(0) >= len(high) * _MIN_ZEROS:
            text = raw.decode(encoding, errors="replace")
            _refuse_binary(text[:_SEARCHED_BYTES].encode(), location)
            if "\0" not in text:
                return text
    raise SkippedFileError(location, SkipReason.BINARY)


def _refuse_binary(raw: bytes, location: str) -> None:
    beginning = raw[:_SEARCHED_BYTES]
    control = len(beginning) - len(beginning.translate(None, _CONTROL))
    if control > len(beginning) * _MAX_CONTROL:
        raise SkippedFileError(location, SkipReason.BINARY)


def _decode_damaged(raw: bytes) -> str | None:
    """Decode UTF-8 with few invalid bytes; None if another encoding is more likely."""
    text = raw.removeprefix(codecs.BOM_UTF8).decode("utf-8", errors="replace")
    foreign = sum(1 for character in text if character > "\x7f")
    return text if text.count("\ufffd") <= foreign * _MAX_DAMAGED else None


def _decode_declared(raw: bytes) -> str | None:
    """Decode with the legacy encoding that the file declares; None without a declaration, or if it is wrong."""
    stated = _DECLARED.search(raw[:_DECLARED_BYTES])
    if stated is None:
        return None
    try:
        name = codecs.lookup(stated[stated.lastindex or 0].decode("ascii")).name
        text = raw.decode(_SUPERSETS.get(name, name)) if name in _SUPERSETS or _LEGACY.match(name) else ""
    except (LookupError, UnicodeDecodeError):
        return None
    return text if "\0" not in text else None


def _decode_legacy(raw: bytes, location: str) -> str:
    # Imported only for legacy files: 15 ms.
    from charset_normalizer import from_bytes

    sample = _sample(raw)
    # "ni\xf1o" alone is also valid Big5, but other scripts have adjacent non-ASCII bytes.
    encodings = _LATIN + _OTHERS if _TWO_FOREIGN_BYTES.search(sample) else _LATIN
    matches = from_bytes(sample, cp_isolation=encodings, enable_fallback=False)
    names = [match.encoding for match in matches]
    # Equal matches are sorted by name, and Western text is also plausible as Central European, which turns "ñ" into
    # "ń". No Polish or Czech text showed the reverse.
    if names[:1] == ["cp1250"] and "cp1252" in names:
        names.insert(0, "cp1252")
    for encoding in [*names, "cp1252"]:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise SkippedFileError(location, SkipReason.UNKNOWN_ENCODING)


def _sample(raw: bytes) -> bytes:
    """Collect non-ASCII lines, cut after a byte that is never part of a multi-byte character."""
    lines: list[bytes] = []
    size_bytes = 0
    for line in raw.splitlines(keepends=True):
        if not line.isascii():
            lines.append(line)
            size_bytes += len(line)
            if size_bytes > _SAMPLE_BYTES:
                break
    sample = b"".join(lines)
    cut = sample.rfind(b" ", 0, _SAMPLE_BYTES)
    return sample[:cut] if len(sample) > _SAMPLE_BYTES and cut > 0 else sample
