"""Zipped formats are opened within limits, whatever their headers say."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest

from openbook.errors import SkippedFileError
from openbook.sources.readers import Reading
from openbook.sources.readers.docx import read_docx
from openbook.sources.readers.epub import read_epub
from openbook.sources.readers.odt import read_odt
from openbook.sources.readers.pptx import read_pptx
from openbook.sources.readers.zipped import ZipPackage
from tests.unit.sources.readers.zipped_files import changed, docx_of, epub_of, odt_of, relations, zipped

MAIN_PARTS: dict[str, tuple[Callable[[bytes, str], Reading], bytes, str]] = {
    "docx": (read_docx, docx_of("<w:p><w:r><w:t>x</w:t></w:r></w:p>"), "word/document.xml"),
    "pptx": (
        read_pptx,
        zipped({"_rels/.rels": relations(officeDocument="ppt/p.xml"), "ppt/p.xml": "<p:presentation xmlns:p='p'/>"}),
        "ppt/p.xml",
    ),
    "odt": (read_odt, odt_of("<t:p>x</t:p>"), "content.xml"),
    "epub": (read_epub, epub_of({"1.xhtml": "<p>x</p>"}), "b/book.opf"),
}
"""Of each format: its reader, a file, and the part that everything else hangs on."""

BOMB = b"<a>" + b" " * (33 << 20)

LAUGHS = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY l0 "ha">{}]><a>&l9;</a>'.format(
    "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10}">' for level in range(1, 10))
)
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>'
HIDDEN = '<?xml version="1.0"?><!DOCTYPE a SYSTEM "x>" [<!ENTITY x "y">]><a>&x;</a>'
TWICE = '<!DOCTYPE a><!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'
UNDECLARED = '<!DOCTYPE a SYSTEM "file:///etc/hostname"><a>&x;</a>'
DEEP = "<a>" * 50_000 + "</a>" * 50_000

formats = pytest.mark.parametrize("form", list(MAIN_PARTS))


def reason_for(form: str, part: str | bytes) -> str:
    read, raw, name = MAIN_PARTS[form]
    with pytest.raises(SkippedFileError) as caught:
        read(changed(raw, {name: part}), f"a.{form}")
    return caught.value.reason


def reason_of(raw: bytes, name: str = "a.xml") -> str:
    with pytest.raises(SkippedFileError) as caught:
        ZipPackage(raw, "a.docx").xml(name)
    return caught.value.reason


@pytest.mark.slow
@formats
def test_a_bomb_is_not_expanded(form: str) -> None:
    assert reason_for(form, BOMB) == "expands too much"


@formats
def test_a_zip_within_is_not_opened(form: str) -> None:
    read, raw, _ = MAIN_PARTS[form]

    reading = read(changed(raw, {"word/embeddings/a.docx": zipped({"a.xml": BOMB})}), f"a.{form}")

    assert reading.text == read(raw, f"a.{form}").text


@formats
@pytest.mark.parametrize("part", [LAUGHS, OUTSIDE, HIDDEN, TWICE, UNDECLARED])
def test_entities_are_refused(form: str, part: str) -> None:
    assert reason_for(form, part) == f"damaged: cannot parse the XML of {MAIN_PARTS[form][2]}"


@pytest.mark.parametrize(
    "declared",
    [
        "<!DOCTYPE package>",
        "<?xml version='1.0'?>\n<!DOCTYPE package\n  SYSTEM 'a.dtd' >",
        '\ufeff<?xml version="1.0"?><!DOCTYPE package PUBLIC "+//ISBN 0//DTD 1.2//EN" "http://example.org/a.dtd">',
    ],
)
def test_a_document_type_that_declares_nothing_is_passed_over(declared: str) -> None:
    raw = zipped({"a.xml": f"{declared}\n<package><item/></package>"})

    assert [child.tag for child in ZipPackage(raw, "a.epub").xml("a.xml")] == ["item"]


@formats
@pytest.mark.parametrize("size", [0, 1, 3, 50, -1, -30])
def test_a_truncated_file_is_skipped(form: str, size: int) -> None:
    read, raw, _ = MAIN_PARTS[form]

    with pytest.raises(SkippedFileError) as caught:
        read(raw[:size], f"a.{form}")

    assert caught.value.reason == "damaged"


@formats
def test_the_files_of_older_programs_and_encrypted_ones_are_named(form: str) -> None:
    with pytest.raises(SkippedFileError, match="encrypted, or older than its name says"):
        MAIN_PARTS[form][0](b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "a")


@formats
def test_damage_anywhere_is_a_reason_and_never_another_error(form: str) -> None:
    read, raw, _ = MAIN_PARTS[form]

    for position in range(0, len(raw), 7):
        damaged = bytearray(raw)
        damaged[position] ^= 0xFF
        with suppress(SkippedFileError):
            read(bytes(damaged), "a")


@pytest.mark.slow
@pytest.mark.parametrize(("read", "raw"), [(read_docx, docx_of(DEEP)), (read_odt, odt_of(DEEP))], ids=["docx", "odt"])
def test_deep_nesting_is_a_reason(read: Callable[[bytes, str], Reading], raw: bytes) -> None:
    with pytest.raises(SkippedFileError, match="nested too deeply"):
        read(raw, "a")


@pytest.mark.slow
@pytest.mark.parametrize("size", [17 << 20, 33 << 20])
def test_a_bomb_beside_what_hardly_shrinks_is_found_by_its_part(size: int) -> None:
    raw = zipped({"a.png": Random(0).randbytes(200_000), "a.xml": bytes(size)})

    assert reason_of(raw) == "expands too much"


def test_a_tree_that_would_take_far_more_memory_than_its_text_is_not_built() -> None:
    assert reason_of(zipped({"a.xml": b"<a>" + b"<b/>" * 2_000_000 + b"</a>"})) == "expands too much"


def test_many_parts_that_are_small_alone_are_too_much_together() -> None:
    raw = bytearray(zipped({f"{number}.xml": "<a/>" for number in range(10)}))
    for number in range(10):
        at = raw.rindex(f"{number}.xml".encode()) - 22
        raw[at : at + 4] = struct.pack("<I", 30 << 20)

    assert reason_of(bytes(raw), "0.xml") == "expands too much"


@pytest.mark.slow
def test_what_was_read_counts_again_when_it_is_read_again() -> None:
    package = ZipPackage(zipped({"a.bin": bytes(16 << 20)}), "a.docx")

    with pytest.raises(SkippedFileError, match="expands too much"):
        [package.read("a.bin") for _ in range(17)]
    with pytest.raises(SkippedFileError, match="expands too much"):
        package.read("a.bin")


def test_a_list_of_too_many_parts_is_not_even_parsed() -> None:
    assert reason_of(b"PK\x03\x04" + b"PK\x01\x02" * 10_001) == "expands too much"


@pytest.mark.slow
@pytest.mark.parametrize("declared", [0, 5, 1 << 20, 0xFFFFFFFE])
def test_a_header_that_lies_about_the_size_gains_nothing(declared: int) -> None:
    raw = bytearray(zipped({"a.xml": BOMB + b"</a>"}))
    size = struct.pack("<I", len(BOMB) + 4)
    at = raw.rindex(size)
    raw[at : at + 4] = struct.pack("<I", declared)

    assert reason_of(bytes(raw)) in {"damaged", "expands too much"}


@pytest.mark.parametrize("offset", [1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
def test_a_part_that_is_said_to_lie_beyond_any_file_is_damage(offset: int) -> None:
    raw = zipped({"a.xml": "<a/>"})
    at = raw.index(b"PK\x01\x02")
    entry, end = bytearray(raw[at : raw.index(b"PK\x05\x06")]), bytearray(raw[-22:])
    in_64_bits = struct.pack("<HHQ", 1, 8, offset)
    entry[30:32], entry[42:46] = struct.pack("<H", len(in_64_bits)), b"\xff" * 4
    end[12:16] = struct.pack("<I", len(entry) + len(in_64_bits))

    assert reason_of(raw[:at] + bytes(entry) + in_64_bits + bytes(end)) == "damaged"


def test_an_encrypted_part_is_named_so() -> None:
    raw = bytearray(zipped({"a.xml": "<a/>"}))
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    raw[6] |= 1

    assert reason_of(bytes(raw)) == "encrypted"


def test_a_compression_that_office_does_not_use_is_refused() -> None:
    raw = bytearray(zipped({"a.xml": "<a/>"}))
    raw[raw.index(b"PK\x01\x02") + 10] = 14

    assert reason_of(bytes(raw)) == "damaged: unknown compression"


def test_what_a_part_refers_to_is_found_inside_of_the_file_only() -> None:
    listing = (
        '<Relationships><Relationship Id="1" Type="t/styles" Target="/w/s%20t.xml"/>'
        '<Relationship Id="2" Type="t/image" Target="../../../m/a.png"/>'
        '<Relationship Id="3" Type="t/link" Target="https://example.org" TargetMode="External"/></Relationships>'
    )
    package = ZipPackage(zipped({"w/_rels/a.xml.rels": listing, "w/s t.xml": "<s/>"}), "a.docx")

    assert package.related("w/a.xml") == {"1": ("styles", "w/s t.xml"), "2": ("image", "m/a.png")}
    assert (package.related_by("w/a.xml", "styles"), package.related_by("w/a.xml", "image")) == ("w/s t.xml", "")
    assert reason_of(zipped({}), "b.xml") == "damaged: no b.xml"
