"""Quotes keep the lines that matter."""

from __future__ import annotations

import pytest

from openbook.answers import GenerationResult
from openbook.chunking.dispatch import chunk_document
from openbook.extractive.composing import compose
from openbook.extractive.context import ContextItem, units_of
from openbook.extractive.passages import Passage
from openbook.extractive.quoting import quoted
from openbook.server.rendering import render_answer
from openbook.sources.documents import read_document
from tests.unit.extractive.picking import picked
from tests.unit.retrieval.material import chunk_of, result_of

CELLS = (
    '{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "# Weights"}, {"cell_type": "code", "source":'
    ' "# of one hive\\ndef weights_of(hive):\\n    return [float(row) for row in hive.rows]"}]}'
)


def whole(text: str, language: str) -> str:
    """Return the quote of a whole text."""
    chunk = chunk_of(text, f"a.{language}", language=language)
    units = units_of(chunk)
    return quoted(Passage(ContextItem(1, result_of(chunk), units), units[0], units[-1]))


@pytest.mark.parametrize(
    ("language", "text", "html"),
    [
        pytest.param("pdf", "Crop  Weeks\nApple  2\nClover  6", "Crop Weeks<br>\nApple 2<br>\nClover 6", id="table"),
        pytest.param("docx", "crop | weeks\nclover | 6", "crop | weeks<br>\nclover | 6", id="rows"),
        pytest.param("markdown", "Clover blooms\nfor weeks.", "Clover blooms\nfor weeks.", id="wrapped-prose"),
        pytest.param("srt", "Clover blooms.\nIt is sown.", "Clover blooms.\nIt is sown.", id="speech"),
    ],
)
def test_a_page_breaks_the_lines_of_a_quote_only_where_those_of_the_original_end(
    language: str, text: str, html: str
) -> None:
    assert f"<p>{html} [1:1-" in render_answer(GenerationResult("?", whole(text, language)))


def test_paragraphs_of_a_pdf_stay_apart() -> None:
    assert whole("One.\nTwo.\n\nThree.", "pdf") == "> One.  \n> Two.\n> \n> Three. [1:1-3]"


def test_a_cell_of_code_is_quoted_as_code() -> None:
    chunks = chunk_document(read_document(CELLS.encode(), source="s", path="a.ipynb"))

    written = compose(picked("what does weights_of return", *chunks))

    assert "```\n# of one hive\ndef weights_of(hive):\n    return [float(row) for row in hive.rows]\n```\n[2" in written
