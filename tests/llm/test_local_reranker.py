"""Scores of a real server, whose model was not made for them: only that they are whole and in order is looked at.

llama-server speaks two wires of `/rerank`: that of Jina, and that of Text Embeddings Inference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.library import Library
from openbook.llm.reranking import open_remote_reranker
from openbook.settings import Settings
from tools.local_model.server import MODEL, serving

pytestmark = [pytest.mark.llm, pytest.mark.allow_hosts(["127.0.0.1"])]

QUESTION = "When does the ferry sail?"
TEXTS = ["Bread is baked at night.", "The ferry sails at nine.", "", "def close(self): ..."]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(ranks=True) as url:
        yield url


@pytest.fixture(params=["documents", "texts"])
def name(request: pytest.FixtureRequest, address: str) -> str:
    return f"{address}/v1#{MODEL}" if request.param == "documents" else f"tei:{address}/v1"


def test_each_text_has_a_score_in_their_order(name: str) -> None:
    reranker = open_remote_reranker(name, environ={})

    scores = reranker.scores(QUESTION, TEXTS)

    assert len(set(scores)) == len(TEXTS)
    assert all(map(math.isfinite, scores))
    assert reranker.scores(QUESTION, TEXTS[::-1]) == pytest.approx(scores[::-1], abs=1e-3)


def test_a_text_that_is_longer_than_the_server_reads_is_scored_as_far_as_it_does(name: str) -> None:
    (score,) = open_remote_reranker(name, environ={}).scores(QUESTION, ["ferry " * 2_000])

    assert math.isfinite(score)


def test_a_library_is_searched_with_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for number, text in enumerate(TEXTS[:2]):
        (tmp_path / f"notes/{number}.md").write_text(f"# Note {number}\n\n{text} The harbour.\n", encoding="utf-8")

    with Library(tmp_path / "library.sqlite", Settings(home=tmp_path)) as plain:
        plain.add(tmp_path / "notes")
        first = plain.search("harbour ferry bread?")
    with Library(tmp_path / "library.sqlite", Settings(home=tmp_path, reranker=name)) as assistant:
        found = assistant.search("harbour ferry bread?")

    assert {result.chunk.key for result in found} == {result.chunk.key for result in first}
    assert len(found) == 2
