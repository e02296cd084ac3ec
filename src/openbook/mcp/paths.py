"""Converts between documents and paths as agents write them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from openbook.index.protocol import EVERYTHING, DocumentSummary
from openbook.types import Filter

if TYPE_CHECKING:
    from openbook.library import Library


class AgentPaths:
    """Paths as agents write them: relative to a single source, or prefixed with the name of one of several."""

    def __init__(self, assistant: Library) -> None:
        self._assistant = assistant
        self._roots = assistant.sources()

    def place_of(self, source: str, path: str) -> str:
        """Format source and path."""
        return path if len(self._roots) == 1 else f"{source}/{path}"

    def find(self, path: str) -> DocumentSummary | None:
        """Return the document at a path; None if there is none, or several."""
        found = self._named.get(self.named(path), [])
        return found[0] if len(found) == 1 else None

    def named(self, path: str) -> str:
        """Convert an absolute path to one that begins with the name of its source."""
        wanted = path.strip().removeprefix("./")
        for root in self._roots:
            if wanted == root.location:
                return f"{root.name}/{wanted.rpartition('/')[2]}"
            if wanted.startswith(f"{root.location}/"):
                return f"{root.name}/{wanted.removeprefix(f'{root.location}/')}"
        return wanted

    def within(self, pattern: str) -> tuple[str, Filter]:
        """Convert a pattern that is absolute, or begins with the name of one of several sources.

        Returns the pattern relative to the source, and the filter for its documents.
        """
        for root in self._roots:
            where = Filter(sources=frozenset({root.name}))
            if pattern.rstrip("/") == root.location:
                return pattern.rpartition("/")[2] if root.kind == "file" else "", where
            if pattern.startswith(f"{root.location}/"):
                return pattern.removeprefix(root.location), where
        if len(self._roots) > 1:
            source, slash, rest = pattern.removeprefix("/").partition("/")
            if slash and any(source == root.name for root in self._roots):
                return f"/{rest}" if rest else "", Filter(sources=frozenset({source}))
        return pattern, EVERYTHING

    @cached_property
    def _named(self) -> dict[str, list[DocumentSummary]]:
        named: dict[str, list[DocumentSummary]] = {}
        for one in self._assistant.index.documents(EVERYTHING):
            for path in (one.path, f"{one.source}/{one.path}"):
                named.setdefault(path, []).append(one)
        return named
