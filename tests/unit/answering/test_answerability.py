"""How far what was found speaks of a question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from openbook.answering.answerability import (
    ANSWERABLE_FLOOR,
    SUPPORT_FLOOR,
    Answerability,
    AnswerabilityFeatures,
    measure_answerability,
    support,
)
from openbook.answering.evidence import EvidenceFinder
from openbook.questions.question import read_question
from openbook.retrieval.search import Retriever
from openbook.testing import HashEmbedder
from openbook.tokens import tokenize
from openbook.types import Filter
from tests.unit.retrieval.material import Library, chunk_of, result_of

EMBEDDER = HashEmbedder()
ANSWER = "The retry policy waits one minute."


def support_of(text: str, *found: str, words: str = "") -> float:
    rarity = dict.fromkeys(tokenize(words or text), 1.0)
    results = [result_of(chunk_of(chunk, f"{number}.md")) for number, chunk in enumerate(found)]
    return support(text, results, EMBEDDER, rarity)


def test_without_results_nothing_is_supported() -> None:
    assert support_of("retry policy") == 0.0


def test_a_sentence_that_says_it_is_more_than_its_words_here_and_there() -> None:
    scattered = "The policy is old. A retry is dear. Whoever waits pays. It takes one day. A minute has seconds."

    assert support_of("retry policy waits one minute", ANSWER) > support_of("retry policy waits one minute", scattered)


def test_what_is_said_elsewhere_in_the_chunk_counts_too() -> None:
    alone = support_of("retry policy of the harbour", ANSWER)
    together = support_of("retry policy of the harbour", f"This is the harbour. {ANSWER}")

    assert together > alone


def test_the_best_of_the_first_three_results_decides() -> None:
    others = ["Ferries sail at noon.", "Dogs stay at home."]

    third = support_of("retry policy", *others, ANSWER)
    fourth = support_of("retry policy", *others, "Cats, too.", ANSWER)

    assert fourth < SUPPORT_FLOOR < third


def test_earlier_turns_lend_nearness_and_no_words() -> None:
    last = "who painted it"

    stands_alone = support_of(last, ANSWER)
    follows = support_of(f"the retry policy waits one minute {last}", ANSWER, words=last)
    as_one = support_of(f"the retry policy waits one minute {last}", ANSWER)

    assert stands_alone < follows < as_one


@pytest.mark.parametrize("text", [ANSWER, "retry"])
def test_support_lies_between_zero_and_one(text: str) -> None:
    assert 0.0 <= support_of(text, ANSWER) <= 1.0 + 1e-6


@pytest.fixture
def harbour(tmp_path: Path) -> Library:
    library = Library(tmp_path / "harbour.db")
    library.put("a.md", ANSWER, *(f"Pier {number} has a crane that lifts parcels." for number in range(60)))
    return library


def told_of(library: Library, question: str) -> Answerability:
    asked, retriever = read_question(question), Retriever(library.index, EMBEDDER)
    results = retriever.search(asked, view="passages")
    return measure_answerability(asked, results, retriever.matches_of(asked, Filter()), library.index, EMBEDDER)


def test_the_odds_are_better_for_what_the_library_answers(harbour: Library) -> None:
    answered = told_of(harbour, "How long does the retry policy wait?")
    other = told_of(harbour, "Which tomatoes make the best soup?")

    assert other.odds < ANSWERABLE_FLOOR < answered.odds


def test_a_word_that_says_most_of_a_question_and_stands_nowhere_decides_it(harbour: Library) -> None:
    told = told_of(harbour, "Does the crane lift websocket websocket websocket parcels?")

    assert told.deciding == ("websocket",)
    assert told.signs.decided == 1.0


def test_a_word_among_others_that_stands_nowhere_decides_nothing(harbour: Library) -> None:
    assert told_of(harbour, "Which crane lifts heavy parcels on a pier?").deciding == ()


@pytest.mark.parametrize(
    ("question", "unnamed"),
    [
        pytest.param("Can the crane lift parcels from Kubernetes?", 1.0, id="a-product"),
        pytest.param("Does the crane keep parcels in S3?", 1.0, id="a-letter-and-a-digit"),
        pytest.param("Does a crane lift parcels with two-factor locks?", 1.0, id="a-compound"),
        pytest.param("Does a crane lift parcels over HTTP/3?", 1.0, id="a-version-of-a-protocol"),
        pytest.param("Which crane lifts parcels at Pier 7?", 0.0, id="a-name-that-is-there"),
        pytest.param("Kubernetes parcels lifted by which crane?", 0.0, id="the-first-word"),
        pytest.param("How Does The Crane Lift Heavy Freight?", 0.0, id="a-heading"),
        pytest.param("Which crane lifts freight?", 0.0, id="no-name"),
        pytest.param("Welcher Kran hebt die Kiste am Kai?", 0.0, id="german-nouns"),
        ("does it lift the rope in March, on a Friday", 0.0),
    ],
)
def test_a_name_or_a_compound_that_no_result_has_is_told(harbour: Library, question: str, unnamed: float) -> None:
    assert told_of(harbour, question).signs.unnamed == unnamed


def test_a_name_that_no_result_has_makes_an_answer_less_likely(harbour: Library) -> None:
    named = told_of(harbour, "Which crane lifts parcels at Sundown?")

    assert named.odds < named._replace(signs=named.signs._replace(unnamed=0.0)).odds


def test_a_compound_is_found_whichever_way_it_is_joined(tmp_path: Path) -> None:
    library = Library(tmp_path / "joined.db")
    library.put("a.md", "The lock has two factor authentication over HTTP3.", ANSWER)

    assert told_of(library, "Does the lock have two-factor authentication over HTTP/3?").signs.unnamed == 0.0


def test_it_is_a_good_sign_that_words_and_meaning_lead_to_the_same_chunks(harbour: Library) -> None:
    asked, retriever = read_question("Which crane at pier 7 lifts parcels?"), Retriever(harbour.index, EMBEDDER)
    results, matches = retriever.search(asked, view="passages"), retriever.matches_of(asked, Filter())
    by_words = sorted(matches.evidence, key=lambda each: -each.bm25)
    same, opposite = (
        replace(matches, evidence=tuple(each._replace(cosine=sign * n) for n, each in enumerate(by_words)))
        for sign in (-0.01, 0.01)
    )

    agreeing, other, unknown = (
        measure_answerability(asked, results, some, harbour.index, EMBEDDER, made_by_other=made_by_other)
        for some, made_by_other in ((same, False), (opposite, False), (opposite, True))
    )

    assert agreeing.signs.agreement == 1.0
    assert other.signs.agreement < unknown.signs.agreement < agreeing.signs.agreement
    assert other.odds < agreeing.odds


def test_chunks_without_a_word_of_the_question_agree_with_nothing(harbour: Library) -> None:
    assert told_of(harbour, "Which tomatoes make the best soup?").signs.agreement == 0.0


def test_it_is_a_good_sign_that_one_chunk_holds_the_words_together(tmp_path: Path) -> None:
    texts = {"together": (ANSWER, "Ferries sail."), "apart": ("The retry is dear.", "A policy waits.", "One minute.")}
    told = {}
    for name, some in texts.items():
        library = Library(tmp_path / f"{name}.db")
        library.put("a.md", *some)
        told[name] = told_of(library, "retry policy waits one minute").signs.best_coverage

    assert told["apart"] < told["together"] == pytest.approx(1.0)


def test_each_sign_lies_between_zero_and_one(harbour: Library) -> None:
    for question in ("crane", "Which tomatoes make the best soup?", "番茄汤最好的做法是什么？"):
        assert all(0.0 <= sign <= 1.0 + 1e-6 for sign in told_of(harbour, question).signs)


def test_words_that_only_make_the_sentence_are_not_missed(harbour: Library) -> None:
    german, none = told_of(harbour, "Was ist der crane"), told_of(harbour, "Wasen isten derer crane")

    assert german.signs.missing_share == 0 < none.signs.missing_share


def test_everyday_words_are_not_missed_unless_there_are_no_others(harbour: Library) -> None:
    put, other = (told_of(harbour, f"Where do I {verb} the crane?") for verb in ("put", "vulcanize"))
    alone = told_of(harbour, "How do I put it?")

    assert (put.deciding, put.signs.missing_share) == ((), 0.0)
    assert other.signs.missing_share > 0.0
    assert alone.signs.missing_share == 1.0


def test_what_the_rest_of_a_library_says_answers_nothing_behind_a_filter(harbour: Library) -> None:
    harbour.put("b.md", *(f"Tomatoes number {number} make soup." for number in range(60)))
    finder = EvidenceFinder(harbour.index, EMBEDDER, harbour.text_now)
    asked = read_question("Which crane at pier 7 lifts parcels?")

    def signs_of(*globs: str) -> AnswerabilityFeatures:
        where = Filter(globs=globs)
        return finder.answerability(asked, finder.find(asked, 10, where), where).signs

    other, own, whole = signs_of("b.md"), signs_of("a.md"), signs_of()
    assert other.best_coverage < own.best_coverage == whole.best_coverage
    assert other.agreement < own.agreement


def test_a_date_that_the_best_results_are_of_is_not_missing(tmp_path: Path) -> None:
    library = Library(tmp_path / "minutes.db")
    library.put("2024-03-20.md", "Two captains are ill.", *(f"Text number {number}." for number in range(9)))

    found = told_of(library, "Which captains are ill on March 20th, 2024?").signs
    other = told_of(library, "Which captains are ill on April 21st, 2023?").signs

    assert (found.missing_share, found.best_coverage) == (0.0, 1.0)
    assert other.missing_share > 0.5
