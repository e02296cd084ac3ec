"""Negations and opposites are compared where both sides make the same statement."""

from __future__ import annotations

import pytest

from openbook.grounding.polarity import opposite_disagrees, polarity_disagrees


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        (
            "`.ts.net` domains are managed by the server.",
            "Domains ending in `.ts.net` will not be managed by the server.",
        ),
        ("It cannot be overridden per task with the option.", "Can be overridden per task using the option."),
        ("The two readers never block each other.", "The two readers block each other."),
    ],
)
def test_negation_on_one_side_disagrees(claim: str, cited: str) -> None:
    assert polarity_disagrees(claim, [cited])


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        pytest.param("Readers never block writers.", "Readers do not block writers.", id="denied-twice"),
        pytest.param("If the file is not found, it fails.", "If the file is found, it loads.", id="condition"),
        pytest.param("The value is not invalid.", "The value is invalid or missing.", id="unclear"),
        pytest.param("It is not only fast but small.", "It is fast and small.", id="not-only"),
        pytest.param("The server does not log keys.", "The client retries on errors.", id="other-statement"),
        pytest.param(
            "The old file is kept, and the new one is not read.",
            "The old file is kept. The new one is read later if asked.",
            id="said-on-a-condition",
        ),
    ],
)
def test_negation_elsewhere_does_not(claim: str, cited: str) -> None:
    assert polarity_disagrees(claim, [cited]) == ""


def test_word_that_any_sentence_has_is_no_opposite() -> None:
    sentences = ["The hook runs before the request is sent.", "It runs after the request is sent, too."]

    assert opposite_disagrees("The hook runs after the request is sent.", sentences[:1])
    assert opposite_disagrees("The hook runs after the request is sent.", sentences) == ""


def test_opposite_in_another_statement_does_not_count() -> None:
    assert opposite_disagrees("It enables caching of pages.", ["Set the flag to disable the daily report."]) == ""


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        ("It is stored in memory only.", "It is not stored on disk at all; it is stored in memory."),
        ("The page gets the result of the function only.", "The function runs on the page with the result of both."),
    ],
)
def test_a_word_that_limits_or_counts_is_no_opposite_of_only(claim: str, cited: str) -> None:
    assert opposite_disagrees(claim, [cited]) == ""
    assert opposite_disagrees("All directives work in a block.", ["Only some directives work in a block."])
