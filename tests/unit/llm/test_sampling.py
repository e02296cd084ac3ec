"""Sampling settings reach the providers that take them, and no others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from openbook.errors import BadRequestError
from openbook.llm.choose import connect
from openbook.llm.messages import Sampling
from openbook.llm.protocol import complete
from openbook.llm.providers import GROQ, OLLAMA, OPENAI, Provider
from openbook.llm.sampling import SAMPLING_SETTINGS
from openbook.settings import Secret
from openbook.testing import FakeServer
from tests.unit.llm.calls import HELLO, model_on

Start = Callable[..., FakeServer]

ALL = Sampling(temperature=0, top_p=0.5, seed=7, stop=("END",))


@pytest.mark.parametrize("wire", ["openai", "groq"])
def test_settings_are_sent_under_the_names_of_chat_completions(fake_server: Start, wire: str) -> None:
    server = fake_server("Hello.")

    complete(model_on(server, wire), replace(HELLO, sampling=ALL))

    body = server.requests[0].body
    assert {name: body[name] for name in ALL.fields} == {"temperature": 0, "top_p": 0.5, "seed": 7, "stop": ["END"]}


def test_nothing_is_sent_of_what_is_not_set(fake_server: Start) -> None:
    server = fake_server("Hello.")

    complete(model_on(server, "openai"), HELLO)

    assert not server.requests[0].body.keys() & ALL.fields.keys()


def test_anthropic_gets_stop_texts_alone(fake_server: Start) -> None:
    server = fake_server("Hello.")

    complete(model_on(server, "anthropic"), replace(HELLO, sampling=Sampling(stop=("END",))))

    assert server.requests[0].body["stop_sequences"] == ["END"]


def test_a_setting_that_the_provider_refuses_is_an_error_before_the_call(fake_server: Start) -> None:
    server = fake_server()

    with pytest.raises(BadRequestError, match="does not take temperature and top_p and seed") as raised:
        complete(model_on(server, "anthropic"), replace(HELLO, sampling=ALL))

    assert raised.value.hint == "leave it out; of the sampling settings it takes stop"
    assert not server.requests


@pytest.mark.parametrize("name", ["o3", "o4-mini", "gpt-5-mini", "gpt-6.1-terra"])
def test_models_of_openai_that_reason_take_a_seed_alone(name: str) -> None:
    model = connect(OPENAI, name, key=Secret("sk-test"))

    with pytest.raises(BadRequestError, match="temperature"):
        next(iter(model.stream(replace(HELLO, sampling=Sampling(temperature=0.2)))))


@pytest.mark.parametrize(
    ("provider", "name"),
    [(OPENAI, "gpt-4o"), (OPENAI, "gpt-5-chat-latest"), (GROQ, "openai/gpt-oss-120b"), (OLLAMA, "qwen3:8b")],
)
def test_other_models_of_that_wire_take_everything(provider: Provider, name: str) -> None:
    assert provider.sampling_of(name) == SAMPLING_SETTINGS


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": -0.1},
        {"temperature": math.nan},
        {"top_p": 0},
        {"top_p": 1.1},
        {"stop": ("",)},
        {"stop": "END"},
    ],
)
def test_settings_that_nobody_takes_are_refused_where_they_are_made(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Sampling(**wrong)  # type: ignore[arg-type]
