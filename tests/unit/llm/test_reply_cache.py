"""Replies kept in a folder: what is answered from there, and what is not kept."""

from __future__ import annotations

import asyncio
import stat
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from openbook.agent import Agent
from openbook.costs import price_of
from openbook.errors import OverloadedError
from openbook.llm.messages import (
    CitationDelta,
    Message,
    ProviderCitation,
    ReplyFinished,
    Request,
    Sampling,
    StopReason,
    TextDelta,
    ToolSpec,
    ToolStarted,
)
from openbook.llm.protocol import acomplete, complete
from openbook.llm.reply_cache import CachedModel
from openbook.testing import ScriptedModel, ScriptedReply
from tests.unit.agent.test_agent import ADD, add
from tests.unit.llm.calls import FERRY, HELLO


@pytest.mark.parametrize("is_async", [False, True])
def test_the_same_request_is_answered_once(tmp_path: Path, is_async: bool) -> None:
    with ScriptedModel("Hello.") as model:
        kept = CachedModel(model, tmp_path / "replies")
        first, second = (asyncio.run(acomplete(kept, HELLO)) if is_async else complete(kept, HELLO) for _ in range(2))

    assert first.message == second.message == Message.assistant("Hello.")
    assert price_of("groq:any", second.usage) == Decimal(0)
    assert second.usage.input_tokens == second.usage.output_tokens == 0


def test_a_kept_reply_comes_as_the_events_of_a_reply(tmp_path: Path) -> None:
    cited = ProviderCitation(1, 2, 3)
    with ScriptedModel(ScriptedReply("Let me see.", cited, ADD)) as model:
        kept = CachedModel(model, tmp_path)
        complete(kept, HELLO)
        *events, last = kept.stream(HELLO)

    assert events == [TextDelta("Let me see."), CitationDelta(cited), ToolStarted(ADD.id, ADD.name)]
    assert isinstance(last, ReplyFinished)
    assert last.stop == "tools"


@pytest.mark.parametrize(
    "other",
    [
        replace(HELLO, messages=(Message.user("Say hello!"),)),
        replace(HELLO, system="Be brief."),
        replace(HELLO, tools=(FERRY,)),
        replace(HELLO, tools=(ToolSpec("ferry", "Other.", FERRY.parameters),)),
        replace(HELLO, sampling=Sampling(temperature=0)),
        replace(HELLO, max_tokens=7),
        replace(HELLO, tool_choice="none"),
    ],
)
def test_another_request_is_asked(tmp_path: Path, other: Request) -> None:
    with ScriptedModel("Hello.", "Good day.") as model:
        kept = CachedModel(model, tmp_path)
        complete(kept, HELLO)

        assert complete(kept, other).message.text == "Good day."


def test_another_model_is_asked(tmp_path: Path) -> None:
    with ScriptedModel("Hello.") as one, ScriptedModel("Ahoy.", name="scripted:other") as other:
        complete(CachedModel(one, tmp_path), HELLO)

        assert complete(CachedModel(other, tmp_path), HELLO).message.text == "Ahoy."


def test_the_deadline_does_not_matter(tmp_path: Path) -> None:
    with ScriptedModel("Hello.") as model:
        kept = CachedModel(model, tmp_path)
        complete(kept, HELLO)

        assert complete(kept, replace(HELLO, deadline_s=1.0)).message.text == "Hello."


@pytest.mark.parametrize("stop", ["length", "refused", "filtered", "other"])
def test_a_reply_that_failed_is_not_kept(tmp_path: Path, stop: StopReason) -> None:
    with ScriptedModel(ScriptedReply("Hel", stop=stop), "Hello.") as model:
        kept = CachedModel(model, tmp_path)
        complete(kept, HELLO)

        assert complete(kept, HELLO).message.text == "Hello."


def test_an_error_is_not_kept(tmp_path: Path) -> None:
    with ScriptedModel(OverloadedError("busy"), "Hello.") as model:
        kept = CachedModel(model, tmp_path / "replies")
        with pytest.raises(OverloadedError):
            complete(kept, HELLO)
        assert not (tmp_path / "replies").exists()

        assert complete(kept, HELLO).message.text == "Hello."


def test_nothing_of_a_request_is_written_down_and_only_the_owner_reads_it(tmp_path: Path) -> None:
    with ScriptedModel("Hello.") as model:
        complete(CachedModel(model, tmp_path / "replies"), Request((Message.user("My key is s3cret."),)))

    (file,) = (tmp_path / "replies").rglob("*.json")
    assert "s3cret" not in file.read_text(encoding="utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == stat.S_IMODE((tmp_path / "replies").stat().st_mode) == 0o700


def test_a_file_that_cannot_be_read_is_written_anew(tmp_path: Path) -> None:
    with ScriptedModel("Hello.", "Hello again.") as model:
        kept = CachedModel(model, tmp_path)
        complete(kept, HELLO)
        (file,) = tmp_path.rglob("*.json")
        file.write_text('{"message": ', encoding="utf-8")

        assert complete(kept, HELLO).message.text == "Hello again."
        assert complete(kept, HELLO).message.text == "Hello again."


def test_a_folder_that_cannot_be_written_costs_nobody_the_answer(tmp_path: Path) -> None:
    (tmp_path / "replies").write_text("", encoding="utf-8")
    with ScriptedModel("Hello.") as model:
        assert complete(CachedModel(model, tmp_path / "replies"), HELLO).message.text == "Hello."


def test_a_run_with_tools_is_played_again_from_the_folder(tmp_path: Path) -> None:
    with ScriptedModel(ScriptedReply(ADD), "It is 42.") as model:
        results = [Agent(CachedModel(model, tmp_path), [add]).run("What is 17 + 25?") for _ in range(2)]

    assert results[0].messages == results[1].messages
    assert results[1].cost_usd == Decimal(0)
