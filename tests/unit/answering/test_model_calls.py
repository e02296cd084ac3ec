"""Calls of a model: its own citations become marks, its budget is kept, and leaving a call ends it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal

import pytest

from openbook.answering.options import AnswerOptions
from openbook.answering.steps import CitationMarker, ModelCaller, ModelReply, Steps, run, with_marks
from openbook.answers import Written
from openbook.costs import Budget
from openbook.errors import BadResponseError, OverloadedError
from openbook.llm.messages import Event, Message, OpaqueBlock, Part, ProviderCitation, Request, TextBlock, TextDelta
from openbook.llm.protocol import Model
from openbook.testing import ScriptedModel
from openbook.testing import ScriptedReply as Said
from openbook.usage import Usage

REQUEST = Request((Message.user("Where?"),), system="Be brief.", max_tokens=500)


def a_cent_a_token(_: str, usage: Usage) -> Decimal:
    return Decimal(usage.input_tokens + usage.output_tokens) / 100


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        pytest.param(
            [TextBlock("It waits."), ProviderCitation(1, 2, 2), TextBlock(" It ends.")],
            "It waits. [1:2] It ends.",
            id="sentence",
        ),
        pytest.param(
            [TextBlock("It waits"), ProviderCitation(1, 2, 4), TextBlock(", then ends.")],
            "It waits [1:2-4], then ends.",
            id="inside",
        ),
        pytest.param(
            [TextBlock("One."), ProviderCitation(1, 2, 2), ProviderCitation(3, 1, 1)], "One. [1:2][3:1]", id="two"
        ),
        pytest.param(
            [TextBlock("One."), ProviderCitation(1, 2, 2), ProviderCitation(1, 2, 2)], "One. [1:2]", id="the-same-twice"
        ),
        pytest.param(
            [TextBlock("- One\n"), ProviderCitation(1, 2, 2), TextBlock("- Two")],
            "- One [1:2]\n- Two",
            id="before-the-line-end",
        ),
        pytest.param([TextBlock("```\nx\n```"), ProviderCitation(1, 2, 2)], "```\nx\n```\n[1:2]", id="behind-a-fence"),
        pytest.param(
            [TextBlock("```\nx\n```\n"), ProviderCitation(1, 2, 2), ProviderCitation(1, 4, 4), TextBlock("So.")],
            "```\nx\n```\n[1:2][1:4]\nSo.",
            id="two-behind-a-fence",
        ),
        pytest.param([TextBlock("A"), OpaqueBlock("anthropic", "{}"), TextBlock("b.")], "Ab.", id="what-nobody-reads"),
        pytest.param([ProviderCitation(1, 1, 1), TextBlock("Late.")], " [1:1]Late.", id="before-any-word"),
        pytest.param([TextBlock(" \n ")], " \n ", id="blank"),
        pytest.param([], "", id="nothing"),
    ],
)
def test_citations_become_marks_behind_their_words(parts: list[Part], text: str) -> None:
    assert with_marks(parts) == text


def test_marks_are_the_same_however_the_words_are_cut() -> None:
    whole = "It waits. \nThen:\n```\nx = 1\n```\n"
    for size in range(1, len(whole)):
        marker = CitationMarker()
        pieces = [marker.text(whole[at : at + size]) for at in range(0, len(whole), size)]
        told = "".join([*pieces, marker.cite(ProviderCitation(1, 2, 3)), marker.text("End."), marker.close()])

        assert told == "It waits. \nThen:\n```\nx = 1\n```\n[1:2-3]\nEnd."


def complete(calls: ModelCaller, model: Model) -> tuple[str, ModelReply]:
    """Return the words that were shown, and the whole reply."""
    replies: list[ModelReply] = []

    def steps() -> Steps[None]:
        replies.append((yield from calls.ask(REQUEST, is_answer=True)))

    words = [event.text for event in run(steps(), AnswerOptions(model=model)) if isinstance(event, Written)]
    return "".join(words), replies[0]


def test_words_come_as_they_are_written_and_then_the_whole_reply() -> None:
    with ScriptedModel(Said("It waits. ", ProviderCitation(1, 2, 2), "It ends.")) as model:
        calls = ModelCaller(model.name, Budget(), price=a_cent_a_token)
        told, reply = complete(calls, model)

    assert told == reply.text == "It waits. [1:2] It ends."
    assert (reply.stop, reply.stopped) == ("end", "")
    assert calls.ledger.spent.cost_usd == Decimal("0.15")


def test_words_that_are_no_answer_are_not_shown() -> None:
    with ScriptedModel("Where is Retry?") as model:
        assert list(run(quietly(ModelCaller(model.name, Budget())), AnswerOptions(model=model))) == []


def shown(calls: ModelCaller) -> Steps[ModelReply]:
    return (yield from calls.ask(REQUEST, is_answer=True))


def quietly(calls: ModelCaller) -> Steps[None]:
    yield from calls.ask(REQUEST)


def test_a_call_that_the_budget_forbids_is_not_made() -> None:
    with ScriptedModel() as model:
        _, reply = complete(ModelCaller(model.name, Budget(max_usd=0.05), price=a_cent_a_token), model)

    assert (reply.text, reply.stopped) == ("", "max_usd")
    assert "are left" in reply.reason


def test_a_call_is_granted_no_more_than_the_budget_has() -> None:
    with ScriptedModel("Yes.") as model:
        complete(ModelCaller(model.name, Budget(max_tokens=300), price=a_cent_a_token), model)

    assert 0 < model.requests[0].max_tokens < 300
    assert model.requests[0].system == "Be brief."


def test_leaving_a_call_ends_it_and_its_price_is_not_known() -> None:
    with ScriptedModel("It waits and waits.") as model:
        calls = ModelCaller(model.name, Budget(), price=a_cent_a_token)
        options = run(shown(calls), AnswerOptions(model=model))
        next(options)
        options.close()

    assert model.cancelled == 1
    assert not calls.ledger.spent.usage.known


def test_a_model_that_fails_is_told_of_and_counted() -> None:
    model = ScriptedModel(Said("It wa", error=OverloadedError("busy")))
    calls = ModelCaller(model.name, Budget(), price=a_cent_a_token)

    with pytest.raises(OverloadedError):
        complete(calls, model)

    assert not calls.ledger.spent.usage.known


class Silent:
    """A model whose iterator cannot be closed, and that never finishes."""

    name = "silent:model"

    def stream(self, request: Request) -> Iterator[Event]:
        return iter([TextDelta("It")])

    astream: Callable[..., AsyncIterator[Event]]


def test_a_stream_without_a_result_is_an_error() -> None:
    model = Silent()

    with pytest.raises(BadResponseError, match="silent:model ended its stream without a result"):
        complete(ModelCaller(model.name, Budget(), price=a_cent_a_token), model)
