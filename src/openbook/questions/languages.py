"""Which language a text is written in, as far as its letters, its most common words or its path tell."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from openbook.questions.words import ENGLISH_WORDS
from openbook.tokens import WORD

# Enough for a paragraph, behind a heading and a line of links.
_READ_CHARS = 1000

# A text that is read once is read again for the next question. Each takes about 1.5 KB.
_KEPT_TEXTS = 1 << 12

# Of all letters: pages in these keep names, commands and examples in Latin ones.
_LEAST_SHARE = 0.15
# Han before Hiragana: a page in Japanese has both, so kana decide.
_SCRIPTS = {
    "ja": r"\u3040-\u30ff",
    "ko": r"\uac00-\ud7af\u1100-\u11ff",
    "zh": r"\u3400-\u4dbf\u4e00-\u9fff",
    "ru": r"\u0400-\u04ff",
    "ar": r"\u0600-\u06ff",
    "he": r"\u0590-\u05ff",
    "el": r"\u0370-\u03ff",
    "hi": r"\u0900-\u0dff",
    "th": r"\u0e00-\u0eff",
    "my": r"\u1000-\u109f",
}
_OF_SCRIPT = re.compile("|".join(f"(?P<{name}>[{letters}]+)" for name, letters in _SCRIPTS.items()))
_LETTER = re.compile(r"[^\W\d_]")

# Words that sentences are made with, without those that are words of English or names in code as well, such as `as`,
# `die`, `con` and `ini`.
_WORDS = {
    name: frozenset(words.split())
    for name, words in {
        "en": " ".join(sorted(ENGLISH_WORDS)),
        "de": "der das und ist nicht mit von ein eine einen einer einem eines für auf sie wird werden zu sich auch wie"
        " oder kann können wenn sind ich wir aus nach bei durch über diese dieser zum zur im dem wieder",
        "fr": "le les des et est une du pour dans que qui pas vous avec par nous cette ce ces sont ou peut être votre"
        " aux elle comment mais leur au sur",
        "es": "el los las del una que por para se es en su como más este esta esto puede son al sin lo también pero"
        " qué cómo cuando hay y",
        "pt": "uma das dos que para não é em na por mais você são pode ou seu sua isso este esta também ao pela",
        "it": "il gli della che è una per non sono più questo questa nel dei alla anche può dal ed delle degli",
        "nl": "het een voor niet dat zijn op met wordt deze kan worden bij ook naar aan uit",
        "pl": "jest nie się że jak lub dla przez jeśli może są tego oraz być",
        "tr": "ve bir bu için ile olarak daha çok olan gibi kadar veya eğer değil sonra",
        "vi": "và của là các có cho được một trong với không này bạn khi những hoặc như sẽ",
        "id": "yang dan untuk dengan dari pada adalah anda dapat atau tidak akan juga secara dalam",
        "ro": "și este sunt în din pentru această să sau mai puteți",
        "sv": "och att det är på för med av inte ett kan från eller",
    }.items()
}


@lru_cache(maxsize=_KEPT_TEXTS)
def language_of(text: str, fewest: int = 2) -> str:
    """Return the code of the language that the beginning of a text is in; empty if too little tells.

    Languages of one script that is not Latin count as one, but for Chinese and Japanese.

    Args:
        text: Any.
        fewest: Words that must tell. One alone in a page may be a name.

    Example:
        >>> language_of("Wie kann ich das Protokoll abschalten?"), language_of("How is the log turned off?")
        ('de', 'en')
        >>> language_of("ログを無効にするには log を使います"), language_of("retry policy")
        ('ja', '')
    """
    beginning = text[:_READ_CHARS]
    if not beginning.isascii() and (found := _by_letters(beginning)):
        return found
    words = set(WORD.findall(beginning.lower()))
    held = {name: len(words & common) for name, common in _WORDS.items()}
    best = max(held, key=lambda name: (held[name], name == "en", name))
    return best if held[best] >= fewest else ""


# `docs/pt-BR/`, `README_zh-cn.md`, `locale/zh_Hant/`: in 170 repositories no other path has such a part. Two letters
# alone are many other things: `lib/mk/`, `what-is-oo.md`.
_TAG = re.compile(
    r"(?:^|[/._-])(?!to[-_])([a-z]{2,3})[-_](?:[A-Z]{2}|[Hh]an[st]|(?<=zh[-_])(?:cn|tw|hk)|(?<=pt[-_])br)(?=[/.])"
)


@lru_cache(maxsize=_KEPT_TEXTS)
def language_of_path(path: str) -> str:
    """Return the code of the language that a path names together with a region or a script; mostly empty.

    Example:
        >>> language_of_path("docs/pt-BR/install.md"), language_of_path("docs/pt/install.md")
        ('pt', '')
    """
    found = _TAG.search(path)
    return found[1] if found else ""


def _by_letters(text: str) -> str:
    """Return the language whose own letters a text has enough of."""
    letters: Counter[str] = Counter()
    for run in _OF_SCRIPT.finditer(text):
        letters[run.lastgroup or ""] += len(run[0])
    least = _LEAST_SHARE * len(_LETTER.findall(text))
    if letters["ja"] and letters["ja"] + letters["zh"] >= least:
        return "ja"
    best = max(letters, key=lambda name: (letters[name], name), default="")
    return best if letters[best] >= max(least, 1) else ""
