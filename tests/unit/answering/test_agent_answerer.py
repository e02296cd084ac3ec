"""Answers by an agent: whatever its tools showed can be cited, and is checked like everything else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from openbook.answering.agent_answerer import AgentAnswerer
from openbook.answering.evidence import EvidenceFinder
from openbook.answering.generator import Generator
from openbook.answering.options import AnswerOptions
from openbook.answering.prompting import build_system_prompt
from openbook.answering.steps import run as take
from openbook.answers import Answered, AnswerEvent, Exchange, GenerationResult, ToolUsed, Written
from openbook.costs import Budget
from openbook.errors import OverloadedError
from openbook.llm.messages import Request, Sampling, ToolCall
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.types import Filter
from openbook.usage import Usage
from tests.unit.answering.driving import stream
from tests.unit.retrieval.material import Library

QUESTION = "When do sessions end?"
ANSWER = "Sessions end after one hour [1:1]."


def call(tool: str, **arguments: object) -> ToolCall:
    return ToolCall(f"{tool}-{len(json.dumps(arguments))}", tool, json.dumps(arguments))


SEARCH = call("search", query="sessions end")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    made.put("a.md", "Sessions end after one hour.", "The retry policy waits 30 seconds.")
    yield made
    made.close()


def generator_of(library: Library) -> Generator:
    return Generator(
        library.index,
        library.embedder,
        text_now=library.text_now,
        context_tokens=6_000,
        price=lambda _, usage: Decimal(usage.input_tokens + usage.output_tokens) / 1_000,
    )


def run(library: Library, model: ScriptedModel, where: Filter | None = None, **options: object) -> list[AnswerEvent]:
    made = AnswerOptions(model=model, tools=True, **{"verifier": "off", **options})  # type: ignore[arg-type]
    return list(stream(generator_of(library), QUESTION, where=where or Filter(), options=made))


def answer_of(events: list[AnswerEvent]) -> GenerationResult:
    last = events[-1]
    assert isinstance(last, Answered)
    return last.answer


def test_the_model_looks_for_the_sources_and_cites_what_the_tools_showed(library: Library) -> None:
    with ScriptedModel(
        ScriptedReply("Let me see.", SEARCH), f"{ANSWER} The retry policy waits 30 seconds [2:1]."
    ) as model:
        events = run(library, model)

    answer = answer_of(events)
    assert [claim.verdict for claim in answer.claims] == ["exact", "exact"]
    assert answer.sources_cited == ("a.md:1", "a.md:3")
    assert (answer.model, answer.usage, answer.cost_usd) == (model.name, Usage(20, 10), Decimal("0.03"))
    assert [event for event in events if isinstance(event, ToolUsed)] == [
        ToolUsed("search", SEARCH.arguments, "[1] to [2]")
    ]
    assert "".join(event.text for event in events if isinstance(event, Written)).startswith("Let me see.Sessions")


def test_the_model_is_told_the_rules_the_tools_and_the_bare_question(library: Library) -> None:
    with ScriptedModel("I do not know.") as model:
        run(library, model, history=(Exchange("Who?", "Ann [1:1]."),), deadline_s=7.0)

    (request,) = model.requests
    assert request.deadline_s == 7.0
    assert request.system == build_system_prompt(tools=True)
    assert {"search", "read_lines", "list_courses"} <= {tool.name for tool in request.tools}
    assert [message.text for message in request.messages] == ["Who?", "Ann.", QUESTION]


def test_sources_are_numbered_through_over_rounds_and_calls_at_once(library: Library) -> None:
    library.put("b.md", "Roses need sun.")
    first = [call("read_lines", path="a.md", first_line=1, last_line=1), call("read_lines", path="b.md")]
    with ScriptedModel(
        ScriptedReply(*first), ScriptedReply(call("read_lines", path="a.md", first_line=3)), "Roses need sun [2:1]."
    ) as model:
        events = run(library, model)

    assert [event.outcome for event in events if isinstance(event, ToolUsed)] == ["[1]", "[2]", "[3]"]
    assert [result.chunk.span.path for result in answer_of(events).results] == ["a.md", "b.md", "a.md"]
    assert answer_of(events).quality_score == 1.0


def test_a_mark_that_no_tool_showed_is_unknown(library: Library) -> None:
    with ScriptedModel("Bananas are sweet and yellow [1:1].") as model:
        answer = answer_of(run(library, model))

    assert (answer.answer, answer.refused) == ("Bananas are sweet and yellow [1:1].", False)
    assert [citation.verdict for citation in answer.citations] == ["unknown"]


def test_wrong_calls_are_told_to_the_model_and_it_goes_on(library: Library) -> None:
    wrong = [call("read_lines", path="gone.md"), call("shell", command="ls"), call("search", query="?!")]
    with ScriptedModel(ScriptedReply(*wrong), ScriptedReply(SEARCH), ANSWER) as model:
        events = run(library, model)

    outcomes = [event.outcome for event in events if isinstance(event, ToolUsed)]
    assert outcomes[0].startswith("the library has no document of that path")
    assert outcomes[1].startswith("there is no tool 'shell'")
    assert outcomes[2].startswith("the question '?!' contains no word to search for")
    assert answer_of(events).answer == ANSWER


def test_tools_are_withheld_after_the_last_round(library: Library) -> None:
    with ScriptedModel(ScriptedReply(SEARCH), ANSWER) as model:
        answer = answer_of(run(library, model, budget=Budget(max_rounds=1)))

    assert [request.tool_choice for request in model.requests] == ["auto", "none"]
    assert (answer.answer, answer.stopped) == (ANSWER, "max_rounds")


def test_a_model_that_repeats_itself_gets_a_last_turn_without_tools(library: Library) -> None:
    with ScriptedModel(*[ScriptedReply(SEARCH)] * 3, ANSWER) as model:
        answer = answer_of(run(library, model))

    assert [request.tool_choice for request in model.requests] == ["auto", "auto", "auto", "none"]
    assert (answer.answer, answer.refused, answer.stopped) == (ANSWER, False, "repeated_call")
    assert answer.usage == Usage(40, 20)


def test_a_model_that_wants_tools_to_the_end_wrote_nothing_and_no_budget_is_blamed(library: Library) -> None:
    with ScriptedModel(*[ScriptedReply(SEARCH)] * 4) as model:
        looping = answer_of(run(library, model))
    with ScriptedModel(*[ScriptedReply(SEARCH)] * 2) as model:
        eager = answer_of(run(library, model, budget=Budget(max_rounds=1)))

    assert (looping.reason, looping.stopped) == ("nothing written", "repeated_call")
    assert (eager.reason, eager.stopped) == ("nothing written", "max_rounds")
    assert "(the model wants tools beyond round 1)" in eager.answer


def test_a_run_that_is_stopped_does_not_take_its_last_words_for_an_answer(library: Library) -> None:
    with ScriptedModel(ScriptedReply("Sessions, I will look.", SEARCH, usage=Usage(3_000, 10))) as model:
        answer = answer_of(run(library, model, budget=Budget(max_tokens=5_000)))

    assert (answer.refused, answer.reason, answer.stopped) == (True, "budget", "max_tokens")
    assert "I will look" not in answer.answer
    assert answer.results


def test_a_retry_has_no_tools_and_counts_against_the_budget(library: Library) -> None:
    wrong = "The retry policy waits 90 seconds [2:1]."
    with ScriptedModel(ScriptedReply(SEARCH), f"{ANSWER} {wrong}", ANSWER) as model:
        answer = answer_of(run(library, model, policy="retry", budget=Budget(max_tokens=90_000)))

    last = model.requests[-1]
    assert last.tool_choice == "none"
    assert "- The retry policy waits 90 seconds. (conflict:" in last.messages[-1].text
    assert (answer.answer, answer.usage) == (ANSWER, Usage(30, 15))


def test_a_retry_that_cannot_be_paid_leaves_the_answer_as_it_is(library: Library) -> None:
    replies = (
        ScriptedReply(SEARCH),
        ScriptedReply(f"{ANSWER} Sessions are 90 red roses [2:1].", usage=Usage(8_000, 100)),
    )
    with ScriptedModel(*replies) as model:
        answer = answer_of(run(library, model, policy="retry", budget=Budget(max_usd=9)))

    assert [claim.verdict for claim in answer.claims] == ["exact", "conflict"]


def test_calls_whose_usage_is_not_reported_count_against_a_retry_too(library: Library) -> None:
    replies = ScriptedReply(SEARCH, usage=None), ScriptedReply(f"{ANSWER} Sessions are 90 red roses [2:1].", usage=None)
    with ScriptedModel(*replies) as model:
        answer = answer_of(run(library, model, policy="retry", budget=Budget(max_tokens=10_000)))

    assert [claim.verdict for claim in answer.claims] == ["exact", "conflict"]


def test_a_retry_has_only_the_seconds_that_are_left(library: Library) -> None:
    now = [0.0]

    def slowly(_: Request) -> str:
        now[0] += 60.0
        return f"{ANSWER} The retry policy waits 90 seconds [2:1]."

    finder = EvidenceFinder(library.index, library.embedder, library.text_now)
    with ScriptedModel(ScriptedReply(SEARCH), slowly, ANSWER) as model:
        options = AnswerOptions(model=model, tools=True, policy="retry", budget=Budget(max_seconds=100), verifier="off")
        explorer = AgentAnswerer(model, options, finder, where=Filter(), clock=lambda: now[0])
        list(take(explorer.explore(QUESTION), options))

    assert [request.deadline_s for request in model.requests] == [100.0, 100.0, 40.0]


def test_tools_are_confined_to_what_the_person_filtered(library: Library) -> None:
    library.put("b.txt", "Sessions end never.")
    with ScriptedModel(ScriptedReply(SEARCH, call("read_lines", path="b.txt")), ANSWER) as model:
        answer = answer_of(run(library, model, Filter(globs=("*.md",))))

    assert {result.chunk.span.path for result in answer.results} == {"a.md"}


def test_a_model_that_fails_raises(library: Library) -> None:
    with pytest.raises(OverloadedError), ScriptedModel(ScriptedReply(SEARCH), OverloadedError("busy")) as model:
        run(library, model)


def test_sampling_goes_with_the_calls_of_an_agent(library: Library) -> None:
    with ScriptedModel(ScriptedReply(SEARCH), ANSWER) as model:
        run(library, model, sampling=Sampling(temperature=0))

    assert [request.sampling.temperature for request in model.requests] == [0, 0]
