"""Recognizes questions for which things there are, as "which databases are supported"."""

from __future__ import annotations

import re
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

# Parts of names in camel case: `HTTPRope` is a rope.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_a-zA-Z]+|\d+")
# "List of ropes", "The ropes in a harbour", "Supported ropes" and "Built-in ropes" say no more than "Ropes".
_LEADING = re.compile(r"(?:an?\s+)?(?:list|overview|kinds|types|sorts|reference)\s+of\s+", re.IGNORECASE)
_TRAILING = re.compile(
    r"\s(?:in|of|for|on|with|from|by|to|at|that|which)\s.*|\s(?:list|overview|reference)$", re.IGNORECASE
)
_PLAIN_WORDS = frozenset("the all a an our supported available built in builtin existing standard and".split())


class AskedList:
    """What a question asks for the list of."""

    def __init__(self, things: str) -> None:
        self.things = things
        self._words = words_of(things)
        *_, self._head = tokens = tokenize(things)
        self._tokens = frozenset(tokens)

    def share_of(self, opening: str) -> float:
        """Return the share of its words that the opening of a list has, from 0 to 1; 0 without the last one."""
        said = _tokens_of(opening)
        return len(self._tokens & said) / len(self._tokens) if self._head in said else 0.0

    def words_added_by(self, title: str) -> frozenset[str] | None:
        """Return what the title of a section adds to the things that it says to be on; None if it is on others.

        Example:
            >>> asked = AskedList("rope types")
            >>> [asked.words_added_by(title) for title in ("Supported types", "Old rope types", "Pier types", "Piers")]
            [frozenset(), frozenset({'old'}), None, None]
        """
        phrase = _TRAILING.sub("", _LEADING.sub("", title))
        last = (phrase.split() or [""])[-1]
        words = words_of(phrase)
        is_plural = last.lower().endswith("s") and words[-1:] == self._words[-1:]
        added = frozenset(words) - _PLAIN_WORDS - set(self._words)
        # "Old rope types" are rope types, but "Pier types" are others.
        return added if is_plural and (not added or set(self._words) <= set(words)) else None

    def has_word(self, title: str) -> bool:
        """Return whether a title has a word of the things."""
        return not set(self._words).isdisjoint(words_of(title))

    def is_kind(self, title: str, word: int = -1) -> bool:
        """Return whether a title names one of the things, as `HempRope()` and "Hemp rope" name ropes."""
        words = words_of(title.partition("(")[0])
        return len(words) > 1 and words[-1] == self._words[word]


def words_of(text: str) -> list[str]:
    """Return the words of a title or name in lower case and in the singular."""
    return [_singular(part.lower()) for part in _PART.findall(text)]


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith("ss") else word


@lru_cache(maxsize=1024)
def _tokens_of(text: str) -> frozenset[str]:
    return frozenset(tokenize(text))


def list_of(text: str) -> AskedList | None:
    """Return the list that a question asks for, if any."""
    found = _ASKS.fullmatch(text)
    return AskedList(found["things"]) if found and tokenize(found["things"]) else None
