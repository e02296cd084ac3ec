"""The model decides, the tool runs, the model writes without tools; and the sources belong to the run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from openbook.answering.generator import Generator
from openbook.answering.options import AnswerOptions
from openbook.answers import GenerationResult
from openbook.costs import Budget
from openbook.llm.messages import Request, ToolCall, ToolResult
from openbook.testing import ScriptedModel, ScriptedReply
from tests.unit.answering.courses import put_course, put_courses
from tests.unit.retrieval.material import Library

ONE_ROUND = Budget(max_rounds=1)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    put_courses(made)
    yield made
    made.close()


def search(query: str, **arguments: object) -> ToolCall:
    return ToolCall("call-1", "search_course_content", json.dumps({"query": query, **arguments}))


def ask(library: Library, model: ScriptedModel, question: str) -> GenerationResult:
    generator = Generator(library.index, library.embedder, text_now=library.text_now, context_tokens=6_000)
    return generator.generate_with_retrieval(
        question, options=AnswerOptions(model=model, tools=True, budget=ONE_ROUND, verifier="off")
    )


def shown(request: Request) -> str:
    """Return what the tools have shown so far."""
    return "\n".join(
        part.text for message in request.messages for part in message.parts if isinstance(part, ToolResult)
    )


@pytest.mark.slow
def test_the_model_decides_the_tool_runs_and_the_model_writes_without_tools(library: Library) -> None:
    told = "Cold proofing makes the crust open evenly in the oven [1:3]."
    with ScriptedModel(ScriptedReply(search("cold proofing", course_name="bread", lesson_number=2)), told) as model:
        answer = ask(library, model, "What is cold proofing good for?")

    decides, writes = model.requests
    assert (decides.tool_choice, writes.tool_choice) == ("auto", "none")
    assert "3| Cold proofing in the fridge overnight" in shown(writes)
    assert (answer.answer, answer.refused) == (told, False)
    assert [citation.label for citation in answer.citations] == ["Baking Rye Bread · Lesson 2: The Oven"]
    assert answer.citations[0].verdict == "unverified"


def test_a_model_that_wants_a_second_search_does_not_get_it(library: Library) -> None:
    with ScriptedModel(ScriptedReply(search("crust")), ScriptedReply(search("soil"))) as model:
        answer = ask(library, model, "What is cold proofing good for?")

    assert (answer.refused, answer.stopped) == (True, "max_rounds")
    assert "Pruning" not in "".join(result.chunk.text for result in answer.results[:1])


@pytest.mark.parametrize("question", ["thanks", "What can you do?", "Hello!"])
def test_what_needs_no_search_is_answered_without_one_and_is_no_refusal(library: Library, question: str) -> None:
    told = "You are welcome. I answer questions about your courses, such as Baking Rye Bread."
    with ScriptedModel(f"{told} [1:1]") as model:
        answer = ask(library, model, question)

    assert (answer.answer, answer.refused, answer.reason) == (told, False, "")
    assert (answer.citations, answer.results) == ((), ())
    assert answer.model == model.name


def test_facts_without_any_source_say_that_nothing_was_checked(library: Library) -> None:
    told = "Cold proofing was invented by monks in 1432."
    with ScriptedModel(told) as model:
        answer = ask(library, model, "Who invented cold proofing?")

    assert answer.answer == f"{told}\n\n*The answer above cites no source, so it could not be checked.*"
    assert (answer.refused, [claim.verdict for claim in answer.claims]) == (False, ["uncited"])


def test_thanks_that_were_searched_for_are_checked_like_everything_else(library: Library) -> None:
    with ScriptedModel(ScriptedReply(search("crust")), "The crust was invented by monks in 1432 [1:1].") as model:
        answer = ask(library, model, "thanks")

    assert [(claim.verdict, claim.reason) for claim in answer.claims] == [
        ("conflict", "the number 1432 is not in the cited lines")
    ]


@pytest.mark.slow
def test_fifty_questions_at_once_never_see_each_others_sources(tmp_path: Path) -> None:
    library = Library(tmp_path / "many.db")
    for number in range(50):
        secret = f"The word of course {number} is secret{number}x."
        text = f"Course Title: Topic{number}\n\nLesson 1: Words\n{secret}\nIt is kept.\n\nLesson 2: End\nBye.\n"
        put_course(library, f"course-{number}.txt", text)
    generator = Generator(library.index, library.embedder, text_now=library.text_now, context_tokens=6_000)

    def one(number: int) -> tuple[GenerationResult, str]:
        told = f"The word of course {number} is secret{number}x [1:2]."
        model = ScriptedModel(ScriptedReply(search("word", course_name=f"course-{number}.txt", lesson_number=1)), told)
        options = AnswerOptions(model=model, tools=True, budget=ONE_ROUND, verifier="off")
        answer = generator.generate_with_retrieval(f"What is the word of course {number}?", options=options)
        return answer, shown(model.requests[-1])

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(one, range(50)))

    for number, (answer, seen) in enumerate(answers):
        assert {result.chunk.span.path for result in answer.results} == {f"course-{number}.txt"}
        assert [citation.verdict for citation in answer.citations] == ["exact"]
        assert f"secret{number}x" in answer.citations[0].quote
        assert seen.count("The word of course") == 1
    library.close()
