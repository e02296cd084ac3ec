"""A second stage that is really there: behind searches, answers, the command line and `doctor`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from openbook.cli import EXIT_FAILURE
from openbook.embedding.static import load_embedder
from openbook.errors import SettingsError
from openbook.library import Library
from openbook.retrieval.search import Retriever
from openbook.settings import Settings
from openbook.testing import Refusal
from tests.fakes.rerank_server import RerankServer
from tests.integration.support_cli import copy_sample, run
from tests.support import write_tree
from tools.tiny_nli import RERANKER, write

Start = Callable[..., RerankServer]

QUESTION = "When does a parcel count as lost?"
FAILURES = [Refusal(500, "out of memory")] * 9


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return copy_sample(tmp_path / "sample")


@pytest.fixture
def first(sample: Path, tmp_path: Path) -> list[str]:
    """Return the order of the first stage."""
    with Library(tmp_path / "library.sqlite", Settings(home=tmp_path)) as assistant:
        assistant.add(sample)
        return [str(result.chunk.span) for result in assistant.search(QUESTION, limit=20)]


@pytest.fixture
def served(rerank_server: Start, monkeypatch: pytest.MonkeyPatch) -> Start:
    def start(*refusals: Refusal, **options: object) -> RerankServer:
        server = rerank_server(*refusals, **options)
        monkeypatch.setenv("LLM_API_KEY", server.key)
        return server

    return start


def test_the_first_twenty_are_read_once_and_come_in_a_new_strict_order(
    served: Start, first: list[str], tmp_path: Path
) -> None:
    server = served()

    with Library(tmp_path / "library.sqlite", Settings(home=tmp_path, reranker=server.name)) as assistant:
        found = assistant.search(QUESTION, limit=20)
        three = assistant.search(QUESTION, limit=3)

    assert sorted(str(result.chunk.span) for result in found) == sorted(first)
    assert [str(result.chunk.span) for result in found] != first
    assert three == found[:3]
    assert any("rerank" in result.signals for result in found)
    assert sorted(found, key=lambda result: (-result.score, *map(str, result.chunk.key))) == found
    assert server.questions[:2] == [QUESTION, QUESTION]
    assert [len(texts) for texts in server.requests[:2]] == [20, 20]


@pytest.mark.slow
def test_a_server_that_fails_loses_no_result_and_no_answer(
    served: Start, first: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = served(*FAILURES)

    with Library(tmp_path / "library.sqlite", Settings(home=tmp_path, reranker=server.name)) as assistant:
        found = assistant.search(QUESTION, limit=20)

    assert [str(result.chunk.span) for result in found] == first
    assert "failed, so results stay in their first order" in caplog.text
    assert server.key not in caplog.text


def test_answers_are_made_from_what_the_reranker_puts_first(served: Start, first: list[str], tmp_path: Path) -> None:
    server = served()

    with Library(tmp_path / "library.sqlite", Settings(home=tmp_path, reranker=server.name)) as assistant:
        answer = assistant.query(QUESTION)

    assert "LOST_AFTER_DAYS" in answer.answer
    assert QUESTION in server.questions


def test_a_reranker_of_ones_own_takes_part(first: list[str], tmp_path: Path) -> None:
    class LastFirst:
        name = "last first"

        def scores(self, question: str, texts: Sequence[str]) -> list[float]:
            """Turn the order round."""
            return [float(place) for place, _ in enumerate(texts)]

    with Library(tmp_path / "library.sqlite", Settings(home=tmp_path)) as assistant:
        assistant.retriever = Retriever(assistant.index, load_embedder(), reranker=LastFirst())
        found = assistant.search(QUESTION, limit=20)

    assert [str(result.chunk.span) for result in found] == first[::-1]


def test_what_is_added_to_scores_reorders_passages_and_not_files(tmp_path: Path) -> None:
    class LastFirst:
        name, weight = "last first", 100.0

        def scores(self, question: str, texts: Sequence[str]) -> list[float]:
            """Turn the order round."""
            return [float(place) for place, _ in enumerate(texts)]

    question = "What counts as lost?"
    pages = {"a.md": "A parcel counts as lost.\n", "b.md": "A package counts as lost.\n"}
    pages |= {f"{number}.md": f"Bread rises at {number} degrees.\n" for number in range(20, 25)}

    with Library(tmp_path / "library.sqlite", Settings(home=tmp_path)) as assistant:
        assistant.add(write_tree(tmp_path / "pages", pages))
        embedder = load_embedder()
        first, second = (Retriever(assistant.index, embedder, reranker=each) for each in (None, LastFirst()))
        passages = [[result.chunk.key for result in each.search(question, view="passages")] for each in (first, second)]
        files = [[result.chunk.key for result in each.search(question, view="files")] for each in (first, second)]

    assert passages[0] != passages[1]
    assert files[0] == files[1]


def test_nobody_is_asked_unless_a_reranker_is_named(served: Start, first: list[str], tmp_path: Path) -> None:
    server = served()

    for reranker in ("", "off"):
        with Library(tmp_path / "library.sqlite", Settings(home=tmp_path, reranker=reranker)) as assistant:
            assert [str(result.chunk.span) for result in assistant.search(QUESTION, limit=20)] == first

    assert server.requests == []


def test_a_library_is_filled_without_the_reranker_and_a_wrong_name_fails_the_search(
    sample: Path, tmp_path: Path
) -> None:
    with Library(tmp_path / "new.sqlite", Settings(home=tmp_path, reranker="onnx:nowhere")) as assistant:
        assistant.add(sample)
        with pytest.raises(SettingsError, match="no model 'nowhere'"):
            assistant.search(QUESTION)


def test_the_command_line_takes_a_model_in_a_folder_and_explains_it(
    sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBOOK_HOME", str(tmp_path / "home"))
    model = write(tmp_path / "tiny", RERANKER)

    plain = run(capsys, "search", QUESTION, sample, "--explain")
    done = run(capsys, "search", QUESTION, sample, "--explain", "--reranker", f"onnx:{model}")

    assert plain.code == done.code == 0
    assert "rerank" not in plain.out
    assert "rerank" in done.out


def test_doctor_tries_the_reranker_that_is_set(
    served: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBOOK_HOME", str(tmp_path / "home"))
    server, useless = served(), served(reply=[{"index": place, "score": 0.5} for place in (0, 1)])

    monkeypatch.setenv("OPENBOOK_RERANKER", server.name)
    right = run(capsys, "doctor")
    monkeypatch.setenv("OPENBOOK_RERANKER", useless.name)
    wrong = run(capsys, "doctor")
    monkeypatch.setenv("OPENBOOK_RERANKER", "nonsense")
    unknown = run(capsys, "doctor")

    assert f"reranker {server.name}: two texts in " in right.out
    assert server.key not in right.out + right.err
    assert "does not score higher" in wrong.out
    assert "unknown provider 'nonsense'" in unknown.out
    assert (right.code, wrong.code, unknown.code) == (0, EXIT_FAILURE, EXIT_FAILURE)
