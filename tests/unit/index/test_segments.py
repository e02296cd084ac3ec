"""Words in segments, on a database of their own: `tests/contract` has what a whole index makes of them."""

from __future__ import annotations

import contextlib
import gc
import random
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openbook.index.postings import pack_terms, renumbered
from openbook.index.protocol import Terms
from openbook.index.schema import _TABLES
from openbook.index.segments import merge, mergeable, segment_postings
from openbook.index.segments import write_segment as write_pending

Found = dict[int, tuple[int, ...]]


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(_TABLES)
        yield connection


def write_segment(connection: sqlite3.Connection, first_id: int, *chunks: Terms) -> None:
    write_documents(connection, {first_id: chunks})


def write_documents(connection: sqlite3.Connection, documents: Mapping[int, Sequence[Terms]]) -> None:
    write_pending(connection, [renumbered(pack_terms(chunks)[0], first_id) for first_id, chunks in documents.items()])


def found(connection: sqlite3.Connection, token: str) -> Found:
    """Return how often a word stands in each field of each chunk."""
    postings = segment_postings(connection, [token])[token]
    assert len(set(postings.ids.tolist())) == len(postings.ids) == len(postings.counts)
    return dict(zip(postings.ids.tolist(), map(tuple, postings.counts.tolist()), strict=True))


def expected(chunks: Mapping[int, Terms]) -> dict[str, Found]:
    """Count the words of chunks as plain Python does."""
    counted: defaultdict[str, Found] = defaultdict(dict)
    for id_, terms in chunks.items():
        counts = [Counter(field) for field in terms]
        for token in set().union(*terms):
            counted[token][id_] = tuple(min(field[token], 255) for field in counts)
    return dict(counted)


def rows(connection: sqlite3.Connection) -> list[str]:
    return [tokens for (tokens,) in connection.execute("SELECT tokens FROM postings ORDER BY segment, first_token")]


def segment_of_rows(connection: sqlite3.Connection) -> list[int]:
    return [segment for (segment,) in connection.execute("SELECT segment FROM postings ORDER BY segment")]


def segments(connection: sqlite3.Connection) -> list[int]:
    """Return how many postings each segment has."""
    return [size for (size,) in connection.execute("SELECT postings FROM segments ORDER BY id")]


def test_a_word_is_found_with_its_counts_by_field(connection: sqlite3.Connection) -> None:
    write_segment(connection, 7, Terms(("a",), ("b", "a", "b"), (), ("a", "c", "a")), Terms(), Terms(context=("b",)))

    assert found(connection, "a") == {7: (1, 1, 0, 2)}
    assert found(connection, "b") == {7: (0, 2, 0, 0), 9: (0, 0, 1, 0)}
    assert found(connection, "d") == {}
    assert segments(connection) == [4]


def test_lengths_are_those_of_the_fields_up_to_what_two_bytes_hold() -> None:
    terms = [Terms(("a",), ("b", "b"), (), ("c",) * 65_535), Terms(body=("c",) * 65_536), Terms()]

    _, lengths = pack_terms(terms)

    assert lengths.dtype == np.uint16
    assert lengths.tolist() == [[1, 2, 0, 65_535], [0, 0, 0, 65_535], [0, 0, 0, 0]]


@pytest.mark.parametrize("repeats", [254, 255, 256, 512, 70_000])
def test_a_count_stops_at_255(connection: sqlite3.Connection, repeats: int) -> None:
    write_segment(connection, 1, Terms(("a",) * repeats, ("a",), ("a",) * repeats, ("a", "a")))

    assert found(connection, "a") == {1: (min(repeats, 255), 1, min(repeats, 255), 2)}


def test_several_documents_of_a_batch_become_one_segment(connection: sqlite3.Connection) -> None:
    alone, two, far = [Terms(body=("a", "b"))], [Terms(body=("b",)), Terms(body=("c",))], [Terms(body=("b",))]

    write_documents(connection, {10: alone, 11: two, 20: far})

    assert [sorted(found(connection, token)) for token in "abc"] == [[10], [10, 11, 20], [12]]
    assert segments(connection) == [5]


@pytest.mark.parametrize("chunks", [(), (Terms(), Terms())], ids=["none", "empty"])
def test_chunks_without_words_make_nothing_to_find(connection: sqlite3.Connection, chunks: Sequence[Terms]) -> None:
    write_segment(connection, 1, *chunks)

    assert rows(connection) == []
    assert found(connection, "a") == {}


@pytest.mark.parametrize("count", [1, 63, 64, 65, 128, 129, 1000])
def test_every_word_is_found_wherever_the_borders_of_rows_are(connection: sqlite3.Connection, count: int) -> None:
    tokens = [f"w{number:04}" for number in range(count)]
    write_segment(connection, 1, Terms(body=tuple(random.Random(1).sample(tokens, count))))

    assert len(rows(connection)) == -(-count // 64)
    assert [found(connection, token) for token in tokens] == [{1: (0, 0, 0, 1)}] * count
    for token in tokens:
        assert [found(connection, beside) for beside in (token[:-1], token + "\0", token + "0")] == [{}] * 3
    assert found(connection, "") == found(connection, "a") == found(connection, "x") == {}


@pytest.mark.parametrize("count", [2047, 2048, 2049, 10_000])
def test_a_word_of_many_chunks_is_found_in_all_beside_its_neighbours(
    connection: sqlite3.Connection, count: int
) -> None:
    rare = {0: ("a", "n"), 1: ("a", "o"), count // 2: ("z",), count - 1: ("n", "zz")}
    write_segment(connection, 1, *(Terms(body=("m", *rare.get(number, ()))) for number in range(count)))

    assert sorted(found(connection, "m")) == list(range(1, count + 1))
    assert {token: sorted(found(connection, token)) for token in ("a", "n", "o", "z", "zz")} == {
        "a": [1, 2], "n": [1, count], "o": [2], "z": [count // 2 + 1], "zz": [count],
    }  # fmt: skip
    assert rows(connection) == (["a", "m", "n o z zz"] if count > 2045 else ["a m n o z zz"])


def test_words_of_every_plane_stand_in_the_order_in_which_sqlite_looks_for_them(
    connection: sqlite3.Connection,
) -> None:
    # UTF-16 would put the astral ones before U+E000; bytes of UTF-8 and code points do not.
    characters = [chr(code) for code in (0, 0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF)]
    characters += ["\U00010000", "😀", "\U0010ffff"]
    tokens = [first + second for first in characters for second in ("", *characters)]
    write_segment(connection, 1, Terms(body=tuple(random.Random(2).sample(tokens, len(tokens)))))

    assert len(rows(connection)) == 3
    assert " ".join(rows(connection)).split(" ") == sorted(tokens)
    assert [found(connection, token) for token in tokens] == [{1: (0, 0, 0, 1)}] * len(tokens)


def test_words_of_any_length_are_found_whole(connection: sqlite3.Connection) -> None:
    long = ["w" * 100_000, "w" * 99_999 + "x", "ä" * 100_000, "w"]
    for number, token in enumerate(long, start=1):
        write_segment(connection, number, Terms(body=(token, "b")))
    merge(connection, mergeable(connection, every=True), np.arange(1, 5))

    assert [sorted(found(connection, token)) for token in long] == [[1], [2], [3], [4]]
    assert found(connection, "w" * 99_999) == {}


@pytest.mark.slow
def test_a_merge_drops_the_dead_and_changes_nothing_else(connection: sqlite3.Connection) -> None:
    chance = random.Random(3)
    chunks = make_chunks(chance, 3000)
    for first in range(1, 3001, 600):
        write_segment(connection, first, *(chunks[id_] for id_ in range(first, first + 600)))
    alive = sorted(chance.sample(sorted(chunks), 2000))
    kept = expected({id_: chunks[id_] for id_ in alive})

    merge(connection, mergeable(connection, every=True), np.array(alive))

    assert segments(connection) == [sum(map(len, kept.values()))]
    assert " ".join(rows(connection)).split(" ") == sorted(kept)
    assert {token: found(connection, token) for token in kept} == kept
    assert set(segment_of_rows(connection)) == {6}


@pytest.mark.slow
def test_a_merge_of_more_than_is_put_in_order_at_once_keeps_words_whole(connection: sqlite3.Connection) -> None:
    tokens = [f"w{number:02}" for number in range(70)]
    for first in (2001, 1):
        write_segment(connection, first, *[Terms(body=tuple(tokens))] * 2000)

    merge(connection, mergeable(connection, every=True), np.arange(1, 4000))

    assert segments(connection) == [70 * 3999]
    assert rows(connection) == tokens
    assert all(sorted(found(connection, token)) == list(range(1, 4000)) for token in tokens)


def test_a_merge_of_the_dead_alone_leaves_nothing(connection: sqlite3.Connection) -> None:
    write_segment(connection, 1, Terms(body=("a",)))
    write_segment(connection, 2, Terms(body=("a",)))

    merge(connection, mergeable(connection, every=True), np.empty(0, dtype=np.int64))

    assert found(connection, "a") == {}
    assert (segments(connection), rows(connection)) == ([0], [])


def test_segments_that_are_not_merged_stay_as_they_are(connection: sqlite3.Connection) -> None:
    for number in range(1, 4):
        write_segment(connection, number, Terms(body=("a", f"b{number}")))

    merge(connection, [1, 3], np.array([1, 2]))

    assert sorted(found(connection, "a")) == [1, 2]
    assert segments(connection) == [2, 2]
    assert segment_of_rows(connection) == [2, 4]


@pytest.mark.parametrize(
    ("sizes", "merged"),
    [
        pytest.param([], [], id="none"),
        pytest.param([5], [], id="one"),
        pytest.param([0, 0], [1, 2], id="empty"),
        pytest.param([5, 5, 5], [1, 2, 3], id="alike"),
        pytest.param([5, 11, 5], [1, 3], id="one-larger-than-all-others"),
        pytest.param([5, 10, 5], [1, 2, 3], id="one-as-large-as-all-others"),
        pytest.param([1, 2, 4, 8], [], id="each-larger-than-all-smaller"),
        pytest.param([1, 1, 4, 8], [1, 2], id="two-smallest-alike"),
        pytest.param([3_000_000, 2_000_000, 2_000_000], [2, 3], id="more-than-memory-should-hold"),
    ],
)
def test_segments_are_merged_once_they_outgrow_the_next_larger(
    connection: sqlite3.Connection, sizes: list[int], merged: list[int]
) -> None:
    connection.executemany("INSERT INTO segments (postings) VALUES (?)", [(size,) for size in sizes])

    assert sorted(mergeable(connection, every=True)) == merged


@pytest.mark.parametrize(("count", "merged"), [(8, []), (9, list(range(1, 10)))])
def test_a_few_segments_are_no_reason_to_merge(connection: sqlite3.Connection, count: int, merged: list[int]) -> None:
    for number in range(1, count + 1):
        write_segment(connection, number, Terms(body=("a",)))

    assert sorted(mergeable(connection, every=False)) == merged


def test_no_vocabulary_waits_for_a_collection_of_garbage() -> None:
    gc.disable()
    try:
        pack_terms([Terms(body=("swordfish", "fox")), Terms(body=("fox",))])
        held = [each for each in gc.get_objects() if isinstance(each, dict) and "swordfish" in each]
    finally:
        gc.enable()

    assert held == []


WORDS = st.lists(st.text("aäz量😀\uffff", max_size=2), max_size=6).map(tuple)
CHUNKS = st.lists(st.builds(Terms, WORDS, WORDS, WORDS, WORDS), max_size=4)


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents=st.lists(CHUNKS, max_size=6), merged=st.lists(st.booleans(), min_size=6, max_size=6))
def test_any_words_are_counted_as_plain_python_counts_them(
    connection: sqlite3.Connection, documents: Sequence[Sequence[Terms]], merged: Iterable[bool]
) -> None:
    connection.executescript("DELETE FROM postings; DELETE FROM segments")
    chunks: dict[int, Terms] = {}
    for document, is_merged in zip(documents, merged, strict=False):
        first = len(chunks) + 1
        chunks.update(enumerate(document, start=first))
        if document:
            write_segment(connection, first, *document)
        if is_merged:
            merge(connection, mergeable(connection, every=True), np.array(sorted(chunks)))

    counted = expected(chunks)
    assert {token: found(connection, token) for token in counted} == counted
    assert found(connection, "b") == {}
    assert sum(segments(connection)) == sum(map(len, counted.values()))


def make_chunks(chance: random.Random, count: int) -> dict[int, Terms]:
    words = [f"w{number}" for number in range(500)]
    often = [1 / number for number in range(1, 501)]
    return {
        id_: Terms(*(tuple(chance.choices(words, often, k=size)) for size in (2, 3, 0, 10)))
        for id_ in range(1, count + 1)
    }
