"""Whether code defines a name as what is called, a function or a class, and not as a field or a variable."""

from __future__ import annotations

import re
from functools import lru_cache

from openbook.questions.names import stands_in
from openbook.questions.question import Question
from openbook.questions.settings_asked import AskedSetting, says_setting
from openbook.retrieval.roles import is_aside
from openbook.retrieval.setting_entries import setting_entries
from openbook.types import Chunk


@lru_cache(maxsize=64)
def callable_definition(name: str) -> re.Pattern[str]:
    """Return a pattern of a function or a class of that name, where code is known to define it.

    Example:
        >>> pattern = callable_definition("load")
        >>> [bool(pattern.search(text)) for text in ("def load(crane):", "load = 4", "load: (crane) => 4")]
        [True, False, True]
    """
    named = re.escape(name)
    made = rf"\b(?:class|def|defp|fn|fun|func|function|sub|struct|interface|trait|enum|type)\s+(?:\w+[.:])*{named}\b"
    # In a docstring, `limit (int):` opens what is said of a parameter.
    called = rf"\b{named}\b(?!\s+\([^)\n]*\)\s*:)(?:(?:<[^\n(]*>)?\s*\(|.*(?:=>|\bfunction\b|\blambda\b))"
    return re.compile(f"{made}|{called}")


def meant_settings(query: Question, chunks: list[Chunk]) -> tuple[AskedSetting, ...]:
    """Return the settings that a question asks for, without names that one of the chunks defines as what is called.

    "What does send_file do?" asks for the function, where there is one, unless it says that it asks for a setting, or a
    file of configuration or a section describes one of that name: code often reads it by a function named like it.
    """
    if says_setting(query.text):
        return query.settings
    return tuple(
        each
        for each in query.settings
        if not any(_defines_callable(chunk, each) for chunk in chunks)
        or any(_is_described(chunk, each) for chunk in chunks)
    )


def _is_described(chunk: Chunk, asked: AskedSetting) -> bool:
    if chunk.kind == "code" or is_aside(chunk.span.path):
        return False
    entries = setting_entries(chunk.text, asked.name, asked.owners, chunk.kind)
    return any(
        each.is_described and each.is_exact and (chunk.kind == "config" or each.form == "section") for each in entries
    )


def _defines_callable(chunk: Chunk, asked: AskedSetting) -> bool:
    return (
        chunk.kind == "code"
        and asked.name in chunk.defines
        and callable_definition(asked.name).search(chunk.text) is not None
        and stands_in(asked.owners, chunk.symbol, *chunk.defines, *chunk.context, chunk.span.path)
        and not is_aside(chunk.span.path)
    )
