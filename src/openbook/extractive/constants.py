"""Follows the constants that hold the value a question asks for: `timeout = DEFAULT_TIMEOUT` says none itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from openbook.extractive.answerer import ScoredPassage
from openbook.extractive.context import Context, ContextItem, units_of
from openbook.extractive.passages import Passage, overlap, passages_of
from openbook.extractive.scoring import asks_for_value
from openbook.extractive.statements import layout_of, statements
from openbook.index.protocol import Index
from openbook.lookup.references import chunks_defining
from openbook.questions.question import Question
from openbook.retrieval.roles import is_aside
from openbook.tokens import tokenize
from openbook.types import Chunk, Filter, RetrievalResult

# `DEFAULT_TIMEOUT`, `limits.MAX_AGE`, `defaultTimeout`, `default_timeout`. In quotation marks, `MAX_AGE` is a key.
_CONSTANT = re.compile(
    r"(?<![\w.:\"'$-])(?:\w+(?:\.|::))*(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+|_?[dD]efault(?:_\w+|[A-Z]\w*))\b"
    r"|(?<=[\"'])default_\w+(?=[\"'])"
)
# A value that is nothing but another name: `DEFAULT_TYPE = TYPE_JSON`.
_NAME = re.compile(r"\s*(?P<name>(?:\w+(?:\.|::))*[A-Za-z_]\w*)(?:\(\))?[\s;,)}]*$")
_LITERAL = re.compile(
    r"(?<![\w.])[-+]?\.?\d[\w.]*|\"[^\"\n]*\"|'[^'\n]*'|\b(?:true|false|none|nil|null)\b", re.IGNORECASE
)
_FUNCTION = re.compile(r"\b(?:fn|def|fun|func)[ \t]+$")
_MACRO = re.compile(r"[ \t]*#[ \t]*define[ \t]+")
# What the user sets is no default.
_FROM_ENVIRONMENT = re.compile(r"getenv|environ|\benv\b", re.IGNORECASE)
# "which limit does it use if I set none", but not "what happens if ..."
_IF_UNSET = re.compile(
    r"\b(?:what|which)\b(?!\s+happen).*\b(?:if|when|unless|without)\b"
    r".*\b(?:no|not|none|(?:is|are|was|do|does|have|has)n['’]?t|unset|omit\w*)\b",
    re.IGNORECASE,
)
# "Defaults to 5", "default: `sha256`", but not "defaults to `MAX_AGE`".
_SAYS_DEFAULT = re.compile(
    r"\b[Dd]efault(?:s|ed)?\b\W+(?:[\w.]+\W+){0,6}?"
    r"(?:\d|(?i:true|false)\b|[`\"'](?!_?[dD]efault|[\w.:]*[A-Z]{2})[^\s`\"'])"
)

_DEFAULT = frozenset(tokenize("default"))

# Limits of names followed from one to the next, and of the chunks with a name.
_MAX_STEPS, _CANDIDATES = 3, 80
# The body of a function that returns a value, and the bracket below.
_MAX_BODY_LINES = 2


class _Definition(NamedTuple):
    """Where a constant gets its value."""

    chunk: Chunk
    name: str
    offset: int
    """That of the name in the chunk."""
    value: str


def with_constants(
    query: Question, picked: Sequence[ScoredPassage], context: Context, index: Index, where: Filter
) -> tuple[list[ScoredPassage], Context]:
    """Return quotes with the definitions of the constants that hold the value asked for, and the context with these.

    Nothing is added if a quote says the value, or if the name has several definitions.
    """
    quotes = [each.passage for each in picked if not each.is_pointer]
    told = [each.text for each in quotes if not each.is_code]
    if not _wants_value(query) or any(map(_SAYS_DEFAULT.search, told)):
        return list(picked), context
    with index.snapshot():
        for name, used_in in _named(query, quotes, context):
            if found := _definitions(name, used_in, index, where):
                return _with_quotes(picked, context, found)
    return list(picked), context


def _wants_value(query: Question) -> bool:
    return asks_for_value(query) or _IF_UNSET.search(query.text) is not None


def _named(query: Question, quotes: Sequence[Passage], context: Context) -> list[tuple[str, Chunk]]:
    """Return the constants in quotes, or else those that results give to what the question names, with their chunks."""
    said = [(name, each.shown.result.chunk) for each in quotes for name in _constants(each.text)]
    return _closest(query, said) or _closest(query, _given(query, context), least=0.0)


def _closest(query: Question, named: Iterable[tuple[str, Chunk]], least: float = 0.5) -> list[tuple[str, Chunk]]:
    """Return the constants whose names have most words of the question, and fewest others.

    `least` is the share of their words from it.
    """
    asked = frozenset(query.tokens)
    found: list[tuple[tuple[int, bool, int], str, Chunk]] = []
    for name, chunk in named:
        parts = tokenize(name.rpartition(".")[2])  # the last of several is the whole name
        words = frozenset(parts[:-1] or parts) - _DEFAULT
        shared = len(asked & words)
        if words and shared >= least * len(words):
            found.append(((shared, "default" in name.lower(), -len(words)), name, chunk))
    most = max((rank for rank, _, _ in found), default=None)
    return [(name, chunk) for rank, name, chunk in found if rank == most]


def _constants(text: str) -> list[str]:
    """Return the constants in the lines of a text that say no value beside them."""
    return [name for line in text.split("\n") if not _SAYS_DEFAULT.search(line) for name in _CONSTANT.findall(line)]


def _given(query: Question, context: Context) -> Iterator[tuple[str, Chunk]]:
    """Yield the constants behind a name of the question in a line of a result: `limit: int = DEFAULT_LIMIT`."""
    names = [*(each.name.lstrip("-").replace("-", "_") for each in query.settings), *query.identifiers]
    if not names:
        return
    given = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})\b[\"']?\s*[:=,](.*)")
    for chunk in (shown.result.chunk for shown in context.shown):
        if not is_aside(chunk.span.path):
            yield from ((name, chunk) for line in given.findall(chunk.text) for name in _constants(line))


def _definitions(name: str, used_in: Chunk, index: Index, where: Filter) -> list[_Definition]:
    """Return the definition of a name; before it, those of the names that it is set to, up to one with a value."""
    steps: list[_Definition] = []
    for _ in range(_MAX_STEPS):
        found = _defined(name, used_in, index, where)
        if found is None or _FROM_ENVIRONMENT.search(found.value):
            break
        steps.insert(0, found)
        if _LITERAL.search(found.value):
            return steps
        other = _NAME.match(found.value)
        if other is None:
            break
        name, used_in = other["name"], found.chunk
    return []


def _defined(name: str, used_in: Chunk, index: Index, where: Filter) -> _Definition | None:
    """Return the definition of a name: the one in the same file, or else the only one; None if there are several."""
    *owners, bare = re.split(r"\.|::", name)
    matches = index.match(tokenize(bare), None, _CANDIDATES, where)
    named = [each for each in index.outlines([evidence.id for evidence in matches.evidence]) if each.kind == "code"]
    outlines = chunks_defining(named, bare, owners) or named  # constants of a companion object are in no list of names
    file = (used_in.source, used_in.span.path)
    found = [
        _Definition(chunk, bare, offset, value)
        for chunk in index.fetch([each.id for each in outlines])
        if (chunk.source, chunk.span.path) == file or not is_aside(chunk.span.path)
        for offset, value in _assignments(bare, chunk.text)
    ]
    found = [each for each in found if (each.chunk.source, each.chunk.span.path) == file] or found
    return found[0] if len(found) == 1 else None


def _assignments(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield where a name gets a value, and the value: by assignment, by a macro, by a function that returns it."""
    for found in _place(name).finditer(text):
        before, sign = found["before"], found["sign"]
        if sign.startswith("("):
            is_defined = _FUNCTION.search(before) is not None
        else:
            is_defined = sign.endswith("=") or _MACRO.fullmatch(before) is not None
        if is_defined:
            line, _, rest = text[found.end() :].partition("\n")
            value = " ".join((line, rest.partition("\n")[0])) if line.strip() in ("", "(", "{") else line
            yield found.start("sign") - len(name), value.strip().removeprefix("return ")


@lru_cache(maxsize=64)
def _place(name: str) -> re.Pattern[str]:
    """Return a pattern of a name with what is before it in its line, and a sign behind it."""
    signs = r"\(\)[^\n]*?[{=:](?=[ \t]|$)|[^\n=()]*?(?<![!<>+*/|&-]):?=(?![=>])|[ \t]+(?=\S)"
    return re.compile(rf"^(?P<before>[^\n=\"'(]*?)(?<![.\w]){re.escape(name)}(?!\w)(?P<sign>{signs})", re.MULTILINE)


def _quote(shown: ContextItem, found: _Definition) -> Passage | None:
    """Return the line that defines a constant, with the comment above it."""
    place = found.chunk.span.start_char + found.offset
    around = (each for each in passages_of(shown) if each.start_char <= place < each.end_char)
    head = next((each for each in around if each.defines == found.name), None)
    unit = next((each for each in shown.units if each.span.start_char <= place < each.span.end_char), None)
    if head is None and unit is not None:
        head = Passage(shown, unit, unit, is_whole=True)
    return head and _with_body(head)


def _with_body(head: Passage) -> Passage:
    """Return the head of a definition with its body if that is short: the value is in that of a function."""
    last = next(statements(layout_of(head.shown), head.first.number - 1, len(head.shown.units) - 1)).last
    is_short = last - head.last.number < _MAX_BODY_LINES
    return replace(head, last=head.shown.units[last]) if is_short else head


def _with_quotes(
    picked: Sequence[ScoredPassage], context: Context, found: Sequence[_Definition]
) -> tuple[list[ScoredPassage], Context]:
    """Return quotes with definitions before them, and the context with these."""
    shown, added = list(context.shown), list[ScoredPassage]()
    for definition in found:
        item = next((each for each in shown if each.result.chunk.key == definition.chunk.key), None)
        if item is None:
            chunk = definition.chunk
            item = ContextItem(shown[-1].number + 1, RetrievalResult(chunk, 0.0), units_of(chunk))
            shown.append(item)
        quote = _quote(item, definition)
        if quote is not None:
            added.append(ScoredPassage(quote, picked[0].score))
    if not added:
        return list(picked), context
    # A value that is quoted further below moves up.
    held = [each for each in picked if overlap(each.passage, added[0].passage)]
    first = [each for each in held if not each.is_pointer]
    if not first:
        first = [
            each for each in added if not any(overlap(each.passage, one.passage) for one in picked if one not in held)
        ]
    return [*first, *(each for each in picked if each not in held)], replace(context, shown=tuple(shown))
