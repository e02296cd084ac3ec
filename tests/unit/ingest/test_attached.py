"""What is attached to mail is indexed as documents of its own, which come, change and go with the mail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pytest

from openbook import Filter, Library
from openbook.index.protocol import Index
from openbook.ingest.difference import compare_source, folder_of
from openbook.settings import Settings
from openbook.sources.reader_registry import ReaderRegistry
from openbook.types import SkipReason
from tests.unit.ingest.syncing import bring

FILES = {"tides.md": b"# Tides\n\nHigh water is at noon.\n", "costs.csv": b"item,euro\nrope,12\n", "a.png": b"\x89PNG"}


def mail(files: Mapping[str, bytes] = FILES, words: str = "See the files.") -> bytes:
    message = EmailMessage()
    message["Subject"] = "Plans"
    message.set_content(words)
    for name, content in files.items():
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return bytes(message)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "plans.eml").write_bytes(mail())
    return folder


def test_attached_files_above_the_limits_of_this_process_stay_as_another_one_has_indexed_them(
    index: Index, folder: Path
) -> None:
    bring(index, folder)
    before = indexed(index)

    same = bring(index, folder, max_document_bytes=5)
    (folder / "plans.eml").write_bytes(mail(words="See all of the files."))
    changed = bring(index, folder, max_file_bytes=15)

    assert not same.wrote
    assert "plans.eml/tides.md" in before
    assert indexed(index) == before
    assert changed.remarks["plans.eml/tides.md"] == ("not updated: too large; the library keeps its earlier text",)


def indexed(index: Index) -> list[str]:
    return sorted(path for path, record in index.records("s").items() if not record.skipped)


@pytest.mark.slow
def test_each_attached_file_is_a_document_and_a_skipped_one_is_listed(index: Index, folder: Path) -> None:
    first = bring(index, folder)
    again = bring(index, folder)

    assert indexed(index) == ["plans.eml", "plans.eml/costs.csv", "plans.eml/tides.md"]
    assert (first.added, first.read) == (3, 1)
    assert first.skipped == {SkipReason.BINARY_NAME: ("plans.eml/a.png",)}
    assert (again.wrote, again.unchanged, again.read, again.skipped) == (False, 3, 0, first.skipped)


@pytest.mark.slow
def test_documents_go_with_their_attachment_and_with_their_mail(index: Index, folder: Path) -> None:
    bring(index, folder)
    (folder / "plans.eml").write_bytes(mail({"tides.md": FILES["tides.md"]}, "One file is enough."))
    fewer = bring(index, folder)
    kept = indexed(index)
    (folder / "plans.eml").unlink()
    none = bring(index, folder, only=("plans.eml",))

    assert kept == ["plans.eml", "plans.eml/tides.md"]
    assert (fewer.changed, fewer.removed, fewer.skipped) == (2, 1, {})
    assert (none.removed, index.records("s")) == (2, {})


@pytest.mark.slow
def test_documents_go_when_their_mail_cannot_be_read_any_more(index: Index, folder: Path) -> None:
    bring(index, folder)
    (folder / "plans.eml").write_bytes(b"\0\1\2" * 9)
    bring(index, folder)

    assert indexed(index) == []
    assert list(index.records("s")) == ["plans.eml"]


@pytest.mark.slow
def test_mail_is_read_again_when_an_attached_file_can_be_read_now(index: Index, folder: Path) -> None:
    bring(index, folder)
    report = bring(index, folder, readers=ReaderRegistry({"png": lambda raw, _: f"A picture of {len(raw)} bytes."}))

    assert "plans.eml/a.png" in indexed(index)
    assert (report.added, report.skipped) == (1, {})


@pytest.mark.slow
def test_mail_is_read_again_when_an_attached_file_would_be_read_otherwise(index: Index, folder: Path) -> None:
    (folder / "plans.eml").write_bytes(mail({"a.org": b"* Tides\n"}))
    bring(index, folder)
    document = index.document("s", "plans.eml/a.org")
    assert document is not None
    older = document.content_hash.partition("/")[0]
    with index.batch():
        index.put(replace(document, content_hash=older), (), index.records("s")["plans.eml/a.org"].stamp)

    opened = folder_of(next(iter(index.roots())), Settings())
    assert [file.path for file in compare_source(opened, index).todo] == ["plans.eml"]
    bring(index, folder)
    assert index.records("s")["plans.eml/a.org"].content_hash == document.content_hash


@pytest.mark.slow
def test_a_quote_of_an_attached_file_holds_as_long_as_its_mail_is_the_same(tmp_path: Path, folder: Path) -> None:
    with Library.open("plans") as library:
        library.add(folder)
        result = library.search("When is high water?", where=Filter(globs=("plans.eml/*",)))[0]
        answer = library.query("When is high water?")
        (folder / "plans.eml").write_bytes(mail(FILES, "It has changed."))
        now = library.text_now(result.chunk)

    assert result.chunk.span.path == "plans.eml/tides.md"
    assert [(one.span.path, one.verdict) for one in answer.citations] == [("plans.eml/tides.md", "exact")]
    assert now is None
