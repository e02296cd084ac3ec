"""Converts between documents and paths as agents write them."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from openbook.errors import QueryError, SourceError
from openbook.index.protocol import EVERYTHING, DocumentSummary
from openbook.text import counted
from openbook.types import Filter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from openbook.index.protocol import Source
    from openbook.ingest.difference import Difference
    from openbook.library import Library


# Reasons of skipped files to name; readers of third parties can give one for each file.
_MAX_REASONS = 5
_MAX_REASON_CHARS = 100

# What .gitignore and braces make of a path.
_SIGNS = re.compile(r"[\\*?\[\]{}]|^[!#]")


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
        from openbook.lookup.named_documents import unwrapped

        wanted = unwrapped(path, lambda whole: whole in self._named)
        for root in self._roots:
            if wanted == root.location:
                return f"{root.name}/{wanted.rpartition('/')[2]}"
            if wanted.startswith(f"{root.location}/"):
                return f"{root.name}/{wanted.removeprefix(f'{root.location}/')}"
        return wanted

    def why_left_out(self, path: str) -> str:
        """Return why a file of that path is not in the library, and what to do; empty if there is none, or it is."""
        from openbook.lookup.named_documents import split_lines
        from openbook.sources.exclusions import is_ignored_file

        wanted = split_lines(self.named(path), lambda _: False)[0].replace("\\", "/").strip("/")
        if is_ignored_file(wanted.rpartition("/")[2]):
            return "files of that name are left out: lock files, minified code, source maps and drawings"
        for root in self._roots if wanted else ():
            difference = self._pending[root.name]
            if not isinstance(difference, SourceError) and (why := _why_not_indexed(root, difference, wanted)):
                return why
        return ""

    def left_out(self, source: str) -> str:
        """Count the files of a source that are left out, by reason; empty if there are none."""
        difference = self._pending[source]
        if isinstance(difference, SourceError):
            return _shortened(str(difference))
        reasons = Counter({_shortened(reason): len(paths) for reason, paths in difference.not_indexed().items()})
        most = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
        told = ", ".join(f"{count} {reason}" for reason, count in most[:_MAX_REASONS])
        more = ", ..." if len(most) > _MAX_REASONS else ""
        return f"{counted(reasons.total(), 'file')} left out: {told}{more}" if most else ""

    def within(self, pattern: str) -> tuple[str, Filter]:
        """Convert a pattern that is absolute, or begins with the name of one of several sources.

        A path as it stands comes before what else it can mean: to .gitignore, `[id]` is one of two letters. Quotation
        marks around it and lines behind it are dropped, and backslashes read as slashes, if nothing matches otherwise.

        Returns the pattern relative to the source, and the filter for its documents.
        """
        meant = [self._relative(each) for each in _readings(pattern)]
        meant = list(dict.fromkeys((each, where) for path, where in meant for each in (_literal(path), path)))
        return next((each for each in meant[:-1] if self._is_matched(*each)), meant[-1])

    def _relative(self, pattern: str) -> tuple[str, Filter]:
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

    def _is_matched(self, pattern: str, where: Filter) -> bool:
        from openbook.lookup.named_documents import path_check

        try:
            is_meant = path_check(pattern)
        except QueryError:  # `src\\` is no pattern, but a folder of Windows
            return False
        return any(is_meant(one.path) for one in self._assistant.index.documents(where))

    @cached_property
    def _pending(self) -> Mapping[str, Difference | SourceError]:
        return self._assistant.pending()

    @cached_property
    def _named(self) -> dict[str, list[DocumentSummary]]:
        named: dict[str, list[DocumentSummary]] = {}
        for one in self._assistant.index.documents(EVERYTHING):
            for path in (one.path, f"{one.source}/{one.path}"):
                named.setdefault(path, []).append(one)
        return named


def _why_not_indexed(root: Source, difference: Difference, wanted: str) -> str:
    """Return why a source has a file of that path, or a path that ends so, which is not indexed."""
    from openbook.ingest.remedies import remedy_for
    from openbook.sources.walk import why_ignored

    for reason, paths in difference.not_indexed().items():
        left = next((left for left in paths if f"/{root.name}/{left}".endswith(f"/{wanted}")), None)
        if left is not None:
            remedy = difference.remedies().get(left) or remedy_for(reason)
            return "; ".join(filter(None, (f"that file is left out: {_shortened(reason)}", remedy)))
    path = wanted.removeprefix(f"{root.name}/")
    ignored = "" if any(file.path == path for file in difference.scan.files) else why_ignored(Path(root.location), path)
    remedy = "" if ".openbookignore" in ignored else "; .openbookignore can include it"
    return f"that path is left out: {ignored}{remedy}" if ignored else ""


def _readings(pattern: str) -> Iterator[str]:
    """Yield what a path or pattern may mean, the likeliest first."""
    from openbook.lookup.named_documents import split_lines, unwrapped

    yield pattern.strip()
    yield unwrapped(pattern)
    path = split_lines(unwrapped(pattern), lambda _: False)[0]
    yield path
    yield path.replace("\\", "/")


def _literal(path: str) -> str:
    """Return a pattern for this path alone."""
    return _SIGNS.sub(r"\\\g<0>", path)


def _shortened(reason: str) -> str:
    """Return a reason on one line, and short, because readers of third parties may have written it."""
    return " ".join(reason.split())[:_MAX_REASON_CHARS]
