"""Slices that tools show: each is exact, and together they say what a document holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from openbook.extractive.outlines import (
    document_outline,
    first_line,
    head_of_lesson,
    header_of,
    lines_of,
    piece_of,
    unseen,
)
from openbook.text import LineIndex
from openbook.types import Chunk, Document, Lesson
from tests.unit.retrieval.material import chunk_of

CODE = '''import time

LIMIT = 5


class Retry:
    """Waits and tries again."""

    # Seconds between two tries.
    def wait(self, seconds):
        """Sleep."""
        time.sleep(seconds)
'''
CODE_CHUNK = chunk_of(
    CODE.rstrip(),
    "retry.py",
    kind="code",
    symbol="Retry",
    signature="class Retry:",
    docstring="Waits and tries again.",
    defines=("LIMIT", "Retry", "wait"),
)
PAGE = "# Guide\n\nRead it.\n\n## Waiting\nIt waits.\r\n\r\nEnding\r\n======\r\nIt ends.\n"


def places(chunks: list[Chunk]) -> list[tuple[int, str]]:
    return [(chunk.span.start_line, chunk.text) for chunk in chunks]


def assert_exact(chunk: Chunk, text: str) -> None:
    span = chunk.span
    assert text[span.start_char : span.end_char] == chunk.text
    assert text.count("\n", 0, span.start_char) + 1 == span.start_line
    assert text.count("\n", 0, span.end_char - 1) + 1 == span.end_line


def test_code_is_outlined_by_its_definitions_with_what_stands_directly_above() -> None:
    found = document_outline([CODE_CHUNK])

    assert [(chunk.symbol, chunk.span.start_line, chunk.span.end_line) for chunk in found] == [
        ("LIMIT", 3, 3),
        ("Retry", 6, 7),
        ("wait", 9, 11),
    ]
    for chunk in found:
        assert_exact(chunk, CODE)


def test_the_rest_of_a_definition_is_listed_only_where_its_head_is_not() -> None:
    text = "def wait():\n    first()\n"
    begin = chunk_of(text, "a.py", kind="code", symbol="wait", defines=("wait",))
    rest = chunk_of("    second()\n", "a.py", before=text, kind="code", symbol="wait", context=("wait",))

    assert places(document_outline([begin, rest])) == [(1, "def wait():")]
    assert places(document_outline([rest])) == [(3, "    second()")]


def test_prose_is_outlined_by_its_headings() -> None:
    whole = chunk_of(PAGE.rstrip(), "guide.md")

    found = document_outline([whole])

    assert places(found) == [(1, "# Guide"), (5, "## Waiting"), (8, "Ending")]
    for chunk in found:
        assert_exact(chunk, PAGE)


def test_a_comment_in_an_example_is_no_heading() -> None:
    text = "# Guide\n\n```sh\n# Waits.\nwait 5\n```\n\n## Waiting\n\nSo:\n\n    # Waits.\n    wait 5\n"

    assert places(document_outline([chunk_of(text, "guide.md", language="markdown")])) == [
        (1, "# Guide"),
        (8, "## Waiting"),
    ]


def test_the_rest_of_a_section_is_outlined_by_its_first_sentence_behind_code_and_tables() -> None:
    texts = [
        "# Guide\n\nWait like this:\n\n```sh\nwait 5\n```",
        "```sh\nwait again\n}\n```\n\n| a | b |\n|---|---|\n| 1 | rows of a table |\n\nIt waits at night.",
        "```sh\nwait for ever\n```",
    ]
    text, chunks = "", []
    for part in texts:
        chunks.append(chunk_of(part, "guide.md", before=text, language="markdown", context=("Guide",)))
        text += f"{part}\n\n"

    assert places(document_outline(chunks)) == [(1, "# Guide"), (18, "It waits at night.")]
    assert places(document_outline(chunks[2:])) == [(20, "```sh")]


def test_a_title_between_two_lines_is_outlined_without_them() -> None:
    text = "=======\nGuide\n=======\n\nRead it.\n\nWaiting\n-------\n\nIt waits."

    found = document_outline([chunk_of(text, "guide.rst")])

    assert places(found) == [(2, "Guide"), (7, "Waiting")]
    for chunk in found:
        assert_exact(chunk, text)


def test_a_course_is_outlined_by_its_lessons_each_once() -> None:
    text, chunks = "", []
    for number, part in (
        (None, "Course Title: Quay"),
        (1, "Lesson 1: Lifting\nLift."),
        (1, "More."),
        (2, "Lesson 2: Storms"),
    ):
        chunks.append(chunk_of(part, "c.txt", before=text, kind="course", lesson=Lesson("Quay", number)))
        text += part + "\n"

    assert places(document_outline(chunks)) == [
        (1, "Course Title: Quay"),
        (2, "Lesson 1: Lifting"),
        (5, "Lesson 2: Storms"),
    ]


def test_what_has_no_head_gives_its_first_line() -> None:
    settings = chunk_of("[parcel]\nmax = 3", "limits.toml", kind="config")
    bare = chunk_of("x = 1\ny = 2", "bare.py", kind="code")

    more = chunk_of("[letter]\nmax = 4", "limits.toml", before="[parcel]\nmax = 3\n", kind="config")
    assert places(document_outline([settings])) == [(1, "[parcel]")]
    assert places(document_outline([settings, more])) == [(1, "[parcel]"), (3, "[letter]")]
    assert places(document_outline([bare])) == [(1, "x = 1")]
    assert document_outline([]) == []


def test_the_header_of_a_course_is_what_it_says_of_itself() -> None:
    full = chunk_of("Course Title: Quay\nCourse Link: https://x\nCourse Instructor: Ann\n\nBoots on.", kind="course")
    bare = chunk_of("Boots on.\nGloves on.", kind="course")

    assert header_of(full).text == "Course Title: Quay\nCourse Link: https://x\nCourse Instructor: Ann"
    assert header_of(bare).text == "Boots on."


@pytest.mark.parametrize(
    ("page", "head"),
    [
        ('---\nlayout: page\ntitle: "Flour"\n---\n\nStrong flour rises.', 'title: "Flour"'),
        ("+++\ntitle = 'Flour'\n+++\n\nStrong flour rises.", "title = 'Flour'"),
        ("---\ntitle: >-\n  Flour\n---\n\n# On flour\n\nIt rises.", "# On flour"),
        ("---\nlayout: page\n---\n\n# On flour\n\nIt rises.", "# On flour"),
        ("---\nlayout: page\n---", "layout: page"),
        ("---\nStrong flour rises.", "Strong flour rises."),
        ("---", "---"),
    ],
)
def test_a_page_with_front_matter_begins_with_its_title(page: str, head: str) -> None:
    chunk = chunk_of(page, "flour.md", kind="course", lesson=Lesson("Bread", 1, "Flour"))

    assert [found.text for found in document_outline([chunk])] == [head]
    for found in (first_line(chunk), header_of(chunk), head_of_lesson(chunk)):
        assert found.text == head
        assert_exact(found, page)


def test_front_matter_that_states_no_title_is_no_head_of_a_lesson() -> None:
    lesson, front = Lesson("Bread", 1), "---\norder: 2\n---\n\n"
    chunks = [
        chunk_of(front.rstrip(), "flour.md", kind="course", lesson=lesson),
        chunk_of("# Flour\n\nIt rises.", "flour.md", before=front, kind="course", lesson=lesson),
    ]

    assert places(document_outline(chunks)) == [(5, "# Flour")]
    assert places(document_outline(chunks[:1])) == [(2, "order: 2")]


def test_a_piece_keeps_the_names_around_it_and_no_signature_that_it_lacks() -> None:
    piece = piece_of(CODE_CHUNK, CODE.index("time.sleep"), len(CODE.rstrip()))

    assert (piece.text, piece.symbol, piece.signature) == ("time.sleep(seconds)", "Retry", "")
    assert first_line(CODE_CHUNK).text == "import time"
    assert first_line(CODE_CHUNK).defines == ()


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        pytest.param(3, 3, "LIMIT = 5", id="one"),
        pytest.param(1, 4, "import time\n\nLIMIT = 5", id="blank-end"),
        pytest.param(11, 99, '        """Sleep."""\n        time.sleep(seconds)', id="beyond-the-end"),
    ],
)
def test_lines_are_exact_and_know_what_they_lie_in(first: int, last: int, text: str) -> None:
    document = Document("src", "retry.py", "code", "python", CODE, "")

    found = lines_of(document, [CODE_CHUNK], first, last)

    assert found is not None
    assert found.text == text
    assert found.defines == CODE_CHUNK.defines
    assert_exact(found, CODE)


MARKDOWN = "Wait so:\n\n```sh\nwait 1\nwait 2\n```\n\nThen end."
RST = "Wait so:\n\n.. code-block:: sh\n\n   wait 1\n   wait 2\n\nThen end."


@pytest.mark.parametrize(
    ("text", "language", "opening"),
    [
        pytest.param(MARKDOWN, "markdown", "```sh", id="fence"),
        pytest.param(RST, "rst", ".. code-block:: sh", id="directive"),
    ],
)
def test_a_slice_knows_what_opens_the_code_in_which_it_begins(text: str, language: str, opening: str) -> None:
    chunk = chunk_of(text, language=language)
    document = Document("src", "a.md", "docs", language, text, "")
    lines = text.split("\n")
    places = [text.rindex("\n", 0, text.index(each)) + 1 for each in ("wait 1", "wait 2", "Then")]

    assert [piece_of(chunk, at, len(text)).code_opening for at in places] == [opening, opening, ""]
    cut = chunk_of(text[places[0] :], before=text[: places[0]], language=language, code_opening=opening)
    assert [piece_of(cut, at, len(text)).code_opening for at in places] == [opening, opening, ""]
    assert piece_of(replace(chunk, kind="code", language="go"), places[1], len(text)).code_opening == ""
    numbers = [1 + next(n for n, line in enumerate(lines) if each in line) for each in ("wait 2", "Then")]
    read = [lines_of(document, [chunk], number, number) for number in numbers]
    assert [each.code_opening for each in read if each] == [opening, ""]


def test_blank_lines_are_none_and_lines_of_no_chunk_have_no_names() -> None:
    document = Document("src", "retry.py", "code", "python", CODE, "")

    assert lines_of(document, [], 4, 5) is None
    bare = lines_of(document, [], 3, 3)
    assert bare is not None
    assert (bare.kind, bare.language, bare.defines) == ("code", "python", ())


@pytest.mark.parametrize(
    ("shown", "left"),
    [
        pytest.param([("", "One. Tw")], "o. Three.", id="beginning"),
        pytest.param([("One. Two. ", "Three. Four.")], "One. Two.", id="end"),
        pytest.param([("", "Zero. One. Two. Three. Four.")], "One. Two. Three.", id="all-of-it"),
        pytest.param([("One. ", "Two.")], "One. Two. Three.", id="middle"),
        pytest.param([], "One. Two. Three.", id="nothing"),
    ],
)
def test_what_overlaps_with_other_slices_is_cut_off(shown: list[tuple[str, str]], left: str) -> None:
    chunk = chunk_of("One. Two. Three.", before="Zero. ")
    spans = [chunk_of(text, before=f"Zero. {before}" if before else "").span for before, text in shown]
    if shown and shown[0][0] == "" and shown[0][1].startswith("One"):
        spans = [chunk_of("Zero. One. Tw").span]

    cut = unseen(chunk, spans)

    assert cut.text == left
    assert "Zero. One. Two. Three. Four."[cut.span.start_char : cut.span.end_char] == left


def test_code_is_not_outlined_by_lines_amid_its_comments() -> None:
    more = "/// On and on.\n" * 12
    code = f"/// Waits.\n///\n/// Not more than a day.\n{more}/// let wait = 3;\npub fn wait() {{}}\n"
    first = code.index("/// Not")
    chunks = [
        chunk_of(code[: first - 1], "a.rs", kind="code"),
        replace(
            chunk_of(code[first:].rstrip(), "a.rs", kind="code", symbol="wait", defines=("wait",)),
            span=LineIndex(code).span("a.rs", first, len(code.rstrip())),
        ),
    ]

    found = places(document_outline(chunks))

    assert found == [(1, "/// Waits."), (17, "pub fn wait() {}")]


def test_a_comment_behind_a_blank_line_is_listed_as_it_is_another_one() -> None:
    code = "// Copyright.\n\n// Waits.\nfunc wait() {}"
    whole = chunk_of(code, "a.go", kind="code", symbol="wait", defines=("wait",))

    assert places(document_outline([whole])) == [(3, "// Waits.\nfunc wait() {}")]
