"""Files within a file, read as if they lay in a folder: attachments of mail, pages of an export."""

from __future__ import annotations

from collections.abc import Callable

from openbook.errors import SkippedFileError
from openbook.sources.readers.parts import Parts
from openbook.sources.readers.reading import Reading

ReadFile = Callable[[bytes, str], Reading]
"""Reads bytes by a path. Raises `SkippedFileError`."""

_MOST_READ, _MOST_LISTED = 5_000, 5


class Attachments:
    """Reads what is attached, and remembers what could not be read."""

    def __init__(self, read: ReadFile) -> None:
        """Take what reads a file."""
        self._read = read
        self._count = 0
        self._unread: list[str] = []
        self._of_parts: list[str] = []

    def add(self, parts: Parts, content: bytes, name: str, label: str = "", title: str = "") -> None:
        """Add a file to the parts of another. Its anchors begin with its title, or else its name, behind the label."""
        title = title or name
        self._count += 1
        if self._count > _MOST_READ:
            self._unread.append(f"{name} (more than {_MOST_READ})")
            return
        try:
            reading = self._read(content, name)
        except SkippedFileError as exc:
            self._unread.append(f"{name} ({exc.reason})")
            return
        parts.add(reading, f"{label} {title}".strip(), title=title, level=2)
        self._of_parts += (f"{name}: {remark}" for remark in reading.remarks)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What could not be read."""
        if not self._unread:
            return tuple(self._of_parts)
        rest = len(self._unread) - _MOST_LISTED
        more = f" and {rest} more" if rest > 0 else ""
        return (f"not read: attached {', '.join(self._unread[:_MOST_LISTED])}{more}", *self._of_parts)
