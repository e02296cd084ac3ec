"""The contract of embedders. A new one that needs no server joins by adding one line to `EMBEDDERS`."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from openbook.embedding.protocol import Embedder
from openbook.embedding.static import load_embedder
from openbook.llm.embeddings import open_remote_embedder
from openbook.testing import HashEmbedder
from tests.fakes.embedding_server import EmbeddingServer

EMBEDDERS: dict[str, Callable[[], Embedder]] = {"static": load_embedder, "hash": HashEmbedder}

TEXTS = [
    "How is a file closed?",
    "def close(self) -> None:",
    "Wo werden Sitzungen gespeichert? Süße Grüße",
    "文件在哪里关闭？",
    "naïve café, e\u0301 and \u00e9",
]


@pytest.fixture(params=[*EMBEDDERS, "served"])
def embedder(request: pytest.FixtureRequest, embedding_server: Callable[[], EmbeddingServer]) -> Embedder:
    if request.param in EMBEDDERS:
        return EMBEDDERS[request.param]()
    server = embedding_server()
    return open_remote_embedder(f"{server.url}#any", environ={"LLM_API_KEY": server.key})


def test_vectors_are_float32_rows_of_dim_numbers(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)

    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), embedder.dim)


def test_rows_have_unit_length(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)

    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)


def test_no_text_gives_no_row_but_keeps_the_dimensions(embedder: Embedder) -> None:
    vectors = embedder.embed([])

    assert vectors.dtype == np.float32
    assert vectors.shape == (0, embedder.dim)


@pytest.mark.parametrize("text", ["", " \n\t ", "\0"], ids=["empty", "blank", "control"])
def test_a_text_without_words_is_a_row_of_zeros(embedder: Embedder, text: str) -> None:
    vectors = embedder.embed([TEXTS[0], text])

    assert vectors[0].any()
    assert not vectors[1].any()


@pytest.mark.slow
def test_a_batch_equals_its_texts_embedded_one_by_one(embedder: Embedder) -> None:
    many = [f"{text} {number}" for number in range(120) for text in TEXTS]

    batch = embedder.embed(many)

    assert np.array_equal(batch[::31], np.concatenate([embedder.embed([text]) for text in many[::31]]))


def test_rows_follow_the_order_of_the_texts(embedder: Embedder) -> None:
    forward = embedder.embed(TEXTS)

    backward = embedder.embed(TEXTS[::-1])

    assert np.array_equal(forward, backward[::-1])


def test_a_text_is_closest_to_itself(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)

    closest = (vectors @ vectors.T).argmax(axis=1)

    assert closest.tolist() == list(range(len(TEXTS)))


def test_shared_words_bring_texts_closer(embedder: Embedder) -> None:
    question, answer, other = embedder.embed(
        ["where is the session closed", "the session is closed here", "grow red roses in clay"]
    )

    assert question @ answer > question @ other + 0.3


@pytest.mark.parametrize(
    "text",
    ["\ud800 lone surrogate", "a\u0301" * 5_000, "\u202eright to left", "😀 emoji", "x" * 1_000_000, "aB" * 500_000],
    ids=["surrogate", "combining", "direction", "emoji", "one-word-of-a-megabyte", "a-megabyte-of-camels"],
)
def test_strange_text_gives_a_finite_row(embedder: Embedder, text: str) -> None:
    (vector,) = embedder.embed([text])

    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6) or not vector.any()


def test_texts_may_come_in_any_sequence(embedder: Embedder) -> None:
    vectors = embedder.embed(tuple(TEXTS))

    assert np.array_equal(vectors, embedder.embed(TEXTS))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(EMBEDDERS))
def test_another_process_with_another_hash_seed_makes_the_same_vectors_and_identity(name: str) -> None:
    here = EMBEDDERS[name]()
    code = (
        "from tests.contract.test_embedder import EMBEDDERS, TEXTS, fingerprint; "
        f"print(fingerprint(EMBEDDERS[{name!r}]()))"
    )

    there = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONHASHSEED": "2", "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert there.stdout.strip() == fingerprint(here)


def test_identities_tell_embedders_apart() -> None:
    identities = [make().identity for make in EMBEDDERS.values()]

    assert all(identities)
    assert len(set(identities)) == len(identities)


def fingerprint(embedder: Embedder) -> str:
    return f"{embedder.identity} {hashlib.sha256(embedder.embed(TEXTS).tobytes()).hexdigest()}"
