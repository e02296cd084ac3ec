"""Vectors of a real server, which were not made for searching: only that they are whole and in order is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from openbook.library import Library
from openbook.llm.embeddings import open_remote_embedder
from openbook.settings import Settings
from tools.local_model.server import MODEL, serving

pytestmark = [pytest.mark.llm, pytest.mark.allow_hosts(["127.0.0.1"])]


@pytest.fixture(scope="module")
def name() -> Iterator[str]:
    with serving(embeds=True) as url:
        yield f"{url}/v1#{MODEL}"


def test_texts_become_rows_of_unit_length_in_their_order(name: str) -> None:
    embedder = open_remote_embedder(name, environ={})

    both = embedder.embed(["The ferry sails at nine.", "", "def close(self): ..."])
    (alone,) = embedder.embed(["def close(self): ..."])

    assert both.shape == (3, embedder.dim)
    assert np.linalg.norm(both, axis=1) == pytest.approx([1.0, 0.0, 1.0], abs=1e-5)
    assert float(both[2] @ alone) > 0.999
    assert float(both[0] @ both[2]) < 0.999


def test_a_text_that_is_longer_than_the_server_reads_is_embedded_as_far_as_it_does(name: str) -> None:
    (vector,) = open_remote_embedder(name, environ={}).embed(["ferry " * 2_000])

    assert vector.any()


def test_a_library_is_made_and_searched_with_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/ferries.md").write_text(
        "# Ferries\n\nThe ferry to the island sails at nine.\n", encoding="utf-8"
    )
    (tmp_path / "notes/tides.md").write_text("# Tides\n\nThe quay is dry at low water.\n", encoding="utf-8")

    with Library(tmp_path / "library.sqlite", Settings(home=tmp_path, embedder=name)) as assistant:
        assistant.add(tmp_path / "notes")
        results = assistant.search("When does the ferry sail?")

    assert "sails at nine" in results[0].chunk.text
    assert any("dense" in result.signals for result in results)
