from __future__ import annotations

import pytest

from tools import write_mcp_transcript


@pytest.mark.slow
def test_the_transcript_is_what_goes_over_the_wire_today() -> None:
    assert write_mcp_transcript.PAGE.read_text(encoding="utf-8") == write_mcp_transcript.page()
