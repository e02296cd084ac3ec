"""Questions that name a file which could not be read: the answer says so, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from openbook.answering.refusals import with_note
from openbook.answers import GenerationResult, RefusalReason
from openbook.errors import QueryError
from openbook.index.protocol import DocumentSummary
from openbook.questions.question import read_question
from openbook.sources.formats import BINARY_FORMATS
from openbook.sources.known_formats import unread_formats
from openbook.sources.languages import BY_SUFFIX
from openbook.tokens import tokenize
from openbook.types import Filter

Unread = Callable[[Filter], Mapping[str, str]]
"""Gives the files that a filter lets through and that could not be read: the reason for each, by path."""

# Which files were not read is told by the files themselves, and a source may have 100,000. So only a question that
# names one is worth a look, and `self.index` and `app.py` are names of code.
_SUFFIX = re.compile(r"[\w)\]]\.([a-z]\w{0,7})(?!\w)")

# What asks for the content of a file and for nothing in it, in the languages that questions are read in.
_CONTENT_WORDS = """
    contain contains content contents describe display explain file hold holds open print read say says show summarize
    summarise summary tell written
    beschreibe das dem den der datei des die im enthält erkläre fasse inhalt lies öffne sagt steht zeig zeige zusammen
    zusammenfassung
    affiche ce contenu dans de des du est la le les qu quel quelle contient décris dit fichier montre ouvre que quoi
    résume résumé
    abre archivo cuál de del el en es está la contenido contiene describe dice hay muestra qué resume resumen
"""


@cache
def _content_tokens() -> frozenset[str]:
    return frozenset(tokenize(_CONTENT_WORDS))


def named_unread(query: str, where: Filter, unread: Unread) -> Mapping[str, str]:
    """Return which files that could not be read a question names, with the reason for each, by path."""
    asked = query.casefold()
    if not any(map(_is_of_document, _SUFFIX.findall(asked))):
        return {}
    return {path: reason for path, reason in unread(where).items() if _names(asked, path)}


def _is_of_document(suffix: str) -> bool:
    if suffix in BY_SUFFIX:
        return BY_SUFFIX[suffix][0] != "code"
    return suffix in BINARY_FORMATS or any(suffix in unread.suffixes for unread in unread_formats())


def _names(asked: str, path: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(_name_of(path))}(?![\w-]|\.\w)", asked) is not None


def _name_of(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].casefold()


def asks_for_content_alone(query: str, named: Mapping[str, str], known: Iterable[DocumentSummary]) -> bool:
    """Check whether a question asks what stands in these files, and for nothing else.

    Args:
        query: The question.
        named: What it names and could not be read, by path.
        known: What was read; a file of the same name is among what is asked for.
    """
    names = {_name_of(path) for path in named}
    if any(_name_of(document.path) in names for document in known):
        return False
    left = query.casefold()
    for name in names:
        left = re.sub(rf"(?:[\w.-]*/)*{re.escape(name)}", " ", left)
    try:
        return _content_tokens().issuperset(read_question(left).tokens)
    except QueryError:  # nothing is left to look for
        return True


def note_of_unread(named: Mapping[str, str]) -> str:
    """Return that files were not read, and why.

    Example:
        >>> note_of_unread({"a.xlsx": "encrypted; save it without a password"})
        'a.xlsx was not read: encrypted; save it without a password.'
    """
    # Names of files are text of strangers: on one line.
    return " ".join(f"{' '.join(path.split())} was not read: {reason}." for path, reason in sorted(named.items()))


def refusal_of_unread(query: str, named: Mapping[str, str]) -> GenerationResult:
    """Refuse to say what stands in files that were not read."""
    return GenerationResult(query.strip(), note_of_unread(named), refused=True, reason=RefusalReason.NOT_READ)


def with_unread(answer: GenerationResult, named: Mapping[str, str]) -> GenerationResult:
    """Say above an answer which of the files that the question names were not read."""
    return with_note(answer, note_of_unread(named)) if named else answer
