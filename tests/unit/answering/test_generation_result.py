from __future__ import annotations

import json
from decimal import Decimal

import pytest

from openbook.types import Citation, GenerationResult, Span, Usage, Verdict
from tests.unit.retrieval.material import chunk_of, result_of

SPAN = Span("a.md", 5, 15, 2, 3)


def citation(mark: str = "[1:1]", verdict: Verdict = "supported", *, span: Span = SPAN, label: str = "") -> Citation:
    return Citation(mark, "src", span, "some\nquote", verdict, label)


ANSWER = GenerationResult(
    query="why?",
    answer="Because\nof this [1:1].",
    citations=(citation(),),
    results=(result_of(chunk_of("some\nquote", before="test\n", language="markdown"), score=0.12345678),),
    usage=Usage(7, 3),
    cost_usd=Decimal("0.25"),
    took_ms=12.345,
)
REFUSAL = GenerationResult("why?", "The sources do not answer this.", results=ANSWER.results, refused=True, reason="x")


def test_an_answer_as_json_has_exactly_these_keys_in_this_order() -> None:
    assert list(ANSWER.to_dict()) == [
        *("query", "answer", "refused", "reason", "citations"),
        *("sources", "model", "usage", "cost_usd", "took_ms"),
    ]


def test_a_citation_as_json_has_exactly_these_keys_and_its_place() -> None:
    assert ANSWER.to_dict()["citations"] == [
        {
            "mark": "[1:1]",
            "source": "src",
            "path": "a.md",
            "start_line": 2,
            "end_line": 3,
            "start_char": 5,
            "end_char": 15,
            "quote": "some\nquote",
            "verdict": "supported",
        }
    ]


def test_sources_as_json_are_numbered_as_marks_count_them() -> None:
    (source,) = ANSWER.to_dict()["sources"]

    assert source == {
        "number": 1,
        "source": "src",
        "path": "a.md",
        "start_line": 2,
        "end_line": 3,
        "start_char": 5,
        "end_char": 15,
        "kind": "docs",
        "language": "markdown",
        "symbol": "",
        "score": 0.123457,
        "text": "some\nquote",
    }


def test_the_values_of_an_answer_as_json_are_plain() -> None:
    values = json.loads(json.dumps(ANSWER.to_dict()))

    assert values == ANSWER.to_dict()
    assert values["usage"] == {"input_tokens": 7, "output_tokens": 3}
    assert (values["cost_usd"], values["took_ms"], values["model"]) == (0.25, 12.3, "extractive")


def test_a_price_that_is_not_known_is_null_and_not_0() -> None:
    assert GenerationResult("q", "a").to_dict()["cost_usd"] is None
    assert GenerationResult("q", "a", cost_usd=Decimal(0)).to_dict()["cost_usd"] == 0


def test_a_refusal_as_json_says_why() -> None:
    values = REFUSAL.to_dict()

    assert (values["refused"], values["reason"], values["citations"]) == (True, "x", [])


def test_an_answer_is_displayed_above_its_sources() -> None:
    assert ANSWER.format_for_display() == "Because\nof this [1:1].\n\nSources:\n  [1:1] a.md:2-3: supported\n"


def test_a_source_is_displayed_with_its_label() -> None:
    answer = GenerationResult("q", "a", citations=(citation(label="cell 3"),))

    assert answer.format_for_display() == "a\n\nSources:\n  [1:1] a.md:2-3 (cell 3): supported\n"


def test_a_refusal_is_displayed_above_the_nearest_places() -> None:
    assert REFUSAL.format_for_display() == "The sources do not answer this.\n\nNearest:\n  a.md:2-3\n"


@pytest.mark.parametrize("refused", [True, False])
def test_without_places_there_is_no_heading_for_them(refused: bool) -> None:
    assert GenerationResult("q", "Nothing.", refused=refused).format_for_display() == "Nothing.\n"


def test_sources_cited_are_the_supported_places_each_once_in_order() -> None:
    other = Span("b.md", 0, 1, 1, 1)
    answer = GenerationResult(
        "q",
        "a",
        citations=(
            citation("[2:1]", span=other),
            citation("[1:1]"),
            citation("[1:2]"),
            citation("[3:1]", "stale", span=Span("c.md", 0, 1, 1, 1)),
        ),
    )

    assert answer.sources_cited == ("b.md:1-1", "a.md:2-3")


@pytest.mark.parametrize(
    ("verdicts", "score", "cited"),
    [
        pytest.param((), 0.0, False, id="no-citations"),
        pytest.param(("supported", "supported"), 1.0, True, id="all"),
        pytest.param(("supported", "stale", "unsupported", "partial"), 0.25, True, id="one-in-four"),
        pytest.param(("unknown",), 0.0, False, id="none"),
    ],
)
def test_quality_is_the_share_of_supported_citations(verdicts: tuple[Verdict, ...], score: float, cited: bool) -> None:
    answer = GenerationResult("q", "a", citations=tuple(citation(verdict=verdict) for verdict in verdicts))

    assert answer.quality_score == score
    assert answer.has_citations is cited


def test_the_length_of_an_answer_is_its_words() -> None:
    assert ANSWER.answer_length == 4
