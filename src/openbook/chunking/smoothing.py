"""Takes out of a text, for its parser alone, what the grammar stumbles over. Every offset stays what it was."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

# `class MY_API Widget : public Base {`: what stands behind `class` is taken for the name.
_CPP_EXPORT = re.compile(
    rb"(\b(?:class|struct|union)\s+)((?:[A-Z][A-Z0-9_]+(?:\([^()\n]*\))?\s+)+)"
    rb"(?=(?!final\b)[A-Za-z_]\w*(?:::\w+|<[^<>{};\n]*>)*\s*(?:final\s*)?(?::(?!:)|\{))"
)

# `Q_OBJECT` at the end of an indented line, behind the end of something: taken for the type of what follows.
_CPP_LONE = re.compile(
    rb"((?:\{|(?:[{};)]|\b(?:public|protected|private|slots|signals)[ \t]*:)[ \t]*(?://[^\n]*)?\r?\n)\s*(?<=[ \t]))"
    rb"((?:[A-Z][A-Z0-9_]{2,}[ \t]*\r?\n\s*)+)"
)

# `void Lock() EXCLUSIVE_LOCK_FUNCTION();`: the last word before the parentheses is taken for the name.
_CPP_TRAILING = re.compile(
    rb"(\)(?:[ \t]*(?:const|noexcept|override|final)\b)*(?:[ \t]*\r?\n)?[ \t]+)"
    rb"([A-Z][A-Z0-9_]{3,}\([^()\n]*\))(?=\s*[;{])"
)

# `companion object { fun utc() = Clock() }` on one line: a line feed or a semicolon is wanted behind each member.
# Nobody has more than that on a line, and the search has an end.
_KOTLIN_ONE_LINE = re.compile(
    rb"^(?=[^\n]{0,200}\{ *(?:\w+ +){0,4}(?:fun|val|var)\b)[^\n]{1,400}\}[ \t\r]*$", re.MULTILINE
)
_KOTLIN_CLOSING = re.compile(rb"(?<=[^;{\s]) (?=\})")


def _blank(found: re.Match[bytes]) -> bytes:
    return found[1] + re.sub(rb"\S", b" ", found[2])


def _cpp(source: bytes) -> bytes:
    for pattern in (_CPP_EXPORT, _CPP_LONE, _CPP_TRAILING):
        source = pattern.sub(_blank, source)
    return source


def _kotlin(source: bytes) -> bytes:
    return _KOTLIN_ONE_LINE.sub(lambda found: _KOTLIN_CLOSING.sub(b";", found[0]), source)


_BY_LANGUAGE: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType({"cpp": _cpp, "kotlin": _kotlin})


def smoothed(language: str, source: bytes) -> bytes:
    r"""Return what a parser can read in the place of a text: as many bytes, with the same line feeds.

    Example:
        >>> smoothed("cpp", b"class MY_API Widget {\n    Q_OBJECT\n};")
        b'class        Widget {\n            \n};'
    """
    smooth = _BY_LANGUAGE.get(language)
    return smooth(source) if smooth is not None else source
