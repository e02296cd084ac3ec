"""What went wrong with a call, as one of our errors: one line, what to do next, and never a key."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from openbook.errors import (
    BadRequestError,
    BadResponseError,
    CutOffError,
    KeyMissingError,
    KeyRefusedError,
    ModelError,
    OverloadedError,
    RateLimitedError,
    TimedOutError,
    UnreachableError,
)
from openbook.llm.providers import Provider
from openbook.llm.retry import retry_after_s

# Errors inside a stream come with status 200 and say in words what they are; anything else there
# is the provider's fault.
_STATUS_OF = {
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "invalid_request_error": 400,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}

_LONGEST_DETAIL = 200  # characters of what a provider says: enough for a sentence, too little for a page of HTML

# How the keys of these providers look, masked ones included: 401s quote what they were sent.
_KEY = re.compile(r"\b(?:sk|gsk|xai|pk)[-_][\w*.\-]+|(?i:\bbearer\s+)\S+")


def missing_key(provider: Provider) -> KeyMissingError:
    """Say which variable to set."""
    return KeyMissingError(f"{provider.name} needs a key, and {provider.key} is not set", hint=hint_for_key(provider))


def hint_for_key(provider: Provider) -> str:
    """Say where to put the key of a provider."""
    return f"set {provider.key} in the environment, or write it into .env here"


def explain(fault: Exception, *, provider: Provider, key: str, late: bool, streaming: bool) -> ModelError:
    """Turn what an SDK raised into an error of ours.

    Args:
        fault: As it was raised. It may hold the request and its headers: never make it a cause.
        provider: Who was asked.
        key: What must not be shown.
        late: Whether the deadline has passed.
        streaming: Whether a part of the reply had come.
    """
    if isinstance(fault, ModelError) and not (late and isinstance(fault, CutOffError)):
        return fault
    body = getattr(fault, "body", None)
    status = _status(fault, body)
    if status is not None:
        headers = getattr(getattr(fault, "response", None), "headers", {})
        return _refused(provider, status, detail=_detail(body, key), wait_s=retry_after_s(headers))
    if isinstance(fault, json.JSONDecodeError | UnicodeDecodeError):
        return BadResponseError(f"{provider.name} sent what is not JSON")
    if late:
        return TimedOutError(f"{provider.name} did not finish in time", hint="try again, or ask for less")
    if streaming:
        return CutOffError(f"{provider.name} broke off its reply", hint="try again")
    what_next = "check the network" if provider.needs_key else "start the server, or name another one"
    place = provider.name if provider.name == provider.url else f"{provider.name} at {provider.url}"
    return UnreachableError(f"no connection to {place}", hint=what_next)


def is_in_stream(fault: Exception) -> bool:
    """Whether a provider reported it inside a reply that had begun."""
    return getattr(fault, "body", None) is not None and getattr(fault, "status_code", 200) == 200


def _status(fault: Exception, body: Any) -> int | None:
    status = getattr(fault, "status_code", None)
    if isinstance(status, int) and status != 200:
        return status
    error = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return None if status is None else 500
    said = [str(error.get(name)) for name in ("type", "code", "status")]
    numbers = [int(word) for word in said if re.fullmatch(r"[45]\d\d", word)]
    return next((_STATUS_OF[word] for word in said if word in _STATUS_OF), numbers[0] if numbers else 500)


def _refused(provider: Provider, status: int, *, detail: str, wait_s: float | None) -> ModelError:
    name = provider.name
    if status in (401, 403):
        # Without the detail: it would quote the key.
        what = "refused the key" if status == 401 else "does not let the key use this"
        return KeyRefusedError(f"{name} {what} ({status})", hint=hint_for_key(provider), status=status)
    if status == 429:
        when = "try again later" if wait_s is None else f"try again in {wait_s:.0f} s"
        return RateLimitedError(
            f"{name} refused for now: too much was asked ({status}){detail}",
            hint=when,
            status=status,
            retry_after_s=wait_s,
        )
    said: dict[str, Any] = {"status": status, "retry_after_s": wait_s}
    if status == 408:
        return TimedOutError(f"{name} timed out (408){detail}", hint="try again", **said)
    if status == 409 or status >= 500:
        message = f"{name} has a fault or too much to do ({status}){detail}"
        return OverloadedError(message, hint="try again later", **said)
    hint = {404: "check the name of the model", 413: "ask for less"}.get(status, "try another model")
    return BadRequestError(f"{name} refused the request ({status}){detail}", hint=hint, **said)


def _detail(body: Any, key: str) -> str:
    """Find what the provider says, in one line that begins with a colon; empty if it says nothing."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    said = error.get("message") if isinstance(error, Mapping) else error
    if not isinstance(said, str) or said.lstrip().startswith("<"):
        return ""
    line = " ".join((said.replace(key, "***") if key else said).split())
    line = _KEY.sub("***", line)
    line = line if len(line) <= _LONGEST_DETAIL else line[:_LONGEST_DETAIL] + "…"
    return f": {line}" if line else ""
