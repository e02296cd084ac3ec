"""Predicts what a text asks for: passages or files, documentation or code.

Both predictions are linear models over words. `python -m benchmarks.forms` trains and cross-validates them by project.
"""

from __future__ import annotations

from openbook.questions.linear_model import load_model

# With 1, 89 % of the questions are told, not 83 %, but topics are lost: `benchmarks.gate` falls by .032 on one package.
MIN_QUESTION = 1.6


def is_question(text: str) -> bool:
    """Return whether a text without a question mark is a question, not a topic.

    Texts in other languages than English are topics.

    Example:
        >>> is_question("which code drops a line that is too old"), is_question("retry policy of the client")
        (True, False)
    """
    scores = load_model("forms").scores(text)
    return scores is not None and scores["question"] > MIN_QUESTION


def documentation_odds(text: str) -> float:
    """Return the log-odds that documentation answers a question, not code; 0 for other languages than English.

    Example:
        >>> documentation_odds("Which formats can I import?") > 0 > documentation_odds("Where is the hash compared?")
        True
    """
    scores = load_model("forms").scores(text)
    return 0.0 if scores is None else scores["documentation"]
