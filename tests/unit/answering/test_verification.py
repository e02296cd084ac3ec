from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from openbook.answering.verification import CitationChecker, Verification, check_quotes
from openbook.answers import Claim
from openbook.extractive.context import build_context
from openbook.grounding.protocol import Entailment
from openbook.types import Chunk
from tests.unit.answering.checks import CONTEXT, PAGE, checker, page_changed, unchanged
from tests.unit.retrieval.material import chunk_of, result_of


def cited(checked: Verification) -> list[tuple[str, str]]:
    return [(citation.mark, citation.verdict) for citation in checked.citations]


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        pytest.param("The retry policy waits 30 seconds [1:1].", "exact", id="its-own-words"),
        pytest.param("*The retry* policy **waits `30` seconds** [1:1].", "exact", id="its-own-words-with-emphasis"),
        pytest.param("The retry policy waits 60 seconds [1:1].", "conflict", id="another-number"),
        pytest.param('It says "waits 9 times" [1:1].', "conflict", id="a-quote-that-is-not-there"),
        pytest.param("It calls `time.snooze` [2:2].", "conflict", id="a-name-that-is-not-there"),
        pytest.param("Sessions end after one hour [1:1].", "unverified", id="another-unit"),
        pytest.param("A session is over after an hour [1:3].", "unverified", id="other-words"),
        pytest.param("Sessions end after one hour [1].", "exact", id="the-whole-result"),
        pytest.param("Sessions end after one hour [9].", "unknown", id="never-shown"),
        pytest.param("Sessions end after one hour [1:9].", "unknown", id="unit-never-shown"),
        pytest.param("Sessions end after one hour [9][1:3].", "exact", id="one-good-mark-is-enough"),
        pytest.param("Sessions end after one hour [1:3, 9].", "exact", id="one-good-range-is-enough"),
        pytest.param("Sessions end after one hour.", "uncited", id="facts-without-a-mark"),
        pytest.param("Here is what the sources say:", "", id="no-facts"),
        pytest.param("端口是8000[9]。", "unknown", id="chinese"),
    ],
)
def test_a_claim_is_worth_what_it_cites(answer: str, verdict: str) -> None:
    (claim,) = checker().check(answer).claims

    assert claim.verdict == verdict
    assert bool(claim.reason) == (verdict not in ("exact", ""))


def test_a_claim_is_judged_by_all_that_it_cites_and_each_place_by_itself() -> None:
    checked = checker().check("The retry policy waits 30 seconds. After 5 attempts it gives up. [1:1][1:2]")

    whole = checker().check("- the retry policy waits 30 seconds. After 5 attempts it gives up [1:1][1:2]")

    assert [claim.verdict for claim in checked.claims] == ["uncited", "exact"]
    assert [claim.verdict for claim in whole.claims] == ["exact"]
    assert [(each.mark, each.verdict) for each in whole.citations] == [("[1:1]", "unverified"), ("[1:2]", "unverified")]
    assert {each.reason for each in whole.citations} == {"the cited lines do not hold it word for word"}


def test_each_place_of_a_mark_is_a_citation() -> None:
    checked = checker().check("Sessions end after one hour [1:3, 1, 9].")

    assert cited(checked) == [("[1:3, 1, 9]", "exact"), ("[1:3, 1, 9]", "unverified"), ("[1:3, 1, 9]", "unknown")]
    assert [citation.span.start_line for citation in checked.citations[:2]] == [4, 1]


def test_a_mark_that_two_claims_share_is_a_citation_of_each() -> None:
    checked = checker().check("Sessions end after one hour [1:3]. Sessions end after 2 hours [1:3].")

    assert [(citation.claim, citation.verdict) for citation in checked.citations] == [(0, "exact"), (1, "conflict")]


def test_a_mark_that_a_claim_repeats_is_one_citation() -> None:
    assert cited(checker().check("Sessions [1:3] end after one hour [1:3].")) == [("[1:3]", "exact")]


def test_what_has_changed_since_it_was_indexed_is_stale() -> None:
    check = checker(page_changed).check

    assert [(claim.verdict, claim.reason) for claim in check("Sessions end after one hour [1:3].").claims] == [
        ("stale", "the document has changed there since it was indexed")
    ]
    assert cited(check("Sessions end after one hour [1:3][9].")) == [("[1:3]", "stale"), ("[9]", "unknown")]
    assert [claim.verdict for claim in check("Sessions end after one hour [1:3][9].").claims] == ["stale"]


def test_what_is_gone_is_stale() -> None:
    checked = checker(lambda _: None).check("Sessions end after one hour [1:3].")

    assert [(claim.verdict, claim.reason) for claim in checked.claims] == [
        ("stale", "the document is gone, or cannot be read")
    ]


def test_what_is_stale_or_unknown_is_asked_of_no_verifier() -> None:
    check = checker(page_changed)

    check.check("A session is over after an hour [1:3]. It is over soon [9]. It is over. It sleeps then [2:2].")

    assert [claim.claim for claim in check.open.values()] == ["It sleeps then."]


def test_a_document_is_read_once_for_all_its_citations() -> None:
    asked: list[Chunk] = []

    def text_now(chunk: Chunk) -> str:
        asked.append(chunk)
        return chunk.text

    checker(text_now).check("It waits [1:1][1:2]. It ends [1:3]. It waits [1:1].")

    assert asked == [PAGE]


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        pytest.param("It waits 30 s [1:1].\n\nSo it ends after 30 seconds [2:1].", "unverified", id="of-a-conclusion"),
        pytest.param("It waits [1:1]. Time passes. **Thus** it ends after 30 s [2:1].", "unverified", id="further-on"),
        pytest.param("It waits 30 s [1:1]. It ends after 30 seconds [2:1].", "conflict", id="of-another-statement"),
        pytest.param("It waits 30 s [1:1]. It stops [1:2]. So it takes 30 s [2:1].", "conflict", id="of-one-before"),
        pytest.param("So it ends after 30 seconds [2:1].", "conflict", id="nothing-before"),
    ],
)
def test_a_number_may_stand_where_the_claim_before_a_conclusion_points_to(answer: str, verdict: str) -> None:
    assert checker().check(answer).claims[-1].verdict == verdict


def test_a_claim_that_cites_more_places_than_anyone_reads_is_unverified() -> None:
    page = chunk_of("Sessions end after one hour.\n" * 9 + "More.")
    marks = [f"[1:{first}-{last}]" for first in range(1, 11) for last in range(first, 11)]
    check = CitationChecker(build_context([result_of(page)], 1_000), unchanged).check

    some = check(f"Sessions end after one hour {''.join(marks[:40])}.")
    many = check(f"Sessions end after one hour {''.join(marks[:41])}.")

    assert [claim.verdict for claim in some.claims] == ["exact"]
    assert [(claim.verdict, claim.reason) for claim in many.claims] == [("unverified", "it cites more than 40 places")]
    assert len(many.citations) == 41


@pytest.mark.parametrize(
    ("code", "verdict", "reason"),
    [
        pytest.param("time.sleep(seconds)\n        return True", "exact", "", id="other-indentation"),
        pytest.param("time.sleep(1)\nreturn True", "unverified", "1 of 2 lines of the code", id="one-line-is-another"),
        pytest.param("print(1)", "unverified", "1 of 1 lines of the code", id="other-code"),
        pytest.param("", "unverified", "it stands behind no claim", id="no-code"),
    ],
)
def test_code_that_is_cited_is_compared_line_by_line(code: str, verdict: str, reason: str) -> None:
    checked = checker().check(f"It waits:\n\n```python\n{code}\n```\n[2:2-3]")

    assert cited(checked) == [("[2:2-3]", verdict)]
    assert checked.citations[0].reason.startswith(reason)
    assert bool(checked.citations[0].reason) == bool(reason)
    assert checked.citations[0].claim is None


@pytest.mark.parametrize(
    ("code", "names"),
    [
        pytest.param("retry.wait(3)", "", id="names-of-the-sources"),
        pytest.param(
            "import os\nfor i in range(3): print(os.path.join('x.magic()', y))  # z.magic()", "", id="language"
        ),
        pytest.param(
            "console.log(x)\nimport wait\nwait.magic()",
            "; no source that was shown has `magic`",
            id="beside-the-language",
        ),
        pytest.param(
            "retry.pause(4)\nretry.wait(3)\nhalt()", "; no source that was shown has `pause`, `halt`", id="other-names"
        ),
        pytest.param("def halt(): ...\nhalt()", "", id="names-that-it-brings"),
    ],
)
def test_code_without_marks_says_that_it_was_not_checked(code: str, names: str) -> None:
    checked = checker().check(f"So:\n\n```python\n{code}\n```\n\nSessions end after one hour [1:3].")

    assert [claim.verdict for claim in checked.claims] == ["", "exact", "uncited"]
    assert (checked.claims[-1].text, checked.claims[-1].marks) == (code, ())
    assert checked.claims[-1].reason == f"code that cites nothing is not checked{names}"


def test_a_fence_around_nothing_claims_nothing() -> None:
    assert checker().check("```python\n\n```").claims == ()


TABLE = "| What | Seconds |\n|---|---|\n| Retries | {} [1:1] |"


def test_a_table_row_is_judged_with_the_heads_of_its_columns() -> None:
    check = checker()

    right, wrong = check.check(TABLE.format(30)), check.check(TABLE.format(60))

    assert [claim.claim for claim in check.open.values()] == [
        "What: Retries; Seconds: 30",
        "What: Retries; Seconds: 60",
    ]
    assert [claim.text for claim in right.claims] == ["Retries | 30"]
    assert [claim.verdict for claim in (*right.claims, *wrong.claims)] == ["unverified", "conflict"]


FRENCH = chunk_of("Le verrou est tenu pendant 30 secondes, et la session est fermée par le serveur.", "fr.md")


@pytest.mark.parametrize(
    "claim",
    [
        "The lock is held for 45 minutes and it is not released by the server",
        'The text says that "the lock is held" by the server',
        "The session is not closed by the server if the lock is held",
    ],
)
def test_an_english_claim_about_a_french_source_is_never_in_conflict(claim: str) -> None:
    check = CitationChecker(build_context([result_of(FRENCH)], 1_000), unchanged)

    (found,) = check.check(f"{claim} [1:1].").claims

    assert found.verdict == "unverified"


def test_a_verifier_is_given_the_cited_text_and_what_was_shown_around_it() -> None:
    check = checker()

    check.check("It sleeps for as long as it is told [2:2].")

    (claim,) = check.open.values()
    (source,) = claim.sources
    assert claim.cited_text == "    time.sleep(seconds)"
    assert source.text.endswith("    time.sleep(seconds)\n    return True")
    assert (source.path, source.symbol) == ("wait.py", "Retry.wait")


def test_a_verifier_that_fails_leaves_what_words_have_found() -> None:
    check = checker()
    answer = "A session is over after an hour [1:3]. The retry policy waits 60 seconds [1:1]."
    check.check(answer)

    check.settle({}, "the verifier failed: busy")

    assert [(claim.verdict, claim.reason) for claim in check.check(answer).claims] == [
        ("unverified", "the verifier failed: busy"),
        ("conflict", "the number 60 seconds is not in the cited lines"),
    ]
    assert not check.open


def test_only_the_place_with_the_words_of_the_verifier_is_confirmed() -> None:
    check = checker()
    answer = "A session is over after an hour [1:3][1:1]."
    check.check(answer)

    check.settle(dict.fromkeys(check.open, Entailment("entailed", "Sessions end after one hour")))

    checked = check.check(answer)
    assert [claim.verdict for claim in checked.claims] == ["confirmed"]
    assert cited(checked) == [("[1:3]", "confirmed"), ("[1:1]", "unverified")]


def test_a_list_of_references_repeats_nothing_and_confirms_nothing() -> None:
    checked = checker().check("Sessions end after one hour [1:3].\n\nSources: [1:3], [2], [9]")

    assert cited(checked) == [("[1:3]", "exact"), ("[2]", "unverified"), ("[9]", "unknown")]


def test_a_heading_that_cites_is_no_claim_but_its_citation_is_judged() -> None:
    checked = checker().check("## Sessions end after one hour [1:3]\n\n## It waits 99 seconds [1:1]")

    assert checked.claims == ()
    assert cited(checked) == [("[1:3]", "exact"), ("[1:1]", "conflict")]


def test_citations_are_in_the_order_of_their_marks() -> None:
    checked = checker().check("Bananas are sweet [2:1].\n\n```\nx\n```\n[2:2]\n\nSessions end after one hour [1:3].")

    assert [citation.mark for citation in checked.citations] == ["[2:1]", "[2:2]", "[1:3]"]


QUOTE = Claim(0, 40, "Sessions end after one hour.", ("[1:3]",))


@pytest.mark.parametrize(
    ("quote", "verdict", "reason"),
    [
        pytest.param(QUOTE, "exact", "", id="word-for-word"),
        pytest.param(replace(QUOTE, text="end after one"), "exact", "", id="part-of-the-line"),
        pytest.param(replace(QUOTE, text="Sessions end."), "conflict", "the cited lines do not", id="other-words"),
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
def test_whatever_is_not_exact_has_a_reason(answer: str) -> None:
    checked = checker().check(answer)

    assert all(bool(claim.reason) == (claim.verdict not in ("exact", "")) for claim in checked.claims)
    assert all(bool(citation.reason) == (citation.verdict != "exact") for citation in checked.citations)
    assert all(0 <= (citation.claim or 0) < max(1, len(checked.claims)) for citation in checked.citations)


@pytest.mark.slow
def test_an_answer_of_ten_thousand_marks_is_checked() -> None:
    checked = checker().check("Sessions end after one hour [1:3]. " * 10_000)

    assert [claim.verdict for claim in checked.claims] == ["exact"] * 10_000


def test_no_verifier_settles_a_number_beside_a_sign_that_cannot_be_read() -> None:
    page = chunk_of("The correlation was \ufffd0.9393 in 2001.", "a.pdf")
    context = build_context([result_of(page)], 1_000)
    checks = CitationChecker(context, unchanged)

    (claim,) = checks.check("0.9393 in 2001 was the value [1:1].").claims
    quoted = check_quotes([Claim(0, 0, "0.9393 in 2001", ("[1:1]",))], context, unchanged)

    assert (claim.verdict, dict(checks.open)) == ("unverified", {})
    assert [(each.verdict, each.reason) for each in quoted.claims] == [("unverified", claim.reason)]
