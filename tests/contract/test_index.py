"""The contract of engines: storing a library. `test_index_search.py` has searching."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openbook.errors import LibraryError, MismatchedLibraryError
from openbook.index.packing import packed
from openbook.index.protocol import FileRecord, Index, IndexStats, Source, Terms
from openbook.types import Anchor, Block, Lesson
from tests.support import answers, dense, document, entry, everything, hit_ids, lexical, paths, put, stamp, vector

Connect = Callable[[], Index]

ROOT = Source("s", "folder", "/home/me/s")


def test_a_new_library_answers_every_question_with_nothing(index: Index) -> None:
    assert index.roots() == []
    assert index.records("s") == {}
    assert index.document("s", "a.md") is None
    assert lexical(index, ["word"], 5) == []
    assert dense(index, vector(1), 5) == []
    assert index.frequencies(["word"]) == {}
    assert index.fetch([1, 2]) == []
    assert index.outlines([1, 2]) == []
    assert replace(index.stats(), size_bytes=0) == IndexStats(0, 0, 0)


def test_a_document_comes_back_with_its_text_anchors_and_remarks_and_without_blocks(index: Index) -> None:
    whole = replace(
        document("b/ä.md", "One.\r\n\tTwo\0 é e\u0301 😀\n", anchors=(Anchor(0, "cell 1"), Anchor(6, "cell 2"))),
        blocks=(Block(0, 4),),
        remarks=("no text on page 3", "ä"),
    )

    index.put(whole, [], stamp())

    assert index.document("s", "b/ä.md") == replace(whole, blocks=())


@pytest.mark.slow
def test_the_fields_of_a_chunk_survive(index: Index) -> None:
    whole = document("a.py", "def f(): 1\nclass Größe: 2\n", kind="code")
    full = entry(
        whole,
        0,
        10,
        terms=Terms(path=("a", "py"), names=("f", "f"), context=("größe",), body=("def", "f", "1")),
        symbol="Client.f",
        defines=("f", "Größe"),
        signature="def f()",
        docstring='Say "hello".\n\n\tTwice.',
        context=("Guide", "1. Größe"),
        anchor="cell 3",
        lesson=Lesson("Course", 0, "Start", "https://a", "https://b", "Ann"),
        code_opening="```py",
    )
    plain = entry(whole, 11, terms=Terms(body=("2",)))

    index.put(whole, [full, plain], stamp())

    found = index.fetch(hit_ids(index, "def") + hit_ids(index, "2"))
    assert found == [full.chunk, plain.chunk]


@pytest.mark.slow
def test_chunks_that_come_packed_are_kept_as_those_that_do_not(index: Index) -> None:
    whole = document("a.md", "One fish. Two fish.")
    lesson = Lesson("Course", 1, "Fish")
    second = entry(whole, 10, vector=vector(-1, 3), lesson=lesson, symbol="two")
    entries = [second, entry(whole, 0, 9, vector=vector(0.25, 1))]

    kept = []
    for one in (entries, packed(whole, entries)):
        index.put(whole, one, stamp())
        found = answers(index, ["One", "fish."], vector(1))
        kept.append((found, index.chunks("s", "a.md"), index.vectors("s", "a.md").tolist(), index.courses()))

    assert kept[0] == kept[1]
    assert [chunk.text for chunk in kept[1][1]] == ["One fish.", "Two fish."]


@pytest.mark.slow
def test_vectors_come_back_in_the_order_of_spans_and_are_stored_as_the_same_again(index: Index) -> None:
    whole = document("a.md", "One. Two. Three.")
    second, first = entry(whole, 5, 9, vector=vector(-1, 3, 0.1)), entry(whole, 0, 4, vector=vector(0.25, 1))
    empty = entry(whole, 10)

    index.put(whole, [second, first, empty], stamp())
    held = index.vectors("s", "a.md")
    again = [replace(one, vector=row) for one, row in zip((first, second, empty), held, strict=True)]
    index.put(whole, again, stamp())

    assert np.allclose(held, np.stack([first.vector, second.vector, empty.vector]), atol=0.01)
    assert np.allclose(np.linalg.norm(held, axis=1), [1, 1, 0])
    assert index.vectors("s", "a.md").tobytes() == held.tobytes()
    assert index.vectors("s", "none.md").shape == (0, 0)


def test_a_lesson_with_empty_fields_is_kept(index: Index) -> None:
    before_the_first, number_zero_of_no_course, all_empty = Lesson("Course"), Lesson("", 0), Lesson("")
    lessons = [before_the_first, number_zero_of_no_course, all_empty, None]
    whole = document(text="word" * len(lessons))
    entries = [
        entry(whole, 4 * at, 4 * at + 4, terms=Terms(body=("word",)), lesson=lesson)
        for at, lesson in enumerate(lessons)
    ]

    index.put(whole, entries, stamp())

    assert [chunk.lesson for chunk in index.fetch(hit_ids(index, "word"))] == lessons


BEFORE = st.text(max_size=5)
TEXT = st.text(min_size=1, max_size=20).filter(lambda text: text.strip() != "")


# Many files at once: each commit of an engine takes longer than all its checks here.
@pytest.mark.slow
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.lists(st.tuples(BEFORE, TEXT), min_size=10, max_size=10))
def test_the_text_of_a_chunk_is_an_exact_slice_whatever_its_characters(
    index: Index, files: list[tuple[str, str]]
) -> None:
    chunks = []
    with index.batch():
        for number, (before, text) in enumerate(files):
            whole = document(f"{number}.md", before + text + "\n")
            made = entry(whole, len(before), len(before) + len(text), terms=Terms(body=("word",)))
            index.put(whole, [made], stamp())
            chunks.append(made.chunk)

    assert index.fetch(hit_ids(index, "word")) == chunks


@pytest.mark.slow
def test_a_second_put_takes_the_place_of_the_first(index: Index) -> None:
    put(index, "a.md", "old both", vector=vector(1))
    old = hit_ids(index, "old")

    put(index, "a.md", "new both", vector=vector(0, 1))

    assert (index.fetch(old), index.outlines(old)) == ([], [])
    assert hit_ids(index, "old") == []
    assert len(hit_ids(index, "both")) == 1
    assert [hit.score for hit in dense(index, vector(1), 5)] == [pytest.approx(0.0)]
    assert index.document("s", "a.md") == document(text="new both")
    assert index.stats().chunks == 1


@pytest.mark.slow
def test_an_id_is_never_given_to_another_chunk(index: Index) -> None:
    put(index, "a.md", "one")
    old = hit_ids(index, "one")

    index.delete("s", "a.md")
    put(index, "b.md", "one")

    assert (index.fetch(old), index.outlines(old)) == ([], [])
    assert set(old).isdisjoint(hit_ids(index, "one"))


@pytest.mark.slow
def test_one_path_in_two_sources_is_two_documents(index: Index) -> None:
    put(index, "a.md", "word", source="s")
    put(index, "a.md", "word", source="t")

    index.delete("s", "a.md")

    assert index.document("s", "a.md") is None
    assert [found.source for found in index.fetch(hit_ids(index, "word"))] == ["t"]


def test_a_skipped_file_takes_the_place_of_its_document(index: Index) -> None:
    put(index, "a.md", "word", vector=vector(1))

    index.skip("s", "a.md", stamp(2), "binary")

    assert index.records("s") == {"a.md": FileRecord(stamp(2), "", "binary")}
    assert index.document("s", "a.md") is None
    assert hit_ids(index, "word") == []
    assert dense(index, vector(1), 5) == []


def test_a_document_takes_the_place_of_a_skipped_file(index: Index) -> None:
    index.skip("s", "a.md", stamp(1), "binary")

    put(index, "a.md", "word")

    assert index.records("s") == {"a.md": FileRecord(stamp(1), document(text="word").content_hash)}


@pytest.mark.slow
def test_a_touched_document_keeps_all_but_its_stamp(index: Index) -> None:
    index.put_root(ROOT)
    put(index, "a.md", "word", vector=vector(1))
    before = everything(index, ["word"], vector(1))

    index.touch("s", "a.md", stamp(2), document(text="word").content_hash)

    record = FileRecord(stamp(2), document(text="word").content_hash)
    assert everything(index, ["word"], vector(1)) == before | {"records": {"s": {"a.md": record}}}


def test_a_touch_of_what_is_not_there_makes_nothing(index: Index) -> None:
    index.touch("s", "a.md", stamp(2), document(text="word").content_hash)

    assert index.records("s") == {}


def test_a_touch_for_another_content_leaves_the_document_and_its_stamp(index: Index) -> None:
    put(index, "a.md", "word")

    index.touch("s", "a.md", stamp(2), document(text="before").content_hash)

    assert index.records("s") == {"a.md": FileRecord(stamp(), document(text="word").content_hash)}


@pytest.mark.slow
def test_a_deleted_document_leaves_nothing_behind(index: Index) -> None:
    put(index, "a.md", "word", vector=vector(1))

    deleted = index.delete("s", "a.md"), index.delete("s", "a.md")

    assert deleted == (True, False)
    assert index.records("s") == {}
    assert index.document("s", "a.md") is None
    assert dense(index, vector(1), 5) == []
    assert index.frequencies(["word"]) == {}
    assert index.stats().chunks == 0


@pytest.mark.slow
def test_roots_are_listed_by_name_and_replaced_by_name(index: Index) -> None:
    repository = Source("t", "git", "/t", 2.5, "https://example.org/t.git", "0" * 40)
    index.put_root(repository)
    index.put_root(Source("s", "folder", "/old"))

    index.put_root(ROOT)

    assert index.roots() == [ROOT, repository]


@pytest.mark.slow
def test_a_deleted_source_takes_along_all_that_came_from_it_and_nothing_else(index: Index) -> None:
    index.put_root(ROOT)
    index.put_root(replace(ROOT, name="t"))
    index.skip("s", "b.bin", stamp(), "binary")
    for source in ("s", "t"):
        put(index, "a.md", "word", source=source)

    deleted = index.delete_source("s"), index.delete_source("s")

    assert deleted == (True, False)
    assert index.roots() == [replace(ROOT, name="t")]
    assert index.records("s") == {}
    assert [found.source for found in index.fetch(hit_ids(index, "word"))] == ["t"]


@pytest.mark.slow
def test_records_tell_stamps_hashes_reasons_and_remarks_of_one_source(index: Index) -> None:
    scanned = replace(document(text="word"), remarks=("no text on pages 3 to 7",))
    index.put(scanned, [], stamp())
    index.skip("s", "b.bin", stamp(2), "binary")
    put(index, "c.md", "word", source="t")

    assert index.records("s") == {
        "a.md": FileRecord(stamp(), scanned.content_hash, remarks=scanned.remarks),
        "b.bin": FileRecord(stamp(2), "", "binary"),
    }


@pytest.mark.slow
def test_chunks_and_outlines_are_fetched_in_the_order_asked_for_without_those_that_are_gone(index: Index) -> None:
    for path in ("a.md", "b.md", "c.md"):
        put(index, path)
    a, b, c = hit_ids(index, "word")

    index.delete("s", "b.md")

    assert [chunk.span.path for chunk in index.fetch([c, b, a, 10**6, c])] == ["c.md", "a.md", "c.md"]
    assert [outline.id for outline in index.outlines([c, b, a, 10**6, c])] == [c, a, c]


@pytest.mark.slow
def test_an_exception_undoes_the_whole_batch(index: Index) -> None:
    index.put_root(ROOT)
    put(index, "a.md", "word", vector=vector(1))
    put(index, "b.md", "word", vector=vector(0, 1))
    before = everything(index, ["word", "new"], vector(1))

    with contextlib.suppress(ZeroDivisionError), index.batch():
        put(index, "a.md", "new")
        put(index, "c.md", "new", vector=vector(1))
        index.skip("s", "d.bin", stamp(), "binary")
        index.touch("s", "b.md", stamp(9), document(text="word").content_hash)
        index.delete("s", "b.md")
        index.put_root(replace(ROOT, location="/elsewhere"))
        index.delete_source("s")
        raise ZeroDivisionError

    assert everything(index, ["word", "new"], vector(1)) == before


def test_an_exception_leaves_a_batch_or_a_snapshot_as_it_came(index: Index) -> None:
    for context in (index.batch, index.snapshot):
        with pytest.raises(ValueError, match="mine"), context():
            raise ValueError("mine")


@pytest.mark.slow
def test_what_an_undone_batch_saw_of_itself_is_forgotten(index: Index) -> None:
    put(index, "a.md", vector=vector(1))

    with contextlib.suppress(ZeroDivisionError), index.batch():
        put(index, "b.md", "undone", vector=vector(0.9, 0.1))
        undone = hit_ids(index, "undone")
        assert len(dense(index, vector(1), 5)) == 2
        put(index, "c.md", "undone")
        assert [outline.span.path for outline in index.outlines(undone)] == ["b.md"]
        raise ZeroDivisionError

    assert paths(index, dense(index, vector(1), 5)) == ["a.md"]
    assert (hit_ids(index, "undone"), index.outlines(undone)) == ([], [])
    put(index, "d.md", "kept")  # may get an id that was undone
    assert index.frequencies(["undone", "kept"]) == {"kept": 1}
    assert hit_ids(index, "undone") == []


@pytest.mark.slow
def test_a_search_sees_what_its_own_batch_has_put_so_far(index: Index) -> None:
    put(index, "a.md", "word old")
    seen = []

    with index.batch():
        for path in ("a.md", "b.md", "c.md"):
            put(index, path, "word new")
            seen.append((paths(index, lexical(index, ["word"], 5)), index.frequencies(["new", "old"])))
        index.delete("s", "b.md")

    assert seen == [
        (["a.md"], {"new": 1}),
        (["a.md", "b.md"], {"new": 2}),
        (["a.md", "b.md", "c.md"], {"new": 3}),
    ]
    assert paths(index, lexical(index, ["new"], 5)) == ["a.md", "c.md"]


def test_a_document_that_is_put_twice_in_a_batch_is_there_once(index: Index) -> None:
    with index.batch():
        put(index, "a.md", "word old")
        put(index, "a.md", "word new")

    assert index.frequencies(["word", "old", "new"]) == {"word": 1, "new": 1}


@pytest.mark.parametrize("text", ["", "***"], ids=["without-chunks", "without-words"])
def test_a_document_in_which_nothing_can_be_looked_up_is_kept(index: Index, text: str) -> None:
    whole = document(text=text)
    entries = [entry(whole, terms=Terms(), vector=vector(1))] if text else []

    index.put(whole, entries, stamp())

    assert index.document("s", "a.md") == whole
    assert paths(index, dense(index, vector(1), 5)) == ["a.md"] * len(entries)


def test_a_batch_within_a_batch_ends_with_the_outer_one(index: Index) -> None:
    with contextlib.suppress(ZeroDivisionError), index.batch():
        with index.batch():
            put(index, "a.md")
        raise ZeroDivisionError

    assert index.records("s") == {}


def test_others_see_all_of_a_batch_or_nothing(index: Index, connect: Connect) -> None:
    other = connect()

    with index.batch():
        put(index, "a.md", vector=vector(1))
        put(index, "b.md", vector=vector(1))
        during = other.records("s"), hit_ids(other, "word"), dense(other, vector(1), 5)

    assert during == ({}, [], [])
    assert sorted(other.records("s")) == ["a.md", "b.md"]
    assert len(hit_ids(other, "word")) == len(dense(other, vector(1), 5)) == 2


@pytest.mark.slow
def test_a_snapshot_belongs_to_one_state(index: Index, connect: Connect) -> None:
    other = connect()
    put(index, "a.md", "word", vector=vector(1))

    with index.snapshot():
        first = index.records("s")
        put(other, "b.md", "word", vector=vector(1))
        other.delete("s", "a.md")
        during = index.records("s"), lexical(index, ["word"], 5), dense(index, vector(1), 5)
        inside = paths(index, during[1]), paths(index, during[2])

    assert during[0] == first
    assert inside == (["a.md"], ["a.md"])
    assert paths(index, lexical(index, ["word"], 5)) == ["b.md"]
    assert paths(index, dense(index, vector(1), 5)) == ["b.md"]


@pytest.mark.slow
def test_threads_may_share_an_index(index: Index) -> None:
    put(index, "a.md", "word", vector=vector(1))
    answers = []

    def ask(number: int) -> None:
        put(index, f"{number}.md", "other", vector=vector(0, 1))
        answers.append(len(hit_ids(index, "word")) + len(dense(index, vector(1), 1)))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [2] * 8
    assert index.stats().documents == 9


@pytest.mark.slow
def test_stats_count_documents_and_chunks_but_no_skipped_files(index: Index) -> None:
    whole = document(text="one two")
    empty = index.stats().size_bytes

    index.put(whole, [entry(whole, 0, 3), entry(whole, 4, 7)], stamp())
    put(index, "b.md", "word " * 100_000)
    index.skip("s", "c.bin", stamp(), "binary")

    assert replace(index.stats(), size_bytes=0) == IndexStats(2, 3, 0)
    assert index.stats().size_bytes > empty + 500_000


def test_a_closed_index_cannot_be_used_again(index: Index) -> None:
    index.close()

    with pytest.raises(LibraryError, match="is closed") as of_reading:
        index.roots()
    with pytest.raises(LibraryError, match="is closed"):
        put(index, "a.md")
    assert (of_reading.value.hint, of_reading.value.rebuild) == ("use it before it is closed, or open it again", "")


@pytest.mark.slow
def test_vectors_of_another_size_are_refused_and_nothing_is_lost(index: Index) -> None:
    put(index, "a.md", "ferry", vector=vector(1))
    other = np.ones(3, dtype=np.float32)

    with pytest.raises(MismatchedLibraryError, match="and its embedder now gives 3") as of_put:
        put(index, "b.md", "ferry", vector=other)
    with pytest.raises(MismatchedLibraryError, match="and its embedder now gives 3"):
        dense(index, other, 5)

    assert "--rebuild" in of_put.value.hint
    assert paths(index, dense(index, vector(1), 5)) == ["a.md"]
    assert list(index.records("s")) == ["a.md"]
