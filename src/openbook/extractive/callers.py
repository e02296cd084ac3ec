"""Says how many callers a name has, if an answer does not show them all."""

from __future__ import annotations

from collections.abc import Sequence

from openbook.extractive.passages import Passage
from openbook.extractive.quoting import in_code
from openbook.extractive.scoring import asks_only_for_uses
from openbook.index.protocol import Index
from openbook.lookup.references import Reference, find_references
from openbook.questions.question import Question
from openbook.types import Filter

# About a second of parsing. Of names in more text, the number is a lower bound.
_MAX_CHARS = 3_000_000


def further_callers(query: Question, shown: Sequence[Passage], index: Index, where: Filter) -> str:
    """Return a sentence with the number of callers and the command that lists them; empty if all are shown.

    Only for questions that ask for the callers or uses of one name. An answer quotes from the best results, while
    `find_references` reads every document with the name.
    """
    if len(query.identifiers) != 1 or not asks_only_for_uses(query):
        return ""
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
