"""What lies in the place of a library and is none: it is renamed, and loses nothing."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from openbook.index.files import set_aside
from openbook.index.sqlite import SqliteIndex
from tests.support import IDENTITY

LETTERS = [f"letter {number} {'x' * 400}" for number in range(400)]


def write_letters(place: Path, *, journal: str) -> None:
    """Leave a database at a place as a killed program leaves it, with a transaction in the log beside it.

    Without the log, a part of the letters is wrong ("delete"), or all of them are missing ("wal").
    """
    written = place.with_name("written.db")
    with closing(sqlite3.connect(written, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE letters (text TEXT)")
        if journal == "wal":
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO letters VALUES (?)", zip(LETTERS, strict=True))
        connection.execute("COMMIT")
        if journal == "delete":
            connection.execute("PRAGMA cache_size = 2")  # what is changed is written before the transaction ends
            connection.execute("BEGIN")
            connection.execute("UPDATE letters SET text = 'gone'")
        for suffix in ("", "-journal", "-wal"):
            if (file := written.with_name(written.name + suffix)).exists():
                shutil.copy(file, place.with_name(place.name + suffix))


def letters_in(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM letters ORDER BY rowid")]


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_is_set_aside_with_its_unfinished_transaction(tmp_path: Path, journal: str) -> None:
    place = tmp_path / "work.sqlite"
    write_letters(place, journal=journal)

    aside = set_aside(place)
    SqliteIndex(place, IDENTITY).close()

    assert aside == tmp_path / "work.sqlite.aside-1"
    assert letters_in(aside) == LETTERS


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_whose_log_cannot_be_renamed_stays_with_it(tmp_path: Path, journal: str) -> None:
    place = tmp_path / "work.sqlite"
    write_letters(place, journal=journal)
    for suffix in ("journal", "wal"):
        (tmp_path / f"work.sqlite.aside-1-{suffix}" / "taken").mkdir(parents=True)

    with pytest.raises(OSError, match="aside-1"):
        set_aside(place)

    assert letters_in(place) == LETTERS
