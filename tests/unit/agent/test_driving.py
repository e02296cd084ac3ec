"""Drivers of steps: in threads one at a time or ahead, and who is asked for what."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from dataclasses import replace

import pytest

from openbook.agent.driving import CallModel, Delta, Steps, ThreadStepRunner, adrive, drive
from openbook.errors import KeyRefusedError, ModelError, OverloadedError, TimedOutError, UnreachableError
from openbook.llm.messages import Event, Message, ReplyFinished, Request
from openbook.llm.protocol import Model
from openbook.testing import ScriptedModel, ScriptedReply

ASK = CallModel(Request((Message.user("?"),)))


class Told:
    """Steps that tell two events, ask, and tell how they were answered; `taken` says how far they came."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.ended = threading.Event()
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def steps(self) -> Steps[str]:
        try:
            for event in ("one", "two"):
                self.taken.append(event)
                yield event
                assert self.may_go_on.wait(30)
            reply = yield ASK
            assert isinstance(reply, ReplyFinished)
            yield reply.message.text
        finally:
            self.ended.set()


@pytest.mark.parametrize("ahead", [False, True])
def test_what_happens_is_told_in_order(ahead: bool) -> None:
    told = Told()

    async def watch(model: ScriptedModel) -> list[object]:
        events = adrive(ThreadStepRunner(told.steps(), ahead=ahead), model)
        return [event if isinstance(event, str) else "words" async for event in events]

    with ScriptedModel("Yes.") as model:
        assert asyncio.run(watch(model)) == ["one", "two", "words", "Yes."]


def test_nothing_more_is_done_for_whoever_leaves() -> None:
    told = Told()

    async def leave() -> object:
        events = adrive(ThreadStepRunner(told.steps()), None)
        first = await anext(events)
        await events.aclose()
        return first

    assert asyncio.run(leave()) == "one"
    assert told.taken == ["one"]
    assert told.ended.is_set()


def test_ahead_an_event_is_told_while_the_next_step_is_taken() -> None:
    told = Told()
    told.may_go_on.clear()

    async def watch() -> object:
        events = adrive(ThreadStepRunner(told.steps(), ahead=True), None)
        first = await anext(events)
        await events.aclose()
        told.may_go_on.set()
        return first

    assert asyncio.run(watch()) == "one"
    assert told.ended.wait(30)
    assert "Yes." not in told.taken


@pytest.mark.parametrize("ahead", [False, True])
def test_an_error_comes_behind_what_was_told(ahead: bool) -> None:
    def steps() -> Steps[str]:
        yield "one"
        raise LookupError("lost")

    async def watch() -> None:
        events = adrive(ThreadStepRunner(steps(), ahead=ahead), None)
        assert await anext(events) == "one"
        with pytest.raises(LookupError, match="lost"):
            await anext(events)

    asyncio.run(watch())


Driver = Callable[[Steps[str], Model | None, Model | None], list[str | Delta]]


def blocking(steps: Steps[str], model: Model | None, verifier: Model | None) -> list[str | Delta]:
    return list(drive(steps, model, verifier))


def waiting(steps: Steps[str], model: Model | None, verifier: Model | None) -> list[str | Delta]:
    async def collect() -> list[str | Delta]:
        return [event async for event in adrive(ThreadStepRunner(steps), model, verifier)]

    return asyncio.run(collect())


both = pytest.mark.parametrize("driver", [blocking, waiting])
CHECK = CallModel(Request((Message.user("Is it so?"),)), by="verifier")


def asking(*asks: CallModel) -> Steps[str]:
    for ask in asks:
        reply = yield ask
        assert reply is not None
        yield f"told: {reply.message.text or reply.failure}"


@both
def test_the_model_that_writes_checks_if_no_other_does(driver: Driver) -> None:
    with ScriptedModel("It", "Yes.") as model:
        events = driver(asking(ASK, CHECK), model, None)

    assert [event for event in events if isinstance(event, str)] == ["told: It", "told: Yes."]
    assert [request.messages[0].text for request in model.requests] == ["?", "Is it so?"]


@both
def test_a_verifier_is_asked_only_to_check(driver: Driver) -> None:
    with ScriptedModel("It") as model, ScriptedModel("Yes.") as verifier:
        events = driver(asking(ASK, CHECK), model, verifier)

    assert [event for event in events if isinstance(event, str)] == ["told: It", "told: Yes."]
    assert [request.messages[0].text for request in verifier.requests] == ["Is it so?"]


@both
def test_a_verifier_needs_no_model_that_writes(driver: Driver) -> None:
    with ScriptedModel("Yes.") as verifier:
        assert driver(asking(CHECK), None, verifier) == ["told: Yes."]


@both
def test_the_words_of_a_verifier_are_not_shown(driver: Driver) -> None:
    with ScriptedModel("Yes, it is so.") as model:
        assert driver(asking(CHECK), model, None) == ["told: Yes, it is so."]


@both
@pytest.mark.parametrize("failing", [OverloadedError("busy"), ScriptedReply("Ye", error=OverloadedError("busy"))])
@pytest.mark.parametrize("call", [CHECK, replace(ASK, may_fail=True)], ids=["verifier", "writer-that-may-fail"])
def test_a_call_that_may_fail_replies_why(driver: Driver, call: CallModel, failing: ModelError | ScriptedReply) -> None:
    with ScriptedModel(failing, "It") as model:
        events = driver(asking(call, ASK), model, None)

    assert [event for event in events if isinstance(event, str)] == ["told: busy", "told: It"]


@both
@pytest.mark.parametrize("lasting", [KeyRefusedError("no"), TimedOutError("late"), UnreachableError("away")])
def test_a_call_before_the_answer_may_fail_unless_the_answer_would_as_well(driver: Driver, lasting: ModelError) -> None:
    before = replace(ASK, may_fail=True, is_before_answer=True)
    with ScriptedModel(OverloadedError("busy"), "It") as model:
        events = driver(asking(before, ASK), model, None)
    with ScriptedModel(lasting) as away, pytest.raises(type(lasting)):
        driver(asking(before, ASK), away, None)

    assert [event for event in events if isinstance(event, str)] == ["told: busy", "told: It"]


@both
def test_what_a_provider_says_of_a_call_that_may_fail_is_not_logged(
    driver: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    with ScriptedModel(OverloadedError("busy: you asked 'Is it so?'", status=529)) as model:
        driver(asking(CHECK), model, None)

    assert caplog.messages == [f"the verifier {model.name} failed: OverloadedError, status 529"]


@both
def test_a_writer_that_fails_ends_it_all(driver: Driver) -> None:
    with ScriptedModel(OverloadedError("busy")) as model, pytest.raises(OverloadedError):
        driver(asking(ASK, CHECK), model, None)


class Confused(ScriptedModel):
    """A model whose own program fails."""

    def stream(self, request: Request) -> Generator[Event, None, None]:
        raise ZeroDivisionError(len(request.messages))


@both
def test_an_error_that_is_no_failure_of_a_model_is_not_hidden(driver: Driver) -> None:
    with pytest.raises(ZeroDivisionError):
        driver(asking(CHECK), ScriptedModel(), Confused())
