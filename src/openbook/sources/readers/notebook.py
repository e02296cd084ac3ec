"""Reads Jupyter notebooks: the sources of their cells, without outputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from openbook.sources.classify import classify
from openbook.sources.readers.markdown import read_markdown
from openbook.sources.readers.reading import Reading, shifted, storable
from openbook.types import Anchor, Block


def read_notebook(text: str, path: str = "") -> Reading:
    r"""Read a notebook of format 3 or 4.

    The text is the sources of the cells, joined by blank lines; anchors `cell 1`, `cell 2` ... count all cells. Outputs
    are left out: they derive from the cells, are often large, and differ between runs. A file that is not a notebook is
    read as JSON, or else as plain text.

    Example:
        >>> cells = '[{"cell_type": "markdown", "source": ["# A"]}, {"cell_type": "code", "source": "1"}]'
        >>> read_notebook('{"nbformat": 4, "cells": %s}' % cells).text
        '# A\n\n1'
    """
    # Lazy: 2 ms, needed only for sources with notebooks.
    import json

    try:
        cells = _cells(json.loads(text))
    except (ValueError, RecursionError):
        cells = None
    if cells is None:
        kind, language = classify("notebook.json", text)
        return Reading(text, kind, language)
    pieces: list[str] = []
    blocks: list[Block] = []
    anchors: list[Anchor] = []
    offset = 0
    for number, cell in enumerate(cells, start=1):
        source = _source(cell)
        if not source.strip():
            continue
        anchors.append(Anchor(offset, f"cell {number}"))
        blocks.extend(shifted(_blocks(cell, source), offset))
        pieces.append(source)
        offset += len(source) + 2
    return Reading("\n\n".join(pieces), "docs", "notebook", tuple(blocks), tuple(anchors))


def _cells(notebook: Any) -> list[dict[str, Any]] | None:
    """Return the cells; None if this is not a notebook."""
    if not isinstance(notebook, dict):
        return None
    holders = [notebook]
    if isinstance(notebook.get("worksheets"), list):  # format 3
        holders = [sheet for sheet in notebook["worksheets"] if isinstance(sheet, dict)]
    lists = [holder["cells"] for holder in holders if isinstance(holder.get("cells"), list)]
    if not lists:
        return None
    return [cell for cells in lists for cell in cells if isinstance(cell, dict)]


def _source(cell: dict[str, Any]) -> str:
    """Return the source of a cell: a list of lines or a string, under the key of either format."""
    source = cell.get("source", cell.get("input", ""))
    lines = source if isinstance(source, list) else [source]
    joined = "".join(line for line in lines if isinstance(line, str))
    return storable(joined).rstrip()


def _blocks(cell: dict[str, Any], source: str) -> Iterator[Block]:
    form = cell.get("cell_type")
    level = cell.get("level")
    if form == "markdown":
        yield from read_markdown(source).blocks
    elif form == "heading" and isinstance(level, int) and level > 0:
        yield Block(0, len(source), "heading", level, " ".join(source.split()))
    else:
        yield Block(0, len(source), "code" if form == "code" else "text")
