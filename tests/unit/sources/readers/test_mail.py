"""How mail is read: headers, text, and what is attached."""

from __future__ import annotations

import pytest

from openbook.errors import SkippedFileError
from openbook.sources.documents import read_document
from openbook.types import Document

TIDES = b"""From: Ada <ada@example.org>
To: Ben
Subject: =?utf-8?q?Tides_f=C3=BCr_all?=
Date: Mon, 1 Jan 2024 10:00:00 +0000
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=B

--B
Content-Type: text/plain; charset=utf-8

High water is at noon.
--B
Content-Type: application/pdf; name=a.pdf
Content-Disposition: attachment; filename=a.pdf

xx
--B--
"""


def read(raw: bytes, path: str = "a.eml") -> Document:
    return read_document(raw, source="s", path=path)


def test_a_message_is_its_subject_its_headers_and_its_text() -> None:
    document = read(TIDES)

    assert document.text == (
        "Tides für all\n\nFrom: Ada <ada@example.org>\nTo: Ben\nDate: Mon, 01 Jan 2024 10:00:00 +0000\n\n"
        "High water is at noon."
    )
    assert [block.title for block in document.blocks if block.level] == ["Tides für all"]
    assert document.remarks == ("not read: attachments a.pdf",)


def test_the_words_of_html_stand_in_where_there_is_no_plain_text() -> None:
    raw = b"Subject: X\nContent-Type: text/html; charset=utf-8\n\n<p>High <b>water</b></p>\n"

    assert read(raw).text == "X\n\nHigh water"


def test_messages_of_one_file_are_numbered() -> None:
    raw = b"From x Mon\n" + TIDES + b"\nFrom y Tue\nFrom: Ben\nSubject: Second\n\n>From here it is low.\n"
    document = read(raw, "all.mbox")

    assert [anchor.label for anchor in document.anchors] == ["message 1", "message 2"]
    assert document.text.endswith("Second\n\nFrom: Ben\n\nFrom here it is low.")


def test_a_damaged_message_leaves_the_others() -> None:
    raw = b"From x\nSubject: A\nContent-Type: text/plain; charset=none-such\n\nwords\n\nFrom y\nSubject: B\n\nMore.\n"
    document = read(raw, "all.mbox")

    assert document.text.endswith("B\n\nMore.")
    assert document.remarks == ("damaged: message 1",)


@pytest.mark.parametrize(("path", "reason"), [("a.eml", "not an EML file"), ("a.mbox", "not a MBOX file")])
def test_what_is_no_mail_is_refused(path: str, reason: str) -> None:
    with pytest.raises(SkippedFileError) as refused:
        read(b"Dear Ada,\n\nhello: x\n", path)

    assert refused.value.reason == reason
