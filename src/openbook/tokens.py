"""Tokenization: splits identifiers, stems words, and splits scripts without spaces into character pairs.

Documents and questions use the same function, so that their tokens match.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain

# Increment when the tokens of any text change; indexes with other tokens must be rebuilt.
_RULES_VERSION = 4

# Combining marks, such as vowel signs in Hindi, Thai and Arabic. `\w` excludes them, which would split words.
_MARKS = (
    r"\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
    r"\u0900-\u0963\u0966-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3"
)
WORD = re.compile(rf"[\w{_MARKS}]+")
"""A word as people write it: letters, digits, underscores and combining marks."""

# For ASCII text: replacing everything else with blanks and calling `str.split` takes half the time of the pattern.
_BLANKS = {code: " " for code in range(128) if not WORD.match(chr(code))}
_ASCII_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_PART = re.compile(rf"(?:[^\W\d_]|[{_MARKS}])+|\d+")

# The plural `URLs`; split by its capitals, it would become `UR` and `Ls`.
_PLURAL_OF_CAPITALS = re.compile(r"(?<=[A-Z]{2})s(?![a-z])")

# URL schemes say nothing about the topic: with them, every link would match "HTTPS".
_SCHEMES = ("https://", "http://")

# Han, Hiragana, Katakana, Thai, Lao, Burmese and Khmer are written without spaces. Hangul has spaces, but its
# particles are attached to words, so pairs help there as well.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)

# Cache size for the distinct words of a large library, about 200 bytes each.
_CACHED_WORDS = 1 << 17

# Abbreviations in code that questions spell out. Each pair was seen in at least two public projects.
ABBREVIATIONS = {
    "addr": "address", "app": "application", "arg": "argument", "args": "argument", "arr": "array",
    "async": "asynchronous", "attr": "attribute", "attrs": "attribute", "auth": "authentication", "bg": "background",
    "bool": "boolean", "buf": "buffer", "cb": "callback", "cert": "certificate", "cfg": "configuration",
    "char": "character", "cls": "class", "cmd": "command", "cmp": "compare", "col": "column", "cond": "condition",
    "conf": "configuration", "config": "configuration", "conn": "connection", "coord": "coordinate",
    "creds": "credential", "ctx": "context", "db": "database", "deps": "dependency", "desc": "description",
    "dest": "destination", "dict": "dictionary", "diff": "difference", "dir": "directory", "dist": "distribution",
    "doc": "documentation", "docs": "documentation", "elem": "element", "enc": "encode", "env": "environment",
    "eq": "equal", "err": "error", "eval": "evaluate", "exc": "exception", "exec": "execute", "expr": "expression",
    "ext": "extension", "fmt": "format", "fn": "function", "func": "function", "gen": "generate", "hdr": "header",
    "id": "identifier", "idx": "index", "impl": "implementation", "info": "information", "init": "initialize",
    "int": "integer", "iter": "iterator", "lang": "language", "lib": "library", "loc": "location", "mem": "memory",
    "msg": "message", "num": "number", "obj": "object", "op": "operation", "opt": "option", "opts": "option",
    "param": "parameter", "params": "parameter", "pkg": "package", "pos": "position", "prev": "previous",
    "proc": "process", "prop": "property", "props": "property", "ptr": "pointer", "pwd": "password", "ref": "reference",
    "regex": "regular", "repo": "repository", "req": "request", "res": "response", "resp": "response",
    "spec": "specification", "src": "source", "std": "standard", "str": "string", "sync": "synchronous",
    "sys": "system", "temp": "temporary", "tmp": "temporary", "util": "utility", "utils": "utility", "val": "value",
    "var": "variable", "ver": "version", "ws": "websocket",
}  # fmt: skip


# British spellings, which are read as the American ones, with letters that all such words have. Both spell "appraise",
# "improvise", "surprise" and "precise" alike; of other such words, all forms that share a stem are read alike as well.
_BRITISH = (
    ("our", re.compile(r"(arm|behavi|col|endeav|fav|flav|harb|hon|hum|lab|neighb|rum|savi|vap|vig)our"), r"\1or"),
    (
        "is",
        re.compile(r"(?<=[a-z]{4})(?<![aouvw])(?<!pr)(?<![^i]c)is(?=(?:e[drs]?|ers|ing|able|ations?)$)"),
        "iz",
    ),
    ("lys", re.compile(r"lys(?=(?:e[dr]?|ers|ing)$)"), "lyz"),
    ("ence", re.compile(r"^(def|off|lic)ence(?=s?$)"), r"\1ense"),
    ("logue", re.compile(r"^(cata|dia|ana)logue(?=s?$)"), r"\1log"),
    ("centre", re.compile(r"^centre(?=s?$)"), "center"),
    ("grey", re.compile(r"^grey"), "gray"),
    ("artefact", re.compile(r"^artefact"), "artifact"),
)


def tokens_identity() -> str:
    """Return the identity of the rules and the stemmer, which an index records."""
    import Stemmer

    # Only the first two parts of the version can change algorithms; the third is packaging.
    release = ".".join(Stemmer.version().split(".")[:2])
    return f"words-{_RULES_VERSION}/snowball-{release}"


def tokenize(text: str) -> list[str]:
    """Split text into tokens, in order, with repetitions.

    An identifier gives its parts and, if there are several, the joined form, so that `getUser`,
    `get_user` and "get user" match. Words are stemmed as English; numbers stay. Scripts without
    spaces give pairs of characters. Tokens contain no space and no quote.

    Example:
        >>> tokenize("getUserNames()")
        ['get', 'user', 'name', 'getusernam']
        >>> tokenize("向量索引")
        ['向量', '量索', '索引']
    """
    for scheme in _SCHEMES:
        text = text.replace(scheme, " ")
    if text.isascii():
        return list(chain.from_iterable(map(_tokens_of, text.translate(_BLANKS).split())))
    text = unicodedata.normalize("NFC", text)  # file names on macOS have decomposed accents
    return list(chain.from_iterable(map(_tokens_of, WORD.findall(text))))


@lru_cache(maxsize=_CACHED_WORDS)
def _tokens_of(word: str) -> tuple[str, ...]:
    if not word.isascii():
        return tuple(_mixed(word))
    return tuple(_identifier(_ASCII_PART.findall(_PLURAL_OF_CAPITALS.sub("", word))))


def _mixed(word: str) -> Iterator[str]:
    position = 0
    for match in _UNSPACED.finditer(word):
        yield from _identifier(_PART.findall(word[position : match.start()]))
        run = match.group()
        yield from (run[i : i + 2] for i in range(max(1, len(run) - 1)))
        position = match.end()
    yield from _identifier(_PART.findall(word[position:]))


def _identifier(parts: list[str]) -> Iterator[str]:
    stem = _stemmer()
    for part in parts:
        lower = _american(part.lower())
        yield stem(lower)
        if lower in ABBREVIATIONS:
            yield stem(ABBREVIATIONS[lower])
    if len(parts) > 1:
        yield stem("".join(map(_american, map(str.lower, parts))))


def _american(word: str) -> str:
    for letters, spelling, american in _BRITISH:
        if letters in word:
            word = spelling.sub(american, word)
    return word


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    import Stemmer

    # Disable the stemmer's own cache, whose upkeep takes five times as long as stemming; words are cached here.
    stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord
    return stem


# With two or three, quotes of XQuAD in Chinese contain 88 % and 89 % of the answers, as in English.
_CHARACTERS_OF_WORD = 3

# A run of more characters without a space fills a line: a long address, data in base64, minified code. It is not read
# at a glance like a word, so each six of its characters are one word, as in prose with its spaces.
LONG_RUN_CHARS = 80
_CHARACTERS_OF_RUN = 6


def words_to_read(text: str) -> int:
    """Count the words of a text by reading length.

    In scripts without spaces, three characters are one word; in a run of more than 80 characters, six.

    Example:
        >>> words_to_read("Two words"), words_to_read("索引存在文件里。"), words_to_read("a|b|" * 30)
        (2, 3, 20)
    """
    spaced, unspaced = _UNSPACED.sub(" ", text), sum(map(len, _UNSPACED.findall(text)))
    words = spaced.split()
    more = sum(len(word) // _CHARACTERS_OF_RUN - 1 for word in words if len(word) > LONG_RUN_CHARS)
    return len(words) + more + unspaced // _CHARACTERS_OF_WORD


_LINK_TARGET = re.compile(r"\]\([^()\s]*\)")


def is_run(text: str) -> bool:
    """Return whether most of a text is in runs of more than 80 characters without a space, so that nobody reads it.

    Targets of links, which a page does not show, are left out.

    Example:
        >>> is_run("Two words"), is_run("case " + "a|b|" * 30), is_run("索引存在文件里。" * 30)
        (False, True, False)
    """
    text = _LINK_TARGET.sub("]", text)
    words = _UNSPACED.sub(" ", text).split()
    return 2 * sum(len(word) for word in words if len(word) > LONG_RUN_CHARS) > len(text)
