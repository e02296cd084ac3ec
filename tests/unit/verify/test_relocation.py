"""Lines are found again where they are, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.verify.relocation import ComparedText, NotRelocated, Relocation, likeness, relocate

OLD = """\
def one(a):
    total = a + 1
    return total


def two(b):
    total = b + 2
    return total


def three(c):
    return c
"""


def moved(new: str, first: int, last: int) -> Relocation | NotRelocated:
    return relocate(ComparedText(OLD), first, last, ComparedText(new))


def test_the_same_text_is_where_it_was() -> None:
    assert moved(OLD, 6, 8) == Relocation(6, 8)


def test_lines_above_push_a_block_down() -> None:
    assert moved("import os\nimport re\n\n" + OLD, 6, 8) == Relocation(9, 11)


def test_a_function_that_moves_is_found() -> None:
    one, two, three = OLD.split("\n\n\n")

    assert moved(f"{three}\n{two}\n\n\n{one}\n", 6, 8) == Relocation(4, 6)


def test_indentation_and_line_breaks_do_not_matter() -> None:
    assert moved(OLD.replace("def two(b):", "def two(\n    b\n):").replace("    ", "\t"), 6, 8) == Relocation(6, 10)


@pytest.mark.parametrize(("line", "expected"), [(3, 5), (8, 10)])
def test_of_equal_lines_the_surroundings_decide(line: int, expected: int) -> None:
    assert moved("# A\n# B\n" + OLD, line, line) == Relocation(expected, expected)


def test_a_line_that_is_gone_is_not_its_twin() -> None:
    without = OLD.replace("    total = b + 2\n    return total\n", "    return b\n")

    assert isinstance(moved(without, 8, 8), NotRelocated)


def test_an_edited_line_is_found_between_its_neighbours() -> None:
    spot = moved("import os\n" + OLD.replace("total = b + 2", "total = b + 20"), 7, 7)

    assert isinstance(spot, Relocation)
    assert (spot.first_line, spot.last_line, spot.likeness < 1) == (8, 8, True)


LOST = "// NOTE: an action name coressponds to a canvas property\n"


def test_a_line_that_lost_its_neighbors_is_found_by_nearly_all_of_its_characters() -> None:
    old = "import os\n" + LOST + "use(os)\n"
    new = OLD + "x = 1\n" + LOST.replace("ress", "rres") + "y = 1\n"

    found = relocate(ComparedText(old), 2, 2, ComparedText(new))

    assert isinstance(found, Relocation)
    assert found.lines == (14, 15)
    assert 0.9 < found.likeness < 1.0


@pytest.mark.parametrize(
    ("twin_then", "twin_now"),
    [pytest.param("", LOST.replace("action", "actor"), id="now"), pytest.param(LOST, "", id="then")],
)
def test_a_line_that_lost_its_neighbors_and_has_a_twin_is_lost(twin_then: str, twin_now: str) -> None:
    old = "import os\n" + LOST + "use(os)\n" + twin_then.replace("action", "act")
    new = OLD + "x = 1\n" + LOST.replace("ress", "rres") + "y = 1\n" + twin_now

    assert isinstance(relocate(ComparedText(old), 2, 2, ComparedText(new)), NotRelocated)


def test_of_a_long_block_that_was_edited_it_is_told_how_much_is_left() -> None:
    lines = [f"value_{n} = compute(alpha, beta={n * 7 % 13}, gamma='{n}')" for n in range(1000)]
    renamed = [line.replace("alpha", "a") if n % 9 == 5 else line for n, line in enumerate(lines)]
    rewritten = [f"#{n}" if n % 9 == 5 else line for n, line in enumerate(lines)]

    spots = [
        relocate(ComparedText("\n".join(lines)), 1, 1000, ComparedText("\n".join(each)))
        for each in (renamed, rewritten)
    ]

    assert [isinstance(spot, Relocation) and round(spot.likeness, 2) for spot in spots] == [0.99, 0.94]


@pytest.mark.parametrize(
    ("edit", "first", "last"),
    [
        pytest.param(("b = f(2)\nc = 3", "x = 0\nb = f(22)\nc = 3"), 3, 6, id="like-a-line-farther-down"),
        pytest.param(("b = f(2)\nc = 3", "c = 3"), 2, 4, id="gone"),
        pytest.param(("a = 1\nb = f(2)", "z = 'y'\nq.r()"), 2, 5, id="as-many-lines-as-before"),
    ],
)
def test_a_block_is_found_though_its_first_line_was_edited_with_the_one_above(
    edit: tuple[str, str], first: int, last: int
) -> None:
    old = "a = 1\nb = f(2)\nc = 3\nd = 4\ne = 5\nf = 6\n"

    found = relocate(ComparedText(old), 2, 5, ComparedText(old.replace("a = 1", "a = 8").replace(*edit)))

    assert isinstance(found, Relocation)
    assert (found.first_line, found.last_line) == (first, last)


def test_an_edited_block_is_found_in_a_long_text() -> None:
    lines = [f"call_{number}()" for number in range(9_000)]
    old, new = [*lines], ["import os", *lines[:4_000], *lines[4_100:]]
    new[new.index("call_5001()")] = "other()"

    found = relocate(ComparedText("\n".join(old)), 5_001, 5_010, ComparedText("\n".join(new)))

    assert isinstance(found, Relocation)
    assert (found.first_line, found.last_line) == (4_902, 4_911)


def test_of_a_block_that_has_grown_more_is_left_than_of_one_that_lost_lines() -> None:
    short, long = ["first()", "third()"], ["first()", "second(and, more)", "third()"]

    assert likeness(short, long) > likeness(long, short)


def test_a_block_that_was_rewritten_is_lost() -> None:
    assert isinstance(moved("print('nothing of it')\n", 6, 8), NotRelocated)


def test_twins_that_nothing_tells_apart_are_lost() -> None:
    assert isinstance(
        relocate(ComparedText("return None\n"), 1, 1, ComparedText("return None\nx\nreturn None\n")), NotRelocated
    )


def test_blank_lines_are_found_between_the_same_lines() -> None:
    assert moved("import os\n" + OLD, 4, 5) == Relocation(5, 6)


def test_blank_lines_between_lines_that_changed_cannot_be_found() -> None:
    assert moved(OLD.replace("def two", "def deux"), 4, 5) == NotRelocated("the cited lines are blank")


def test_of_a_thousand_equal_lines_none_is_chosen() -> None:
    assert isinstance(relocate(ComparedText("x = 1\n" * 2000), 5, 5, ComparedText("x = 1\n" * 1999)), NotRelocated)


def test_blank_lines_at_the_edges_of_a_block_stay_with_it() -> None:
    assert moved("import os\n" + OLD, 5, 8) == Relocation(6, 9)


def test_of_a_stretch_alone_twins_need_more_proof() -> None:
    old = ComparedText("def x():\n    total = b + 2\n    return total\n")
    new = ComparedText("def x():\n    total = b + 2\n    return total\n\ndef x():\n    total = c\n    return total\n")

    assert relocate(old, 3, 3, new) == Relocation(3, 3)
    assert isinstance(relocate(old, 3, 3, new, is_part=True), NotRelocated)


def test_a_twin_that_was_added_at_the_end_is_not_taken_for_the_last_line() -> None:
    added = OLD + "\n\ndef four(d):\n    return c\n"

    assert moved(added, 12, 12) == Relocation(12, 12)


LINES = st.lists(
    st.sampled_from(["a = 1", "b = a + 2", "", "    return None", "def f():", "}"]), min_size=1, max_size=12
)


@pytest.mark.slow
@given(LINES, LINES, st.data())
def test_what_is_found_lies_in_the_new_text(old: list[str], new: list[str], draw: st.DataObject) -> None:
    first = draw.draw(st.integers(1, len(old)))
    last = draw.draw(st.integers(first, len(old)))
    page = ComparedText("\n".join(new) + "\n")

    spot = relocate(ComparedText("\n".join(old) + "\n"), first, last, page)

    if isinstance(spot, Relocation):
        assert 1 <= spot.first_line <= spot.last_line <= len(page)


def test_words_are_found_with_the_lines_that_hold_them() -> None:
    assert ComparedText("a b\nc\n\nd a\n").within("bc") == [(1, 2)]


def test_bare_comment_marks_around_a_heading_prove_nothing() -> None:
    old = ComparedText(
        "fn call() {\n//\n// # Locks\n//\n// Hold the book shortly, and copy it.\nlet peers = copy();\n}"
    )
    new = ComparedText("fn send() {\n//\n// # Locks\n//\n// If the state is busy, try again later.\nretry();\n}")

    found = relocate(old, 3, 3, new)

    assert isinstance(found, NotRelocated)
