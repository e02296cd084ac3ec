"""Patterns of the ways in which people ask for one thing."""

from __future__ import annotations

import re

_ENDS = " \t?？!."
_MAX_CHARS = 200


class Phrases:
    """Patterns of one form of question, in any case. The first that fits counts.

    Texts of more than 200 characters are no such question, since whoever writes as much asks for more.
    """

    def __init__(self, *patterns: str, ends: str = _ENDS, max_chars: int = _MAX_CHARS) -> None:
        """Compile the patterns. `ends` are stripped from both ends of a question."""
        self._patterns = tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)
        self._ends, self._max_chars = ends, max_chars

    def fullmatch(self, question: str) -> re.Match[str] | None:
        """Match the whole question; None if no pattern does.

        Example:
            >>> Phrases("which (.+) are there", "list (.+)").fullmatch("List piers?")[1]
            'piers'
        """
        text = self._stripped(question)
        return next(filter(None, (pattern.fullmatch(text) for pattern in self._patterns)), None) if text else None

    def search(self, question: str) -> re.Match[str] | None:
        """Match a part of the question; None if no pattern does."""
        text = self._stripped(question)
        return next(filter(None, (pattern.search(text) for pattern in self._patterns)), None) if text else None

    def _stripped(self, question: str) -> str:
        text = question.strip(self._ends)
        return text if len(text) <= self._max_chars else ""
