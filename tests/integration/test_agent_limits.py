"""A run ends by its budget, or if the model repeats itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.agent import Agent, Budget, Tool
from openbook.llm.messages import Message, Request, ToolCall, ToolResult
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.usage import Usage
from tests.fakes.clock import Clock


def count(to: int) -> str:
    """Count.

    Args:
        to: The last number.
    """
    return " ".join(map(str, range(to)))


def call(to: int, number: int = 1) -> ToolCall:
    return ToolCall(f"call-{number}", "count", f'{{"to": {to}}}')


def by_thousand(model: str, usage: Usage) -> Decimal:
    """One dollar for a thousand tokens."""
    return Decimal(usage.input_tokens + usage.output_tokens) / 1000


def test_after_the_last_round_the_model_answers_without_tools() -> None:
    with ScriptedModel(ScriptedReply(call(1)), "One.") as model:
        result = Agent(model, [count], budget=Budget(max_rounds=1)).run("Count.")

    assert [request.tool_choice for request in model.requests] == ["auto", "none"]
    assert result.text == "One."
    assert (result.stopped_by, result.reason) == ("max_rounds", "tools were withheld after round 1")


def test_without_any_round_tools_are_shown_and_withheld() -> None:
    with ScriptedModel("I cannot count.") as model:
        result = Agent(model, [count], budget=Budget(max_rounds=0)).run("Count.")

    assert model.requests[0].tool_choice == "none"
    assert result.stopped_by == ""


def test_a_model_that_calls_tools_where_it_must_not_is_stopped() -> None:
    with ScriptedModel(ScriptedReply(call(1)), ScriptedReply("More.", call(2, 2)), "Yes?") as model:
        agent = Agent(model, [count], budget=Budget(max_rounds=1))
        result = agent.run("Count.")
        agent.run("Hello?")

    assert result.text == "More."
    assert (result.stopped_by, result.reason) == ("max_rounds", "the model wants tools beyond round 1")
    assert model.requests[-1].messages[4:6] == (
        Message("user", (ToolResult("call-2", f"not called: {result.reason}", is_error=True),)),
        Message.assistant("(the model wants tools beyond round 1)"),
    )


@pytest.mark.parametrize(
    "replies",
    [
        pytest.param([ScriptedReply(call(1)), ScriptedReply(call(1, 2)), ScriptedReply(call(1, 3))], id="one-by-one"),
        pytest.param(
            [ScriptedReply(call(1), call(2), call(1, 2)), ScriptedReply(call(3), call(1, 3))], id="among-others"
        ),
        pytest.param([ScriptedReply(call(1), call(1, 2), call(1, 3))], id="all-at-once"),
        pytest.param(
            [
                ScriptedReply(ToolCall("1", "count", '{"to":1,"x":2}')),
                ScriptedReply(ToolCall("2", "count", '{"x": 2, "to": 1}')),
                ScriptedReply(ToolCall("3", "count", ' {"to": 1, "x": 2} ')),
            ],
            id="written-differently",
        ),
        pytest.param([ScriptedReply(ToolCall(str(n), "fly", "{")) for n in range(3)], id="unknown-and-malformed"),
    ],
)
def test_the_same_call_for_the_third_time_ends_the_run(replies: list[ScriptedReply]) -> None:
    with ScriptedModel(*replies) as model:
        result = Agent(model, [count]).run("Count.")

    name = replies[-1].message.calls[-1].name
    assert result.stopped_by == "repeated_call"
    assert result.reason == f"the model called {name!r} with the same arguments for the third time"
    assert str(result) == f"({result.reason})"
    assert [message.role for message in result.messages[-2:]] == ["user", "assistant"]


def test_calls_of_another_turn_do_not_count() -> None:
    with ScriptedModel(ScriptedReply(call(1)), ScriptedReply(call(1)), "One.", ScriptedReply(call(1)), "One.") as model:
        agent = Agent(model, [count])
        agent.run("Count.")

        assert agent.run("Again.").stopped_by == ""


def test_the_limit_that_stopped_a_run_is_named_before_anything_is_spent_beyond_it() -> None:
    model = ScriptedModel(ScriptedReply(call(5), usage=Usage(600, 300)))

    result = Agent(model, [count], budget=Budget(max_tokens=1000), price=by_thousand).run("Count.")

    assert (result.stopped_by, result.reason) == ("max_tokens", "100 of 1000 tokens are left")
    assert result.usage == Usage(600, 300)
    assert result.cost_usd == Decimal("0.9")


def test_money_stops_a_run() -> None:
    model = ScriptedModel(ScriptedReply(call(5), usage=Usage(600, 300)))

    result = Agent(model, [count], budget=Budget(max_usd=1), price=by_thousand).run("Count.")

    assert (result.stopped_by, result.reason) == ("max_usd", "$0.1000 of $1 are left")


def test_a_reply_is_cut_to_what_the_budget_still_pays() -> None:
    with ScriptedModel("Short.") as model:
        Agent(model, budget=Budget(max_tokens=500)).run("Tell me all.")

    assert 128 <= model.requests[0].max_tokens < 500


def test_seconds_stop_a_run_and_bound_every_call() -> None:
    clock = Clock(0.0)

    def sleep() -> str:
        """Sleep."""
        clock.now_s += 4
        return "slept"

    naps = [ScriptedReply(ToolCall("1", "sleep", f'{{"x": {number}}}')) for number in range(2)]
    tool = Tool(Tool.from_function(sleep).spec, sleep, lambda text: {})
    with ScriptedModel(*naps) as model:
        result = Agent(model, [tool], budget=Budget(max_seconds=7), clock=clock).run("Sleep.")

    assert [request.deadline_s for request in model.requests] == [7.0, 3.0]
    assert (result.stopped_by, result.reason) == ("max_seconds", "the 7 seconds are over")


def test_a_tool_has_no_more_time_than_the_run() -> None:
    release = threading.Event()

    def wait() -> str:
        """Wait."""
        release.wait(30)
        return "late"

    with ScriptedModel(ScriptedReply(ToolCall("1", "wait", "{}"))) as model:
        result = Agent(model, [wait], budget=Budget(max_seconds=0.05)).run("Wait.")
    release.set()

    assert result.stopped_by == "max_seconds"
    assert result.messages[2].parts == (ToolResult("1", "'wait' took too long and was given up", is_error=True),)


REPLIES = st.lists(st.tuples(st.integers(0, 300), st.floats(0, 1), st.booleans()), max_size=6)


@pytest.mark.slow
@given(REPLIES, st.none() | st.integers(0, 8000), st.none() | st.integers(0, 8))
def test_no_run_spends_more_than_its_budget(
    replies: list[tuple[int, float, bool]], max_tokens: int | None, max_usd: int | None
) -> None:
    """Models read up to the reserved tokens, write up to the granted ones, and call tools."""
    requests: list[Request] = []

    def step(length: int, share: float, calls: bool) -> Callable[[Request], ScriptedReply]:
        def reply(request: Request) -> ScriptedReply:
            requests.append(request)
            parts = (call(length, len(requests)),) if calls else ("Done.",)
            return ScriptedReply(*parts, usage=Usage(100 + 20 * len(requests), int(share * request.max_tokens)))

        return reply

    steps = [step(*reply) for reply in replies]
    model = ScriptedModel(*steps, "Done.")

    budget = Budget(max_tokens=max_tokens, max_usd=max_usd)
    result = Agent(model, [count], budget=budget, price=by_thousand).run("Count.")

    total = result.usage.input_tokens + result.usage.output_tokens
    assert max_tokens is None or total <= max_tokens
    assert max_usd is None or (result.cost_usd is not None and result.cost_usd <= max_usd)


def test_what_a_provider_reports_replaces_the_estimate() -> None:
    with ScriptedModel(ScriptedReply(call(2), usage=Usage(5000, 10)), "Done.") as model:
        agent = Agent(model, [count], budget=Budget(max_tokens=11_000))
        agent.run("Count.")

    assert model.requests[1].max_tokens < 11_000 - 5010 - 5010


def test_the_reason_the_model_stopped_is_kept() -> None:
    with ScriptedModel(ScriptedReply("Once upon a", stop="length")) as model:
        result = Agent(model).run("Tell me a story.")

    assert (result.text, result.stop, result.stopped_by) == ("Once upon a", "length", "")


def test_a_finished_run_says_what_it_says() -> None:
    with ScriptedModel("Hello.") as model:
        result = Agent(model).run("Hi")

    assert str(result) == "Hello."
