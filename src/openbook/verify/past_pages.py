"""Caches files of past commits, the most recently used ones."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from openbook.errors import SkippedFileError
from openbook.sources.decode import decode
from openbook.verify.git import Git
from openbook.verify.relocation import ComparedText

# In all cached files. With its lines and indexes, a file takes up to 20 bytes per character.
_MAX_CHARS = 8_000_000


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit and the path that a file had in it."""

    commit: str
    path: str
    """Relative to the top of the repository."""


class PastPages:
    """Files of past commits. A file that is the same in several commits is cached once."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._objects: dict[Revision, str] = {}
        self._pages: OrderedDict[str, ComparedText | None] = OrderedDict()
        self._chars = 0

    def read(self, revision: Revision) -> ComparedText | None:
        """Return a file at a commit; None if it did not exist or is binary."""
        name = self._objects.get(revision)
        if name is None or name not in self._pages:
            found = self._git.read(f"{revision.commit}:{revision.path}")
            name, content = (found[0], found[2]) if found and found[1] == "blob" else ("", None)
            self._objects[revision] = name
            if name not in self._pages:
                self._keep(name, _page(content) if content is not None else None)
        self._pages.move_to_end(name)
        return self._pages[name]

    def _keep(self, name: str, page: ComparedText | None) -> None:
        self._pages[name] = page
        self._chars += len(page.text) if page is not None else 0
        while self._chars > _MAX_CHARS and len(self._pages) > 1:
            _, oldest = self._pages.popitem(last=False)
            self._chars -= len(oldest.text) if oldest is not None else 0


def _page(content: bytes) -> ComparedText | None:
    try:
        return ComparedText(decode(content))
    except SkippedFileError:
        return None
