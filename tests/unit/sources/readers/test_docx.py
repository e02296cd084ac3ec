"""A Word document becomes its text in order, with headings, lists and rows."""

from __future__ import annotations

import io
from typing import Any

import pytest
from docx import Document

from openbook.errors import SkippedFileError
from openbook.sources.readers.course import is_course, read_course
from openbook.sources.readers.docx import read_docx
from tests.unit.sources.readers.zipped_files import changed, docx_of, part_of, zipped


def saved(document: Any) -> bytes:
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def text_of(body: str, **parts: str) -> str:
    return read_docx(docx_of(body, **parts), "a.docx").text


def test_headings_paragraphs_lists_and_tables_come_in_order() -> None:
    document = Document()
    document.add_heading("Bread", 1)
    document.add_paragraph("Needs time.")
    document.add_paragraph("flour", style="List Bullet")
    document.add_paragraph("water", style="List Bullet")
    document.add_heading("Oven", 2)
    table = document.add_table(rows=2, cols=2)
    for cell, words in zip(table._cells, ["loaf", "minutes", "rye", "50"], strict=True):
        cell.text = words
    document.add_paragraph("mix", style="List Number")
    document.add_paragraph("bake", style="List Number")

    reading = read_docx(saved(document), "a.docx")

    assert reading.text == (
        "Bread\f\f\n\nNeeds time.\n\n- flour\n- water\n\nOven\f\f\f\n\nloaf | minutes\nrye | 50\n\n1. mix\n2. bake"
    )
    assert [(block.kind, block.level, block.title) for block in reading.blocks] == [
        ("heading", 1, "Bread"),
        ("text", 0, ""),
        ("text", 0, ""),
        ("heading", 2, "Oven"),
        ("text", 0, ""),
        ("text", 0, ""),
    ]
    assert (reading.kind, reading.language, reading.anchors, reading.remarks) == ("docs", "docx", (), ())


@pytest.mark.slow
def test_a_title_stands_above_all_headings() -> None:
    document = Document()
    document.add_heading("Book", 0)
    document.add_heading("Chapter", 1)

    assert [block.level for block in read_docx(saved(document), "a.docx").blocks] == [1, 2]


@pytest.mark.parametrize(
    "styles",
    [
        pytest.param('<w:name w:val="heading 2"/>', id="localised-id"),
        pytest.param('<w:name w:val="Mine"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr>', id="outline-level"),
        pytest.param('<w:name w:val="Mine"/><w:basedOn w:val="other"/>', id="based-on-a-heading"),
    ],
)
def test_a_heading_is_known_by_its_style_in_any_language(styles: str) -> None:
    other = '<w:style w:styleId="other"><w:name w:val="Heading 2"/></w:style>'
    body = '<w:p><w:pPr><w:pStyle w:val="berschrift2"/></w:pPr><w:r><w:t>Teig</w:t></w:r></w:p>'

    reading = read_docx(docx_of(body, styles=f'{other}<w:style w:styleId="berschrift2">{styles}</w:style>'), "a.docx")

    assert [(block.level, block.title) for block in reading.blocks] == [(2, "Teig")]


def test_a_style_that_is_based_on_itself_ends() -> None:
    styles = (
        '<w:style w:styleId="a"><w:basedOn w:val="b"/></w:style><w:style w:styleId="b"><w:basedOn w:val="a"/></w:style>'
    )

    assert text_of('<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>', styles=styles) == "x"


def test_numbers_of_lists_start_where_they_say_and_again_below_each_item() -> None:
    numbering = (
        '<w:abstractNum w:abstractNumId="7">'
        '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    )
    item = (
        '<w:p><w:pPr><w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>{}</w:t></w:r></w:p>'
    )
    items = "".join(item.format(depth, word) for depth, word in [(0, "a"), (1, "b"), (1, "c"), (0, "d"), (1, "e")])

    assert text_of(items, numbering=numbering) == "3. a\n  a. b\n  b. c\n4. d\n  a. e"


def listed(numbers: str, items: list[tuple[str, int, str]], *levels: str) -> str:
    """Read items of a list, number, depth and words of each, whose numbers share a definition."""
    defined = "".join(f'<w:lvl w:ilvl="{depth}">{level}</w:lvl>' for depth, level in enumerate(levels))
    item = (
        '<w:p><w:pPr><w:numPr><w:ilvl w:val="{}"/><w:numId w:val="{}"/></w:numPr></w:pPr><w:r><w:t>{}</w:t></w:r></w:p>'
    )
    return text_of(
        "".join(item.format(depth, number, words) for number, depth, words in items),
        numbering=f'<w:abstractNum w:abstractNumId="7">{defined}</w:abstractNum>{numbers}',
    )


@pytest.mark.parametrize(
    ("form", "shown", "marks"),
    [
        pytest.param("lowerLetter", "(%1)", ["(a)", "(b)"], id="letters"),
        pytest.param("lowerRoman", "%1.", ["i.", "ii."], id="roman"),
        pytest.param("upperRoman", "%1", ["I", "II"], id="upper-roman"),
        pytest.param("upperLetter", "Part %1:", ["Part A:", "Part B:"], id="words"),
        pytest.param("decimal", "", ["-", "-"], id="not-shown"),
        pytest.param("none", "%1.", ["-", "-"], id="none"),
        pytest.param("ordinal", "%1.", ["1.", "2."], id="another-form"),
    ],
)
def test_numbers_of_a_list_are_those_that_are_shown(form: str, shown: str, marks: list[str]) -> None:
    number = '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    level = f'<w:numFmt w:val="{form}"/><w:lvlText w:val="{shown}"/>'

    text = listed(number, [("1", 0, "mix"), ("1", 0, "bake")], level)

    assert text == f"{marks[0]} mix\n{marks[1]} bake"


def test_a_number_shows_those_of_the_lists_around_it() -> None:
    number = '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    outer = '<w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1."/>'
    inner = '<w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/>{}'
    items = [("1", 0, "a"), ("1", 0, "b"), ("1", 1, "c"), ("1", 1, "d")]

    assert listed(number, items, outer, inner.format("")) == "I. a\nII. b\n  II.1 c\n  II.2 d"
    assert listed(number, items, outer, inner.format("<w:isLgl/>")).endswith("  2.1 c\n  2.2 d")


def test_lists_of_one_definition_count_on_unless_they_say_where_they_begin() -> None:
    number = '<w:num w:numId="{}"><w:abstractNumId w:val="7"/>{}</w:num>'
    anew = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    numbers = number.format(1, "") + number.format(2, "") + number.format(3, anew)

    text = listed(
        numbers,
        [("1", 0, "a"), ("2", 0, "b"), ("3", 0, "c"), ("3", 0, "d"), ("1", 0, "e")],
        '<w:numFmt w:val="decimal"/>',
    )

    assert text == "1. a\n2. b\n5. c\n6. d\n7. e"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        pytest.param("<f><num>{1}</num><den>{2}</den></f>", "1/2", id="fraction"),
        pytest.param("<f><num>{n+1}</num><den>{2}</den></f>", "(n+1)/2", id="fraction-of-terms"),
        pytest.param("<sSup><e>{x}</e><sup>{2}</sup></sSup>", "x^2", id="power"),
        pytest.param("<sSubSup><e>{x}</e><sub>{i}</sub><sup>{n+1}</sup></sSubSup>", "xi^(n+1)", id="index-and-power"),
        pytest.param("<rad><deg>{3}</deg><e>{2}</e></rad>", "3√2", id="root"),
        pytest.param("<sSup><e><d><e>{a+b}</e></d></e><sup>{2}</sup></sSup>", "(a+b)^2", id="parentheses"),
        pytest.param(
            "<d><dPr><begChr val='['/><endChr val=']'/></dPr><e>{a}</e><e>{b}</e></d>", "[a|b]", id="other-ones"
        ),
        pytest.param(
            "<nary><naryPr><chr val='∑'/></naryPr><sub>{i=1}</sub><sup>{n}</sup><e>{i}</e></nary>",
            "∑_(i=1)^n i",
            id="sum",
        ),
        pytest.param("<f><fPr><type val='noBar'/></fPr><num>{n}</num><den>{k}</den></f>", "n k", id="no-fraction"),
    ],
)
def test_a_formula_is_written_on_one_line(formula: str, text: str) -> None:
    made = formula.replace("{", "<r><t>").replace("}", "</t></r>")

    assert text_of(f"<w:p><w:r><w:t>It is </w:t></w:r><oMath>{made}</oMath></w:p>") == f"It is {text}"


RAISED = "<w:rPr><w:vertAlign w:val='superscript'/></w:rPr>"


@pytest.mark.parametrize(
    ("paragraph", "text"),
    [
        pytest.param("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r>", "a\tb\nc", id="tab-and-break"),
        pytest.param("<w:ins><w:r><w:t>new</w:t></w:r></w:ins>", "new", id="inserted"),
        pytest.param("<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:r><w:t>x</w:t></w:r>", "x", id="deleted"),
        pytest.param("<w:moveFrom><w:r><w:t>x</w:t></w:r></w:moveFrom><w:r><w:t>y</w:t></w:r>", "y", id="moved-away"),
        pytest.param("<w:r><w:rPr><w:vanish/></w:rPr><w:t>x</w:t></w:r><w:r><w:t>y</w:t></w:r>", "y", id="hidden"),
        pytest.param("<w:r><w:rPr><w:vanish w:val='0'/></w:rPr><w:t>x</w:t></w:r>", "x", id="not-hidden"),
        pytest.param("<w:r><w:rPr><w:webHidden/></w:rPr><w:t>x</w:t></w:r>", "x", id="hidden-on-the-web-alone"),
        pytest.param("<w:hyperlink r:id='r9'><w:r><w:t>link</w:t></w:r></w:hyperlink>", "link", id="hyperlink"),
        pytest.param("<w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>7</w:t></w:r>", "7", id="field"),
        pytest.param("<w:sdt><w:sdtContent><w:r><w:t>x</w:t></w:r></w:sdtContent></w:sdt>", "x", id="content-control"),
        pytest.param("<w:r><w:t>co\u00adop</w:t><w:noBreakHyphen/><w:t>x</w:t></w:r>", "coop-x", id="hyphens"),
        pytest.param("<w:r><w:t>a</w:t><w:ptab/><w:t>b</w:t></w:r>", "a\tb", id="tab-of-a-margin"),
        pytest.param(
            f"<w:r><w:t>10</w:t></w:r><w:r>{RAISED}<w:t>-</w:t></w:r><w:r>{RAISED}<w:t>6</w:t></w:r>",
            "10^-6",
            id="power",
        ),
        pytest.param(f"<w:r><w:t>H.</w:t></w:r><w:r>{RAISED}<w:t>3</w:t></w:r>", "H.^3", id="raised-behind-a-sign"),
        pytest.param(f"<w:r><w:t>5</w:t></w:r><w:r>{RAISED}<w:t>th</w:t></w:r>", "5th", id="raised-letters"),
        pytest.param(f"<w:r>{RAISED}<w:t>1</w:t></w:r><w:r><w:t> Note</w:t></w:r>", "1 Note", id="raised-first"),
        pytest.param(
            f"<w:r><w:t>H</w:t></w:r><w:r>{RAISED.replace('super', 'sub')}<w:t>2</w:t></w:r>", "H2", id="lowered"
        ),
        pytest.param(
            "<w:r><w:t>180 </w:t><w:sym w:font='Symbol' w:char='F0B0'/><w:t>C</w:t></w:r>", "180 °C", id="sign"
        ),
        pytest.param("<w:r><w:sym w:font='Symbol' w:char='F06C'/><w:sym w:char='2713'/></w:r>", "λ✓", id="letters"),
        pytest.param("<w:r><w:sym w:font='Wingdings' w:char='F0B0'/><w:sym/></w:r>", "\ufffd\ufffd", id="unknown"),
        pytest.param("<w:r><w:t>שלום 👩‍🍳 مرحبا</w:t></w:r>", "שלום 👩‍🍳 مرحبا", id="other-scripts"),
    ],
)
def test_a_paragraph_reads_as_it_would_be_printed(paragraph: str, text: str) -> None:
    assert text_of(f"<w:p>{paragraph}</w:p>") == text


@pytest.mark.parametrize(
    ("paragraph", "run", "text"),
    [
        pytest.param("", "<w:rStyle w:val='secret'/>", "", id="style-of-characters"),
        pytest.param("<w:pStyle w:val='child'/>", "", "", id="style-that-its-own-is-based-on"),
        pytest.param("<w:pStyle w:val='child'/>", "<w:vanish w:val='false'/>", "x", id="shown-again"),
        pytest.param("<w:pStyle w:val='shown'/>", "<w:b/>", "x", id="style-that-shows-it-again"),
    ],
)
def test_a_style_can_hide_text(paragraph: str, run: str, text: str) -> None:
    styles = (
        "<w:style w:styleId='secret' w:type='character'><w:rPr><w:vanish/></w:rPr></w:style>"
        "<w:style w:styleId='child'><w:basedOn w:val='secret'/></w:style>"
        "<w:style w:styleId='shown'><w:basedOn w:val='secret'/><w:rPr><w:vanish w:val='off'/></w:rPr></w:style>"
    )
    body = f"<w:p><w:pPr>{paragraph}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>x</w:t></w:r></w:p>"

    assert text_of(body, styles=styles) == text


@pytest.mark.parametrize("change", ["del", "moveFrom"])
@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param("{gone}<w:p><w:r><w:t> time.</w:t></w:r></w:p>", "Rye needs time.", id="next"),
        pytest.param("{gone}<w:bookmarkEnd/>{gone}<w:p><w:r><w:t>.</w:t></w:r></w:p>", "Rye needsRye needs.", id="two"),
        pytest.param("{gone}<w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl><w:p/>", "Rye needs", id="table"),
        pytest.param("<w:p/>{gone}", "Rye needs", id="last"),
        pytest.param(
            "<w:tbl><w:tr><w:tc>{gone}<w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc></w:tr></w:tbl>", "Rye needsx", id="cell"
        ),
    ],
)
def test_a_paragraph_whose_mark_was_deleted_goes_on_in_the_next_one(change: str, body: str, text: str) -> None:
    mark = f"<w:pPr><w:rPr><w:{change}/></w:rPr></w:pPr>"
    gone = f"<w:p>{mark}<w:r><w:t>Rye needs</w:t></w:r><w:del><w:r><w:delText>x</w:delText></w:r></w:del></w:p>"

    assert text_of(body.format(gone=gone)) == text


def test_what_is_left_of_a_deleted_paragraph_has_the_style_of_the_next_one() -> None:
    gone = "<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>Rye </w:t></w:r></w:p>"
    heading = "<w:p><w:pPr><w:outlineLvl w:val='0'/></w:pPr><w:r><w:t>bread</w:t></w:r></w:p>"

    blocks = read_docx(docx_of(gone + heading), "a.docx").blocks

    assert [(block.kind, block.title) for block in blocks] == [("heading", "Rye bread")]


@pytest.mark.parametrize("around", ["{}", "<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>"], ids=["paragraph", "cell"])
def test_notes_that_cite_each_other_are_read_once_each(around: str) -> None:
    def citing(number: int, words: str) -> str:
        reference = f"<w:r><w:footnoteReference w:id='{number}'/></w:r>"
        return f"<w:p>{reference}<w:r><w:t>{words}</w:t></w:r>{reference}</w:p>"

    numbers = range(1, 31)
    notes = "".join(f"<w:footnote w:id='{n}'>{citing(n % 30 + 1, f'note{n}')}</w:footnote>" for n in numbers)

    text = text_of(around.format(citing(1, "said")), footnotes=notes)

    assert text.split() == ["said", *(f"note{number}" for number in numbers)]


def test_notes_and_text_boxes_follow_their_paragraph_once() -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent>"
    body = (
        f"<w:p><w:r><w:t>said</w:t></w:r><w:r><w:footnoteReference w:id='2'/></w:r><w:r><w:AlternateContent>"
        f"<w:Choice>{box}</w:Choice><w:Fallback>{box}</w:Fallback></w:AlternateContent></w:r></w:p>"
        "<w:p><w:r><w:t>next</w:t></w:r></w:p>"
    )
    notes = "<w:footnote w:id='2'><w:p><w:r><w:t>note</w:t></w:r></w:p></w:footnote>"

    assert text_of(body, footnotes=notes) == "said\n\nnote\n\nbox\n\nnext"


def test_a_cell_is_read_with_all_its_paragraphs_and_the_table_in_it() -> None:
    inner = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>in</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    note = "<w:r><w:footnoteReference w:id='2'/></w:r>"
    notes = "<w:footnote w:id='2'><w:p><w:r><w:t>note</w:t></w:r></w:p></w:footnote>"
    control = "<w:sdt><w:sdtContent><w:tc><w:p><w:r><w:t>c</w:t></w:r></w:p></w:tc></w:sdtContent></w:sdt>"
    cell = f"<w:tc><w:p><w:r><w:t>a</w:t></w:r>{note}</w:p>{inner}<w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc>"
    gone = "<w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p><w:r><w:t>gone</w:t></w:r></w:p></w:tc></w:tr>"

    text = text_of(f"<w:tbl><w:tr>{cell}<w:tc><w:p/></w:tc>{control}</w:tr>{gone}</w:tbl>", footnotes=notes)

    assert text == "a in b note |  | c"


def test_lines_of_a_listing_are_one_block_of_code_with_their_indentation() -> None:
    styles = '<w:style w:styleId="C"><w:name w:val="HTML Preformatted"/></w:style>'
    line = '<w:p><w:pPr><w:pStyle w:val="C"/></w:pPr><w:r><w:t>{}</w:t></w:r></w:p>'
    body = "".join(map(line.format, ["", "if a:", "    b()", "", "c()", ""])) + "<w:p><w:r><w:t>x</w:t></w:r></w:p>"

    reading = read_docx(docx_of(body, styles=styles), "a.docx")

    assert [(block.kind, reading.text[block.start_char : block.end_char]) for block in reading.blocks] == [
        ("code", "if a:\n    b()\n\nc()"),
        ("text", "x"),
    ]


def test_a_table_of_contents_is_left_out() -> None:
    styles = '<w:style w:styleId="V1"><w:name w:val="toc 1"/></w:style>'
    entry = '<w:p><w:pPr><w:pStyle w:val="V1"/></w:pPr><w:r><w:t>Bread 4</w:t></w:r></w:p>'

    assert text_of(f"{entry}<w:p><w:r><w:t>x</w:t></w:r></w:p>", styles=styles) == "x"


@pytest.mark.slow
def test_ten_thousand_rows_are_read_row_by_row() -> None:
    row = "<w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr>"

    reading = read_docx(docx_of(f"<w:tbl>{row * 10_000}</w:tbl>"), "a.docx")

    assert reading.text.count("a | b\n") == 9_999
    assert len(reading.blocks) == 1


def test_a_document_of_pictures_is_remarked_on() -> None:
    picture = docx_of("<w:p><w:r><w:drawing/></w:r></w:p>")

    assert read_docx(picture, "a.docx").remarks == ("no text, only pictures",)
    assert read_docx(saved(Document()), "a.docx").remarks == ()


@pytest.mark.parametrize("style", ["Heading 1", "Normal"])
def test_course_material_is_recognised_in_its_text(style: str) -> None:
    document = Document()
    for line in ["Course Title: Bread", "Course Link: https://example.org", "Course Instructor: Ada"]:
        document.add_paragraph(line)
    for number, words in enumerate(["Flour", "Oven"]):
        document.add_paragraph(f"Lesson {number}: {words}", style=style)
        document.add_paragraph(f"Lesson Link: https://example.org/{number}")
        document.add_paragraph("Said here.")

    text = read_docx(saved(document), "a.docx").text
    lessons = [block.lesson for block in read_course(text, "a.docx").blocks if block.level and block.lesson]

    assert is_course(text)
    assert [(lesson.course, lesson.number, lesson.title, lesson.link) for lesson in lessons] == [
        ("Bread", 0, "Flour", "https://example.org/0"),
        ("Bread", 1, "Oven", "https://example.org/1"),
    ]


def test_the_strict_form_is_read_like_the_usual_one() -> None:
    raw = docx_of("<w:p><w:r><w:t>x</w:t></w:r></w:p>")
    listing = part_of(raw, "_rels/.rels").replace(
        "schemas.openxmlformats.org/officeDocument/2006/relationships",
        "purl.oclc.org/ooxml/officeDocument/relationships",
    )

    assert read_docx(changed(raw, {"_rels/.rels": listing}), "a.docx").text == "x"


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        pytest.param({"x": "y"}, "not a Word file", id="no-relations"),
        pytest.param({"word/document.xml": None}, "not a Word file", id="no-body"),
        pytest.param({"word/document.xml": "<a/>"}, "not a Word file", id="other-content"),
        pytest.param({"word/document.xml": "<a>"}, "damaged: cannot parse the XML of word/document.xml", id="bad-xml"),
        pytest.param({"_rels/.rels": "<a" }, "damaged: cannot parse the XML of _rels/.rels", id="bad-relations"),
    ],
)  # fmt: skip
def test_an_invalid_word_document_is_skipped_with_a_reason(parts: dict[str, str | None], reason: str) -> None:
    whole = {} if "x" in parts else parts
    raw = zipped({"x": "y"}) if "x" in parts else changed(docx_of(""), whole)

    with pytest.raises(SkippedFileError) as caught:
        read_docx(raw, "a.docx")

    assert (caught.value.location, caught.value.reason) == ("a.docx", reason)
