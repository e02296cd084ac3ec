"""The contract of rerankers. One that needs no server joins by adding a line to `RERANKERS`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from openbook.llm.reranking import open_remote_reranker
from openbook.retrieval.cross_encoder import CrossEncoder
from openbook.retrieval.reranking import Reranker
from tests.fakes.rerank_server import DIALECTS, RerankServer
from tools.tiny_nli import RERANKER, write

QUESTION = "When does the ferry sail?"
TEXTS = [
    "Bread is baked at night.",
    "The ferry sails at noon: that is when.",
    "",
    "文件在哪里关闭？ \udce4",
    "ferry " * 9_000,
]


class Shared:
    """A minimal reranker: counts the words that a text shares with the question."""

    name = "shared"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Count them."""
        return [float(len(_words(question) & _words(text))) for text in texts]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


RERANKERS: dict[str, Callable[[Path], Reranker]] = {
    "shared": lambda _: Shared(),
    "onnx": lambda folder: CrossEncoder(write(folder, RERANKER)),
}


@pytest.fixture(params=[*RERANKERS, *DIALECTS])
def reranker(request: pytest.FixtureRequest, rerank_server: Callable[..., RerankServer], tmp_path: Path) -> Reranker:
    if request.param in RERANKERS:
        return RERANKERS[request.param](tmp_path)
    server = rerank_server(dialect=request.param)
    return open_remote_reranker(server.name, environ={"LLM_API_KEY": server.key})


def test_a_reranker_is_one_by_its_shape_and_has_a_name(reranker: Reranker) -> None:
    assert isinstance(reranker, Reranker)
    assert reranker.name


def test_each_text_has_one_finite_score_in_their_order(reranker: Reranker) -> None:
    scores = list(reranker.scores(QUESTION, TEXTS))

    assert len(scores) == len(TEXTS)
    assert all(math.isfinite(score) for score in scores)
    assert list(reranker.scores(QUESTION, TEXTS[::-1])) == scores[::-1]


def test_the_text_that_answers_has_the_highest_score(reranker: Reranker) -> None:
    wrong, right = reranker.scores(QUESTION, TEXTS[:2])

    assert right > wrong


def test_no_texts_have_no_scores(reranker: Reranker) -> None:
    assert list(reranker.scores(QUESTION, [])) == []


def test_more_texts_than_one_request_holds_are_all_scored(reranker: Reranker) -> None:
    scores = list(reranker.scores(QUESTION, ["bread"] * 40 + ["the ferry"]))

    assert len(scores) == 41
    assert max(scores) == scores[-1] > scores[0]
