"""What a question set may hold, and what is said of one that cannot be used."""

from __future__ import annotations

import json

import pytest

from openbook.errors import QueryError
from openbook.evals.metrics import ExpectedSpan
from openbook.evals.questions import EvalQuestion, read_questions


def test_a_question_says_what_is_expected_of_its_answer() -> None:
    line = '{"question": " Which port? ", "files": ["a.md"], "lines": ["b.md:3-9", "b.md:12"], "facts": ["8000"]}'

    (question,) = read_questions(line)

    assert question == EvalQuestion(
        "Which port?",
        ("a.md",),
        (ExpectedSpan("b.md", 3, 9), ExpectedSpan("b.md", 12, 12)),
        ("8000",),
        unanswerable=False,
    )


def test_a_question_may_expect_nothing_or_a_refusal() -> None:
    read = read_questions('{"question": "Which port?"}\n\n{"question": "Who won?", "unanswerable": true}\n')

    assert [(question.files, question.unanswerable) for question in read] == [((), False), ((), True)]


def test_a_set_is_written_as_it_is_read() -> None:
    text = '{"question": "Which port?", "files": ["a.md"], "lines": ["b.md:3-9"], "facts": ["8000"]}'

    (question,) = read_questions(text)

    assert question.to_dict() == json.loads(text)


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm() -> None:
    assert len(read_questions('\ufeff{"question": "Which port?"}\r\n{"question": "Which host?"}\r\n')) == 2


def test_a_file_name_may_hold_a_colon_and_a_space() -> None:
    (question,) = read_questions('{"question": "Which port?", "lines": ["old notes: 2.md:3-9"]}')

    assert question.lines == (ExpectedSpan("old notes: 2.md", 3, 9),)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param("port?", "not JSON", id="no-json"),
        pytest.param("[" * 100_000, "too deeply nested", id="deep"),
        pytest.param("[]", "not a JSON object", id="a-list"),
        pytest.param('{"query": "Which port?"}', "unknown key 'query'; keys are question, files,", id="unknown-key"),
        pytest.param("{}", "`question` is missing or not a string", id="no-question"),
        pytest.param('{"question": 3}', "`question` is missing or not a string", id="question-no-text"),
        pytest.param('{"question": " "}', "the question is empty", id="blank"),
        pytest.param('{"question": "?"}', "contains no word to search for", id="no-word"),
        pytest.param('{"question": "Port?", "files": "a.md"}', "`files` is not a list of strings", id="files-no-list"),
        pytest.param('{"question": "Port?", "facts": [8000]}', "`facts` is not a list of strings", id="facts-no-texts"),
        pytest.param('{"question": "Port?", "facts": [" "]}', "`facts` is not a list of strings", id="blank-fact"),
        pytest.param('{"question": "Port?", "lines": ["a.md"]}', "'a.md' names no lines", id="no-lines"),
        pytest.param('{"question": "Port?", "lines": ["a.md:9-3"]}', "'a.md:9-3' names no lines", id="backwards"),
        pytest.param('{"question": "Port?", "lines": ["a.md:0"]}', "'a.md:0' names no lines", id="line-0"),
        pytest.param('{"question": "Port?", "unanswerable": 1}', "neither true nor false", id="unanswerable-no-bool"),
        pytest.param(
            '{"question": "Port?", "unanswerable": true, "facts": ["x"]}', "cannot have files", id="contradiction"
        ),
        pytest.param('{"question": "Which host? "}', "has the same question as line 1", id="twice"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_by_its_number(line: str, words: str) -> None:
    with pytest.raises(QueryError, match="line 3: ") as caught:
        read_questions(f'{{"question": "Which host?"}}\n\n{line}\n', "'set.jsonl'")

    assert str(caught.value).startswith("'set.jsonl' cannot be used: line 3: ")
    assert words in str(caught.value)
    assert caught.value.hint


def test_every_bad_line_is_named() -> None:
    with pytest.raises(QueryError, match="line 1: not JSON; line 3: not a JSON object"):
        read_questions('x\n{"question": "Which port?"}\n3')


def test_of_very_many_bad_lines_the_first_are_named_and_the_others_counted() -> None:
    with pytest.raises(QueryError, match=r"line 10: not JSON; and 90 more$"):
        read_questions("x\n" * 100)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_set_is_an_error(text: str) -> None:
    with pytest.raises(QueryError, match=r"'set\.jsonl' contains no questions"):
        read_questions(text, "'set.jsonl'")
