"""Detects whether two texts are written in different languages, by their script and stop words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

# The most frequent words of each language that mean nothing in any of the others.
_STOP_WORDS = {
    "en": "the and is are was were of to that this with for from it be not has have its which when if by an as or",
    "de": "der die das und ist sind nicht ein eine einen mit für auf den dem des von zu wird werden wenn auch sich bei",
    "fr": "le la les des et est sont une dans pour que qui sur avec ce cette par pas il vous du au aux ou être",
    "es": "el los las una es son para con que por del al como se su sus está están más si cuando este esta y cada",
    "it": "il lo gli della che di per con una sono è nel alla dei delle come questo questa se non più",
    "pt": "os das dos uma é são para com que por não na no ao se como seu sua mais quando este esta em",
    "nl": "het een van en zijn wordt niet met voor dat deze bij naar ook als worden heeft kan op te",
}
_LANGUAGES = {language: frozenset(words.split()) for language, words in _STOP_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")

# Code contains a word such as "is" or "for" by chance.
_MIN_STOP_WORDS = 2
_LEAD = 1.5

# Minimum share of letters of a script: a Japanese page contains some Latin letters.
_MIN_SHARE = 0.3


def differ(one: str, other: str) -> bool:
    """Return whether two texts are in different languages. Code and very short texts never differ.

    Example:
        >>> differ("The lock is held for 30 s.", "Le verrou est tenu pendant 30 s."), differ("It is so.", "x = 1")
        (True, False)
    """
    languages = language_of(one), language_of(other)
    return all(languages) and languages[0] != languages[1]


@lru_cache(maxsize=256)
def language_of(text: str) -> str:
    """Return a language code for Latin script, the name of any other script, or an empty string if unknown.

    Example:
        >>> language_of("Der Server ist nicht da."), language_of("缓存会过期"), language_of("retry(3)")
        ('de', 'CJK', '')
    """
    script = _script_of(text)
    if script != "LATIN":
        return script
    words = Counter(_WORD.findall(text.lower()))
    counts = sorted(
        ((sum(words[word] for word in joining), language) for language, joining in _LANGUAGES.items()), reverse=True
    )
    (most, language), (second, _) = counts[:2]
    return language if most >= _MIN_STOP_WORDS and most >= _LEAD * second else ""


def _script_of(text: str) -> str:
    """Return `LATIN` unless a large share of the letters belongs to another script."""
    letters = [letter for letter in text[:2_000] if letter.isalpha()]
    others = Counter(unicodedata.name(letter, "LATIN").split()[0] for letter in letters if not letter.isascii())
    others.pop("LATIN", None)
    if not others:
        return "LATIN"
    script, count = others.most_common(1)[0]
    return script if count >= _MIN_SHARE * len(letters) else "LATIN"
