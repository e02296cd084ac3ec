"""A file is read again when the rules that read it have changed, and no other file is."""

from __future__ import annotations

import pytest

from openbook.sources.content_hash import content_hash, is_content, is_read_as_now


@pytest.mark.parametrize("path", ["docs/i3.manpage", "README.first", "notes.draft", ".plan", "docs/userguide"])
def test_a_file_that_its_text_classifies_is_read_again(path: str) -> None:
    before = content_hash(b"", "a.md")

    assert not is_read_as_now(before, path)
    assert is_content(b"", content_hash(b"", path))


@pytest.mark.parametrize("path", ["a.docx", "a.epub", "a.odt", "a.pdf", "a.pptx"])
def test_a_document_whose_reader_has_changed_is_read_again(path: str) -> None:
    assert not is_read_as_now(content_hash(b"", "a.md"), path)


@pytest.mark.parametrize("path", ["Makefile", "Rakefile", "src/a.py", "go.mod", "a.rtf", "a.md"])
def test_a_file_that_its_name_classifies_is_not_read_again(path: str) -> None:
    assert is_read_as_now(content_hash(b"", "a.md"), path)
