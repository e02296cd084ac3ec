"""What a process that searches a library in LanceDB takes of the machine's memory, and gives back."""

from __future__ import annotations

import contextlib
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from openbook.index.protocol import Terms
from openbook.integrations.lance import LanceIndex
from openbook.integrations.lance_tables import ROW_ID
from tests.support import IDENTITY, document, entry, stamp
from tests.unit.integrations.lance_material import NOTHING, opened, row

MIB = 1 << 20


@pytest.mark.slow
def test_the_texts_of_large_documents_are_not_all_held_at_once(tmp_path: Path) -> None:
    uri = str(tmp_path / "library")
    with contextlib.closing(LanceIndex(uri, IDENTITY)) as writer, writer.batch():
        for number in range(16):
            of = document(f"{number}.md", f"fox {number} ".ljust(1_000) * 1_000)
            parts = range(0, len(of.text), 1_000)
            writer.put(of, [entry(of, start, start + 1_000, terms=Terms(body=("fox",))) for start in parts], stamp())
    with contextlib.closing(LanceIndex(uri, IDENTITY, cache_bytes=MIB)) as index:
        first_ids = index._state.documents().first_ids.tolist()
        tracemalloc.start()

        found = index.outlines(first_ids)

        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert [each.span.path for each in found] == sorted(f"{number}.md" for number in range(16))
    assert peak < 12 * MIB


def test_vectors_of_a_whole_library_are_read_some_at_a_time(tmp_path: Path) -> None:
    tables = opened(str(tmp_path / "library"))
    rows = [replace(row(f"{number}.md")[0], chunks=1, rows=bytes(8)) for number in range(3_000)]
    tables.commit((each, NOTHING) for each in rows)
    tables.refresh()
    row_ids = np.sort(tables.row_ids().to_numpy()).astype(np.int64)

    batches = list(tables.scored(row_ids))

    assert sorted(id_ for batch in batches for id_ in batch[ROW_ID].to_pylist()) == row_ids.tolist()
    assert max(batch.num_rows for batch in batches) < 1_500
