"""Says which callers of a name, and which documents that mention a topic, an answer does not show."""

from __future__ import annotations

from collections.abc import Sequence

from openbook.extractive.passages import Passage
from openbook.extractive.quoting import in_code
from openbook.extractive.scoring import asks_only_for_uses
from openbook.index.protocol import Index
from openbook.lookup.matching_lines import MAX_PATTERN_CHARS, MatchingLine, find_lines
from openbook.lookup.references import Reference, find_references
from openbook.questions.question import Question
from openbook.types import Filter

# About a second of parsing. Of names in more text, the number is a lower bound.
_MAX_CHARS = 3_000_000

# Limits of reading for a topic, and of the documents named.
_MAX_SECONDS, _MAX_NAMED = 1.0, 8


def more_places(query: Question, shown: Sequence[Passage], index: Index, where: Filter) -> str:
    """Return a sentence on the callers or documents that a question asks for and the quotes do not show, if any.

    An answer quotes from the best results, while this reads every document with the name or topic.
    """
    topic = query.topic_of_places or ""
    if 0 < len(topic) <= MAX_PATTERN_CHARS:
        return _more_documents(query, topic, shown, index, where)
    if len(query.identifiers) == 1 and asks_only_for_uses(query):
        return _more_callers(query, shown, index, where)
    return ""


def _more_documents(query: Question, topic: str, shown: Sequence[Passage], index: Index, where: Filter) -> str:
    found = find_lines(topic, index, where, any_case=True, seconds=_MAX_SECONDS)
    lines: dict[tuple[str, str], list[MatchingLine]] = {}
    for line in found.lines:
        if query.has_topic(line.text):
            lines.setdefault((line.source, line.path), []).append(line)
    for passage in shown:
        lines.pop((passage.shown.result.chunk.source, passage.first.span.path), None)
    if not lines:
        return ""
    most = sorted(lines, key=lambda document: (-len(lines[document]), document))[:_MAX_NAMED]
    named = ", ".join(in_code(f"{path}:{lines[source, path][0].line}") for source, path in most)
    rest = f" and {len(lines) - len(most)} more" if len(lines) > len(most) else ""
    number = f"At least {len(lines)}" if found.unread or found.count > len(found.lines) else f"{len(lines)}"
    mention = "document mentions" if len(lines) == 1 else "documents mention"
    return f"{number} other {mention} it: {named}{rest}"


def _more_callers(query: Question, shown: Sequence[Passage], index: Index, where: Filter) -> str:
    (name,) = query.identifiers
    found = find_references(name, index, where, uses=("call",), max_chars=_MAX_CHARS)
    calls = [each for each in found.places if each.within.rpartition(".")[2] != found.name]
    callers = {_caller(each) for each in calls}
    missing = callers.difference(_caller(each) for each in calls if any(_holds(passage, each) for passage in shown))
    if not missing:
        return ""
    number = f"At least {len(callers)}" if found.unread else f"{len(callers)}"
    calling = "functions" if all(within for *_, within in callers) else "functions or files"
    return f"{number} {calling} call {in_code(found.name)}; every line: {in_code(f'openbook references {name}')}"


def _caller(call: Reference) -> tuple[str, str, str]:
    return call.source, call.path, call.within


def _holds(passage: Passage, call: Reference) -> bool:
    first, last = passage.first.span, passage.last.span
    is_there = (passage.shown.result.chunk.source, first.path) == (call.source, call.path)
    return is_there and first.start_line <= call.line <= last.end_line
