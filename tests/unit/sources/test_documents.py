"""Bytes from anywhere become documents through one door."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from openbook.errors import SkippedFileError
from openbook.sources.documents import current_text, read_document


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


def test_importing_sources_loads_no_parser() -> None:
    heavy = "{'markdown_it', 'pathspec', 'charset_normalizer', 'json'}"
    code = f"import sys, openbook.sources; print(sorted({heavy} & set(sys.modules)))"

    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8").stdout

    assert loaded == "[]\n"


def test_bytes_that_are_known_have_the_text_that_is_known() -> None:
    known = replace(read_document(b"One.\n", source="s", path="a.md"), text="As it was read.")

    assert current_text(b"One.\n", "a.md", known) == "As it was read."
    assert current_text(b"Two.\n", "a.md", known) == "Two.\n"
    assert current_text(b"Two.\n", "a.md", None) == "Two.\n"


def test_another_file_whose_text_must_be_extracted_is_not_read_again() -> None:
    known = read_document(b"One.\n", source="s", path="a.pdf.md")

    assert current_text(b"%PDF-1.7 another", "a.pdf", known) is None


def test_a_file_with_the_bytes_that_older_rules_read_still_has_the_text_that_is_cited() -> None:
    known = read_document(b"*Tides*\n", source="s", path="a.org")
    older = replace(known, text="*Tides*\n", content_hash=known.content_hash.partition("/")[0])

    assert current_text(b"*Tides*\n", "a.org", older) == "*Tides*\n"
    assert current_text(b"*Ebb*\n", "a.org", older) == "Ebb\n"
