"""What a file is, by its bytes; what it claims to be, by its name."""

from __future__ import annotations

import json

import pytest

from openbook.answers import GenerationResult, has_lines
from openbook.errors import SkippedFileError
from openbook.evals.questions import EvalQuestion
from openbook.evals.runs import EvalRun
from openbook.sources.documents import read_document
from openbook.sources.formats import BINARY_FORMATS, binary_format, may_be_binary, own_output
from openbook.types import Chunk, RetrievalResult, SkipReason, Span
from tests.unit.sources.readers.pdf_files import FACT, lines, pdf, text
from tests.unit.sources.readers.zipped_files import zipped

OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
ENCRYPTED_OFFICE = OLD_OFFICE + "EncryptedPackage".encode("utf-16-le")


def stored(mimetype: bytes) -> bytes:
    """Return the beginning of a zip whose first entry is an uncompressed `mimetype`."""
    sizes = len(mimetype).to_bytes(4, "little") * 2
    return b"PK\x03\x04" + bytes(14) + sizes + b"\x08\0\0\0" + b"mimetype" + mimetype


@pytest.mark.parametrize("name", ["a.pdf", "a", "a.txt", "a.docx", "a.PDF"])
@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (b"%PDF-1.4\n1 0 obj", "pdf"),
        (zipped({"[Content_Types].xml": "", "word/document.xml": ""}), "docx"),
        (zipped({"[Content_Types].xml": "", "word/document2.xml": ""}), "docx"),
        (zipped({"[Content_Types].xml": "", "ppt/presentation.xml": ""}), "pptx"),
        (stored(b"application/vnd.oasis.opendocument.text"), "odt"),
        (stored(b"application/epub+zip"), "epub"),
    ],
    ids=["pdf", "docx", "docx-numbered", "pptx", "odt", "epub"],
)
def test_the_content_decides_whatever_the_name_is(raw: bytes, wanted: str, name: str) -> None:
    assert may_be_binary(raw)
    assert binary_format(raw, name) == wanted


@pytest.mark.parametrize(
    ("raw", "name", "reason"),
    [
        (b"plain words", "a.pdf", "not a PDF file"),
        (b"", "a.pdf", "empty"),
        (b"\n", "a.docx", "empty"),
        (b"PK\x03\x04 of another kind", "a.docx", "not a DOCX file"),
        (b"plain words", "a.doc", "not a DOC file"),
        (b"%!PS-Adobe-3.0\n(words) show", "a.ps", "PostScript; save it as PDF"),
        (
            b'<?xml version="1.0"?>\n<office:document office:version="1.2">',
            "a.fodt",
            "flat OpenDocument; save it as .odt or PDF",
        ),
        (ENCRYPTED_OFFICE, "a.docx", "encrypted; save it without a password"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused_with_the_reason(raw: bytes, name: str, reason: str) -> None:
    with pytest.raises(SkippedFileError) as caught:
        binary_format(raw, name)

    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "words", ["", "The header is %PDF-1.7.", "PK", "# Überschrift with %PDF- in it", "It begins with {\\rtf or %!PS."]
)
def test_text_is_text_though_it_speaks_of_other_formats(words: str) -> None:
    assert binary_format(words.encode(), "a.md") is None


def test_a_zip_of_no_known_format_is_left_to_the_reader_of_text() -> None:
    raw = zipped({"a.txt": "a"})

    assert binary_format(raw, "archive") is None
    with pytest.raises(SkippedFileError, match="binary"):
        read_document(raw, source="s", path="archive")


@pytest.mark.parametrize("path", ["talk.pdf", "talk.txt", "talk"])
def test_a_pdf_is_read_as_one_under_any_name(path: str) -> None:
    document = read_document(pdf(text(FACT)), source="s", path=path)

    assert (document.kind, document.language, document.text) == ("docs", "pdf", FACT.strip())
    assert document.anchors[0].label == "p. 1"


def test_material_of_a_course_is_a_course_in_any_format() -> None:
    first = lines("Course Title: Bread", "Course Link: https://example.org/b", "", "Lesson 0: Flour", "Sift it.")

    document = read_document(pdf(first, lines("Lesson 1: Water", "Boil it.")), source="s", path="bread.pdf")

    lessons = {str(block.lesson): block.lesson for block in document.blocks}
    assert (document.kind, document.language) == ("course", "pdf")
    assert list(lessons) == ["", "Lesson 0: Flour", "Lesson 1: Water"]
    assert {lesson.course for lesson in lessons.values() if lesson} == {"Bread"}
    assert [anchor.label for anchor in document.anchors] == ["p. 1", "p. 2"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param('{"question": "Which port?"}', SkipReason.QUESTION_SET, id="bare-question"),
        pytest.param(
            '\ufeff{"question": "?", "lines": []}\r\n\r\n{"question": "!"}\n', SkipReason.QUESTION_SET, id="questions"
        ),
        pytest.param('{"question": "a"}\n{"question": "b", "answer": "c"}\n', None, id="one-line-of-another-kind"),
        pytest.param('{"question": 3}\n', None, id="no-text"),
        pytest.param('{"question": "a"}\nport\n', None, id="one-line-of-no-JSON"),
        pytest.param('{"query": "a", "results": [{"id": 1}]}\n' * 2, None, id="search-of-others"),
        pytest.param('{"query": "a", "results": [], "took": 1}\n', None, id="results-of-others"),
        pytest.param('{"query": "a", "results": 3}\n', None, id="no-results"),
        pytest.param('[{"question": "a"}]', None, id="list"),
        pytest.param('see {"question": "a"}', None, id="prose"),
        pytest.param('{"port": 8420}', None, id="settings"),
        pytest.param('{"question":' + "[" * 100_000, None, id="too-deep"),
    ],
)
def test_only_what_is_evidently_a_set_or_results_of_ours_is_told_apart(text: str, kind: SkipReason | None) -> None:
    assert own_output(text.encode()) is kind


def test_what_we_print_as_json_is_no_source_however_it_is_laid_out() -> None:
    answer = json.dumps(GenerationResult("Which port?", "8420").to_dict(), indent=2)
    run = json.dumps(EvalRun("extractive", 10, ()).to_dict() | {"failed": []})
    questions = json.dumps(EvalQuestion("Which port?", files=("a.md",), facts=("8420",)).to_dict())
    result = RetrievalResult(Chunk("s", Span("a.md", 0, 4, 1, 1), "8420", "docs"), 0.5)
    found = json.dumps({"query": "Which port?", "results": [result.to_dict()]}) + "\n"

    kinds = [own_output(text.encode()) for text in (answer, run, questions, found, found * 2)]

    search = "results of openbook search"
    assert kinds == ["answer of openbook ask", "run of openbook eval", "question set", search, search]
    with pytest.raises(SkippedFileError, match="answer of openbook ask"):
        read_document(answer.encode(), source="s", path="notes.json")


def test_no_line_is_cited_of_a_format_whose_text_is_extracted() -> None:
    assert not any(map(has_lines, [*BINARY_FORMATS, "ics", "picture", "recording", "sbv", "srt", "vtt"]))
    assert has_lines("markdown")
