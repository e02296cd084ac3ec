"""What a comment says is read without its marks, however long its lines are."""

from __future__ import annotations

import pytest

from openbook.chunking.definitions import MAX_DOCSTRING_CHARS, leading_docstring


@pytest.mark.parametrize(
    "comment",
    [
        *("// Opens.", "/* Opens. */", "/** Opens. **/ \t\r", "/**\n * Opens.\n **/", "/*! Opens.*/", "# Opens.  "),
        *(";;; Opens.", "% Opens.", "(* Opens. *)", "(** Opens. **)", "%% Opens.\n-spec f(a()) ->\n    b()."),
        *("/// @dev Opens.", "//! \\brief Opens.", ";; Opens.\n;;;###autoload", "/** @notice Opens. */"),
        *("-- | Opens.", "{- Opens. -}", "--[[ Opens. ]]", "/// <summary>Opens.</summary>", "[Old]\n// Opens."),
    ],
)
def test_the_marks_of_a_comment_are_no_words(comment: str) -> None:
    assert leading_docstring(comment) == "Opens."


def test_what_only_begins_like_the_mark_of_a_comment_is_kept() -> None:
    assert leading_docstring(";(function (ship) {") == ";(function (ship) {"
    assert leading_docstring("/* Opens what is\n-specific to it. */") == "Opens what is\n-specific to it."


@pytest.mark.parametrize("run", [" ", "\t", "*", "-", "]", "#", "*/", "*)", ";", "%"])
def test_a_run_of_signs_costs_no_more_time_than_its_length(run: str) -> None:
    words = f"x{run * 200_000}y"

    assert leading_docstring(f"// {words}") == words[:MAX_DOCSTRING_CHARS].rstrip()
