"""Converts table rows to values, and packs display-only fields into one column."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from openbook.errors import CorruptLibraryError, QueryError
from openbook.index.protocol import Outline
from openbook.types import Chunk, Lesson, Span


def fields_of(chunk: Chunk) -> str:
    """Pack the fields that are only shown to users and models; empty fields take no space."""
    values = {
        "symbol": chunk.symbol,
        "defines": chunk.defines,
        "signature": chunk.signature,
        "docstring": chunk.docstring,
        "context": chunk.context,
        "anchor": chunk.anchor,
        "lesson": asdict(chunk.lesson) if chunk.lesson else None,
        "code_opening": chunk.code_opening,
        "is_generated": chunk.is_generated,
    }
    return json.dumps({name: value for name, value in values.items() if value}, ensure_ascii=False)


def remarks_of(packed: str) -> tuple[str, ...]:
    """Unpack the remarks on a document."""
    return tuple(json.loads(packed)) if packed else ()


def outline_from_row(row: tuple[Any, ...]) -> Outline:
    """Convert a chunk's row to an outline, without text."""
    id_, _, source, path, kind, language, *place, fields = row
    values = json.loads(fields)
    return Outline(
        *(id_, source, Span(path, *place), kind, language),
        values.get("symbol", ""),
        tuple(values.get("defines", ())),
        values.get("signature", ""),
        tuple(values.get("context", ())),
        values.get("is_generated", False),
    )


def chunk_from_row(row: tuple[Any, ...], text: str) -> Chunk:
    """Convert a chunk's row to a chunk, slicing its text from the document."""
    _, _, source, path, kind, language, *place, fields = row
    values = json.loads(fields)
    for name in ("defines", "context"):
        values[name] = tuple(values.get(name, ()))
    if "lesson" in values:
        values["lesson"] = Lesson(**values["lesson"])
    span = Span(path, *place)
    return Chunk(source, span, text[span.start_char : span.end_char], kind, language, **values)


@contextmanager
def sound_rows(damage: CorruptLibraryError) -> Iterator[None]:
    """Raise `damage` if the rows read in the body are inconsistent."""
    try:
        yield
    except QueryError:
        raise
    except (LookupError, TypeError, ValueError) as exc:
        raise damage from exc
