"""Messages as Outlook saves them: a compound file with a stream for each property."""

from __future__ import annotations

import struct

_SECTOR = 512
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
_UNICODE, _BINARY = "001F", "0102"

Entry = tuple[str, bytes | None, list["Entry"]]
"""Name, bytes of a stream or None for a folder, and what the folder holds."""


def msg(subject: str, sender: str, body: str, attachments: dict[str, bytes]) -> bytes:
    """Make a message with one recipient."""
    said = [_text("0037", subject), _text("0C1A", sender), _text("0C1F", f"{sender}@example.org"), _text("1000", body)]
    recipient = _folder([_text("3001", "Ben"), _text("3003", "ben@example.org")], 8)
    streams = [*_folder(said, 32), ("__recip_version1.0_#00000000", None, recipient)]
    for number, (name, content) in enumerate(attachments.items()):
        inner = _folder([_text("3707", name), (f"__substg1.0_3701{_BINARY}", content, [])], 8)
        streams.append((f"__attach_version1.0_#{number:08X}", None, inner))
    return _compound(streams)


def _folder(streams: list[Entry], header: int) -> list[Entry]:
    """Return the properties of a folder, with the stream that lists them behind a header of zeros."""
    listed = b"".join(
        struct.pack("<HHIQ", int(name[-4:], 16), int(name[-8:-4], 16), 6, len(content or b""))
        for name, content, _ in streams
    )
    return [("__properties_version1.0", bytes(header) + listed, []), *streams]


def _text(number: str, words: str) -> Entry:
    return f"__substg1.0_{number}{_UNICODE}", words.encode("utf-16-le"), []


class _Sectors:
    """Sectors of one size, with the table that chains them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.content = b""
        self.table: list[int] = []

    def store(self, content: bytes) -> int:
        """Append bytes, and return the number of their first sector."""
        first = len(self.table)
        count = -(-len(content) // self._size)
        self.content += content.ljust(count * self._size, b"\0")
        self.table += [*range(first + 1, first + count), _END] if count else []
        return first if count else _END


def _compound(entries: list[Entry]) -> bytes:
    large, small = _Sectors(_SECTOR), _Sectors(64)
    directory: list[bytes] = []

    def node(name: str, kind: int, child: int, start: int, size: int, right: int = _FREE) -> bytes:
        encoded = name.encode("utf-16-le")
        head = encoded.ljust(64, b"\0") + struct.pack("<HBBIII", len(encoded) + 2, kind, 1, _FREE, right, child)
        return head + bytes(36) + struct.pack("<IQ", start, size)

    def add(listed: list[Entry]) -> int:
        """Add the entries of a folder, each the right neighbour of the one before, and return the first."""
        following = _FREE
        for name, content, inner in sorted(listed, key=lambda one: (len(one[0]), one[0]), reverse=True):
            child = add(inner) if inner else _FREE
            start = small.store(content) if content is not None else 0
            directory.append(node(name, 1 if content is None else 2, child, start, len(content or b""), following))
            following = len(directory)
        return following

    first = add(entries)
    root = node("Root Entry", 5, first, large.store(small.content), len(small.content))
    start_of_directory = large.store(root + b"".join(directory))
    start_of_small = large.store(struct.pack(f"<{len(small.table)}I", *small.table))
    count = -(-(len(large.table) + 2) // (_SECTOR // 4))
    start_of_table = len(large.table)
    table = struct.pack(f"<{start_of_table + count}I", *large.table, *[_FAT] * count).ljust(count * _SECTOR, b"\xff")
    numbers = (0, count, start_of_directory, 0, 4096, start_of_small, -(-len(small.table) // 128), _END, 0)
    header = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x9I", 0x3E, 3, 0xFFFE, 9, 6, *numbers)
    )
    tables = [*range(start_of_table, start_of_table + count), *[_FREE] * (109 - count)]
    return header + struct.pack("<109I", *tables) + large.content + table
