"""Questions for where a program keeps or looks for its files."""

from __future__ import annotations

import pytest

from openbook.questions.data_asked import asks_for_data
from openbook.questions.question import read_question


@pytest.mark.parametrize(
    "question",
    [
        "Where are uploaded charts saved on disk?",
        "where is the tide cache saved by default",
        "Where are my charts stored, and can I move them?",
        "where are charts stored",
        "where does it keep its settings on android",
        "Where does the harbour command look for its config file if I don't pass -C?",
        "where does the harbour store its cache",
        "where are logs written",
        "where do logs go",
        "where is the config file looked up",
        "where is the data directory",
    ],
)
def test_a_question_for_the_files_of_a_program(question: str) -> None:
    assert asks_for_data(question)
    assert "where" not in read_question(question).intents


@pytest.mark.parametrize(
    "question",
    [
        "Where is the session cookie written?",
        "Where is the index for the tide tables built and saved?",
        "Where are bytes kept that do not yet make up a group of four?",
        "Where in the code are charts stored?",
        "where does the function save its data",
        "Where does the harbour tie its ropes?",
        "Where are ropes cut?",
        "how are charts stored on disk",
        "where is the log rotated",
    ],
)
def test_a_question_for_code(question: str) -> None:
    assert not asks_for_data(question)
