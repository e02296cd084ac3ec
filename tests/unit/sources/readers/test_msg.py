"""Messages as Outlook saves them are read as other mail is."""

from __future__ import annotations

import sys

import pytest

from openbook.errors import SkippedFileError
from openbook.sources.documents import DocumentReader, read_document
from openbook.sources.optional_readers import may_be_read_now
from openbook.types import SkipReason
from tests.unit.sources.readers.msg_files import msg


def test_a_message_is_its_headers_its_text_and_what_is_attached() -> None:
    raw = msg("Tides", "Ada", "High water is at noon.\r\n\r\nBye.", {"notes.txt": b"Rye.", "a.bin": b"\0\1"})
    found = DocumentReader("s").read_all(raw, "a.msg")

    assert found.document.text == (
        'Tides\f\f\n\nFrom: "Ada" <Ada@example.org>\nTo: Ben <ben@example.org>\n\nHigh water is at noon.\n\nBye.\n\n'
        "Attached: notes.txt, a.bin"
    )
    assert [(one.path, one.text) for one in found.attached] == [("a.msg/notes.txt", "Rye.")]
    assert found.skipped == (("a.msg/a.bin", SkipReason.BINARY_NAME),)


def test_a_damaged_message_is_skipped() -> None:
    with pytest.raises(SkippedFileError) as refused:
        read_document(msg("Tides", "Ada", "Noon.", {})[:600], source="s", path="a.msg")

    assert refused.value.reason.startswith("damaged: ")


def test_without_its_package_the_reason_names_it_and_the_file_is_tried_again_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "oxmsg", None)
    with pytest.raises(SkippedFileError) as refused:
        read_document(msg("Tides", "Ada", "Noon.", {}), source="s", path="a.msg")
    monkeypatch.undo()

    assert refused.value.reason == "message of Outlook; install 'openbook[msg]', or save it as EML"
    assert may_be_read_now(refused.value.reason)
    assert not may_be_read_now("damaged")
