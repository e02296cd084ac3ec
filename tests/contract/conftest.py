"""The engines under `test_index.py` and `test_index_search.py`. A new one joins by adding one line to `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from openbook.index.protocol import Index
from openbook.index.sqlite import SqliteIndex
from tests.support import IDENTITY

ENGINES: dict[str, Callable[[Path], Index]] = {
    "sqlite": lambda folder: SqliteIndex(folder / "library.sqlite", IDENTITY),
}


@pytest.fixture(params=list(ENGINES.values()), ids=list(ENGINES))
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Index]]:
    """Open the library of this test, once more with each call."""
    opened: list[Index] = []

    def connect() -> Index:
        index: Index = request.param(tmp_path)
        opened.append(index)
        return index

    yield connect
    for index in opened:
        index.close()


@pytest.fixture
def index(connect: Callable[[], Index]) -> Index:
    return connect()
