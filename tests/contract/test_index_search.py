"""The contract of engines: results and their order. `test_index.py` has storing."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from openbook.index.protocol import Index, Outline, Source, Terms
from openbook.tokens import tokenize
from openbook.types import Filter, Lesson
from tests.support import (
    DIM,
    EVERYTHING,
    dense,
    document,
    entry,
    everything,
    hit_ids,
    lexical,
    paths,
    put,
    stamp,
    vector,
)

Connect = Callable[[], Index]

WORDS = ("ash", "birch", "cedar", "elm", "fir", "larch", "oak", "pine", "yew")

# More than a sort that is not stable leaves in order by chance.
IN_ORDER = sorted(["B.md", "a.md", "a/b.md", "e.md", "ä.md", *(f"c/{number}.md" for number in range(40))])
TIED = random.Random(0).sample(IN_ORDER, len(IN_ORDER))


@pytest.mark.slow
def test_a_chunk_that_shares_no_token_is_absent(index: Index) -> None:
    put(index, "a.md", "red fox")
    put(index, "b.md", "red hen")

    assert paths(index, lexical(index, ["fox", "cow"], 5)) == ["a.md"]
    assert lexical(index, ["cow"], 5) == []
    assert lexical(index, [], 5) == []


@pytest.mark.slow
def test_words_are_found_in_every_field(index: Index) -> None:
    animals = {"path": "fox", "names": "hen", "context": "cow", "body": "owl"}
    with index.batch():
        for field, animal in animals.items():
            whole = document(f"{field}.md", "text")
            index.put(whole, [entry(whole, terms=Terms(**{field: ("red", animal)}))], stamp())

    found = {animal: paths(index, lexical(index, [animal], 5)) for animal in animals.values()}

    assert found == {animal: [f"{field}.md"] for field, animal in animals.items()}
    assert index.frequencies(["red", *found]) == {"red": 4} | dict.fromkeys(found, 1)


@pytest.mark.slow
def test_at_most_k_are_found_and_they_are_the_best(index: Index) -> None:
    chance = random.Random(2)
    with index.batch():
        for number in range(60):
            put(index, f"{number}.md", " ".join(chance.choices(WORDS, k=12)), vector=near(chance))

    by_words, by_nearness = lexical(index, ["oak", "yew"], 1000), dense(index, vector(1), 1000)

    for k in (0, 1, 7, len(by_words)):
        assert lexical(index, ["oak", "yew"], k) == by_words[:k]
        assert dense(index, vector(1), k) == by_nearness[:k]


@pytest.mark.slow
def test_ties_are_ordered_by_place_however_they_were_put_and_wherever_the_cut_is(index: Index) -> None:
    near_one, far_one = near(random.Random(3)), near(random.Random(4))
    loud, quiet = IN_ORDER[::3], [path for path in IN_ORDER if path not in IN_ORDER[::3]]
    with index.batch():
        for path in TIED:
            is_loud = path in loud
            put(index, path, "word word" if is_loud else "word", vector=far_one if is_loud else near_one)

    for k in (1, 2, 3, 20, 44, 45, 100):
        by_words = paths(index, lexical(index, ["word"], k))
        by_nearness = paths(index, dense(index, near_one, k))

        assert by_words == (loud + quiet)[:k]
        assert by_nearness == (quiet + loud)[:k]


@pytest.mark.slow
def test_ties_are_ordered_by_source_before_path_and_by_characters_within_a_document(index: Index) -> None:
    direction = near(random.Random(5))
    for source in ("t", "s", "S"):
        whole = document(text="word\nword\nword\n", source=source)
        index.put(whole, [entry(whole, start, start + 4, vector=direction) for start in (10, 0, 5)], stamp())

    for hits in (lexical(index, ["word"], 8), dense(index, direction, 8)):
        chunks = index.fetch([hit.id for hit in hits])

        places = [(chunk.source, chunk.span.start_char) for chunk in chunks]
        assert places == [(source, start) for source in ("S", "s", "t") for start in (0, 5, 10)][:8]


@pytest.mark.parametrize("count", [3, 7, 50, 101])
def test_equal_vectors_are_equally_close_wherever_they_are_stored(index: Index, count: int) -> None:
    chance = random.Random(6)
    direction = near(chance)
    whole = document(text="x" * count)

    index.put(whole, [entry(whole, at, at + 1, vector=direction) for at in range(count)], stamp())

    assert len({hit.score for hit in dense(index, near(chance), count)}) == 1


@pytest.mark.slow
def test_a_filter_applies_before_the_cut(index: Index) -> None:
    expected = {
        Filter(kinds=frozenset({"code"})): ["z.py"],
        Filter(globs=("*.py",)): ["z.py"],
        Filter(sources=frozenset({"t"})): ["z.py"],
        Filter(kinds=frozenset({"docs"}), globs=("*.py",)): [],
        Filter(sources=frozenset({"gone"})): [],
    }
    with index.batch():
        for number in range(50):
            put(index, f"{number:02}.md", "word word", vector=vector(1))
    put(index, "z.py", "word and more", source="t", kind="code", vector=vector(0.1, 1))

    assert {where: paths(index, lexical(index, ["word"], 1, where)) for where in expected} == expected
    assert {where: paths(index, dense(index, vector(1), 1, where)) for where in expected} == expected


@pytest.mark.slow
def test_a_filter_changes_neither_scores_nor_order(index: Index) -> None:
    chance = random.Random(7)
    with index.batch():
        for number in range(30):
            source = "s" if number % 3 else "t"
            put(index, f"{number}.md", " ".join(chance.choices(WORDS, k=9)), source=source, vector=near(chance))
    where = Filter(sources=frozenset({"s"}))

    by_words = [lexical(index, ["oak", "fir"], 100, either) for either in (EVERYTHING, where)]
    by_nearness = [dense(index, vector(1), 100, either) for either in (EVERYTHING, where)]

    for unfiltered, filtered in (by_words, by_nearness):
        assert filtered == [hit for hit in unfiltered if index.fetch([hit.id])[0].source == "s"]


@pytest.mark.slow
def test_cosine_is_exact_but_for_eight_bits_a_dimension(index: Index) -> None:
    numbers = np.random.default_rng(8)
    rows = numbers.standard_normal((200, DIM)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    whole = document(text="x" * len(rows))
    index.put(whole, [entry(whole, at, at + 1, vector=row) for at, row in enumerate(rows)], stamp())
    question = numbers.standard_normal(DIM).astype(np.float32) * 7  # the length of a question says nothing

    hits = dense(index, question, len(rows))

    cosines = rows @ question / np.linalg.norm(question)
    found = [cosines[item.span.start_char] for item in index.fetch([hit.id for hit in hits])]
    assert len(found) == len(rows)
    assert [hit.score for hit in hits] == pytest.approx(found, abs=0.01)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.slow
def test_zero_vectors_are_absent_and_find_nothing(index: Index) -> None:
    put(index, "a.md", vector=vector())
    put(index, "b.md", vector=vector(-1))

    assert paths(index, dense(index, vector(1), 5)) == ["b.md"]
    assert dense(index, vector(), 5) == []


@pytest.mark.slow
@pytest.mark.parametrize("own", [True, False], ids=["this-connection", "another-connection"])
def test_what_was_written_is_found_at_once(index: Index, connect: Connect, own: bool) -> None:
    put(index, "a.md", "word", vector=vector(1))
    assert paths(index, dense(index, vector(1), 5)) == ["a.md"]
    writer = index if own else connect()

    put(writer, "b.md", "word", vector=vector(1))
    writer.delete("s", "a.md")

    assert paths(index, dense(index, vector(1), 5)) == ["b.md"]
    assert paths(index, lexical(index, ["word"], 5)) == ["b.md"]
    assert index.frequencies(["word"]) == {"word": 1}


@pytest.mark.slow
def test_frequencies_count_chunks_not_words(index: Index) -> None:
    whole = document(text="fox fox hen")
    index.put(whole, [entry(whole, 0, 7), entry(whole, 8), entry(whole, 4)], stamp())
    put(index, "b.md", "fox", source="t")

    assert index.frequencies(["fox", "hen", "cow", "fox"]) == {"fox": 3, "hen": 2}

    index.delete("s", "a.md")
    assert index.frequencies(["fox", "hen"]) == {"fox": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(["向量索引在哪里", "검색어를", "ค้นหา"], id="without-spaces"),
        pytest.param(
            ["naïve Größe ΑΒΓ", "get_user __init__ _x HTTP2", "x²  ½ ﬁ İ", "e\u0301t\u0327"], id="with-spaces"
        ),
    ],
)
def test_every_token_of_the_tokenizer_is_found_and_counted(index: Index, texts: list[str]) -> None:
    tokens_of = {f"{number}.md": tuple(tokenize(text)) for number, text in enumerate(texts)}
    with index.batch():
        put(index, "moss.md", "moss")
        for path, tokens in tokens_of.items():
            whole = document(path, "text")
            index.put(whole, [entry(whole, terms=Terms(body=tokens))], stamp())

    for path, tokens in tokens_of.items():
        assert tokens
        assert index.frequencies(tokens) == dict.fromkeys(tokens, 1)
        assert [paths(index, lexical(index, [token], 5)) for token in tokens] == [[path]] * len(tokens)


@pytest.mark.slow
def test_a_token_of_special_characters_is_found_and_is_no_query_syntax(index: Index) -> None:
    tokens = ["😀", "it's", 'say"so"', "and", "or", "not", "near", "c++", "a*", "body:a", "-a", "^a"]
    file_of = {token: f"{number}.md" for number, token in enumerate(tokens)}
    with index.batch():
        put(index, "moss.md", "moss a")
        for token, file in file_of.items():
            put(index, file, token)

    found = {token: paths(index, lexical(index, [token], 50)) for token in tokens}

    assert found == {token: [file] for token, file in file_of.items()}


def test_an_underscore_belongs_to_its_token(index: Index) -> None:
    put(index, "a.md", "_x")
    put(index, "b.md", "x")

    assert paths(index, lexical(index, ["_x"], 5)) == ["a.md"]
    assert index.frequencies(["_x", "x"]) == {"_x": 1, "x": 1}


@pytest.mark.slow
def test_a_token_of_marks_alone_is_no_error(index: Index) -> None:
    put(index, "a.md", "moss")

    for token in ('"', '""', "'", "(", ")", "*", ":", "^", "NEAR(", "a OR b", "\\", "--", ";", "{}"):
        assert lexical(index, [token], 5) == [], token


@pytest.mark.slow
@pytest.mark.parametrize("every", [True, False])
def test_optimizing_and_opening_again_change_no_result(index: Index, connect: Connect, every: bool) -> None:
    chance = random.Random(9)
    index.put_root(Source("s", "folder", "/s", 1.5))
    for first in range(0, 60, 5):  # more commits than an engine keeps as they are
        with index.batch():
            for number in range(first, first + 5):
                put(index, f"{number % 25}.md", " ".join(chance.choices(WORDS, k=20)), vector=near(chance))
    index.skip("s", "x.bin", stamp(), "binary")
    before = everything(index, WORDS, vector(1))

    index.optimize(every=every)
    after = everything(index, WORDS, vector(1))
    index.close()
    again = everything(connect(), WORDS, vector(1))

    assert after == before
    assert again == before


def test_an_outline_is_a_chunk_without_its_text(index: Index) -> None:
    whole = document("a.py", "def f(): 1\nclass Größe: 2\n", kind="code")
    fields: dict[str, Any] = {
        "symbol": "C.f",
        "defines": ("f", "Größe"),
        "signature": "def f()",
        "context": ("1. Größe",),
        "is_generated": True,
    }
    full = entry(whole, 0, 10, **fields, docstring="Long.", anchor="cell 3", lesson=Lesson("Course", 0))
    plain = entry(whole, 11)

    index.put(whole, [full, plain], stamp())

    ids = hit_ids(index, "def") + hit_ids(index, "2")
    assert index.outlines(ids) == [
        Outline(ids[0], "s", full.chunk.span, "code", "markdown", **fields),
        Outline(ids[1], "s", plain.chunk.span, "code", "markdown", "", (), "", ()),
    ]
    assert index.outlines(ids) == index.outlines(ids[::-1])[::-1]


@pytest.mark.slow
@pytest.mark.parametrize("own", [True, False], ids=["this-connection", "another-connection"])
def test_a_deleted_chunk_has_no_outline_even_if_it_was_read_before(index: Index, connect: Connect, own: bool) -> None:
    put(index, "a.md", "word old")
    put(index, "b.md", "word")
    ids = hit_ids(index, "word")
    assert [outline.span.path for outline in index.outlines(sorted(ids))] == ["a.md", "b.md"]
    writer = index if own else connect()

    put(writer, "a.md", "word new")

    assert [outline.span.path for outline in index.outlines(ids)] == ["b.md"]
    assert [outline.id for outline in index.outlines(hit_ids(index, "new"))] == hit_ids(writer, "new")


@pytest.mark.slow
def test_outlines_of_a_large_library_come_whole_again_and_again(index: Index) -> None:
    whole = document(text="x" * 20_100)  # more than an index keeps in memory
    index.put(whole, [entry(whole, at, at + 1) for at in range(len(whole.text))], stamp())
    ids = [found.id for found in index.match(["x"], None, len(whole.text), EVERYTHING).evidence]

    first, again = index.outlines(ids), index.outlines(ids[::-1])

    assert [outline.span.start_char for outline in first] == list(range(len(ids)))
    assert again == first[::-1]
    assert len(ids) == len(whole.text)


def near(chance: random.Random) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return vector(1, *(chance.uniform(-1, 1) for _ in range(DIM - 1)))
