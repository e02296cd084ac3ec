"""Keys in a file, and the time that they go by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from openbook.server.keys import KeyStore
from tests.fakes.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(tmp_path: Path, clock: Clock) -> Iterator[KeyStore]:
    with closing(KeyStore(tmp_path, now=clock)) as opened:
        yield opened
