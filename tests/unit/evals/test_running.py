"""What the answers of a small library are worth, figure by figure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.answers import Citation, Claim, ClaimVerdict, GenerationResult
from openbook.evals.metrics import ExpectedSpan
from openbook.evals.questions import EvalQuestion
from openbook.evals.running import LibraryFiles, run_questions, score
from openbook.evals.runs import Figures
from openbook.library import Library
from openbook.settings import Settings
from openbook.types import Span
from openbook.usage import Usage
from tests.support import write_tree
from tests.unit.retrieval.material import chunk_of, result_of

PORT = "# Server\n\nThe harbour server listens on port 8420.\n"
DOGS = "# Animals\n\nLiving animals travel with a person.\n"


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Library]:
    write_tree(tmp_path / "guide", {"server.md": PORT, "animals.md": DOGS})
    write_tree(tmp_path / "more", {"server.md": "# Ferries\n\nA ferry takes nine cars.\n"})
    with Library.of(tmp_path / "guide", tmp_path / "more", settings=Settings(home=tmp_path / "home")) as made:
        yield made


def figures_of(assistant: Library, question: EvalQuestion) -> Figures:
    (outcome,) = run_questions(assistant, [question]).outcomes
    return outcome.figures


def test_a_right_answer_has_full_marks(assistant: Library) -> None:
    question = EvalQuestion(
        "Which port does the harbour server listen on?",
        lines=(ExpectedSpan("guide/server.md", 3, 3),),
        facts=("port 8420",),
    )

    figures = figures_of(assistant, question)

    names = ("file_recall", "file_ndcg", "line_recall", "citation_precision", "citation_recall", "confirmed", "facts")
    assert {name: figures[name] for name in names} == dict.fromkeys(names, 1.0)
    assert (figures["wrong_refusals"], figures["conflicts"]) == (0.0, 0.0)
    assert (figures["tokens"], figures["cost_usd"]) == (0.0, 0.0)


def test_what_is_not_expected_is_not_measured(assistant: Library) -> None:
    figures = figures_of(assistant, EvalQuestion("Which port does the harbour server listen on?"))

    assert set(figures) == {"wrong_refusals", "confirmed", "conflicts", "tokens", "cost_usd", "seconds"}


def test_an_unanswerable_question_is_worth_its_refusal(assistant: Library) -> None:
    outcomes = run_questions(
        assistant,
        [
            EvalQuestion("Who painted the Mona Lisa?", unanswerable=True),
            EvalQuestion("Which port does the harbour server listen on?", unanswerable=True),
        ],
    ).outcomes

    assert [outcome.figures["right_refusals"] for outcome in outcomes] == [1.0, 0.0]
    assert all("wrong_refusals" not in outcome.figures for outcome in outcomes)


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        (EvalQuestion("Which port does the harbour server listen on?", files=("guide/server.md",)), ""),
        (EvalQuestion("Which port does the harbour server listen on?"), ""),
        (EvalQuestion("Which port does the harbour server listen on?", facts=("port 9",)), "does not say 'port 9'"),
        (
            EvalQuestion("Which port does the harbour server listen on?", files=("gone.md",)),
            "not among the first 10 results",
        ),
        (
            EvalQuestion("Which port does the harbour server listen on?", unanswerable=True),
            "answered, though it should be refused",
        ),
        (
            EvalQuestion("Who painted the port in Rome?", files=("guide/server.md",)),
            "refused: nothing relevant",
        ),
    ],
)
def test_what_failed_is_said_with_the_first_thing_that_went_wrong(
    assistant: Library, question: EvalQuestion, fault: str
) -> None:
    (outcome,) = run_questions(assistant, [question]).outcomes

    assert outcome.fault == fault


@pytest.mark.parametrize(
    ("lines", "facts", "fault"),
    [
        pytest.param((1, 9), (), "cites 11% of the expected lines", id="a-part"),
        pytest.param((2, 3), (), "", id="half"),
        pytest.param((1, 9), ("port 8420",), "", id="the-fact-is-enough"),
    ],
)
def test_an_answer_that_leaves_out_most_lines_failed_unless_it_says_the_facts(
    assistant: Library, lines: tuple[int, int], facts: tuple[str, ...], fault: str
) -> None:
    question = "Which port does the harbour server listen on?"

    (outcome,) = run_questions(
        assistant, [EvalQuestion(question, lines=(ExpectedSpan("guide/server.md", *lines),), facts=facts)]
    ).outcomes

    assert outcome.fault == fault


def test_places_of_the_only_source_are_shown_as_a_question_set_names_them(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "guide", {"docs/server.md": PORT})
    question = EvalQuestion("Which port does the server listen on?", files=("docs/server.md",), facts=("port 9",))

    with Library.of(folder, settings=Settings(home=tmp_path / "home")) as library:
        (outcome,) = run_questions(library, [question]).outcomes

    assert outcome.expected == ("docs/server.md",)
    assert outcome.found == ("docs/server.md:1-3",)


def test_a_place_that_was_found_and_not_cited_has_its_rank(assistant: Library) -> None:
    results = [result_of(chunk_of("one", "a.md")), result_of(chunk_of("two", "b.md"))]
    question = EvalQuestion("Which?", files=("src/b.md",))

    outcome = score(question, results, GenerationResult("Which?", "One."), 0.1, 10)

    assert (outcome.fault, outcome.expected) == ("found at 2, not cited", ("src/b.md",))
    assert outcome.found == ("src/a.md:1-1", "src/b.md:1-1")


def test_results_are_those_that_an_answer_is_written_from(assistant: Library) -> None:
    question = "What does this project do?"

    (outcome,) = run_questions(assistant, [EvalQuestion(question, files=("guide/server.md",))]).outcomes

    assert [str(result.chunk.span) for result in assistant.retrieve(question)] == [
        place.partition("/")[2] for place in outcome.found
    ]


def test_a_wrong_refusal_cites_nothing_and_says_no_fact(assistant: Library) -> None:
    question = EvalQuestion(
        "Who painted the Mona Lisa?", lines=(ExpectedSpan("guide/server.md", 3, 3),), facts=("Mona Lisa",)
    )

    figures = figures_of(assistant, question)

    assert (figures["wrong_refusals"], figures["citation_recall"], figures["facts"]) == (1.0, 0.0, 0.0)
    assert not {"citation_precision", "confirmed", "conflicts"} & set(figures)


def test_a_path_that_two_sources_have_is_that_of_the_first_unless_it_names_one(assistant: Library) -> None:
    files = LibraryFiles(assistant)

    located = files.locate(
        EvalQuestion("Which port?", ("server.md", "more/server.md"), (ExpectedSpan("animals.md", 1, 3),))
    )

    assert located.files == ("guide/server.md", "more/server.md")
    assert located.lines == (ExpectedSpan("guide/animals.md", 1, 3),)


def test_paths_that_the_library_does_not_have_are_told(assistant: Library) -> None:
    questions = [
        EvalQuestion("Which port?", ("gone.md", "server.md")),
        EvalQuestion("Which dog?", ("gone.md",), (ExpectedSpan("guide/no.md", 1, 1),)),
    ]

    assert LibraryFiles(assistant).unknown(questions) == ["gone.md", "guide/no.md"]


def test_seconds_are_those_of_the_clock(assistant: Library) -> None:
    ticks = iter([10.0, 12.5])

    (outcome,) = run_questions(assistant, [EvalQuestion("Which port?")], clock=lambda: next(ticks)).outcomes

    assert outcome.figures["seconds"] == 2.5


def test_a_run_knows_its_model_and_its_limit(assistant: Library) -> None:
    made = run_questions(assistant, [EvalQuestion("Which port?")], limit=3)

    assert (made.model, made.limit) == ("extractive", 3)


VERDICTS: tuple[ClaimVerdict, ...] = ("exact", "confirmed", "conflict", "unverified", "unknown", "uncited")


def answer_of(*citations: Citation, claims: tuple[Claim, ...] = ()) -> GenerationResult:
    return GenerationResult("Which port?", "It is 8420.", citations, claims=claims, usage=Usage(90, 10))


def cited(path: str, first: int, last: int) -> Citation:
    return Citation("[1:1]", "s", Span(path, 0, 9, first, last), "", "exact")


def test_lines_narrow_what_may_be_cited_of_their_file() -> None:
    question = EvalQuestion("Which port?", ("s/a.md", "s/b.md"), (ExpectedSpan("s/a.md", 1, 2),))

    outcome = score(question, [], answer_of(cited("a.md", 1, 4), cited("b.md", 50, 51)), 1.0, 10)

    assert outcome.figures["citation_precision"] == pytest.approx(4 / 6)
    assert outcome.figures["citation_recall"] == 1.0


def test_a_price_that_is_not_known_stays_unknown_and_tokens_are_added_up() -> None:
    outcome = score(EvalQuestion("Which port?"), [], answer_of(), 1.0, 10)

    assert (outcome.figures["tokens"], outcome.figures["cost_usd"]) == (100.0, None)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        pytest.param("", {}, id="nothing-is-claimed"),
        pytest.param("unverified uncited", {"conflicts": 0.0}, id="nothing-is-decided"),
        pytest.param("exact confirmed unverified uncited", {"conflicts": 0.0, "confirmed": 1.0}, id="all-are-good"),
        pytest.param("confirmed conflict unverified uncited", {"conflicts": 0.25, "confirmed": 0.5}, id="one-is-wrong"),
        pytest.param("unknown", {"conflicts": 0.0, "confirmed": 0.0}, id="it-cites-what-is-not-there"),
    ],
)
def test_confirmed_counts_decided_claims_and_conflicts_count_among_all(
    verdicts: str, expected: dict[str, float]
) -> None:
    stated = (Claim(0, 9, "It is so.", verdict=verdict) for verdict in VERDICTS if verdict in verdicts.split())

    figures = score(EvalQuestion("?"), [], answer_of(claims=(Claim(0, 6, "Hello!"), *stated)), 1.0, 10).figures

    assert {name: value for name, value in figures.items() if name in ("confirmed", "conflicts")} == expected


def test_of_a_file_that_is_found_twice_the_first_rank_counts() -> None:
    results = [result_of(chunk_of(text, "a.md", before="\n" * n)) for n, text in enumerate(("one", "two"))]
    results.append(result_of(chunk_of("three", "b.md")))

    outcome = score(EvalQuestion("Which port?", ("src/b.md",)), results, answer_of(), 1.0, 10)

    assert outcome.figures["file_ndcg"] == pytest.approx(0.6309, abs=1e-4)
