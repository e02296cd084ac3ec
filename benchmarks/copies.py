"""A library of a million chunks out of a smaller one: its documents as they are, and again with words altered.

Of each copy, every tenth word is another one of the same length, which one is decided by a hash. So chunks stay where
they are, frequent words stay frequent, and the vocabulary grows with the library. The vector of an altered chunk is
turned by 17 degrees. Nothing is read, cut or embedded, so what this takes is writing alone.
"""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from openbook.index.protocol import EVERYTHING, Index, IndexEntry, Source
from openbook.retrieval.fields import terms_of
from openbook.types import Document, Stamp

if TYPE_CHECKING:
    from openbook.index.protocol import Vector

_WORD = re.compile(r"[A-Za-z]{4,}")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SHARE = 10

# Added to a vector of length 1, in a direction by chance.
_TURN = 0.3

# As `add` commits them.
_DOCUMENTS_PER_COMMIT = 500


def fill(index: Index, base: Index, chunks: int, text: Path) -> float:
    """Put the documents of a library into another one, again and again, until it has so many chunks.

    What is there already is left as it is, so a run that was cut off goes on. Returns the seconds that writing took.

    Args:
        index: The one to fill.
        base: A library of one folder.
        chunks: How many it shall have at least.
        text: A copy of the folder.
    """
    roots = [replace(root, location=str(text.resolve())) for root in base.roots()]
    held = {(each.source, each.path) for each in index.documents(EVERYTHING)}
    total, took_s = index.stats().chunks, 0.0
    wanted = ((number, each) for number in count() for each in base.documents(EVERYTHING))
    missing = (pair for pair in wanted if (_name(pair[1].source, pair[0]), pair[1].path) not in held)
    for root in roots:
        index.put_root(root)
    while total < chunks and (batch := list(islice(missing, _DOCUMENTS_PER_COMMIT))):
        made = [_copied(base, each.source, each.path, number) for number, each in batch]
        started = time.perf_counter()
        with index.batch():
            for source in sorted({document.source for document, _ in made} - {root.name for root in roots}):
                index.put_root(Source(source, "folder", f"/nowhere/{source}", synced_at=1.0))
            for document, entries in made:
                index.put(document, entries, Stamp(1, 1, 1))
        took_s += time.perf_counter() - started
        total += sum(len(entries) for _, entries in made)
    started = time.perf_counter()
    index.optimize(every=True)
    return took_s + time.perf_counter() - started


def _name(source: str, number: int) -> str:
    return f"{source}-copy-{number}" if number else source


def _copied(base: Index, source: str, path: str, number: int) -> tuple[Document, list[IndexEntry]]:
    document, chunks, vectors = base.document(source, path), base.chunks(source, path), base.vectors(source, path)
    assert document is not None  # it is listed
    copy = replace(document, source=_name(source, number), text=altered(document.text, number))
    entries = [
        IndexEntry(chunk, terms_of(chunk), vector)
        for chunk, vector in zip(
            (
                replace(chunk, source=copy.source, text=copy.text[chunk.span.start_char : chunk.span.end_char])
                for chunk in chunks
            ),
            _turned(vectors, number, seed=zlib.crc32(f"{source}/{path}".encode("utf-8", "surrogatepass"))),
            strict=True,
        )
    ]
    return copy, entries


def altered(text: str, number: int) -> str:
    """Return a text with every tenth word altered, in another way for each number; 0 leaves it as it is.

    Example:
        >>> altered("Read every line of the schema", 1)
        'Read fwfsz line of the schema'
    """
    if not number:
        return text
    shifted = _LETTERS[number % 26 :] + _LETTERS[: number % 26]
    table = str.maketrans(_LETTERS + _LETTERS.upper(), shifted + shifted.upper())

    def other(found: re.Match[str]) -> str:
        word = found[0]
        return word.translate(table) if zlib.crc32(word.lower().encode()) % _SHARE == number % _SHARE else word

    return _WORD.sub(other, text)


def _turned(vectors: Vector, number: int, *, seed: int) -> Iterator[Vector]:
    if not number:
        return iter(vectors)
    chance = np.random.default_rng([seed, number]).standard_normal(vectors.shape).astype(np.float32)
    chance *= _TURN / np.linalg.norm(chance, axis=1, keepdims=True)
    turned = vectors + chance * vectors.any(axis=1, keepdims=True)
    return iter(turned / np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-9))
