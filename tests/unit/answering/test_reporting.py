from __future__ import annotations

from decimal import Decimal

import pytest

import openbook
from openbook.answering.reporting import check_citations, extract_code_blocks, format_generation_stats
from openbook.answers import Citation, Claim, ClaimVerdict, GenerationResult, Repair, Verdict
from openbook.types import Span
from openbook.usage import Usage


def cited(verdict: Verdict) -> GenerationResult:
    return GenerationResult("q", "a [1]", (Citation("[1]", "s", Span("a.md", 0, 1, 1, 1), "a", verdict),))


@pytest.mark.parametrize("verdict", ["exact", "confirmed", "unverified"])
def test_an_answer_is_cited_by_what_may_hold(verdict: Verdict) -> None:
    assert check_citations(cited(verdict))


@pytest.mark.parametrize("verdict", ["conflict", "unknown", "stale"])
def test_an_answer_is_not_cited_by_what_is_wrong(verdict: Verdict) -> None:
    assert not check_citations(cited(verdict))


@pytest.mark.parametrize(
    ("text", "is_cited"),
    [
        ("It waits [2:14].", True),
        ("See `get()` (src/a.py:10-20).", True),
        ("slides.pdf p. 4", True),
        ("It is 10:20.", False),
        ("`argv[1]`", False),
        ("a" * 60_000, False),
        ("", False),
    ],
)
def test_a_text_cites_by_marks_and_places(text: str, is_cited: bool) -> None:
    assert check_citations(text) is is_cited


def test_what_only_looks_like_a_place_is_no_citation() -> None:
    assert not check_citations(GenerationResult("q", "see file.py:10-20"))


@pytest.mark.parametrize(
    ("answer", "blocks"),
    [
        pytest.param("```python\nwait(1)\n\nend()\n```", [("python", "wait(1)\n\nend()")], id="one"),
        pytest.param("```\na\n```\n~~~sh -x\nb\n~~~", [("", "a"), ("sh", "b")], id="two"),
        pytest.param("````\n```\na\n```\n````", [("", "```\na\n```")], id="fences-in-a-fence"),
        pytest.param("- x\n  ```py\n  if a:\n      b\n  ```", [("py", "if a:\n    b")], id="indented"),
        pytest.param("```js\r\na\r\n```\r\n", [("js", "a")], id="carriage-returns"),
        pytest.param("```py\na", [("py", "a")], id="open"),
        pytest.param("```\n```", [("", "")], id="empty"),
        pytest.param("`a` and ``` b ```", [], id="code-within-a-sentence"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_code_between_fences_is_given_with_its_language(answer: str, blocks: list[tuple[str, str]]) -> None:
    assert extract_code_blocks(answer) == blocks


def test_statistics_of_answers_are_printed() -> None:
    verdicts: tuple[ClaimVerdict, ...] = ("exact", "confirmed", "conflict", "unverified", "uncited", "")
    claims = tuple(Claim(0, 1, "a", (), verdict) for verdict in verdicts)
    repair = Repair("removed", "a", "[9]", "", "why")
    first = GenerationResult(
        "q", "a", usage=Usage(7, 3), cost_usd=Decimal("0.25"), took_ms=30, claims=claims, repairs=(repair,)
    )

    assert format_generation_stats([first, cited("exact"), GenerationResult("q", "no", refused=True)]) == (
        "answers         3\n"
        "refused         1\n"
        "with citations  1\n"
        "claims          5, 2 exact or confirmed, 1 in conflict\n"
        "repairs         1\n"
        "tokens          10\n"
        "cost            0.2500 USD, 2 of unknown price\n"
        "time            10 ms an answer\n"
    )


def test_statistics_of_no_answers_are_zeros() -> None:
    assert format_generation_stats([]).startswith("answers         0\n")
    assert format_generation_stats([]).endswith("time            0 ms an answer\n")


@pytest.mark.parametrize("name", ["check_citations", "extract_code_blocks", "format_generation_stats"])
def test_the_operations_are_found_at_the_top(name: str) -> None:
    assert callable(getattr(openbook, name))
