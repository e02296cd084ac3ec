"""A library that is asked with a real model: the answer has the right shape. What the model says is not judged."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook import AnswerOptions, Library
from openbook.answers import Answered, AnswerEvent, Stage, Written
from openbook.llm.protocol import Model

pytestmark = [pytest.mark.llm, pytest.mark.allow_hosts(["127.0.0.1"])]

QUESTION = "When does the tide turn?"


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Library]:
    (tmp_path / "tides.md").write_text("The tide turns at noon.\n", encoding="utf-8")
    with Library.of(tmp_path) as made:
        yield made


def test_a_library_can_be_asked_without_blocking(assistant: Library, model: Model) -> None:
    async def ask() -> list[AnswerEvent]:
        events = assistant.aquery_stream(
            QUESTION, options=AnswerOptions(model=model, verifier="off", max_answer_tokens=24)
        )
        return [event async for event in events]

    *events, last = asyncio.run(ask())

    assert [event.name for event in events if isinstance(event, Stage)] == ["searching", "writing", "checking"]
    assert any(isinstance(event, Written) for event in events)
    assert isinstance(last, Answered)
    assert last.answer.model == model.name
    assert last.answer.usage.known
    assert last.answer.usage.output_tokens <= 24
    assert last.answer.cost_usd is None
    assert [result.chunk.span.path for result in last.answer.results] == ["tides.md"]
