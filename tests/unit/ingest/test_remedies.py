"""What to do about files that are not indexed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from openbook.ingest.remedies import remedy_for
from openbook.process_pool import took_longer, took_more_memory
from openbook.types import SkipReason


@pytest.mark.parametrize(
    ("reason", "setting"),
    [(took_longer(60), "OPENBOOK_FILE_TIMEOUT_S"), (took_more_memory(2**31), "OPENBOOK_FILE_MEMORY_BYTES")],
)
def test_a_file_above_a_limit_names_its_setting_or_can_be_split(reason: str, setting: str) -> None:
    assert remedy_for(reason) == f"raise {setting}, or split the file"


@pytest.mark.skipif(os.name == "nt", reason="a program has another name there")
@pytest.mark.parametrize("reason", [SkipReason.SCANNED, SkipReason.GARBLED])
def test_pages_that_need_ocr_name_the_setting_and_an_engine_if_there_is_none(
    reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.path", [])  # no RapidOCR either
    without = remedy_for(reason)
    (tmp_path / "tesseract").touch(0o700)

    assert "OPENBOOK_OCR=on" in without
    assert "Tesseract" in without
    assert remedy_for(reason) == "set OPENBOOK_OCR=on"
