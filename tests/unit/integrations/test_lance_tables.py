"""What can happen to the tables of a library in LanceDB, and what is said about it."""

from __future__ import annotations

import shutil
import time
from dataclasses import asdict, replace
from pathlib import Path

import lancedb
import numpy as np
import pytest

from openbook.errors import LibraryError, LibraryWriteError, MismatchedLibraryError, SettingsError
from openbook.index.protocol import Source
from openbook.integrations.lance_rows import (
    DOCUMENTS,
    SCORED,
    WORDS,
    DocumentBody,
    DocumentRow,
    is_settled,
    new_version,
    row_of_source,
)
from openbook.integrations.lance_tables import (
    _FORMAT,
    damaged_tables,
    lance_errors,
    names_at,
    remove_tables,
    split_address,
    stored_table_sources,
)
from tests.support import IDENTITY
from tests.unit.integrations.lance_material import NOTHING, held, opened, row, rows_of, word_row, words_of


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "shared" / "mine")


def root(name: str, location: str = "/home/me") -> tuple[DocumentRow, DocumentBody]:
    return row_of_source(Source(name, "folder", location)), NOTHING


def test_opening_twice_gives_the_same_library(uri: str) -> None:
    first, second = opened(uri), opened(uri)
    first.commit([row("a.md", "fox")])
    first.add_words([word_row("w")])

    assert held(second) == held(first) == held(opened(uri)) == {"a.md": "fox"}
    assert list(words_of(second)) == [("w", "a", 0)]
    assert second.state == first.state


def test_a_new_library_is_empty(uri: str) -> None:
    tables = opened(uri)

    assert (rows_of(tables), words_of(tables)) == ({}, {})
    assert (tables.heavy([]), tables.rows_of_words([])) == ([], [])
    assert tables.size_bytes() == 0


@pytest.mark.parametrize("field", ["embedder", "tokens", "chunks"])
def test_what_another_version_made_is_refused_with_the_command_that_makes_it_again(uri: str, field: str) -> None:
    opened(uri)
    ours = replace(IDENTITY, **{field: "newer"})

    with pytest.raises(MismatchedLibraryError, match=f"was made with {field} '.+', not 'newer'") as caught:
        opened(uri, ours)

    assert caught.value.hint == "make it again with: openbook add --rebuild --library mine PATH ..."


@pytest.mark.parametrize("metadata", [{"format": "0", **asdict(IDENTITY)}, {}], ids=["older", "none"])
def test_tables_of_another_format_are_refused(tmp_path: Path, metadata: dict[str, str]) -> None:
    schema = DOCUMENTS.with_metadata(metadata)
    lancedb.connect(str(tmp_path)).create_table("mine.documents", schema=schema)

    with pytest.raises(MismatchedLibraryError, match=f"was made with format .+, not '{_FORMAT}'"):
        opened(str(tmp_path / "mine"))


def test_a_hint_quotes_the_name_for_a_shell() -> None:
    assert "--library 'a b' PATH" in damaged_tables("s3://bucket/a b").hint


def test_what_is_closed_says_so(uri: str) -> None:
    tables = opened(uri)

    tables.close()

    with pytest.raises(LibraryError, match="is closed"):
        tables.refresh()


def test_libraries_are_listed_in_order(tmp_path: Path) -> None:
    for name in ("till", "Shop", "v1.2", "a-b_c", *(f"n{number:02}" for number in range(12))):
        opened(str(tmp_path / name))
    lancedb.connect(str(tmp_path)).create_table("other", schema=WORDS)

    assert names_at(str(tmp_path)) == ["Shop", "a-b_c", *(f"n{number:02}" for number in range(12)), "till", "v1.2"]


def test_a_folder_that_does_not_exist_has_no_libraries_and_is_not_made(tmp_path: Path) -> None:
    assert names_at(str(tmp_path / "missing")) == []
    assert stored_table_sources(str(tmp_path / "missing" / "mine")) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_library_is_removed_and_no_other(tmp_path: Path) -> None:
    for name in ("a", "a.b", "b"):
        opened(str(tmp_path / name))

    remove_tables(str(tmp_path / "a"))

    assert names_at(str(tmp_path)) == ["a.b", "b"]
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        f"{name}.{table}.lance" for name in ("a.b", "b") for table in ("documents", "words")
    ]


def test_removing_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    opened(str(tmp_path / "b"))

    remove_tables(str(tmp_path / "a"))

    assert names_at(str(tmp_path)) == ["b"]


def test_removing_from_a_folder_that_does_not_exist_does_not_make_it(tmp_path: Path) -> None:
    remove_tables(str(tmp_path / "missing" / "a"))

    assert list(tmp_path.iterdir()) == []


def test_the_sources_of_a_refused_library_can_still_be_named(uri: str) -> None:
    tables = opened(uri)
    tables.commit([root("till", "/t"), root("shop", "/s"), root("left"), row("a.md")])
    tables.commit([(DocumentRow("left", "", version=new_version(), gone=True), NOTHING)])
    with pytest.raises(MismatchedLibraryError):
        opened(uri, replace(IDENTITY, chunks="newer"))

    assert [(each.name, each.location) for each in stored_table_sources(uri)] == [("shop", "/s"), ("till", "/t")]


def test_sources_that_a_later_version_says_more_of_are_named(uri: str) -> None:
    said = '{"name": "s", "kind": "folder", "location": "/s", "colour": "red"}'
    opened(uri).commit([(DocumentRow("s", "", remarks=said, version=new_version()), NOTHING)])

    assert stored_table_sources(uri) == [Source("s", "folder", "/s")]


def test_a_library_without_sources_or_none_at_all_names_none(tmp_path: Path) -> None:
    opened(str(tmp_path / "empty"))

    assert stored_table_sources(str(tmp_path / "empty")) == stored_table_sources(str(tmp_path / "missing")) == []


def test_a_source_that_two_machines_add_at_once_is_named_once(uri: str) -> None:
    tables = opened(uri)
    both = [asdict(stored) | heavy._asdict() for stored, heavy in (root("s", "/old"), root("s", "/new"))]
    tables._documents.add(both)  # as two merges leave it that did not see each other

    assert [each.location for each in stored_table_sources(uri)] == ["/new"]


@pytest.mark.parametrize("name", ["", "a b", "größe", "索引", "-rf", ".a", "a:b", "a'b", "..", "a\n"])
def test_a_name_that_no_table_has_is_refused(tmp_path: Path, name: str) -> None:
    for refusing in (split_address, opened, remove_tables, stored_table_sources):
        with pytest.raises(SettingsError, match="is not a valid library name in LanceDB") as caught:
            refusing(f"{tmp_path}/{name}")
        assert caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["default", "a", "7", "_", "v1.2", "a_b-c", "A"])
def test_a_name_that_tables_have_is_taken_from_the_end_of_the_address(name: str) -> None:
    assert split_address(f"s3://bucket/folder/{name}") == ("s3://bucket/folder", name)


def test_later_versions_are_greater_and_settle_after_an_hour() -> None:
    versions = [new_version() for _ in range(1000)]

    assert len(set(versions)) == 1000
    assert [version[:16] for version in versions] == sorted(version[:16] for version in versions)
    assert not is_settled(versions[0])
    assert not is_settled(f"{time.time_ns() - 3590 * 10**9:016x}ff")
    assert is_settled(f"{time.time_ns() - 3601 * 10**9:016x}ff")


@pytest.mark.parametrize(
    ("told", "gist"),
    [
        pytest.param(
            'Error performing PUT http://h/b: <?xml version="1.0"?><Error><Code>NoSuchBucket</Code>'
            "<Message>The bucket is not there</Message></Error>, /cargo/registry/a.rs:1:2",
            "The bucket is not there",
            id="answer-of-storage",
        ),
        pytest.param(
            'lance error: IO: Os { code: 28, kind: StorageFull, message: "No space left on device" }, /x.rs:1:2',
            "No space left on device",
            id="answer-of-the-system",
        ),
        pytest.param(
            "Invalid input, No object store provider found for scheme: 'foo'\nValid schemes: s3, file",
            "No object store provider found for scheme: 'foo'",
            id="scheme",
        ),
        pytest.param(
            "lance error: Not found: a/b.lance, /cargo/registry/src/lance-io/src/local.rs:273:40",
            "lance error: Not found: a/b.lance",
            id="place-in-the-source",
        ),
        pytest.param("two\n  lines", "two lines", id="lines"),
        pytest.param("x" * 1000, "x" * 200, id="long"),
    ],
)
@pytest.mark.parametrize("error", [RuntimeError, OSError, ValueError])
def test_an_error_of_lancedb_is_told_in_short(told: str, gist: str, error: type[Exception]) -> None:
    for options, ours, verb in ((False, LibraryError, "read"), (True, LibraryWriteError, "write")):
        with pytest.raises(ours) as caught, lance_errors("s3://b/mine", is_write=options):
            raise error(told)

        assert str(caught.value) == f"cannot {verb} the library 's3://b/mine': {gist}"
        assert type(caught.value) is ours
        assert caught.value.hint
        assert isinstance(caught.value.__cause__, error)


def test_an_error_of_ours_is_not_told_anew() -> None:
    with pytest.raises(SettingsError, match=r"^no name$"), lance_errors("x"):
        raise SettingsError("no name", hint="another")


def test_a_library_that_cannot_be_made_or_read_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    for failing in (opened, stored_table_sources, remove_tables):
        with pytest.raises(LibraryError, match=r"cannot (read|write) the library"):
            failing(str(tmp_path / "file" / "mine"))
        with pytest.raises(LibraryError, match="No object store provider found for scheme: 'foo'"):
            failing("foo://bucket/mine")


@pytest.mark.slow
def test_files_that_are_missing_are_an_error_of_ours(tmp_path: Path, uri: str) -> None:
    opened(uri).commit([row("a.md", "fox")])
    shutil.rmtree(tmp_path / "shared" / "mine.documents.lance" / "data")

    tables = opened(uri)

    with pytest.raises(LibraryError, match=r"Not found: [^,]+\.lance$") as caught:
        rows_of(tables)

    assert caught.value.hint == "make it again with: openbook add --rebuild --library mine PATH ..."
    assert stored_table_sources(uri) == []


def test_a_row_keeps_all_of_its_fields(uri: str) -> None:
    tables = opened(uri)
    stored = DocumentRow(
        "s", "ä/😀.md", "docs", "markdown", "hash", "skipped", "course", 1, -2, 2**62, '["r"]', "[]", new_version(),
        chunks=3, lengths=b"\0\1", numbers=b"\xff", rows=b"\x80\0",
    )  # fmt: skip
    heavy = DocumentBody("text \0 grün 😀\r\n", "[[0, 1]]", "[]")

    tables.commit([(stored, heavy)])
    tables.refresh()

    [(row_id, read)] = rows_of(tables).items()
    assert read == replace(stored, lengths=b"", numbers=b"", rows=b"")  # read where they are used
    [scored] = tables.scored(np.array([row_id]))
    assert replace(read, **scored.select(SCORED).to_pylist()[0]) == stored
    assert tables.heavy([row_id]) == [heavy]


def test_rows_come_in_the_order_in_which_they_are_asked_for(uri: str) -> None:
    tables = opened(uri)
    tables.commit([row(f"{number}.md", f"text {number}") for number in range(5)])
    tables.add_words([word_row(f"s{number}") | {"tokens": f"t{number}"} for number in range(5)])
    tables.refresh()
    ids = {stored.path: row_id for row_id, stored in rows_of(tables).items()}
    words = {segment: row_id for (segment, _, _), row_id in words_of(tables).items()}

    texts = [heavy.text for heavy in tables.heavy([ids["3.md"], ids["0.md"], ids["4.md"]])]
    tokens = [each["tokens"] for each in tables.rows_of_words([words["s4"], words["s1"]])]

    assert texts == ["text 3", "text 0", "text 4"]
    assert tokens == ["t4", "t1"]


def test_segments_are_dropped_and_no_others(uri: str) -> None:
    tables = opened(uri)
    tables.add_words([word_row(segment, place) for segment in ("a", "b", "c") for place in (-1, 0)])

    tables.drop_words(["a", "c", "missing"])
    tables.refresh()

    assert sorted(words_of(tables)) == [("b", "a", -1), ("b", "a", 0)]


def test_a_library_has_a_size(uri: str) -> None:
    tables = opened(uri)
    tables.commit([row("a.md", "x" * 1000)])
    tables.refresh()
    small = tables.size_bytes()

    tables.add_words([word_row("s")])
    tables.refresh()

    assert 0 < small < tables.size_bytes()
