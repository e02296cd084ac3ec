"""What goes wrong, as people read it. That the SDKs raise these things is tested over HTTP, in `test_transport.py`."""

from __future__ import annotations

import json
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
from openbook.llm.failures import explain, is_in_stream, missing_key
from openbook.llm.providers import ANTHROPIC, OLLAMA, OPENAI, Provider

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
    fault: Exception, *, provider: Provider = OPENAI, late: bool = False, streaming: bool = False
) -> ModelError:
    return explain(fault, provider=provider, key=KEY, late=late, streaming=streaming)


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


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
@pytest.mark.parametrize(
    "said",
    [
        f"Incorrect API key provided: {KEY}.",
        "Incorrect API key provided: sk-proj-****6789.",
        f"header 'Authorization: Bearer {KEY}' is wrong",
        "x" * 195 + KEY,
    ],
)
def test_no_key_is_shown_whole_or_in_part(status: int, said: str) -> None:
    shown = repr(explained(Fault(status, {"error": {"message": said}})))

    assert not any(part in shown for part in (KEY, "sk-", "6789", "0123"))


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
    ("body", "status"),
    [
        pytest.param({"error": {"type": "overloaded_error", "message": "busy"}}, 529, id="anthropic"),
        pytest.param({"error": {"type": "invalid_request_error", "message": "no"}}, 400, id="anthropic-refuses"),
        pytest.param({"type": "tokens", "code": "rate_limit_exceeded"}, 429, id="openai"),
        pytest.param({"type": "server_error", "code": 503}, 503, id="number"),
        pytest.param({"message": "?"}, 500, id="unknown"),
    ],
)
def test_an_error_inside_a_stream_says_in_words_what_it_is(body: dict[str, Any], status: int) -> None:
    fault = Fault(200, body)

    assert explained(fault).status == status
    assert is_in_stream(fault)
    assert not is_in_stream(Fault(529, body))
    assert not is_in_stream(Fault())


def test_a_connection_that_fails_is_told_by_when_it_failed() -> None:
    fault = ConnectionResetError(KEY)

    errors = [explained(fault), explained(fault, streaming=True), explained(fault, streaming=True, late=True)]

    assert [type(error) for error in errors] == [UnreachableError, CutOffError, TimedOutError]


def test_a_server_that_is_not_there_is_named_with_its_address() -> None:
    error = explained(ConnectionRefusedError(), provider=OLLAMA)

    assert str(error) == "no connection to ollama at http://127.0.0.1:11434/v1"
    assert error.hint == "start the server, or name another one"


def test_what_is_not_json_is_a_bad_response() -> None:
    error = explained(json.JSONDecodeError("no", KEY, 0))

    assert type(error) is BadResponseError
    assert KEY not in str(error)


def test_a_reply_that_ends_early_behind_the_deadline_was_too_late() -> None:
    cut = CutOffError("cut")

    assert explained(cut) is cut
    assert type(explained(cut, late=True)) is TimedOutError
