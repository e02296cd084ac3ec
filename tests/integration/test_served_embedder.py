"""A library whose vectors come from a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from openbook.errors import KeyRefusedError, MismatchedLibraryError
from openbook.library import Library
from openbook.settings import Settings
from openbook.testing import Refusal
from tests.fakes.embedding_server import EmbeddingServer
from tests.integration.support_cli import copy_sample

Start = Callable[..., EmbeddingServer]

QUESTION = "When does a parcel count as lost?"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return copy_sample(tmp_path / "sample")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "library.sqlite"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[EmbeddingServer], Settings]:
    def chosen(server: EmbeddingServer, model: str = "tiny") -> Settings:
        monkeypatch.setenv("LLM_API_KEY", server.key)
        return Settings(home=tmp_path, embedder=f"{server.url}#{model}")

    return chosen


Served = Callable[..., Settings]


def test_every_chunk_is_embedded_once_in_few_requests_and_a_question_in_one(
    embedding_server: Start, served: Served, sample: Path, library: Path
) -> None:
    server = embedding_server()

    with Library(library, served(server)) as assistant:
        assistant.add(sample)
        sent = list(server.requests)
        answer = assistant.query(QUESTION)
        chunks = assistant.stats().chunks

    assert sum(map(len, sent)) == chunks
    assert len(sent) < chunks / 10
    assert server.requests[len(sent) :] == [[QUESTION]]
    assert "LOST_AFTER_DAYS" in answer.answer
    assert answer.quality_score == 1.0


def test_the_dense_leg_is_that_of_the_server(
    embedding_server: Start, served: Served, sample: Path, library: Path, tmp_path: Path
) -> None:
    with (
        Library(library, served(embedding_server())) as asked,
        Library(tmp_path / "own.sqlite", Settings(home=tmp_path)) as own,
    ):
        dense = []
        for assistant in (asked, own):
            assistant.add(sample)
            dense.append([result.signals.get("dense", 0.0) for result in assistant.search(QUESTION)])

    assert dense[0] != dense[1]


def test_a_library_is_refused_with_another_embedder_and_kept(
    embedding_server: Start, served: Served, sample: Path, library: Path, tmp_path: Path
) -> None:
    server = embedding_server()
    with Library(library, served(server)) as assistant:
        assistant.add(sample)

    for other in (Settings(home=tmp_path), served(server, "larger")):
        with pytest.raises(MismatchedLibraryError, match="served:tiny"):
            Library(library, other)
    with Library(library, served(server)) as assistant:
        assert assistant.search(QUESTION)


def test_a_server_that_fails_half_way_loses_nothing_that_was_committed(
    embedding_server: Start, served: Served, tmp_path: Path, library: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(60):
        (notes / f"{number:02}.md").write_text(f"# Note {number}\n\nThe ferry {number} sails.\n", encoding="utf-8")
    server = embedding_server(None, None, Refusal(403))

    with Library(library, served(server)) as assistant:
        with pytest.raises(KeyRefusedError):
            assistant.add(notes)
        kept = assistant.stats().documents
        (report,) = assistant.sync()

    assert kept == 50
    assert report.added == 10
