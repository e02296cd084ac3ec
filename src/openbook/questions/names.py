"""Names in a question: what it spells as code does, and what these names stand in."""

from __future__ import annotations

import re
from collections.abc import Sequence

_QUOTED = re.compile(r"`([^`\s][^`]*)`")
# From the first name of a dotted one alone: a run of them would take the square of its length.
_CALL = re.compile(r"(?<!\w)(?<!\w\.)([A-Za-z_][\w.]*)\(\)?")
_IDENTIFIER = re.compile(
    # Dotted, but neither a setting such as `server.read.max-age` nor what stands before its last part.
    r"\b(?:(?>[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)+)(?!-\w)"
    r"|[a-zA-Z]\w*_\w+|_\w+"  # snake_case
    r"|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+)\b"  # CamelCase and camelCase
)
# "The Error class" and "struct Error" spell a name that is a word as well.
_KIND = (
    r"(?:class|struct|enum|trait|interface|protocol|method|function|macro|constructor|decorator|type|object|mixin"
    r"|union|namespace|module)"
)
_NAME_BESIDE_KIND = re.compile(rf"\b[Tt]he (?P<before>[A-Z]\w*) {_KIND}\b|\b{_KIND} (?P<behind>[A-Z]\w*)")
ONE_WORD = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)*")
_SEPARATOR = re.compile(r"\.|::|#|->")


def identifiers(text: str) -> list[str]:
    """Return the names that a text spells as code, qualified as they are, in order.

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


# "on Kubernetes", "over HTTP/3", "in S3": a capital letter inside of a sentence, or where words have none.
_PROPER = re.compile(r"(?<=[\w,;:)] )[A-Z]\w+|\b\w*[a-z][A-Z]\w*|\b[A-Z]\w*[A-Z0-9]\w*|\b\d[A-Z]\w*")
# "two-factor"; "HTTP/3", whose number is a word of its own elsewhere.
_COMPOUND = re.compile(r"(?<![\w-])(?:[a-z]{2,}(?:-[a-z]{2,})+|[A-Z]{2,}/\d+(?:\.\d+)?)(?![\w-])")


def proper_names(text: str) -> list[str]:
    """Return words of an English question that name one thing, such as a product: `Kafka`, `S3`; in order.

    A heading, in which most words begin with a capital letter, has none.

    Example:
        >>> proper_names("Can Harbour keep its logs in S3 or on Kafka?"), proper_names("How To Moor A Ship")
        (['Harbour', 'S3', 'Kafka'], [])
    """
    words = text.split()
    is_heading = sum(len(word) > 1 and word[0].isupper() for word in words) * 2 > len(words)
    return [] if is_heading else [found.group() for found in _PROPER.finditer(text)]


def compounds(text: str) -> list[str]:
    """Return what a question joins and what says something else in parts, in order: hyphens, versions of protocols.

    Example:
        >>> compounds("How do I turn on two-factor authentication over HTTP/3 with --no-color?")
        ['two-factor', 'HTTP/3']
    """
    return _COMPOUND.findall(text)


def name_parts(name: str) -> list[str]:
    """Split a qualified name, as it is written in any language: `Client.send`, `Client::send`, `Client#send`.

    Example:
        >>> name_parts("http::Client.send()")
        ['http', 'Client', 'send']
    """
    return [part for part in _SEPARATOR.split(name.rstrip("()")) if part]


def stands_in(owners: Sequence[str], *places: str) -> bool:
    """Return whether all of `owners` are words of `places`, in any case: of headings, of paths, of what encloses it.

    Example:
        >>> stands_in(["Client"], "class Client:", "http/api.py"), stands_in(["Server"], "class Client:")
        (True, False)
    """
    words = {word.lower() for place in places for word in re.findall(r"\w+", place)}
    return all(owner.lower() in words for owner in owners)
