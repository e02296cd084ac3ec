"""Small files of tables: nobody else reads them, and what fails is told in the words of whoever opened them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from openbook.errors import SettingsError
from openbook.sqlite_store import SqliteStore, hint_for
from tests.children import run_child

SCHEMA = "CREATE TABLE IF NOT EXISTS knots (name TEXT PRIMARY KEY) WITHOUT ROWID;"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "knots.sqlite"


def opened(path: Path) -> SqliteStore:
    return SqliteStore(path, SCHEMA, lambda exc: SettingsError(f"no knots: {exc}", hint="tie one"))


@pytest.fixture
def tables(path: Path) -> Iterator[SqliteStore]:
    with closing(opened(path)) as tables:
        yield tables


def insert(tables: SqliteStore, *names: str) -> None:
    with tables.transaction() as execute:
        for name in names:
            execute("INSERT INTO knots VALUES (?)", (name,))


def test_the_file_and_its_folder_are_made_for_its_owner_alone(path: Path, tables: SqliteStore) -> None:
    insert(tables, "bowline")

    assert tables.read("SELECT name FROM knots") == [("bowline",)]
    assert [file.stat().st_mode & 0o077 for file in path.parent.iterdir()] == [0, 0, 0]


def test_of_a_transaction_that_fails_nothing_is_kept(path: Path, tables: SqliteStore) -> None:
    with pytest.raises(SettingsError, match="UNIQUE"):
        insert(tables, "bowline", "bowline")

    insert(tables, "hitch")
    with closing(opened(path)) as again:
        assert again.read("SELECT name FROM knots") == [("hitch",)]


def test_what_sqlite_and_the_disk_refuse_is_told_in_the_words_of_the_owner(path: Path, tables: SqliteStore) -> None:
    with pytest.raises(SettingsError, match="no knots: no such table") as refused:
        tables.read("SELECT * FROM splices")
    with pytest.raises(SettingsError, match="no knots") as unmade:
        opened(path / "below" / "a.sqlite")

    assert isinstance(refused.value.__cause__, sqlite3.OperationalError)
    assert isinstance(unmade.value.__cause__, OSError)


def read_and_written(path: str) -> str:
    """Return what can be read where nothing can be written, and what becomes of a transaction."""
    with closing(opened(Path(path))) as tables:
        with pytest.raises(SettingsError) as refused:
            insert(tables, "splice")
        assert not tables.is_writable
        return f"{tables.read('SELECT name FROM knots')}; {hint_for(refused.value.__cause__ or refused.value)}"


@pytest.mark.slow
def test_where_nothing_can_be_written_what_is_there_is_read(path: Path) -> None:
    path.parent.mkdir(mode=0o555)
    empty = run_child(read_and_written, path, unprivileged=True)
    path.parent.chmod(0o755)
    with closing(opened(path)) as tables:
        insert(tables, "bowline")
    path.parent.chmod(0o555)

    kept = run_child(read_and_written, path, unprivileged=True)
    path.parent.chmod(0o755)

    hint = "set OPENBOOK_HOME to a folder that you can write to"
    assert (empty, kept) == (f"[]; {hint}", f"[('bowline',)]; {hint}")


@pytest.mark.slow
def test_what_another_process_has_just_written_is_read_where_nothing_can_be_written(path: Path) -> None:
    with closing(opened(path)) as tables:
        insert(tables, "bowline")
        for file in path.parent.iterdir():
            file.chmod(0o444)
        path.parent.chmod(0o555)
        kept = run_child(read_and_written, path, unprivileged=True)
        path.parent.chmod(0o755)

    assert kept.startswith("[('bowline',)]")
