"""How RTF and OpenDocument presentations are read."""

from __future__ import annotations

import pytest

from openbook.errors import SkippedFileError
from openbook.sources.documents import read_document
from tests.unit.sources.readers.zipped_files import zipped

_SPACES = 'xmlns:o="o" xmlns:t="text" xmlns:d="draw" xmlns:p="presentation"'


def odp(pages: str, *, kind: str = "presentation") -> bytes:
    content = f"<o:document-content {_SPACES}><o:body><o:{kind}>{pages}</o:{kind}></o:body></o:document-content>"
    return zipped({"mimetype": "application/vnd.oasis.opendocument.presentation", "content.xml": content})


def test_slides_have_titles_text_and_notes_in_order() -> None:
    title = '<d:frame p:class="title"><d:text-box><t:p>Ropes</t:p></d:text-box></d:frame>'
    foot = '<d:frame p:class="footer"><d:text-box><t:p>Foot</t:p></d:text-box></d:frame>'
    body = "<d:frame><d:text-box><t:p>They hold.</t:p></d:text-box></d:frame>"
    notes = "<p:notes><d:frame><d:text-box><t:p>Say it.</t:p></d:text-box></d:frame></p:notes>"
    raw = odp(f"<d:page>{notes}{body}{foot}{title}</d:page><d:page><d:image/></d:page>")

    document = read_document(raw, source="s", path="a.odp")

    assert document.text == "Ropes\f\f\n\nThey hold.\n\nSay it."
    assert [anchor.label for anchor in document.anchors] == ["slide 1"]
    assert document.remarks == ("no text on slide 2",)


def test_an_invalid_presentation_is_refused() -> None:
    with pytest.raises(SkippedFileError, match="not an OpenDocument file"):
        read_document(odp("", kind="text"), source="s", path="a.odp")


@pytest.mark.parametrize("path", ["a.rtf", "a.doc"])
def test_rtf_is_read_whatever_it_is_called(path: str) -> None:
    raw = rb"{\rtf1\ansi Hello \b bold\b0  w\u246?rld.\par Second.\par {\trowd\cellx1\cellx2 A\cell B\cell\row}}"

    document = read_document(raw, source="s", path=path)

    assert (document.text, document.language) == ("Hello bold wörld.\n\nSecond.\n\nA | B", "rtf")


def test_rtf_without_text_says_so() -> None:
    assert read_document(rb"{\rtf1 }", source="s", path="a.rtf").remarks == ("no text",)
