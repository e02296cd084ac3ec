"""Bytes from anywhere become documents through one door."""

from __future__ import annotations

import subprocess
import sys

import pytest

from openbook.errors import SkippedFileError
from openbook.sources.documents import read_document


def test_a_document_carries_what_its_reader_found() -> None:
    document = read_document(b"\xef\xbb\xbf# Top\n\ntext\n", source="web", path="docs/a.md")

    assert (document.source, document.path, document.kind, document.language) == (
        "web", "docs/a.md", "docs", "markdown",
    )  # fmt: skip
    assert document.text == "# Top\n\ntext\n"
    assert [block.title for block in document.blocks] == ["Top", ""]


def test_no_bytes_are_a_document_without_text() -> None:
    assert read_document(b"", source="s", path="a.md").text == ""


@pytest.mark.parametrize("label", ["", "RSA ", "OPENSSH ", "PGP "])
def test_private_keys_are_refused_under_any_name(label: str) -> None:
    raw = f"-----BEGIN {label}".encode() + b"PRIVATE KEY-----\n"

    with pytest.raises(SkippedFileError) as caught:
        read_document(raw, source="s", path="notes.md")

    assert caught.value.reason == "secret"


def test_code_that_speaks_of_private_keys_is_read() -> None:
    text = 'MARK = "-----BEGIN ' + 'PRIVATE KEY-----"\n'

    assert read_document(text.encode(), source="s", path="a.py").text == text


def test_importing_sources_loads_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    heavy = "{'markdown_it', 'pathspec', 'charset_normalizer', 'json'}"
    code = f"import sys, openbook.sources; print(sorted({heavy} & set(sys.modules)))"

    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # what measures the child loads more
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8").stdout

    assert loaded == "[]\n"
