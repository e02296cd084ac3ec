"""Each quote stands below its place: a section, or a file with a definition."""

from __future__ import annotations

import pytest

from openbook.extractive.composing import compose
from openbook.types import Chunk, Lesson
from tests.unit.extractive.picking import picked
from tests.unit.retrieval.material import chunk_of

ASKED = "how long may a rope be"


def places(question: str, *chunks: Chunk) -> list[str]:
    """Return the lines of the answer that name a place."""
    _, *parts = compose(picked(question, *chunks)).split("\n\n")
    return [part for part in parts if not part.startswith((">", "```", "See also", "- "))]


@pytest.mark.parametrize(
    ("context", "place"),
    [
        ((), "a.md"),
        (("Ropes",), "Ropes"),
        (("Ropes", "Mooring"), "Ropes › Mooring"),
        (("Harbour", "Ropes", "Mooring"), "Ropes › Mooring"),
    ],
)
def test_a_section_is_named_with_the_one_above_it_and_without_any_the_file(
    context: tuple[str, ...], place: str
) -> None:
    assert places(ASKED, chunk_of("A rope may be long.", "docs/a.md", context=context)) == [place]


def test_a_section_in_a_chunk_is_named_as_well() -> None:
    page = chunk_of("# Ropes\n\nThey float.\n\n## Mooring\n\nA rope may be long.", language="markdown")

    assert places(ASKED, page) == ["Ropes › Mooring"]


def test_the_heading_that_a_quote_begins_with_is_not_named_above_it() -> None:
    text = "# Ropes\n\n## Shortest rope\n\nIt is not sold.\n\n## Longest rope\n\n80 m\n"

    written = compose(picked("what is the longest rope", chunk_of(text, language="markdown")))

    assert "\n\nRopes\n\n> ## Longest rope\n> \n> 80 m [" in written


def test_the_heading_of_the_next_section_of_a_word_document_is_not_quoted() -> None:
    text = "Inspection\f\f\n\nProcedure\f\f\f\n\n1. A rope may be long.\n\nReport\f\f\f\n\nIt is written down."

    written = compose(picked(ASKED, chunk_of(text, "a.docx", language="docx", context=("Inspection",))))

    assert "\n\nInspection › Procedure\n\n> 1. A rope may be long. [1:3]" in written
    assert "Report" not in written


@pytest.mark.parametrize(
    ("text", "inner", "place"),
    [
        pytest.param("Rope of hemp may be long.", (), "Sailing · Lesson 5: Rope", id="its-title-in-the-quote"),
        pytest.param("A rope may be long.", ("Hemp",), "Sailing · Lesson 5: Rope › Hemp", id="section"),
        pytest.param(
            "# 05 Rope\n\n## Hemp\n\nA rope may be long.", (), "Sailing · Lesson 5: Rope › Hemp", id="own-heading"
        ),
    ],
)
def test_a_quote_of_a_lesson_stands_below_its_course_lesson_and_section(
    text: str, inner: tuple[str, ...], place: str
) -> None:
    lesson = Lesson("Sailing", 5, "Rope")
    context = ("Sailing", "Lesson 5: Rope", *inner)

    assert places(ASKED, chunk_of(text, kind="course", language="markdown", lesson=lesson, context=context)) == [place]


def test_code_is_named_by_its_file_and_the_definition_around_it() -> None:
    text = "def moor(ship):\n    pier = 1\n    rope = long_rope(ship)\n"
    code = chunk_of(text, "src/a.py", kind="code", language="python", symbol="moor", signature="def moor(ship):")

    assert places("where is the long rope made", code) == ["a.py › moor()"]


def test_a_definition_names_itself() -> None:
    text = "def moor(ship):\n    return 1\n"
    code = chunk_of(
        text, "src/a.py", kind="code", language="python", symbol="moor", defines=("moor",), signature="def moor(ship):"
    )

    assert places("what does moor() do", code) == ["a.py"]


def test_a_comment_of_a_definition_that_is_quoted_without_it_has_its_name_above() -> None:
    comment = "".join(f" * It is rope {number}.\n" for number in range(12))
    text = f"/**\n * Does moor the ship.\n *\n{comment} */\nfun moor(ship: Ship): Int {{\n    return 1\n}}\n"
    code = chunk_of(
        text, "a.kt", kind="code", language="kotlin", symbol="Pier.moor", defines=("moor",), signature="fun moor("
    )

    assert places("what does moor() do", code)[0] == "a.kt › Pier.moor()"


def test_quotes_from_one_place_stand_below_it_together() -> None:
    one = chunk_of("A rope may be long.\n\nThey sink.\n\nA rope may be of steel.", context=("Ropes",))
    two = chunk_of("Any rope may be cut.", "b.md", context=("Knives",))

    assert places("which rope may be used", one, two) == ["Ropes", "Knives"]


def test_rows_of_a_table_in_text_stand_below_its_header() -> None:
    header, rows = "rope,strands,length\n", "thick rope may be long,3,80\nthin rope,1,9"
    table = chunk_of(rows, "ropes.csv", before=header, kind="data", language="csv", context=(header.strip(),))
    whole = chunk_of(header + rows, "ropes.csv", kind="data", language="csv", context=(header.strip(),))

    assert places(ASKED, table) == ["ropes.csv › rope,strands,length"]
    assert places(ASKED, whole) == ["ropes.csv"]


@pytest.mark.parametrize(
    ("text", "context", "place"),
    [
        ("# How long a rope may be.\nlength = 80\n", ("rope",), "a.ini › rope"),
        ("# How long a rope may be.\nlength = 80\n", (), "a.ini"),
        ("    # How long a rope may be.\n    length: 80\n", ("ship", "rope"), "a.ini › ship › rope"),
        ("# How long a rope may be.\nlength = 80\n\n[ship]\nwait = 5\n", ("rope", "ship"), "a.ini › rope"),
        (
            f"[ship]\nwait = 5\n\n{'x = 1' * 200}\n\n[rope]\ncolor = red\n\n# A rope may be long.\nlength = 8",
            ("ship", "rope"),
            "a.ini › rope",
        ),
        ("[rope]\n# How long a rope may be.\nlength = 80\n", ("rope",), "a.ini"),
    ],
)
def test_a_setting_is_below_its_section_unless_its_header_is_quoted(
    text: str, context: tuple[str, ...], place: str
) -> None:
    assert places(ASKED, chunk_of(text, "a.ini", kind="config", language="ini", context=context)) == [place]
