"""What every engine must find, and in which order. `test_index.py` has what it must keep."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from openbook.index.protocol import Index, Root, Terms
from openbook.retrieval.tokens import tokenize
from openbook.types import Filter
from tests.support import DIM, EVERYTHING, document, entry, everything, paths, put, stamp, vector

Connect = Callable[[], Index]

WORDS = ("ash", "birch", "cedar", "elm", "fir", "larch", "oak", "pine", "yew")

# More than a sort that is not stable leaves in order by chance.
IN_ORDER = sorted(["B.md", "a.md", "a/b.md", "e.md", "ä.md", *(f"c/{number}.md" for number in range(40))])
TIED = random.Random(0).sample(IN_ORDER, len(IN_ORDER))


def test_a_chunk_that_shares_no_token_is_absent(index: Index) -> None:
    put(index, "a.md", "red fox")
    put(index, "b.md", "red hen")

    assert paths(index, index.lexical(["fox", "cow"], 5, EVERYTHING)) == ["a.md"]
    assert index.lexical(["cow"], 5, EVERYTHING) == []
    assert index.lexical([], 5, EVERYTHING) == []


@pytest.mark.parametrize("field", ["path", "names", "context", "body"])
def test_words_are_found_in_every_field(index: Index, field: str) -> None:
    whole = document(text="text")

    index.put(whole, [entry(whole, terms=Terms(**{field: ("red", "fox")}))], stamp())

    assert paths(index, index.lexical(["fox"], 5, EVERYTHING)) == ["a.md"]
    assert index.frequencies(["fox"]) == {"fox": 1}


def test_words_rank_as_a_reference_of_bm25_does(index: Index) -> None:
    chance = random.Random(1)
    texts = {f"{number:03}.md": chance.choices(WORDS, k=chance.randint(1, 40)) for number in range(40)}
    # Of a word in more than half of the chunks, engines disagree whether it counts at all.
    texts |= {f"{number:03}.md": ["moss"] * chance.randint(1, 40) for number in range(40, 400)}
    for path, words in texts.items():
        put(index, path, " ".join(words))

    for query in ("ash", "birch cedar", "oak oak pine", "yew larch fir elm"):
        hits = index.lexical(query.split(), 1000, EVERYTHING)

        expected = bm25(texts, set(query.split()))
        assert paths(index, hits) == sorted(expected, key=lambda path: (-expected[path], path))
        assert [hit.score for hit in hits] == pytest.approx(sorted(expected.values(), reverse=True))


def test_at_most_k_are_found_and_they_are_the_best(index: Index) -> None:
    chance = random.Random(2)
    for number in range(60):
        put(index, f"{number}.md", " ".join(chance.choices(WORDS, k=12)), vector=near(chance))

    lexical, dense = index.lexical(["oak", "yew"], 1000, EVERYTHING), index.dense(vector(1), 1000, EVERYTHING)

    for k in (0, 1, 7, len(lexical)):
        assert index.lexical(["oak", "yew"], k, EVERYTHING) == lexical[:k]
        assert index.dense(vector(1), k, EVERYTHING) == dense[:k]


@pytest.mark.parametrize("k", [1, 2, 3, 20, 44, 45, 100])
def test_ties_are_ordered_by_place_however_they_were_put_and_wherever_the_cut_is(index: Index, k: int) -> None:
    near_one, far_one = near(random.Random(3)), near(random.Random(4))
    loud, quiet = IN_ORDER[::3], [path for path in IN_ORDER if path not in IN_ORDER[::3]]
    for path in TIED:
        is_loud = path in loud
        put(index, path, "word word" if is_loud else "word", vector=far_one if is_loud else near_one)

    lexical = paths(index, index.lexical(["word"], k, EVERYTHING))
    dense = paths(index, index.dense(near_one, k, EVERYTHING))

    assert lexical == (loud + quiet)[:k]
    assert dense == (quiet + loud)[:k]


def test_ties_are_ordered_by_source_before_path_and_by_characters_within_a_document(index: Index) -> None:
    direction = near(random.Random(5))
    for source in ("t", "s", "S"):
        whole = document(text="word\nword\nword\n", source=source)
        index.put(whole, [entry(whole, start, start + 4, vector=direction) for start in (10, 0, 5)], stamp())

    for hits in (index.lexical(["word"], 8, EVERYTHING), index.dense(direction, 8, EVERYTHING)):
        chunks = [found.chunk for found in index.fetch([hit.id for hit in hits])]

        places = [(chunk.source, chunk.span.start_char) for chunk in chunks]
        assert places == [(source, start) for source in ("S", "s", "t") for start in (0, 5, 10)][:8]


@pytest.mark.parametrize("count", [3, 7, 50, 101])
def test_equal_vectors_are_equally_close_wherever_they_are_stored(index: Index, count: int) -> None:
    chance = random.Random(6)
    direction = near(chance)
    whole = document(text="x" * count)

    index.put(whole, [entry(whole, at, at + 1, vector=direction) for at in range(count)], stamp())

    assert len({hit.score for hit in index.dense(near(chance), count, EVERYTHING)}) == 1


@pytest.mark.parametrize(
    ("where", "found"),
    [
        pytest.param(Filter(kinds=frozenset({"code"})), ["z.py"], id="kind"),
        pytest.param(Filter(globs=("*.py",)), ["z.py"], id="glob"),
        pytest.param(Filter(sources=frozenset({"t"})), ["z.py"], id="source"),
        pytest.param(Filter(kinds=frozenset({"docs"}), globs=("*.py",)), [], id="all-must-hold"),
        pytest.param(Filter(sources=frozenset({"gone"})), [], id="nothing-left"),
    ],
)
def test_a_filter_applies_before_the_cut(index: Index, where: Filter, found: list[str]) -> None:
    for number in range(50):
        put(index, f"{number:02}.md", "word word", vector=vector(1))
    put(index, "z.py", "word and more", source="t", kind="code", vector=vector(0.1, 1))

    assert paths(index, index.lexical(["word"], 1, where)) == found
    assert paths(index, index.dense(vector(1), 1, where)) == found


def test_a_filter_changes_neither_scores_nor_order(index: Index) -> None:
    chance = random.Random(7)
    for number in range(30):
        source = "s" if number % 3 else "t"
        put(index, f"{number}.md", " ".join(chance.choices(WORDS, k=9)), source=source, vector=near(chance))
    where = Filter(sources=frozenset({"s"}))

    lexical = [index.lexical(["oak", "fir"], 100, either) for either in (EVERYTHING, where)]
    dense = [index.dense(vector(1), 100, either) for either in (EVERYTHING, where)]

    for unfiltered, filtered in (lexical, dense):
        assert filtered == [hit for hit in unfiltered if index.fetch([hit.id])[0].chunk.source == "s"]


def test_cosine_is_exact_but_for_eight_bits_a_dimension(index: Index) -> None:
    numbers = np.random.default_rng(8)
    rows = numbers.standard_normal((200, DIM)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    whole = document(text="x" * len(rows))
    index.put(whole, [entry(whole, at, at + 1, vector=row) for at, row in enumerate(rows)], stamp())
    question = numbers.standard_normal(DIM).astype(np.float32) * 7  # the length of a question says nothing

    hits = index.dense(question, len(rows), EVERYTHING)

    cosines = rows @ question / np.linalg.norm(question)
    found = [cosines[item.chunk.span.start_char] for item in index.fetch([hit.id for hit in hits])]
    assert len(found) == len(rows)
    assert [hit.score for hit in hits] == pytest.approx(found, abs=0.01)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_zero_vectors_are_absent_and_find_nothing(index: Index) -> None:
    put(index, "a.md", vector=vector())
    put(index, "b.md", vector=vector(-1))

    assert paths(index, index.dense(vector(1), 5, EVERYTHING)) == ["b.md"]
    assert index.dense(vector(), 5, EVERYTHING) == []


@pytest.mark.parametrize("own", [True, False], ids=["this-connection", "another-connection"])
def test_what_was_written_is_found_at_once(index: Index, connect: Connect, own: bool) -> None:
    put(index, "a.md", "word", vector=vector(1))
    assert paths(index, index.dense(vector(1), 5, EVERYTHING)) == ["a.md"]
    writer = index if own else connect()

    put(writer, "b.md", "word", vector=vector(1))
    writer.delete("s", "a.md")

    assert paths(index, index.dense(vector(1), 5, EVERYTHING)) == ["b.md"]
    assert paths(index, index.lexical(["word"], 5, EVERYTHING)) == ["b.md"]
    assert index.frequencies(["word"]) == {"word": 1}


def test_frequencies_count_chunks_not_words(index: Index) -> None:
    whole = document(text="fox fox hen")
    index.put(whole, [entry(whole, 0, 7), entry(whole, 8), entry(whole, 4)], stamp())
    put(index, "b.md", "fox", source="t")

    assert index.frequencies(["fox", "hen", "cow", "fox"]) == {"fox": 3, "hen": 2}

    index.delete("s", "a.md")
    assert index.frequencies(["fox", "hen"]) == {"fox": 1}


@pytest.mark.parametrize(
    "text",
    [
        "向量索引在哪里",
        "검색어를",
        "ค้นหา",
        "naïve Größe ΑΒΓ",
        "get_user __init__ _x HTTP2",
        "x²  ½ ﬁ İ",
        "e\u0301t\u0327",
    ],
)
def test_every_token_that_we_make_is_found_and_counted_as_it_is(index: Index, text: str) -> None:
    whole = document(text=text)
    index.put(whole, [entry(whole, terms=Terms(body=tuple(tokenize(text))))], stamp())
    put(index, "b.md", "moss")

    tokens = tokenize(text)

    assert tokens
    assert index.frequencies(tokens) == dict.fromkeys(tokens, 1)
    for token in tokens:
        assert paths(index, index.lexical([token], 5, EVERYTHING)) == ["a.md"]


@pytest.mark.parametrize(
    "token", ["😀", "it's", 'say"so"', "and", "or", "not", "near", "c++", "a*", "body:a", "-a", "^a"]
)
def test_a_token_of_odd_characters_is_found_and_is_no_command(index: Index, token: str) -> None:
    put(index, "a.md", token)
    put(index, "b.md", "moss")

    assert paths(index, index.lexical([token], 5, EVERYTHING)) == ["a.md"]


def test_an_underscore_belongs_to_its_token(index: Index) -> None:
    put(index, "a.md", "_x")
    put(index, "b.md", "x")

    assert paths(index, index.lexical(["_x"], 5, EVERYTHING)) == ["a.md"]
    assert index.frequencies(["_x", "x"]) == {"_x": 1, "x": 1}


@pytest.mark.parametrize("token", ['"', '""', "'", "(", ")", "*", ":", "^", "NEAR(", "a OR b", "\\", "--", ";", "{}"])
def test_a_token_of_marks_alone_is_no_error(index: Index, token: str) -> None:
    put(index, "a.md", "moss")

    assert index.lexical([token], 5, EVERYTHING) == []


def test_optimizing_and_opening_again_change_no_result(index: Index, connect: Connect) -> None:
    chance = random.Random(9)
    index.put_root(Root("s", "folder", "/s", 1.5))
    for number in range(200):
        put(index, f"{number % 60}.md", " ".join(chance.choices(WORDS, k=20)), vector=near(chance))
    index.skip("s", "x.bin", stamp(), "binary")
    before = everything(index, WORDS, vector(1))

    index.optimize()
    after = everything(index, WORDS, vector(1))
    index.close()
    again = everything(connect(), WORDS, vector(1))

    assert after == before
    assert again == before


def bm25(texts: Mapping[str, Sequence[str]], query: set[str], k1: float = 1.2, b: float = 0.75) -> dict[str, float]:
    """Score the texts that share a word with the query, as Robertson and Zaragoza (2009) write it down."""
    mean = sum(map(len, texts.values())) / len(texts)
    scores: defaultdict[str, float] = defaultdict(float)
    for word in query:
        holders = [path for path, words in texts.items() if word in words]
        rarity = math.log((len(texts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for path in holders:
            often = texts[path].count(word)
            scores[path] += rarity * often * (k1 + 1) / (often + k1 * (1 - b + b * len(texts[path]) / mean))
    return dict(scores)


def near(chance: random.Random) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return vector(1, *(chance.uniform(-1, 1) for _ in range(DIM - 1)))
