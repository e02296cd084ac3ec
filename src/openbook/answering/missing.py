"""Tells which words of a question the library lacks, or its language. Cheap to import, because each search needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openbook.embedding.protocol import Embedder
from openbook.index.protocol import Index
from openbook.questions.languages import languages_of
from openbook.questions.question import MAX_QUERY_CHARS, Question, read_question
from openbook.questions.words import FOREIGN_WORDS, is_everyday
from openbook.tokens import WORD, tokenize
from openbook.types import RetrievalResult

# Stop words are in more chunks than this of a library in their language, and in fewer of others. Of 51 questions in
# German, French and Spanish to three English projects, 49 are recognized (32 where any chunk counts), and none of five
# in French to a French one.
_COMMON_SHARE = 0.02

# Results whose language is read, those that a refusal shows, and the stop words that tell it: a message in a test or a
# translation has four.
_NEAREST, _TELLING_WORDS = 3, 5


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
    asked = read_question(query[:MAX_QUERY_CHARS])  # only the text of an issue is longer
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


def language_note(query: str, results: Sequence[RetrievalResult], index: Index, embedder: Embedder) -> str:
    """Return a note for results of a question in another language than the library; empty if it is in the same.

    Empty without results too, and with an embedder that is not ours, whose vectors may be alike in all languages.
    """
    asked = read_question(query[:MAX_QUERY_CHARS])  # only the text of an issue is longer
    if not results or asked.as_written or not asked.is_foreign or not is_in_another_language(asked, results, index):
        return ""
    from openbook.answering.prompting import fill_template
    from openbook.embedding.static import StaticEmbedder

    return fill_template("other_language") if isinstance(embedder, StaticEmbedder) else ""


def is_in_another_language(query: Question, results: Sequence[RetrievalResult], index: Index) -> bool:
    """Check whether a question is neither in English nor in a language of the library.

    No result is in its language then, and the library lacks at least half of its words. Stop words have to be common in
    it: `la`, `das` and `es` occur in a name, a message or a translation of most projects.
    """
    if not (query.in_other_language or query.is_foreign):
        return False
    # In a library of several languages, the stop words of each are rare.
    said = (languages_of(each.chunk.text, least=_TELLING_WORDS) for each in results[:_NEAREST])
    if any(query.languages & each - {"en"} for each in said):
        return False
    words = {word: tokens for word in set(WORD.findall(query.text.lower())) if (tokens := tokenize(word))}
    known = index.frequencies([token for tokens in words.values() for token in tokens])
    common = _COMMON_SHARE * index.stats().chunks
    absent = 0
    for word, tokens in words.items():
        held = max(known.get(token, 0) for token in tokens)
        absent += held <= (common if word in FOREIGN_WORDS else 0)
    return absent * 2 >= len(words)


def _quoted(text: str) -> str:
    return f'"{text}"'
