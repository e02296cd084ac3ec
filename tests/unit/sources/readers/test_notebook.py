"""A notebook is the text of its cells, anchored by their numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openbook.sources.readers.notebook import read_notebook
from openbook.types import Anchor


def notebook(*cells: dict[str, Any]) -> str:
    return json.dumps({"nbformat": 4, "cells": list(cells)})


def test_cells_are_joined_and_anchored() -> None:
    text = notebook(
        {"cell_type": "markdown", "source": ["# Top\n", "\n", "Intro"]},
        {"cell_type": "code", "source": "", "outputs": []},
        {"cell_type": "code", "source": ["x = 1\n", "x"], "outputs": [{"text": ["1 output"]}]},
        {"cell_type": "raw", "source": "raw"},
    )

    reading = read_notebook(text)

    assert reading.text == "# Top\n\nIntro\n\nx = 1\nx\n\nraw"
    assert reading.anchors == (Anchor(0, "cell 1"), Anchor(14, "cell 3"), Anchor(23, "cell 4"))
    assert [(block.kind, reading.text[block.start_char : block.end_char]) for block in reading.blocks] == [
        ("heading", "# Top"),
        ("text", "Intro"),
        ("code", "x = 1\nx"),
        ("text", "raw"),
    ]
    assert (reading.kind, reading.language, reading.blocks[0].title) == ("docs", "notebook", "Top")


def test_format_three_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Old"},
        {"cell_type": "code", "input": ["x = 1"]},
    ]

    reading = read_notebook(json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}))

    assert reading.text == "Old\n\nx = 1"
    assert [(block.kind, block.level) for block in reading.blocks] == [("heading", 2), ("code", 0)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("{", id="no-json"),
        pytest.param("[]", id="no-object"),
        pytest.param('{"cells": 1}', id="no-cells"),
        pytest.param("[" * 200_000, id="too-deep"),
        pytest.param("version https://git-lfs.github.com/spec/v1\n", id="pointer"),
    ],
)
def test_an_invalid_notebook_is_read_as_its_source(text: str) -> None:
    reading = read_notebook(text, "a.ipynb")

    assert (reading.text, reading.language, reading.anchors) == (text, "json", ())


def test_characters_that_no_file_can_hold_are_replaced() -> None:
    reading = read_notebook('{"cells": [{"cell_type": "code", "source": "a\\ud800b\\u0000\\ud83d\\ude00"}]}')

    assert reading.text == "a\ufffdb\ufffd😀"


def test_cells_of_strange_shape_are_passed_over() -> None:
    text = json.dumps(
        {"cells": [1, {}, {"source": [1, "x"]}, {"source": None}, {"cell_type": "heading", "source": "y"}]}
    )

    assert read_notebook(text).text == "x\n\ny"
