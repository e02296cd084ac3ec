"""An index in a folder that ends with the test."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.index.sqlite import SqliteIndex
from tests.support import IDENTITY


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    with contextlib.closing(SqliteIndex(tmp_path / "library.sqlite", IDENTITY)) as opened:
        yield opened
