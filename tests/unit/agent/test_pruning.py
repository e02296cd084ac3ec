from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.agent import Agent, Budget, KeepExchanges, KeepTokens, Summarize, SummaryRequest
from openbook.agent.history import Pruning, exchanges
from openbook.llm.messages import Message, ToolCall, ToolResult
from openbook.llm.request_tokens import estimate_messages
from openbook.testing import ScriptedModel, ScriptedReply

History = tuple[Message, ...]


def exchange(number: int, rounds: int = 0, words: int = 1) -> History:
    """A question, some rounds of tools, an answer."""
    turns = [Message.user(f"question {number}")]
    for place in range(rounds):
        name = f"call-{number}-{place}"
        turns.append(Message("assistant", (ToolCall(name, "read", "{}"),)))
        turns.append(Message("user", (ToolResult(name, "word " * words),)))
    return (*turns, Message.assistant(f"answer {number}"))


def joined(parts: Sequence[History]) -> History:
    return tuple(message for part in parts for message in part)


TALK = joined([exchange(1), exchange(2, rounds=2, words=50), exchange(3)])

EXCHANGES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30)), max_size=6).map(
    lambda shapes: [exchange(number, *shape) for number, shape in enumerate(shapes)]
)

POLICIES: st.SearchStrategy[Pruning] = st.one_of(
    st.builds(KeepExchanges, st.integers(0, 7)),
    st.builds(KeepTokens, st.integers(0, 500)),
    st.builds(Summarize, st.integers(0, 300), st.integers(0, 4)),
)


def unmatched(history: History) -> set[str]:
    """Calls without their results and results without their calls."""
    called = [call.id for message in history for call in message.calls]
    given_back = [part.call_id for message in history for part in message.parts if isinstance(part, ToolResult)]
    return set(called) ^ set(given_back)


@pytest.mark.slow
@given(EXCHANGES, POLICIES)
def test_no_policy_parts_a_call_from_its_result_or_keeps_anything_but_the_end(
    talk: list[History], policy: Pruning
) -> None:
    history = joined(talk)

    pruned = policy(history)

    kept = pruned.rest if isinstance(pruned, SummaryRequest) else pruned
    assert unmatched(kept) == set()
    assert kept in [joined(talk[cut:]) for cut in range(len(talk) + 1)]
    if isinstance(pruned, SummaryRequest):
        assert unmatched(pruned.request.messages) == set()
        assert pruned.request.messages[:-1] + kept == history


@pytest.mark.slow
@given(EXCHANGES)
def test_exchanges_are_the_history_cut_before_each_question(talk: list[History]) -> None:
    assert exchanges(joined(talk)) == talk


def test_what_comes_before_the_first_question_is_an_exchange_of_its_own() -> None:
    greeting = Message.assistant("How can I help?")

    assert exchanges((greeting, *exchange(1))) == [(greeting,), exchange(1)]


@pytest.mark.parametrize(("count", "first"), [(0, 0), (1, 3), (2, 2), (3, 1), (9, 1)])
def test_the_last_exchanges_are_kept(count: int, first: int) -> None:
    kept = KeepExchanges(count)(TALK)

    assert (kept[0].text if kept else "question 0") == f"question {first}"


@pytest.mark.slow
@given(EXCHANGES, st.integers(0, 500))
def test_what_is_kept_by_tokens_fits(talk: list[History], max_tokens: int) -> None:
    assert estimate_messages(KeepTokens(max_tokens)(joined(talk))) <= max_tokens


def test_an_exchange_that_does_not_fit_drops_those_before_it() -> None:
    assert KeepTokens(100)(TALK) == exchange(3)


def test_an_agent_prunes_between_turns_and_not_within_one() -> None:
    with ScriptedModel("Four.") as model:
        agent = Agent(model, history=TALK, pruning=KeepExchanges(1))
        agent.run("question 4")

    assert model.requests[0].messages == (*exchange(3), Message.user("question 4"))
    assert agent.history == (*exchange(3), Message.user("question 4"), Message.assistant("Four."))


def test_the_model_sums_up_what_has_become_too_long() -> None:
    with ScriptedModel("We spoke of 1 and 2.", "Four.") as model:
        agent = Agent(model, system="Be brief.", history=TALK, pruning=Summarize(max_tokens=50, keep=1))
        result = agent.run("question 4")

    summing, asking = model.requests
    assert summing.messages[:-1] == joined([exchange(1), exchange(2, rounds=2, words=50)])
    assert (summing.system, summing.max_tokens) == ("Be brief.", 1000)
    assert asking.messages[0].text == "Summary of our conversation so far:\nWe spoke of 1 and 2."
    assert asking.messages[1:] == (Message.assistant("Understood."), *exchange(3), Message.user("question 4"))
    assert result.text == "Four."
    assert result.usage.input_tokens == 20


def test_a_summary_is_not_shown_as_an_answer() -> None:
    with ScriptedModel("We spoke.", ScriptedReply()) as model:
        agent = Agent(model, history=TALK, pruning=Summarize(max_tokens=50))

        assert agent.run("question 4").text == ""


def test_a_short_history_is_not_summed_up() -> None:
    with ScriptedModel("Four.") as model:
        Agent(model, history=TALK, pruning=Summarize(max_tokens=5000)).run("question 4")

    assert model.requests[0].messages[:-1] == TALK


def test_without_a_summary_the_history_stays() -> None:
    with ScriptedModel(ScriptedReply(), "Four.") as model:
        Agent(model, history=TALK, pruning=Summarize(max_tokens=50)).run("question 4")

    assert model.requests[1].messages[:-1] == TALK


def test_a_summary_is_paid_from_the_budget_of_the_run() -> None:
    result = Agent(ScriptedModel(), history=TALK, pruning=Summarize(max_tokens=50), budget=Budget(max_tokens=10)).run(
        "question 4"
    )

    assert result.stopped_by == "max_tokens"
    assert [message.role for message in result.messages] == ["user", "assistant"]
