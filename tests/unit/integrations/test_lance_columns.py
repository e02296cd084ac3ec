"""What is scored of a library in LanceDB, commit by commit."""

from __future__ import annotations

import contextlib
import io
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from openbook.index.sqlite import SqliteIndex
from openbook.integrations.lance import LanceIndex
from openbook.integrations.lance_cache import LocalCache
from openbook.types import Filter
from tests.support import EVERYTHING, IDENTITY, answers, document, put, stamp, vector

if TYPE_CHECKING:
    from typing_extensions import Buffer


@pytest.mark.slow
def test_a_reader_that_follows_many_commits_finds_what_a_new_one_finds(tmp_path: Path) -> None:
    rng = random.Random(1)
    address = str(tmp_path / "shared")
    where = Filter(kinds=frozenset({"code"}))
    with (
        contextlib.closing(LanceIndex(address, IDENTITY)) as writer,
        contextlib.closing(LanceIndex(address, IDENTITY)) as reader,
        contextlib.closing(SqliteIndex(tmp_path / "library.sqlite", IDENTITY)) as expected,
    ):
        for commit in range(24):
            path = f"{rng.randint(0, 9)}.md"
            text, row = rng.choice(["fox", "red fox", "dog"]), vector(rng.random(), rng.random())
            for index in (writer, expected):
                if commit % 5 == 4:
                    index.delete("s", path)
                else:
                    put(index, path, text, vector=row, kind="code" if commit % 3 else "docs")
                    index.touch("s", path, stamp(commit), document(path, text).content_hash)
            for sought in (EVERYTHING, where):
                assert answers(reader, ["fox", "red"], vector(1), 9, sought) == answers(
                    expected, ["fox", "red"], vector(1), 9, sought
                )
        with contextlib.closing(LanceIndex(address, IDENTITY)) as fresh:
            assert answers(fresh, ["fox"], vector(1)) == answers(reader, ["fox"], vector(1))
            vectors = [expected.vectors("s", f"{number}.md").tolist() for number in range(10)]
            assert [fresh.vectors("s", f"{number}.md").tolist() for number in range(10)] == vectors


class FullDisk(io.FileIO):
    """A file of which the last byte finds no room, which the system does not call an error."""

    def write(self, content: Buffer) -> int:
        return super().write(memoryview(content)[:-1])


@pytest.mark.slow
def test_a_disk_that_is_full_is_no_damage_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address, cache = str(tmp_path / "shared"), tmp_path / "cache"
    with contextlib.closing(LanceIndex(address, IDENTITY)) as writer:
        for number in range(4):
            put(writer, f"{number}.md", "red fox", vector=vector(number))
            writer.touch("s", f"{number}.md", stamp(number), document(text="red fox").content_hash)
    opened: list[FullDisk] = []

    def scratch(_: LocalCache) -> FullDisk:
        opened.append(FullDisk(tmp_path / f"{len(opened)}.part", "w+"))
        return opened[-1]

    monkeypatch.setattr(LocalCache, "scratch", scratch)
    with (
        contextlib.closing(LanceIndex(address, IDENTITY, cache=cache, min_cached=1)) as reader,
        contextlib.closing(LanceIndex(address, IDENTITY)) as other,
    ):
        found = answers(reader, ["fox"], vector(1))

        assert opened
        assert found == answers(other, ["fox"], vector(1))
