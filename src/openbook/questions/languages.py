"""Detects the possible languages of a question by letters and stop words, and the language in a path."""

from __future__ import annotations

import re
from functools import lru_cache

from openbook.questions.words import COMMON_WORDS, FILLING_WORDS, STOP_WORDS
from openbook.tokens import WORD

# Cached paths: a search reads those of a hundred candidates, mostly the same ones. Each takes about .3 KB.
_CACHED_PATHS = 1 << 13

# Least share of the letters of a script: questions also contain names and commands in Latin letters.
_MIN_SHARE = 0.15
_LETTER = re.compile(r"[^\W\d_]")
_KANA = re.compile(r"[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff]")
_SCRIPTS = {
    "ja zh": r"[\u3400-\u4dbf\u4e00-\u9fff]",
    "ko": r"[\uac00-\ud7af\u1100-\u11ff]",
    "be bg kk mk mn ru sr uk": r"[\u0400-\u04ff]",
    "ar ckb fa ur": r"[\u0600-\u06ff]",
    "he": r"[\u0590-\u05ff]",
    "el": r"[\u0370-\u03ff]",
    "bn hi mr ta te": r"[\u0900-\u0dff]",
    "th": r"[\u0e00-\u0eff]",
}

_OWN_LETTERS = re.compile("|".join((*_SCRIPTS.values(), _KANA.pattern)))
_WITH_OWN_LETTERS = frozenset(" ".join(_SCRIPTS).split())

# A single stop word may be a name, a command or a word of another language: `des`, `du`, "comment syntax".
_MIN_STOP_WORDS = 2
# Stop words, including those of several languages: "Was kann man in Docker einstellen?" has two English and four German
# ones.
_WORDS = {"en": STOP_WORDS | FILLING_WORDS, **COMMON_WORDS} | {
    names: frozenset(words.split())
    for names, words in {
        "pt": "o a os as um uma de do da das dos que para não é em no na por mais você são pode posso ou seu sua como"
        " onde isso este esta também ao pela com e se me",
        "it": "il lo la gli le i di del della che è un una per non sono più questo questa nel dei alla anche può dal ed"
        " delle degli come dove cosa si in con o e a me no",
        "nl": "het de een en voor niet dat zijn op met wordt deze kan worden bij ook naar aan uit hoe wat waar ik in is"
        " of was me",
        "pl": "jest nie się że jak lub dla przez jeśli może są tego oraz być gdzie w na do i z to po",
        "cs": "je jak se na pro že nebo když není jsou být lze co kde a v z do to po s",
        "tr": "ve bir bu için ile olarak daha çok olan gibi kadar veya eğer değil sonra nedir ne",
        "vi": "và của là các có cho được một trong với không này bạn khi những hoặc như sẽ thế nào",
        "id": "yang dan untuk dengan dari pada adalah anda dapat atau tidak akan juga secara dalam di apa",
        "ro": "și este sunt în din pentru această să sau mai puteți cum ce un o la cu de a",
        "sv": "och att det är på för med av inte ett en kan från eller hur vad jag i till den man var om",
        "da nb nn no": "og at det er på for med af av ikke et en kan fra eller hvordan hvad hva hvor jeg i til den man",
    }.items()
}


def languages_of(question: str, *, least: int = _MIN_STOP_WORDS) -> frozenset[str]:
    """Return the codes of the possible languages of a question; empty if there is too little evidence.

    That is a script of its own, or at least so many distinct stop words.

    Example:
        >>> sorted(languages_of("Wie kann ich das Protokoll abschalten?")), sorted(languages_of("環境変数"))
        (['de'], ['ja', 'zh'])
        >>> languages_of("retry policy"), languages_of("Passwort ändern"), languages_of("du command")
        (frozenset(), frozenset(), frozenset())
    """
    if not question.isascii() and (names := _by_letters(question)):
        return frozenset(names.split())
    words = set(WORD.findall(question.lower()))
    held = {names: len(words & common) for names, common in _WORDS.items()}
    most = max(*held.values(), least)
    return frozenset(name for names, count in held.items() if count == most for name in names.split())


def is_foreign(question: str) -> bool:
    """Return whether a question has letters that English lacks, or two stop words of a language that English lacks.

    Example:
        >>> is_foreign("Wie beende ich Vim?"), is_foreign("comment on a sentence")
        (True, False)
    """
    if not question.isascii() and _by_letters(question):
        return True
    words = set(WORD.findall(question.lower())) - _WORDS["en"]
    return any(len(words & common) >= _MIN_STOP_WORDS for common in _WORDS.values())


def without_letters_of(question: str) -> frozenset[str]:
    """Return the codes of the languages with letters of their own if a question has none of these letters; else none.

    Example:
        >>> "zh" in without_letters_of("retry policy"), without_letters_of("retry 策略")
        (True, frozenset())
    """
    return frozenset() if _OWN_LETTERS.search(question) else _WITH_OWN_LETTERS


def _by_letters(text: str) -> str:
    """Return the languages of the script of a text, if it has enough letters of one."""
    counts = {names: len(re.findall(letters, text)) for names, letters in _SCRIPTS.items()}
    if kana := len(_KANA.findall(text)):
        counts["ja"] = kana + counts["ja zh"]
    names = max(counts, key=lambda each: (counts[each], each))
    return names if counts[names] >= max(_MIN_SHARE * len(_LETTER.findall(text)), 1) else ""


# `docs/pt-BR/`, `README_zh-cn.md`, `docs/de/`, `guide.de.md`: two letters are many other things, `docs/js/`,
# `api-bn.md`, `job_id.md`.
_CODE = (
    "ar|az|bg|bn|bs|ca|cs|da|de|el|en|es|et|eu|fa|fi|fil|fr|gl|he|hi|hr|hu|hy|id|it|ja|ka|ko|lt|lv|nb|nl|no|pl|pt|ro"
    "|ru|sk|sl|sr|sv|sw|th|tr|uk|ur|uz|vi|zh"
)
_REGION = r"[a-z]{2,3}[-_](?:[A-Z]{2}|[Hh]an[st]|(?<=zh[-_])(?:cn|tw|hk)|(?<=pt[-_])br)"
_IN_PATH = re.compile(
    rf"(?:^|(?<=/))({_CODE}|{_REGION})/|(?:[._-](?={_REGION}\.)|\.|(?<=README)[_-])({_CODE}|{_REGION})(?=\.\w+$)"
)


@lru_cache(maxsize=_CACHED_PATHS)
def language_and_page(path: str) -> tuple[str, str]:
    """Return the language code in a path, mostly empty, and the path without it.

    Example:
        >>> language_and_page("docs/pt-BR/install.md"), language_and_page("README.zh.md")
        (('pt', 'docs/install.md'), ('zh', 'README.md'))
        >>> language_and_page("docs/install.md")
        ('', 'docs/install.md')
    """
    if found := _IN_PATH.search(path):
        tag = found[1] or found[2]
        return re.split("[-_]", tag)[0], path[: found.start()] + path[found.end() :]
    return "", path
