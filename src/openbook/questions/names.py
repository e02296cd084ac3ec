"""Code names and proper names in questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_QUOTED = re.compile(r"`([^`\s][^`]*)`")
# Matches only from the first part of a dotted name; otherwise long ones would take quadratic time.
_CALL = re.compile(r"(?<!\w)(?<!\w\.)([A-Za-z_][\w.]*)\(\)?")
_IDENTIFIER = re.compile(
    # Dotted, but not a setting such as `server.read.max-age`, nor a prefix of it, nor `Node.js` or `ASP.NET`.
    r"\b(?:(?<!\w[.#])(?<!\w(?:::|->))(?>[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)+)(?!-\w)"
    r"(?<!\.js)(?<!\.NET)"
    r"|[a-zA-Z]\w*_\w+|_\w+"  # snake_case
    r"|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+)\b"  # CamelCase and camelCase
)
# A name that is also a word: "the Error class", "struct Error".
_KIND = (
    r"(?:class|struct|enum|trait|interface|protocol|method|function|macro|constructor|decorator|type|object|mixin"
    r"|union|namespace|module)"
)
_NAME_BESIDE_KIND = re.compile(rf"\b[Tt]he (?P<before>[A-Z]\w*) {_KIND}\b|\b{_KIND} (?P<behind>[A-Z]\w*)")
ONE_WORD = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)*")
_SEPARATOR = re.compile(r"\.|::|#|->")


def identifiers(text: str) -> list[str]:
    """Return the code names of a text in order, with their qualifiers.

    Example:
        >>> identifiers("Does `send` use Client.retry_after?")
        ['send', 'Client.retry_after']
    """
    found: list[tuple[int, str]] = []
    for pattern in (_QUOTED, _CALL, _IDENTIFIER):
        for match in pattern.finditer(text):
            name = match.group(match.lastindex or 0).rstrip("()")
            if ONE_WORD.fullmatch(name):
                found.append((match.start(), name))
    found += [(match.start(), match["before"] or match["behind"]) for match in _NAME_BESIDE_KIND.finditer(text)]
    return [name for _, name in sorted(found)]


# `moor!`, `moor->quay` and `set-quay` are names in Lisp, `moor!` in Ruby as well, but `moor->quay` is not one in C.
_SIGNED = re.compile(
    r"(?<![\w*<>=+./-])(?:(?P<module>[A-Za-z][\w.-]*)/)?(?P<name>(?=[*<>=+-]*\w)[\w*<>=+-]++[!?]?)(?![\w/-]|\.\w)"
)
# `CV06`, `SC2086`: the code of a rule, which defines `CV06` or `Rule_CV06`; not `UTF8`, `S3` and `HTTP2`.
# In lower case, the name itself: `slot0`, but not `v3`.
_CODE = re.compile(r"\b(?:[A-Z]{1,6}\d{2,6}|[a-z]{2,12}\d{1,6})\b")
_IN_MODULE = re.compile(r"\b(?:in|of|from)\s+`?([A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)+)")


class SignedName(NamedTuple):
    """A word of a question with signs that are part of a name in some languages only."""

    name: str
    owners: tuple[str, ...]
    """The words of its module."""
    parts: frozenset[str]
    """What it and its module may look like in other languages."""


def signed_names(text: str) -> list[SignedName]:
    """Return the words of a text with signs that are names in some languages only; the code that defines them tells.

    Example:
        >>> [each.name for each in signed_names("does set-quay or harbour.ropes/moor! call quay->rope?")]
        ['set-quay', 'moor!', 'quay->rope', 'quay->rope?']
        >>> signed_names("what does moor! do in harbour.ropes")[0].owners
        ('harbour', 'ropes')
    """
    found: list[SignedName] = []
    module = _IN_MODULE.search(text)
    for match in _SIGNED.finditer(text):
        owners = tuple(re.findall(r"\w+", match["module"] or (module[1] if module else "")))
        parts = frozenset((*re.findall(r"\w+", match["name"]), *owners))
        spelled = dict.fromkeys((match["name"].rstrip("?"), match["name"]))
        found += [SignedName(name, owners, parts) for name in spelled if not name.isidentifier()]
    return found


# "on Kubernetes", "over HTTP/3", "in S3": capitalized within a sentence, or with a capital letter within the word.
_PROPER = re.compile(r"(?<=[\w,;:)] )[A-Z]\w+|\b\w*[a-z][A-Z]\w*|\b[A-Z]\w*[A-Z0-9]\w*|\b\d[A-Z]\w*")
# "two-factor", "HTTP/3".
_COMPOUND = re.compile(r"(?<![\w-])(?:[a-z]{2,}(?:-[a-z]{2,})+|[A-Z]{2,}/\d+(?:\.\d+)?)(?![\w-])")


def proper_names(text: str) -> list[str]:
    """Return the proper names of an English question in order, such as products: `Kafka`, `S3`.

    Headings, in which most words are capitalized, have none.

    Example:
        >>> proper_names("Can Harbour keep its logs in S3 or on Kafka?"), proper_names("How To Moor A Ship")
        (['Harbour', 'S3', 'Kafka'], [])
    """
    words = text.split()
    is_heading = sum(len(word) > 1 and word[0].isupper() for word in words) * 2 > len(words)
    return [] if is_heading else [found.group() for found in _PROPER.finditer(text)]


def compounds(text: str) -> list[str]:
    """Return the compounds of a question in order, whose parts mean something else: hyphenated words, HTTP/3.

    Example:
        >>> compounds("How do I turn on two-factor authentication over HTTP/3 with --no-color?")
        ['two-factor', 'HTTP/3']
    """
    return _COMPOUND.findall(text)


def name_parts(name: str) -> list[str]:
    """Split a qualified name of any language: `Client.send`, `Client::send`, `Client#send`.

    Example:
        >>> name_parts("http::Client.send()")
        ['http', 'Client', 'send']
    """
    return [part for part in _SEPARATOR.split(name.rstrip("()")) if part]


def coded_names(text: str, defined: Iterable[str]) -> list[SignedName]:
    """Return the names among `defined` that words with digits in a text stand for, unless one stands for several.

    Example:
        >>> [each.name for each in coded_names("Does CV06 use slot0?", ["Rule_CV05", "Rule_CV06", "slot0"])]
        ['Rule_CV06', 'slot0']
    """
    codes = dict.fromkeys(_CODE.findall(text))
    meant = {code: {name for name in defined if _stands_for(code, name)} for code in codes}
    return [SignedName(name, (), frozenset()) for names in meant.values() if len(names) == 1 for name in names]


def _stands_for(code: str, name: str) -> bool:
    return name == code or (code.isupper() and name.endswith(f"_{code}"))


def stands_in(owners: Sequence[str], *places: str) -> bool:
    """Return whether all `owners` are words of `places`, in any case. Places are headings, paths and enclosing names.

    Example:
        >>> stands_in(["Client"], "class Client:", "http/api.py"), stands_in(["Server"], "class Client:")
        (True, False)
    """
    words = {word.lower() for place in places for word in re.findall(r"\w+", place)}
    return all(owner.lower() in words for owner in owners)
