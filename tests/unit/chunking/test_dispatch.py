from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.chunking.dispatch import chunk_document
from openbook.chunking.fixed import ChunkOptions
from openbook.types import KINDS, Anchor, Block, BlockKind, Chunk, Document, Kind, Lesson

SMALL = {"max_words": 6, "overlap_words": 2, "max_chars": 40, "merge_chars": 20}
STRATEGIES = {
    "semantic": ChunkOptions(**SMALL, strategy="semantic"),
    "fixed-size": ChunkOptions(**SMALL, strategy="fixed-size"),
    "hybrid": ChunkOptions(**SMALL, strategy="hybrid"),
}
COURSE = ChunkOptions(course_chars=40, course_overlap_chars=10)

# A chunk keeps that much indentation of its first line beyond its size.
INDENT_CHARS = 120

TEXTS = st.text(st.sampled_from("ab. \n\t\r\f#你。x"), max_size=300) | st.text(max_size=100)
OPTIONS = st.sampled_from([("docs", options) for options in STRATEGIES.values()] + [("course", COURSE)])
LESSONS = st.sampled_from([None, Lesson("C"), Lesson("C", 0, "Zero"), Lesson("C", 1)])


@st.composite
def documents(draw: st.DrawFn, kind: Kind) -> Document:
    text = draw(TEXTS)
    edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    blocks = []
    for start, end in list(pairwise(edges))[:: draw(st.sampled_from([1, 2]))]:
        block_kind: BlockKind = draw(st.sampled_from(["heading", "text", "code"]))
        level = draw(st.integers(1, 3)) if block_kind == "heading" else 0
        blocks.append(Block(start, end, block_kind, level, "title" if level else "", draw(LESSONS)))
    labels = st.sampled_from(["cell 1", "cell 2"])
    places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=3)))
    anchors = tuple(Anchor(start, draw(labels)) for start in places)
    return Document("s", "a.txt", kind, "", text, "", tuple(blocks), anchors)


def label_at(document: Document, offset: int) -> str:
    return next((each.label for each in reversed(document.anchors) if each.start_char <= offset), "")


def is_covered(document: Document, chunks: list[Chunk]) -> bool:
    left = list(document.text)
    for chunk in chunks:
        left[chunk.span.start_char : chunk.span.end_char] = " " * len(chunk.text)
    return not "".join(left).strip()


@pytest.mark.slow
@given(st.data(), OPTIONS)
def test_chunks_are_exact_ordered_and_leave_nothing_out(data: st.DataObject, how: tuple[Kind, ChunkOptions]) -> None:
    document = data.draw(documents(how[0]))

    found = chunk_document(document, how[1])

    spans = [chunk.span for chunk in found]
    assert all(document.text[chunk.span.start_char : chunk.span.end_char] == chunk.text for chunk in found)
    assert all(a.start_char < b.start_char and a.end_char < b.end_char for a, b in pairwise(spans))
    assert is_covered(document, found)


@pytest.mark.slow
@given(st.data(), OPTIONS)
def test_chunks_have_no_blank_edges_and_one_label(data: st.DataObject, how: tuple[Kind, ChunkOptions]) -> None:
    document = data.draw(documents(how[0]))

    found = chunk_document(document, how[1])

    assert all(chunk.text == chunk.text.rstrip() and chunk.text.split("\n")[0].strip() for chunk in found)
    for chunk in found:
        labels = {label_at(document, offset) for offset in range(chunk.span.start_char, chunk.span.end_char)}
        assert labels == {chunk.anchor}


@pytest.mark.slow
@given(st.data())
def test_semantic_chunks_share_nothing_and_are_bounded(data: st.DataObject) -> None:
    document = data.draw(documents("docs"))

    found = chunk_document(document, STRATEGIES["semantic"])

    assert all(a.span.end_char <= b.span.start_char for a, b in pairwise(found))
    assert all(len(chunk.text) <= 1.5 * SMALL["max_chars"] + INDENT_CHARS for chunk in found)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["fixed-size", "hybrid"])
@given(data=st.data())
def test_windows_of_words_are_bounded(strategy: str, data: st.DataObject) -> None:
    document = data.draw(documents("docs"))

    found = chunk_document(document, STRATEGIES[strategy])

    assert all(len(chunk.text.split()) <= SMALL["max_words"] for chunk in found)
    assert all(len(chunk.text) <= 100 + INDENT_CHARS for chunk in found)


@pytest.mark.slow
@given(st.data())
def test_chunks_of_a_course_are_bounded_and_stay_in_their_lesson(data: st.DataObject) -> None:
    document = data.draw(documents("course"))

    found = chunk_document(document, COURSE)

    assert all(len(chunk.text) <= 1.5 * COURSE.course_chars + INDENT_CHARS for chunk in found)
    for chunk in found:
        inside = [
            block.lesson
            for block in document.blocks
            if document.text[
                max(block.start_char, chunk.span.start_char) : min(block.end_char, chunk.span.end_char)
            ].strip()
        ]
        assert all((lesson or Lesson("")) == chunk.lesson for lesson in inside)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["", " \n\t\r\n"])
def test_a_blank_document_has_no_chunks(kind: Kind, text: str) -> None:
    assert chunk_document(Document("s", "a", kind, "", text, "")) == []


@pytest.mark.parametrize(
    ("kind", "language", "text", "symbol"),
    [
        pytest.param("code", "python", "def f():\n    return 1\n", "f", id="code"),
        pytest.param("config", "toml", "[a]\nb = 1\n", "", id="config"),
        pytest.param("data", "csv", "a,b\n1,2\n", "", id="data"),
        pytest.param("docs", "markdown", "def f(): prose\n", "", id="docs"),
        pytest.param("course", "text", "def f(): speech\n", "", id="course"),
    ],
)
def test_each_kind_is_cut_by_its_own_rules(kind: Kind, language: str, text: str, symbol: str) -> None:
    document = Document("s", "a", kind, language, text, "")

    found = chunk_document(document)

    assert [(chunk.kind, chunk.language, chunk.symbol, chunk.text) for chunk in found] == [
        (kind, language, symbol, text.rstrip())
    ]


def test_a_configuration_is_not_cut_along_headings() -> None:
    text = "# A\na = 1\n# B\nb = 2\n"
    blocks = (Block(0, 3, "heading", 1, "A"), Block(10, 13, "heading", 1, "B"))

    found = chunk_document(Document("s", "a.ini", "config", "ini", text, "", blocks))

    assert [chunk.context for chunk in found] == [()]


@pytest.mark.parametrize(("kind", "language"), [("code", "python"), ("config", "ini")])
def test_what_is_no_prose_has_the_lesson_that_its_folder_gives_it(kind: Kind, language: str) -> None:
    lesson = Lesson("Knots", 2, course_path="knots")
    document = Document("s", "2/a", kind, language, "a = 1\n", "", (Block(0, 6, lesson=lesson),))

    assert [chunk.lesson for chunk in chunk_document(document)] == [lesson]


@pytest.mark.parametrize(
    "header",
    [
        "// Code generated by hoist. DO NOT EDIT.",
        "// Copyright\n//\n\n// Code generated with hoist/_codegen; DO NOT EDIT.",
        "/*\n * @generated SignedSource<<1>>\n */",
        "# This file is automatically @generated by Hoist.",
        "//------\n// <auto-generated>",
        "// GENERATED CODE - DO NOT MODIFY BY HAND",
        "# Generated by the protocol buffer compiler.  DO NOT EDIT!",
    ],
)
def test_code_whose_header_says_that_a_tool_wrote_it_is_marked(header: str) -> None:
    chunks = chunk_document(Document("s", "a", "code", "", f"{header}\n\nx = 1\n", ""))

    assert [each.is_generated for each in chunks] == [True]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("docs", "// Code generated by hoist. DO NOT EDIT.\n"),
        ("code", 'HEADER = "// Code generated by hoist. DO NOT EDIT."\n'),
        ("code", "// Marks a file that is @generated.\n"),
        ("code", "// Code generated by hand.\n"),
        ("code", "x = 1\n" * 40 + "// @generated\n"),
    ],
)
def test_text_that_only_tells_of_generated_code_is_not_marked(kind: Kind, text: str) -> None:
    assert not any(each.is_generated for each in chunk_document(Document("s", "a", kind, "", text, "")))
