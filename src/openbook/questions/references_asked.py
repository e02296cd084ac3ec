"""Recognizes references to a numbered part of a document: section 7.3, § 7, appendix B, table 1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from openbook.questions.dates_asked import NAMES_OF_TIME
from openbook.questions.words import content_words_of_question
from openbook.tokens import tokenize

# English, German, French and Spanish.
_KINDS = {
    "section": "section sec abschnitt sección clause requirement anforderung exigence",
    "chapter": "chapter kapitel chapitre capítulo",
    "appendix": "appendix annex anhang annexe anexo apéndice",
    "article": "article artikel artículo",
    "table": "table tabelle tableau tabla",
    "figure": "figure fig abbildung abb figura",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_DIGITS = r"[A-Z]?\d+(?:\.\d+)*"
_ASKED = re.compile(
    rf"(?:\b(?P<kind>{'|'.join(_KIND_OF)})\.?\s+|(?P<sign>§)\s*)"
    rf"(?P<number>(?-i:{_DIGITS}|[A-H](?![\w'’])|(?:[VX]|[IVX]{{2,}})\b))"
    r"(?![\w-]|\.\d)(?:,?\s+(?:of|in|from|von|des|der|im|du|de|del)\s+"
    r"(?P<document>(?:(?!(?:say|says|about|on|states?|do|does|requires?|means?)\b)[\w.+-]+[ ]?){1,6}))?",
    re.IGNORECASE,
)
# In front of a number at the beginning of a line: signs of headings, items, rows and bold text.
_OPENS = r"^[ \t]*(?:[#=>*+|-]+[ \t]*)?\**(?:<[^<>\n]{0,80}>)?"
# "6.4 Divergent Versions ........ 12" is a line of a table of contents.
_CONTENTS = re.compile(r"(?:\.[ ]?){4}|(?<![ \t])(?:[ \t]{2,}|\t)\d+$")
# What a heading above is worth, the nearest and any other.
_NEAREST_HEADING, _OUTER_HEADING = 0.9, 0.6
_LETTERED = frozenset({"appendix", "article", "chapter"})
_MAX_CHARS = 200
# "What does section 6 say?" asks for all of it.
_SAYING = (
    "say says state tell read content contain cover require demand mean talk summarise summarize summary quote text"
    " steht sagt regelt dit dice"
)
_VERSION = re.compile(r"(?<!\d)v?(\d+(?:[._]\d+)+)(?![._]?\d)", re.IGNORECASE)
_NAMED_VERSION = re.compile(
    r"(?<![\w.-])(?P<name>[A-Z][\w-]+)\s+(?:version\s+|v)?(?P<version>\d+(?:\.\d+){0,3})(?![\w-]|\.\d)"
)


class AskedReference(NamedTuple):
    """A numbered part of a document."""

    kind: str
    number: str
    document: frozenset[str]
    """The words, as tokens, that it calls the document by; mostly empty."""

    def is_title(self, title: str) -> bool:
        """Return whether a heading is that of the part.

        Example:
            >>> reference = reference_of("section 6 of the charter")
            >>> [reference.is_title(title) for title in ("Section 6. Votes", "6 Votes", "6.1 Votes", "16 Ships")]
            [True, True, False, False]
        """
        return self._title.match(title.strip("# \t")) is not None

    def is_line_in(self, text: str) -> bool:
        """Return whether a line of a text begins with the part, and is not of a table of contents.

        Example:
            >>> reference = reference_of("requirement 2.1.1")
            >>> [reference.is_line_in(text) for text in ("2.1.1 Verify that", "2.1.1 Ships ..... 12", "as in 2.1.1")]
            [True, False, False]
        """
        return any(not _CONTENTS.search(line.rstrip()) for line in _lines_at(self._line, text))

    def share_in(self, headings: Sequence[str], text: str) -> float:
        """Return how surely a text below some headings is or has the part, from 0 to 1."""
        if self.is_line_in(text):
            return 1.0
        if headings and self.is_title(headings[-1]):
            return _NEAREST_HEADING
        return _OUTER_HEADING * any(map(self.is_title, headings))

    def is_in(self, headings: Sequence[str], text: str) -> bool:
        """Return whether a passage below some headings is of the part, or has the line that it begins with.

        Example:
            >>> reference = reference_of("section 7.3")
            >>> reference.is_in(["7.3 Ropes"], "They are thick."), reference.is_in([], "7.3.1 They are thick.")
            (True, True)
        """
        is_below = re.match(rf"{_OPENS}[A-Z]{{0,3}}{re.escape(self.number)}\.\d", text) is not None
        return is_below or self.is_line_in(text) or any(map(self.is_title, headings))

    def asks_for_it_alone(self, tokens: Iterable[str]) -> bool:
        """Return whether a question with these tokens asks for nothing but what the part says."""
        own = self.document.union(tokenize(" ".join((_KINDS[self.kind], self.number, _SAYING))))
        return own.issuperset(tokens)

    @property
    def _title(self) -> re.Pattern[str]:
        return _patterns(self.kind, self.number)[0]

    @property
    def _line(self) -> re.Pattern[str]:
        return _patterns(self.kind, self.number)[1]


class AskedEdition(NamedTuple):
    """A document that a question names by a word and a version: ASVS 4."""

    name: str
    version: str

    def is_file(self, path: str) -> bool:
        """Return whether the name of a file has the name, or words that begin with its letters, and the version.

        Example:
            >>> edition = edition_asked("passwords in HMS 4")
            >>> [edition.is_file(path) for path in ("Harbour_Mooring_Standard_4.0.3-en.pdf", "HMS 5.0.pdf", "hms4.py")]
            [True, False, False]
        """
        stem = path.rpartition("/")[2].rpartition(".")[0]
        numbers = [re.split("[._]", found[1]) for found in _VERSION.finditer(stem)]
        wanted = self.version.split(".")
        wanted = wanted[: next((n for n in range(len(wanted), 1, -1) if wanted[n - 1] != "0"), 1)]
        if not any(number[: len(wanted)] == wanted for number in numbers):
            return False
        words = re.findall(r"[^\W\d_]+", stem)
        return self.name.casefold() in (*map(str.casefold, words), *(f"{word}s".casefold() for word in words)) or (
            self.name.isupper() and self.name in "".join(word[0].upper() for word in words)
        )


def reference_of(text: str) -> AskedReference | None:
    """Return the numbered part of a document that a question refers to, if any.

    Example:
        >>> reference_of("What is in table 1 of the tide report?").number
        '1'
        >>> reference_of("How do I join table a and b?")
    """
    found = _ASKED.search(text) if len(text) <= _MAX_CHARS else None
    if found is None:
        return None
    kind = _KIND_OF[found["kind"].lower()] if found["kind"] else "section"
    number = found["number"]
    if not (number[-1].isdigit() or kind in _LETTERED):
        return None
    document = tokenize(" ".join(content_words_of_question(found["document"] or "")))
    return AskedReference(kind, number, frozenset(document))


def edition_asked(text: str) -> AskedEdition | None:
    """Return the document that a question names by a word and a version, if any."""
    found = _NAMED_VERSION.search(text) if len(text) <= _MAX_CHARS else None
    name = "" if found is None else found["name"].lower()
    is_other = name.removesuffix("s") in _KIND_OF or name in NAMES_OF_TIME
    return None if found is None or is_other else AskedEdition(found["name"], found["version"])


def _lines_at(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for found in pattern.finditer(text):
        end = text.find("\n", found.end())
        yield text[found.start() : end if end >= 0 else len(text)]


@lru_cache(maxsize=64)
def _patterns(kind: str, number: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what a heading of a part, and a line with it, begin with."""
    words = "|".join(_KINDS[kind].split())
    named = rf"(?i:{words})\.?[ \t]+" + (r"|§[ \t]*" if kind in ("section", "article") else "")
    own = rf"{re.escape(number)}(?![\w-]|\.\d)"
    is_lettered = not number[-1].isdigit()
    bare = r"(?!)" if kind in ("table", "figure") or is_lettered else r"[A-Z]{0,3}"
    title = re.compile(rf"(?:{named}|{bare}){own}")
    # "Section 6 of the charter says" is a sentence.
    named = rf"(?:{named}){own}(?!,|[ \t]+[a-z])"
    # "6. Moor the ship" may be a step, and no heading.
    numbered = rf"|{_OPENS}{bare}{own}" if "." in number else rf"|^#{{1,6}}[ \t]+{bare}{own}"
    return title, re.compile(rf"{_OPENS}{named}{numbered}", re.MULTILINE)
