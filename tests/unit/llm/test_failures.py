"""What goes wrong, as people read it. That the SDKs raise these things is tested over HTTP, in `test_transport.py`."""

from __future__ import annotations

import json
import ssl
from dataclasses import replace
from typing import Any

import pytest

from openbook.errors import (
    BadRequestError,
    BadResponseError,
    CutOffError,
    KeyRefusedError,
    ModelError,
    OverloadedError,
    RateLimitedError,
    TimedOutError,
    UnreachableError,
)
from openbook.llm.failures import NO_KEY, explain, hint_for_key, is_failed_call, is_in_stream, missing_key
from openbook.llm.providers import ANTHROPIC, GROQ, OLLAMA, OPENAI, Provider
from openbook.llm.retry import is_passing

KEY = "sk-proj-0123456789"


class Response:
    def __init__(self, headers: dict[str, str]) -> None:
        self.headers = headers


class Fault(Exception):  # noqa: N818 - stands for what an SDK raises
    def __init__(self, status: int | None = None, body: Any = None, headers: dict[str, str] | None = None) -> None:
        super().__init__(f"the request held {KEY}")
        self.body = body
        if status is not None:
            self.status_code = status
            self.response = Response(headers or {})


def explained(
    fault: Exception,
    *,
    provider: Provider = OPENAI,
    key: str = KEY,
    late: bool = False,
    streaming: bool = False,
    deadline: str = "",
) -> ModelError:
    return explain(fault, provider=provider, key=key, late=late, streaming=streaming, deadline=deadline)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((400, BadRequestError), (401, KeyRefusedError), (402, BadRequestError), (403, KeyRefusedError)),
        *((404, BadRequestError), (408, TimedOutError), (409, OverloadedError), (413, BadRequestError)),
        *((422, BadRequestError), (429, RateLimitedError), (500, OverloadedError), (503, OverloadedError)),
        (529, OverloadedError),
    ],
)
def test_each_status_has_one_clear_line_and_a_next_step(status: int, kind: type[ModelError]) -> None:
    error = explained(Fault(status, {"error": {"message": "first\nsecond"}}))

    assert type(error) is kind
    assert error.status == status
    assert "\n" not in str(error)
    assert "openai" in str(error)
    assert f"({status})" in str(error)
    assert error.hint


def test_a_refused_key_names_the_variable_to_set() -> None:
    error = explained(Fault(401), provider=ANTHROPIC)

    assert "ANTHROPIC_API_KEY" in error.hint
    assert str(missing_key(ANTHROPIC)) == "anthropic needs a key, and ANTHROPIC_API_KEY is not set"
    assert "ANTHROPIC_API_KEY" in missing_key(ANTHROPIC).hint


def test_a_key_that_is_set_is_not_to_be_set_again() -> None:
    refused, forbidden, missing = explained(Fault(401)), explained(Fault(403)), explained(Fault(401), key=NO_KEY)

    assert str(refused) == "openai refused the key (401)"
    assert refused.hint == "OPENAI_API_KEY is set, but not valid here: check it, or set another one"
    assert forbidden.hint == "name another model, or set another key in OPENAI_API_KEY"
    assert (str(missing), missing.hint) == ("openai asks for a key (401)", hint_for_key(OPENAI))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
@pytest.mark.parametrize(
    "said",
    [
        f"Incorrect API key provided: {KEY}.",
        "Incorrect API key provided: sk-proj-****6789.",
        f"header 'Authorization: Bearer {KEY}' is wrong",
        "API key not valid: AIzaSyA-6789",
        "Invalid user token hf_0123456789",
        "x" * 195 + KEY,
    ],
)
def test_no_key_is_shown_whole_or_in_part(status: int, said: str) -> None:
    shown = repr(explained(Fault(status, {"error": {"message": said}})))

    assert not any(part in shown for part in (KEY, "sk-", "6789", "0123"))


def test_what_is_sent_in_place_of_a_key_is_no_secret() -> None:
    error = explained(Fault(404, {"error": {"message": "no model 'nonesuch'"}}), provider=OLLAMA, key=NO_KEY)

    assert str(error).endswith(": no model 'nonesuch'")


def test_what_the_provider_says_is_kept_short() -> None:
    plain = explained(Fault(400, {"message": "no such\n field"}))
    long = explained(Fault(500, "y" * 5000))
    page = explained(Fault(502, "<html><body>Bad gateway</body></html>"))

    assert str(plain) == "openai refused the request (400): no such field"
    assert len(str(long)) < 300
    assert str(page) == "openai has a fault or too much to do (502)"


def test_a_rate_limit_carries_the_wait_in_seconds() -> None:
    error = explained(Fault(429, headers={"retry-after": "7"}))

    assert (error.retry_after_s, error.hint) == (7.0, "try again in 7 s")


@pytest.mark.parametrize(
    ("wait", "hint"),
    [
        ("119", "try again in 119 s"),
        ("600", "try again in 10 minutes"),
        ("343644906", "try again later"),
        ("Fri, 31 Dec 9999 23:59:59 GMT", "try again later"),
    ],
)
def test_a_long_wait_is_told_in_minutes_and_one_of_years_not_at_all(wait: str, hint: str) -> None:
    assert explained(Fault(429, headers={"retry-after": wait})).hint == hint


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param({"error": {"type": "overloaded_error", "message": "busy"}}, 529, id="anthropic"),
        pytest.param({"error": {"type": "invalid_request_error", "message": "no"}}, 400, id="anthropic-refuses"),
        pytest.param({"type": "tokens", "code": "rate_limit_exceeded"}, 429, id="openai"),
        pytest.param({"type": "server_error", "code": 503}, 503, id="number"),
        pytest.param({"message": "?"}, 500, id="unknown"),
        pytest.param("model 'x' is not there", 500, id="words-alone"),
    ],
)
def test_an_error_inside_a_stream_says_in_words_what_it_is(body: dict[str, Any], status: int) -> None:
    fault = Fault(200, body)

    assert explained(fault).status == status
    assert is_in_stream(fault)
    assert not is_in_stream(Fault(529, body))
    assert not is_in_stream(Fault())


@pytest.mark.parametrize(
    "body",
    [
        pytest.param([{"error": {"code": 404, "message": "no such model"}}], id="in-a-list"),
        pytest.param({"detail": "no such model"}, id="detail"),
        pytest.param({"error": "no such model"}, id="words-alone"),
    ],
)
def test_what_a_server_says_is_found_where_it_says_it(body: Any) -> None:
    error = explained(Fault(404, body))

    assert str(error) == "openai refused the request (404): no such model"


@pytest.mark.parametrize(
    ("status", "said", "hint"),
    [
        (400, "This model's maximum context length is 8192 tokens.", "OPENBOOK_CONTEXT_TOKENS"),
        (400, "request (6000 tokens) exceeds the available context size (4096 tokens)", "OPENBOOK_CONTEXT_TOKENS"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "OPENBOOK_CONTEXT_TOKENS"),
        (413, "Request too large", "OPENBOOK_CONTEXT_TOKENS"),
        (402, "Insufficient balance", "credit"),
        (429, "You exceeded your current quota, please check your plan.", "credit"),
        (404, "Not Found", "the name of the model, and the address"),
    ],
)
def test_what_only_the_person_can_change_is_hinted_at_and_not_tried_again(status: int, said: str, hint: str) -> None:
    error = explained(Fault(status, {"message": said}))

    assert hint in error.hint
    assert not is_passing(error)


def test_a_reply_that_ends_within_a_character_was_cut_off() -> None:
    with pytest.raises(UnicodeDecodeError) as ends:
        "ü".encode()[:1].decode()
    with pytest.raises(UnicodeDecodeError) as wrong:
        b"\xff".decode()

    errors = [explained(fault.value, streaming=True) for fault in (ends, wrong)]

    assert [type(error) for error in errors] == [CutOffError, BadResponseError]


def test_tls_that_fails_is_told_apart_from_a_network_that_does() -> None:
    fault = ConnectionError()
    fault.__cause__ = ssl.SSLCertVerificationError(1, "of KEY")
    fault.__cause__.verify_message = "self-signed certificate"

    error = explained(fault, provider=OLLAMA)

    assert type(error) is UnreachableError
    assert str(error) == "no secure connection to ollama at http://127.0.0.1:11434/v1: self-signed certificate"
    assert "SSL_CERT_FILE" in error.hint


@pytest.mark.parametrize(
    ("location", "where"),
    [
        ("https://me:secret@gate.example/login?token=1", "to https://gate.example"),
        ("/v2/chat", "elsewhere"),
        ("http://[::1", "elsewhere"),
        ("", "elsewhere"),
    ],
)
def test_a_redirect_is_told_by_the_host_alone(location: str, where: str) -> None:
    error = explained(Fault(302, headers={"location": location}))

    assert str(error) == f"openai leads {where} (302), and nothing was sent there"
    assert not is_passing(error)


def test_no_password_of_an_address_is_shown() -> None:
    error = explained(ConnectionRefusedError(), provider=replace(OPENAI, url="http://me:secret@host:1/v1"))

    assert str(error) == "no connection to openai at http://host:1/v1"


def test_a_connection_that_fails_is_told_by_when_it_failed() -> None:
    fault = ConnectionResetError(KEY)

    errors = [explained(fault), explained(fault, streaming=True), explained(fault, streaming=True, late=True)]

    assert [type(error) for error in errors] == [UnreachableError, CutOffError, TimedOutError]


def test_a_call_that_took_too_long_names_the_setting_that_gives_it_more_time() -> None:
    fault = TimeoutError()

    assert explained(fault, late=True).hint == "try again, or ask for less"
    assert "set OPENBOOK_X to more seconds" in explained(fault, late=True, deadline="OPENBOOK_X").hint


def test_a_server_that_is_not_there_is_named_with_its_address() -> None:
    error = explained(ConnectionRefusedError(), provider=OLLAMA)

    assert str(error) == "no connection to ollama at http://127.0.0.1:11434/v1"
    assert error.hint == "start the server, or name another one"


@pytest.mark.parametrize("status", [200, 400])
def test_a_call_that_groq_cannot_read_may_be_written_better_next_time(status: int) -> None:
    fault = Fault(status, {"message": "Failed to call a function.", "code": "tool_use_failed"})

    error = explained(fault, provider=GROQ)

    assert str(error) == "groq could not read a call of a tool that the model wrote"
    assert is_passing(error)
    assert is_failed_call(fault)
    assert not is_failed_call(Fault(status, {"code": "other"}))


def test_what_is_not_json_is_a_bad_response() -> None:
    error = explained(json.JSONDecodeError("no", KEY, 0))

    assert type(error) is BadResponseError
    assert KEY not in str(error)


def test_a_reply_that_ends_early_behind_the_deadline_was_too_late() -> None:
    cut = CutOffError("cut")

    assert explained(cut) is cut
    assert type(explained(cut, late=True)) is TimedOutError
