"""What the readers of documents are compared by."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from docx import Document

from benchmarks import readers

# No two runs of four words are the same.
_NAMES = [f"{chr(97 + at // 20)}{chr(97 + at % 20)}" for at in range(400)]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_a_table_says_what_was_found_of_the_body_of_a_file(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, words in (("a", _NAMES), ("b", _NAMES), ("short", _NAMES[:50])):
        document = Document()
        for at in range(0, len(words), 8):
            document.add_paragraph(f"{' '.join(words[at : at + 8])}.")
        document.save(str(tmp_path / f"{name}.docx"))
    half = tmp_path / "half.py"
    half.write_text(f"print({' '.join(_NAMES[200:] + _NAMES[:150])!r})", encoding="utf-8")
    program = tmp_path / "pandoc"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} {half}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", ["readers", str(tmp_path), "--files", str(count), "--pandoc", str(program)])

    readers.main()

    rows = [[cell.strip() for cell in line.split("|")[1:6]] for line in capsys.readouterr().out.splitlines()[2:]]
    assert rows == [
        ["DOCX", "Openbook", f"{count} of {count}", "1.000", "1.000"],
        ["DOCX", "pandoc", f"{count} of {count}", f"{(197 + 147) / 397:.3f}", f"{197 / (197 + 147):.3f}"],
    ]


def test_what_was_deleted_from_a_file_is_no_source() -> None:
    xml = (
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:p><w:r><w:t>High </w:t>'
        "</w:r><w:del><w:r><w:delText>never</w:delText></w:r></w:del><w:r><w:t>water</w:t></w:r></w:p></w:document>"
    )

    assert readers.body_text(xml.encode()) == "High water"
