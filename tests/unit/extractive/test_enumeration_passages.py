"""Answers to questions for an enumeration: its definition with its values, or one value."""

from __future__ import annotations

import pytest

from openbook.extractive.composing import compose
from openbook.extractive.context import build_context
from openbook.extractive.enumeration_passages import with_enumerations
from openbook.questions.question import read_question
from openbook.types import Chunk
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of, result_of

KIND = """\
/// How a ship is moored.
#[derive(Debug)]
pub enum MooringKind {
    /// It swings around one anchor.
    Swing,

    /// It lies between two piles.
    Pile,
}"""
USE = """\
impl MooringKind {
    /// Reads the kinds of mooring that there are, by name.
    pub fn mooring_kind(name: &str) -> MooringKind {
        match name {
            "swing" => MooringKind::Swing,
            _ => MooringKind::Pile,
        }
    }
}"""
LONG = "".join(
    f"    /// Berth {number} of the quay.\n    ///\n    /// It is long.\n    Berth{number},\n" for number in range(50)
)
BERTHS = f"enum Berth {{\n{LONG}}}"
SAID = "".join(f"    /// Line {number} says more.\n" for number in range(20))


def of_code(text: str, path: str = "kind.rs", before: str = "", **fields: str) -> Chunk:
    return chunk_of(text, path, kind="code", language="rust", before=before, **fields)


def told(question: str, *chunks: Chunk, now: str = "") -> str:
    return compose(picked(question, *chunks, text_of=lambda source, path: now))


def test_the_definition_of_an_enumeration_is_quoted_with_its_values() -> None:
    found = picked("which mooring kinds are there?", of_code(USE, "use.rs"), of_code(KIND), scores=[1.0, 0.2])

    assert quotes(found)[0] == KIND


def test_a_value_is_quoted_with_its_comment() -> None:
    found = picked("What does MooringKind::Pile do?", of_code(USE, "use.rs"), of_code(KIND), scores=[1.0, 0.2])

    assert quotes(found)[0] == "    /// It lies between two piles.\n    Pile,"


def test_an_enumeration_in_a_test_is_not_meant() -> None:
    found = picked("What is MooringKind?", of_code(KIND.replace("Pile", "Quay"), "tests/kind.rs"), of_code(KIND))

    assert [each.passage.shown.result.chunk.span.path for each in found if each.passage.is_enumeration] == ["kind.rs"]


def test_of_a_long_enumeration_the_names_of_the_other_values_are_told() -> None:
    answer = told("What are the values of Berth?", of_code(BERTHS), now=BERTHS)

    assert "    Berth8,\n```" in answer
    names = ", ".join(f"`Berth{number}`" for number in range(9, 39))
    assert f"[1:1-37] (goes on to line 202: {names}, ...)" in answer


def test_the_names_of_values_in_another_chunk_are_told() -> None:
    opening = BERTHS[: BERTHS.index("    Berth2,")].rstrip()  # the comment of the next value is cut off
    answer = told(
        "What are the values of Berth?", of_code(opening), now=BERTHS[: BERTHS.index("    /// Berth 4 ")] + "}"
    )

    assert "    Berth1,\n```\n[1:1-9] (goes on to line 18: `Berth2`, `Berth3`)" in answer


def test_a_chunk_without_the_head_does_not_show_the_enumeration() -> None:
    at = BERTHS.index("    /// Berth 20 ")
    rest = of_code(BERTHS[at:], before=BERTHS[:at], symbol="Berth", signature="enum Berth")

    found = picked("What are the values of Berth?", rest, text_of=lambda source, path: BERTHS)

    assert not any(each.passage.is_enumeration for each in found)


def test_the_comment_of_a_value_that_is_cut_off_is_not_the_value() -> None:
    opening = BERTHS[: BERTHS.index("    Berth2,")].rstrip()

    found = picked("What does Berth::Berth2 do?", of_code(opening), text_of=lambda source, path: BERTHS)

    assert not any(each.passage.is_enumeration for each in found)


def test_a_value_in_a_chunk_without_the_head_is_quoted() -> None:
    at = BERTHS.index("    /// Berth 20 ")
    rest = of_code(BERTHS[at:], before=BERTHS[:at], symbol="Berth", signature="enum Berth")

    assert "    /// It is long.\n    Berth21,\n```" in told("What does Berth::Berth21 do?", rest, now=BERTHS)


def test_of_a_value_with_a_long_comment_the_first_sentence_is_quoted() -> None:
    text = f"enum Berth {{\n    /// Holds\n    /// one ship.\n{SAID}    Berth1,\n}}"

    answer = told("What does Berth::Berth1 do?", of_code(text), now=text)

    assert "    /// Holds\n    /// one ship.\n```\n[1:2-3] (goes on to line 24)" in answer


def test_a_long_comment_above_an_enumeration_is_left_out() -> None:
    text = f"{SAID}pub enum Berth {{\n    Berth1,\n    Berth2,\n}}"

    found = picked("What are the values of Berth?", of_code(text))

    assert quotes(found)[0] == "pub enum Berth {\n    Berth1,\n    Berth2,\n}"


@pytest.mark.parametrize("above", ["use dock;\n", "// The kinds.\n\n"])
def test_other_lines_above_an_enumeration_are_left_out(above: str) -> None:
    assert quotes(picked("What is MooringKind?", of_code(above + KIND)))[0] == KIND


def test_a_whole_enumeration_does_not_go_on() -> None:
    assert "goes on" not in told("What is MooringKind?", of_code(KIND), now=KIND)


@pytest.mark.parametrize("cut", ["    /// Berth 2 ", " 2 of the quay."])
def test_the_beginning_of_the_next_value_is_left_out(cut: str) -> None:
    opening = BERTHS[: BERTHS.index(cut)].rstrip()

    assert "    Berth1,\n```\n[1:1-9] (goes on" in told("What are the values of Berth?", of_code(opening), now=BERTHS)


def enumerations(question: str, *chunks: Chunk, now: str = "") -> list[str]:
    found = picked(question, *chunks, text_of=lambda source, path: now)
    return [each.passage.text for each in found if each.passage.is_enumeration]


def test_another_enumeration_is_not_meant() -> None:
    other = "pub enum SailKind {\n    Jib,\n    Main,\n}"

    context = build_context([result_of(of_code(f"{KIND}\n\n{other}"))], 10_000).shown

    found = with_enumerations(read_question("What is MooringKind?"), [], context)

    assert [each.text for each in found] == [KIND]


def test_a_comment_below_the_last_value_is_left_out_unless_it_is_one_line() -> None:
    one, two = "    // That is all.\n", "    // That is all.\n    // For now.\n"

    assert enumerations("What is MooringKind?", of_code(f"{KIND[:-1]}{one}")) == [f"{KIND[:-1]}{one}".rstrip()]
    assert enumerations("What is MooringKind?", of_code(f"{KIND[:-1]}{two}}}")) == [KIND[:-2]]


def test_an_example_in_documentation_is_not_meant() -> None:
    assert not enumerations("What is MooringKind?", chunk_of(KIND, "kind.rs", kind="docs", language="rust"))


def test_an_enumeration_in_a_test_is_meant_by_a_question_for_tests() -> None:
    assert enumerations("What does MooringKind::Pile do in the tests?", of_code(KIND, "tests/kind.rs"))


def test_other_questions_show_no_enumeration() -> None:
    assert not enumerations("Where is `MooringKind` used?", of_code(KIND))


@pytest.mark.parametrize("question", ["What are the values of Berth?", "What does Berth::Berth30 do?"])
def test_a_chunk_without_what_is_asked_for_does_not_show_it(question: str) -> None:
    use = "\n\nfn moor(berth: Berth) {\n    tie(berth)\n}"

    assert not enumerations(question, of_code(use, before=BERTHS), now=BERTHS + use)


def test_the_opening_of_a_long_comment_is_no_sentence() -> None:
    text = (
        f"enum Berth {{\n    /**\n     * Holds one ship.\n     *\n{SAID.replace('///', ' *')}     */\n    Berth1,\n}}"
    )

    assert enumerations("What does Berth::Berth1 do?", of_code(text), now=text) == ["    /**\n     * Holds one ship."]
