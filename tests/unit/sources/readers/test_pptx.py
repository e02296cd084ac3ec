"""A presentation becomes the text of its slides, each at its number."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from openbook.errors import SkippedFileError
from openbook.sources.readers.pptx import read_pptx
from openbook.types import Anchor
from tests.unit.sources.readers.zipped_files import changed, part_of

BLANK, TITLE_AND_CONTENT, TITLE_ONLY = 6, 1, 5
ONE_INCH = Inches(1)
BOX = (ONE_INCH, ONE_INCH, ONE_INCH, ONE_INCH)


def saved(presentation: Any) -> bytes:
    stream = io.BytesIO()
    presentation.save(stream)
    return stream.getvalue()


def slide(presentation: Any, layout: int, title: str = "") -> Any:
    added = presentation.slides.add_slide(presentation.slide_layouts[layout])
    if title:
        added.shapes.title.text = title
    return added


def pixel() -> io.BytesIO:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return io.BytesIO(b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b""))


def test_slides_are_titles_lists_and_notes_at_their_numbers() -> None:
    presentation = Presentation()
    first = slide(presentation, TITLE_AND_CONTENT, "Bread")
    first.placeholders[1].text = "flour\nwater"
    first.placeholders[1].text_frame.paragraphs[1].level = 1
    first.notes_slide.notes_text_frame.text = "Say why.\nThen bake."
    slide(presentation, BLANK)
    slide(presentation, TITLE_ONLY, "Oven")

    reading = read_pptx(saved(presentation), "a.pptx")

    assert reading.text == "Bread\f\f\n\n- flour\n  - water\n\nSay why.\n\nThen bake.\n\nOven\f\f"
    assert reading.anchors == (Anchor(0, "slide 1"), Anchor(reading.text.index("Oven"), "slide 3"))
    assert [(block.kind, block.level, block.title) for block in reading.blocks if block.level] == [
        ("heading", 1, "Bread"),
        ("heading", 1, "Oven"),
    ]
    assert (reading.kind, reading.language, reading.remarks) == ("docs", "pptx", ())


def test_the_title_comes_first_then_groups_and_tables_as_they_stand() -> None:
    presentation = Presentation()
    added = slide(presentation, TITLE_ONLY, "Title")
    group = added.shapes.add_group_shape()
    group.shapes.add_textbox(*BOX).text_frame.text = "in a group"
    group.shapes.add_group_shape().shapes.add_textbox(*BOX).text_frame.text = "in a group of it"
    table = added.shapes.add_table(2, 2, *BOX).table
    for cell, words in zip(table.iter_cells(), ["loaf", "minutes", "rye", "50\nor 60"], strict=True):
        cell.text = words
    title = added.shapes.title._element
    title.getparent().append(title)

    text = read_pptx(saved(presentation), "a.pptx").text

    assert text == "Title\f\f\n\nin a group\n\nin a group of it\n\nloaf | minutes\nrye | 50 or 60"


def test_slides_that_only_show_something_are_remarked_on() -> None:
    presentation = Presentation()
    slide(presentation, TITLE_ONLY, "Words")
    slide(presentation, BLANK).shapes.add_picture(pixel(), ONE_INCH, ONE_INCH)
    slide(presentation, BLANK)
    chart = CategoryChartData()  # type: ignore[no-untyped-call]
    chart.categories = ["a"]
    chart.add_series("s", (1,))  # type: ignore[no-untyped-call]
    slide(presentation, BLANK).shapes.add_chart(XL_CHART_TYPE.PIE, *BOX, chart)

    assert read_pptx(saved(presentation), "a.pptx").remarks == ("no text on slides 2 and 4",)


def test_slide_number_placeholders_are_left_out() -> None:
    presentation = Presentation()
    added = slide(presentation, TITLE_AND_CONTENT, "Title")
    added.placeholders[1].text = "7"
    raw = saved(presentation)
    part = part_of(raw, "ppt/slides/slide1.xml")

    numbered = changed(raw, {"ppt/slides/slide1.xml": part.replace('<p:ph idx="1"/>', '<p:ph type="sldNum" idx="1"/>')})

    assert read_pptx(numbered, "a.pptx").text == "Title\f\f"


def test_numbers_of_a_list_are_counted_and_breaks_kept() -> None:
    presentation = Presentation()
    box = slide(presentation, BLANK).shapes.add_textbox(*BOX).text_frame
    box.text = "mix\nbake\nWell\vdone\n\u200fשלם 🍞"
    for paragraph in box.paragraphs[:2]:
        properties = paragraph._p.get_or_add_pPr()
        properties.append(properties.makeelement(f"{{{properties.nsmap['a']}}}buAutoNum", {"type": "arabicPeriod"}))

    assert read_pptx(saved(presentation), "a.pptx").text == "1. mix\n2. bake\n\nWell\ndone\n\n\u200fשלם 🍞"


OTHER_FORMS = [("z", 0, {"type": "romanUcParenR", "startAt": "4"}), ("w", 0, {"type": "arabicPlain"})]


@pytest.mark.parametrize(
    ("items", "text"),
    [
        pytest.param(
            [("Mix", 0, {}), ("flour", 1, None), ("Knead", 0, {}), ("hard", 1, {}), ("Bake", 0, {}), ("hot", 1, {})],
            "1. Mix\n  - flour\n2. Knead\n  1. hard\n3. Bake\n  1. hot",
            id="each-level-counts",
        ),
        pytest.param(
            [("Mix", 0, {}), ("Note", 0, None), ("Knead", 0, {})], "1. Mix\n- Note\n1. Knead", id="a-bullet-ends-it"
        ),
        pytest.param(
            [("c", 0, {"startAt": "3"}), ("d", 0, {"startAt": "3"}), ("e", 0, {"startAt": "x"})],
            "3. c\n4. d\n1. e",
            id="begins-later",
        ),
        pytest.param(
            [("x", 0, {"type": "alphaLcParenBoth"}), ("y", 0, {"type": "alphaLcParenBoth"}), *OTHER_FORMS],
            "(a) x\n(b) y\nIV) z\n1 w",
            id="as-it-is-shown",
        ),
    ],
)
def test_numbers_of_a_list_are_those_that_are_shown(
    items: list[tuple[str, int, dict[str, str] | None]], text: str
) -> None:
    presentation = Presentation()
    box = slide(presentation, BLANK).shapes.add_textbox(*BOX).text_frame
    box.text = "\n".join(words for words, _, _ in items)
    for paragraph, (_, level, numbering) in zip(box.paragraphs, items, strict=True):
        paragraph.level = level
        properties = paragraph._p.get_or_add_pPr()
        kind, values = ("buChar", {"char": "o"}) if numbering is None else ("buAutoNum", numbering)
        properties.append(properties.makeelement(f"{{{properties.nsmap['a']}}}{kind}", values))

    assert read_pptx(saved(presentation), "a.pptx").text == text


def test_raised_numbers_and_formulas_are_written_on_one_line() -> None:
    presentation = Presentation()
    slide(presentation, BLANK).shapes.add_textbox(*BOX).text_frame.text = "PLACE"
    raw = saved(presentation)
    run = "<a:r><a:rPr baseline='{}'/><a:t>{}</a:t></a:r>"
    half = "<oMath><f><num><r><t>1</t></r></num><den><r><t>2</t></r></den></f></oMath>"
    runs = (
        f"{run.format(0, '10')}{run.format(30000, '6')}{run.format(0, ' H')}{run.format(-25000, '2')}"
        f"<AlternateContent><Choice>{half}</Choice><Fallback>{half}</Fallback></AlternateContent>"
    )
    part = part_of(raw, "ppt/slides/slide1.xml").replace("<a:r><a:t>PLACE</a:t></a:r>", runs)

    assert read_pptx(changed(raw, {"ppt/slides/slide1.xml": part}), "a.pptx").text == "10^6 H21/2"


def test_the_words_of_a_diagram_are_read() -> None:
    presentation = Presentation()
    slide(presentation, BLANK)
    raw = saved(presentation)
    listing = part_of(raw, "ppt/slides/_rels/slide1.xml.rels")
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    point = "<pt><t><p><r><t>{}</t></r></p></t></pt>"
    frame = f'<p:graphicFrame><d:relIds xmlns:d="d" xmlns:r="{kind}" r:dm="r77"/></p:graphicFrame></p:spTree>'
    parts = {
        "ppt/slides/slide1.xml": part_of(raw, "ppt/slides/slide1.xml").replace("</p:spTree>", frame),
        "ppt/slides/_rels/slide1.xml.rels": listing.replace(
            "</Relationships>",
            f'<Relationship Id="r77" Type="{kind}/diagramData" Target="../diagrams/d.xml"/></Relationships>',
        ),
        "ppt/diagrams/d.xml": f"<m>{point.format('mix')}{point.format('bake')}</m>",
    }

    assert read_pptx(changed(raw, parts), "a.pptx").text == "- mix\n- bake"


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        pytest.param({"ppt/slides/slide1.xml": None}, "damaged: no slide 1", id="slide-gone"),
        pytest.param({"ppt/presentation.xml": None}, "not a PowerPoint file", id="list-gone"),
        pytest.param({"ppt/presentation.xml": "<w/>"}, "not a PowerPoint file", id="other-content"),
        pytest.param(
            {"ppt/slides/slide1.xml": "<cSld>" * 9_000 + "</cSld>" * 9_000}, "nested too deeply", id="deep"
        ),
    ],
)  # fmt: skip
def test_what_is_no_presentation_is_skipped_with_a_reason(parts: dict[str, str | None], reason: str) -> None:
    presentation = Presentation()
    slide(presentation, BLANK)
    raw = changed(saved(presentation), parts)

    with pytest.raises(SkippedFileError) as caught:
        read_pptx(raw, "a.pptx")

    assert caught.value.reason == reason
