"""The documents that a path or a pattern of a model means; where it means none, which ones are near."""

from __future__ import annotations

import re
from collections.abc import Callable

from openbook.answering.nearest_paths import split_lines, told_instead, told_of_pattern
from openbook.errors import ToolError
from openbook.index.filters import filter_predicate
from openbook.index.protocol import DocumentSummary, Index
from openbook.types import Filter, Kind

# What is told outside of a fence has no room for a sentence.
_PLAIN = re.compile(r"[\w./-]{1,40}")


class NamedDocuments:
    """The documents of a library that a filter lets through, by path."""

    def __init__(self, index: Index, where: Filter) -> None:
        """Take a library and the documents that may be seen at all."""
        self._index = index
        self._where = where

    def find(self, path: str) -> tuple[DocumentSummary, int, int]:
        """Find the document that a path means, with or without its source in front, and the lines named behind it.

        Without lines, these are 0.

        Raises:
            ToolError: It means none or several.
        """
        documents = self._index.documents(self._where)

        def named(wanted: str) -> list[DocumentSummary]:
            return [one for one in documents if wanted in (one.path, f"{one.source}/{one.path}")]

        wanted, first, last = split_lines(path.strip().removeprefix("./"), lambda whole: bool(named(whole)))
        found = named(wanted)
        if not found:
            told = told_instead(wanted, [one.path for one in documents])
            raise ToolError(f"the library has no document of that path; {told}")
        if len(found) > 1:
            sources = ", ".join(one.source for one in found if _PLAIN.fullmatch(one.source))
            raise ToolError(f"several sources have that path; put the name of one in front, with a slash: {sources}")
        return found[0], first, last

    def like(self, pattern: str = "", kind: Kind | None = None) -> list[DocumentSummary]:
        """Return the documents with paths like this, of this kind, in the order of source and path.

        Raises:
            ToolError: No document has a path like this.
        """
        check = filter_predicate(Filter(frozenset({kind} if kind else ()), (pattern,) if pattern else ()))
        listed = self._index.documents(self._where)
        found = [one for one in listed if check is None or check(*one)]
        if not found:
            self.check(pattern)
        return found

    def check(self, pattern: str) -> None:
        """Check that a document has a path like this, or that there are no documents.

        Raises:
            ToolError: None has; the message says which paths are near.
        """
        is_meant = path_check(pattern)
        paths = [one.path for one in self._index.documents(self._where)]
        if paths and not any(map(is_meant, paths)):
            raise ToolError(f"no document has a path like that; {told_of_pattern(pattern, paths)}")


def path_check(pattern: str) -> Callable[[str], bool]:
    """Return what tells whether a path is like a pattern; all are like the empty one."""
    check = filter_predicate(Filter(globs=(pattern,))) if pattern else None
    return lambda path: check is None or check("", path, "")
