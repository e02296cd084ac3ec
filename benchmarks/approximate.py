"""What LanceDB's vector indexes would find of a library, and what they take, beside the exact comparison of today.

    python -m benchmarks.approximate HOME

HOME has a library `default` in SQLite of 20,000 chunks or more, as `benchmarks.scale --keep` leaves it; its file of
columns is read. The same vectors go into a table of LanceDB with one index after the other. Asked are 100 questions of
three words that stand in paths: the share of the 80 nearest chunks that is found (80 is what a search looks at), and
processor time of one question. Results of an index are scored again by their whole vectors (`refine_factor`).
"""

from __future__ import annotations

import argparse
import random
import re
import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import HnswSq, IvfPq, IvfRq

from openbook.embedding.static import load_embedder
from openbook.index.catalogue import quantize
from openbook.index.column_file import open_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NEAREST, _ASKED = 80, 100
_WORD = re.compile("[a-z]{4,}")
_INDEXES = {"IVF_RQ": IvfRq, "IVF_PQ": IvfPq, "IVF_HNSW_SQ": HnswSq}
_HEADS = "| index | built, CPU s | bytes a chunk | probes | found | CPU ms |\n|---|---|---|---|---|---|"
_PROBES = (1, 4, 16)
_REFINED = 4


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path)
    arguments = parser.parse_args()
    library = arguments.home / "libraries" / "default.sqlite"
    with closing(sqlite3.connect(f"file:{library}?mode=ro", uri=True)) as connection:
        (token,) = connection.execute("SELECT value FROM meta WHERE key = 'columns'").fetchone()
    columns = open_columns(library, token)
    assert columns is not None, "the library has no file of columns"
    (block,) = columns.blocks
    words = sorted({word for key in columns.names.keys for word in _WORD.findall(key[1])})
    chance = random.Random(1)
    asked = load_embedder().embed([" ".join(chance.sample(words, 3)) for _ in range(_ASKED)])
    quantized = np.frombuffer(quantize(asked), dtype=np.int8).reshape(asked.shape)
    nearest, took_ms = [], []
    for vector in quantized:
        started = time.process_time()
        cosine = np.divide(block.products(vector[None]), block.norms, out=np.zeros(len(columns)), where=block.norms > 0)
        best = np.argpartition(-cosine, _NEAREST)[:_NEAREST]
        took_ms.append(1000 * (time.process_time() - started))
        nearest.append(set(best.tolist()))
    print(f"{len(columns):,} chunks\n\n{_HEADS}")
    print(f"| none, exact | 0 | {block.rows.shape[1] + 4} | | 1.000 | {statistics.median(took_ms):.1f} |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        rows = block.rows.astype(np.float32) / np.maximum(block.norms, 1)[:, None]
        values = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), rows.shape[1])
        table = lancedb.connect(folder).create_table(
            "vectors", pa.table({"id": np.arange(len(rows)), "vector": values})
        )
        for index in _INDEXES:
            _measure(table, index, quantized, nearest, Path(folder))


def _measure(table: Any, index: str, asked: NDArray[np.int8], nearest: list[set[int]], folder: Path) -> None:
    before, started = _size(folder), time.process_time()
    table.create_index("vector", config=_INDEXES[index](distance_type="cosine"), replace=True)
    built_s, size = time.process_time() - started, (_size(folder) - before) / table.count_rows()
    for probes in _PROBES:
        found, took_ms = [], []
        for vector, expected in zip(asked, nearest, strict=True):
            began = time.process_time()
            query = table.search(vector.astype(np.float32)).metric("cosine").nprobes(probes).refine_factor(_REFINED)
            ids = query.limit(_NEAREST).select(["id", "_distance"]).to_arrow()["id"].to_pylist()
            took_ms.append(1000 * (time.process_time() - began))
            found.append(len(expected.intersection(ids)) / _NEAREST)
        figures = f"{statistics.mean(found):.3f} | {statistics.median(took_ms):.1f}"
        print(f"| {index} | {built_s:.0f} | {size:.0f} | {probes} | {figures} |", flush=True)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
