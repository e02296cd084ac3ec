"""What an agent does with a model and tools, without limits and hooks."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing
from decimal import Decimal

import pytest

from openbook.agent import (
    Agent,
    AgentEvent,
    Budget,
    CallFinished,
    CallStarted,
    RunFinished,
    Sampling,
    Tool,
    ToolError,
    UsageCounted,
)
from openbook.errors import (
    BadRequestError,
    BadResponseError,
    InvalidArgumentError,
    ModelError,
    OverloadedError,
    SettingsError,
)
from openbook.llm.messages import Event, Message, Request, StopReason, TextBlock, TextDelta, ToolCall, ToolResult
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.usage import Usage


def add(a: int, b: int) -> int:
    """Add two whole numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


def find(name: str) -> str:
    """Find where a symbol is defined.

    Args:
        name: Exact name.
    """
    if name == "bug":
        raise TypeError("this function is wrong")
    if name == "own":
        raise ToolError("ask for another name", hint="such as `Client`")
    return {"Client": "client.py:3"}[name]


def call(name: str, arguments: str, number: int = 1) -> ToolCall:
    return ToolCall(f"call-{number}", name, arguments)


ADD = call("add", '{"a": 17, "b": 25}')


def results(model: ScriptedModel, request: int = -1) -> list[ToolResult]:
    """What the model was shown of its calls, in its last request."""
    return [part for part in model.requests[request].messages[-1].parts if isinstance(part, ToolResult)]


def test_an_agent_without_tools_gives_text_and_cost() -> None:
    with ScriptedModel("Hello.") as model:
        agent = Agent(model, system="Be brief.", price=lambda name, usage: Decimal("0.25"))

        answer = agent.chat("Hi")

    assert answer == ("Hello.", Decimal("0.25"))
    assert model.requests[0].system == "Be brief."
    assert model.requests[0].messages == (Message.user("Hi"),)


def test_a_tool_is_called_and_the_model_is_shown_its_result() -> None:
    with ScriptedModel(ScriptedReply("Let me see.", ADD), "It is 42.") as model:
        result = Agent(model, [add]).run("What is 17 + 25?")

    assert result.text == "It is 42."
    assert result.rounds == 1
    assert result.stopped_by == ""
    assert result.usage == Usage(20, 10)
    assert result.cost_usd is None
    assert results(model) == [ToolResult("call-1", "42")]
    assert [tool.name for tool in model.requests[0].tools] == ["add"]


def test_the_history_of_a_run_only_grows() -> None:
    with ScriptedModel(ScriptedReply(ADD), ScriptedReply(call("add", '{"a": 1, "b": 1}', 2)), "Done.") as model:
        result = Agent(model, [add]).run("Add.")

    first, second, third = (request.messages for request in model.requests)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert result.messages[: len(third)] == third


def test_a_run_tells_what_happens_as_it_happens() -> None:
    with ScriptedModel(ScriptedReply("Let me ", ADD), "It is 42.") as model:
        events = list(Agent(model, [add], price=lambda name, usage: Decimal(1)).stream("What is 17 + 25?"))

    seen: list[AgentEvent] = [
        TextDelta("Let "),
        TextDelta("me "),
        UsageCounted(Usage(10, 5), Decimal(1)),
        CallStarted(ADD),
        CallFinished(ADD, ToolResult("call-1", "42")),
        TextDelta("It "),
        TextDelta("is "),
        TextDelta("42."),
        UsageCounted(Usage(10, 5), Decimal(1)),
    ]
    assert events[:-1] == seen
    assert isinstance(events[-1], RunFinished)
    assert events[-1].result.text == "It is 42."


def test_calls_of_one_reply_run_at_the_same_time_and_their_results_keep_the_order_of_the_calls() -> None:
    together = threading.Barrier(2, timeout=30)

    def meet(name: str) -> str:
        """Wait for the other one.

        Args:
            name: Mine.
        """
        together.wait()
        return name

    calls = [call("meet", f'{{"name": "{name}"}}', number) for number, name in enumerate("ab")]
    with ScriptedModel(ScriptedReply(*calls), "Done.") as model:
        Agent(model, [meet]).run("Meet.")

    assert [result.text for result in results(model)] == ["a", "b"]


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        pytest.param(call("find", '{"name": "nobody"}'), "KeyError: 'nobody'", id="failed-in-the-world"),
        pytest.param(call("find", '{"name": "own"}'), "ask for another name such as `Client`", id="said-so"),
        pytest.param(call("find", '{"title": "x"}'), "argument 'name' is missing", id="wrong-arguments"),
        pytest.param(call("find", '{"name"'), "the arguments are not a JSON object", id="malformed"),
        pytest.param(call("fly", "{}"), "there is no tool 'fly'; there are: find, add", id="unknown-tool"),
    ],
)
def test_the_model_is_told_what_went_wrong_with_a_call(wanted: ToolCall, shown: str) -> None:
    with ScriptedModel(ScriptedReply(wanted), "I see.") as model:
        result = Agent(model, [find, add]).run("Find it.")

    (told,) = results(model)
    assert told.is_error
    assert told.text.startswith(shown)
    assert result.text == "I see."


def query_table(sql: str) -> str:
    """Query the database.

    Args:
        sql: What to ask.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        return str(connection.execute(sql).fetchall())


def test_a_mistake_in_a_query_is_told_to_the_model_which_tries_again() -> None:
    first, second = call("query_table", '{"sql": "SELECT FROM one"}'), call("query_table", '{"sql": "SELECT 1"}', 2)

    with ScriptedModel(ScriptedReply(first), ScriptedReply(second), "One.") as model:
        result = Agent(model, [query_table]).run("What is one?")

    assert results(model, 1)[0].text.startswith("OperationalError: near")
    assert results(model) == [ToolResult("call-2", "[(1,)]")]
    assert result.text == "One."


def test_a_result_that_cannot_be_written_is_an_error_of_the_tool() -> None:
    def circle() -> list[object]:
        """Return a list that holds itself."""
        round_and_round: list[object] = []
        round_and_round.append(round_and_round)
        return round_and_round

    with ScriptedModel(ScriptedReply(call("circle", "{}")), "Odd.") as model:
        Agent(model, [circle]).run("Go.")

    assert results(model)[0].is_error


def test_the_model_is_told_all_that_went_wrong_at_once() -> None:
    def gather() -> str:
        """Gather."""
        raise ExceptionGroup("two", [ValueError("first"), KeyError("second")])

    with ScriptedModel(ScriptedReply(call("gather", "{}")), "Odd.") as model:
        Agent(model, [gather]).run("Go.")

    assert results(model)[0].text == "ExceptionGroup: ValueError: first; KeyError: 'second'"


def test_a_strict_agent_ends_with_the_exception_of_a_tool_and_remembers_the_turn() -> None:
    calls = ScriptedReply(ADD, call("find", '{"name": "bug"}', 2))

    with ScriptedModel(calls, "I added and failed.") as model:
        agent = Agent(model, [add, find], strict=True)
        with pytest.raises(TypeError, match="is wrong"):
            agent.run("Add and find.")
        agent.run("What did you do?")

    assert model.requests[-1].messages[-3:] == (
        Message(
            "user",
            (
                ToolResult("call-1", "42"),
                ToolResult("call-2", "no result is known: TypeError: this function is wrong", is_error=True),
            ),
        ),
        Message.assistant("(TypeError: this function is wrong)"),
        Message.user("What did you do?"),
    )


def test_a_strict_agent_still_tells_the_model_what_a_tool_wants_it_to_know() -> None:
    with ScriptedModel(ScriptedReply(call("find", '{"name": "own"}')), "I see.") as model:
        assert Agent(model, [find], strict=True).run("Find it.").text == "I see."


def test_a_strict_tool_can_name_errors_that_the_model_is_told_of() -> None:
    tool = Tool.from_function(find, strict=True, errors=(TypeError,))

    with ScriptedModel(ScriptedReply(call("find", '{"name": "bug"}')), "Sorry.") as model:
        Agent(model, [tool]).run("Find it.")

    assert results(model)[0].text == "TypeError: this function is wrong"


def test_a_tool_that_takes_too_long_is_given_up() -> None:
    release = threading.Event()

    def wait() -> str:
        """Wait."""
        release.wait(30)
        return "late"

    with ScriptedModel(ScriptedReply(call("wait", "{}")), "Never mind.") as model:
        result = Agent(model, [Tool.from_function(wait, timeout_s=0.01)]).run("Wait.")
    release.set()

    assert result.text == "Never mind."
    assert results(model) == [ToolResult("call-1", "'wait' took too long and was given up", is_error=True)]


def test_a_tool_whose_time_is_endless_is_waited_for() -> None:
    with ScriptedModel(ScriptedReply(ADD), "It is 42.") as model:
        Agent(model, [Tool.from_function(add, timeout_s=float("inf"))]).run("Add.")

    assert results(model)[0].text == "42"


def test_a_long_result_reaches_the_model_cut_and_says_so() -> None:
    def read() -> str:
        """Read all."""
        return "x" * 100

    with ScriptedModel(ScriptedReply(call("read", "{}")), "Long.") as model:
        Agent(model, [Tool.from_function(read, max_chars=10)]).run("Read.")

    assert results(model)[0].text == "xxxxxxxxxx\n[cut: the first 10 of 100 characters]"


def test_more_calls_than_can_run_at_once_are_refused_one_by_one() -> None:
    calls = [call("add", f'{{"a": {number}, "b": 0}}', number) for number in range(18)]

    with ScriptedModel(ScriptedReply(*calls), "Done.") as model:
        Agent(model, [add]).run("Add.")

    told = results(model)
    assert [result.text for result in told[:16]] == [str(number) for number in range(16)]
    assert [result.text for result in told[16:]] == ["not called: at most 16 calls at once"] * 2


def test_an_async_function_is_a_tool_for_a_caller_that_blocks() -> None:
    async def double(a: int) -> int:
        """Double a number.

        Args:
            a: The number.
        """
        return 2 * a

    with ScriptedModel(ScriptedReply(call("double", '{"a": 4}')), "Eight.") as model:
        Agent(model, [double]).run("Double 4.")

    assert results(model) == [ToolResult("call-1", "8")]


def test_the_next_turn_knows_the_turns_before() -> None:
    with ScriptedModel(ScriptedReply(ADD), "It is 42.", "I said 42.") as model:
        agent = Agent(model, [add])
        agent.chat("What is 17 + 25?")
        agent.chat("What did you say?")

    assert model.requests[-1].messages == (
        Message.user("What is 17 + 25?"),
        Message("assistant", (ADD,)),
        Message("user", (ToolResult("call-1", "42"),)),
        Message.assistant("It is 42."),
        Message.user("What did you say?"),
    )


def test_an_agent_that_is_reset_remembers_nothing_and_has_spent_nothing() -> None:
    with ScriptedModel("One.", "Two.") as model:
        agent = Agent(model, history=[Message.user("Hi"), Message.assistant("Hello.")])
        agent.chat("First?")
        agent.reset()
        assert agent.spent.usage == Usage()
        agent.chat("Second?")

    assert len(model.requests[0].messages) == 3
    assert model.requests[1].messages == (Message.user("Second?"),)


def test_what_all_turns_cost_is_added_up() -> None:
    with ScriptedModel("One.", "Two.") as model:
        agent = Agent(model, price=lambda name, usage: Decimal(3))
        agent.chat("First?")
        agent.chat("Second?")

    assert agent.spent.cost_usd == Decimal(6)
    assert agent.spent.usage == Usage(20, 10)


def test_whoever_is_told_of_the_end_finds_it_in_the_history() -> None:
    with ScriptedModel("One.") as model:
        agent = Agent(model)
        seen = [(agent.history, agent.spent.usage) for event in agent.stream("?") if isinstance(event, RunFinished)]

    assert seen == [((Message.user("?"), Message.assistant("One.")), Usage(10, 5))]


@pytest.mark.parametrize("reply", [ScriptedReply(), ScriptedReply(TextBlock("  "))], ids=["no-parts", "blank"])
def test_a_model_that_says_nothing_leaves_a_history_that_can_go_on(reply: ScriptedReply) -> None:
    with ScriptedModel(reply, "Now.") as model:
        agent = Agent(model)

        assert agent.chat("?")[0] == "(the model wrote nothing)"
        agent.chat("Again?")

    assert [message.role for message in model.requests[-1].messages] == ["user", "assistant", "user"]
    assert all(message.text.strip() for message in model.requests[-1].messages)


@pytest.mark.parametrize(
    ("stop", "told"),
    [
        ("length", "(the tokens of the reply were used up before the model wrote any text)"),
        ("refused", "(the model declined to answer)"),
        ("filtered", "(the provider's content filter withheld the reply)"),
    ],
)
def test_why_there_is_no_text_is_said(stop: StopReason, told: str) -> None:
    with ScriptedModel(ScriptedReply(stop=stop)) as model:
        assert Agent(model).chat("?")[0] == told


def test_a_turn_that_fails_is_remembered_as_far_as_it_went() -> None:
    with ScriptedModel(ScriptedReply(ADD), OverloadedError("busy"), "Fine.") as model:
        agent = Agent(model, [add], price=lambda name, usage: Decimal(1) if usage.known else None)
        with pytest.raises(ModelError, match="busy"):
            agent.chat("What is 17 + 25?")
        agent.chat("Hello?")

    assert model.requests[-1].messages == (
        Message.user("What is 17 + 25?"),
        Message("assistant", (ADD,)),
        Message("user", (ToolResult("call-1", "42"),)),
        Message.assistant("(the turn ended before an answer)"),
        Message.user("Hello?"),
    )
    assert agent.spent.known_usd == Decimal(2)
    assert agent.spent.unpriced_calls == 1


def test_a_question_that_got_no_reply_at_all_is_asked_again_as_it_was() -> None:
    with ScriptedModel(OverloadedError("busy"), "Fine.") as model:
        agent = Agent(model)
        with pytest.raises(ModelError, match="busy"):
            agent.chat("Hello?")
        agent.chat("Hello?")

    assert model.requests[-1].messages == (Message.user("Hello?"),)


def test_a_turn_that_the_provider_refuses_to_read_is_not_sent_again() -> None:
    with ScriptedModel(ScriptedReply(ADD), BadRequestError("too long"), "Fine.") as model:
        agent = Agent(model, [add])
        with pytest.raises(ModelError, match="too long"):
            agent.chat("What is 17 + 25?")
        agent.chat("Hello?")

    assert model.requests[-1].messages == (Message.user("Hello?"),)


def test_leaving_a_stream_early_cancels_the_call_and_forgets_the_turn() -> None:
    model = ScriptedModel("One two three.")
    agent = Agent(model)
    events = agent.stream("?")

    next(events)
    events.close()

    assert model.cancelled == 1
    assert agent.history == ()
    assert agent.spent.unpriced_calls == 1


def test_one_conversation_takes_one_turn_at_a_time() -> None:
    model = ScriptedModel("One two three.", "Four.")
    agent = Agent(model)
    events = agent.stream("?")
    next(events)

    with pytest.raises(RuntimeError, match="one turn at a time"):
        agent.run("And?")
    list(events)

    assert agent.run("And?").text == "Four."


def test_a_stream_without_an_end_is_an_error() -> None:
    class Mute(ScriptedModel):
        def stream(self, request: Request) -> Generator[Event, None, None]:
            yield TextDelta("Well")

    with pytest.raises(BadResponseError, match="without a result"):
        Agent(Mute()).run("?")


def test_two_tools_cannot_share_a_name() -> None:
    with pytest.raises(InvalidArgumentError, match=r"two tools have the name 'add'; give one another name"):
        Agent(ScriptedModel(), [add, add])


def test_a_tool_that_says_too_little_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(TypeError, match="cannot be the name"):
        Agent(
            ScriptedModel(),
            [
                lambda: "",
            ],
        )


def test_a_model_that_only_quotes_cannot_run_an_agent() -> None:
    with pytest.raises(SettingsError, match="needs one that writes"):
        Agent("extractive")


def test_a_model_can_be_named_by_its_address() -> None:
    agent = Agent("http://127.0.0.1:9/v1#tiny", budget=Budget(max_usd=1))

    assert agent.chat("?") == (
        "(the budget allows no further call of the model: the price of 'http://127.0.0.1:9/v1#tiny' is not known, "
        "so no limit can be kept)",
        Decimal(0),
    )


def test_sampling_goes_with_every_call_of_a_run() -> None:
    sampling = Sampling(temperature=0, seed=7)
    with ScriptedModel(ScriptedReply(ADD), "It is 42.") as model:
        Agent(model, [add], sampling=sampling).run("What is 17 + 25?")

    assert [request.sampling for request in model.requests] == [sampling, sampling]
