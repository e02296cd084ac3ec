"""The command `formats`."""

from __future__ import annotations

import pytest

from tests.integration.support_cli import run


def test_formats_are_listed_with_what_reads_them(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "formats").out
    listed = run(capsys, "formats", "--json").json

    assert "  xlsx: .xlsx  (python-calamine)\n" in told
    assert "  .msg: save the message as EML\n" in told
    assert {"name": "org", "kind": "docs", "suffixes": ["org"], "reader": "openbook"} in listed["formats"]
    assert {"suffixes": ["msg"], "remedy": "save the message as EML"} in listed["unread"]
