from __future__ import annotations

import pytest

from openbook.extractive.comment_lines import blocks_of, examples_in_comment
from openbook.extractive.statements import comment_lines, lines_of
from openbook.text import units
from tests.unit.retrieval.material import chunk_of


def blocks(text: str, most: int, language: str = "rust") -> list[str]:
    """Return the texts of the blocks of a comment."""
    every = units(chunk_of(text, "a", kind="code"))
    lines = lines_of(every, language)
    return [
        "\n".join(unit.text for unit in every[first : last + 1])
        for first, last in blocks_of(comment_lines(lines, 0, len(lines) - 1), most)
    ]


def test_a_comment_is_cut_between_paragraphs() -> None:
    text = "/// Ropes rot.\n/// They do.\n///\n/// Hemp rots\n/// first, and\n/// wire never."

    assert blocks(text, 4) == ["/// Ropes rot.\n/// They do.", "/// Hemp rots\n/// first, and\n/// wire never."]


def test_short_paragraphs_of_a_comment_stay_together() -> None:
    assert blocks("/// Ropes rot.\n///\n/// They do.", 3) == ["/// Ropes rot.\n///\n/// They do."]


@pytest.mark.parametrize(
    "led",
    [
        "/// Ropes are:\n///\n/// - hemp\n/// - wire",
        "/// Cut a rope:\n///\n/// ```\n/// cut(rope);\n/// ```",
        "/// # Examples\n///\n/// ```\n/// cut(rope);\n/// ```",
    ],
    ids=["list", "example", "heading"],
)
def test_what_introduces_something_in_a_comment_is_not_cut_from_it(led: str) -> None:
    assert blocks(f"/// Ropes\n/// rot.\n///\n{led}\n///\n/// All do.", 4) == [
        "/// Ropes\n/// rot.",
        led,
        "/// All do.",
    ]


def test_a_lead_in_to_more_than_fits_does_not_end_a_block() -> None:
    example = "\n".join(f"/// cut({number});" for number in range(9))

    assert blocks(f"/// Ropes rot.\n///\n/// Example:\n///\n/// ```\n{example}\n/// ```", 4)[:2] == [
        "/// Ropes rot.",
        "/// Example:",
    ]


def test_a_long_paragraph_of_a_comment_is_cut_where_a_sentence_ends() -> None:
    text = "/// Ropes\n/// rot.\n/// They do. Hemp\n/// rots first."

    assert blocks(text, 3) == ["/// Ropes\n/// rot.", "/// They do. Hemp\n/// rots first."]


def test_blank_lines_and_tags_between_paragraphs_are_in_no_block() -> None:
    text = "/**\n * Ropes rot.\n *\n * <p>\n * They\n * do.\n * @param rope that\n *     rots\n */"

    assert blocks(text, 2, "java") == [" * Ropes rot.", " * They\n * do.", " * @param rope that\n *     rots"]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("/// Cut:\n/// ```\n/// cut();\n/// ```\n/// Cut.", {1, 2, 3}),
        ("// Cut:\n//\n//\tcut()\n//\n// Cut.", {2}),
        ("/// - Cut:\n///\n///   Ropes\n///     rot.", set()),
        (" * cut();\n * ```\n *\n * Cut.\n * ```\n * cut();\n * ```", {0, 1, 4, 5, 6}),
        (" * cut();\n * ```\n * Ropes rot in rain.", {0, 1}),
        (" * cut();\n * </pre>\n * Cut.", {0, 1}),
    ],
    ids=["fence", "indented", "item", "begins-in-fence", "sentence-behind-fence", "begins-in-tag"],
)
def test_examples_in_a_comment_are_told_from_prose(text: str, places: set[int]) -> None:
    lines = lines_of(units(chunk_of(text, "a", kind="code")), "java")

    assert examples_in_comment(comment_lines(lines, 0, len(lines) - 1)) == places


@pytest.mark.parametrize(
    ("text", "language"),
    [("-- | Ropes rot.\n-- They do.", "haskell"), ("#' Ropes rot.\n#' They do.", "r")],
)
def test_signs_of_documentation_are_signs_of_a_comment(text: str, language: str) -> None:
    lines = lines_of(units(chunk_of(text, "a", kind="code")), language)

    assert [line.said.strip() for line in comment_lines(lines, 0, len(lines) - 1)] == ["Ropes rot.", "They do."]
