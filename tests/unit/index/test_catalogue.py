from __future__ import annotations

import contextlib
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from openbook.index.catalogue import Catalogue, pack_numbers, quantize
from openbook.index.columns import DocumentRows, columns_of
from openbook.index.postings import Postings
from openbook.index.sqlite import SqliteIndex
from openbook.sources.lesson_numbers import LessonNumber
from openbook.types import Filter, Lesson
from tests.support import DIM, EVERYTHING, IDENTITY, dense, document, entry, put, stamp, vector

SHAPES = st.tuples(st.integers(0, 5), st.integers(1, 9))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    with contextlib.closing(SqliteIndex(tmp_path / "library.sqlite", IDENTITY)) as index:
        yield index


@pytest.mark.slow
@given(arrays(np.float32, SHAPES, elements=st.integers(-1000, 1000).map(lambda thousandths: thousandths / 1000)))
def test_a_packed_row_points_where_it_did(rows: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> None:
    packed = np.frombuffer(quantize(rows), dtype=np.int8).reshape(rows.shape).astype(np.float64)

    peaks = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    assert np.abs(packed / 127 * peaks - rows).max(initial=0.0) <= peaks.max(initial=0.0) / 127


_LABELS = st.tuples(st.integers(0, 10**8), st.none() | st.integers(0, 10**4)).map(
    lambda pair: str(pair[0]) if pair[1] is None else f"{pair[0]}.{pair[1]}"
)


@pytest.mark.slow
@given(st.lists(_LABELS, max_size=50))
@example(["1.5000", "1.9000"])
@example(["1500000", "9000000"])
@example(["999999", "999999.999", "999999.998", "999998.999", "0", "0.0"])
def test_lessons_of_different_numbers_never_pack_alike(labels: list[str]) -> None:
    numbers = {number for number in map(LessonNumber.parse, labels) if number is not None}

    packed = pack_numbers([Lesson("", number.number, part=number.part) for number in numbers])

    assert len(np.unique(np.frombuffer(packed, dtype=np.int32))) == len(numbers)


def test_a_row_of_zeros_stays_one() -> None:
    assert quantize(np.zeros((2, 3), dtype=np.float32)) == bytes(6)


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_the_length_of_a_row_says_nothing(scale: float) -> None:
    rows = np.array([[3.0, -1.0, 0.5]], dtype=np.float32)

    assert quantize((rows * np.float32(scale)).astype(np.float32)) == quantize(rows)


@pytest.mark.slow
def test_later_questions_to_one_state_have_the_scores_of_the_first(index: SqliteIndex, tmp_path: Path) -> None:
    rows = np.random.default_rng(1).standard_normal((5000, DIM)).astype(np.float32)  # of several blocks
    rows[::7] = 0
    whole = document(text="x" * len(rows))
    index.put(whole, [entry(whole, at, at + 1, vector=row) for at, row in enumerate(rows)], stamp())
    questions = [vector(1), vector(0.2, -1), vector(1)]

    asked = [index.match(["x"], question, 5000, EVERYTHING) for question in questions]

    with contextlib.closing(SqliteIndex(tmp_path / "library.sqlite", IDENTITY)) as again:
        assert asked[1] == again.match(["x"], questions[1], 5000, EVERYTHING)
    assert asked[0] == asked[2]
    assert asked[0] != asked[1]
    lengths = np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
    for question, matches in zip(questions, asked, strict=True):
        cosines = [found.cosine for found in matches.evidence]
        assert cosines == pytest.approx((rows @ question / lengths).tolist(), abs=0.01)


def test_a_question_that_looks_up_words_alone_leaves_nearness_as_it_is(index: SqliteIndex) -> None:
    put(index, "a.md", vector=vector(1, 1))

    for question in (None, vector(), vector(1), None, vector(1)):
        cosines = [found.cosine for found in index.match(["word"], question, 5, EVERYTHING).evidence]

        assert cosines == pytest.approx([0.5**0.5 if question is not None and question.any() else 0], abs=0.01)


def test_a_file_whose_chunks_are_gone_is_worth_nothing_to_the_others(index: SqliteIndex) -> None:
    index.put(document("0.md", ""), [], stamp())
    index.skip("s", "1.md", stamp(), "binary")
    put(index, "2.md", vector=vector(1))

    assert len(index._current()) == 1
    assert len(dense(index, vector(1), 5)) == 1


def test_only_the_living_are_found_in_postings(index: SqliteIndex) -> None:
    for path in ("b.md", "a.md", "c.md"):
        put(index, path)
    postings = Postings(np.array([1, 2, 3, 9], dtype=np.uint32), np.arange(16, dtype=np.uint8).reshape(4, 4))
    index.delete("s", "c.md")

    positions, counts = index._current().living(postings)

    assert positions.tolist() == [1, 0]  # a.md is the first, whenever it was put
    assert counts.tolist() == postings.counts[:2].tolist()
    index.delete_source("s")
    assert [len(found) for found in index._current().living(postings)] == [0, 0]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 5, 40])
def test_what_cannot_be_among_the_best_is_left_out_without_a_trace(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    documents: list[DocumentRows] = []
    for file in range(80):
        chunks = int(rng.integers(1, 6))
        lengths = rng.integers(1, 50, (chunks, 4)).astype(np.uint16)
        rows = rng.integers(-127, 128, (chunks, DIM)).astype(np.int8)
        first = documents[-1].first_id + documents[-1].chunks if documents else 1
        kind = "code" if file % 2 else "docs"
        documents.append(
            DocumentRows("s", f"{file:02}", kind, "", first, chunks, lengths.tobytes(), rows.tobytes(), b"")
        )
    columns = columns_of(documents)
    postings = {}
    for word, share in (("rare", 0.05), ("other", 0.2), ("often", 0.9), ("always", 1.0)):
        ids = np.flatnonzero(rng.random(len(columns)) < share).astype(np.uint32) + 1
        postings[word] = Postings(ids, rng.integers(0, 9, (len(ids), 4)).astype(np.uint8) + (np.arange(4) == 3))
    for where in (EVERYTHING, Filter(kinds=frozenset({"code"}))):
        exact, pruned = (
            Catalogue(columns, frequent=frequent).match(postings, vector(1, 2), k, where) for frequent in (1 << 30, 1)
        )

        assert pruned == exact


@pytest.mark.slow
def test_any_number_of_searches_leaves_the_references_to_none_alone() -> None:
    row = quantize(np.ones((1, DIM), dtype=np.float32))
    catalogue = Catalogue(columns_of([DocumentRows("s", "a.md", "docs", "", 1, 1, bytes(8), row, b"")]))
    before = sys.getrefcount(None)

    for _ in range(2_000):
        catalogue.match({}, vector(1), 5, EVERYTHING)

    assert sys.getrefcount(None) > before - 1_000  # each search took one, until the interpreter gave up


def test_lengths_of_files_are_added_up_without_a_wider_copy_of_all() -> None:
    files, chunks = 20_000, 20
    lengths = np.random.default_rng(3).integers(0, 60_000, (files * chunks, 4), dtype=np.uint16)
    lengths[:, 0] = np.repeat(lengths[::chunks, 0], chunks)
    rows = (
        DocumentRows(
            "s", f"{n:05}", "code", "", n * chunks, chunks, lengths[n * chunks : (n + 1) * chunks].tobytes(), b"", b""
        )
        for n in range(files)
    )
    columns = columns_of(rows)
    summed = lengths.reshape(files, chunks, 4).sum(axis=1, dtype=np.int64)
    summed[:, 0] = lengths[::chunks, 0]
    tracemalloc.start()

    catalogue = Catalogue(columns)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(catalogue._lengths_of_files(), summed.astype(np.float32))
    assert peak < 4 * lengths.nbytes  # as int64
