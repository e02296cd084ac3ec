from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.costs import estimate_tokens
from openbook.extractive.context import (
    ContextItem,
    build_context,
    label_of,
)
from openbook.text import units
from openbook.types import Chunk, Kind, Lesson
from tests.unit.retrieval.material import chunk_of, result_of

TEXTS = st.text(alphabet="ab .\n\u4e2d\u00fc`", min_size=1, max_size=900).filter(str.strip)
CHUNKS = st.builds(chunk_of, TEXTS, st.sampled_from(["a.md", "some/long/folder/größe.md"]))


@pytest.mark.slow
@given(st.lists(CHUNKS, max_size=6), st.integers(-5, 500))
def test_a_context_never_exceeds_its_budget(chunks: list[Chunk], budget: int) -> None:
    context = build_context([result_of(chunk) for chunk in chunks], budget)

    assert context.tokens <= max(0, budget)
    assert context.tokens == estimate_tokens(str(context))


@pytest.mark.slow
@given(st.lists(CHUNKS, max_size=6), st.integers(-5, 500))
def test_units_are_whole_consecutive_and_cut_off_in_the_last_result_only(chunks: list[Chunk], budget: int) -> None:
    context = build_context([result_of(chunk) for chunk in chunks], budget)

    assert [shown.number for shown in context.shown] == list(range(1, len(context.shown) + 1))
    for position, (shown, chunk) in enumerate(zip(context.shown, chunks, strict=False), start=1):
        assert shown.result.chunk is chunk
        assert shown.units
        assert shown.units == units(chunk)[: len(shown.units)]
        assert len(shown.units) == len(units(chunk)) or position == len(context.shown)


def test_a_context_is_fenced_results_of_numbered_units() -> None:
    code = chunk_of("def f():\n\n    return 1", "b.py", before="import x\n", kind="code")
    prose = chunk_of("One.\nTwo.", "a.md", context=("Guide", "Start"))

    context = build_context([result_of(code), result_of(prose)], 1_000)

    assert str(context) == (
        '<source number="1" place="b.py:2-4" title="">\n1| def f():\n2|     return 1\n</source>\n\n'
        '<source number="2" place="a.md:1-2" title="Guide › Start">\n1| One.\n2| Two.\n</source>'
    )


def test_a_long_line_is_numbered_by_sentence() -> None:
    line = " ".join(f"This is sentence number {number} of the talk." for number in range(20))

    (shown,) = build_context([result_of(chunk_of(line))], 5_000).shown

    assert str(shown).splitlines()[:3] == [
        '<source number="1" place="a.md:1-1" title="">',
        "1| This is sentence number 0 of the talk.",
        "2| This is sentence number 1 of the talk.",
    ]
    assert len(shown.units) == 20


def test_the_result_that_crosses_the_budget_keeps_what_fits_and_ends_the_context() -> None:
    first = result_of(chunk_of("word " * 10, "a.md"))
    long = result_of(chunk_of("\n".join(["word " * 10] * 50), "b.md"))
    small = result_of(chunk_of("tiny", "c.md"))

    shown = build_context([first, long, small], 150).shown

    assert [entry.result.chunk.span.path for entry in shown] == ["a.md", "b.md"]
    assert 1 < len(shown[1].units) < 50


def test_a_budget_is_used_up_before_anything_is_left_out() -> None:
    results = [result_of(chunk_of("\n".join(["word " * 10] * 50)))]

    context = build_context(results, 300)

    another_unit = estimate_tokens(f"{len(context.shown[0].units)}| {'word ' * 10}\n")
    assert 300 - 2 * another_unit < context.tokens <= 300


def test_what_stands_between_results_counts_too() -> None:
    # Lengths that leave nothing over when they are divided by the characters of a token.
    result = result_of(chunk_of("abc\nabc", "ab.txt"))

    context = build_context([result] * 20, 120)

    assert 1 < len(context.shown) < 20
    assert context.tokens <= 120


def test_a_unit_that_just_fits_is_shown() -> None:
    result = result_of(chunk_of("abc", "ab.txt"))
    needed = build_context([result], 1_000).tokens

    assert build_context([result], needed + 1).shown


@pytest.mark.parametrize("budget", [-1, 0, 1, 5])
def test_a_budget_without_room_for_a_unit_shows_nothing(budget: int) -> None:
    context = build_context([result_of(chunk_of("One.\nTwo."))], budget)

    assert context.shown == ()
    assert str(context) == ""
    assert context.tokens == 0


def test_no_results_make_an_empty_context() -> None:
    assert build_context([], 1_000).shown == ()


LESSON = Lesson("Retrieval", 0, "Introduction")
IN_LESSON = ("Retrieval", "Lesson 0: Introduction")


@pytest.mark.parametrize(
    ("chunk", "label"),
    [
        pytest.param(
            chunk_of("x", kind="course", lesson=LESSON), "Retrieval · Lesson 0: Introduction", id="course-and-lesson"
        ),
        pytest.param(chunk_of("x", kind="course", lesson=Lesson("Retrieval")), "Retrieval", id="before-the-lessons"),
        pytest.param(chunk_of("x", kind="course", lesson=Lesson("", 3)), "Lesson 3", id="course-without-a-title"),
        pytest.param(
            chunk_of("x", kind="course", lesson=LESSON, anchor="cell 3", context=(*IN_LESSON, "Start", "Setup")),
            "Retrieval · Lesson 0: Introduction › Start › Setup cell 3",
            id="lesson-headings-and-anchor",
        ),
        pytest.param(
            replace(chunk_of("x", kind="course", lesson=LESSON, anchor="p. 4", context=IN_LESSON), language="pdf"),
            "Retrieval · Lesson 0: Introduction",
            id="lesson-whose-citation-has-the-page",
        ),
        pytest.param(
            chunk_of("x", kind="code", lesson=LESSON, context=("Client",)),
            "Retrieval · Lesson 0: Introduction",
            id="code-of-a-lesson",
        ),
        pytest.param(chunk_of("x", anchor="cell 3", context=("Guide",)), "Guide cell 3", id="heading-and-anchor"),
        pytest.param(chunk_of("x", anchor="p. 4"), "p. 4", id="page"),
        pytest.param(replace(chunk_of("x", anchor="p. 4", context=("Guide",)), language="pdf"), "Guide", id="heading"),
        pytest.param(chunk_of("x", kind="code", anchor="cell 3"), "cell 3", id="code-in-a-notebook"),
        pytest.param(chunk_of("x", context=("Guide", "Start")), "Guide › Start", id="headings"),
        pytest.param(chunk_of("x", kind="code", context=("Client",)), "", id="code"),
        pytest.param(chunk_of("x"), "", id="nothing"),
    ],
)
def test_a_label_says_where_the_original_puts_it(chunk: Chunk, label: str) -> None:
    result = result_of(chunk)

    assert label_of(result) == label
    assert ContextItem(1, result, ()).label == label


def test_a_source_is_titled_by_its_label_or_by_what_it_defines() -> None:
    labelled = ContextItem(4, result_of(chunk_of("x", context=("Guide",))), ()).source
    code = ContextItem(4, result_of(chunk_of("x", kind="code", symbol="Retry.wait")), ()).source

    assert (labelled.number, labelled.place, labelled.title) == (4, "a.md:1-1", "Guide")
    assert code.title == "Retry.wait"


def test_a_source_that_the_budget_cuts_says_where_it_goes_on_to() -> None:
    long = result_of(chunk_of("\n".join(["word " * 10] * 50)))

    (shown,) = build_context([long], 300).shown

    assert str(shown).endswith("\n(cut here; goes on to line 50)\n</source>")
    assert shown.source.units == tuple(unit.text for unit in shown.units)


def test_a_source_that_ends_before_its_definition_says_so() -> None:
    cut = replace(result_of(chunk_of("def f():", "a.py", kind="code")), goes_on_to=40)
    whole = result_of(chunk_of("x = 1", "b.py", kind="code"))

    shown = build_context([cut, whole], 1_000).shown

    assert [entry.note for entry in shown] == ["cut here; goes on to line 40", ""]
    assert str(shown[0]).split("\n")[-2:] == ["(cut here; goes on to line 40)", "</source>"]


def test_a_line_that_the_budget_cuts_goes_on_to_no_other_line() -> None:
    line = " ".join(f"This is sentence number {number} of the talk." for number in range(60))

    (shown,) = build_context([result_of(chunk_of(line))], 200).shown

    assert shown.note == "cut here"


def test_numbers_begin_where_they_are_told_to() -> None:
    results = [result_of(chunk_of("One.")), result_of(chunk_of("Two.", "b.md"))]

    assert [shown.number for shown in build_context(results, 1_000, first=7).shown] == [7, 8]


@pytest.mark.parametrize(
    ("kind", "prose"), [("docs", True), ("course", True), ("code", False), ("config", False), ("data", False)]
)
def test_docs_and_courses_are_read_by_the_sentence(kind: Kind, prose: bool) -> None:
    assert ContextItem(1, result_of(chunk_of("x", kind=kind)), ()).is_prose is prose
