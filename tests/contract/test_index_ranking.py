"""The contract of engines: scores, compared with references in plain Python, whatever was written before."""

from __future__ import annotations

import contextlib
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openbook.index.protocol import Evidence, Index, Terms
from openbook.types import Filter
from tests.support import DIM, EVERYTHING, answers, document, entry, lexical, paths, put, stamp, vector

Fresh = Callable[[], Index]
Place = tuple[str, int]

WORDS = ("ash", "birch", "cedar", "elm", "fir", "larch", "oak", "pine", "yew", "größe", "量索", "😀")
MAX_COUNT, MAX_LENGTH = 255, 65_535


@dataclass(frozen=True)
class Formula:
    """BM25F parameters: weights of path, names, context and body, dilution, and saturation."""

    weights: tuple[float, ...]
    dilution: tuple[float, ...]
    saturation: float


OF_CHUNKS = Formula((1.0, 1.5, 0.7, 1.0), (0.5, 0.3, 0.3, 0.7), 1.0)
OF_FILES = Formula((3.0, 2.0, 0.0, 1.0), (0.5, 0.5, 0.5, 0.75), 4.0)


@pytest.mark.slow
def test_words_rank_as_a_reference_of_bm25f_does(index: Index) -> None:
    chance = random.Random(1)
    library = {f"{number:03}.md": make_terms(chance, chance.randint(1, 5)) for number in range(150)}
    with index.batch():
        for path, chunks in library.items():
            put_terms(index, path, chunks)

    for question in (["ash"], ["birch", "cedar"], ["oak", "pine", "moss"], list(WORDS)):
        evidence = by_place(index, index.match(question, None, 1000, EVERYTHING).evidence)

        check_scores(evidence, library, question)


@pytest.mark.slow
def test_counts_above_the_limit_score_like_the_limit(index: Index) -> None:
    library = {
        "a.md": [Terms(body=("oak",) * MAX_COUNT), Terms(body=("oak",) * 300)],
        "b.md": [
            Terms(("oak",) * 1000, ("oak",) * 256, ("oak",) * 70_000, ("oak",)),
            Terms(("oak",) * 1000, ("elm",) * 80_000),
        ],
        "c.md": [Terms(body=("oak", *["elm"] * MAX_LENGTH)), Terms(body=("oak", *["elm"] * 90_000))],
    }
    for path, chunks in library.items():
        put_terms(index, path, chunks)

    evidence = by_place(index, index.match(["oak"], None, 100, EVERYTHING).evidence)

    check_scores(evidence, library, ["oak"])


@pytest.mark.slow
def test_each_bit_says_whether_a_chunk_contains_a_word_and_the_rarest_comes_first(index: Index) -> None:
    put(index, "a.md", "oak elm fir")
    put(index, "b.md", "oak elm")
    put(index, "c.md", "oak ash")
    put(index, "d.md", "yew", vector=vector(1))

    matches = index.match(["oak", "moss", "elm", "fir", "ash", "elm"], vector(1), 10, EVERYTHING)

    assert matches.tokens == ("ash", "fir", "elm", "oak")
    assert matches.frequencies == {"oak": 3, "elm": 2, "fir": 1, "ash": 1}
    assert [found.matched for found in matches.evidence] == [0b1110, 0b1100, 0b1001, 0]
    assert [found.bm25 > 0 for found in matches.evidence] == [True, True, True, False]
    assert matches.chunks == 4


@pytest.mark.slow
def test_of_many_words_the_48_rarest_are_looked_up(index: Index) -> None:
    names = [f"word{number:02}" for number in range(60)]
    with index.batch():
        for number in range(60):
            put(index, f"{number:02}.md", " ".join(names[number:]))  # word00 in one chunk, word59 in all

    matches = index.match(names[::-1], None, 1000, EVERYTHING)

    assert matches.tokens == tuple(names[:48])
    assert matches.frequencies == {name: number for number, name in enumerate(names, start=1)}
    assert paths(index, lexical(index, names, 1000)) == sorted(f"{number:02}.md" for number in range(48))
    assert [found.matched.bit_count() for found in matches.evidence] == list(range(48, 0, -1))
    assert matches.evidence[0].matched == (1 << 48) - 1


def test_of_equally_rare_words_the_first_of_the_alphabet_are_looked_up(index: Index) -> None:
    names = [f"word{number:02}" for number in range(60)]
    put(index, "a.md", " ".join(names))

    matches = index.match(random.Random(2).sample(names, 60), None, 10, EVERYTHING)

    assert matches.tokens == tuple(names[:48])


@pytest.mark.slow
def test_the_best_chunks_come_with_those_of_the_best_files(index: Index) -> None:
    chance = random.Random(3)
    with index.batch():
        for number in range(70):
            chunks = make_terms(chance, 45 if number % 9 == 0 else chance.randint(1, 6))
            put_terms(index, f"{number}.md", chunks, chance)

    for where in (EVERYTHING, Filter(globs=("[0-4]*.md",))):
        whole = index.match(["oak", "yew", "fir"], vector(1, 0.5), 10_000, where).evidence
        path_of = dict(zip((each.id for each in whole), paths(index, whole), strict=True))
        assert len({(path_of[each.id], each.file_bm25) for each in whole}) == len(set(path_of.values()))

        for k in (0, 1, 3, 8, 60, 100, 1000):
            found = index.match(["oak", "yew", "fir"], vector(1, 0.5), k, where).evidence

            best = chosen(whole, path_of, k)
            assert list(found) == [each for each in whole if each.id in best], k


@pytest.mark.slow
def test_the_best_file_brings_chunks_that_share_no_word_but_none_without_a_vector_either(index: Index) -> None:
    whole = document("a.md", "oak elm fir")
    index.put(whole, [entry(whole, 0, 3), entry(whole, 4, 7, vector=vector(-1)), entry(whole, 8, 11)], stamp())
    put(index, "b.md", "elm", vector=vector(1))

    evidence = index.match(["oak"], vector(1), 1, EVERYTHING).evidence

    chunks = index.fetch([found.id for found in evidence])
    assert [(chunk.span.path, chunk.text) for chunk in chunks] == [("a.md", "oak"), ("a.md", "elm"), ("b.md", "elm")]
    assert [found.cosine for found in evidence] == pytest.approx([0, -1, 1])
    assert [found.file_bm25 > 0 for found in evidence] == [True, True, False]


@pytest.mark.slow
def test_the_median_is_that_of_all_vectors_that_the_filter_lets_through(index: Index) -> None:
    for number, direction in enumerate([vector(1), vector(0, 1), vector(-1), vector(1), vector()]):
        put(index, f"{number}.md", vector=direction)

    medians = [
        index.match(["word"], asked, 1, where).median_cosine
        for asked in (vector(1), None, vector())
        for where in (EVERYTHING, Filter(globs=("[0-2].md",)), Filter(globs=("4.md",)))
    ]

    assert medians == pytest.approx([0.5, 0, 0, 0, 0, 0, 0, 0, 0])


PATHS = ("a.md", "b.md", "b/c.md", "ä.md")
CHANGES = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(PATHS), st.integers(0, 9)),
    st.tuples(st.just("delete"), st.sampled_from(PATHS), st.just(0)),
    st.tuples(st.just("skip"), st.sampled_from(PATHS), st.just(0)),
    st.tuples(st.just("search"), st.just(""), st.just(0)),
)
BATCHES = st.lists(
    st.tuples(st.lists(CHANGES, max_size=5), st.sampled_from(["", "undone", "optimize", "every"])), min_size=2
)


@pytest.mark.slow
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=BATCHES)
def test_after_any_changes_an_index_answers_like_a_fresh_one(
    fresh: Fresh, batches: list[tuple[list[tuple[str, str, int]], str]]
) -> None:
    old, new = fresh(), fresh()
    kept: dict[str, int] = {}

    for changes, end in batches:
        before = dict(kept)
        with contextlib.suppress(ZeroDivisionError):
            write(old, changes, kept, undo=end == "undone")
        if end == "undone":
            kept = before
        elif end:
            old.optimize(every=end == "every")
    with new.batch():
        for path in sorted(kept):
            put_made(new, path, kept[path])

    for k, where in ((1000, EVERYTHING), (2, EVERYTHING), (1000, Filter(globs=("*b*",)))):
        assert answers(old, WORDS, vector(1, 0.5), k, where) == answers(new, WORDS, vector(1, 0.5), k, where)
    assert old.frequencies(WORDS) == new.frequencies(WORDS)
    old.close()
    new.close()


def write(index: Index, changes: Iterable[tuple[str, str, int]], kept: dict[str, int], *, undo: bool) -> None:
    with index.batch():
        for change, path, seed in changes:
            kept.pop(path, None)
            if change == "put":
                put_made(index, path, seed)
                kept[path] = seed
            elif change == "delete":
                index.delete("s", path)
            elif change == "skip":
                index.skip("s", path, stamp(), "binary")
            else:
                index.match(WORDS, vector(1), 5, EVERYTHING)
        if undo:
            raise ZeroDivisionError


def put_made(index: Index, path: str, seed: int) -> None:
    chance = random.Random(f"{path} {seed}")
    put_terms(index, path, make_terms(chance, seed % 4), chance)


def make_terms(chance: random.Random, count: int) -> list[Terms]:
    """Make the words of the chunks of a file."""
    path = some_words(chance, 3)
    return [Terms(path, some_words(chance, 2), some_words(chance, 4), some_words(chance, 40)) for _ in range(count)]


def some_words(chance: random.Random, most: int) -> tuple[str, ...]:
    often = [1 / number for number in range(1, len(WORDS) + 1)]
    return tuple(chance.choices(WORDS, often, k=chance.randint(0, most)))


def put_terms(index: Index, path: str, chunks: Sequence[Terms], chance: random.Random | None = None) -> None:
    """Store a document with a chunk of one character for each of `chunks`, and a vector if left to chance."""
    whole = document(path, "x" * len(chunks))
    entries = [
        entry(whole, at, at + 1, terms=terms, vector=vector(*(chance.uniform(-1, 1) for _ in range(DIM))))
        if chance and chance.random() > 0.2
        else entry(whole, at, at + 1, terms=terms)
        for at, terms in enumerate(chunks)
    ]
    index.put(whole, entries, stamp())


def by_place(index: Index, evidence: Sequence[Evidence]) -> dict[Place, Evidence]:
    outlines = index.outlines([found.id for found in evidence])
    return {
        (outline.span.path, outline.span.start_char): found
        for outline, found in zip(outlines, evidence, strict=True)
        if found.matched
    }


def check_scores(
    evidence: Mapping[Place, Evidence], library: Mapping[str, Sequence[Terms]], question: Sequence[str]
) -> None:
    of_chunks, of_files = bm25f(library, question)
    expected = {place: of_files[place[0]] for place in of_chunks}
    assert {place: found.bm25 for place, found in evidence.items()} == pytest.approx(of_chunks, rel=1e-5)
    assert {place: found.file_bm25 for place, found in evidence.items()} == pytest.approx(expected, rel=1e-5)


def chosen(whole: Sequence[Evidence], path_of: Mapping[int, str], k: int) -> set[int]:
    """Select the evidence for the best `k` results, by the protocol."""
    by_words = sorted((each for each in whole if each.matched), key=lambda each: -each.bm25)
    by_nearness = sorted((each for each in whole if each.cosine), key=lambda each: -each.cosine)
    files: defaultdict[str, list[Evidence]] = defaultdict(list)
    for each in whole:
        files[path_of[each.id]].append(each)
    good = [file for file in files.values() if any(each.matched for each in file)]
    ids = {each.id for each in by_words[:k] + by_nearness[:k]}
    for rank, file in enumerate(sorted(good, key=lambda file: -file[0].file_bm25)[: min(k, 50)]):
        best = sorted(file, key=lambda each: -each.bm25)
        ids.update(each.id for each in best[: 30 if rank < 5 else 1])
    return ids


def bm25f(
    library: Mapping[str, Sequence[Terms]], question: Sequence[str]
) -> tuple[dict[Place, float], dict[str, float]]:
    """Score the chunks and files that contain a word of the question."""
    chunks = {(path, at): terms for path, file in library.items() for at, terms in enumerate(file)}
    lengths = {place: [min(len(field), MAX_LENGTH) for field in terms] for place, terms in chunks.items()}
    files = {path: merged([lengths[path, at] for at in range(len(file))]) for path, file in library.items()}
    of_chunks: defaultdict[Place, float] = defaultdict(float)
    of_files: defaultdict[str, float] = defaultdict(float)
    for word in question:
        counts = {
            place: [min(field.count(word), MAX_COUNT) for field in terms]
            for place, terms in chunks.items()
            if any(word in field for field in terms)
        }
        in_files: defaultdict[str, list[list[int]]] = defaultdict(list)
        for (path, _), found in counts.items():
            in_files[path].append(found)
        rarity = math.log(1 + (max(len(chunks), 100) - len(counts) + 0.5) / (len(counts) + 0.5))
        for place, found in counts.items():
            of_chunks[place] += rarity * saturated(OF_CHUNKS, found, lengths[place], list(lengths.values()))
        for path, parts in in_files.items():
            of_files[path] += rarity * saturated(OF_FILES, merged(parts), files[path], list(files.values()))
    return dict(of_chunks), dict(of_files)


def merged(chunks: Sequence[Sequence[int]]) -> list[int]:
    """Sum the fields of the chunks of a file. All have the same path, which counts once."""
    return [chunks[-1][0], *(sum(field) for field in list(zip(*chunks, strict=True))[1:])]


def saturated(formula: Formula, counts: Sequence[int], lengths: Sequence[int], all_lengths: list[list[int]]) -> float:
    total = 0.0
    for field, count in enumerate(counts):
        if count:
            mean = sum(each[field] for each in all_lengths) / len(all_lengths)
            dilution = formula.dilution[field]
            total += formula.weights[field] * count / (1 - dilution + dilution * lengths[field] / mean)
    return total / (formula.saturation + total)
