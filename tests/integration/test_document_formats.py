"""Folders with PDF and other formats that are read by a process of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from openbook.embedding.protocol import Embedder
from openbook.index.protocol import Index, Source
from openbook.index.sqlite import SqliteIndex
from openbook.ingest.sync import SyncReport, sync
from openbook.settings import Secret, Settings
from openbook.testing import HashEmbedder
from tests.jobs import FragileEmbedder
from tests.support import IDENTITY
from tests.unit.sources.readers.pdf_files import FACT, pdf, picture, text


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with contextlib.closing(SqliteIndex(tmp_path / "library.sqlite", IDENTITY)) as opened:
        yield opened


def bring(
    index: Index, tree: Path, *, load_embedder: Callable[[], Embedder] = FragileEmbedder, **settings: Any
) -> SyncReport:
    root = Source("s", "folder", str(tree))
    return sync(root, index, settings=Settings(**settings), load_embedder=load_embedder, now=lambda: 4e9)


def put(tree: Path, **files: bytes) -> Path:
    tree.mkdir(exist_ok=True)
    for name, raw in files.items():
        (tree / name.replace("_", ".")).write_bytes(raw)
    return tree


def reasons(report: SyncReport) -> dict[str, tuple[str, ...]]:
    return dict(report.skipped)


@pytest.mark.slow
def test_each_file_that_cannot_be_read_costs_one_line_and_no_other_file(index: Index, tmp_path: Path) -> None:
    tree = put(
        tmp_path / "tree",
        good_pdf=pdf(text(FACT), picture, picture),
        fake_pdf=b"words",
        crash_pdf=pdf(text("venom")),
        damaged_pdf=b"%PDF-1.7\nnothing",
        notes_md=b"# Notes\n",
    )

    report = bring(index, tree)

    assert (report.added, sorted(index.records("s"))) == (2, sorted(path.name for path in tree.iterdir()))
    assert "ended the process that read it" in report.remarks["crash.pdf"][0]
    assert {path: remarks for path, remarks in report.remarks.items() if path != "crash.pdf"} == {
        "damaged.pdf": ("not indexed: damaged",),
        "fake.pdf": ("not indexed: not a PDF file",),
        "good.pdf": ("no text on pages 2 to 3",),
    }
    assert index.records("s")["good.pdf"].remarks == ("no text on pages 2 to 3",)


@pytest.mark.slow
def test_a_file_that_takes_too_long_is_given_up_and_tried_again_with_more_time(index: Index, tmp_path: Path) -> None:
    tree = put(tmp_path / "tree", slow_pdf=pdf(text("mire")), good_pdf=pdf(text(FACT)))

    first = bring(index, tree, file_timeout_s=3)
    second = bring(index, tree, file_timeout_s=3)
    third = bring(index, tree, file_timeout_s=30, load_embedder=HashEmbedder)

    assert reasons(first) == {"took longer than 3 s": ("slow.pdf",)}
    assert (first.added, second.read, third.added, reasons(third)) == (1, 0, 1, {})


@pytest.mark.slow
def test_what_was_encrypted_or_too_long_is_read_when_settings_allow_it(index: Index, tmp_path: Path) -> None:
    tree = put(tmp_path / "tree", secret_pdf=pdf(text(FACT), password="sesame"), long_pdf=pdf(text(FACT), text("Two.")))

    first = bring(index, tree, max_pages=1)
    again = bring(index, tree, max_pages=1)
    second = bring(index, tree, pdf_password=Secret("sesame"))

    assert reasons(first) == {
        "encrypted; give its password with OPENBOOK_PDF_PASSWORD": ("secret.pdf",),
        "more than 1 pages": ("long.pdf",),
    }
    assert (again.read, second.added, reasons(second)) == (0, 2, {})


@pytest.mark.slow
def test_a_file_larger_than_allowed_is_not_opened(index: Index, tmp_path: Path) -> None:
    tree = put(tmp_path / "tree", a_pdf=pdf(text(FACT)))

    assert reasons(bring(index, tree, max_document_bytes=100)) == {"too large": ("a.pdf",)}
    assert reasons(bring(index, tree, max_file_bytes=100)) == {}


@pytest.mark.slow
def test_a_pdf_without_its_suffix_is_read_by_a_process_of_its_own_too(index: Index, tmp_path: Path) -> None:
    tree = put(tmp_path / "tree", notes=pdf(text("venom")), good=pdf(text(FACT)))

    report = bring(index, tree)

    assert report.added == 1
    assert "ended the process that read it" in report.remarks["notes"][0]


@pytest.mark.slow
def test_a_chunk_of_a_pdf_is_a_slice_of_its_text_and_knows_its_page(index: Index, tmp_path: Path) -> None:
    bring(index, put(tmp_path / "tree", a_pdf=pdf(*(text(f"Page {number}. {FACT * 30}") for number in (1, 2, 3)))))

    document, chunks = index.document("s", "a.pdf"), index.chunks("s", "a.pdf")

    assert document is not None
    assert {chunk.anchor for chunk in chunks} == {"p. 1", "p. 2", "p. 3"}
    assert all(document.text[chunk.span.start_char : chunk.span.end_char] == chunk.text for chunk in chunks)
