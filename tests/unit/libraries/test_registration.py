"""Which sources a question may name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.errors import UnknownSourceError
from openbook.index.protocol import Source
from openbook.index.sqlite import SqliteIndex
from openbook.libraries.registration import check_known
from tests.support import IDENTITY


class CountedIndex(SqliteIndex):
    """Counts how often it was asked for its sources."""

    asked = 0

    def roots(self) -> list[Source]:
        self.asked += 1
        return super().roots()


@pytest.fixture
def index(tmp_path: Path) -> Iterator[CountedIndex]:
    with contextlib.closing(CountedIndex(tmp_path / "library.sqlite", IDENTITY)) as index:
        index.put_root(Source("owls", "folder", "/owls"))
        yield index


def test_a_source_that_is_not_there_is_refused_with_those_that_are(index: CountedIndex) -> None:
    check_known(["owls"], index)

    with pytest.raises(UnknownSourceError, match="no source 'quails'") as caught:
        check_known(["owls", "quails"], index)

    assert "owls" in caught.value.hint


def test_who_names_no_source_does_not_make_the_engine_look_for_them(index: CountedIndex) -> None:
    check_known([], index)

    assert index.asked == 0
