"""An OpenDocument text becomes its text in order, with headings, lists and rows."""

from __future__ import annotations

import pytest

from openbook.errors import SkippedFileError
from openbook.sources.readers.course import is_course
from openbook.sources.readers.odt import read_odt
from tests.unit.sources.readers.zipped_files import odt_of, zipped


def text_of(body: str, styles: str = "") -> str:
    return read_odt(odt_of(body, styles), "a.odt").text


def test_headings_paragraphs_lists_and_tables_come_in_order() -> None:
    cell = "<tb:table-cell><t:p>{}</t:p></tb:table-cell>"
    row = f"<tb:table-row>{cell}{cell}</tb:table-row>"
    table = f"<tb:table-header-rows>{row.format('loaf', 'minutes')}</tb:table-header-rows>{row.format('rye', '50')}"
    items = "<t:list-item><t:p>flour</t:p><t:list><t:list-item><t:p>rye</t:p></t:list-item></t:list></t:list-item>"
    body = (
        f"<t:h t:outline-level='2'>Bread</t:h><t:section><t:p>Needs <t:span>time</t:span>.</t:p></t:section>"
        f"<t:list>{items}</t:list><tb:table>{table}</tb:table><t:h>Oven</t:h>"
    )

    reading = read_odt(odt_of(body), "a.odt")

    assert reading.text == "Bread\f\f\f\n\nNeeds time.\n\n- flour\n  - rye\n\nloaf | minutes\nrye | 50\n\nOven\f\f"
    assert [(block.level, block.title) for block in reading.blocks if block.level] == [(2, "Bread"), (1, "Oven")]
    assert (reading.kind, reading.language, reading.anchors, reading.remarks) == ("docs", "odt", (), ())


def test_a_numbered_list_keeps_its_numbers() -> None:
    style = '<t:list-style t:name="L1"><t:list-level-style-number t:num-suffix="."/></t:list-style>'
    items = "<t:list-item><t:p>mix</t:p></t:list-item><t:list-item><t:p>bake</t:p></t:list-item>"

    assert text_of("<t:list><t:list-item><t:h>Bread</t:h></t:list-item></t:list>") == "Bread\f\f"
    assert text_of(f'<t:list t:style-name="L1">{items}</t:list>', style) == "1. mix\n2. bake"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param(
            "<t:list t:id='1' {s}>{a}{b}</t:list><t:p>x</t:p><t:list t:continue-list='1' {s}>{c}</t:list>",
            "1) a\n2) b\n\nx\n\n3) c",
            id="goes-on-with-a-list",
        ),
        pytest.param(
            "<t:list {s}>{a}{b}</t:list><t:p>x</t:p><t:list t:continue-numbering='true' {s}>{c}</t:list>",
            "1) a\n2) b\n\nx\n\n3) c",
            id="goes-on",
        ),
        pytest.param("<t:list {s}>{a}</t:list><t:list {s}>{b}</t:list>", "1) a\n1) b", id="begins-again"),
        pytest.param(
            "<t:list {s}>{a}<t:list-item t:start-value='7'><t:p>b</t:p></t:list-item>{c}</t:list>",
            "1) a\n7) b\n8) c",
            id="jumps",
        ),
        pytest.param(
            "<t:list {s}><t:list-item><t:p>a</t:p><t:p>more</t:p></t:list-item>{b}</t:list>",
            "1) a\n\nmore\n\n2) b",
            id="two-paragraphs",
        ),
        pytest.param(
            "<t:list {s}><t:list-header><t:p>head</t:p></t:list-header>{a}</t:list>", "head\n\n1) a", id="header"
        ),
        pytest.param(
            "<t:list {s}>{a}<t:list-item><t:list>{b}{c}</t:list></t:list-item>{a}<t:list-item><t:p>d</t:p>"
            "<t:list>{b}</t:list></t:list-item></t:list>",
            "1) a\n  (1.c) b\n  (1.d) c\n2) a\n3) d\n  (3.c) b",
            id="lists-within",
        ),
        pytest.param("<t:list t:style-name='L2'>{a}<t:list-item><t:list>{b}</t:list></t:list-item></t:list>",
                     "- a\n  I b", id="another-style-within"),
    ],
)  # fmt: skip
def test_numbers_of_a_list_are_those_that_are_shown(body: str, text: str) -> None:
    styles = (
        '<t:list-style t:name="L1"><t:list-level-style-number t:level="1" t:num-format="1" t:num-suffix=")"/>'
        '<t:list-level-style-number t:level="2" t:num-format="a" t:num-prefix="(" t:num-suffix=")" t:start-value="3"'
        ' t:display-levels="2"/></t:list-style><t:list-style t:name="L2"><t:list-level-style-number t:num-format=""/>'
        '<t:list-level-style-number t:num-format="I"/></t:list-style>'
    )
    items = {words: f"<t:list-item><t:p>{words}</t:p></t:list-item>" for words in "abc"}

    assert text_of(body.format(s="t:style-name='L1'", **items), styles) == text


@pytest.mark.parametrize(
    ("position", "text"),
    [("super 58%", "10^6 cells"), ("33% 58%", "10^6 cells"), ("sub 58%", "106 cells"), ("-33% 58%", "106 cells")],
)
def test_a_raised_number_is_no_digit_of_the_one_before(position: str, text: str) -> None:
    style = f'<o:style t:name="T1"><o:text-properties t:text-position="{position}"/></o:style>'

    assert text_of('<t:p>10<t:span t:style-name="T1">6</t:span> cells</t:p>', style) == text


@pytest.mark.parametrize(
    ("paragraph", "text"),
    [
        pytest.param("a<t:s t:c='2'/>b<t:tab/>c<t:line-break/>d", "a  b\tc\nd", id="white-space"),
        pytest.param("a<t:s t:c='999999999999'/>b<t:s t:c='x'/>c", "a b c", id="counts-that-cannot-be"),
        pytest.param("see <t:a>the <t:span>link</t:span></t:a> now", "see the link now", id="link"),
        pytest.param("x<o:annotation><t:p>remark</t:p></o:annotation>y", "xy", id="comment"),
        pytest.param("a<t:note><t:note-citation>1</t:note-citation><t:note-body><t:p>why</t:p></t:note-body></t:note>b",
                     "ab\n\nwhy", id="note"),
        pytest.param("a<d:frame><d:text-box><t:p>box</t:p></d:text-box></d:frame>", "a\n\nbox", id="text-box"),
        pytest.param("a<d:custom-shape><t:p>in</t:p><t:p>it</t:p></d:custom-shape> b", "a b\n\nin\n\nit", id="shape"),
        pytest.param("‮שלום 🍞", "‮שלום 🍞", id="other-scripts"),
    ],
)  # fmt: skip
def test_a_paragraph_reads_as_it_would_be_printed(paragraph: str, text: str) -> None:
    assert text_of(f"<t:p>{paragraph}</t:p>") == text


@pytest.mark.parametrize("style", ["Preformatted_20_Text", "P7"])
def test_a_listing_is_code_by_its_style_or_that_of_its_parent(style: str) -> None:
    made = '<o:style t:name="P7" t:parent-style-name="Preformatted_20_Text"/>'
    body = f'<t:p t:style-name="{style}">if a:</t:p><t:p t:style-name="{style}"><t:s t:c="4"/>b()</t:p>'

    reading = read_odt(odt_of(body, made), "a.odt")

    assert reading.text == "if a:\n    b()"
    assert [block.kind for block in reading.blocks] == ["code"]


@pytest.mark.parametrize("name", ["tracked-changes", "table-of-content"])
def test_deleted_and_generated_parts_are_left_out(name: str) -> None:
    assert text_of(f"<t:{name}><t:p>no</t:p></t:{name}><t:p>yes</t:p>") == "yes"


def test_a_table_in_a_cell_is_read_once() -> None:
    inner = "<tb:table><tb:table-row><tb:table-cell><t:p>in</t:p></tb:table-cell></tb:table-row></tb:table>"
    note = "<t:note><t:note-body><t:p>note</t:p></t:note-body></t:note>"
    outer = (
        f"<tb:table><tb:table-row><tb:table-cell><t:p>a{note}</t:p>{inner}</tb:table-cell></tb:table-row></tb:table>"
    )

    assert text_of(outer) == "a in note"


def test_course_material_is_recognised_in_its_text() -> None:
    assert is_course(text_of("<t:p>Course Title: Bread</t:p><t:h>Lesson 0: Flour</t:h><t:p>Said.</t:p>"))


def test_a_document_of_pictures_is_remarked_on() -> None:
    assert read_odt(odt_of("<t:p><d:image/></t:p>"), "a.odt").remarks == ("no text, only pictures",)
    assert read_odt(odt_of(""), "a.odt").remarks == ()


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        pytest.param(zipped({"x": "y"}), "not an OpenDocument file", id="no-content"),
        pytest.param(zipped({"content.xml": "<a><body><sheet/></body></a>"}), "not an OpenDocument file", id="a-table"),
        pytest.param(odt_of("", manifest="<m><encryption-data/></m>"), "encrypted", id="encrypted"),
    ],
)
def test_what_is_no_such_text_is_skipped_with_a_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(SkippedFileError) as caught:
        read_odt(raw, "a.odt")

    assert caught.value.reason == reason
