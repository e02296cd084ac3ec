from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openbook.text import LONG_LINE_CHARS, LONG_SENTENCE_CHARS, LineIndex, sentences, trim, units
from openbook.types import Chunk

# What decides about lines, sentences and white space, more often than chance would bring it.
TEXT = st.text(
    st.one_of(
        st.sampled_from("\n\n\r\t\f \u00a0\u3000\u0085\u2028..!?…。！？”」)\"'(A"),
        st.sampled_from("abcäß索引😀\u0301"),
        st.characters(),
    )
)
LONG_TEXT = st.builds(lambda pieces, times: "".join(pieces) * times, st.lists(TEXT, max_size=4), st.integers(1, 400))


def cut(text: str, start: int = 0, end: int | None = None) -> list[str]:
    return [text[a:b] for a, b in sentences(text, start, end)]


@pytest.mark.slow
@given(TEXT)
@example("")
@example("\n")
@example("a\nb")
@example("a\r\nb\r\n")
def test_lines_agree_with_counting_line_feeds(text: str) -> None:
    lines = LineIndex(text)

    assert len(lines) == max(1, text.count("\n") + (not text.endswith("\n")))
    for offset in range(len(text) + 1):
        assert lines.line_at(offset) == text.count("\n", 0, offset) + 1
    whole = text.splitlines(keepends=True) if set(text) <= set("ab\n") else None
    pieces = [text[lines.start_of(line) : lines.end_of(line)] for line in range(1, len(lines) + 1)]
    assert "".join(pieces) == text
    assert all("\n" not in piece[:-1] for piece in pieces)
    assert whole is None or whole == [piece for piece in pieces if piece]


@given(TEXT, st.data())
def test_a_span_names_the_lines_of_its_first_and_last_character(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    span = LineIndex(text).span("a.md", start, end)

    assert (span.start_char, span.end_char) == (start, end)
    assert span.start_line == text.count("\n", 0, start) + 1
    assert span.end_line == text.count("\n", 0, max(start, end - 1)) + 1


@pytest.mark.parametrize(
    ("start", "end", "place"),
    [
        pytest.param(0, 2, "1-1", id="line-with-its-line-feed"),
        pytest.param(0, 3, "1-2", id="one-character-more"),
        pytest.param(1, 2, "1-1", id="line-feed-alone"),
        pytest.param(2, 2, "2-2", id="nothing-at-the-start-of-a-line"),
        pytest.param(0, 6, "1-4", id="everything"),
    ],
)
def test_a_line_feed_belongs_to_the_line_it_ends(start: int, end: int, place: str) -> None:
    assert str(LineIndex("a\nb\n\nc").span("x", start, end)) == f"x:{place}"


@given(TEXT, st.data())
def test_trimming_takes_the_white_space_of_both_ends_and_nothing_else(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    left, right = trim(text, start, end)

    assert text[left:right] == text[start:end].strip()
    assert start <= left <= right <= end
    assert left < right or left == start


@pytest.mark.slow
@given(LONG_TEXT, st.data())
def test_every_character_that_is_not_blank_lies_in_exactly_one_sentence(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    ranges = list(sentences(text, start, end))

    borders = [start, *(offset for pair in ranges for offset in pair), end]
    assert borders == sorted(borders)
    assert all(not text[a:b].strip() for a, b in zip(borders[::2], borders[1::2], strict=True))
    assert all(text[a:b] == text[a:b].strip() != "" for a, b in ranges)
    assert all(b - a <= LONG_SENTENCE_CHARS for a, b in ranges)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("It works. Does it? Yes!", ["It works.", "Does it?", "Yes!"], id="english"),
        pytest.param("Wait... what?! Well…  So", ["Wait...", "what?!", "Well…", "So"], id="runs-of-marks"),
        pytest.param(
            'He said "Go." Then (he left.) Ah', ['He said "Go."', "Then (he left.)", "Ah"], id="closing-marks"
        ),
        pytest.param("Use 3.11 or v1.2.3 of a.b.c. Now", ["Use 3.11 or v1.2.3 of a.b.c.", "Now"], id="marks-inside"),
        pytest.param("See e.g. Fig. 3 by J. Smith et al. in St. Ives.", None, id="abbreviations"),
        pytest.param("(cf. Dr. No) vs. Mr. X.", None, id="abbreviations-behind-brackets"),
        pytest.param(
            "The quays (north, etc.) and berths [1, 2, etc.] of J. (or B.) are old.", None, id="within-brackets"
        ),
        pytest.param("(They are old.) They go.", ["(They are old.)", "They go."], id="sentences-in-brackets"),
        pytest.param('"North, etc." They go.', ['"North, etc."', "They go."], id="abbreviations-in-quotation-marks"),
        pytest.param("Das gilt z.B. für Nr. 5, d.h. immer.", None, id="german-abbreviations"),
        pytest.param("Größe zählt. Über alles? Ja.", ["Größe zählt.", "Über alles?", "Ja."], id="german"),
        pytest.param(
            "Add `rule[,...] | all` or ``a? b : c``. Now", ["Add `rule[,...] | all` or ``a? b : c``.", "Now"], id="code"
        ),
        pytest.param("It is\n`a! b\n! c`. Now", ["It is\n`a! b\n! c`.", "Now"], id="code-of-two-lines"),
        pytest.param("Run `it'. Then `go'. Now", ["Run `it'.", "Then `go'.", "Now"], id="backticks-as-quotes"),
        pytest.param("A `tick. It goes.\n\n`On", ["A `tick.", "It goes.", "`On"], id="a-backtick-of-another-paragraph"),
        pytest.param("The end.The start", None, id="no-space-behind-the-mark"),
        pytest.param("索引在这里。真的吗？是的！好", ["索引在这里。", "真的吗？", "是的！", "好"], id="chinese"),
        pytest.param("「行く。」と言った。", ["「行く。」", "と言った。"], id="japanese-quotes"),
        pytest.param("어디에 있나요? 여기.", ["어디에 있나요?", "여기."], id="korean"),
        pytest.param("One.\r\nTwo.\r\n", ["One.", "Two."], id="carriage-returns"),
        pytest.param("One line\nof two", None, id="a-line-feed-ends-nothing"),
        pytest.param("Title\fText \f", ["Title", "Text"], id="form-feeds"),
        pytest.param("  \n\t ", [], id="blank"),
        pytest.param("", [], id="empty"),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str] | None) -> None:
    assert cut(text) == ([text] if expected is None else expected)


def test_an_abbreviation_is_one_at_the_start_of_a_range_too() -> None:
    text = "Heading\nDr. Smith came. He left."

    assert cut(text, text.index("Dr.")) == ["Dr. Smith came.", "He left."]


def test_sentences_of_a_range_do_not_look_outside() -> None:
    assert cut("One. Two. Three.", 5, 8) == ["Two"]


def test_what_is_too_long_is_cut_at_white_space() -> None:
    text = "word " * 400

    pieces = cut(text)

    assert {piece.replace("word", "").strip() for piece in pieces} == {""}
    assert all(len(piece) > LONG_SENTENCE_CHARS / 2 for piece in pieces[:-1])
    assert " ".join(pieces) == text.strip()


def test_what_has_no_white_space_is_cut_anyway() -> None:
    assert [len(piece) for piece in cut("索" * 2000)] == [800, 800, 400]


@pytest.mark.slow
@pytest.mark.parametrize("filler", [".", "!", " ", "\t", "'", ".'", ". ", "…)"])
def test_a_long_run_of_one_mark_takes_no_more_than_its_length(filler: str) -> None:
    text = "a" + filler * 300_000 + "b"

    assert "".join("".join(cut(text)).split()) == "".join(text.split())


CHUNK_TEXT = LONG_TEXT.filter(lambda text: bool(text.strip()))


@pytest.mark.slow
@given(TEXT, CHUNK_TEXT)
def test_units_are_exact_numbered_and_cover_all_that_is_not_blank(before: str, text: str) -> None:
    whole = before + text
    span = LineIndex(whole).span("a.md", len(before), len(whole))

    found = units(Chunk("s", span, text, "docs"))

    lines = LineIndex(whole)
    assert [unit.number for unit in found] == list(range(1, len(found) + 1))
    assert all(unit.text.strip() and unit.text == unit.text.rstrip() for unit in found)
    assert all(unit.text == whole[unit.span.start_char : unit.span.end_char] for unit in found)
    assert all(unit.span == lines.span("a.md", unit.span.start_char, unit.span.end_char) for unit in found)
    assert all(len(unit.text) <= LONG_SENTENCE_CHARS for unit in found)
    ends = [0, *(unit.span.end_char - len(before) for unit in found)]
    starts = [*(unit.span.start_char - len(before) for unit in found), len(text)]
    assert all(not text[end:start].strip() for end, start in zip(ends, starts, strict=True))


def make_units(text: str) -> list[tuple[int, str]]:
    chunk = Chunk("s", LineIndex(text).span("a.md", 0, len(text)), text, "docs")
    return [(unit.span.start_line, unit.text) for unit in units(chunk)]


def test_a_line_keeps_its_indentation_and_loses_its_end() -> None:
    assert make_units("  if x:\r\n\r\n\t    y()  \r\n\r\nz") == [(1, "  if x:"), (3, "\t    y()"), (5, "z")]


def test_a_line_of_400_characters_is_one_unit_and_a_longer_one_is_cut_by_sentence() -> None:
    fits = ("Ten chars." + " ") * 36 + "abcd"
    long = ("Ten chars." + " ") * 36 + "abcde"

    assert len(fits) == LONG_LINE_CHARS
    assert make_units(f"{fits}\n{long}") == [(1, fits), *[(2, "Ten chars.")] * 36, (2, "abcde")]


def test_the_number_of_an_item_in_a_list_is_no_sentence() -> None:
    text = "1. Open the door.\n  12. Close it in 1999. Leave."

    assert [text[a:b] for a, b in sentences(text)] == ["1. Open the door.", "12. Close it in 1999.", "Leave."]


def test_the_blocks_of_a_page_in_one_line_are_units_of_their_own() -> None:
    text = "Install \f   \f Use   pip. Then wait.\f  "
    chunk = Chunk("s", LineIndex(text).span("i.html", 0, len(text)), text, "docs")

    assert [unit.text for unit in units(chunk)] == ["Install", "Use   pip. Then wait."]
