"""Finds lines by an exact text or a regular expression, in linear time and within a limit of seconds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from openbook.errors import ToolError
from openbook.index.protocol import EVERYTHING, DocumentSummary, Index
from openbook.text import LineIndex, counted
from openbook.tokens import tokenize
from openbook.types import Document, Filter, shown_text

# Time limit. Reading 10,000 documents takes about a second.
_MAX_SECONDS = 5.0

# Limit of returned lines. Further ones are only counted.
_MAX_LINES = 2_000

# Memory limit of RE2 for a pattern: its default of 8 MB.
_PATTERN_BYTES = 8 << 20
MAX_PATTERN_CHARS = 500
"""Limit of a pattern."""

# Longer lines, as in generated code, are truncated.
_MAX_LINE_CHARS = 200
_LEADING_CHARS = 60

# Readers mark the heads of list entries by form feeds.
_MARKS_AT_END = re.compile(r"\f++$", re.MULTILINE)

_PLAIN_WORD = re.compile("[a-z]{2,}+")
_SCHEMES = frozenset({"http", "https"})

# Signs of a regular expression. Code has others as well: `items[0]`, `a?.b`, `i++`, `x || y`, `send(`.
_LIKE_EXPRESSION = re.compile(
    r"(?<![|\s])\|(?![|\s])|\.[*+]|\\[bBdDsSwW.()\[\]{}|*+?^$]|^\^|\$$|\(\?[a-zA-Z:]|\](?:[*+?]|\{\d)|\[\^?(?:a-z|A-Z|0-9)"
)

_Search = Callable[[str], Iterator[tuple[int, int]]]
"""Yields the offsets of matches in a text, in order."""


@dataclass(frozen=True, slots=True)
class MatchingLine:
    """A line that matches."""

    source: str
    path: str
    line: int
    """1-based."""
    text: str
    """The line, trimmed; of a long one, 200 characters around the match."""


@dataclass(frozen=True, slots=True)
class MatchingLines:
    """The lines that match a pattern."""

    lines: tuple[MatchingLine, ...]
    """In the order of source, path and line, at most 2,000."""
    count: int
    """How many there are, those that are not kept included."""
    unread: int = 0
    """Documents that were not read, because time was up."""
    is_expression: bool = False
    """Whether no line holds the pattern as it stands, so that it was taken as a regular expression."""

    @property
    def summary(self) -> str:
        """How many there are, and how the pattern was taken."""
        taken = "no line holds the pattern as it stands; as a regular expression: " if self.is_expression else ""
        return taken + (f"{counted(self.count, 'line')} matched" if self.count else "no line matches")


def find_lines(
    pattern: str,
    index: Index,
    where: Filter = EVERYTHING,
    *,
    is_regex: bool = False,
    any_case: bool = False,
    is_meant: Callable[[str], bool] | None = None,
    seconds: float = _MAX_SECONDS,
) -> MatchingLines:
    """Find the lines that contain a text, or match a regular expression in the syntax of RE2.

    The pattern is one line. If it looks like a regular expression and no line holds it as it stands, it is taken as
    one. No further document is read after so many seconds.

    Raises:
        ToolError: The pattern is empty, too long or not valid, or regular expressions need a package.
    """
    if not pattern or "\n" in pattern or len(pattern) > MAX_PATTERN_CHARS:
        raise ToolError(f"the pattern must be one line of 1 to {MAX_PATTERN_CHARS} characters")
    if is_regex:
        search = _expression(pattern, any_case=any_case)
        return _found(search, index.documents(where), index, is_meant, seconds)
    documents = documents_with(pattern, index, where)
    found = _found(_literal(pattern, any_case=any_case), documents, index, is_meant, seconds)
    if found.count or found.unread or not _LIKE_EXPRESSION.search(pattern):
        return found
    try:
        search = _expression(pattern, any_case=any_case)
    except ToolError:  # it only looks like one, or there is no package for it
        return found
    matching = _found(search, index.documents(where), index, is_meant, seconds)
    return replace(matching, is_expression=True) if matching.count or matching.unread else found


def _found(
    search: _Search,
    documents: Sequence[DocumentSummary],
    index: Index,
    is_meant: Callable[[str], bool] | None,
    seconds: float,
) -> MatchingLines:
    """Search the documents with these paths, until the time is up."""
    if is_meant is not None:
        documents = [each for each in documents if is_meant(each.path)]
    end = monotonic() + seconds
    found: list[MatchingLine] = []
    count = 0
    for position, listed in enumerate(documents):
        if monotonic() > end:
            return MatchingLines(tuple(found), count, len(documents) - position)
        document = index.document(listed.source, listed.path)
        if document is not None:
            lines = _lines(document, search)
            count += len(lines)
            found += lines[: _MAX_LINES - len(found)]
    return MatchingLines(tuple(found), count)


def _literal(pattern: str, *, any_case: bool) -> _Search:
    # For literals, `re` takes linear time as well.
    compiled = re.compile(re.escape(pattern), re.IGNORECASE if any_case else 0)
    return lambda text: (found.span() for found in compiled.finditer(text))


def _expression(pattern: str, *, any_case: bool) -> _Search:
    try:
        import re2
    except ModuleNotFoundError as exc:
        raise ToolError("regular expressions need google-re2", hint="pip install 'openbook[mcp]'") from exc
    options = re2.Options()
    options.max_mem, options.log_errors, options.never_nl = _PATTERN_BYTES, False, True
    options.case_sensitive = not any_case
    try:
        compiled = re2.compile(f"(?m:{pattern})", options)
    except re2.error as exc:
        told = exc.args[0].decode("utf-8", "replace") if isinstance(exc.args[0], bytes) else exc.args[0]
        raise ToolError(f"not a regular expression that RE2 knows: {told}") from exc
    if compiled.search(""):
        raise ToolError("the pattern matches every line, because it matches nothing at all")
    return lambda text: (found.span() for found in compiled.finditer(text))


def documents_with(text: str, index: Index, where: Filter) -> Sequence[DocumentSummary]:
    """Return the documents that may contain a text in any case: those with its rarest word, or all without a whole one.

    They are in the order of source and path.
    """
    # Only inner words are complete; those at the ends may be parts of longer ones. In lower case, a word has the one
    # token that it has however it is written: `getUser` has three. Schemes of URLs have none.
    words = (word.lower() for word in re.split(r"\W+", text)[1:-1])
    tokens = tokenize(" ".join(word for word in words if _PLAIN_WORD.fullmatch(word) and word not in _SCHEMES))
    return documents_holding(tokens, index, where) if tokens else index.documents(where)


def documents_holding(tokens: Sequence[str], index: Index, where: Filter) -> list[DocumentSummary]:
    """Return the documents with the rarest of some tokens, by source and path; none if the index lacks one of these."""
    counts = index.frequencies(tokens)
    if not tokens or len(counts) < len(set(tokens)):
        return []
    rarest = min(tokens, key=lambda token: (counts[token], token))
    matches = index.match([rarest], None, max(1, counts[rarest]), where)
    outlines = index.outlines([evidence.id for evidence in matches.evidence])
    return sorted({DocumentSummary(each.source, each.span.path, each.kind) for each in outlines})


def _lines(document: Document, search: _Search) -> list[MatchingLine]:
    """Return the distinct lines of a document that match."""
    text, made = _without_marks(document), dict[int, MatchingLine]()
    lines: LineIndex | None = None
    for start, _ in search(text):
        lines = lines or LineIndex(text)
        number = lines.line_at(min(start, max(0, len(text) - 1)))
        if number not in made:
            shown = shown_line(text, lines, number, start)
            made[number] = MatchingLine(document.source, document.path, number, shown)
    return list(made.values())


def _without_marks(document: Document) -> str:
    """Return a text without the marks of readers, with the same lines, so that `$` matches at the heads of entries."""
    if document.kind == "code":
        return document.text
    return shown_text(_MARKS_AT_END.sub("", document.text))


def shown_line(text: str, lines: LineIndex, number: int, start: int) -> str:
    """Return a trimmed line of a text; of a long one, 200 characters around an offset."""
    first, last = lines.start_of(number), lines.end_of(number)
    if last - first > _MAX_LINE_CHARS:
        first = max(first, min(start - _LEADING_CHARS, last - _MAX_LINE_CHARS))
        last = min(last, first + _MAX_LINE_CHARS)
    return text[first:last].strip()
