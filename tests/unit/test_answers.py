from __future__ import annotations

import json
from dataclasses import asdict, replace
from decimal import Decimal

import pytest

from openbook.answers import (
    Citation,
    Claim,
    ClaimVerdict,
    Exchange,
    GenerationResult,
    RefusalReason,
    Repair,
    Verdict,
    place_of,
)
from openbook.types import Chunk, RetrievalResult, Span
from openbook.usage import Usage
from tests.unit.retrieval.material import chunk_of, result_of

SPAN = Span("a.md", 5, 15, 2, 3)
WRONG: tuple[Verdict, ...] = ("conflict", "unknown", "stale")


def citation(mark: str = "[1:1]", verdict: Verdict = "exact", *, span: Span = SPAN, label: str = "") -> Citation:
    return Citation(mark, "src", span, "some\nquote", verdict, label, claim=0)


ANSWER = GenerationResult(
    query="why?",
    answer="Because\nof this [1:1].",
    citations=(citation(),),
    results=(result_of(chunk_of("some\nquote", before="test\n", language="markdown"), score=0.12345678),),
    usage=Usage(7, 3),
    cost_usd=Decimal("0.25"),
    took_ms=12.345,
    claims=(Claim(0, 22, "Because of this.", ("[1:1]",), "exact"),),
    repairs=(Repair("anchored", "Because of this.", "[1:9]", "[1:1]", "nothing of that number was shown"),),
)
REFUSAL = GenerationResult(
    "why?", "The sources do not answer this.", results=ANSWER.results, refused=True, reason=RefusalReason.BUDGET
)


def test_an_answer_as_json_has_exactly_these_keys_in_this_order() -> None:
    assert list(ANSWER.to_dict()) == [
        *("query", "answer", "refused", "reason", "citations"),
        *("sources", "model", "usage", "cost_usd", "took_ms"),
        *(
            "claims",
            "repairs",
            "quality_score",
            "searched",
            "searches",
            "search_failure",
            "prompts",
            "stopped",
            "verifier",
        ),
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
            "label": "",
            "anchor": "",
            "quote": "some\nquote",
            "verdict": "exact",
            "reason": "",
            "claim": 0,
            "url": "",
        }
    ]


def test_marks_of_readers_are_blanks_in_a_quote_as_json() -> None:
    claim = Claim(0, 10, "-k\f\nKeeps.", ("[1:1]",), "exact")
    answer = replace(ANSWER, citations=(replace(citation(), quote=claim.text),), claims=(claim,)).to_dict()

    assert (answer["citations"][0]["quote"], answer["claims"][0]["text"]) == ("-k \nKeeps.", "-k \nKeeps.")


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
        "anchor": "",
        "score": 0.123457,
        "text": "some\nquote",
    }


def test_the_values_of_an_answer_as_json_are_plain() -> None:
    values = json.loads(json.dumps(ANSWER.to_dict()))

    assert values == ANSWER.to_dict()
    assert values["usage"] == asdict(Usage(7, 3))
    assert (values["cost_usd"], values["took_ms"], values["model"]) == (0.25, 12.3, "extractive")


def test_a_price_that_is_not_known_is_null_and_not_0() -> None:
    assert GenerationResult("q", "a").to_dict()["cost_usd"] is None
    assert GenerationResult("q", "a", cost_usd=Decimal(0)).to_dict()["cost_usd"] == 0


def test_a_refusal_as_json_says_why() -> None:
    values = REFUSAL.to_dict()

    assert (values["refused"], values["reason"], values["citations"]) == (True, "budget", [])


def test_an_answer_is_displayed_above_its_sources() -> None:
    assert ANSWER.format_for_display() == "Because\nof this [1:1].\n\nSources:\n  [1:1] a.md:2-3: exact\n"


def test_a_source_is_displayed_with_its_label() -> None:
    answer = GenerationResult("q", "a", citations=(citation(label="cell 3"),))

    assert answer.format_for_display() == "a\n\nSources:\n  [1:1] a.md:2-3 (cell 3): exact\n"


def test_a_refusal_is_displayed_above_the_nearest_places() -> None:
    assert REFUSAL.format_for_display() == "The sources do not answer this.\n\nNearest:\n  a.md:2-3\n"


@pytest.mark.parametrize("refused", [True, False])
def test_without_places_there_is_no_heading_for_them(refused: bool) -> None:
    assert GenerationResult("q", "Nothing.", refused=refused).format_for_display() == "Nothing.\n"


def test_sources_cited_are_the_places_that_may_hold_each_once_in_order() -> None:
    other, third = Span("b.md", 0, 1, 1, 1), Span("d.md", 0, 1, 1, 1)
    answer = GenerationResult(
        "q",
        "a",
        citations=(
            citation("[2:1]", "confirmed", span=other),
            citation("[1:1]"),
            citation("[1:2]"),
            citation("[4:1]", "unverified", span=third),
            *(citation("[3:1]", wrong, span=Span("c.md", 0, 1, 1, 1)) for wrong in WRONG),
        ),
    )

    assert answer.sources_cited == ("b.md:1", "a.md:2-3", "d.md:1")


def claims(*verdicts: ClaimVerdict) -> tuple[Claim, ...]:
    return tuple(Claim(0, 1, "a", (), verdict) for verdict in verdicts)


@pytest.mark.parametrize(
    ("verdicts", "score"),
    [
        pytest.param((), None, id="no-claims"),
        pytest.param(("exact", "confirmed"), 1.0, id="all"),
        pytest.param(("exact", "stale", "conflict", "unknown"), 0.25, id="one-in-four"),
        pytest.param(("exact", "conflict", "unverified", "unverified"), 0.5, id="what-nobody-checked-does-not-count"),
        pytest.param(("exact", "uncited", ""), 1.0, id="what-cites-nothing-does-not-count"),
        pytest.param(("unverified", "uncited", ""), None, id="nothing-is-decided"),
        pytest.param(("conflict",), 0.0, id="none"),
    ],
)
def test_quality_is_the_share_of_decided_claims(verdicts: tuple[ClaimVerdict, ...], score: float | None) -> None:
    answer = GenerationResult("q", "a", claims=claims(*verdicts))

    assert answer.quality_score == score
    assert answer.to_dict()["quality_score"] == score


@pytest.mark.parametrize(
    ("verdict", "cited"),
    [("exact", True), ("confirmed", True), ("unverified", True), *((each, False) for each in WRONG)],
)
def test_a_citation_counts_unless_it_is_wrong(verdict: Verdict, cited: bool) -> None:
    assert GenerationResult("q", "a", citations=(citation(verdict=verdict),)).has_citations is cited
    assert not GenerationResult("q", "a").has_citations


def test_a_claim_is_wrong_only_if_a_reader_has_to_look() -> None:
    assert all(claim.is_wrong for claim in claims(*WRONG))
    assert not any(claim.is_wrong for claim in claims("exact", "confirmed", "unverified", "uncited", ""))


def test_claims_and_repairs_as_json_say_what_and_why() -> None:
    values = ANSWER.to_dict()

    assert values["claims"] == [
        {
            "start_char": 0,
            "end_char": 22,
            "text": "Because of this.",
            "marks": ["[1:1]"],
            "verdict": "exact",
            "reason": "",
        }
    ]
    assert values["repairs"] == [
        {
            "what": "anchored",
            "claim": "Because of this.",
            "from": "[1:9]",
            "to": "[1:1]",
            "why": "nothing of that number was shown",
        }
    ]
    assert values["quality_score"] == 1.0


def test_a_citation_of_code_is_displayed_with_the_name_that_is_defined_there() -> None:
    found = Citation("[1]", "src", Span("file.py", 0, 9, 10, 20), "x", "exact", symbol="Client.get()")

    assert found.place == "Client.get() (file.py:10-20)"
    assert str(found) == "[1] Client.get() (file.py:10-20): exact"


@pytest.mark.parametrize(
    ("anchor", "label", "wanted"),
    [
        ("p. 4", "p. 4", "talk.pdf p. 4"),
        ("p. 4", "Bread · Lesson 1: Flour", "talk.pdf p. 4 (Bread · Lesson 1: Flour)"),
        ("", "Prices", "talk.pdf (Prices)"),
        (None, "cell 3", "talk.pdf:10-20 (cell 3)"),
    ],
)
def test_a_citation_of_what_has_no_lines_is_displayed_with_the_place_that_the_original_has(
    anchor: str | None, label: str, wanted: str
) -> None:
    found = Citation("[1]", "src", Span("talk.pdf", 0, 9, 10, 20), "x", "exact", label, anchor=anchor)

    assert found.place == wanted
    assert (found.to_dict()["label"], found.to_dict()["anchor"]) == (label, anchor or "")


def test_the_language_of_a_chunk_tells_whether_its_lines_mean_anything() -> None:
    chunk = Chunk("s", Span("talk", 0, 4, 3, 3), "text", "docs", "pdf", anchor="p. 2")

    assert place_of(chunk) == "talk p. 2"
    assert place_of(replace(chunk, language="notebook")) == "talk:3"


def test_a_citation_that_fails_is_displayed_with_its_reason() -> None:
    found = Citation("[9]", "", Span("", 0, 0, 1, 1), "", "unknown", reason="nothing of that number was shown")

    assert found.place == ""
    assert str(found) == "[9]: unknown, nothing of that number was shown"


def test_a_place_that_is_cited_twice_is_displayed_once() -> None:
    answer = GenerationResult("q", "a", citations=(citation(), citation()))

    assert answer.format_for_display() == "a\n\nSources:\n  [1:1] a.md:2-3: exact\n"


def test_the_length_of_an_answer_is_its_words() -> None:
    assert ANSWER.answer_length == 4


SECOND = Span("a.py", 4, 8, 2, 2)
CHUNK = Chunk("s", SECOND, "text", "code", "python", symbol="f")


def cited(verdict: Verdict, line: int = 1, label: str = "") -> Citation:
    return Citation(f"[1:{line}]", "s", Span("a.py", 0, 4, line, line), "text", verdict, label)


def test_a_citation_is_shown_with_its_place_for_people_and_its_verdict() -> None:
    assert str(cited("exact", label="cell 3")) == "[1:1] a.py:1 (cell 3): exact"
    assert str(cited("stale")) == "[1:1] a.py:1: stale"


@pytest.mark.parametrize(("cost", "shown"), [(Decimal("0.25"), 0.25), (None, None), (Decimal(0), 0.0)])
def test_an_unknown_cost_is_shown_as_unknown_and_never_as_zero(cost: Decimal | None, shown: float | None) -> None:
    assert GenerationResult("q", "word", cost_usd=cost).to_dict()["cost_usd"] == shown


def test_an_answer_is_shown_as_json_values_with_numbered_sources() -> None:
    answer = GenerationResult(
        "q", "word [1:1]", (cited("exact"),), (RetrievalResult(CHUNK, 1.0),), usage=Usage(5, 6), took_ms=1.26
    )

    shown = json.loads(json.dumps(answer.to_dict()))

    assert shown["citations"][0] | {"start_line": 1, "end_line": 1} == shown["citations"][0]
    assert [(source["number"], source["path"]) for source in shown["sources"]] == [(1, "a.py")]
    assert shown["usage"] == asdict(Usage(5, 6))
    assert shown["took_ms"] == 1.3


def test_an_answer_is_displayed_with_its_sources_and_a_refusal_with_the_nearest() -> None:
    answer = GenerationResult("q", "Yes [1:1].", (cited("exact"),))
    refusal = GenerationResult("q", "Nothing found.", results=(RetrievalResult(CHUNK, 1.0),), refused=True)

    assert answer.format_for_display() == "Yes [1:1].\n\nSources:\n  [1:1] a.py:1: exact\n"
    assert refusal.format_for_display() == "Nothing found.\n\nNearest:\n  a.py:2\n"
    assert GenerationResult("q", "Yes.").format_for_display() == "Yes.\n"


def test_an_answer_of_a_model_is_looked_back_on_word_by_word() -> None:
    assert Exchange.of("why?", replace(ANSWER, model="scripted:model")) == Exchange("why?", ANSWER.answer)


def test_a_claim_that_the_sources_contradict_is_marked_where_it_is_looked_back_on() -> None:
    text = "It waits 90 s [1:1]. Then it ends [1:2]. It slept 1 s."
    claims = (
        Claim(0, 20, "It waits 90 s.", ("[1:1]",), "conflict"),
        Claim(21, 40, "Then it ends.", ("[1:2]",), "exact"),
        Claim(41, 54, "It slept 1 s.", (), "conflict"),
    )

    told = Exchange.of("why?", GenerationResult("why?", text, claims=claims, model="scripted:model"))

    assert told.answer == (
        "It waits 90 s [1:1]. [contradicted by the sources] Then it ends [1:2]. "
        "It slept 1 s. [contradicted by the sources]"
    )


def test_a_refusal_and_quotes_are_looked_back_on_without_words_of_sources() -> None:
    declined = replace(REFUSAL, model="scripted:model", answer="See `PWN`.", reason=RefusalReason.NOTHING_RELEVANT)

    assert Exchange.of("why?", declined).answer == "(refused: nothing relevant)"
    assert Exchange.of("why?", ANSWER).answer == "(answered with quotes from the sources)"


def test_an_answer_prints_with_its_sources_and_is_one_line_in_a_log() -> None:
    cited = Citation("[1:1]", "docs", Span("a.md", 0, 4, 1, 1), "Wait", "exact")
    answer = GenerationResult(
        "How\nlong?", f"Wait [1:1].\n{'x' * 200}", (cited,), usage=Usage(7, 3), took_ms=1500.0, model="scripted:model"
    )

    assert str(answer) == f"{answer.answer}\n\nSources:\n  [1:1] a.md:1: exact"
    assert repr(answer).startswith("GenerationResult('How\\nlong?', 'Wait [1:1]. xxx")
    assert repr(answer).endswith("x…', citations=1, model='scripted:model')")
    assert "\n" not in repr(answer)
    assert (answer.total_tokens, answer.generation_time, answer.context_chunks) == (10, 1.5, ())
