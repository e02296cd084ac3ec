"""What people write and ask at first, as other programs have it: it works, or the error says what to do."""

from __future__ import annotations

import asyncio
import pickle
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openbook import AnswerOptions, Exchange, Filter, Library, OpenbookError, Settings
from openbook.agent import Agent, Budget
from openbook.errors import InvalidArgumentError
from openbook.evals import read_questions
from openbook.testing import ScriptedModel
from openbook.types import Excerpt
from tests.support import write_tree

SAID = "Sessions end after one hour [1:2]."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "docs", {"a.md": "# Sessions\n\nSessions end after one hour.\n"})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", workers=1, verifier="off", query_expansion=False)


def test_a_model_is_named_with_the_question(folder: Path, settings: Settings) -> None:
    options = AnswerOptions(verifier="off")
    with Library.of(folder, settings=settings) as library:
        one = library.query("When do sessions end?", model=ScriptedModel(SAID), options=options)
        several = library.query_many(["When do sessions end?"], model=ScriptedModel(SAID), options=options)

    assert [str(answer).partition("\n")[0] for answer in (one, *several)] == [SAID, SAID]


def test_many_questions_in_an_event_loop_are_answered_by_the_model_that_is_named(
    folder: Path, settings: Settings
) -> None:
    async def ask() -> list[str]:
        async with Library.of(folder, settings=settings) as library:
            options = AnswerOptions(verifier="off")
            answers = await library.aquery_many(["When do sessions end?"], model=ScriptedModel(SAID), options=options)
            return [str(answer).partition("\n")[0] for answer in answers]

    assert asyncio.run(ask()) == [SAID]


def test_the_name_of_a_text_needs_no_keyword(settings: Settings) -> None:
    with Library.open("wiki", settings=settings) as library:
        library.add_text("The ferry leaves at nine.", "ferry.md")

        assert "nine" in library.query("When does the ferry leave?").answer


def test_a_history_is_any_sequence_of_exchanges(folder: Path, settings: Settings) -> None:
    told = deque([Exchange("When do sessions end?", "After one hour.")], maxlen=3)
    options = AnswerOptions(model=ScriptedModel("When do sessions end?", SAID), verifier="off", history=told)
    with Library.of(folder, settings=settings) as library:
        answer = library.query("When, once more?", options=options)

    assert answer.answer == SAID
    assert options.history == tuple(told)


def test_a_history_of_something_else_says_what_to_write() -> None:
    wrong: Any = [("When?", "After one hour.")]
    with pytest.raises(TypeError, match=r"Exchange\(question, answer\)"):
        AnswerOptions(history=wrong)


def test_a_printed_result_is_its_place_and_the_lines_that_match(folder: Path, settings: Settings) -> None:
    with Library.of(folder, settings=settings) as library:
        (found,) = library.search("When do sessions end?")

    assert str(found) == "a.md:1-3\n# Sessions\n\nSessions end after one hour."
    assert str(replace(found, excerpt=Excerpt("Sessions end.", 3, 3))) == "a.md:3-3\nSessions end."
    assert str(replace(found, excerpt=None)).startswith("a.md:1-3\n# Sessions")


def test_options_that_name_a_model_go_before(folder: Path, settings: Settings) -> None:
    options = AnswerOptions(model=ScriptedModel(SAID), verifier="off")
    with Library.of(folder, settings=settings) as library:
        answer = library.query("When do sessions end?", model=ScriptedModel(), options=options)

    assert answer.model == "scripted:model"


def test_a_filter_that_is_none_says_how_one_is_written(folder: Path, settings: Settings) -> None:
    wrong: Any = {"globs": ["*.md"]}
    with Library.of(folder, settings=settings) as library, pytest.raises(TypeError, match=r"write Filter\(globs"):
        library.search("sessions", where=wrong)


def test_a_question_that_is_no_string_says_what_to_write(folder: Path, settings: Settings) -> None:
    wrong: Any = 3
    with Library.of(folder, settings=settings) as library:
        for ask in (library.query, library.search):
            with pytest.raises(TypeError, match="the question is 3; write a string"):
                ask(wrong)


def test_a_list_of_folders_says_how_they_are_named(folder: Path, settings: Settings) -> None:
    wrong: Any = [folder]
    with pytest.raises(TypeError, match="one by one"):
        Library.of(wrong, settings=settings)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"budget": 0.05}, r"Budget\(max_usd=0\.05\)"),
        ({"sampling": {"temperature": 0}}, r"Sampling\(temperature=0\)"),
        ({"model": 5}, "model is 5; write its name, such as 'anthropic'"),
        ({"verifier": None}, "verifier is None; write its name, such as 'off'"),
    ],
)
def test_a_number_or_a_dict_in_place_of_an_option_says_what_to_write(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        AnswerOptions(**wrong)


@pytest.mark.parametrize("name", ["max_answer_tokens", "context_tokens", "deadline_s"])
def test_a_limit_of_an_answer_that_allows_nothing_is_refused_before_a_model_is_asked(name: str) -> None:
    wrong: dict[str, Any] = {}
    for wrong[name] in (0, -5, float("nan")):
        with pytest.raises(InvalidArgumentError, match=f"{name} is {wrong[name]}; give more than 0"):
            AnswerOptions(**wrong)
    wrong[name] = "5"
    with pytest.raises(TypeError, match=f"{name} is '5', which is not a number"):
        AnswerOptions(**wrong)


@pytest.mark.parametrize("name", ["max_reply_tokens", "deadline_s"])
def test_a_limit_of_an_agent_that_allows_nothing_is_refused(name: str) -> None:
    wrong: Any = {name: 0}
    with pytest.raises(InvalidArgumentError, match=f"{name} is 0; give more than 0"):
        Agent(ScriptedModel(), **wrong)


def test_one_question_in_place_of_several_is_not_asked_letter_by_letter(folder: Path, settings: Settings) -> None:
    model = ScriptedModel()
    with Library.of(folder, settings=settings) as library:
        with pytest.raises(TypeError, match="messages is 'When do sessions end\\?'; give a list of questions"):
            library.query_many("When do sessions end?", model=model)
        with pytest.raises(TypeError, match="give a list of questions"):
            asyncio.run(library.aquery_many("When do sessions end?", model=model))


def test_a_library_that_is_sent_to_another_process_says_to_open_it_there(settings: Settings) -> None:
    with (
        Library.open("wiki", settings=settings) as library,
        pytest.raises(TypeError, match="cannot be pickled; open it in each process"),
    ):
        pickle.dumps(library)


@pytest.mark.parametrize("limit", ["3", 2.5])
def test_a_limit_that_is_no_integer_is_named(limit: Any, folder: Path, settings: Settings) -> None:
    with Library.of(folder, settings=settings) as library:
        for ask in (library.query, library.search, library.retrieve):
            with pytest.raises(TypeError, match=f"limit is {limit!r}, which is not an integer"):
                ask("When do sessions end?", limit=limit)


def test_a_text_of_bytes_is_no_text(settings: Settings) -> None:
    wrong: Any = b"The ferry leaves at nine."
    with (
        Library.open("wiki", settings=settings) as library,
        pytest.raises(TypeError, match=r"the text of 'ferry\.md' is of type bytes; give a string"),
    ):
        library.add_text(wrong, "ferry.md")


def test_an_agent_says_what_a_budget_and_a_history_are() -> None:
    wrong: Any = 0.05
    told: Any = [{"role": "user", "content": "Hello?"}]

    assert Agent(ScriptedModel(), budget=Budget()).history == ()
    with pytest.raises(TypeError, match=r"Budget\(max_usd=0\.05\)"):
        Agent(ScriptedModel(), budget=wrong)
    with pytest.raises(TypeError, match="history_from_json"):
        Agent(ScriptedModel(), history=told)


def test_questions_are_read_from_the_path_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"question": "When do sessions end?"}\n', encoding="utf-8")

    assert read_questions(file) == read_questions(file.read_text(encoding="utf-8"))


SAMPLE = Path(__file__).parents[1] / "sample"


@pytest.fixture
def harbour(settings: Settings) -> Iterator[Library]:
    with Library.of(SAMPLE / "courses", settings=settings) as library:
        yield library


def test_an_empty_library_says_that_it_is_empty(settings: Settings) -> None:
    with Library.open("nothing", settings=settings) as library:
        answer = library.query("What is the architecture of this project?")

    assert (answer.refused, answer.answer.partition(".")[0]) == (True, "The library is empty")


def test_the_link_of_a_lesson_is_quoted(harbour: Library) -> None:
    answer = harbour.query("What is the link of lesson 1 of the Quay course?")

    assert "https://harbour.example/quay/1" in answer.answer


@pytest.mark.parametrize(
    "question", ["Summarize this lesson", "What does this lesson teach?", "What is this lesson about?"]
)
def test_a_chosen_lesson_answers_what_it_is_about(harbour: Library, question: str) -> None:
    (course,) = harbour.courses()
    answer = harbour.query(question, where=Filter(courses=frozenset({course.key}), lesson=1))

    assert "Lift with your knees" in answer.answer
    assert {cited.label for cited in answer.citations} == {"Working at the Quay · Lesson 1: Lifting"}


def test_what_a_thing_is_is_quoted_from_the_line_that_says_it(tmp_path: Path, settings: Settings) -> None:
    page = (
        "# Servers\n\nEvery MCP server has a name. Start the MCP server before the client.\n\n"
        "The Model Context Protocol, or MCP, is an open protocol that connects models with tools.\n\n"
        "An MCP client asks an MCP server for its tools.\n"
    )
    with Library.of(write_tree(tmp_path / "talks", {"mcp.md": page}), settings=settings) as library:
        answer = library.query("What is MCP?")

    assert "is an open protocol that connects models" in answer.answer


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda _: Filter(kinds=frozenset({"nope"})), id="filter"),  # type: ignore[arg-type]
        pytest.param(lambda _: AnswerOptions(policy="x"), id="options"),  # type: ignore[arg-type]
        pytest.param(lambda _: Budget(max_usd=-1), id="budget"),
        pytest.param(lambda _: Library.of(), id="no-path"),
        pytest.param(lambda library: library.search("When do sessions end?", limit=0), id="limit"),
        pytest.param(lambda library: library.search("When do sessions end?", view="x"), id="view"),
        pytest.param(lambda library: library.query_many(["When?"], at_once=0), id="at-once"),
        pytest.param(lambda library: library.study(count=0), id="count"),
    ],
)
def test_a_wrong_value_is_an_error_of_ours_and_a_value_error(
    folder: Path, settings: Settings, wrong: Callable[[Library], object]
) -> None:
    with Library.of(folder, settings=settings) as library, pytest.raises(OpenbookError) as caught:
        wrong(library)

    assert isinstance(caught.value, ValueError)
    assert caught.value.hint
    assert caught.value.hint in str(caught.value)
