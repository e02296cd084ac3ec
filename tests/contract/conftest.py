"""The engines under `test_index*.py`. A new one joins by adding one line to `ENGINES`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from openbook.index.protocol import Index
from openbook.index.sqlite import SqliteIndex
from openbook.integrations.lance import LanceIndex
from tests.support import IDENTITY

ENGINES: dict[str, Callable[[Path], Index]] = {
    "lance": lambda folder: LanceIndex(str(folder / "library.lance"), IDENTITY),
    "lance-kept": lambda folder: LanceIndex(
        str(folder / "library.lance"), IDENTITY, cache=folder / "cache", min_cached=1
    ),
    "sqlite": lambda folder: SqliteIndex(folder / "library.sqlite", IDENTITY),
}


@pytest.fixture(params=list(ENGINES.values()), ids=list(ENGINES))
def open_in(request: pytest.FixtureRequest) -> Iterator[Callable[[Path], Index]]:
    """Open the library of a folder."""
    with contextlib.ExitStack() as stack:
        yield lambda folder: stack.enter_context(contextlib.closing(request.param(folder)))


@pytest.fixture
def connect(open_in: Callable[[Path], Index], tmp_path: Path) -> Callable[[], Index]:
    """Open the library of this test, once more with each call."""
    return lambda: open_in(tmp_path)


@pytest.fixture
def fresh(open_in: Callable[[Path], Index], tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Index]:
    """Open another library with each call, which is empty."""
    return lambda: open_in(tmp_path_factory.mktemp("fresh"))


@pytest.fixture
def index(connect: Callable[[], Index]) -> Index:
    return connect()
