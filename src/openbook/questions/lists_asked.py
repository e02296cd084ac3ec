"""Recognizes questions for which things there are, as "which databases are supported"."""

from __future__ import annotations

from functools import lru_cache

from openbook.questions.phrases import Phrases
from openbook.tokens import tokenize

_VERB = (
    r"(?:are|is|was|were|can|could|do|does|did|may|might|must|should|will|would|have|has|exist|comes?|works?|goe?s?|gets?"
    r"|needs?|runs?|supports?|uses?|requires?|accepts?|apply|applies|there|you|i|we|it)\b"
)
_ADJECTIVES = (
    r"(?:(?:all|other|different|possible|available|supported|valid|allowed|accepted|existing|built-?in|bundled|various"
    r"|main|standard|kinds?|types?|sorts?|sets?|names?|list)\s+(?:of\s+)?(?:the\s+)?)*"
)
_THINGS = rf"(?:the\s+)?{_ADJECTIVES}(?P<things>(?:(?!{_VERB})[\w/+-]+\s+){{0,3}}?(?!{_VERB})[\w-]+(?<!s)s)"
_ASKS = Phrases(
    rf"(?:.*[:,]\s+)?(?:(?:in|on|over|with|from|for|by|to)\s+)?(?:which|what)\s+{_THINGS}\s+{_VERB}.*",
    rf"(?:what|which)\s+are\s+(?:the\s+|all\s+){_THINGS}\b.*",
    rf"(?:please\s+)?(?:list|name|show(?:\s+me)?|give\s+me)\s+(?:of\s+|all\s+|the\s+|every\s+)+{_THINGS}\b.*",
    rf"(?:kinds?|types?|possible|available|supported|allowed|valid)\s+(?:of\s+)?{_THINGS}\b.*",
    rf"{_THINGS}\s+(?:available|supported|that\s+exist)\W*",
)


class AskedList:
    """What a question asks for the list of."""

    def __init__(self, things: str) -> None:
        self.things = things
        *_, self._head = tokens = tokenize(things)
        self._tokens = frozenset(tokens)

    def share_of(self, opening: str) -> float:
        """Return the share of its words that the opening of a list has, from 0 to 1; 0 without the last one."""
        said = _tokens_of(opening)
        return len(self._tokens & said) / len(self._tokens) if self._head in said else 0.0


@lru_cache(maxsize=1024)
def _tokens_of(text: str) -> frozenset[str]:
    return frozenset(tokenize(text))


def list_of(text: str) -> AskedList | None:
    """Return the list that a question asks for, if any."""
    found = _ASKS.fullmatch(text)
    return AskedList(found["things"]) if found and tokenize(found["things"]) else None
