"""A book becomes the text of its chapters in reading order, each under its name."""

from __future__ import annotations

from zipfile import ZIP_STORED

import pytest

from openbook.errors import SkippedFileError
from openbook.sources.readers.epub import read_epub
from openbook.types import Anchor
from tests.unit.sources.readers.zipped_files import changed, epub_of, part_of, zipped


def test_chapters_come_in_order_with_headings_code_and_rows() -> None:
    first = (
        "<html><head><title>Book</title></head><body><h1>Bread</h1><p><span>N</span>eeds\n <i>ti</i>me.<br/>Yes.</p>"
        "<pre>  if a:\n    <b>b</b>()</pre><table><tr><td>rye</td><td>50</td></tr></table></body></html>"
    )
    second = "<head><title>Oven</title></head><p>Hot &amp; dry.</p>"

    reading = read_epub(epub_of({"2.xhtml": first, "1.xhtml": second, "0.xhtml": "<p>end</p>"}), "a.epub")

    assert reading.text == "Bread\f\f\n\nNeeds time.\nYes.\n\nif a:\n  b()\n\nrye | 50\n\nHot & dry.\n\nend"
    assert reading.anchors == (
        Anchor(0, "ch. Bread"),
        Anchor(reading.text.index("Hot"), "ch. Oven"),
        Anchor(reading.text.index("end"), "ch. 0.xhtml"),
    )
    assert [(block.kind, block.title) for block in reading.blocks][:3] == [
        ("heading", "Bread"),
        ("text", ""),
        ("code", ""),
    ]
    assert (reading.kind, reading.language, reading.remarks) == ("docs", "epub", ())


@pytest.mark.parametrize(
    ("page", "text"),
    [
        pytest.param("<head><script src='x'/><title/></head><p>shown</p>", "shown", id="closed-at-once"),
        pytest.param("<p>{{ name }} is a template</p>", "{{ name }} is a template", id="marks-of-templates"),
        pytest.param(
            "<header><h1>A</h1></header><nav>n</nav><aside>note</aside>", "A\f\f\n\nn\n\nnote", id="whole-page"
        ),
        pytest.param("<p>a&#0;b&#xD800;c\u00add &lt;e&gt;</p>", "a\ufffdb\ufffdcd <e>", id="characters"),
        pytest.param("<p>10<sup>6</sup> m<sup>-2</sup>, the 5<sup>th</sup></p>", "10^6 m^-2, the 5th", id="raised"),
        pytest.param("<p>so<sup><a href='n.xhtml#n1'>1</a></sup> it</p>", "so it", id="note"),
        pytest.param("<p>so<a epub:type='noteref' href='#n1'>1</a> it</p>", "so it", id="note-by-its-type"),
        pytest.param("<h2>List&lt;T&gt; ¶</h2>", "List<T>\f\f\f", id="signs-in-a-heading"),
    ],
)
def test_a_page_of_a_book_is_read_whole(page: str, text: str) -> None:
    assert read_epub(epub_of({"1.xhtml": page}), "a.epub").text == text


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("A Short  History", "A Short History\f\f\n\nEgypt\f\f\n\nx"),
        ("EGYPT", "Egypt\f\f\n\nx"),
        ("Unknown", "Egypt\f\f\n\nx"),
        ("", "Egypt\f\f\n\nx"),
    ],
)
def test_the_title_of_a_book_is_above_its_first_chapter_that_has_text(title: str, text: str) -> None:
    raw = epub_of({"0.xhtml": "<img src='a.png'/>", "1.xhtml": "<h1>Egypt</h1><p>x</p>"}, title=title)

    reading = read_epub(raw, "a.epub")

    assert (reading.text, reading.anchors, reading.remarks) == (text, (Anchor(0, "ch. Egypt"),), ())


def test_a_book_of_pictures_has_no_text_whatever_its_title() -> None:
    assert read_epub(epub_of({"0.xhtml": "<img src='a.png'/>"}, title="Maps"), "a.epub").text == ""


def test_pictures_and_chapters_that_are_gone_are_remarked_on() -> None:
    cover = "<img src='a.png'/>"
    raw = epub_of({"0.xhtml": cover, "1.xhtml": "<p>x</p>", "2.xhtml": cover, "3.xhtml": "<p>y</p>"})

    reading = read_epub(changed(raw, {"b/3.xhtml": None}), "a.epub")

    assert (reading.text, reading.remarks) == (
        "x",
        ("not read: b/3.xhtml (missing)", "1 of its files without text"),
    )


def test_a_chapter_that_cannot_be_read_is_left_out_and_named() -> None:
    text, stored = "<p>Rye needs time.</p>", "<p>Stored as it is, to be found.</p>"
    pages = {"1.xhtml": text, "2.xhtml": "\0\1", "3.xhtml": stored, "4.xhtml": text}
    damaged = epub_of(pages, compression=ZIP_STORED).replace(b"Stored as", b"Spoiled a")  # fails its checksum

    reading = read_epub(damaged, "a.epub")

    assert (reading.text, reading.remarks) == (
        "Rye needs time.\n\nRye needs time.",
        ("not read: b/2.xhtml (binary), b/3.xhtml (damaged)",),
    )


def test_of_many_chapters_that_cannot_be_read_a_few_are_named() -> None:
    pages = {f"{number}.xhtml": "\0\1" for number in range(8)}

    (remark,) = read_epub(epub_of({**pages, "8.xhtml": "<p>x</p>"}), "a.epub").remarks

    assert remark.endswith("b/4.xhtml (binary) and 3 more")


def test_a_chapter_that_says_that_it_is_one_is_not_called_so_twice() -> None:
    raw = epub_of({"1.xhtml": "<h1>Chapter 1. Flour</h1>", "2.xhtml": "<h1>2. Water</h1>"})

    labels = [anchor.label for anchor in read_epub(raw, "a.epub").anchors]

    assert labels == ["Chapter 1. Flour", "ch. 2. Water"]


def test_the_contents_and_what_is_no_page_are_left_out() -> None:
    raw = epub_of({"1.xhtml": "<p>x</p>", "2.svg": "<p>y</p>"})
    book = part_of(raw, "b/book.opf")
    book = book.replace('"2.svg" media-type="application/xhtml+xml"', '"2.svg" media-type="image/svg+xml"')
    nav = '<item id="n" href="1.xhtml" properties="nav" media-type="text/html"/>'

    listed = book.replace("</manifest>", f"{nav}</manifest>").replace("<itemref", '<itemref idref="n"/><itemref', 1)

    assert read_epub(changed(raw, {"b/book.opf": listed}), "a.epub").text == "x"


@pytest.mark.parametrize(
    ("page", "text"), [("", "x"), ("<p>Read it slowly.</p>", "Read it slowly.\n\n1. The first\n\nx")]
)
def test_a_page_that_is_said_to_be_the_contents_is_left_out_if_it_holds_little_but_links(page: str, text: str) -> None:
    raw = epub_of({"0.xhtml": f"{page}<p>1. <a href='1.xhtml'>The first</a></p>", "1.xhtml": "<p>x</p>"})
    guide = "<guide><reference type='toc' href='0.xhtml'/></guide></package>"
    book = part_of(raw, "b/book.opf").replace("</package>", guide)

    assert read_epub(changed(raw, {"b/book.opf": book}), "a.epub").text == text


@pytest.mark.parametrize(
    ("method", "is_read"),
    [("http://www.idpf.org/2008/embedding", True), ("http://www.w3.org/2001/04/xmlenc#aes128-cbc", False)],
)
def test_a_locked_book_is_skipped_and_scrambled_fonts_are_not_locked(method: str, is_read: bool) -> None:
    encryption = f'<encryption><EncryptedData><EncryptionMethod Algorithm="{method}"/></EncryptedData></encryption>'
    raw = changed(epub_of({"1.xhtml": "<p>x</p>"}), {"META-INF/encryption.xml": encryption})

    if is_read:
        assert read_epub(raw, "a.epub").text == "x"
    else:
        with pytest.raises(SkippedFileError, match="protected by DRM"):
            read_epub(raw, "a.epub")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        pytest.param(zipped({"x": "y"}), "not an EPUB book", id="no-container"),
        pytest.param(zipped({"META-INF/container.xml": "<a/>"}), "not an EPUB book", id="no-book"),
        pytest.param(changed(epub_of({}), {"b/book.opf": None}), "damaged: no b/book.opf", id="book-gone"),
        pytest.param(epub_of({"1.xhtml": b"\0\1".decode()}), "binary", id="binary-chapter"),
    ],
)
def test_an_invalid_book_is_skipped_with_a_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(SkippedFileError) as caught:
        read_epub(raw, "a.epub")

    assert caught.value.reason == reason
