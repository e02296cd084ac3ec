"""A pair is a question and a text that answers it, both as people write them."""

from __future__ import annotations

import random
import re
import zlib
from dataclasses import dataclass

# Chunks of Openbook have 1,500 characters at most; training saw 128 word pieces of them.
MAX_CHARS = 1_500
MAX_QUERY_CHARS = 300


@dataclass(frozen=True, slots=True)
class Pair:
    """What is asked, and the text that should be found."""

    kind: str
    query: str
    text: str


WORD = re.compile(r"[^\W\d_]{2,}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\W]+")


def words_of(name: str) -> str:
    """Return the words of an identifier or a path.

    Example:
        >>> words_of("getHTTPServer_name")
        'get http server name'
    """
    return " ".join(part.lower() for part in _CAMEL.split(name) if part)


def dice(*seeds: str) -> random.Random:
    """Return a generator that depends on the seeds alone, not on the order of work."""
    return random.Random(zlib.crc32("\n".join(seeds).encode("utf-8", "replace")))


def says_something(text: str, least: int = 3) -> bool:
    """Return whether there are at least so many words, most of them in ASCII letters."""
    words = WORD.findall(text[:MAX_CHARS])
    return len(words) >= least and sum(word.isascii() for word in words) > 0.8 * len(words)
