"""Recognizes questions for where a program keeps or looks for its files, as "where does it keep its settings"."""

from __future__ import annotations

import re

from openbook.questions.phrases import Phrases

_ITS = r"(?:(?:its|my|the|their|your|our)\s+)?(?:\S+\s+){0,2}?"
_DATA = (
    r"(?:config\S*|settings?|preferences|data|logs?|files?|caches?|databases?|templates?|history|plugins?|extensions?"
    r"|sessions?|backups?)\b"
)
_LOGS = r"(?:logs?|log\s+files?|config\S*\s+files?|settings\s+file|cache|data\s+director\S+)"
_ASKS = Phrases(
    r"where\s+(?:is|are)\s+(?:\S+\s+){1,5}(?<!\band\s)(?:stored|saved|kept|located|installed)"
    r"(?:\s+(?:on|in|by|under|at|when|if)\b.*|,?\s+and\s+(?:can|how)\b.*)?",
    rf"where\s+(?:does|do|did|will)\s+(?:\S+\s+){{1,4}}?"
    rf"(?:store|save|keep|put|write|look\s+for|search\s+for|find|read)\s+{_ITS}{_DATA}.*",
    rf"where\s+(?:is|are|do)\s+(?:(?:the|my|its)\s+)?(?:\S+\s+){{0,2}}?{_LOGS}"
    r"(?:\s+(?:of|on|in|for|by|written|sent|go|looked)\b.*)?",
)
_OF_CODE = re.compile(r"\b(?:code|function|class|method|module|source)\b", re.IGNORECASE)


def asks_for_data(text: str) -> bool:
    """Return whether a question asks where files of a program are, rather than where its code does something.

    Example:
        >>> asks_for_data("where does it keep its settings?"), asks_for_data("Where is the session cookie written?")
        (True, False)
    """
    return _ASKS.fullmatch(text) is not None and not _OF_CODE.search(text)
