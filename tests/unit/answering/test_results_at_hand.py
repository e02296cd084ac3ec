from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from openbook import AnswerOptions, Library, generate_answer
from openbook.answers import GenerationResult
from openbook.errors import QueryError
from openbook.extractive.context import build_context
from openbook.settings import Settings
from openbook.testing import ScriptedModel
from openbook.types import RetrievalResult
from tests.support import write_tree

QUESTION = "How long does a session last?"
PAGE = "# Sessions\n\nWelcome.\n\n## Length\n\nA session lasts one hour.\n\n## Renewal\n\nA token renews a session.\n"

Answerer = Callable[..., GenerationResult]


@pytest.fixture
def results(tmp_path: Path) -> list[RetrievalResult]:
    write_tree(tmp_path / "docs", {"sessions.md": PAGE, "other.md": "# Other\n\nCats sleep.\n"})
    with Library.of(tmp_path / "docs", settings=Settings(home=tmp_path / "home")) as library:
        return library.search(QUESTION, limit=3)


@pytest.fixture
def answer(tmp_path: Path) -> Answerer:
    settings = Settings(home=tmp_path / "home")
    return lambda *arguments, **named: generate_answer(*arguments, **named, settings=settings)


def test_results_without_their_library_are_quoted_and_checked(results: list[RetrievalResult], answer: Answerer) -> None:
    answered = answer(QUESTION, results)

    assert "A session lasts one hour." in answered.answer
    assert {citation.verdict for citation in answered.citations} == {"exact"}
    assert "one hour" in answered.citations[0].quote
    assert answered.context_chunks[0] in results


def test_a_model_writes_from_results_and_is_checked(results: list[RetrievalResult], answer: Answerer) -> None:
    shown = build_context(results, 500).shown
    mark = next(f"[{each.number}:{unit.number}]" for each in shown for unit in each.units if "one hour" in unit.text)

    with ScriptedModel(f"A session lasts one hour {mark}.") as model:
        answered = answer(QUESTION, results, 500, 200, options=AnswerOptions(model=model, verifier="off"))

    assert [citation.verdict for citation in answered.citations] == ["exact"]
    assert model.requests[0].max_tokens == 200
    assert answered.total_tokens == 15


def test_no_results_are_a_refusal_that_asks_no_model(answer: Answerer) -> None:
    with ScriptedModel() as model:
        answered = answer(QUESTION, [], options=AnswerOptions(model=model))

    assert (answered.refused, answered.reason) == (True, "nothing found")


def test_an_empty_question_is_an_error(results: list[RetrievalResult], answer: Answerer) -> None:
    for given in (results, []):
        with pytest.raises(QueryError):
            answer(" ", given)


def test_the_same_result_twice_is_one_document(results: list[RetrievalResult], answer: Answerer) -> None:
    again = [*results, *(replace(result, score=0.0) for result in results)]

    assert answer(QUESTION, again).citations[0].verdict == "exact"
