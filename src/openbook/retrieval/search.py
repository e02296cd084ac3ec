"""The retrieval pipeline: lexical and dense candidates, ranking, results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

from openbook.embedding.protocol import Embedder
from openbook.errors import InvalidArgumentError
from openbook.index.protocol import EVERYTHING as EVERYTHING
from openbook.index.protocol import Evidence, Index, Matches, Outline
from openbook.questions.changes_asked import AskedChange
from openbook.questions.dates_asked import AskedDates
from openbook.questions.definitions import AskedTerm
from openbook.questions.enumerations_asked import AskedEnumeration
from openbook.questions.errors_asked import without_values
from openbook.questions.question import Question, read_question
from openbook.questions.references_asked import AskedReference
from openbook.questions.releases_asked import AskedRelease
from openbook.questions.values_asked import number_strength
from openbook.questions.versions_asked import AskedVersions, is_manifest
from openbook.retrieval.asked_headings import nearest_heading
from openbook.retrieval.asked_places import asked_place_signals, date_strength, reference_strength
from openbook.retrieval.callables import meant_settings
from openbook.retrieval.changes import change_entries
from openbook.retrieval.editions import (
    Choice,
    Folder,
    choice_of,
    choose_editions,
    folders_with_editions,
    names_version,
    pages_in,
)
from openbook.retrieval.fields import place_of
from openbook.retrieval.fusion import add_evidence, without_duplicates
from openbook.retrieval.inheritance import inherited
from openbook.retrieval.messages import message_strength
from openbook.retrieval.named_files import FileKey, named_files
from openbook.retrieval.paths import stem_of
from openbook.retrieval.proximity import expand_inflections, proximity
from openbook.retrieval.ranking import (
    RankedChunk,
    put_files_first,
    raise_found,
    raise_quoted,
    rank,
    rerank_files,
    rerank_passages,
    weigh_comments,
    weigh_copies,
)
from openbook.retrieval.reranking import RERANKED, Reranker, rerank
from openbook.retrieval.roles import role_of
from openbook.retrieval.signals import (
    cause_strength,
    enumeration_strength,
    is_on_release,
    rarities,
    requirement_strength,
    setting_strength,
    term_signals,
    text_signals,
)
from openbook.text import sentences
from openbook.tokens import tokenize
from openbook.types import VIEWS, Chunk, Filter, RetrievalResult, View, shown_text

if TYPE_CHECKING:
    from openbook.index.protocol import Vector

# Candidates per retrieval method, or as many as are wanted. 60 lose a little on mixed libraries, 150 gain nothing.
DEPTH = 80
# The same for a name: of a setting, if no candidate describes it, or of an error. What describes a setting may have its
# name once, and uses often; what raises an error may rank below everything that handles it.
_DEPTH_OF_NAMES = 400

# Passages whose proximity is computed; tokenizing one takes about .2 ms.
_READ = 24
# More for a number, whose line has few of the words.
_READ_FOR_NUMBERS = 64

# What the meaning of an entry of a changelog counts beside its words, and the entries whose meaning is compared, as a
# share of the best one of the passage. By words alone, "drops support for 3.8; 3.9 is supported" answers for 3.9.
_MEANT, _LIKELY_ENTRY = 0.5, 0.75

# Passages whose sentences are embedded; one takes about .3 ms. 12 and 24 gain nothing.
_SENTENCES_READ = 8

# Files whose paths are embedded; one takes about 20 us, ten times that with words that are not cached. 10 lose .001,
# 20 and all gain nothing.
_PATHS_READ = 12

# Cached vectors of paths: consecutive topics share many files. About 1 KB each.
_CACHED_PLACES = 1024

# Cached tokens and sentences: consecutive questions share many texts. About 4 KB each.
_CACHED_TEXTS = 1024


class Retriever:
    """Searches one library."""

    def __init__(
        self, index: Index, embedder: Embedder, sentences: Embedder | None = None, reranker: Reranker | None = None
    ) -> None:
        """Wrap a library and its embedder.

        Args:
            index: The library.
            embedder: The embedder that the library was built with.
            sentences: Embeds sentences and paths, dozens per question; `embedder` by default.
            reranker: Reorders the first 20 results, if given.
        """
        self.index = index
        self.embedder = embedder
        self._sentences = sentences or embedder
        self._reranker = reranker
        self._place = _kept_places(self._sentences)
        self._last: tuple[str, Vector] | None = None
        self._matched: tuple[Question, Filter, Matches] | None = None

    def search(
        self, question: str | Question, *, limit: int = 10, where: Filter = EVERYTHING, view: View = "auto"
    ) -> list[RetrievalResult]:
        """Rank chunks for a question, at most `limit`, ordered by `(-score, source, span)`.

        Near-duplicates of better chunks are left out. An empty library gives []. `view` is one of `VIEWS`: `auto`
        decides by the question, see `Question.view`, and lists passages within a course. Files that the question
        consists of come first; passages with a text that it quotes rank higher.

        Raises:
            QueryError: See `read_question`.
            InvalidArgumentError: There is no such view.
        """
        if view not in VIEWS:
            raise InvalidArgumentError(f"there is no view {view!r}", hint=f"views are {', '.join(VIEWS)}")
        query = read_question(question) if isinstance(question, str) else question
        with self.index.snapshot():
            matches, outlines, named = self._candidates(query, where, max(DEPTH, limit))
            query = query.naming({name for outline in outlines for name in outline.defines})
            matches, outlines, editions = self._with_editions(query, matches, outlines, where)
            matches, outlines, methods = self._with_inherited(query, matches, outlines, where)
            matches, outlines, literals = self._with_messages(query, matches, outlines, where)
            if view == "auto":
                # A course has one file or a few, so listing each once would show next to nothing.
                in_course = where.courses or where.lesson is not None
                view = "passages" if in_course or literals else query.view
            ids = [outline.id for outline in outlines]
            texts = [chunk.text for chunk in self.index.fetch(ids)] if query.name or query.quoted else []
            found = rank(query, view, matches, outlines, texts if query.name else [])
            ranked = raise_found(weigh_copies(query, found, editions), methods, literals)
            if view == "files":
                ranked = self._closest_files(query, ranked)
            else:
                is_prose = all(outline.kind != "code" for outline in outlines)
                ranked = self._closest(query, matches, ranked, is_prose=is_prose)
            if named:
                ranked = put_files_first(ranked, named)
            elif query.quoted:
                held = [len(query.quoted_in(text)) for text in texts]
                ranked = raise_quoted(query, ranked, dict(zip(ids, held, strict=True)))
            # Weights are fitted on questions; topics, which list files, lose by them.
            is_added = bool(getattr(self._reranker, "weight", 0.0))
            reranker = None if view == "files" and is_added else self._reranker
            wanted = max(limit, RERANKED) if reranker and limit > 0 else max(limit, 0)
            results = list(islice(without_duplicates(self._with_text(ranked, max(wanted, 1))), wanted))
        # Outside the snapshot: a reranker may take seconds.
        return results if reranker is None else rerank(query.text, results, reranker)[: max(limit, 0)]

    def matches_of(self, query: Question, where: Filter) -> Matches:
        """Return the matches of a question. Those of the last search are cached."""
        last = self._matched
        if last is not None and last[0] is query and last[1] == where:
            return last[2]
        return self._match(query, where, DEPTH)

    def _candidates(self, query: Question, where: Filter, depth: int) -> tuple[Matches, list[Outline], list[FileKey]]:
        """Return what a question matches, the outlines of it in the same order, and the files that the question names.

        The question may consist of other words than a text that it quotes, or a file that it names.
        """
        matches, vector = self._match(query, where, depth), self._vector_of(query.text)
        for text in query.quoted:
            held = self.index.match(tuple(dict.fromkeys(tokenize(text))), vector, DEPTH, where)
            matches = add_evidence(matches, held, self.index)
        if query.settings:
            matches = add_evidence(matches, self._describing(query, matches, vector, where), self.index)
        if query.enumeration is not None:
            matches = add_evidence(matches, self._enumerating(query, query.enumeration, vector, where), self.index)
        if query.error:
            matches = add_evidence(matches, self._raising(query, vector, where), self.index)
        if query.term is not None:
            matches = add_evidence(matches, self._defining(query.term, matches, vector, where), self.index)
        matches = self._with_places(query, matches, vector, where)
        outlines = self.index.outlines([evidence.id for evidence in matches.evidence])
        named = named_files(self.index, query.text, where, outlines)
        if named:
            inside = self.index.match(query.tokens, vector, DEPTH, replace(where, within=frozenset(named)))
            matches, outlines = self._added(matches, inside)
        return matches, outlines, named

    def _with_places(self, query: Question, matches: Matches, vector: Vector, where: Filter) -> Matches:
        """Add what is on the release, the change, the version or the day that a question asks for."""
        if query.release is not None:
            matches = add_evidence(matches, self._of_release(query.release, vector, where), self.index)
        if query.change is not None:
            matches = add_evidence(matches, self._of_change(query, query.change, matches, vector, where), self.index)
        if query.versions is not None:
            matches = add_evidence(matches, self._requiring(query.versions, matches, vector, where), self.index)
        if query.dates is not None:
            matches = add_evidence(matches, self._of_dates(query, query.dates, matches, where), self.index)
        if query.reference is not None:
            matches = add_evidence(matches, self._referred(query, query.reference, matches, where), self.index)
        elif query.edition is not None:
            matches = add_evidence(matches, self._in_edition(query, matches, where), self.index)
        return matches

    def _added(self, matches: Matches, others: Matches) -> tuple[Matches, list[Outline]]:
        """Return matches with the evidence of others, and the outlines of it in the same order."""
        matches = add_evidence(matches, others, self.index)
        return matches, self.index.outlines([evidence.id for evidence in matches.evidence])

    def _with_editions(
        self, query: Question, matches: Matches, outlines: list[Outline], where: Filter
    ) -> tuple[Matches, list[Outline], Mapping[Folder, Choice]]:
        """Add the matches in the versions that a question means of each documentation with several, and return these.

        Equal pages of other versions may have taken their place.
        """
        found = pages_in((each.source, each.span.path, each.kind) for each in outlines)
        if not (folders_with_editions(found) or names_version(query.text)):
            return matches, outlines, {}
        pages = pages_in((each.source, each.path, each.kind) for each in self.index.documents(where))
        chosen = choose_editions(query.text, pages)
        meant = frozenset(page for page in pages if (choice := choice_of(*page, chosen)) and choice[1])
        if not meant:
            return matches, outlines, {}
        inside = self.index.match(query.tokens, self._vector_of(query.text), DEPTH, replace(where, within=meant))
        return *self._added(matches, inside), chosen

    def _with_inherited(
        self, query: Question, matches: Matches, outlines: list[Outline], where: Filter
    ) -> tuple[Matches, list[Outline], frozenset[int]]:
        """Add the methods that the classes of a question inherit, and return the numbers of their chunks."""
        vector, evidence = self._vector_of(query.text), dict[int, Evidence]()

        def lookup(name: str, files: Collection[FileKey]) -> list[Outline]:
            place = replace(where, within=frozenset(files)) if files else where
            held = {each.id: each for each in self._with_name(name, vector, place).evidence}
            evidence.update(held)
            return self.index.outlines(list(held))

        methods = frozenset(each.id for each in inherited(query, outlines, lookup))
        if methods:
            more = tuple(evidence[number] for number in methods)
            matches, outlines = self._added(matches, replace(matches, evidence=more))
        return matches, outlines, methods

    def _with_messages(
        self, query: Question, matches: Matches, outlines: list[Outline], where: Filter
    ) -> tuple[Matches, list[Outline], frozenset[int]]:
        """Add what prints a message of a question, and return the numbers of its chunks.

        The values in a message are rarer than its words, and lead elsewhere.
        """
        if not query.messages:
            return matches, outlines, frozenset()
        said = tuple(dict.fromkeys(tokenize(without_values(query.messages[0]))))
        near = self.index.match(said, self._vector_of(query.text), _DEPTH_OF_NAMES, where)
        chunks = self.index.fetch([each.id for each in near.evidence])
        common = [message_strength(query.messages, query.text, chunk) for chunk in chunks]
        best = max(common, default=0)
        held = tuple(each for each, count in zip(near.evidence, common, strict=True) if count and count == best)
        if held:
            matches, outlines = self._added(matches, replace(near, evidence=held))
        return matches, outlines, frozenset(each.id for each in held)

    def _defining(self, term: AskedTerm, matches: Matches, vector: Vector, where: Filter) -> Matches:
        """Return matches in documentation and in files with the name of a term, as far as they define it.

        Where most files have the term, as those of Huginn have "agent", the best matches only use it.
        """
        tokens = tuple(dict.fromkeys(tokenize(" ".join(term.words))))
        paths = ((each.source, each.path) for each in self.index.documents(where) if term.may_be_in(each.path))
        named = frozenset(file for file in paths if term.is_name(stem_of(file[1])))
        held = self._in_files_and_pages(tokens, named, matches, vector, where, DEPTH)
        return self._kept(held, lambda chunk: any(term_signals(term, chunk).values()))

    def _requiring(self, versions: AskedVersions, matches: Matches, vector: Vector, where: Filter) -> Matches:
        """Return further matches that state a required version: manifests, and documentation with its name."""
        paths = ((each.source, each.path) for each in self.index.documents(where) if is_manifest(each.path))
        held = self._in_files_and_pages(versions.tokens, frozenset(paths), matches, vector, where, _DEPTH_OF_NAMES)
        return self._kept(held, lambda chunk: requirement_strength(versions, chunk))

    def _of_release(self, release: AskedRelease, vector: Vector, where: Filter) -> Matches:
        """Return the matches in the sections on a release: the digits of its number are in many others."""
        held = self._with_name(release.number, vector, where)
        return self._kept(held, lambda chunk: is_on_release(release, chunk))

    def _of_dates(self, query: Question, dates: AskedDates, matches: Matches, where: Filter) -> Matches:
        """Return matches in the files of the dates of a question, and where these are written in another way."""
        vector, every = self._vector_of(query.text), self.index.documents(where)
        files = frozenset((each.source, each.path) for each in every if dates.share_in(each.path))
        held = [self._with_name(spelling, vector, where) for spelling in dates.spellings]
        if files:
            held.append(self.index.match(query.tokens, vector, DEPTH, replace(where, within=files)))
        evidence = {each.id: each for one in held for each in one.evidence}
        return self._kept(replace(matches, evidence=tuple(evidence.values())), partial(date_strength, dates))

    def _referred(self, query: Question, reference: AskedReference, matches: Matches, where: Filter) -> Matches:
        """Return matches in the numbered part that a question refers to, whose digits many other texts have."""
        vector = self._vector_of(query.text)
        held = [
            self._with_name(f"{reference.kind} {reference.number}", vector, where),
            self._in_edition(query, matches, where),
        ]
        named = reference.document or frozenset(query.tokens)
        files = frozenset(
            (each.source, each.path) for each in self.index.documents(where) if named & set(tokenize(each.path))
        )
        if files:
            place = replace(where, within=files)
            held.append(self.index.match(tuple(tokenize(reference.number)), vector, _DEPTH_OF_NAMES, place))
        evidence = {each.id: each for one in held for each in one.evidence}
        found = replace(matches, evidence=tuple(evidence.values()))
        return self._kept(found, partial(reference_strength, query, reference))

    def _in_edition(self, query: Question, matches: Matches, where: Filter) -> Matches:
        """Return matches in the version of a document that a question names: others have the same words."""
        every = self.index.documents(where) if query.edition else ()
        files = frozenset(
            (each.source, each.path) for each in every if query.edition and query.edition.is_file(each.path)
        )
        if not files:
            return replace(matches, evidence=())
        return self.index.match(
            query.tokens, self._vector_of(query.text), _DEPTH_OF_NAMES, replace(where, within=files)
        )

    def _of_change(
        self, query: Question, change: AskedChange, matches: Matches, vector: Vector, where: Filter
    ) -> Matches:
        """Return further matches that say in which release something was changed: in changelogs and documentation."""
        every = self.index.documents(where)
        paths = ((each.source, each.path) for each in every if role_of(each.path, each.kind) == "changelog")
        held = self._in_files_and_pages(query.tokens, frozenset(paths), matches, vector, where, _DEPTH_OF_NAMES)
        rarity = rarities(query, matches.frequencies, matches.chunks)
        return self._kept(held, lambda chunk: change_entries(change, chunk, rarity))

    def _enumerating(self, query: Question, asked: AskedEnumeration, vector: Vector, where: Filter) -> Matches:
        """Return matches with the enumeration of a question: most chunks with its name use its values."""
        held = self._with_name(" ".join((*asked.terms[0].words, asked.member)), vector, where)
        return self._kept(held, lambda chunk: enumeration_strength(query, chunk))

    def _raising(self, query: Question, vector: Vector, where: Filter) -> Matches:
        """Return matches that raise the error of a question: most chunks with its name may handle or test it."""
        return self._kept(self._with_name(query.error, vector, where), lambda chunk: cause_strength(query, chunk))

    def _describing(self, query: Question, matches: Matches, vector: Vector, where: Filter) -> Matches:
        """Return further matches that describe the settings of a question, if none of its own do, as of `--tags`."""
        names = " ".join(setting.name for setting in query.settings)
        known = [evidence.id for evidence in matches.evidence]
        if not tokenize(names) or any(setting_strength(query.settings, chunk) for chunk in self.index.fetch(known)):
            return replace(matches, evidence=())
        return self._kept(self._with_name(names, vector, where), partial(setting_strength, query.settings))

    def _with_name(self, name: str, vector: Vector, where: Filter) -> Matches:
        return self.index.match(tuple(dict.fromkeys(tokenize(name))), vector, _DEPTH_OF_NAMES, where)

    def _in_files_and_pages(
        self,
        tokens: tuple[str, ...],
        files: frozenset[FileKey],
        matches: Matches,
        vector: Vector,
        where: Filter,
        depth: int,
    ) -> Matches:
        """Return further matches in some files, and those in documentation."""
        places = [replace(where, within=files)] if files else []
        if not where.kinds or "docs" in where.kinds:
            places.append(replace(where, kinds=frozenset({"docs"})))
        known = {evidence.id for evidence in matches.evidence}
        held = (evidence for place in places for evidence in self.index.match(tokens, vector, depth, place).evidence)
        found = {evidence.id: evidence for evidence in held if evidence.id not in known}
        return replace(matches, evidence=tuple(found.values()))

    def _kept(self, matches: Matches, answers: Callable[[Chunk], object]) -> Matches:
        """Return the matches whose chunks answer a form of question."""
        chunks = self.index.fetch([evidence.id for evidence in matches.evidence])
        held = zip(matches.evidence, chunks, strict=True)
        return replace(matches, evidence=tuple(each for each, chunk in held if answers(chunk)))

    def _match(self, query: Question, where: Filter, depth: int) -> Matches:
        matches = self.index.match(query.tokens, self._vector_of(query.text), depth, where)
        self._matched = (query, where, matches)
        return matches

    def _vector_of(self, text: str) -> Vector:
        # Answering searches several times for one question, and the embedder may be a server.
        last = self._last
        if last is None or last[0] != text:
            last = self._last = (text, self.embedder.embed([text])[0])
        return last[1]

    def _closest(
        self, query: Question, matches: Matches, ranked: Sequence[RankedChunk], *, is_prose: bool
    ) -> list[RankedChunk]:
        """Rerank the best passages with signals of their texts."""
        ranked = weigh_comments(query, ranked, self.index.fetch)
        rarity = rarities(query, matches.frequencies, matches.chunks)
        edition = query.edition
        is_in_edition = edition is not None and any(edition.is_file(each.outline.span.path) for each in ranked)
        is_read_whole = query.may_rank_low or is_in_edition
        best = ranked if is_read_whole else ranked[: _READ_FOR_NUMBERS if query.asks_for_number else _READ]
        chunks = self.index.fetch([each.outline.id for each in best])
        settings = meant_settings(query, chunks)
        proximities = [
            proximity(expand_inflections(_words_of(chunk.text), query.tokens), rarity) for chunk in chunks[:_READ]
        ]
        nearest = self._nearest(query.text, [_sentences_of(chunk.text) for chunk in chunks[:_SENTENCES_READ]])
        found = [
            text_signals(query, chunk, near, cosine, is_prose=is_prose, settings=settings, change=change, headed=headed)
            | asked_place_signals(query, chunk)
            | ({"number": number_strength(chunk.text, rarity)} if query.asks_for_number else {})
            for chunk, near, cosine, change, headed in zip(
                chunks,
                chain(proximities, repeat(0.0)),
                chain(nearest, repeat(0.0)),
                self._changes(query, chunks, rarity),
                chain((nearest_heading(query, chunk, rarity) for chunk in chunks[:_READ]), repeat(0.0)),
                strict=False,
            )
        ]
        return [*rerank_passages(best, found), *ranked[len(best) :]]

    def _changes(self, query: Question, chunks: Sequence[Chunk], rarity: Mapping[str, float]) -> list[float]:
        """Return how well each text says the change of a question, from 0 to 1: by words, and the best by meaning."""
        if query.change is None:
            return [0.0] * len(chunks)
        entries = [change_entries(query.change, chunk, rarity) for chunk in chunks]
        strengths = [max((each.strength for each in found), default=0.0) for found in entries]
        best = sorted(filter(strengths.__getitem__, range(len(chunks))), key=lambda n: -strengths[n])[:_READ]
        texts = [
            [
                shown_text(chunks[n].text[each.start : each.end])
                for each in entries[n]
                if each.strength >= _LIKELY_ENTRY * strengths[n]
            ]
            for n in best
        ]
        for n, nearness in zip(best, self._nearest(query.change.topic, texts), strict=True):
            strengths[n] += _MEANT * max(0.0, nearness)
        return [strength / (1 + _MEANT) for strength in strengths]

    def _closest_files(self, query: Question, ranked: Sequence[RankedChunk]) -> list[RankedChunk]:
        """Rerank the best files by the similarity of their paths: `auth/session.py` is about signing in."""
        best = ranked[:_PATHS_READ]
        asked = (
            self._vector_of(query.text) if self._sentences is self.embedder else self._sentences.embed([query.text])[0]
        )
        nearness = [float(self._place(each.outline.span.path) @ asked) for each in best]
        return [*rerank_files(best, nearness), *ranked[len(best) :]]

    def _nearest(self, asked: str, said: Sequence[Sequence[str]]) -> list[float]:
        """Return the cosine of the question with the most similar sentence of each text; 0 without sentences."""
        question, *vectors = self._sentences.embed([asked, *chain.from_iterable(said)])
        cosines = iter([float(vector @ question) for vector in vectors])
        return [max(islice(cosines, len(each)), default=0.0) for each in said]

    def _with_text(self, ranked: Sequence[RankedChunk], limit: int) -> Iterator[RetrievalResult]:
        for start in range(0, len(ranked), limit):
            part = ranked[start : start + limit]
            for each, chunk in zip(part, self.index.fetch([each.outline.id for each in part]), strict=True):
                yield RetrievalResult(chunk, each.score, each.signals)


def _kept_places(embedder: Embedder) -> Callable[[str], Vector]:
    """Return a function that embeds the path of a file, with a cache."""

    @lru_cache(maxsize=_CACHED_PLACES)
    def embed(path: str) -> Vector:
        vector: Vector = embedder.embed([shown_text(" ".join(place_of(path)))])[0]
        return vector

    return embed


@lru_cache(maxsize=_CACHED_TEXTS)
def _words_of(text: str) -> tuple[str, ...]:
    return tuple(tokenize(text))


@lru_cache(maxsize=_CACHED_TEXTS)
def _sentences_of(text: str) -> tuple[str, ...]:
    return tuple(shown_text(text[start:end]) for start, end in sentences(text))
