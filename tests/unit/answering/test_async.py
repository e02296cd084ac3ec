"""Answering beside an event loop does what answering in a thread does, and holds up nobody."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openbook.answering.generator import Generator
from openbook.answering.options import AnswerOptions
from openbook.answers import Answered, AnswerEvent, Exchange, Stage, Written
from openbook.costs import Budget
from openbook.errors import ModelError, OverloadedError
from openbook.grounding.protocol import CitedClaim, Entailment
from openbook.llm.messages import Event, ProviderCitation, Request, ToolCall
from openbook.testing import FakeServer, Fault, HashEmbedder, ScriptedModel, ScriptedReply
from openbook.usage import Usage
from tests.unit.answering.checks import NOT_SAID, verdict_lines
from tests.unit.answering.driving import astream, stream
from tests.unit.llm.calls import model_on
from tests.unit.retrieval.material import Library

QUESTION = "When do sessions end?"
ANSWER = "Sessions end after one hour [1:1]."
WRONG = "The retry policy waits 90 seconds [1:1]."
OPEN = "A session is over after an hour [1:1]."
ENTAILED = verdict_lines(("entailed", "Sessions end after one hour"))
SEARCH = ScriptedReply("Let me see.", ToolCall("call-1", "search", '{"query": "sessions end"}'))
HISTORY = (Exchange("How long does the retry policy wait?", "30 seconds [1:2]."),)


class WatchedEmbedder(HashEmbedder):
    """Notes which threads embed, and can be made to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[str] = set()
        self.began, self.may_go_on = threading.Event(), threading.Event()
        self.may_go_on.set()

    def embed(self, texts: Sequence[str]) -> Any:
        """Embed as a `HashEmbedder` does."""
        self.threads.add(threading.current_thread().name)
        self.began.set()
        assert self.may_go_on.wait(30)
        return np.asarray(super().embed(texts))


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db", WatchedEmbedder())
    made.put("a.md", "Sessions end after one hour.", "The retry policy waits 30 seconds.", "Roses need sun.")
    yield made
    made.close()


def generator_of(library: Library) -> Generator:
    return Generator(
        library.index,
        library.embedder,
        text_now=library.text_now,
        context_tokens=6_000,
        clock=lambda: 0.0,
        price=lambda _, usage: Decimal(usage.input_tokens + usage.output_tokens) / 1_000,
    )


async def collect(events: AsyncIterator[AnswerEvent]) -> list[AnswerEvent]:
    return [event async for event in events]


class BrokenJudge:
    """A judge that fails as a stranger's may."""

    name = "broken"

    def judge(self, claims: Sequence[CitedClaim]) -> list[Entailment | None]:
        raise ZeroDivisionError(len(claims))


CASES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "direct": ([ANSWER], {}),
    "cited-by-the-provider": ([ScriptedReply("Sessions end after one hour.", ProviderCitation(1, 1, 1), " So.")], {}),
    "follow-up": (["When do sessions end?", ANSWER], {"history": HISTORY}),
    "retry": ([f"{ANSWER} {WRONG}", ANSWER], {"policy": "retry", "verifier": "off"}),
    "drop": ([f"{ANSWER} {WRONG}"], {"policy": "drop", "verifier": "off"}),
    "declined": ([ScriptedReply(stop="refused")], {}),
    "failure": ([ScriptedReply("Sess", error=OverloadedError("busy"))], {}),
    "beyond-the-budget": ([], {"budget": Budget(max_usd=0.0001)}),
    "uncited": (["A session is over after an hour."], {}),
    "verified": ([OPEN, ENTAILED], {}),
    "verified-by-another": ([OPEN], {"checks": [ENTAILED]}),
    "verifier-fails": ([OPEN, OverloadedError("busy")], {}),
    "verifier-breaks-off": ([OPEN, ScriptedReply("{", error=OverloadedError("busy"))], {}),
    "another-verifier-fails": ([OPEN], {"checks": [OverloadedError("busy")]}),
    "judge-fails": ([OPEN], {"verifier": BrokenJudge()}),
    "verifier-beyond-the-budget": (
        [ScriptedReply(OPEN, usage=Usage(9_000, 100))],
        {"budget": Budget(max_tokens=9_200)},
    ),
    "verified-retry": ([f"{OPEN} {WRONG}", NOT_SAID, OPEN], {"policy": "retry"}),
    "agent": ([SEARCH, ANSWER], {"tools": True}),
    "agent-verified": ([SEARCH, OPEN, ENTAILED], {"tools": True}),
    "agent-verifier-fails": ([SEARCH, OPEN, OverloadedError("busy")], {"tools": True}),
    "agent-retry": ([SEARCH, f"{ANSWER} {WRONG}", NOT_SAID, ANSWER], {"tools": True, "policy": "retry"}),
    "agent-rounds": ([SEARCH, ANSWER], {"tools": True, "budget": Budget(max_rounds=1)}),
    "agent-failure": ([SEARCH, OverloadedError("busy")], {"tools": True}),
}


def play(
    library: Library, case: str, drive: Callable[[Generator, str, AnswerOptions], list[AnswerEvent]]
) -> tuple[object, ...]:
    steps, given = CASES[case]
    options = dict(given)
    checks = options.pop("checks", None)
    question = "and those sessions, when do they end?" if "history" in options else QUESTION
    generator, error, events = generator_of(library), "", list[AnswerEvent]()
    with ScriptedModel(*steps) as model, ScriptedModel(*(checks or ()), name="scripted:checks") as other:
        if checks is not None:
            options["verifier"] = other
        try:
            events = drive(generator, question, AnswerOptions(model=model, **options))
        except ModelError as exc:
            error = str(exc)
    return error, events, model.requests, other.requests, generator.get_generation_stats()


def blocking(generator: Generator, question: str, options: AnswerOptions) -> list[AnswerEvent]:
    return list(stream(generator, question, options=options))


def waiting(generator: Generator, question: str, options: AnswerOptions) -> list[AnswerEvent]:
    return asyncio.run(collect(astream(generator, question, options=options)))


@pytest.mark.parametrize("case", list(CASES))
def test_both_ways_of_answering_do_the_same(library: Library, case: str) -> None:
    assert play(library, case, waiting) == play(library, case, blocking)


def test_quotes_are_the_same_both_ways(library: Library) -> None:
    generator = generator_of(library)

    assert waiting(generator, QUESTION, AnswerOptions()) == blocking(generator, QUESTION, AnswerOptions())


@pytest.mark.parametrize(
    ("case", "stages"),
    [
        ("direct", ["searching", "writing", "checking"]),
        ("follow-up", ["rephrasing", "searching", "writing", "checking"]),
        ("retry", ["searching", "writing", "checking", "writing", "checking"]),
        ("agent", ["writing", "checking"]),
        ("verified", ["searching", "writing", "checking", "verifying", "checking"]),
        ("verifier-fails", ["searching", "writing", "checking", "verifying", "checking"]),
        ("verified-retry", ["searching", "writing", "checking", "verifying", "checking", "writing", "checking"]),
        ("agent-verified", ["writing", "checking", "verifying", "checking"]),
    ],
)
def test_stages_tell_what_begins(library: Library, case: str, stages: list[str]) -> None:
    _, events, *_ = play(library, case, blocking)

    assert [event.name for event in events if isinstance(event, Stage)] == stages  # type: ignore[attr-defined]


def test_what_is_computed_is_computed_in_threads(library: Library) -> None:
    embedder = library.embedder
    assert isinstance(embedder, WatchedEmbedder)
    embedder.threads.clear()

    with ScriptedModel(ANSWER, SEARCH, ANSWER) as model:
        for tools in (False, True):
            waiting(generator_of(library), QUESTION, AnswerOptions(model=model, tools=tools))

    assert embedder.threads
    assert threading.main_thread().name not in embedder.threads


def test_the_threads_can_be_those_of_the_caller(library: Library) -> None:
    embedder = library.embedder
    assert isinstance(embedder, WatchedEmbedder)
    embedder.threads.clear()

    with ThreadPoolExecutor(1, "ours") as ours:
        asyncio.run(collect(astream(generator_of(library), QUESTION, executor=ours)))

    assert embedder.threads == {"ours_0"}


class HeldModel(ScriptedModel):
    """Says nothing before it is let go."""

    def __init__(self, *steps: str) -> None:
        super().__init__(*steps)
        self.asked, self.may_go_on = asyncio.Event(), asyncio.Event()

    async def astream(self, request: Request) -> AsyncIterator[Event]:  # type: ignore[override]
        """Wait, then reply."""
        self.asked.set()
        await self.may_go_on.wait()
        async for event in super().astream(request):
            yield event


def test_a_model_that_takes_long_holds_up_no_other_question(library: Library) -> None:
    generator = generator_of(library)

    async def main() -> tuple[bool, AnswerEvent, AnswerEvent]:
        with HeldModel(ANSWER) as held, ScriptedModel(ANSWER) as swift:
            slow = asyncio.create_task(collect(astream(generator, QUESTION, options=AnswerOptions(model=held))))
            await held.asked.wait()
            other = await collect(astream(generator, QUESTION, options=AnswerOptions(model=swift)))
            was_done = slow.done()
            held.may_go_on.set()
            return was_done, other[-1], (await slow)[-1]

    was_done, other, slow = asyncio.run(main())

    assert not was_done
    assert isinstance(other, Answered)
    assert isinstance(slow, Answered)
    assert other.answer == slow.answer


def test_a_check_that_takes_long_holds_up_no_other_question(library: Library) -> None:
    generator = generator_of(library)

    async def main() -> tuple[bool, AnswerEvent]:
        with HeldModel(ENTAILED) as checks, ScriptedModel(OPEN, ANSWER) as writes:
            options = AnswerOptions(model=writes, verifier=checks)
            slow = asyncio.create_task(collect(astream(generator, QUESTION, options=options)))
            await checks.asked.wait()
            await collect(astream(generator, QUESTION, options=options))
            was_done = slow.done()
            checks.may_go_on.set()
            return was_done, (await slow)[-1]

    was_done, last = asyncio.run(main())

    assert not was_done
    assert isinstance(last, Answered)
    assert [claim.verdict for claim in last.answer.claims] == ["confirmed"]


def test_whoever_goes_during_a_check_ends_it(library: Library) -> None:
    generator = generator_of(library)

    async def main() -> None:
        checks = HeldModel(ENTAILED)
        options = AnswerOptions(model=ScriptedModel(OPEN), verifier=checks)
        task = asyncio.create_task(collect(astream(generator, QUESTION, options=options)))
        await checks.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())

    assert generator.get_generation_stats()["total_generations"] == 0


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
@pytest.mark.parametrize("tools", [False, True], ids=["direct", "agent"])
def test_whoever_goes_ends_the_call_over_the_network(
    library: Library, fake_server: Callable[..., FakeServer], wire: str, *, tools: bool
) -> None:
    server = fake_server(Fault("hold", after=4), Fault("hold", after=4))
    options = AnswerOptions(model=model_on(server, wire), tools=tools)
    generator = generator_of(library)

    async def close_early() -> None:
        events = astream(generator, QUESTION, options=options)
        while not isinstance(await anext(events), Written):
            pass
        await events.aclose()

    async def cancel_task() -> None:
        begun = asyncio.Event()

        async def read_on() -> None:
            async for event in astream(generator, QUESTION, options=options):
                if isinstance(event, Written):
                    begun.set()

        task = asyncio.create_task(read_on())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(close_early())
    first = server.wait_for_disconnect()
    asyncio.run(cancel_task())

    assert first
    assert server.wait_for_disconnect()
    assert generator.get_generation_stats()["total_generations"] == 0


def test_whoever_goes_while_a_thread_searches_asks_no_model(library: Library) -> None:
    embedder = library.embedder
    assert isinstance(embedder, WatchedEmbedder)
    generator = generator_of(library)

    async def main(model: ScriptedModel) -> None:
        task = asyncio.create_task(collect(astream(generator, QUESTION, options=AnswerOptions(model=model))))
        await asyncio.to_thread(embedder.began.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        embedder.may_go_on.set()

    embedder.began.clear()
    embedder.may_go_on.clear()
    with ScriptedModel() as model:
        asyncio.run(main(model))

    assert generator.get_generation_stats()["total_generations"] == 0
