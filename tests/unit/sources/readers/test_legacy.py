"""Old documents of Office are read through LibreOffice, where it is installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from openbook.errors import SkippedFileError
from openbook.sources.documents import read_document
from openbook.sources.known_formats import known_formats, unread_formats
from openbook.sources.optional_readers import may_be_read_now
from tests.unit.sources.readers.zipped_files import docx_of

OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
MISSING = "old Office format; save it as .docx, or install LibreOffice"

# Stands for LibreOffice, which takes 1 GB: it takes the same arguments, and writes what it was given.
PROGRAM = """#!{python}
import pathlib, shutil, sys
out = pathlib.Path(sys.argv[sys.argv.index("--outdir") + 1])
assert sys.argv[1] == "--headless" and "UserInstallation=file://" in sys.argv[3]
assert pathlib.Path(sys.argv[-1]).read_bytes().startswith(b"\\xd0\\xcf")
{does}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def install(folder: Path, does: str) -> None:
    program = folder / "soffice"
    program.write_text(PROGRAM.format(python=sys.executable, does=does), encoding="utf-8")
    Path(program).chmod(0o700)


def refusal(path: str = "a.doc") -> str:
    with pytest.raises(SkippedFileError) as refused:
        read_document(OLD, source="s", path=path)
    return refused.value.reason


def test_without_libreoffice_the_reason_says_what_to_do(folder: Path) -> None:
    assert refusal() == MISSING
    assert not may_be_read_now(MISSING)
    assert ("doc", "ppt") in [one.suffixes for one in unread_formats()]
    assert "doc" not in {one.name for one in known_formats()}


def test_legacy_documents_are_read_through_libreoffice(folder: Path) -> None:
    (folder / "made.docx").write_bytes(docx_of("<w:p><w:r><w:t>Rye rests.</w:t></w:r></w:p>"))
    install(folder, f"shutil.copy({str(folder / 'made.docx')!r}, out / 'document.docx')")

    document = read_document(OLD, source="s", path="a.doc")

    assert (document.text, document.language) == ("Rye rests.", "doc")
    assert may_be_read_now(MISSING)
    assert {one.reader for one in known_formats() if one.name in ("doc", "ppt")} == {"LibreOffice"}


@pytest.mark.parametrize("does", ["sys.exit(3)", "pass"])
def test_a_document_that_it_cannot_read_is_skipped(folder: Path, does: str) -> None:
    install(folder, does)

    assert refusal("a.ppt") == "LibreOffice cannot read it"
