"""How mail is read: headers, text, and what is attached."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from openbook.sources.documents import read_document
from openbook.types import Document
from tests.unit.sources.readers.pdf_files import pdf, text

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
    assert document.remarks == ("not read: attached a.pdf (not a PDF file)",)


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


@pytest.mark.parametrize("path", ["a.eml", "a.mbox"])
def test_what_is_no_mail_is_read_as_text(path: str) -> None:
    document = read(b"Dear Ada,\n\nhello: x\n", path)

    assert (document.text, document.language) == ("Dear Ada,\n\nhello: x\n", "text")
    assert document.remarks == ("no mail; read as text",)


@pytest.mark.parametrize(
    ("encoding", "charset"),
    [("utf-8-sig", "utf-8"), ("utf-16", "utf-16"), ("utf-16-le", "iso-8859-1"), ("utf-16-be", "utf-8")],
)
def test_mail_that_an_editor_has_saved_in_unicode_is_read_as_mail(encoding: str, charset: str) -> None:
    message = (
        "From: Zoë <zoe@example.org>\nSubject: Größe\nMIME-Version: 1.0\n"
        f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\nDas Wasser fällt.\n"
    )
    document = read(message.encode(encoding))

    assert document.text == "Größe\n\nFrom: Zoë <zoe@example.org>\n\nDas Wasser fällt."
    assert (document.language, document.remarks) == ("eml", ())


def test_an_attachment_of_converted_mail_is_the_same_bytes() -> None:
    raw = with_files(("slides.pdf", pdf(text("Ovens are hot."))))

    assert read(raw.decode().encode("utf-16")).text == read(raw).text


def with_files(*files: tuple[str, bytes]) -> bytes:
    message = EmailMessage()
    message["Subject"] = "Plans"
    message.set_content("See the files.")
    for name, content in files:
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return bytes(message)


def test_attachments_are_read_below_their_names_with_anchors_of_their_own() -> None:
    slides = pdf(text("Ovens are hot."), text("Doughs are cold."))
    document = read(with_files(("slides.pdf", slides), ("notes.md", b"# Flour\n\nRye.\n"), ("a.png", b"\x89PNG\r\n\0")))
    in_box = read(b"From x\n" + with_files(("slides.pdf", slides)).replace(b"\r\n", b"\n"), "all.mbox")

    assert document.text == (
        "Plans\n\nSee the files.\n\nslides.pdf\n\nOvens are hot.\n\nDoughs are cold.\n\nnotes.md\n\n# Flour\n\nRye.\n"
    )
    places = {document.text[one.start_char :].split("\n")[0]: one.label for one in document.anchors}
    assert places == {
        "slides.pdf": "slides.pdf",
        "Ovens are hot.": "slides.pdf p. 1",
        "Doughs are cold.": "slides.pdf p. 2",
        "notes.md": "notes.md",
    }
    titles = [(block.title, block.level) for block in document.blocks if block.level]
    assert titles == [("Plans", 1), ("slides.pdf", 2), ("notes.md", 2), ("Flour", 3)]
    assert document.remarks == ("not read: attached a.png (binary)",)
    assert [one.label for one in in_box.anchors][-1] == "message 1 slides.pdf p. 2"


def test_secrets_that_are_attached_are_not_read() -> None:
    key = b"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"
    document = read(with_files((".env", b"PASSWORD=x\n"), ("notes.txt", key)))

    assert document.text == "Plans\n\nSee the files."
    assert document.remarks == ("not read: attached .env (secret), notes.txt (secret)",)


def test_mail_within_mail_is_read_to_a_depth() -> None:
    raw = with_files(("end.txt", b"The innermost."))
    for name in "abc":
        raw = with_files((f"{name}.eml", raw))
    document = read(raw)

    assert "The innermost." not in document.text
    assert "end.txt (too deep)" in document.remarks[-1]
    assert document.text.count("See the files.") == 4


def test_many_files_that_cannot_be_read_are_counted() -> None:
    document = read(with_files(*((f"{number}.bin", b"\0\1") for number in range(7))))

    assert document.remarks[0].endswith("4.bin (binary) and 2 more")
