"""Calls of a model: its own citations become marks, its budget is kept, and leaving a call ends it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal

import pytest

from openbook.answering.calling import Calls, Marker, Reply, with_marks
from openbook.answering.steps import Steps, happen
from openbook.costs import Budget
from openbook.errors import BadResponseError, OverloadedError
from openbook.generation import Written
from openbook.llm.messages import Cited, Event, Message, Opaque, Part, Request, Text, TextDelta
from openbook.llm.protocol import Model
from openbook.testing import Reply as Said
from openbook.testing import ScriptedModel
from openbook.usage import Usage

REQUEST = Request((Message.user("Where?"),), system="Be brief.", max_tokens=500)


def a_cent_a_token(_: str, usage: Usage) -> Decimal:
    return Decimal(usage.input_tokens + usage.output_tokens) / 100


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        pytest.param([Text("It waits."), Cited(1, 2, 2), Text(" It ends.")], "It waits. [1:2] It ends.", id="sentence"),
        pytest.param(
            [Text("It waits"), Cited(1, 2, 4), Text(", then ends.")], "It waits [1:2-4], then ends.", id="inside"
        ),
        pytest.param([Text("One."), Cited(1, 2, 2), Cited(3, 1, 1)], "One. [1:2][3:1]", id="two"),
        pytest.param([Text("One."), Cited(1, 2, 2), Cited(1, 2, 2)], "One. [1:2]", id="the-same-twice"),
        pytest.param([Text("- One\n"), Cited(1, 2, 2), Text("- Two")], "- One [1:2]\n- Two", id="before-the-line-end"),
        pytest.param([Text("```\nx\n```"), Cited(1, 2, 2)], "```\nx\n```\n[1:2]", id="behind-a-fence"),
        pytest.param(
            [Text("```\nx\n```\n"), Cited(1, 2, 2), Cited(1, 4, 4), Text("So.")],
            "```\nx\n```\n[1:2][1:4]\nSo.",
            id="two-behind-a-fence",
        ),
        pytest.param([Text("A"), Opaque("anthropic", "{}"), Text("b.")], "Ab.", id="what-nobody-reads"),
        pytest.param([Cited(1, 1, 1), Text("Late.")], " [1:1]Late.", id="before-any-word"),
        pytest.param([Text(" \n ")], " \n ", id="blank"),
        pytest.param([], "", id="nothing"),
    ],
)
def test_citations_become_marks_behind_their_words(parts: list[Part], text: str) -> None:
    assert with_marks(parts) == text


def test_marks_are_the_same_however_the_words_are_cut() -> None:
    whole = "It waits. \nThen:\n```\nx = 1\n```\n"
    for size in range(1, len(whole)):
        marker = Marker()
        pieces = [marker.text(whole[at : at + size]) for at in range(0, len(whole), size)]
        told = "".join([*pieces, marker.cite(Cited(1, 2, 3)), marker.text("End."), marker.close()])

        assert told == "It waits. \nThen:\n```\nx = 1\n```\n[1:2-3]\nEnd."


def complete(calls: Calls, model: Model) -> tuple[str, Reply]:
    """Return the words that were shown, and the whole reply."""
    replies: list[Reply] = []

    def steps() -> Steps[None]:
        replies.append((yield from calls.ask(REQUEST, is_answer=True)))

    words = [event.text for event in happen(steps(), model) if isinstance(event, Written)]
    return "".join(words), replies[0]


def test_words_come_as_they_are_written_and_then_the_whole_reply() -> None:
    with ScriptedModel(Said("It waits. ", Cited(1, 2, 2), "It ends.")) as model:
        calls = Calls(model.name, Budget(), price=a_cent_a_token)
        told, reply = complete(calls, model)

    assert told == reply.text == "It waits. [1:2] It ends."
    assert (reply.stop, reply.stopped) == ("end", "")
    assert calls.ledger.spent.cost_usd == Decimal("0.15")


def test_words_that_are_no_answer_are_not_shown() -> None:
    with ScriptedModel("Where is Retry?") as model:
        assert list(happen(quietly(Calls(model.name, Budget())), model)) == []


def shown(calls: Calls) -> Steps[Reply]:
    return (yield from calls.ask(REQUEST, is_answer=True))


def quietly(calls: Calls) -> Steps[None]:
    yield from calls.ask(REQUEST)


def test_a_call_that_the_budget_forbids_is_not_made() -> None:
    with ScriptedModel() as model:
        _, reply = complete(Calls(model.name, Budget(max_usd=0.05), price=a_cent_a_token), model)

    assert (reply.text, reply.stopped) == ("", "max_usd")
    assert "are left" in reply.reason


def test_a_call_is_granted_no_more_than_the_budget_has() -> None:
    with ScriptedModel("Yes.") as model:
        complete(Calls(model.name, Budget(max_tokens=300), price=a_cent_a_token), model)

    assert 0 < model.requests[0].max_tokens < 300
    assert model.requests[0].system == "Be brief."


def test_leaving_a_call_ends_it_and_its_price_is_not_known() -> None:
    with ScriptedModel("It waits and waits.") as model:
        calls = Calls(model.name, Budget(), price=a_cent_a_token)
        writing = happen(shown(calls), model)
        next(writing)
        writing.close()

    assert model.cancelled == 1
    assert not calls.ledger.spent.usage.known


def test_a_model_that_fails_is_told_of_and_counted() -> None:
    model = ScriptedModel(Said("It wa", error=OverloadedError("busy")))
    calls = Calls(model.name, Budget(), price=a_cent_a_token)

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
        complete(Calls(model.name, Budget(), price=a_cent_a_token), model)
