"""Processes that answer: what becomes of questions when one dies, hangs, is busy, or the library changes."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from openbook.answering.options import AnswerOptions
from openbook.answers import Answered, AnswerEvent, GenerationResult, Stage, Written
from openbook.grounding.protocol import CitedClaim, Entailment
from openbook.library import Library
from openbook.llm.messages import ToolCall
from openbook.retrieval.search import EVERYTHING
from openbook.server.answer_pool import AnswerPool
from openbook.server.failures import RequestRefusedError
from openbook.settings import Settings
from openbook.testing import ScriptedModel, ScriptedReply
from tests.support import children_of

QUESTION = "When do sessions end?"
ANSWER = "Sessions end after one hour [1:2]."

Using = Callable[[AnswerPool], Awaitable[None]]


@pytest.fixture
def library(folder: Path, home: Path) -> Library:
    with Library.of(folder, settings=Settings(home=home, workers=1)) as assistant:
        return assistant


def use(library: Library, using: Using, *, most: int = 1, max_step_s: float = 60.0) -> None:
    """Start answerers, do something with them, and end them."""

    async def run() -> None:
        before = children_of(os.getpid())
        answer_pool = AnswerPool(library.location, library.settings, most, max_step_s=max_step_s)
        try:
            await answer_pool.start()
            await using(answer_pool)
        finally:
            await answer_pool.close()
        assert children_of(os.getpid()) <= before

    asyncio.run(run())


async def told(answer_pool: AnswerPool, options: AnswerOptions) -> list[AnswerEvent]:
    return [event async for event in answer_pool.stream(QUESTION, 10, EVERYTHING, options)]


async def answered(answer_pool: AnswerPool, options: AnswerOptions | None = None) -> GenerationResult:
    *_, last = await told(answer_pool, options or AnswerOptions())
    assert isinstance(last, Answered)
    return last.answer


@pytest.mark.slow
def test_a_child_answers_as_a_thread_does(library: Library) -> None:
    found = []

    async def using(answer_pool: AnswerPool) -> None:
        with ScriptedModel(ANSWER) as model:
            found.extend(await told(answer_pool, AnswerOptions(model=model)))

    use(library, using)
    with ScriptedModel(ANSWER) as model, Library(library.location, library.settings) as here:
        expected = list(here.query_stream(QUESTION, options=AnswerOptions(model=model)))

    *events, last = found
    *expected_events, expected_last = expected
    assert events == expected_events
    assert isinstance(last, Answered)
    assert isinstance(expected_last, Answered)
    assert last.answer.to_dict() | {"took_ms": 0} == expected_last.answer.to_dict() | {"took_ms": 0}


class Willing:
    """A judge that is sent to the child, and believes what it reads."""

    name = "willing"

    def judge(self, claims: Sequence[CitedClaim]) -> Sequence[Entailment | None]:
        return [Entailment("entailed", claim.cited_text) for claim in claims]


@pytest.mark.slow
def test_claims_of_a_child_are_verified_by_the_model_that_writes_by_another_one_or_by_a_judge(
    library: Library,
) -> None:
    found = '{"claim": 1, "verdict": "entailed", "quote": "Sessions end after one hour."}'
    written = "An hour later, sessions are over [1:2]."
    verified: list[tuple[str, str]] = []

    async def using(answer_pool: AnswerPool) -> None:
        with ScriptedModel(written, found) as both:
            answers = [await answered(answer_pool, AnswerOptions(model=both))]
        with ScriptedModel(written) as model, ScriptedModel(found, name="scripted:other") as other:
            answers.append(await answered(answer_pool, AnswerOptions(model=model, verifier=other)))
        with ScriptedModel(written) as model:
            answers.append(await answered(answer_pool, AnswerOptions(model=model, verifier=Willing())))
        with ScriptedModel(written) as model:
            answers.append(await answered(answer_pool, AnswerOptions(model=model, verifier="off")))
        verified.extend((answer.verifier, answer.claims[0].verdict) for answer in answers)

    use(library, using)

    assert verified == [
        ("scripted:model", "confirmed"),
        ("scripted:other", "confirmed"),
        ("willing", "confirmed"),
        ("", "unverified"),
    ]


@pytest.mark.slow
def test_a_model_with_tools_finds_them_in_the_child(library: Library) -> None:
    async def using(answer_pool: AnswerPool) -> None:
        with ScriptedModel(ScriptedReply(ToolCall("1", "search", '{"query": "sessions end"}')), ANSWER) as model:
            answer = await answered(answer_pool, AnswerOptions(model=model, tools=True))
        assert [citation.verdict for citation in answer.citations] == ["exact"]

    use(library, using)


@pytest.mark.slow
def test_a_child_that_dies_is_replaced_and_its_questions_are_answered_by_the_next_one(library: Library) -> None:
    async def using(answer_pool: AnswerPool) -> None:
        (first,) = answer_pool.pids
        os.kill(first, signal.SIGSTOP)
        asking = [asyncio.create_task(answered(answer_pool)) for _ in range(2)]
        await asyncio.sleep(0)
        os.kill(first, signal.SIGKILL)

        assert all("one hour" in answer.answer for answer in await asyncio.gather(*asking))
        assert answer_pool.pids != [first]

    use(library, using)


@pytest.mark.slow
def test_an_answer_continues_in_another_process_when_its_own_dies_while_the_model_writes(library: Library) -> None:
    events: list[AnswerEvent] = []

    async def using(answer_pool: AnswerPool) -> None:
        with ScriptedModel(ANSWER) as model:  # asked once, or it would fail
            async for event in answer_pool.stream(QUESTION, 10, EVERYTHING, AnswerOptions(model=model)):
                if isinstance(event, Written) and not any(isinstance(each, Written) for each in events):
                    os.kill(answer_pool.pids[0], signal.SIGKILL)
                events.append(event)

    use(library, using)

    *_, last = events
    assert isinstance(last, Answered)
    assert [citation.verdict for citation in last.answer.citations] == ["exact"]
    assert "".join(each.text for each in events if isinstance(each, Written)) == ANSWER
    assert [each.name for each in events if isinstance(each, Stage)] == ["searching", "writing", "checking"]


@pytest.mark.slow
def test_an_answer_fails_if_its_process_dies_after_the_sources_changed(library: Library, folder: Path) -> None:
    async def using(answer_pool: AnswerPool) -> None:
        with ScriptedModel(ANSWER) as model:
            events = answer_pool.stream(QUESTION, 10, EVERYTHING, AnswerOptions(model=model))
            while not isinstance(await anext(events), Written):
                pass
            (folder / "guide.md").write_text("# Sessions\n\nSessions end after nine days.\n", encoding="utf-8")
            with Library(library.location, library.settings) as changed:
                changed.sync()
            os.kill(answer_pool.pids[0], signal.SIGKILL)
            with pytest.raises(RequestRefusedError, match="has ended"):
                [event async for event in events]

    use(library, using)


@pytest.mark.slow
def test_an_answer_that_ends_every_child_ends_only_two(library: Library) -> None:
    async def using(answer_pool: AnswerPool) -> None:
        killed = set[int]()
        asking = asyncio.create_task(answered(answer_pool))
        while not asking.done():
            for pid in set(answer_pool.pids) - killed:
                killed.add(pid)
                os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0)
        with pytest.raises(RequestRefusedError, match="has ended"):
            await asking
        assert len(killed) == 2

    use(library, using)


@pytest.mark.slow
def test_a_child_that_hangs_before_it_is_ready_is_ended_too(library: Library) -> None:
    async def using(answer_pool: AnswerPool) -> None:
        os.kill(answer_pool.pids[0], signal.SIGKILL)
        while answer_pool.pids:  # noqa: ASYNC110 - nothing tells when the system has ended it
            await asyncio.sleep(0.01)
        asking = asyncio.create_task(answered(answer_pool))
        stopped = set[int]()
        while not asking.done():  # the one that it moves to hangs too
            for pid in set(answer_pool.pids) - stopped:
                stopped.add(pid)
                os.kill(pid, signal.SIGSTOP)
            await asyncio.sleep(0)
        with pytest.raises(RequestRefusedError, match="has ended"):
            await asking
        assert len(stopped) == 2

    use(library, using, max_step_s=0.2)


@pytest.mark.slow
def test_a_child_does_not_end_by_what_stops_the_service(library: Library) -> None:
    async def using(answer_pool: AnswerPool) -> None:
        before = answer_pool.pids
        os.kill(before[0], signal.SIGTERM)
        os.kill(before[0], signal.SIGINT)
        assert "one hour" in (await answered(answer_pool)).answer
        assert answer_pool.pids == before

    use(library, using)


@pytest.mark.slow
def test_a_child_that_hangs_is_ended(library: Library) -> None:
    async def using(answer_pool: AnswerPool) -> None:
        await answer_pool.start(2)  # here, where a start may take as long as it takes
        hanging, other = answer_pool.pids
        os.kill(hanging, signal.SIGSTOP)
        assert "one hour" in (await answered(answer_pool)).answer
        assert answer_pool.pids == [other]

    use(library, using, most=2, max_step_s=3.0)


@pytest.mark.slow
def test_a_child_is_busy_until_its_last_word_and_not_until_somebody_hears_it(library: Library) -> None:
    async def using(answer_pool: AnswerPool) -> None:
        wrong: Any = "ten"
        asked: list[tuple[Any, AnswerOptions]] = [
            (10, AnswerOptions()),  # ends with an answer,
            (10, AnswerOptions(model=ScriptedModel(ANSWER))),  # with a call of a model
            (wrong, AnswerOptions()),  # and with an error
        ]
        readers = [answer_pool.stream(QUESTION, limit, EVERYTHING, options) for limit, options in asked]
        assert [await anext(reader) for reader in readers] == [Stage("searching")] * 3
        await answered(answer_pool)  # behind those, so that they are done

        assert (await answer_pool.least_busy()).busy == 0

        for reader in readers:
            await reader.aclose()

    use(library, using)


@pytest.mark.slow
def test_a_reader_that_pauses_for_longer_than_a_step_may_take_ends_no_child(library: Library) -> None:
    async def once(answer_pool: AnswerPool) -> None:
        await answered(answer_pool)

    async def using(answer_pool: AnswerPool) -> None:
        events = answer_pool.stream(QUESTION, 10, EVERYTHING, AnswerOptions())
        await anext(events)
        await answered(answer_pool)  # behind that, so that the child has nothing left to do
        before = answer_pool.pids
        await asyncio.sleep(2 * max_step_s)

        *_, last = [event async for event in events]
        assert isinstance(last, Answered)
        assert answer_pool.pids == before

    started_s = time.monotonic()
    use(library, once)
    max_step_s = time.monotonic() - started_s  # of a start and a whole answer: many times that of a step, anywhere

    use(library, using, max_step_s=max_step_s)


@pytest.mark.slow
def test_while_one_is_busy_another_one_is_started_and_no_more_than_are_allowed(library: Library) -> None:
    async def using(answer_pool: AnswerPool) -> None:
        os.kill(answer_pool.pids[0], signal.SIGSTOP)
        stuck = [asyncio.create_task(answered(answer_pool)) for _ in range(2)]
        await asyncio.sleep(0)
        await answer_pool.start(2)
        (await answered(answer_pool), await answered(answer_pool))
        assert not any(task.done() for task in stuck)
        os.kill(answer_pool.pids[0], signal.SIGCONT)
        await asyncio.gather(*stuck)

        await answer_pool.start(3)
        assert len(answer_pool.pids) == 2

    use(library, using, most=2)


@pytest.mark.slow
def test_a_disconnected_client_blocks_nobody(library: Library) -> None:
    async def using(answer_pool: AnswerPool) -> None:
        options = AnswerOptions(model=ScriptedModel(ANSWER))
        async with aclosing(answer_pool.stream(QUESTION, 10, EVERYTHING, options)) as events:
            assert await anext(events) == Stage("searching")
        assert "one hour" in (await answered(answer_pool)).answer

    use(library, using)


@pytest.mark.slow
def test_a_library_that_is_made_again_is_answered_from(library: Library, folder: Path) -> None:
    async def using(answer_pool: AnswerPool) -> None:
        assert "one hour" in (await answered(answer_pool)).answer
        (folder / "guide.md").write_text("# Sessions\n\nSessions end after nine days.\n", encoding="utf-8")
        os.unlink(library.location)  # noqa: PTH108
        with Library.of(folder, settings=library.settings):
            assert "nine days" in (await answered(answer_pool)).answer

    use(library, using)


@pytest.mark.slow
def test_closed_it_answers_nothing_more(library: Library) -> None:
    async def using(answer_pool: AnswerPool) -> None:
        await answer_pool.close()
        with pytest.raises(RequestRefusedError, match="being stopped"):
            await answered(answer_pool)

    use(library, using)
