"""By which way models are reached, and what is not sent along."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from openbook.errors import BadRequestError, SettingsError
from openbook.llm import connecting
from openbook.llm.choose import connect
from openbook.llm.protocol import acomplete, complete
from openbook.llm.providers import ANTHROPIC, LLAMACPP
from openbook.settings import Secret
from openbook.testing import FakeServer, Refusal
from tests.unit.llm.calls import HELLO, WIRES, model_on

Start = Callable[..., FakeServer]

wires = pytest.mark.parametrize("wire", WIRES)


@pytest.fixture
def _no_certificates_read() -> Iterator[None]:
    connecting._tls.cache_clear()
    yield
    connecting._tls.cache_clear()


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
def test_what_the_environment_has_for_one_provider_is_sent_to_no_other(
    fake_server: Start, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Gateway: ours-1\nAuthorization: Bearer ours-2")
    monkeypatch.setenv("OPENAI_ORG_ID", "ours-3")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "ours-4")
    server = fake_server("Hello.", "Hello.")
    url = server.anthropic_url if wire == "anthropic" else server.openai_url
    row = replace(ANTHROPIC if wire == "anthropic" else LLAMACPP, name="another", url=url)
    model = connect(row, "any", key=Secret(server.key))

    complete(model, HELLO)
    asyncio.run(acomplete(model, HELLO))

    assert len(server.requests) == 2
    assert "ours" not in str([received.headers for received in server.requests])


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])
@wires
def test_no_redirect_takes_a_question_elsewhere(fake_server: Start, wire: str, *, blocking: bool) -> None:
    elsewhere = fake_server()
    server = fake_server(Refusal(307, headers={"location": f"{elsewhere.anthropic_url}/v1/messages?token=1"}))
    model = model_on(server, wire)

    with pytest.raises(BadRequestError, match=r"leads to http://127\.0\.0\.1:\d+ \(307\)"):
        complete(model, HELLO) if blocking else asyncio.run(acomplete(model, HELLO))

    assert not elsewhere.requests
    assert not elsewhere.refused


@wires
def test_a_server_on_this_machine_is_not_looked_for_behind_a_proxy(
    fake_server: Start, wire: str, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    server = fake_server("Hello.", "Hello.")
    model = model_on(server, wire)

    replies = [complete(model, HELLO), asyncio.run(acomplete(model, HELLO))]

    assert [reply.message.text for reply in replies] == ["Hello."] * 2


@pytest.mark.usefixtures("_no_certificates_read")
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        pytest.param("ALL_PROXY", "socks://127.0.0.1:1080", id="as-desktops-write-it"),
        pytest.param("HTTPS_PROXY", "http://me:secret@[::1", id="no-address"),
        pytest.param("SSL_CERT_FILE", "/not/there.pem", id="no-certificates"),
        pytest.param("SSL_CERT_FILE", __file__, id="not-certificates"),
    ],
)
@pytest.mark.parametrize("wire", ["anthropic", "openai"])
def test_a_way_that_the_environment_names_and_that_cannot_be_used_is_said(
    wire: str, variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    row = replace(ANTHROPIC if wire == "anthropic" else LLAMACPP, url="https://models.example")

    with pytest.raises(SettingsError) as caught:
        complete(connect(row, "any", key=Secret("key")), HELLO)

    assert variable in caught.value.hint
    assert "secret" not in str(caught.value)
