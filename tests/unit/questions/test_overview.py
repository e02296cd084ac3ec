from __future__ import annotations

import pytest

from openbook.questions.overview import overview_of


@pytest.mark.parametrize(
    "question",
    [
        "What is the architecture of this project?",
        "architecture",
        "Give me a high-level overview of the codebase.",
        "overview",
        "How is this project structured?",
        "What does this library do?",
        "What is this repository about?",
        "What is the purpose of this tool?",
        "Summarize this page",
        "Please summarise this project",
        "Where do I start?",
        "Where should I start reading the code?",
        "Was macht dieses Projekt?",
        "Worum geht es hier?",
        "Que fait ce projet ?",
        "What is the architecture of harbour?",
    ],
)
def test_a_question_for_the_whole_is_one_for_an_overview(question: str) -> None:
    assert overview_of(question) in ("", "harbour")


@pytest.mark.parametrize(
    "question",
    [
        "What is the architecture of the retry module?",
        "What does the scheduler do?",
        "What is a job?",
        "Where does the worker start?",
        "How is the cache structured?",
        "overview of retries",
        "Summarize the differences between queues and locks",
    ],
)
def test_a_question_for_a_part_is_none(question: str) -> None:
    assert overview_of(question) not in ("", "harbour")
