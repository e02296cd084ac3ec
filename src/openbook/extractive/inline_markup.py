"""Converts roles and links of reStructuredText, MyST, MkDocs and Documenter to plain Markdown."""

from __future__ import annotations

import re

# Quantifiers are not nested, so that long lines take linear time (ReDoS).
_OF_RST = re.compile(
    r"(?P<code>``[^`]+``)"
    r"|:(?P<role>[a-z][\w:+.-]{0,60}):`(?P<said>[^`]+)`"
    r"|`(?P<words>[^`<]*)<(?P<url>[^`>]*)>`__?"
    r"|`(?P<plain>[^`]+)`(?P<link>__?)?"
    r"|(?P<blank>\\ )"
)
# The language of inline code in MkDocs, a role of MyST, a reference of Documenter or of a template (Hugo, Jekyll), and
# the marks of admonitions of Docsify and Terraform and of definitions.
_OF_MARKDOWN = re.compile(
    r"(?<=`)#!\w[\w+-]*[ \t]+(?=\S)"
    r"|\{(?P<role>[a-z][\w:+.-]{0,60})\}`(?P<said>[^`\n]+)`"
    r"|\[(?P<words>[^\[\]\n]+)\]\((?:@\w|\{[{%])[^()\n]*\)"
    r"|^(?P<indent>[ \t]*)(?:[!?~-]>|:)[ \t]+(?=\S)",
    re.MULTILINE,
)
_TARGET = re.compile(r"\s*<[^<>]*>$")

# Roles whose text is prose; that of others is code.
_WORDY = frozenset(
    ("ref", "doc", "term", "abbr", "any", "numref", "pep", "rfc", "sup", "sub", "emphasis", "strong", "title")
)
_STRONG, _EMPHASIS = "strong", "emphasis"


def code_span(words: str) -> str:
    """Return a text as inline code, which may contain backticks."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", words)), default=0) + 1)
    return f"{ticks} {words} {ticks}" if len(ticks) > 1 else f"`{words}`"


def plain_markup(text: str, language: str) -> str:
    """Convert the inline markup of a language; a text in another one is not changed."""
    if language == "rst":
        return plain_rst(text)
    return plain_markdown(text) if language == "markdown" else text


def plain_rst(text: str, *, cites: str = "`") -> str:
    """Convert inline markup of reStructuredText. `cites` are the marks around a text in the default role.

    Example:
        >>> plain_rst("See :ref:`the tides <tides>`, :class:`~sea.Tide` and `the moon <moon.html>`_.")
        'See the tides, `Tide` and [the moon](<moon.html>).'
    """

    def said(found: re.Match[str]) -> str:
        if found["code"]:
            return found["code"]
        if found["role"]:
            return _of_role(found["role"], found["said"])
        if found["url"] is not None:
            words = found["words"].strip() or found["url"]
            return f"[{words}](<{found['url']}>)"
        if found["blank"]:
            return ""
        return found["plain"] if found["link"] else f"{cites}{found['plain']}{cites}"

    return _OF_RST.sub(said, text)


def plain_markdown(text: str) -> str:
    """Convert extensions of Markdown.

    Example:
        >>> plain_markdown("~> See {ref}`the tides <tides>`, [`Tide`](@ref) and `#!py tide()`.")
        'See the tides, `Tide` and `tide()`.'
    """

    def said(found: re.Match[str]) -> str:
        return _of_role(found["role"], found["said"]) if found["role"] else found["words"] or found["indent"] or ""

    return _OF_MARKDOWN.sub(said, text)


def _of_role(name: str, text: str) -> str:
    role, said = name.rpartition(":")[2], _TARGET.sub("", text)
    if role in (_STRONG, _EMPHASIS):
        return f"**{said}**" if role == _STRONG else f"*{said}*"
    if role in _WORDY:
        return said
    return code_span(said.removeprefix("!").rpartition(".")[2] if said.startswith("~") else said.removeprefix("!"))
