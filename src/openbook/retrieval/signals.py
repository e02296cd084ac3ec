"""Computes the signals of candidates: the features of the ranking model, named as in `weights`.

A part after a colon is a feature that counts in some questions only; it is shown as part of the same signal.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Mapping, Sequence
from functools import lru_cache

from openbook.index.bm25 import inverse_frequency
from openbook.index.protocol import Matches, Outline
from openbook.questions.definitions import AskedTerm
from openbook.questions.question import Question
from openbook.questions.releases_asked import AskedRelease
from openbook.questions.settings_asked import AskedSetting
from openbook.questions.versions_asked import AskedVersions, is_manifest
from openbook.retrieval.definitions import definition_strengths
from openbook.retrieval.enumerations import has_enumeration
from openbook.retrieval.paths import path_match
from openbook.retrieval.proximity import exactness
from openbook.retrieval.raising import raising_places, tells_cause
from openbook.retrieval.roles import (
    asks_for,
    asks_for_views,
    documented_share,
    explained_share,
    is_aside,
    is_home_page,
    is_unasked,
    is_view,
    role_of_part,
)
from openbook.retrieval.setting_entries import are_named, is_within, setting_entries
from openbook.tokens import tokenize
from openbook.types import Chunk

Signals = dict[str, float]

# Between these numbers of words, a question becomes long: the weight of its words grows.
_SHORT_WORDS, _LONG_WORDS = 5, 10

# A topic is spread over a file, so its best chunks are averaged.
_TOP_CHUNKS = 3

# A search reads the headings of a hundred candidates, mostly the same again. About 1 KB each.
_CACHED_HEADINGS = 1 << 13


def chunk_signals(
    query: Question, matches: Matches, outlines: Sequence[Outline], texts: Sequence[str] = ()
) -> list[Signals]:
    """Compute the signals of each chunk, in the order of `outlines`. Values are between 0 and 1, or counts.

    `outlines` are those of `matches.evidence`, in the same order; `texts` are theirs if the question is a name, because
    chunks with its exact spelling come first.
    """
    exact = [exactness(text, query.name) for text in texts] or [0.0] * len(outlines)
    rarity = rarities(query, matches.frequencies, matches.chunks)
    lexical = scaled([evidence.bm25 for evidence in matches.evidence])
    dense = scaled([evidence.cosine for evidence in matches.evidence], floor=matches.median_cosine)
    files = scaled([evidence.file_bm25 for evidence in matches.evidence])
    definitions = definition_strengths(query, outlines)
    covered = coverages(matches, rarity)
    is_asked = query.is_symbol or query.asks_for_parameters or "where" in query.intents
    return [
        {
            "lexical": lexical[n],
            "dense": dense[n],
            "coverage": covered[n],
            "file": files[n],
            "definition": definitions[n],
            "definition:asked": is_asked * definitions[n],
            "exact": exact[n],
            "path": path_match(query, outline.span.path),
            "heading": heading_match(rarity, outline),
        }
        for n, outline in enumerate(outlines)
    ]


def question_signals(query: Question, chunks: Sequence[Signals], outlines: Sequence[Outline]) -> list[Signals]:
    """Compute the signals of passages that need no text."""
    is_long = min(max(query.content_words - _SHORT_WORDS, 0), _LONG_WORDS - _SHORT_WORDS) / (_LONG_WORDS - _SHORT_WORDS)
    beside = _dense_of_files(chunks, outlines)
    is_of_mechanism = "mechanism" in query.intents
    return [
        {
            **chunk,
            "lexical:long": is_long * chunk["lexical"],
            "dense:file": beside[_file_of(outline)],
            "dense:foreign": query.in_other_language * chunk["dense"],
            "front": float(is_home_page(outline.span.path, outline.kind)),
            "heading:mechanism": is_of_mechanism * chunk.get("heading", 0.0),
            **_role_signals(query, outline),
        }
        for chunk, outline in zip(chunks, outlines, strict=True)
    ]


def text_signals(
    query: Question,
    chunk: Chunk,
    proximity: float,
    cosine: float,
    *,
    is_prose: bool,
    settings: Sequence[AskedSetting] = (),
    change: float = 0.0,
    headed: float = 0.0,
) -> Signals:
    """Compute the signals of a passage that need its text.

    `proximity` is how close together the text contains the words of the question, from 0 to 1; `cosine` that of the
    question and the most similar sentence, 0 if not computed. `is_prose`: no candidate is code. `change` is how well it
    says the change that the question asks the release of, from 0 to 1; `headed`, how near one of its headings is to the
    question.
    """
    return {
        "proximity": proximity,
        "proximity:prose": is_prose * proximity,
        "proximity:foreign": query.in_other_language * proximity,
        "sentence": max(0.0, cosine),
        **_documented_signals(query, chunk),
        **(term_signals(query.term, chunk) if query.term else {}),
        "setting": setting_strength(settings, chunk),
        "release": float(query.release is not None and is_on_release(query.release, chunk)),
        "requirement": requirement_strength(query.versions, chunk) if query.versions else 0.0,
        "cause": cause_strength(query, chunk),
        "enumeration": enumeration_strength(query, chunk),
        "change": change,
        "headed": headed,
    }


def comment_signals(query: Question, chunk: Chunk) -> Signals:
    """Return what the comments of settings count: these are documentation by the share of their comments."""
    told = explained_share(chunk)
    as_page = {"role:documentation": 1.0, "role:configuration": -1.0, **_documentation_signals(query)}
    return {name: told * value for name, value in as_page.items()} if told else {}


def _documented_signals(query: Question, chunk: Chunk) -> Signals:
    """Return what the comments of code count: they are for those who ask how, and less for those who ask where."""
    # Squared: half a comment on a function is less than half of what a page says. Not squared, real questions have the
    # right place first .012 less often, and libraries that are documented in comments .009 more often.
    share = documented_share(chunk) ** 2
    return {name: share * value for name, value in _documentation_signals(query).items()} if share else {}


def term_signals(term: AskedTerm, chunk: Chunk) -> Signals:
    """Compute the signals of a passage for a question that asks what a term means."""
    is_code = chunk.kind == "code"
    return {
        "defining": float(term.is_defined_in(chunk.text, is_code=is_code)),
        "defining:heading": float(not is_code and term.is_heading_in(chunk.text)),
        "defining:symbol": float(any(map(term.is_name, (chunk.symbol.rpartition(".")[2], *chunk.defines)))),
    }


# `IdleTimeout` may store the setting `idle-timeout`, or be something else. With 1, lnd loses a citation; no other
# project changes. Halving it for everyday words changed nothing.
_OTHER_SPELLING = 0.6


def setting_strength(settings: Sequence[AskedSetting], chunk: Chunk) -> float:
    """Return how well a chunk describes one of the settings, from 0 to 1; 0 for tests, changelogs and the like."""
    best = 0.0
    if not settings or is_aside(chunk.span.path):
        return best
    for name, owners in settings:
        # An entry of a definition list; files of settings leave out the dashes of options.
        if chunk.kind != "code" and not {name, f"--{name}"}.isdisjoint(chunk.defines):
            best = max(best, are_named(owners, *chunk.context, chunk.symbol, chunk.span.path))
        for entry in setting_entries(chunk.text, name, owners, chunk.kind):
            if entry.is_described and is_within(entry, owners, chunk):
                best = max(best, 1.0 if entry.is_exact else _OTHER_SPELLING)
    return best


def is_on_release(release: AskedRelease, chunk: Chunk) -> bool:
    """Return whether a chunk of documentation is in the section or the file on a release."""
    is_in = release.is_in(chunk.context, chunk.span.path)
    return chunk.kind == "docs" and (is_in or release.is_heading_in(chunk.text))


def requirement_strength(versions: AskedVersions, chunk: Chunk) -> float:
    """Return how well a chunk states the required versions of a question, from 0 to 1; 0 for tests and changelogs."""
    path = chunk.span.path
    may_state = (is_manifest(path) or chunk.kind == "docs") and not is_aside(path)
    return versions.share_in(chunk.text, path) if may_state else 0.0


# Prose that says when an error is raised, as a share of the code that raises it.
_TOLD_CAUSE = 0.5


def cause_strength(query: Question, chunk: Chunk) -> float:
    """Return how well a chunk shows what raises the error of a question, from 0 to 1; 0 for tests and the like."""
    name = query.error
    if not name or name not in chunk.text or is_unasked(chunk, query.text):
        return 0.0
    if chunk.kind == "code" and raising_places(chunk.text, name):
        return 1.0
    return _TOLD_CAUSE * tells_cause(chunk.docstring if chunk.kind == "code" else chunk.text, name)


def enumeration_strength(query: Question, chunk: Chunk) -> float:
    """Return 1 if a chunk has the enumeration, or the value, that a question asks for; 0 for tests and the like."""
    if query.enumeration is None or chunk.kind != "code" or is_unasked(chunk, query.text):
        return 0.0
    return float(has_enumeration(query.enumeration, chunk))


def file_signals(query: Question, chunks: Sequence[Signals], outline: Outline, size: int) -> Signals:
    """Compute the signals of a file for a topic.

    `outline` is that of one of them, `size` the number of chunks of the whole file.
    """
    best = {name: sorted((chunk[name] for chunk in chunks), reverse=True) for name in ("lexical", "dense")}
    first = chunks[0]
    return {
        "lexical": best["lexical"][0],
        "lexical:three": _mean(best["lexical"][:_TOP_CHUNKS]),
        "dense:three": _mean(best["dense"][:_TOP_CHUNKS]),
        "definition": max(chunk["definition"] for chunk in chunks),
        "definition:asked": max(chunk["definition:asked"] for chunk in chunks),
        "exact": max(chunk["exact"] for chunk in chunks),
        "heading": float(max(chunk["heading"] for chunk in chunks) > 1 - 1e-9),
        "file": first["file"],
        "path": first["path"],
        "size": math.log1p(size),
        **_role_signals(query, outline),
    }


def place_signals(cosine: float) -> Signals:
    """Compute the signal of the path of a file.

    Args:
        cosine: Cosine of the topic and the last folders with the name of the file.
    """
    return {"place": max(0.0, cosine)}


def _role_signals(query: Question, outline: Outline) -> Signals:
    role = role_of_part(outline)
    is_asked = asks_for(role, query.text) or (role == "changelog" and query.change is not None)
    if role == "source" or is_asked:
        is_aside_view = role == "source" and is_view(outline.span.path) and not asks_for_views(query.text)
        return {"role:source": 1.0, "view": float(is_aside_view)}
    signals = {f"role:{role}": 1.0}
    return signals | _documentation_signals(query) if role == "documentation" else signals


def _documentation_signals(query: Question) -> Signals:
    """Return how the form of a question puts documentation before code, or after it."""
    signals = {f"role:documentation:{intent}": 1.0 for intent in sorted(query.intents)}
    return signals | {"role:documentation:predicted": query.documentation_odds}


def _dense_of_files(chunks: Sequence[Signals], outlines: Sequence[Outline]) -> Mapping[tuple[str, str], float]:
    """Return the mean dense score of the best chunks of each file."""
    found: dict[tuple[str, str], list[float]] = {}
    for chunk, outline in zip(chunks, outlines, strict=True):
        found.setdefault(_file_of(outline), []).append(chunk["dense"])
    return {file: _mean(sorted(values, reverse=True)[:_TOP_CHUNKS]) for file, values in found.items()}


def _file_of(outline: Outline) -> tuple[str, str]:
    return (outline.source, outline.span.path)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def coverages(matches: Matches, rarity: Mapping[str, float]) -> list[float]:
    """Return the share of the question's tokens that each candidate contains, from 0 to 1, weighted by rarity."""
    total = sum(rarity.values())
    weights = [rarity[token] for token in matches.tokens]
    return [
        sum(weight for bit, weight in enumerate(weights) if evidence.matched >> bit & 1) / total
        for evidence in matches.evidence
    ]


def rarities(query: Question, frequencies: Mapping[str, int], chunks: int) -> dict[str, float]:
    """Return the inverse document frequency of each token of the question.

    `frequencies` is the number of the library's chunks with each token; absent means none.
    """
    return {token: inverse_frequency(frequencies.get(token, 0), chunks) for token in query.tokens}


def coverage(words: Container[str], rarity: Mapping[str, float]) -> float:
    """Return the share of the question's tokens that is in `words`, from 0 to 1, weighted by rarity."""
    total = sum(rarity.values())
    return sum(weight for token, weight in rarity.items() if token in words) / total if total else 0.0


def scaled(scores: Sequence[float], *, floor: float = 0.0) -> list[float]:
    """Scale scores to 0..1: the best becomes 1, `floor` and lower ones 0.

    Example:
        >>> scaled([4.0, 2.0, 0.0])
        [1.0, 0.5, 0.0]
    """
    top = max(scores, default=0.0)
    if top <= floor:
        return [0.0] * len(scores)
    return [max(0.0, score - floor) / (top - floor) for score in scores]


def heading_match(rarity: Mapping[str, float], outline: Outline) -> float:
    """Return how well the innermost heading of a chunk matches the question, from 0 to 1; 0 for code.

    The geometric mean of the share of the question's tokens in the heading, weighted by rarity, and the share of the
    heading's tokens in the question.
    """
    words = _heading_words(outline.context[-1]) if outline.context and outline.kind != "code" else frozenset()
    shared: Collection[str] = words & rarity.keys()
    return math.sqrt(coverage(shared, rarity) * len(shared) / len(words)) if shared else 0.0


@lru_cache(maxsize=_CACHED_HEADINGS)
def _heading_words(heading: str) -> frozenset[str]:
    return frozenset(tokenize(heading))
