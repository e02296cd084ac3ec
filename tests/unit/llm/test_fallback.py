"""Models that stand in for each other: who is asked next, when, and what all of it has cost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest

from openbook.agent import Agent, Budget
from openbook.costs import price_of
from openbook.errors import (
    BadRequestError,
    BadResponseError,
    CutOffError,
    KeyRefusedError,
    ModelError,
    OverloadedError,
    RateLimitedError,
    SettingsError,
    TimedOutError,
    UnreachableError,
)
from openbook.llm.choose import open_model
from openbook.llm.fallback import FallbackModel, fallback
from openbook.llm.messages import Event, ReplyFinished, Sampling, TextDelta
from openbook.llm.protocol import acomplete, complete
from openbook.settings import Secret
from openbook.testing import FakeServer, Refusal, ScriptedModel, ScriptedReply
from openbook.usage import Usage
from tests.unit.llm.calls import HELLO, Clock

ONE_CENT = Decimal("0.01")


def cents(_: str, usage: Usage) -> Decimal | None:
    return ONE_CENT if usage.known else None


def answer_of(*models: ScriptedModel, is_async: bool = False) -> ReplyFinished:
    both = FallbackModel(*models, price=cents)
    return asyncio.run(acomplete(both, HELLO)) if is_async else complete(both, HELLO)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    "error",
    [
        OverloadedError("busy"),
        RateLimitedError("too many"),
        TimedOutError("late"),
        UnreachableError("gone"),
        KeyRefusedError("wrong key", status=401),
        BadRequestError("no credit", status=402),
        BadRequestError("unknown model", status=404),
        BadResponseError("a page"),
    ],
    ids=lambda error: str(error),
)
def test_the_next_model_is_asked_where_one_does_not_answer(error: ModelError, is_async: bool) -> None:
    with ScriptedModel(error) as first, ScriptedModel("Hello.") as second:
        reply = answer_of(first, second, is_async=is_async)

    assert reply.message.text == "Hello."
    assert price_of("any", reply.usage) == ONE_CENT


@pytest.mark.parametrize("error", [BadRequestError("too long", status=400), BadRequestError("no temperature")])
def test_what_the_request_is_to_blame_for_ends_the_call(error: ModelError) -> None:
    with ScriptedModel(error) as first, ScriptedModel() as second, pytest.raises(type(error)):
        answer_of(first, second)


@pytest.mark.parametrize("is_async", [False, True])
def test_nobody_else_is_asked_once_words_were_shown(is_async: bool) -> None:
    broken = ScriptedReply("Well, ", error=CutOffError("gone"))
    with ScriptedModel(broken) as first, ScriptedModel() as second, pytest.raises(CutOffError):
        answer_of(first, second, is_async=is_async)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_model_that_declines_is_paid_for_beside_the_one_that_answers(is_async: bool) -> None:
    declined = ScriptedReply(stop="refused", usage=Usage(100, 0))
    with ScriptedModel(declined) as first, ScriptedModel("Hello.") as second:
        reply = answer_of(first, second, is_async=is_async)

    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (110, 5)
    assert price_of("any", reply.usage) == 2 * ONE_CENT


def test_an_unknown_price_makes_the_sum_unknown() -> None:
    declined = ScriptedReply(stop="filtered", usage=None)
    with ScriptedModel(declined) as first, ScriptedModel("Hello.") as second:
        reply = answer_of(first, second)

    assert price_of("a,b", reply.usage) is None


def test_a_refusal_in_words_is_an_answer() -> None:
    with ScriptedModel(ScriptedReply("I will not.", stop="refused")) as first, ScriptedModel() as second:
        assert answer_of(first, second).message.text == "I will not."


def test_the_last_error_is_told_where_nobody_answers() -> None:
    first, second = ScriptedModel(OverloadedError("busy")), ScriptedModel(TimedOutError("late"))

    with pytest.raises(TimedOutError):
        answer_of(first, second)


def test_a_model_that_is_late_leaves_time_for_the_next_one() -> None:
    clock = Clock()

    def late(_: object) -> ModelError:
        clock.now += 60
        return TimedOutError("late")

    with ScriptedModel(late) as first, ScriptedModel("Hello.") as second:
        complete(FallbackModel(first, second, clock=lambda: clock.now), replace(HELLO, deadline_s=120))

    assert (first.requests[0].deadline_s, second.requests[0].deadline_s) == (60, 60)


@pytest.mark.parametrize("is_async", [False, True])
def test_closing_the_stream_ends_the_call_of_the_model_that_writes(is_async: bool) -> None:
    with ScriptedModel(OverloadedError("busy")) as first, ScriptedModel("Hello to you.") as second:
        both = FallbackModel(first, second)

        async def read() -> Event:
            events = both.astream(HELLO)
            try:
                return await anext(events)
            finally:
                await events.aclose()  # type: ignore[attr-defined]

        if is_async:
            begun = asyncio.run(read())
        else:
            events = both.stream(HELLO)
            begun = next(events)
            events.close()  # type: ignore[attr-defined]

    assert begun == TextDelta("Hello ")
    assert second.cancelled == 1


def test_a_run_of_an_agent_counts_what_all_have_cost() -> None:
    declined = ScriptedReply(stop="refused", usage=Usage(100, 0))
    with ScriptedModel(declined) as first, ScriptedModel("Hello.") as second:
        agent = Agent(FallbackModel(first, second, price=cents), budget=Budget())
        result = agent.run("Hi")

    assert result.usage.input_tokens == 110
    assert result.cost_usd == 2 * ONE_CENT


def test_a_budget_reserves_what_all_of_them_could_cost() -> None:
    usage = Usage(1_000_000, 1_000)
    names = ("anthropic:claude-sonnet-5-5", "openai:gpt-4o")
    prices = [price_of(name, usage) for name in names]

    assert None not in prices
    assert price_of(",".join(names), usage) == sum(filter(None, prices))
    assert price_of("anthropic:claude-sonnet-5-5,ollama:qwen3", usage) is None


def test_names_with_commas_between_them_are_models_that_stand_in_for_each_other(
    fake_server: Callable[..., FakeServer],
) -> None:
    server = fake_server(Refusal(529), Refusal(529), Refusal(529), Refusal(529), "Hello.")
    keys = {"ANTHROPIC_API_KEY": server.key, "ANTHROPIC_BASE_URL": server.anthropic_url, "LLM_API_KEY": server.key}
    model = open_model(f"anthropic, {server.openai_url}#tiny", environ=keys, retries=Clock().retries())

    assert model is not None
    assert model.name == f"anthropic:claude-sonnet-5-5,{server.openai_url}#tiny"
    assert complete(model, HELLO).message.text == "Hello."


def test_a_setting_that_one_of_them_refuses_is_an_error_before_anything_is_sent() -> None:
    keys = {"ANTHROPIC_API_KEY": "sk-a", "GROQ_API_KEY": "gsk-b"}
    model = open_model("anthropic,groq", environ=keys)

    assert model is not None
    with pytest.raises(BadRequestError, match="temperature"):
        complete(model, replace(HELLO, sampling=Sampling(temperature=0)))


@pytest.mark.parametrize("names", [(), ("extractive",), ("extractive", ScriptedModel())])
def test_a_fallback_is_of_models_that_write(names: tuple[str | ScriptedModel, ...]) -> None:
    with pytest.raises(SettingsError, match="language models"):
        fallback(*names)


def test_no_key_is_in_the_representation() -> None:
    model = open_model("anthropic,groq", environ={"ANTHROPIC_API_KEY": "sk-a", "GROQ_API_KEY": "gsk-b"})

    assert not {"sk-a", "gsk-b"} & set(repr(model).split("'"))
    assert Secret("sk-a").reveal() not in repr(model)
