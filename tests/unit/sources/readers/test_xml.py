"""How XML is read: documents without their tags and on the same lines, settings and data as they stand."""

from __future__ import annotations

import random

import pytest

from openbook.sources.documents import read_document
from openbook.types import Document

_BOOK = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE book [<!ENTITY app "Loom">]>
<book xmlns="http://docbook.org/ns/docbook">
  <info><title>Ship&#x27;s Knots</title><date>2024</date></info>
  <chapter xml:id="bends">
    <title>Bends &amp; hitches</title>
    <!-- not for readers -->
    <para>A <emphasis role="bold">bend</emphasis> joins two ropes of &app;, and caf&#xE9;s of
      Bonn keep one on the wall beside the door.</para>
    <programlisting>tie --strands 3</programlisting>
    <section><title>Sheet bend</title>
      <para><![CDATA[Use it where a < b, that is, for ropes of different thickness alone.]]></para>
    </section>
    <bibliography><bibliomixed><title>The Ashley Book</title></bibliomixed></bibliography>
  </chapter>
</book>
"""


def _read(text: str, path: str = "a.xml") -> Document:
    return read_document(text.encode(), source="s", path=path)


def _shown(document: Document) -> list[tuple[str, int, str]]:
    return [
        (block.kind, block.level, " ".join(document.text[block.start_char : block.end_char].split()))
        for block in document.blocks
    ]


def test_a_document_shows_its_words_without_tags_below_its_titles() -> None:
    document = _read(_BOOK)

    assert document.kind == "docs"
    assert _shown(document) == [
        ("heading", 1, "Ship's Knots"),
        ("text", 0, "2024"),
        ("heading", 2, "Bends & hitches"),
        ("text", 0, "A bend joins two ropes of &app;, and cafés of Bonn keep one on the wall beside the door."),
        ("code", 0, "tie --strands 3"),
        ("heading", 3, "Sheet bend"),
        ("text", 0, "Use it where a < b, that is, for ropes of different thickness alone."),
        ("text", 0, "The Ashley Book"),
    ]


def test_lines_and_lengths_are_those_of_the_file() -> None:
    text = _BOOK.replace("\n", "\r\n").replace("Bonn", "Köln \N{SAILBOAT}")

    document = _read(text)

    assert document.kind == "docs"
    assert [len(line) for line in document.text.split("\n")] == [len(line) for line in text.split("\n")]
    assert document.text.index("Köln \N{SAILBOAT}") == text.index("Köln \N{SAILBOAT}")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("pom.xml", "<project><version>1.2</version><name>Shop of ropes</name></project>", id="settings"),
        pytest.param("a.xsd", _BOOK, id="schema"),
        pytest.param("a.xml", _BOOK.replace("</book>", ""), id="not well-formed"),
        pytest.param("a.xml", _BOOK.replace("<date>2024", "<date>{% now %}"), id="template"),
        pytest.param("a.xml", "<a>" * 300 + "eight words or more than that stand in here" + "</a>" * 300, id="deep"),
    ],
)
def test_what_is_no_document_stays_as_it_is(path: str, text: str) -> None:
    document = _read(text, path)

    assert (document.kind, document.text, document.blocks) == ("config", text, ())


@pytest.mark.parametrize(
    "entities",
    [
        pytest.param('<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY app "&b;&b;&b;&b;">', id="one in another"),
        pytest.param('<!ENTITY % p SYSTEM "file:///etc/hostname"><!ENTITY app "%p;">', id="of parameters"),
    ],
)
def test_a_file_whose_entities_could_grow_is_not_parsed(entities: str) -> None:
    text = _BOOK.replace('<!ENTITY app "Loom">', entities)

    assert _read(text).text == text


def test_xml_entities_are_not_expanded() -> None:
    document = _read(_BOOK.replace('"Loom"', 'SYSTEM "file:///etc/hostname"'))

    assert "ropes of &app;, and" in document.text


def test_damaged_files_keep_their_lines() -> None:
    generator = random.Random(7)

    for _ in range(300):
        at = generator.randrange(len(_BOOK))
        text = _BOOK[:at] + generator.choice(["<", ">", "/>", "&", "]]>", "<a/>", "</a>", ""]) + _BOOK[at + 2 :]
        document = _read(text)

        assert len(document.text) == len(text)
        assert document.text.count("\n") == text.count("\n")
