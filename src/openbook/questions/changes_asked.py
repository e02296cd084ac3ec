"""Recognizes questions for the release of a change, as "which version added `--tide`"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from openbook.questions.phrases import Phrases
from openbook.questions.versions_asked import versions_of
from openbook.questions.words import content_words_of_question

Change = Literal["added", "removed", "deprecated", "renamed"]
"""What was done to a thing. All that is none of the others is `added`."""

_DONE = (
    r"add(?:ed|ing)?|introduc(?:ed?|ing)|implemented|released|land(?:ed)?|shipp?(?:ed)?|got|get|gain(?:ed)?|g[ai]ven?"
    r"|remov(?:ed?|ing)|dropp?(?:ed|ing)?|delete[d]?|discontinued?|deprecat(?:ed?|ing)|renam(?:ed?|ing)|replaced?"
    r"|start(?:ed)?|beg[au]n|bec[oa]me|br(?:ing|ought)|mov(?:ed?)|chang(?:ed?)|enabled?|stop(?:ped)?|first"
)
_WHICH = (
    r"(?:which|what)\s+(?:[\w.-]+\s+)?(?:versions?|releases?)(?:\s+of\s+[\w.-]+)?(?:\s+(?:on|onwards?|number)\b)?"
    r"(?:\s+(?:is|was|were|did|does|has|have)\b)?"
)
_ASKS = Phrases(
    rf"(?:(?:since|from|as\s+of|starting\s+(?:with|in|from))\s+{_WHICH}|since\s+when\b)(?P<topic>.+)",
    rf"(?:(?:in|with|by)\s+)?{_WHICH}(?P<topic>(?=.*\b(?:{_DONE})\b).+)",
    rf"when\s+(?:was|were|did|has|have)\b(?P<topic>(?=.*\b(?:{_DONE})\b).+)",
)
# Not in a name, as `quay.remove` or `drop-rope`.
_VERB = re.compile(rf"(?<![-\w.])(?:{_DONE}|exists?|existed|available|possible|able)\b(?![-_.(])", re.IGNORECASE)
_SIGNS: tuple[tuple[Change, re.Pattern[str]], ...] = (
    ("deprecated", re.compile(r"\bdeprecat", re.IGNORECASE)),
    ("renamed", re.compile(r"\brenam|\breplac", re.IGNORECASE)),
    ("removed", re.compile(r"\b(?:remov|drop|deleted?|discontinu|stop)", re.IGNORECASE)),
)


@dataclass(frozen=True, slots=True)
class AskedChange:
    """A change whose release a question asks for."""

    done: Change
    topic: str
    """What was changed: the question without its frame."""


def change_of(text: str) -> AskedChange | None:
    """Return the change whose release a question asks for; None if it asks for something else.

    Example:
        >>> change_of("which version added the `--tide` flag?")
        AskedChange(done='added', topic='the `--tide` flag')
        >>> change_of("When is the rope removed?") is None
        True
    """
    found = _ASKS.fullmatch(text)
    if found is None or versions_of(text) is not None:
        return None
    verbs = " ".join(_VERB.findall(text))
    done: Change = next((done for done, sign in _SIGNS if sign.search(verbs)), "added")
    topic = " ".join(_VERB.sub(" ", found["topic"]).split())
    return AskedChange(done, topic) if content_words_of_question(topic) else None
