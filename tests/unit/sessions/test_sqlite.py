"""What is special about conversations in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.errors import SessionError
from openbook.sessions.sqlite import SqliteSessions


def test_a_folder_that_cannot_be_used_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "home").write_bytes(b"no folder")

    with pytest.raises(SessionError, match="cannot be kept") as caught:
        SqliteSessions(tmp_path / "home" / "sessions.sqlite", expire_s=100)

    assert "OPENBOOK_HOME" in caught.value.hint


def test_a_damaged_file_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "sessions.sqlite").write_bytes(b"this is no database, and long enough to be taken for one" * 20)

    with pytest.raises(SessionError, match="cannot be kept") as caught:
        SqliteSessions(tmp_path / "sessions.sqlite", expire_s=100)

    assert "from a backup" in caught.value.hint
