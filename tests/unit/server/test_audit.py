"""The audit log: lines are added, and neither changed nor removed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from openbook.server.keys import KeyStore
from openbook.server.people import AuditLog
from tests.fakes.clock import Clock


@pytest.fixture
def audit(keys: KeyStore) -> AuditLog:
    return AuditLog(keys)


def test_the_last_lines_come_first(audit: AuditLog, clock: Clock) -> None:
    for name in ("ada", "runa", "zoe"):
        audit.add("console", "added key", name)
        clock.now_s += 1

    assert [(each.what, each.at) for each in audit.last(2)] == [("zoe", 1_700_000_002), ("runa", 1_700_000_001)]


@pytest.mark.parametrize("sql", ["DELETE FROM audit", "UPDATE audit SET who = 'nobody'"])
def test_no_line_is_changed_or_removed(audit: AuditLog, tmp_path: Path, sql: str) -> None:
    audit.add("ada", "removed source", "guide")

    with (
        closing(sqlite3.connect(tmp_path / "keys.sqlite")) as opened,
        pytest.raises(sqlite3.IntegrityError, match="only added to"),
    ):
        opened.execute(sql)

    assert [each.who for each in audit.last(10)] == ["ada"]


def test_refusals_without_end_do_not_fill_the_disk(audit: AuditLog, clock: Clock) -> None:
    for _ in range(1000):
        audit.refuse("a key", "10.0.0.7")
    clock.now_s += 60
    audit.refuse("a key", "10.0.0.8")

    lines = audit.last(100)
    assert len(lines) == 31
    assert (lines[0].what, lines[0].address) == ("a key; 970 more before it", "10.0.0.8")
