"""References to a numbered part of a document, and names of documents with a version."""

from __future__ import annotations

import pytest

from openbook.questions.question import read_question
from openbook.questions.references_asked import AskedEdition, reference_of


@pytest.mark.parametrize(
    ("question", "kind", "number"),
    [
        ("What does section 7.3 of the standard say?", "section", "7.3"),
        ("requirement 2.1.1", "section", "2.1.1"),
        ("Was steht in § 7 der Satzung?", "section", "7"),
        ("Was sagt Abschnitt 3.2?", "section", "3.2"),
        ("Summarise chapter 3", "chapter", "3"),
        ("what is in Appendix B?", "appendix", "B"),
        ("Article V of the treaty", "article", "V"),
        ("Article III of the treaty", "article", "III"),
        ("que dit le tableau 4", "table", "4"),
        ("What does Fig. 2 show?", "figure", "2"),
    ],
)
def test_a_numbered_part_is_referred_to(question: str, kind: str, number: str) -> None:
    asked = read_question(question)

    assert asked.reference is not None
    assert (asked.reference.kind, asked.reference.number, asked.view) == (kind, number, "passages")


@pytest.mark.parametrize(
    "question",
    [
        "How do I join table A and B?",
        "which section comes first",
        "In which chapter I read about cranes",
        "the figure 2-1 of cranes",
        f"section 3 {'rope ' * 50}",
    ],
)
def test_other_words_refer_to_no_part(question: str) -> None:
    assert reference_of(question) is None


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("section 6", ["Section 6. Votes", "# 6 Votes", "## Section 6: Votes"]),
        ("section 6", ["§ 6 Votes", "> **Section 6** Votes"]),
        ("requirement 2.1.1", ["2.1.1 Verify it", "| 2.1.1 | it", "V2.1.1 Verify it"]),
        ("table 1", ["Table 1: Tides", "TABLE 1. Tides", "**Table 1** Tides"]),
        ("appendix B", ["Appendix B: Tides", "## Appendix B"]),
    ],
)
def test_a_part_begins_with_its_number(question: str, held: list[str]) -> None:
    reference = reference_of(question)

    assert reference is not None
    assert [reference.is_line_in(f"Before.\n{text}\n") for text in held] == [True] * len(held)


@pytest.mark.parametrize(
    ("question", "others"),
    [
        (
            "section 6",
            [
                "6. Moor the ship",
                "as in section 6",
                "Section 6.1",
                "Section 16",
                "Section 6 ...... 12",
                "Section 6 of the charter",
                "Section 6, as said",
            ],
        ),
        ("section 6.4", ["6.4 Votes  12", "6.4 Votes\t12", "6.4 Votes . . . . 12", "6.40 Votes", "16.4 Votes"]),
        ("table 1", ["1 Tides", "Table 11", "1.1 Tides"]),
    ],
)
def test_other_numbers_steps_and_tables_of_contents_are_no_part(question: str, others: list[str]) -> None:
    reference = reference_of(question)

    assert reference is not None
    assert not any(map(reference.is_line_in, others))


@pytest.mark.parametrize("text", ["7.3 x" + " " * 20_000 + "y", "#" * 20_000, "<" * 20_000])
def test_long_lines_are_read_at_once(text: str) -> None:
    reference = reference_of("section 7.3")

    assert reference is not None
    assert reference.is_line_in(text) == text.startswith("7.3")


def test_a_document_is_named_by_a_word_and_a_version() -> None:
    edition = read_question("What is the least length in HMS 4?").edition
    paths = ["Harbour Mooring Standard 4.0.3-en.pdf", "hms_4.1.md", "HMS_4_0_3.pdf"]
    others = ["HMS 5.0.pdf", "HMS 14.0.pdf", "HMS_5_4.pdf", "harbour 4.0.pdf"]

    assert edition == AskedEdition("HMS", "4")
    assert all(edition.is_file(f"standards/{path}") for path in paths)
    assert not any(edition.is_file(f"standards/{path}") for path in others)


@pytest.mark.parametrize(
    "question", ["What does Section 6 say?", "Sections 3 of it", "What was decided in March 2024?"]
)
def test_numbered_parts_and_dates_name_no_document(question: str) -> None:
    assert read_question(question).edition is None
