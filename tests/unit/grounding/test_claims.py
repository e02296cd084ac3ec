from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openbook.grounding.claims import split_claims
from openbook.grounding.marks import find_marks
from tests.unit.grounding.test_marks import ANSWERS, MILLION


def stated(answer: str) -> list[tuple[str, str]]:
    """Return each claim with its marks in one text."""
    return [(each.claim.text, "".join(each.claim.marks)) for each in split_claims(answer)[0]]


def loose(answer: str) -> list[tuple[str, str, bool]]:
    return [("".join(mark.text for mark in each.marks), each.text, each.is_code) for each in split_claims(answer)[1]]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        pytest.param("It waits [1]. It ends [2].", [("It waits.", "[1]"), ("It ends.", "[2]")], id="before-the-stop"),
        pytest.param("It waits. [1] It ends.[2]", [("It waits.", "[1]"), ("It ends.", "[2]")], id="behind-the-stop"),
        pytest.param("It waits [1][2:1], and ends [3].", [("It waits, and ends.", "[1][2:1][3]")], id="several"),
        pytest.param("It waits [1] or ends [1].", [("It waits or ends.", "[1]")], id="the-same-twice"),
        pytest.param("It waits. It ends. [1]", [("It waits.", ""), ("It ends.", "[1]")], id="only-the-sentence-before"),
        pytest.param("[1] It waits. [2] It ends.", [("It waits.", "[1]"), ("It ends.", "[2]")], id="in-front"),
        pytest.param("It waits\nand ends [1].", [("It waits and ends.", "[1]")], id="over-a-line-end"),
        pytest.param("It waits.\r\n[1]\r\n", [("It waits.", "[1]")], id="carriage-returns"),
        pytest.param("**It waits.** It ends [1].", [("**It waits.**", ""), ("It ends.", "[1]")], id="bold"),
        pytest.param("Call `a. b` [1].", [("Call `a. b`.", "[1]")], id="full-stop-in-code"),
        pytest.param("Call `x[1]` now.", [("Call `x[1]` now.", "")], id="brackets-in-code"),
        pytest.param("> It waits\n> long [1].", [("It waits long.", "[1]")], id="quote"),
        pytest.param("Oft, z.B. ca. 8 s [1]. So.", [("Oft, z.B. ca. 8 s.", "[1]"), ("So.", "")], id="german"),
        pytest.param("Oft, z. B. am 3. Mai [1].", [("Oft, z. B. am 3. Mai.", "[1]")], id="german-as-printed"),
        pytest.param("端口8000[2]。重试。[1]", [("端口8000。", "[2]"), ("重试。", "[1]")], id="chinese"),
        pytest.param("مرحبا بالعالم [1]. שלום [2].", [("مرحبا بالعالم.", "[1]"), ("שלום.", "[2]")], id="right-to-left"),
        pytest.param("It waits 1.5 s, e.g. here [1].", [("It waits 1.5 s, e.g. here.", "[1]")], id="abbreviation"),
    ],
)  # fmt: skip
def test_a_sentence_is_a_claim_with_the_marks_in_it_and_behind_it(answer: str, claims: list[tuple[str, str]]) -> None:
    assert stated(answer) == claims


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        pytest.param("It waits. It ends.\n[1]", [("It waits.", "[1]"), ("It ends.", "[1]")], id="all-of-the-block"),
        pytest.param("It waits.\n\n[1] [2]", [("It waits.", "[1][2]")], id="below-a-blank-line"),
        pytest.param("It waits [2]. It ends.\n[1]", [("It waits.", "[2]"), ("It ends.", "[1]")], id="that-has-none"),
        pytest.param("It waits [2]. It ends [3].\n[1]", [("It waits.", "[2]"), ("It ends.", "[3][1]")], id="or-last"),
        pytest.param("A thing.\n\nIt waits.\n[1]", [("A thing.", ""), ("It waits.", "[1]")], id="no-block-before-it"),
        pytest.param("- one\n- two\n[1]", [("one", ""), ("two", "[1]")], id="one-item"),
    ],
)  # fmt: skip
def test_a_mark_on_a_line_of_its_own_belongs_to_the_block_before_it(answer: str, claims: list[tuple[str, str]]) -> None:
    assert stated(answer) == claims


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        pytest.param("- one [1]\n- two", [("one", "[1]"), ("two", "")], id="bullets"),
        pytest.param("1. one [1]\n   goes on\n2) two", [("one goes on", "[1]"), ("two", "")], id="numbers-and-wrapped"),
        pytest.param("- one. More. [1]", [("one. More.", "[1]")], id="marks-at-the-end-hold-for-all"),
        pytest.param("- one. More.", [("one. More.", "")], id="no-marks"),
        pytest.param("- one [1]. More.", [("one.", "[1]"), ("More.", "")], id="marks-inside-cut-it"),
        pytest.param("- a [1]\n  - b [2]", [("a", "[1]"), ("b", "[2]")], id="nested"),
        pytest.param("- a\n\ntext", [("a", ""), ("text", "")], id="ends-at-a-blank-line"),
        pytest.param("| a | b |\n|--|:-:|\n| x | 3 [1] |\n| y | [2] |", [("x | 3", "[1]"), ("y", "[2]")], id="rows"),
        pytest.param("| x | 3. More. | [1] |", [("x | 3. More.", "[1]")], id="row-of-sentences"),
    ],
)  # fmt: skip
def test_an_item_and_a_row_are_claims(answer: str, claims: list[tuple[str, str]]) -> None:
    assert stated(answer) == claims


@pytest.mark.parametrize(
    "answer",
    [
        *("", " \n\t\n", "# Title", "Title\n=====", "**Title**", "---", "| a | b |\n|---|---|", "[1]", "...", "[1]。"),
        *("```\nIt waits.\n```", "```\nIt waits. [1]"),
    ],
)
def test_what_states_nothing_is_no_claim(answer: str) -> None:
    assert stated(answer) == []


@pytest.mark.parametrize(
    ("answer", "marks"),
    [
        pytest.param("# Waiting [1]\n\nText.", [("[1]", "# Waiting", False)], id="heading"),
        pytest.param("```\nx[1]\n```\n[2:1] [3]", [("[2:1][3]", "```\nx[1]\n```", True)], id="code"),
        pytest.param("[1]", [("[1]", "", False)], id="nothing"),
        pytest.param("It waits [1].\n\nSources: [1], [2]", [("[1][2]", "", False)], id="list-of-references"),
        pytest.param("**参考：** [1]、[2]", [("[1][2]", "", False)], id="list-of-references-in-chinese"),
        pytest.param("It waits [1].", [], id="a-claim-keeps-its-marks"),
        pytest.param("Rope [1] | Ton\n-|-\nA | 4", [("[1]", "Rope | Ton", False)], id="header-of-a-table"),
        pytest.param("Rope | Ton\n[1]-|-", [], id="no-header-above-a-mark"),
    ],
)
def test_marks_behind_no_claim_are_told_with_what_they_stand_with(
    answer: str, marks: list[tuple[str, str, bool]]
) -> None:
    assert loose(answer) == marks


@example(answer="Es wartet。~~~Dann nicht")
@example(answer="[2]|\n-|")
@example(answer="`|\n[2]-|")
@given(answer=ANSWERS)
def test_claims_are_in_order_apart_and_no_mark_is_lost(answer: str) -> None:
    statements, beside = split_claims(answer)

    places = [(each.claim.start_char, each.claim.end_char) for each in statements]
    assert places == sorted(places)
    assert all(first[1] <= second[0] for first, second in pairwise(places))
    assert all(0 <= start < end <= len(answer) for start, end in places)
    owned = {mark for each in statements for mark in each.marks} | {mark for each in beside for mark in each.marks}
    assert owned == set(find_marks(answer))
    for each in statements:
        assert each.claim.text.strip() == each.claim.text != ""
        assert list(each.claim.marks) == list(dict.fromkeys(mark.text for mark in each.marks))


@given(sentences=st.lists(st.sampled_from(["It waits", "Dann endet es", "Retry [1:2] later"]), min_size=1, max_size=9))
def test_an_answer_of_sentences_gives_each_of_them(sentences: list[str]) -> None:
    answer = " ".join(f"{sentence} [9]." for sentence in sentences)

    assert [answer[each.claim.start_char : each.claim.end_char] for each in split_claims(answer)[0]] == [
        f"{sentence} [9]." for sentence in sentences
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "count"),
    [
        pytest.param("a" * MILLION, 1250, id="one-word"),
        pytest.param("It waits [1:2]. " * 10_000, 10_000, id="ten-thousand-marks"),
        pytest.param("It waits" + " [1:2]" * 10_000 + ".", 1, id="ten-thousand-marks-of-one-claim"),
        pytest.param("It waits.\n" + "[1:2]\n" * 10_000, 1, id="ten-thousand-lines-of-marks"),
        pytest.param("a." + "*_" * (MILLION // 2), 1, id="emphasis"),
        pytest.param("|" * MILLION, 0, id="bars"),
        pytest.param("| a |\n|" + "-" * 400_000 + "x |", 2, id="dashes"),
        pytest.param("\n" * 100_000, 0, id="line-ends"),
        pytest.param("a\n>" + " " * MILLION + "b", 2, id="blanks-in-a-quote"),
        pytest.param("- a\n" * 20_000, 20_000, id="items"),
    ],
)
def test_an_answer_of_a_million_characters_is_split(answer: str, count: int) -> None:
    assert len(split_claims(answer)[0]) == count


@pytest.mark.parametrize(
    ("table", "judged"),
    [
        pytest.param("Name | Wait\n--- | ---\na | 30 s [1:1]\nb | 40 s [1:2]\n\nSo.", 2, id="alone"),
        pytest.param("Here:\nName | Wait\n:-- | --:\na | 30 s [1:1]\nb | 40 s [1:2]\nSo.", 2, id="behind-a-line"),
        pytest.param("Here | it is\n\n--- | ---\na | 30 s [1:1]\nb | 40 s [1:2]", 0, id="no-heads"),
    ],
)
def test_rows_without_borders_around_them_are_judged_one_by_one(table: str, judged: int) -> None:
    statements, _ = split_claims(table)

    rows = ["Name: a; Wait: 30 s", "Name: b; Wait: 40 s"]
    assert [each.judged for each in statements if each.heads] == rows[:judged]
    assert all(table[each.claim.start_char : each.claim.end_char] for each in statements)


@pytest.mark.parametrize(
    ("table", "judged"),
    [
        pytest.param("| what | `a()` |\n|---|---|\n| order | 3 [1:1] |", "what: order; a(): 3", id="code"),
        pytest.param("| | `a|b` | **c** |\n|-|-|-|\n| order | 3 | 4 |", "order; a|b: 3; c: 4", id="no-first-name"),
        pytest.param("> | | a |\n> |-|-|\n> | of | 3 |", "of; a: 3", id="no-first-name-in-a-quote"),
        pytest.param("| what | a | b |\n|-|-|-|\n| | 3 | 4 [1:1] |", "a: 3; b: 4", id="no-first-cell"),
        pytest.param("| what | a [1:1] | b |\n|-|-|-|\n| of | | 4 |", "what: of; b: 4", id="no-middle-cell"),
        pytest.param("| what | a |\n|-|-|\n| of | `3|4` | [1:1] |", "what: of; a: `3|4`", id="a-cell-of-marks"),
        pytest.param("| what | a |\n|-|-|\n[1:1] | of | 3 |", "what: of; a: 3", id="a-mark-in-front"),
        pytest.param("| what | a |\n|-|-|\n| of | 3 | 4 |", "of | 3 | 4", id="too-many-cells"),
        pytest.param("| what | a | b |\n|-|-|-|\n| of | 3 |", "of | 3", id="too-few-cells"),
    ],
)  # fmt: skip
def test_a_row_is_judged_by_the_names_of_its_columns(table: str, judged: str) -> None:
    (statement,), _ = split_claims(table)

    assert statement.judged == judged
