from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.grounding.marks import CitationMark, MarkParser, find_marks, parse_mark, read_marks

MILLION = 1_000_000


def texts(answer: str) -> list[str]:
    return [mark.text for mark in find_marks(answer)]


@pytest.mark.parametrize(
    ("mark", "number", "ranges"),
    [
        pytest.param("[2]", 2, (), id="a-result"),
        pytest.param("[2:14]", 2, ((14, 14),), id="a-unit"),
        pytest.param("[2:14-18]", 2, ((14, 18),), id="a-range"),
        pytest.param("[2:14, 18]", 2, ((14, 14), (18, 18)), id="two-units"),
        pytest.param("[2:14-18,20-21, 3]", 2, ((14, 18), (20, 21), (3, 3)), id="ranges-in-any-order"),
        pytest.param("[2: 14–18]", 2, ((14, 18),), id="as-people-set-it"),
        pytest.param("[2:14 - 18]", 2, ((14, 18),), id="with-blanks"),
        pytest.param("[02:014]", 2, ((14, 14),), id="leading-zeros"),
        pytest.param("[0:9-3]", 0, ((9, 3),), id="what-was-never-shown"),
    ],
)
def test_a_mark_names_a_result_and_units_of_it(mark: str, number: int, ranges: tuple[tuple[int, int], ...]) -> None:
    assert parse_mark(mark) == CitationMark(0, len(mark), mark, number, ranges)
    assert find_marks(f"It waits {mark}.") == [CitationMark(9, 9 + len(mark), mark, number, ranges)]


@pytest.mark.parametrize(
    "text",
    [
        *("[1:]", "[:1]", "[1-2]", "[1:2:3]", "[a]", "[]", "[ 1 ]", "[-1]", "[1.5]", "[12345]", "(1)", "1", "[1:2,]"),
        *("[1, 2]", "[1:1234567]", "[2:" + "1," * 150 + "1]", "[1\n]", "[^1]", "[x][y]", "[1", "1]", ""),
    ],
)
def test_what_only_looks_like_a_mark_is_none(text: str) -> None:
    assert parse_mark(text) is None
    assert find_marks(text) == []


@pytest.mark.parametrize(
    ("answer", "marks"),
    [
        pytest.param("[2:14-18][5:3]", ["[2:14-18]", "[5:3]"], id="side-by-side"),
        pytest.param("[[2]] [[3:1]", ["[2]", "[3:1]"], id="nested"),
        pytest.param("[see [2]]", ["[2]"], id="inside-brackets"),
        pytest.param("waits[1], 端口[2]。", ["[1]", "[2]"], id="without-a-blank"),
        pytest.param("שלום [1] مرحبا [2:1]", ["[1]", "[2:1]"], id="right-to-left"),
        pytest.param("a [1]\r\nb [2]\r\n", ["[1]", "[2]"], id="carriage-returns"),
        pytest.param("`x[1]` [2]", ["[2]"], id="code"),
        pytest.param("``a ` [1]`` [2]", ["[2]"], id="code-with-a-backtick"),
        pytest.param("`a\nb [1]` [2]", ["[2]"], id="code-over-a-line-end"),
        pytest.param("a ` b [1]", ["[1]"], id="backtick-that-nothing-closes"),
        pytest.param("``a [1]` [2]", ["[1]", "[2]"], id="backticks-of-other-number"),
        pytest.param("`` a `b [1]` [2]", ["[2]"], id="code-behind-backticks-that-nothing-closes"),
        pytest.param("a ` b\n\n[1] ` c", ["[1]"], id="code-ends-with-its-paragraph"),
        pytest.param("- a ` b\n- [1] ` c", ["[1]"], id="code-ends-with-its-item"),
        pytest.param("# a ` b\n[1] ` c", ["[1]"], id="code-ends-with-its-heading"),
        pytest.param("| ` |\n| [1] ` |", ["[1]"], id="code-ends-with-its-row"),
        pytest.param("```py\nx[1]\n```\n[2]", ["[2]"], id="fence"),
        pytest.param("~~~\n[1]\n```\n[1]\n~~~\n[2]", ["[2]"], id="fence-of-tildes"),
        pytest.param("````\n```\n[1]\n```\n[1]\n````\n[2]", ["[2]"], id="fence-in-a-fence"),
        pytest.param("```\n[1]\n    ```\n[1]", [], id="what-is-indented-closes-nothing"),
        pytest.param("- x\n\n      ```\n      [1]\n      ```\n- [2]", ["[2]"], id="fence-in-an-item"),
        pytest.param("1. ```\n   [1]\n   ```\n2. [2]", ["[2]"], id="fence-right-behind-a-number"),
        pytest.param("> ```\n> [1]\nb [2]", ["[2]"], id="fence-ends-with-its-quote"),
        pytest.param("```\n[1]", [], id="fence-that-nothing-closes"),
        pytest.param("``` a ``` [1]", ["[1]"], id="code-that-opens-like-a-fence"),
        pytest.param("```a[1]\nb\n```", [], id="behind-a-fence"),
        pytest.param("a\r\n```\r\n[1]\r\n```\r\n[2]", ["[2]"], id="fence-with-carriage-returns"),
    ],
)
def test_marks_are_found_wherever_they_are_no_code(answer: str, marks: list[str]) -> None:
    assert texts(answer) == marks
    for mark in find_marks(answer):
        assert answer[mark.start_char : mark.end_char] == mark.text


def test_code_within_sentences_is_told_with_its_backticks() -> None:
    assert read_marks("a `b` ``c`d`` ` e [1]") == (find_marks("a `b` ``c`d`` ` e [1]"), [(2, 5), (6, 13)])


PIECES = st.sampled_from(
    [
        *("`", "``", "```", "~~~", "[2]", "[2:14-18]", "[1:2, 3]", "[", "]", "2", ":", "-", ",", "\n", "\n\n", "\r\n"),
        *("> ", "- ", "1. ", "# ", "|", " ", "    ", "word ", "é", "。", "[["),
    ]
)
ANSWERS = st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=80)


@pytest.mark.slow
@given(answer=ANSWERS, cuts=st.lists(st.integers(0, 200), max_size=30), by_character=st.booleans())
def test_however_an_answer_is_split_into_deltas_its_marks_are_those_of_the_whole(
    answer: str, cuts: list[int], by_character: bool
) -> None:
    ends = range(len(answer) + 1) if by_character else sorted({min(cut, len(answer)) for cut in cuts} | {len(answer)})
    reader = MarkParser()

    pieces, start = [], 0
    for end in ends:
        pieces += reader.feed(answer[start:end])
        start = end
    pieces += reader.close()

    assert [piece for piece in pieces if isinstance(piece, CitationMark)] == find_marks(answer)
    assert "".join(piece if isinstance(piece, str) else piece.text for piece in pieces) == answer
    assert "" not in pieces


def test_text_is_given_at_once_and_a_mark_with_its_last_character() -> None:
    reader = MarkParser()

    given_back = [reader.feed(delta) for delta in ("It ", "waits [", "2", ":1", "]", ". And")]

    assert given_back == [["It "], ["waits "], [], [], [CitationMark(9, 14, "[2:1]", 2, ((1, 1),))], [". And"]]


def test_what_may_be_code_is_held_back_only_from_its_first_mark_on_until_it_is_known() -> None:
    reader = MarkParser()

    given_back = [reader.feed(delta) for delta in ("a `b [1] c", "d", "` e [2]")]

    assert given_back == [["a `b "], [], ["[1] cd` e ", CitationMark(15, 18, "[2]", 2, ())]]


def test_an_answer_that_breaks_off_ends_in_text() -> None:
    reader = MarkParser()

    assert (reader.feed("It waits [2:1"), reader.close()) == (["It waits "], ["[2:1"])
    assert MarkParser().close() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "count"),
    [
        pytest.param("`" * MILLION, 0, id="backticks"),
        pytest.param("[" * MILLION, 0, id="brackets"),
        pytest.param("[1:1," * 100_000, 0, id="beginnings-of-marks"),
        pytest.param("".join("`" * length + " " for length in range(1_400)), 0, id="backticks-that-nothing-closes"),
        pytest.param("`" + " [1]" * 10_000 + "a" * MILLION, 10_000, id="ten-thousand-marks-that-wait"),
        pytest.param("```\n" + "[1]\n" * 50_000, 0, id="fence-that-nothing-closes"),
        pytest.param("> " * (MILLION // 2), 0, id="quotes"),
        pytest.param("- " * (MILLION // 2), 0, id="dashes"),
        pytest.param("x [1:2].\n" * 10_000, 10_000, id="ten-thousand-marks"),
    ],
)
def test_an_answer_of_a_million_characters_is_read(answer: str, count: int) -> None:
    assert len(find_marks(answer)) == count
