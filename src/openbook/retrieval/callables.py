"""Tells callable definitions of a name (functions, classes) from fields, variables and settings."""

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
    """Return a pattern that matches a function or class of that name, for code that is known to define the name.

    Example:
        >>> pattern = callable_definition("load")
        >>> [bool(pattern.search(text)) for text in ("def load(crane):", "load = 4", "load: (crane) => 4")]
        [True, False, True]
    """
    named = re.escape(name)
    made = rf"\b(?:class|def|defp|fn|fun|func|function|sub|struct|interface|trait|enum|type)\s+(?:\w+[.:])*{named}\b"
    # In a docstring, `limit (int):` describes a parameter.
    called = rf"\b{named}\b(?!\s+\([^)\n]*\)\s*:)(?:(?:<[^\n(]*>)?\s*\(|.*(?:=>|\bfunction\b|\blambda\b))"
    return re.compile(f"{made}|{called}")


def meant_settings(query: Question, chunks: list[Chunk]) -> tuple[AskedSetting, ...]:
    """Return the settings that a question asks for, without names that a chunk defines as a function or class.

    "What does send_file do?" asks for the function if there is one, unless the question says that it is a setting, or a
    configuration file or a section describes a setting of that name: code often reads a setting by a function of the
    same name.
    """
    if says_setting(query.text) and not query.asks_for_parameters:
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
    entries = setting_entries(chunk.text, asked.name, asked.owners, chunk.kind, language=chunk.language)
    # A section that shows the call is on the function.
    called = re.compile(rf"^[ \t]*{re.escape(asked.name)}\(", re.MULTILINE)
    return any(
        each.is_described
        and each.is_exact
        and (chunk.kind == "config" or (each.form == "section" and not called.search(chunk.text, each.start, each.end)))
        for each in entries
    )


def _defines_callable(chunk: Chunk, asked: AskedSetting) -> bool:
    return (
        chunk.kind == "code"
        and asked.name in chunk.defines
        and callable_definition(asked.name).search(chunk.text) is not None
        and stands_in(asked.owners, chunk.symbol, *chunk.defines, *chunk.context, chunk.span.path)
        and not is_aside(chunk.span.path)
    )
