from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from openbook.chunking.dispatch import chunk_course
from openbook.chunking.fixed import ChunkOptions
from openbook.types import Anchor, Block, Chunk, Document, Lesson

TALK = " ".join(f"This is sentence number {number} of the talk." for number in range(200))
LISTING = "def rise(dough):\n    for hour in range(3):\n        dough.fold()\n\n    return dough"


def lesson(number: int | None, title: str = "") -> Lesson:
    return Lesson("Baking Bread", number, title)


def blocks_of(text: str) -> Iterator[Block]:
    """Recognise the header and the lessons as a reader does; what is said is left to be gaps."""
    heads = list(re.finditer(r"^Lesson (\d+): (.*)$", text, re.MULTILINE))
    yield Block(0, heads[0].start(), lesson=lesson(None))
    for head in heads:
        yield Block(head.start(), head.end(), "heading", 1, head[0], lesson(int(head[1]), head[2]))


def course(*lessons: str) -> str:
    return "Course Title: Baking Bread\n\n" + "\n\n".join(
        f"Lesson {number}: Part\n{said}" for number, said in enumerate(lessons)
    )


def chunks_of(text: str, *anchors: Anchor, **options: Any) -> list[Chunk]:
    document = Document("s", "bread.txt", "course", "text", text, "", tuple(blocks_of(text)), anchors)
    return chunk_course(document, ChunkOptions(**options))


def test_a_chunk_names_its_course_and_lesson() -> None:
    found = chunks_of(course("Flour.", "Water."))

    assert [(chunk.text, chunk.context, chunk.lesson) for chunk in found] == [
        ("Course Title: Baking Bread", ("Baking Bread",), lesson(None)),
        ("Lesson 0: Part\nFlour.", ("Baking Bread", "Lesson 0: Part"), lesson(0, "Part")),
        ("Lesson 1: Part\nWater.", ("Baking Bread", "Lesson 1: Part"), lesson(1, "Part")),
    ]


def test_a_chunk_of_a_lesson_in_sections_names_the_headings_above_it() -> None:
    said = "It is said of this section alone, so nobody has to read another one. " * 6
    titles = [(1, "04 Ovens"), (2, "Heat"), (3, "Steam"), (3, "Stone"), (2, "Light")]
    blocks, text = [], ""
    for level, title in titles:
        blocks.append(Block(len(text), len(text) + len(title), "heading", level, title, lesson(4, "Ovens")))
        text += f"{title}\n\n"
        blocks.append(Block(len(text), len(text) + len(said), "text", lesson=lesson(4, "Ovens")))
        text += f"{said}\n\n"
    document = Document("s", "4.docx", "course", "docx", text, "", tuple(blocks))

    found = chunk_course(document, ChunkOptions())

    assert [chunk.context[2:] for chunk in found] == [(), ("Heat",), ("Heat", "Steam"), ("Heat", "Stone"), ("Light",)]
    assert {chunk.context[:2] for chunk in found} == {("Baking Bread", "Lesson 4: Ovens")}


def test_text_before_the_header_belongs_to_no_lesson() -> None:
    text = "A note.\n" + course("Flour.")
    blocks = tuple(block for block in blocks_of(text) if block.kind == "heading")
    document = Document("s", "bread.txt", "course", "text", text, "", blocks)

    found = chunk_course(document, ChunkOptions())

    assert found[0].text == "A note.\nCourse Title: Baking Bread"
    assert found[0].lesson == lesson(None)


def test_material_without_any_lesson_is_kept() -> None:
    document = Document("s", "bread.txt", "course", "text", "Flour.", "")

    found = chunk_course(document, ChunkOptions())

    assert [(chunk.text, chunk.context, chunk.lesson) for chunk in found] == [("Flour.", (), Lesson(""))]


def test_a_lesson_in_one_line_is_cut_between_sentences() -> None:
    found = chunks_of(course(TALK))[1:]

    assert len(found) > 9
    assert all(chunk.text.endswith("of the talk.") for chunk in found)
    assert all(chunk.text.startswith("This is sentence") for chunk in found[1:])
    assert all(700 < len(chunk.text) <= 800 for chunk in found[:-1])


def test_neighbours_share_whole_sentences() -> None:
    text = course(TALK)

    found = chunks_of(text)[1:]

    shared = [text[b.span.start_char : a.span.end_char] for a, b in pairwise(found)]
    assert all(80 < len(each) <= 150 and each.startswith("This") and each.endswith("talk.") for each in shared)


def test_a_lesson_border_is_never_crossed() -> None:
    found = chunks_of(course("Flour.", "Water.", "Salt."))

    assert all(a.span.end_char <= b.span.start_char for a, b in pairwise(found))
    assert [chunk.text.count("Lesson") for chunk in found] == [0, 1, 1, 1]


def test_a_sentence_may_go_over_several_lines() -> None:
    said = "\n".join(["This sentence goes on", "in the next line."] * 60)

    found = chunks_of(course(said))[1:]

    assert all(chunk.text.endswith("in the next line.") for chunk in found)


def test_a_transcript_without_full_stops_is_cut_between_lines() -> None:
    lines = [f"and then we fold it {number} times" for number in range(200)]

    found = chunks_of(course("\n".join(lines)), course_overlap_chars=0)[1:]

    assert [line for chunk in found for line in chunk.text.split("\n")] == ["Lesson 0: Part", *lines]


def test_a_listing_keeps_its_lines() -> None:
    found = chunks_of(course(f"Look at this.\n\n{LISTING}\n\nThat was it."))

    assert f"Look at this.\n\n{LISTING}\n\nThat was it." in found[1].text


def test_a_long_listing_is_cut_between_lines_with_their_indentation() -> None:
    body = [f"    dough = fold(dough, times={number}) + [flour(salt={number})]" for number in range(60)]

    found = chunks_of(course("\n".join(["def rise(dough):", *body])), course_overlap_chars=0)[1:]

    assert len(found) > 3
    assert [line for chunk in found for line in chunk.text.split("\n")][2:] == body


def test_a_chunk_stays_between_two_anchors() -> None:
    text = course("Flour. Water. Salt.")

    found = chunks_of(text, Anchor(text.index("Water"), "page 2"))

    assert [(chunk.text.split()[-1], chunk.anchor) for chunk in found] == [
        ("Bread", ""),
        ("Flour.", ""),
        ("Salt.", "page 2"),
    ]
