"""How spreadsheets are read: rows that say what their columns are called, and anchors of sheet and cells."""

from __future__ import annotations

import pytest

from openbook.chunking.dispatch import chunk_document
from openbook.errors import SkippedFileError
from openbook.sources.documents import read_document
from openbook.types import Document
from tests.unit.sources.readers.zipped_files import relations, zipped

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"


def xlsx(**sheets: str) -> bytes:
    """Make a workbook of the XML of the rows of its sheets."""
    listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1))
    related = "".join(
        f'<Relationship Id="r{n}" Type="{_OFFICE}/worksheet" Target="worksheets/{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    return zipped(
        {
            "_rels/.rels": relations(officeDocument="xl/workbook.xml"),
            "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELATIONS}">{related}</Relationships>',
            **{
                f"xl/worksheets/{n}.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
                for n, rows in enumerate(sheets.values(), 1)
            },
        }
    )


def row(number: int, *values: object, first: str = "A") -> str:
    """Write a row whose cells stand side by side."""
    cells = ""
    for place, value in enumerate(values):
        name = f"{chr(ord(first) + place)}{number}"
        if isinstance(value, str):
            cells += f'<c r="{name}" t="inlineStr"><is><t>{value}</t></is></c>'
        elif value is not None:
            cells += f'<c r="{name}"><v>{value}</v></c>'
    return f'<row r="{number}">{cells}</row>'


def read(raw: bytes, path: str = "a.xlsx") -> Document:
    return read_document(raw, source="s", path=path)


CITIES = row(1, "City", "People") + row(2, "Bonn", 330000) + row(3, "Kiel", None) + row(4, "Ulm", 0.5)


def test_each_row_says_what_its_columns_are_called_and_is_cited_by_its_cells() -> None:
    document = read(xlsx(Cities=CITIES))

    chunks = chunk_document(document)
    assert [(chunk.anchor, chunk.text) for chunk in chunks] == [
        ("Cities!A1:B1", "Cities\f\f\n\nCity | People"),
        ("Cities!A2:B2", "City: Bonn | People: 330000"),
        ("Cities!A3:B3", "City: Kiel"),
        ("Cities!A4:B4", "City: Ulm | People: 0.5"),
    ]
    assert {chunk.context for chunk in chunks} == {("Cities",)}
    assert all(document.text[chunk.span.start_char : chunk.span.end_char] == chunk.text for chunk in chunks)


def test_rows_without_titles_are_given_as_they_are_where_they_stand() -> None:
    document = read(xlsx(Plan=row(5, 1, "x", first="C") + row(6, "y", first="C")))

    assert document.text == "Plan\f\f\n\n1 | x\n\ny |"
    assert [anchor.label for anchor in document.anchors] == ["Plan!C5:D5", "Plan!C6:D6"]


def test_many_rows_share_anchors_of_ten() -> None:
    rows = "".join(row(number, f"Town {number}", number) for number in range(2, 2103))
    document = read(xlsx(Cities=row(1, "City", "People") + rows))

    labels = [anchor.label for anchor in document.anchors]
    assert labels[:3] == ["Cities!A1:B1", "Cities!A2:B11", "Cities!A12:B21"]
    assert labels[-1] == "Cities!A2102:B2102"


def test_an_anchor_of_ten_rows_reaches_to_the_last_of_them_past_blank_ones() -> None:
    rows = "".join(row(number, f"Town {number}", number) for number in range(2, 4302, 2))
    document = read(xlsx(Cities=row(1, "City", "People") + rows))

    tenth = document.text.index("City: Town 20 |")
    assert [anchor.label for anchor in document.anchors][1:3] == ["Cities!A2:B20", "Cities!A22:B40"]
    assert document.anchors[1].start_char < tenth < document.anchors[2].start_char


@pytest.mark.slow
def test_a_sheet_behind_more_rows_than_are_read_is_remarked_on() -> None:
    rows = "".join(f'<row r="{number}"><c><v>1</v></c></row>' for number in range(1, 50_001))
    document = read(xlsx(Long=rows, Short=row(1, "x")))

    assert document.remarks == ("only the first 50,000 rows are read; not all of Short",)


def test_sheets_that_say_nothing_are_remarked_on() -> None:
    document = read(xlsx(Cities=CITIES, Charts=""))

    assert document.remarks == ("nothing read of sheets without cells, or too wide: Charts",)


@pytest.mark.parametrize("raw", [b"words", b"PK\x03\x04 words", xlsx(Cities=CITIES)[:700]])
def test_an_invalid_workbook_is_refused(raw: bytes) -> None:
    with pytest.raises(SkippedFileError) as refused:
        read(raw)

    assert refused.value.reason in {"not an XLSX file", "damaged"}


def test_a_workbook_with_damaged_parts_says_so() -> None:
    raw = zipped({"xl/workbook.xml": "<workbook", "xl/_rels/workbook.xml.rels": "<x"})

    with pytest.raises(SkippedFileError) as refused:
        read(raw)

    assert refused.value.reason.startswith("damaged: ")


def test_a_table_in_text_gives_its_titles_to_each_chunk() -> None:
    text = "city,people\n" + "".join(f"Town {number},{number}\n" for number in range(400))
    chunks = chunk_document(read(text.encode(), "a.csv"))

    assert len(chunks) > 1
    assert {chunk.context for chunk in chunks} == {("city,people",)}
    assert {chunk.context for chunk in chunk_document(read(b"1,2\n3,4\n", "b.csv"))} == {()}
