"""The contract of readers. A new reader joins by adding one line to `FORMATS`."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.sources.readers import Reading, read_text
from openbook.sources.readers.course import read_course
from openbook.types import Kind

FORMATS: dict[str, tuple[str, Kind, str]] = {
    "code": ("a.py", "code", "python"),
    "text": ("a.txt", "docs", "text"),
    "markdown": ("a.md", "docs", "markdown"),
    "rst": ("a.rst", "docs", "rst"),
    "html": ("a.html", "docs", "html"),
    "subtitles": ("a.srt", "docs", "srt"),
    "notebook": ("a.ipynb", "docs", "notebook"),
    "config": ("a.toml", "config", "toml"),
}

# Parts that formats give a meaning to, so that chance finds their combinations.
PARTS = [
    "a", "B c", "Überschrift", "\n", "\n\n", "\r\n", "\r", " ", "    ", "\t", "\f", "\x85", "\u2028", "# ", "## x",
    "```", "~~~", "- ", "1. ", "> ", "| a | b |\n|---|---|\n", "---\n", "===\n", "====", "::", ".. code-block:: x\n",
    ">>> ",
    "<p>", "</p>", "<pre>", "</pre>", "<h1>", "</h1>", "<br/>", "<script>", "</script>", "<!--", "-->", "<a href='",
    "\"", "'", ">", "<", "&amp;", "&#10;", "&", "<svg>", "<li>", "<title>", "Course Title: x\n", "Lesson 1: y\n",
    "Lesson Link: z\n", "### Lesson 2", "[x]: y\n", "<div>", "**", "`", "a: b\n", "\\", "*", "😀",
    "</title>", "<main>", "</main>", "<nav>", "</nav>", "<h2 id=x>", "<section id='y'>", "<footer>",
    "</footer>", "WEBVTT\n\n", "00:01.000 --> 00:02.000\n", "1\n00:00:05,0 --> 00:00:06,0\n", "<v A>", "NOTE x\n",
]  # fmt: skip
texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PARTS), max_size=25).map("".join))


def check(reading: Reading) -> None:
    """Check that blocks are ordered, do not overlap, and contain every word; and that anchors are ordered."""
    reached = 0
    outside = []
    for block in reading.blocks:
        assert reached <= block.start_char < block.end_char <= len(reading.text)
        assert reading.text[block.start_char : block.end_char].strip()
        outside.append(reading.text[reached : block.start_char])
        reached = block.end_char
    if reading.blocks:
        assert not "".join([*outside, reading.text[reached:]]).strip()
    assert list(reading.anchors) == sorted(reading.anchors)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FORMATS))
@given(text=texts)
def test_blocks_hold_every_word_in_order(name: str, text: str) -> None:
    reading = read_text(text, *FORMATS[name])

    check(reading)
    if name not in {"html", "subtitles"}:
        assert reading.text == text


@given(text=texts, path=st.sampled_from(["a.txt", "a.md"]))
def test_blocks_of_a_course_hold_every_word_and_a_lesson(text: str, path: str) -> None:
    reading = read_course(text, path)

    check(reading)
    assert all(block.lesson is not None for block in reading.blocks)


@given(text=texts)
def test_html_keeps_its_lines(text: str) -> None:
    assert read_text(text, *FORMATS["html"]).text.count("\n") == text.count("\n")


@pytest.mark.slow
@given(sources=st.lists(texts, max_size=5), form=st.sampled_from(["code", "markdown", "raw", "heading"]))
def test_blocks_of_a_notebook_hold_every_word_of_its_cells(sources: list[str], form: str) -> None:
    cells = [{"cell_type": form, "level": 2, "source": source} for source in sources]

    reading = read_text(json.dumps({"cells": cells}), *FORMATS["notebook"])

    check(reading)
    assert len(reading.anchors) == sum(1 for source in sources if source.strip())


def test_plain_text_has_paragraphs_and_no_headings() -> None:
    text = "Title\n=====\n\n# not a heading\nmore\n"

    reading = read_text(text, *FORMATS["text"])

    assert [(block.kind, text[block.start_char : block.end_char]) for block in reading.blocks] == [
        ("text", "Title\n====="),
        ("text", "# not a heading\nmore"),
    ]
