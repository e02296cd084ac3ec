"""Tells which words of a question the library lacks. Cheap to import, because each search needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openbook.index.protocol import Index
from openbook.questions.question import Question, read_question
from openbook.questions.words import is_everyday
from openbook.tokens import WORD, tokenize
from openbook.types import RetrievalResult


def missing_words(query: Question, frequencies: Mapping[str, int]) -> tuple[str, ...]:
    """Return the words of the question that the library lacks, as written, in order, but for everyday words.

    Of a code name, the library must contain the whole, not only its parts.
    """
    words = dict.fromkeys(word for word in WORD.findall(query.text) if not is_everyday(word))
    wanted = set(query.tokens)
    tokens_of = {word: [token for token in tokenize(word) if token in wanted] for word in words}
    return tuple(
        word
        for word, tokens in tokens_of.items()
        if tokens and frequencies.keys().isdisjoint(tokens[-1:] if word in query.identifiers else tokens)
    )


def missing_note(query: str, results: Sequence[RetrievalResult], index: Index) -> str:
    """Return a note on what a search is for and results lack: quoted texts, code names, or all of its words.

    Empty if there are none, without results unless it is a quoted text, for a message that the best prints, and for the
    text of an issue. A word that is a part of one in the results, as `glue` of "glued", or of their paths, is no such
    word.
    """
    asked = read_question(query)
    if not results and asked.as_written:
        return f"No document has {' and '.join(map(_quoted, asked.as_written))} as written."
    if not results or asked.as_written or results[0].signals.get("message"):
        return ""
    with index.snapshot():
        frequencies = index.frequencies(asked.tokens)
    said = "\n".join(f"{result.chunk.span.path}\n{result.chunk.text}".lower() for result in results)
    missing = [word for word in missing_words(asked, frequencies) if word.lower() not in said]
    missing = [word for word in missing if not frequencies or word in asked.identifiers]
    held = {text for result in results for text in asked.quoted_in(result.chunk.text)}
    unheld = [_quoted(text) for text in asked.quoted if text not in held]
    if not (missing or unheld):
        return ""
    # Lazy: most searches have no note, and need nothing that answers need.
    from openbook.answering.prompting import build_missing_note
    from openbook.lookup.issue_search import read_issue

    if read_issue(query):
        return ""
    return build_missing_note(missing) if missing else f"No result has {' or '.join(unheld)} as written."


def _quoted(text: str) -> str:
    return f'"{text}"'
