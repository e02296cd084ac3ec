"""The command `formats`."""

from __future__ import annotations

import pytest

from tests.integration.support_cli import run


def test_formats_are_listed_with_what_reads_them(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "formats").out
    listed = run(capsys, "formats", "--json").json

    assert "  xlsx: .xlsx  (python-calamine)\n" in told
    assert "  msg: .msg  (python-oxmsg)\n" in told
    assert "  .fodt .fods .fodp: save it as ODT, ODS or ODP\n" in told
    assert {"name": "org", "kind": "docs", "suffixes": ["org"], "reader": "openbook"} in listed["formats"]
    assert {"suffixes": ["fodt", "fods", "fodp"], "remedy": "save it as ODT, ODS or ODP"} in listed["unread"]
