from __future__ import annotations

import pytest

from openbook.answering.citations import cite, mark_of, unknown_marks, verdict_of
from openbook.answering.context import Context, Shown, build_context
from openbook.spans import units
from openbook.types import Chunk, Span
from tests.unit.retrieval.material import chunk_of, result_of

BEFORE = "Über uns\n\n"
FIRST = chunk_of("One.\nTwo.\n\nThree.\nFour.", "a.md", before=BEFORE, context=("Guide",))
SECOND = chunk_of("def f():\n    return 1", "b.py", kind="code", source="other")
CONTEXT = build_context([result_of(FIRST), result_of(SECOND)], 1_000)


def unchanged(chunk: Chunk) -> str:
    return BEFORE + chunk.text if chunk is FIRST else chunk.text


@pytest.mark.parametrize(
    ("mark", "place", "quote"),
    [
        pytest.param("[1]", "a.md:3-7", "One.\nTwo.\n\nThree.\nFour.", id="a-whole-result"),
        pytest.param("[1:3]", "a.md:6-6", "Three.", id="one-unit"),
        pytest.param("[1:2-3]", "a.md:4-6", "Two.\n\nThree.", id="units-over-a-blank-line"),
        pytest.param("[1:1-4]", "a.md:3-7", "One.\nTwo.\n\nThree.\nFour.", id="all-units"),
        pytest.param("[1:2-2]", "a.md:4-4", "Two.", id="from-a-unit-to-itself"),
        pytest.param("[2:2]", "b.py:2-2", "    return 1", id="indentation-is-quoted"),
        pytest.param("[01:03]", "a.md:6-6", "Three.", id="leading-zeros"),
    ],
)
def test_a_mark_names_units_of_a_result(mark: str, place: str, quote: str) -> None:
    (citation,) = cite(f"So it is {mark}.", CONTEXT, unchanged)

    assert (citation.mark, str(citation.span), citation.quote) == (mark, place, quote)
    assert citation.verdict == "supported"
    assert unknown_marks(mark, CONTEXT) == ()


@pytest.mark.parametrize(
    "mark", ["[9]", "[3:1]", "[1:99]", "[1:2-99]", "[1:5]", "[1:4-3]", "[0]", "[0:1]", "[1:0]", "[1:0-2]", "[9999]"]
)
def test_a_mark_that_names_nothing_shown_is_unknown_and_no_citation(mark: str) -> None:
    assert cite(f"So it is {mark}.", CONTEXT, unchanged) == ()
    assert unknown_marks(f"So it is {mark}. [1]", CONTEXT) == (mark,)


@pytest.mark.parametrize(
    "text", ["[1:]", "[:1]", "[1-2]", "[1:2:3]", "[a]", "[]", "[ 1 ]", "[-1]", "[1.5]", "[12345]", "(1)", "1"]
)
def test_what_only_looks_like_a_mark_is_none(text: str) -> None:
    assert cite(text, CONTEXT, unchanged) == ()
    assert unknown_marks(text, CONTEXT) == ()


def test_citations_are_in_the_order_of_their_marks_and_repeats_are_left_out() -> None:
    citations = cite("B [2:1]. A [1:2], again [2:1], and [1:2] [1].", CONTEXT, unchanged)

    assert [citation.mark for citation in citations] == ["[2:1]", "[1:2]", "[1]"]


def test_unknown_marks_are_in_order_without_repeats() -> None:
    assert unknown_marks("[7] [1:99] [1] [7]", CONTEXT) == ("[7]", "[1:99]")


def test_an_answer_without_marks_cites_nothing() -> None:
    assert cite("I do not know.", CONTEXT, unchanged) == ()
    assert cite("[1]", Context(()), unchanged) == ()


def test_a_mark_counts_only_units_that_were_shown() -> None:
    cut = Context((Shown(1, result_of(FIRST), units(FIRST)[:2]),))

    (citation,) = cite("[1] [1:3]", cut, unchanged)

    assert citation.quote == "One.\nTwo."
    assert unknown_marks("[1] [1:3]", cut) == ("[1:3]",)


def test_a_mark_means_the_result_of_its_number_and_not_of_its_position() -> None:
    sparse = Context((Shown(4, result_of(SECOND), units(SECOND)),))

    (citation,) = cite("[1] [4:1]", sparse, unchanged)

    assert str(citation.span) == "b.py:1-1"


def test_a_citation_carries_its_source_and_its_label() -> None:
    first, second = cite("[1:1] [2:1]", CONTEXT, unchanged)

    assert (first.source, first.label) == ("src", "Guide")
    assert (second.source, second.label) == ("other", "")


@pytest.mark.parametrize(
    ("first", "last", "mark"), [(0, 0, "[1:1]"), (1, 2, "[1:2-3]"), (0, 3, "[1:1-4]")], ids=["one", "some", "all"]
)
def test_the_mark_that_is_written_is_the_one_that_is_read(first: int, last: int, mark: str) -> None:
    shown = CONTEXT.shown[0]

    written = mark_of(shown, shown.units[first], shown.units[last])

    (citation,) = cite(written, CONTEXT, unchanged)
    assert written == mark
    assert citation.span.start_char == shown.units[first].span.start_char
    assert citation.span.end_char == shown.units[last].span.end_char


TEXT = "a\nbé\nc d\n"
QUOTE = Span("a.md", 2, 8, 2, 3)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        pytest.param(TEXT, "supported", id="unchanged"),
        pytest.param(TEXT + "more\n", "supported", id="changed-behind-it"),
        pytest.param("A\nbé\nc d\n", "supported", id="changed-before-it-without-moving-it"),
        pytest.param("a\nbé\nC d\n", "stale", id="other-text"),
        pytest.param("a\n\nbé\nc d\n", "stale", id="moved-by-a-line"),
        pytest.param("ab\nbé\nc d\n", "stale", id="moved-by-a-character"),
        pytest.param("\n\nbé\nc d\n", "stale", id="same-characters-on-other-lines"),
        pytest.param("ab" + TEXT[2:], "stale", id="same-characters-one-line-up"),
        pytest.param("a\nbé\nc", "stale", id="cut-short"),
        pytest.param("", "stale", id="emptied"),
        pytest.param(None, "stale", id="gone"),
    ],
)
def test_a_quote_is_supported_only_at_its_very_characters_and_lines(text: str | None, verdict: str) -> None:
    assert verdict_of(QUOTE, "bé\nc d", text) == verdict


def test_carriage_returns_are_characters_and_end_no_line() -> None:
    span = Span("a.md", 3, 8, 2, 3)

    assert verdict_of(span, "b\r\ncd", "a\r\nb\r\ncd\r\n") == "supported"
    assert verdict_of(span, "b\r\ncd", "a\nb\ncd\n") == "stale"


def test_a_span_with_the_wrong_last_line_is_stale() -> None:
    assert verdict_of(Span("a.md", 2, 8, 2, 2), "bé\nc d", TEXT) == "stale"


def test_each_citation_is_checked_against_the_text_as_it_is_now() -> None:
    asked: list[Chunk] = []

    def one_changed(chunk: Chunk) -> str:
        asked.append(chunk)
        return unchanged(chunk).replace("Two", "2")

    citations = cite("[1:1] [1:2] [2:1]", CONTEXT, one_changed)

    assert [citation.verdict for citation in citations] == ["supported", "stale", "supported"]
    assert asked == [FIRST, FIRST, SECOND]


def test_the_citation_of_a_document_that_is_gone_keeps_its_quote() -> None:
    (citation,) = cite("[1:1]", CONTEXT, lambda _: None)

    assert (citation.quote, citation.verdict) == ("One.", "stale")
