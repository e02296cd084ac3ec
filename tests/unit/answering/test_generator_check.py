"""The answer of any model, checked by the generator against what the model was shown."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from openbook.answering.generator import Generator
from openbook.errors import QueryError
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.types import RetrievalResult
from openbook.usage import Usage
from tests.unit.answering.checks import verdict_lines
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


def test_an_answer_is_given_back_with_its_sources(generator: Generator, shown: list[RetrievalResult]) -> None:
    result = generator.check(QUESTION, ANSWER, shown)

    assert (result.query, result.answer, result.refused, result.reason) == (QUESTION, ANSWER, False, "")
    assert result.sources_cited == ("a.md:1",)
    assert result.quality_score == 1.0
    assert result.results == tuple(shown)
    assert (result.model, result.verifier, result.cost_usd) == ("", "", Decimal(0))


def test_conflicts_are_flagged_and_count_against_the_answer(generator: Generator, shown: list[RetrievalResult]) -> None:
    result = generator.check(QUESTION, f"{ANSWER} The retry policy waits 90 seconds [1:2].", shown)

    assert [claim.verdict for claim in result.claims] == ["exact", "conflict"]
    assert result.quality_score == 0.5
    assert not result.refused


def test_what_was_repaired_is_kept_on_the_answer(generator: Generator, shown: list[RetrievalResult]) -> None:
    result = generator.check(QUESTION, "The retry policy waits 30 seconds [1:1].", shown)

    assert result.answer == "The retry policy waits 30 seconds [1:2]."
    assert [repair.what for repair in result.repairs] == ["anchored"]


def test_a_model_can_verify_an_answer(generator: Generator, shown: list[RetrievalResult]) -> None:
    reply = ScriptedReply(verdict_lines(("entailed", "Sessions end after one hour")), usage=Usage(70, 30))
    with ScriptedModel(reply, name="scripted:checks") as model:
        result = generator.check(QUESTION, "A session is over after an hour [1:1].", shown, verifier=model)

    assert [claim.verdict for claim in result.claims] == ["confirmed"]
    assert (result.verifier, result.usage, result.cost_usd) == ("scripted:checks", Usage(70, 30), None)


def test_the_policy_reaches_the_check(generator: Generator, shown: list[RetrievalResult]) -> None:
    wrong = "The retry policy waits 90 seconds [1:2]."

    dropped = generator.check(QUESTION, f"{ANSWER}\n\n{wrong}", shown, policy="drop")
    retried = generator.check(QUESTION, wrong, shown, policy="retry", retry=lambda _: ANSWER)

    assert dropped.answer.strip() == retried.answer == ANSWER


def test_an_answer_that_nothing_is_known_of_is_shown(generator: Generator, shown: list[RetrievalResult]) -> None:
    result = generator.check(QUESTION, "Bananas are sweet and yellow [1:1].", shown)

    assert (result.answer, result.refused) == ("Bananas are sweet and yellow [1:1].", False)
    assert [claim.verdict for claim in result.claims] == ["unverified"]
    assert result.quality_score is None


def test_a_model_may_refuse_in_its_own_words(generator: Generator, shown: list[RetrievalResult]) -> None:
    told = generator.check(QUESTION, "I don't know.", shown)
    silent = generator.check(QUESTION, " ", shown)

    assert (told.refused, told.reason, told.answer) == (True, "nothing claimed", "I don't know.")
    assert (silent.refused, silent.reason) == (True, "nothing written")
    assert silent.answer.startswith("The model returned an empty answer. Ask again")


def test_without_results_every_mark_is_unknown(generator: Generator) -> None:
    result = generator.check(QUESTION, ANSWER, [])

    assert (result.answer, result.results) == (ANSWER, ())
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
