from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from openbook.answering.context import build_context
from openbook.answering.verdicts import Checked, Checker, check_quotes
from openbook.generation import Claim
from openbook.types import Chunk
from tests.unit.answering.checks import CONTEXT, JUDGE, PAGE, checker, page_changed, unchanged
from tests.unit.retrieval.material import chunk_of, result_of


def verdicts(answer: str) -> list[str]:
    return [claim.verdict for claim in checker().check(answer).claims]


def cited(checked: Checked) -> list[tuple[str, str]]:
    return [(citation.mark, citation.verdict) for citation in checked.citations]


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        pytest.param("The retry policy waits 30 seconds [1:1].", "supported", id="its-own-words"),
        pytest.param("The retry policy waits 60 seconds [1:1].", "unsupported", id="another-number"),
        pytest.param("Sessions end after one hour [1:1].", "unsupported", id="another-unit"),
        pytest.param("Sessions end after one hour [1].", "supported", id="the-whole-result"),
        pytest.param("Sessions end after one hour [9].", "unknown", id="never-shown"),
        pytest.param("Sessions end after one hour [1:9].", "unknown", id="unit-never-shown"),
        pytest.param("Sessions end after one hour [9][1:3].", "supported", id="one-good-mark-is-enough"),
        pytest.param("Sessions end after one hour [1:3, 9].", "supported", id="one-good-range-is-enough"),
        pytest.param("Sessions end after one hour.", "uncited", id="facts-without-a-mark"),
        pytest.param("Here is what the sources say:", "", id="no-facts"),
        pytest.param("端口是8000[9]。", "unknown", id="chinese"),
    ],
)
def test_a_claim_is_worth_what_it_cites(answer: str, verdict: str) -> None:
    (claim,) = checker().check(answer).claims

    assert claim.verdict == verdict
    assert bool(claim.reason) == (verdict not in ("supported", ""))


def test_a_claim_is_judged_by_all_that_it_cites_and_each_place_by_itself() -> None:
    checked = checker().check("The retry policy waits 30 seconds and gives up after 5 attempts [1:1][1:2].")

    assert [claim.verdict for claim in checked.claims] == ["supported"]
    assert [citation.mark for citation in checked.citations] == ["[1:1]", "[1:2]"]
    assert "supported" not in [citation.verdict for citation in checked.citations]
    assert all(citation.reason for citation in checked.citations)


def test_each_place_of_a_mark_is_a_citation() -> None:
    checked = checker().check("Sessions end after one hour [1:3, 1, 9].")

    assert cited(checked) == [("[1:3, 1, 9]", "supported"), ("[1:3, 1, 9]", "unsupported"), ("[1:3, 1, 9]", "unknown")]
    assert [citation.span.start_line for citation in checked.citations[:2]] == [4, 1]


def test_a_mark_that_two_claims_share_is_a_citation_of_each() -> None:
    checked = checker().check("Sessions end after one hour [1:3]. Sessions end after two hours [1:3].")

    assert [(citation.claim, citation.verdict) for citation in checked.citations] == [
        (0, "supported"),
        (1, "unsupported"),
    ]


def test_a_mark_that_a_claim_repeats_is_one_citation() -> None:
    assert cited(checker().check("Sessions [1:3] end after one hour [1:3].")) == [("[1:3]", "supported")]


def test_what_has_changed_since_it_was_indexed_is_stale() -> None:
    check = Checker(CONTEXT, JUDGE, page_changed).check

    assert [(claim.verdict, claim.reason) for claim in check("Sessions end after one hour [1:3].").claims] == [
        ("stale", "the document has changed there since it was indexed")
    ]
    assert cited(check("Sessions end after one hour [1:3][9].")) == [("[1:3]", "stale"), ("[9]", "unknown")]
    assert [claim.verdict for claim in check("Sessions end after one hour [1:3][9].").claims] == ["stale"]


def test_a_document_is_read_once_for_all_its_citations() -> None:
    asked: list[Chunk] = []

    def text_now(chunk: Chunk) -> str:
        asked.append(chunk)
        return chunk.text

    Checker(CONTEXT, JUDGE, text_now).check("It waits [1:1][1:2]. It ends [1:3]. It waits [1:1].")

    assert asked == [PAGE]


def test_a_claim_that_cites_more_places_than_anyone_reads_is_unsupported() -> None:
    page = chunk_of("Sessions end after one hour.\n" * 9 + "More.")
    marks = [f"[1:{first}-{last}]" for first in range(1, 11) for last in range(first, 11)]
    check = Checker(build_context([result_of(page)], 1_000), JUDGE, unchanged).check

    some = check(f"Sessions end after one hour {''.join(marks[:40])}.")
    many = check(f"Sessions end after one hour {''.join(marks[:41])}.")

    assert [claim.verdict for claim in some.claims] == ["supported"]
    assert [(claim.verdict, claim.reason) for claim in many.claims] == [("unsupported", "it cites more than 40 places")]
    assert len(many.citations) == 41


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        pytest.param("time.sleep(seconds)\n        return True", "supported", id="other-indentation"),
        pytest.param("time.sleep(1)\nreturn True", "partial", id="one-line-is-another"),
        pytest.param("print(1)", "unsupported", id="other-code"),
        pytest.param("", "unsupported", id="no-code"),
    ],
)
def test_code_that_is_cited_is_compared_line_by_line(code: str, verdict: str) -> None:
    checked = checker().check(f"It waits:\n\n```python\n{code}\n```\n[2:2-3]")

    assert cited(checked) == [("[2:2-3]", verdict)]
    assert bool(checked.citations[0].reason) == (verdict != "supported")
    assert checked.citations[0].claim is None


def test_a_list_of_references_repeats_nothing_and_supports_nothing() -> None:
    checked = checker().check("Sessions end after one hour [1:3].\n\nSources: [1:3], [2], [9]")

    assert cited(checked) == [("[1:3]", "supported"), ("[2]", "unsupported"), ("[9]", "unknown")]


def test_a_heading_that_cites_is_no_claim_but_its_citation_is_judged() -> None:
    checked = checker().check("## Sessions end after one hour [1:3]\n\n## Bananas are yellow [1:3]")

    assert checked.claims == ()
    assert cited(checked) == [("[1:3]", "supported"), ("[1:3]", "unsupported")]


def test_citations_are_in_the_order_of_their_marks() -> None:
    checked = checker().check("Bananas are sweet [2:1].\n\n```\nx\n```\n[2:2]\n\nSessions end after one hour [1:3].")

    assert [citation.mark for citation in checked.citations] == ["[2:1]", "[2:2]", "[1:3]"]


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        pytest.param("Sessions end after one hour [1:3]. Bananas are sweet [9].", "", id="something-is-supported"),
        pytest.param("Bananas are yellow and sweet [1:1].", "nothing supported", id="nothing-is"),
        pytest.param("Sessions end after one hour.", "nothing supported", id="nothing-is-cited"),
        pytest.param("Hello!", "nothing claimed", id="nothing-is-claimed"),
        pytest.param("", "nothing claimed", id="empty"),
        pytest.param("```\nreturn True\n```\n[2:3]", "", id="code-that-is-there"),
    ],
)
def test_an_answer_that_nothing_supports_is_a_refusal(answer: str, refusal: str) -> None:
    assert checker().check(answer).refusal == refusal


QUOTE = Claim(0, 40, "Sessions end after one hour.", ("[1:3]",))


@pytest.mark.parametrize(
    ("quote", "verdict", "reason"),
    [
        pytest.param(QUOTE, "supported", "", id="word-for-word"),
        pytest.param(replace(QUOTE, text="end after one"), "supported", "", id="part-of-the-line"),
        pytest.param(replace(QUOTE, text="Sessions end."), "unsupported", "the cited lines do not", id="other-words"),
        pytest.param(Claim(0, 1, "x", ("[9]",)), "unknown", "nothing of that number", id="never-shown"),
    ],
)
def test_a_quote_is_checked_word_for_word(quote: Claim, verdict: str, reason: str) -> None:
    checked = check_quotes([quote], CONTEXT, unchanged)

    assert [claim.verdict for claim in checked.claims] == [verdict]
    assert [(citation.verdict, citation.claim) for citation in checked.citations] == [(verdict, 0)]
    assert checked.claims[0].reason.startswith(reason)


def test_a_quote_of_what_has_changed_or_is_gone_is_stale_and_kept() -> None:
    for text_now, why in ((page_changed, "has changed"), (lambda _: None, "is gone")):
        checked = check_quotes([QUOTE], CONTEXT, text_now)

        assert [(citation.quote, citation.verdict) for citation in checked.citations] == [(QUOTE.text, "stale")]
        assert why in checked.citations[0].reason


WORDS = st.sampled_from(
    [
        *("Sessions end after one hour", "The retry policy waits", " [1:1]", "[1:3]", "[9]", ". ", "\n", "\n\n", "- "),
        *("# ", "```", "`", "| ", "30 ", "not ", "> ", "[1:3, 9]", "。", "\r\n"),
    ]
)


@examples(max_examples=60)
@given(answer=st.lists(WORDS, max_size=25).map("".join))
def test_any_text_is_checked_and_every_failure_has_a_reason(answer: str) -> None:
    checked = checker().check(answer)

    assert all(bool(claim.reason) == claim.fails for claim in checked.claims)
    assert all(bool(citation.reason) == (citation.verdict != "supported") for citation in checked.citations)
    assert all(0 <= (citation.claim or 0) < max(1, len(checked.claims)) for citation in checked.citations)


def test_an_answer_of_ten_thousand_marks_is_checked() -> None:
    checked = checker().check("Sessions end after one hour [1:3]. " * 10_000)

    assert [claim.verdict for claim in checked.claims] == ["supported"] * 10_000
