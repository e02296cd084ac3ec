"""How mail is read: headers, text, and what is attached."""

from __future__ import annotations

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest

from openbook.sources.documents import DocumentReader, ReadFile, read_document
from openbook.types import Document, SkipReason
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


def read_all(raw: bytes, path: str = "a.eml") -> ReadFile:
    return DocumentReader("s").read_all(raw, path)


def test_a_message_is_its_subject_its_headers_and_its_text() -> None:
    document = read(TIDES)

    assert document.text == (
        "Tides für all\f\f\n\nFrom: Ada <ada@example.org>\nTo: Ben\nDate: Mon, 01 Jan 2024 10:00:00 +0000\n\n"
        "High water is at noon.\n\nAttached: a.pdf"
    )
    assert [block.title for block in document.blocks if block.level] == ["Tides für all"]
    assert read_all(TIDES).skipped == (("a.eml/a.pdf", "not a PDF file"),)


def test_the_words_of_html_stand_in_where_there_is_no_plain_text() -> None:
    raw = b"Subject: X\nContent-Type: text/html; charset=utf-8\n\n<p>High <b>water</b></p>\n"

    assert read(raw).text == "X\f\f\n\nHigh water"


def test_messages_of_one_file_are_numbered() -> None:
    raw = b"From x Mon\n" + TIDES + b"\nFrom y Tue\nFrom: Ben\nSubject: Second\n\n>From here it is low.\n"
    document = read(raw, "all.mbox")

    assert [anchor.label for anchor in document.anchors] == ["message 1", "message 2"]
    assert document.text.endswith("Second\f\f\n\nFrom: Ben\n\nFrom here it is low.")


def test_a_damaged_message_leaves_the_others() -> None:
    broken = b"Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: multipart/related\n\nwords\n--B--\n\n"
    raw = b"From x\nSubject: A\n" + broken + b"From y\nSubject: B\n\nMore.\n"
    document = read(raw, "all.mbox")

    assert document.text.endswith("B\f\f\n\nMore.")
    assert document.remarks == ("damaged: message 1",)


@pytest.mark.parametrize("charset", ["", "; charset=us-ascii", "; charset=unknown-8bit", "; charset=iso-8859-8-i"])
def test_a_character_set_that_is_missing_or_wrong_is_guessed(charset: str) -> None:
    raw = f"Subject: A\nContent-Type: text/plain{charset}\nContent-Transfer-Encoding: 8bit\n\nDas Wasser fällt.\n"

    assert read(raw.encode()).text == "A\f\f\n\nDas Wasser fällt."


def test_a_body_that_is_no_text_in_any_character_set_leaves_its_headers() -> None:
    raw = b"Subject: A\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\nAAAAAAAA\n"

    assert read(raw).text.startswith("A\f\f\n\n")


@pytest.mark.parametrize("header", ["ada@[", "<", '"'])
def test_a_header_that_cannot_be_parsed_is_shown_as_written(header: str) -> None:
    document = read(f"Subject: A\nTo: {header}\n\nHigh water is at noon.\n".encode())

    assert document.text.endswith(f"To: {header}\n\nHigh water is at noon.")
    assert document.remarks == ()


def test_text_behind_a_picture_is_read_too_but_not_the_same_text_in_html() -> None:
    parts = (
        b"Content-Type: text/plain\n\nHigh water.",
        b"Content-Type: text/html\n\n<p>High water.</p>",
        b"Content-Type: image/png; name=a.png\n\nxx",
        b"Content-Type: text/plain\n\nLow water.",
        b"Content-Type: text/plain\nContent-Disposition: attachment\n\nNo water.",
    )
    raw = b"Subject: A\nContent-Type: multipart/mixed; boundary=B\n\n--B\n" + b"\n--B\n".join(parts) + b"\n--B--\n"

    assert read(raw).text == "A\f\f\n\nHigh water.\n\nLow water.\n\nAttached: a.png"


def test_a_mailbox_with_one_message_needs_no_line_before_it() -> None:
    document = read(b"From: Ada\nSubject: Tides\n\nHigh water is at noon.\n", "all.mbox")

    assert document.text == "Tides\f\f\n\nFrom: Ada\n\nHigh water is at noon."
    assert [anchor.label for anchor in document.anchors] == ["message 1"]


@pytest.mark.parametrize("path", ["a.eml", "a.mbox"])
def test_an_invalid_message_is_read_as_text(path: str) -> None:
    document = read(b"Dear Ada,\n\nhello: x\n", path)

    assert (document.text, document.language) == ("Dear Ada,\n\nhello: x\n", "text")
    assert document.remarks == ("not mail; read as text",)


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

    assert document.text == "Größe\f\f\n\nFrom: Zoë <zoe@example.org>\n\nDas Wasser fällt."
    assert (document.language, document.remarks) == ("eml", ())


def test_an_attachment_of_converted_mail_is_the_same_bytes() -> None:
    raw = with_files(("slides.pdf", pdf(text("Ovens are hot."))))

    (converted,), (attached,) = read_all(raw.decode().encode("utf-16")).attached, read_all(raw).attached

    assert converted == attached


def with_files(*files: tuple[str, bytes]) -> bytes:
    message = EmailMessage()
    message["Subject"] = "Plans"
    message.set_content("See the files.")
    for name, content in files:
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return bytes(message)


def test_attachments_are_documents_of_their_own_with_anchors_of_their_own() -> None:
    slides = pdf(text("Ovens are hot."), text("Doughs are cold."))
    found = read_all(
        with_files(("slides.pdf", slides), ("notes.md", b"# Flour\n\nRye.\n"), ("a.png", b"\x89PNG\r\n\0"))
    )
    in_box = read_all(b"From x\n" + with_files(("slides.pdf", slides)).replace(b"\r\n", b"\n"), "all.mbox")

    assert found.document.text == "Plans\f\f\n\nSee the files.\n\nAttached: slides.pdf, notes.md, a.png"
    assert {one.path: (one.language, one.text) for one in found.attached} == {
        "a.eml/slides.pdf": ("pdf", "Ovens are hot.\n\nDoughs are cold."),
        "a.eml/notes.md": ("markdown", "# Flour\n\nRye.\n"),
    }
    assert [anchor.label for anchor in found.attached[0].anchors] == ["p. 1", "p. 2"]
    assert found.skipped == (("a.eml/a.png", SkipReason.BINARY_NAME),)
    assert [one.path for one in in_box.attached] == ["all.mbox/message 1/slides.pdf"]


def test_secrets_that_are_attached_are_not_read_and_tokens_are_masked() -> None:
    key = b"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"
    token = b"token: ghp_" + b"a1B2c3D4e5F6" * 3
    found = read_all(with_files((".env", b"PASSWORD=x\n"), ("notes.txt", key), ("b.txt", token)))

    assert found.skipped == (("a.eml/.env", "secret"), ("a.eml/notes.txt", "secret"))
    assert [(one.text.count("*"), one.remarks[0].split(":")[0]) for one in found.attached] == [(36, "masked")]


def test_mail_within_mail_is_read_to_a_depth() -> None:
    raw = with_files(("end.txt", b"The innermost."))
    for name in "abc":
        raw = with_files((f"{name}.eml", raw))
    found = read_all(raw, "mail.eml")

    assert [one.path for one in found.attached] == [
        "mail.eml/c.eml",
        "mail.eml/c.eml/b.eml",
        "mail.eml/c.eml/b.eml/a.eml",
    ]
    assert found.skipped == (("mail.eml/c.eml/b.eml/a.eml/end.txt", "attached too deep"),)


def test_a_forwarded_message_is_a_document_with_what_is_attached_to_it() -> None:
    outer = EmailMessage()
    outer["Subject"] = "Fwd"
    outer.set_content("See below.")
    outer.add_attachment(message_from_bytes(with_files(("notes.txt", b"Rye.")), policy=default))
    found = read_all(bytes(outer))

    assert {one.path: one.text.split("\n")[0] for one in found.attached} == {
        "a.eml/Plans.eml": "Plans\f\f",
        "a.eml/Plans.eml/notes.txt": "Rye.",
    }
    assert "See the files." not in found.document.text


def test_attached_files_have_paths_within_the_mail_and_each_another() -> None:
    found = read_all(with_files(("../x.txt", b"1"), ("x.txt", b"2"), ("..", b"3"), ("C:\\x.txt", b"4")))

    assert {one.path: one.text for one in found.attached} == {
        "a.eml/x.txt": "1",
        "a.eml/x (2).txt": "2",
        "a.eml/attachment": "3",
        "a.eml/C_x.txt": "4",
    }


def test_attached_files_that_are_too_large_or_too_late_are_skipped() -> None:
    raw = with_files(("a.txt", b"x" * 101), ("b.txt", b"x" * 100))
    reader = DocumentReader("s", max_file_bytes=100)

    assert reader.read_all(raw, "a.eml").skipped == (("a.eml/a.txt", "too large"),)
    assert [reason for _, reason in reader.read_all(raw, "a.eml", lambda: "took longer than 1 s").skipped] == [
        "took longer than 1 s"
    ] * 2


@pytest.mark.slow
def test_more_attached_files_than_are_read_are_remarked_on() -> None:
    lines = b"".join(b"--B\nContent-Disposition: attachment; filename=a.txt\n\n.\n" for _ in range(999))
    message = b"From x\nSubject: A\nContent-Type: multipart/mixed; boundary=B\n\n" + lines + b"--B--\n\n"
    found = read_all(message * 6, "all.mbox")

    assert len(found.attached) == 5000
    assert found.document.remarks == ("only the first 5,000 attached files are read",)
