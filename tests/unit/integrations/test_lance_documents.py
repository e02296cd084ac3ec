"""Which documents count: of each path the newest row that LanceDB still has, if it does not say that it is gone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import cast

import numpy as np
import pyarrow as pa
import pytest

from openbook.index.columns import Names
from openbook.integrations.lance_documents import DocumentTable
from openbook.integrations.lance_rows import DOCUMENTS, LIGHT
from openbook.integrations.lance_tables import ROW_ID, LanceTables

Row = tuple[str, str, bool]
"""Path, version, and whether it is gone."""


class Tables:
    """Rows of documents by their ids, as another machine may leave them."""

    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}

    def row_ids(self) -> pa.UInt64Array:
        return pa.array(list(self.rows), pa.uint64())

    def light(self, row_ids: Sequence[int], *, is_all: bool = False) -> pa.Table:
        del is_all
        empty = dict.fromkeys(LIGHT)
        values = [
            empty | {"source": "s", "path": path, "version": version, "gone": gone, "chunks": 0}
            for path, version, gone in map(self.rows.__getitem__, row_ids)
        ]
        schema = pa.schema([DOCUMENTS.field(name) for name in LIGHT])
        return pa.Table.from_pylist(values, schema=schema).append_column(ROW_ID, pa.array(row_ids, pa.uint64()))


def counted(tables: Tables) -> list[tuple[str, str]]:
    newest: dict[str, Row] = {}
    for row in tables.rows.values():
        newest[row[0]] = max(newest.get(row[0], row), row)
    return sorted((path, version) for path, version, gone in newest.values() if not gone)


@pytest.mark.parametrize("seed", range(15))
def test_whatever_comes_and_goes_the_newest_row_of_each_path_counts(seed: int) -> None:
    rng, tables, documents = random.Random(seed), Tables(), DocumentTable()
    next_id = 0
    for _ in range(30):
        for row_id in rng.sample(list(tables.rows), min(len(tables.rows), rng.randint(0, 3))):
            del tables.rows[row_id]
        # Seldom hundreds of them, which are ordered in another way than a few.
        for _ in range(rng.choice([0, 1, 2, 5, 300] if seed % 5 == 0 else [0, 1, 2, 5])):
            next_id += 1
            version = f"{rng.randint(0, 99):02}{next_id:06}"
            tables.rows[next_id] = f"{rng.randint(0, 20)}.md", version, rng.random() < 0.3

        documents = documents.renewed(cast("LanceTables", tables), lambda version, chunks: 0)

        assert documents.listed(("path", "version")) == counted(tables)


@pytest.mark.parametrize("count", [0, 1, 3, 9_000])
def test_names_are_joined_as_they_are_packed(count: int) -> None:
    paths = [f"{number:05} é.md" for number in range(count)]
    tables = Tables()
    tables.rows = {number: (path, f"{number:05}", False) for number, path in enumerate(paths)}
    documents = DocumentTable().renewed(cast(LanceTables, tables), lambda _version, _chunks: 1)
    keys = [("s", path, "s", path) for path in paths]

    joined = documents.joined(("source", "path", "source", "path"), np.arange(len(paths)))

    assert joined == Names(keys).packed()


def test_a_name_with_the_sign_between_names_is_not_joined() -> None:
    tables = Tables()
    tables.rows = {1: ("a\0b.md", "1", False)}
    documents = DocumentTable().renewed(cast(LanceTables, tables), lambda _version, _chunks: 1)

    assert documents.joined(("source", "path"), np.arange(1)) is None
