"""Refusals: small talk, files that could not be read, and questions that the sources do not answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache

from openbook.answering.prompting import build_clarification_prompt, build_missing_note, build_no_answer, fill_template
from openbook.answers import GenerationResult, RefusalReason
from openbook.courses.catalog import lesson_numbers
from openbook.errors import QueryError
from openbook.index.protocol import DocumentSummary
from openbook.questions.kinds import kind_of
from openbook.questions.question import Question, read_question
from openbook.questions.words import FOREIGN_WORDS, content_words_of_question, is_everyday
from openbook.retrieval.roles import is_aside
from openbook.sources.formats import BINARY_FORMATS, EMPTY
from openbook.sources.known_formats import unread_formats
from openbook.sources.languages import BY_SUFFIX
from openbook.tokens import tokenize
from openbook.types import Chunk, Filter, ResultRole, RetrievalResult

# Most results in a refusal, and files in a note.
_NEAREST = 3


def refusal(
    query: str,
    reason: RefusalReason,
    results: Sequence[RetrievalResult],
    missing: Sequence[str] = (),
    *,
    unread: Sequence[str] = (),
    meant: Sequence[str] = (),
    is_foreign: bool = False,
    is_filtered: bool = False,
) -> GenerationResult:
    """Refuse to answer, with the nearest results.

    `missing` are words that the library lacks, `unread` files that may contain them, `meant` words of the library that
    may have been meant by them. `is_foreign`: the question is in another language than the sources. `is_filtered`: the
    filter leaves no document to search.
    """
    nearest = tuple(results[:_NEAREST])
    if reason is RefusalReason.EMPTY_LIBRARY:
        return GenerationResult(query, fill_template("empty_library"), refused=True, reason=reason)
    if is_filtered:
        return GenerationResult(query, fill_template("filtered"), refused=True, reason=reason)
    told = build_clarification_prompt(reason + _others(results), nearest, missing, unread, meant)
    if is_foreign:
        told = f"{told}\n\n{fill_template('other_language')}"
    return GenerationResult(query, told, results=nearest, refused=True, reason=reason)


# Stands above a doubtful answer.
DOUBT_NOTE = "The sources may not answer this; these passages come nearest."


# Stands above rows that answer a question for the most, the average or the sum of something.
ROWS_NOTE = "Rows are quoted, not compared or added up; open the file for that."
_COMPARES_ROWS = re.compile(
    r"\b(?:most|least|fewest|(?:high|low|larg|small|bigg|old|young)e?st|average|mean|median|total|sum|maximum|minimum"
    r"|meisten|wenigsten|höchste[nrs]?|niedrigste[nrs]?|durchschnitt|summe|le plus|le moins|moyenne|promedio)\b",
    re.IGNORECASE,
)
_TABLES = frozenset({"csv", "tsv", "xlsx", "xls", "ods"})


def note_on_rows(query: str, chunks: Iterable[Chunk]) -> str:
    """Return a note if a question compares or adds up what quotes of tables have in many rows; else nothing.

    A column may have what is asked for: "total".
    """
    tables = [chunk for chunk in chunks if chunk.language in _TABLES]
    asked = {word.casefold() for word in _COMPARES_ROWS.findall(query)}
    is_column = any(word in " ".join(chunk.context).casefold() for chunk in tables for word in asked)
    return ROWS_NOTE if asked and tables and not is_column else ""


def noted(
    answer: GenerationResult,
    deciding: Sequence[str],
    unread: Sequence[str] = (),
    *,
    is_doubtful: bool = False,
    is_foreign: bool = False,
) -> GenerationResult:
    """Add a note above an answer that names words which the library lacks, or says that the answer is doubtful.

    If the question `is_foreign`, in another language than the sources, the note says so.
    """
    if not (deciding or is_doubtful):
        return answer
    note = build_missing_note(deciding, unread) if deciding else DOUBT_NOTE
    return with_note(answer, f"{note}\n\n{fill_template('other_language')}" if is_foreign else note)


def with_note(answer: GenerationResult, note: str) -> GenerationResult:
    """Add a note above an answer."""
    note = f"{note}\n\n"
    claims = tuple(
        replace(claim, start_char=claim.start_char + len(note), end_char=claim.end_char + len(note))
        for claim in answer.claims
    )
    return replace(answer, answer=note + answer.answer, claims=claims)


def _others(results: Sequence[RetrievalResult]) -> str:
    """Return the existing lessons, if a missing one was asked for. The reason has no numbers, as it is counted."""
    lessons = [result.chunk.lesson for result in results if ResultRole.OTHER_LESSON in result.roles]
    there = lesson_numbers(lesson for lesson in lessons if lesson is not None)
    return f", there are {there}" if there else ""


def no_answer(
    query: str, reason: RefusalReason, results: Sequence[RetrievalResult], *, detail: str = ""
) -> GenerationResult:
    """Return an answer that says why the model wrote nothing, with the nearest results.

    `detail` is the message of the budget or the provider, for people.
    """
    text = build_no_answer(reason, detail)
    return GenerationResult(query, text, results=tuple(results[:_NEAREST]), refused=True, reason=reason)


Unread = Callable[[Filter], Mapping[str, str]]
"""Returns the files behind a filter that could not be read, with the reason by path."""

# Listing unread files takes a scan of the source, which may have 100,000 files. It is done only if a question names a
# file; `self.index` and `app.py` are names of code.
_SUFFIX = re.compile(r"[\w)\]]\.([a-z]\w{0,7})(?!\w)")

# Words that ask for the content of a file as a whole, in the supported languages.
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
    """Return the unread files that a question names, with the reason by path."""
    asked = query.casefold()
    if not any(map(_is_of_document, _SUFFIX.findall(asked))):
        return {}
    return {path: reason for path, reason in unread(where).items() if _names(asked, path)}


def like_unread(query: Question, unread: Mapping[str, str]) -> dict[str, str]:
    """Return the unread files that have most words of a question in their names, with the reason by path.

    Numbers and everyday words do not count. Files whose whole name is in the question are left out, because
    `named_unread` has them.
    """
    asked = query.text.casefold()
    words = {word for word in content_words_of_question(query.text) if not is_everyday(word)}
    wanted = {token for word in words for token in tokenize(word) if not token.isdecimal()}
    shared = {
        path: len(wanted.intersection(tokenize(_name_of(path).rpartition(".")[0])))
        for path in with_words(unread)
        if not (is_aside(path) or _names(asked, path))
    }
    most = max(shared.values(), default=0)
    return {path: unread[path] for path, count in shared.items() if 0 < count == most}


def with_words(unread: Mapping[str, str]) -> tuple[str, ...]:
    """Return the paths of unread files that may mention something.

    Example:
        >>> with_words({"a.pdf": "empty", "b.pdf": "damaged"})
        ('b.pdf',)
    """
    return tuple(path for path, reason in unread.items() if reason != EMPTY)


def _is_of_document(suffix: str) -> bool:
    if suffix in BY_SUFFIX:
        return BY_SUFFIX[suffix][0] != "code"
    return suffix in BINARY_FORMATS or any(suffix in unread.suffixes for unread in unread_formats())


def _names(asked: str, path: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(_name_of(path))}(?![\w-]|\.\w)", asked) is not None


def _name_of(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].casefold()


def asks_for_content_alone(query: str, named: Mapping[str, str], known: Iterable[DocumentSummary]) -> bool:
    """Check whether a question asks for nothing but the content of unread files.

    `named` are the unread files that it names, by path; `known` may include a file of the same name.
    """
    names = {_name_of(path) for path in named}
    if any(_name_of(document.path) in names for document in known):
        return False
    left = query.casefold()
    for name in names:
        left = re.sub(rf"(?:[\w.-]*/)*{re.escape(name)}", " ", left)
    try:
        return _content_tokens().issuperset(read_question(left).tokens)
    except QueryError:  # no other words
        return True


def note_of_unread(named: Mapping[str, str]) -> str:
    """Return that files were not read, and why.

    Example:
        >>> note_of_unread({"a.xlsx": "encrypted; save it without a password"})
        'a.xlsx was not read: encrypted; save it without a password.'
    """
    # File names are untrusted text: on one line.
    told = [f"{' '.join(path.split())} was not read: {reason}." for path, reason in sorted(named.items())]
    return " ".join(told[:_NEAREST]) + (" ..." if len(told) > _NEAREST else "")


def refusal_of_unread(query: str, named: Mapping[str, str]) -> GenerationResult:
    """Refuse a question on the content of unread files."""
    return GenerationResult(query.strip(), note_of_unread(named), refused=True, reason=RefusalReason.NOT_READ)


def with_unread(answer: GenerationResult, named: Mapping[str, str]) -> GenerationResult:
    """Add a note above an answer that names the unread files of the question."""
    return with_note(answer, note_of_unread(named)) if named else answer


_TOLD = (
    "I answer questions from the sources of this library, and from nothing else; each answer says where it stands. "
    "Ask about something that they speak of."
)

_CALCULATED = (
    "This is arithmetic, and no source is needed for it: "
    "I only answer questions that the sources of this library speak of."
)

# Words that may be a subject of the sources if they are the whole query.
_MAY_BE_NAMES = frozenset("cool day great help hilfe nice ok okay perfect prima super".split())


def _names_a_thing(text: str) -> bool:
    words = [word.lower() for word in content_words_of_question(text)]
    return any(word.isalpha() and word not in FOREIGN_WORDS for word in words)


def reply_to_small_talk(
    text: str, *, after_answer: bool = False, nothing_found: bool = False
) -> GenerationResult | None:
    """Return a reply to small talk or arithmetic; None for other messages.

    A single word such as `super` is praise `after_answer`, and otherwise a query. Arithmetic in words is answered only
    after a search, with `nothing_found`, because it may be a question to the sources: "Down to how many tokens can a
    prompt of 50,000 be reduced?"
    """
    kind = kind_of(text)
    if kind == "arithmetic" and (nothing_found or not _names_a_thing(text)):
        return GenerationResult(
            text.strip(), _CALCULATED, refused=True, reason=RefusalReason.ARITHMETIC, cost_usd=Decimal(0)
        )
    may_be_name = not after_answer and text.strip(" .!?").lower() in _MAY_BE_NAMES
    if may_be_name or kind != "small talk":
        return None
    return GenerationResult(text.strip(), _TOLD, refused=True, reason=RefusalReason.NOTHING_ASKED, cost_usd=Decimal(0))
