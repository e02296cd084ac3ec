"""The answer of any model, checked by the generator against what the model was shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.answering.generator import Generator
from openbook.errors import QueryError
from openbook.types import RetrievalResult
from tests.unit.retrieval.material import Library

QUESTION = "When do sessions end?"
ANSWER = "Sessions end after one hour [1:1]."


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    made.put("a.md", "Sessions end after one hour.\nThe retry policy waits 30 seconds.", "Roses need sun.")
    yield made
    made.close()


@pytest.fixture
def generator(library: Library) -> Generator:
    return Generator(library.index, library.embedder, text_now=library.text_now, context_tokens=1_000)


@pytest.fixture
def shown(library: Library) -> list[RetrievalResult]:
    return library.search(QUESTION, limit=3, view="passages")


def test_an_answer_that_is_supported_is_given_back_with_its_sources(
    generator: Generator, shown: list[RetrievalResult]
) -> None:
    result = generator.check(QUESTION, ANSWER, shown)

    assert (result.query, result.answer, result.refused, result.reason) == (QUESTION, ANSWER, False, "")
    assert result.sources_cited == ("a.md:1-1",)
    assert result.quality_score == 1.0
    assert result.results == tuple(shown)
    assert (result.model, result.cost_usd) == ("", None)


def test_claims_that_fail_are_flagged_and_count_against_the_answer(
    generator: Generator, shown: list[RetrievalResult]
) -> None:
    result = generator.check(QUESTION, f"{ANSWER} The retry policy waits 90 seconds [1:2].", shown)

    assert [claim.verdict for claim in result.claims] == ["supported", "unsupported"]
    assert result.quality_score == 0.5
    assert not result.refused


def test_what_was_repaired_is_kept_on_the_answer(generator: Generator, shown: list[RetrievalResult]) -> None:
    result = generator.check(QUESTION, "Sessions end after one hour [1:2].", shown)

    assert result.answer == ANSWER
    assert [repair.what for repair in result.repairs] == ["anchored"]


def test_the_policy_reaches_the_check(generator: Generator, shown: list[RetrievalResult]) -> None:
    wrong = "The retry policy waits 90 seconds [1:2]."

    dropped = generator.check(QUESTION, f"{ANSWER}\n\n{wrong}", shown, policy="drop")
    retried = generator.check(QUESTION, wrong, shown, policy="retry", retry=lambda _: ANSWER)

    assert dropped.answer.strip() == retried.answer == ANSWER


def test_an_answer_that_nothing_supports_is_refused_with_the_nearest_places(
    generator: Generator, shown: list[RetrievalResult]
) -> None:
    result = generator.check(QUESTION, "Bananas are sweet and yellow [1:1].", shown)

    assert (result.refused, result.reason) == (True, "nothing supported")
    assert result.answer.startswith("The sources do not answer this: nothing supported.\n\nWhat comes nearest")
    assert result.results == tuple(shown)
    assert [claim.verdict for claim in result.claims] == ["unsupported"]
    assert result.quality_score == 0


def test_a_model_may_refuse_in_its_own_words(generator: Generator, shown: list[RetrievalResult]) -> None:
    told = generator.check(QUESTION, " I don't know. ", shown)
    silent = generator.check(QUESTION, "", shown)

    assert (told.refused, told.reason, told.answer) == (True, "nothing claimed", "I don't know.")
    assert (silent.refused, silent.reason) == (True, "the model wrote nothing")
    assert silent.answer.startswith("The sources do not answer this: the model wrote nothing.")


def test_without_results_every_mark_is_unknown(generator: Generator) -> None:
    result = generator.check(QUESTION, ANSWER, [])

    assert (result.refused, result.results) == (True, ())
    assert [citation.verdict for citation in result.citations] == ["unknown"]


def test_only_units_that_fitted_the_budget_can_be_cited(generator: Generator, shown: list[RetrievalResult]) -> None:
    result = generator.check(QUESTION, "The retry policy waits 30 seconds [1:2].", shown, max_context_tokens=20)

    assert [citation.verdict for citation in result.citations] == ["unknown"]


def test_a_check_is_counted_like_an_answer(generator: Generator, shown: list[RetrievalResult]) -> None:
    generator.check(QUESTION, ANSWER, shown)
    generator.check(QUESTION, "", shown)

    counted = generator.get_generation_stats()
    assert (counted["total_generations"], counted["refused"], counted["with_citations"]) == (2, 1, 1)


def test_what_cannot_be_asked_cannot_be_checked(generator: Generator) -> None:
    with pytest.raises(QueryError):
        generator.check("", ANSWER, [])
