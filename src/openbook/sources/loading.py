"""Selects the files of a repository to load, and classifies documents by their paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

from openbook.index.filters import path_matcher
from openbook.sources.walk import DEFAULT_MAX_DOCUMENT_BYTES, DEFAULT_MAX_FILE_BYTES, refuse_by_name, size_limit
from openbook.types import Kind, SkipReason

_Matches = Callable[[str], bool]

DocumentType = Literal["readme", "claude-md", "architecture", "api-docs", "markdown"] | Kind
"""The purpose of a document in a repository; its kind if the name implies nothing more specific."""

_PROSE = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".html")

# The innermost name wins: `docs/api/design.md` is a page of the API.
_ARCHITECTURE = frozenset({"architecture", "architectures", "design", "adr", "adrs"})
_API = frozenset({"api", "apis", "openapi", "swagger"})


@dataclass(frozen=True)
class LoadOptions:
    """Options for loading a repository. Patterns are as in `.gitignore`: `docs`, `*.md`, `/src/**`.

    Raises:
        QueryError: A pattern is invalid.
    """

    include_paths: tuple[str, ...] = ()
    """Load only these paths and everything below them; empty for all."""
    exclude_paths: tuple[str, ...] = ()
    """Never load these paths or anything below them."""
    file_patterns: tuple[str, ...] = ()
    """Load only files that match; empty for all."""
    max_file_bytes: int = 0
    """Size limit; for notebooks 16 times as much, and PDF and Office files have their own limit. 0 for the default:
    that of the settings when fetching a repository, else 1 MiB."""

    def __post_init__(self) -> None:
        """Check the patterns before anything is fetched."""
        _ = self._matchers

    def refusal(
        self, path: str, size_bytes: int, *, max_document_bytes: int = DEFAULT_MAX_DOCUMENT_BYTES
    ) -> str | None:
        """Return why a file is not loaded: empty if it is not selected; None if it is loaded.

        `max_document_bytes` limits PDF, Office and other formats whose text is extracted.

        Example:
            >>> LoadOptions(file_patterns=("*.md",)).refusal("docs/a.md", 100) is None
            True
        """
        included, excluded, patterns = self._matchers
        if excluded and excluded(path):
            return ""
        if any(matches and not matches(path) for matches in (included, patterns)):
            return ""
        if size_bytes > size_limit(path, self.max_file_bytes or DEFAULT_MAX_FILE_BYTES, max_document_bytes):
            return SkipReason.TOO_LARGE
        return refuse_by_name(path) or None

    @cached_property
    def _matchers(self) -> tuple[_Matches | None, _Matches | None, _Matches | None]:
        def matcher(patterns: tuple[str, ...]) -> _Matches | None:
            return path_matcher(patterns) if patterns else None

        return matcher(self.include_paths), matcher(self.exclude_paths), matcher(self.file_patterns)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def document_type(path: str, kind: Kind) -> DocumentType:
    """Return the purpose of a document by its path.

    Example:
        >>> [document_type(path, "docs") for path in ("README.md", "docs/CLAUDE.md", "docs/api/rest.md", "a.md")]
        ['readme', 'claude-md', 'api-docs', 'markdown']
        >>> document_type("src/api.py", "code")
        'code'
    """
    *folders, name = path.lower().split("/")
    if name in ("claude.md", "agents.md"):
        return "claude-md"
    if re.fullmatch(r"readme(?:[._-].*)?", name) and kind != "code":
        return "readme"
    if not name.endswith(_PROSE):
        return kind
    for part in (name, *reversed(folders)):
        words = set(re.findall(r"[a-z]+", part))
        if words & _API:
            return "api-docs"
        if words & _ARCHITECTURE:
            return "architecture"
    return "markdown" if name.endswith((".md", ".markdown", ".mdx")) else kind
