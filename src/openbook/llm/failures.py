"""Converts SDK errors to our errors: one line with a hint, never with a key."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

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

# Errors within a stream come with status 200 and name their kind; unknown kinds are the provider's fault.
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

NO_KEY = "none"
"""What is sent as a key if none is set: the SDKs require one even if the server does not."""

# Limits of providers last a day at most.
_MINUTE_S, _MAX_TOLD_WAIT_S = 60.0, 86_400.0

_MAX_DETAIL_CHARS = 200  # enough characters of a provider's message for a sentence, too few for an HTML page

# Messages of OpenAI, vLLM, llama.cpp and Anthropic for a request that exceeds the context.
_TOO_LONG = re.compile(r"context (?:length|size|window)|(?:prompt|input)\b.* is too (?:long|large)", re.IGNORECASE)

# In OpenAI's 429 for a key without credit, where retrying does not help.
_NO_CREDIT = "exceeded your current quota"

# Keys of providers, including masked ones: 401 responses quote them. The key that was used is replaced whatever it is.
_KEY = re.compile(r"\b(?:sk|gsk|xai|pk|hf|r8|csk|nvapi|fw|tgp|pplx)[-_][\w*.\-]+|\bAIza[\w*.\-]+|(?i:\bbearer\s+)\S+")


def missing_key(provider: Provider) -> KeyMissingError:
    """Return the error for a missing key, which names the variable to set."""
    return KeyMissingError(f"{provider.name} needs a key, and {provider.key} is not set", hint=hint_for_key(provider))


def hint_for_key(provider: Provider) -> str:
    """Return where to set the key of a provider."""
    return f"set {provider.key} in the environment, or write it into .env here"


def explain(
    fault: Exception, *, provider: Provider, key: str, late: bool, streaming: bool, deadline: str = ""
) -> ModelError:
    """Convert an SDK exception to one of our errors.

    `fault` may contain the request and its headers: never make it a cause. `key` must not be shown.
    """
    if isinstance(fault, ModelError) and not (late and isinstance(fault, CutOffError | UnreachableError)):
        return fault
    body = getattr(fault, "body", None)
    body = body[0] if isinstance(body, list) and body else body  # as Gemini does
    if is_failed_call(fault):
        message = f"{provider.name} could not read a call of a tool that the model wrote"
        return OverloadedError(message, hint="try another model", status=400)
    status = _status(fault, body)
    if status is not None:
        headers = getattr(getattr(fault, "response", None), "headers", {})
        if 300 <= status < 400:
            return _redirected(provider, status, headers)
        if status in (401, 403):
            return _key_refused(provider, status, is_set=key not in ("", NO_KEY))
        return _refused(provider, status, detail=detail_of(body, key), wait_s=retry_after_s(headers))
    was_cut = isinstance(fault, UnicodeDecodeError) and fault.reason == "unexpected end of data"
    if isinstance(fault, json.JSONDecodeError | UnicodeDecodeError | RecursionError) and not (was_cut or late):
        return BadResponseError(f"{provider.name} sent invalid JSON", hint="check its address, or try again")
    if late:
        what_next = f"ask for less, or set {deadline} to more seconds" if deadline else "try again, or ask for less"
        return TimedOutError(f"{provider.name} did not finish in time", hint=what_next)
    if streaming:
        return CutOffError(f"{provider.name} broke off its reply", hint="try again")
    what_next = "check the network" if provider.needs_key else "start the server, or name another one"
    place = provider.name if provider.name == provider.url else f"{provider.name} at {_without_password(provider.url)}"
    untrusted = _tls_fault(fault)
    if untrusted:
        what_next = "use http:// for a server without TLS, or name the authority of its certificate in SSL_CERT_FILE"
        return UnreachableError(f"no secure connection to {place}: {untrusted}", hint=what_next)
    return UnreachableError(f"no connection to {place}", hint=what_next)


def is_failed_call(fault: Exception) -> bool:
    """Return whether Groq reports an invalid tool call by its model, which a retry may correct."""
    body = getattr(fault, "body", None)
    return isinstance(body, Mapping) and body.get("code") == "tool_use_failed"


def is_in_stream(fault: Exception) -> bool:
    """Return whether the error was reported within a stream."""
    return getattr(fault, "body", None) is not None and getattr(fault, "status_code", 200) == 200


def _status(fault: Exception, body: Any) -> int | None:
    status = getattr(fault, "status_code", None)
    if isinstance(status, int) and status != 200:
        return status
    error = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return None if status is None and body is None else 500
    said = [str(error.get(name)) for name in ("type", "code", "status")]
    numbers = [int(word) for word in said if re.fullmatch(r"[45]\d\d", word)]
    return next((_STATUS_OF[word] for word in said if word in _STATUS_OF), numbers[0] if numbers else 500)


def _redirected(provider: Provider, status: int, headers: Mapping[str, str]) -> BadRequestError:
    try:
        parts = urlsplit(headers.get("location", ""))
    except ValueError:
        parts = urlsplit("")
    host = parts.netloc.rpartition("@")[2][:_MAX_DETAIL_CHARS]
    where = f"to {parts.scheme}://{host}" if host else "elsewhere"
    message = f"{provider.name} leads {where} ({status}), and nothing was sent there"
    return BadRequestError(message, hint="use that address, if it is the one you mean", status=status)


def _tls_fault(fault: BaseException | None) -> str:
    """Return the reason of a TLS or certificate error; empty for other errors."""
    import ssl

    while fault is not None and not isinstance(fault, ssl.SSLError):
        fault = fault.__cause__ or fault.__context__
    said = getattr(fault, "verify_message", None) or getattr(fault, "reason", None) or ""
    return str(said).replace("_", " ").lower()


def _without_password(url: str) -> str:
    """Remove a password from a URL."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _key_refused(provider: Provider, status: int, *, is_set: bool) -> KeyRefusedError:
    # Without the provider's detail, which would quote the key.
    if not is_set:
        return KeyRefusedError(f"{provider.name} asks for a key ({status})", hint=hint_for_key(provider), status=status)
    if status == 401:
        what, hint = "refused the key", f"{provider.key} is set, but not valid here: check it, or set another one"
    else:
        what, hint = "does not let the key use this", f"name another model, or set another key in {provider.key}"
    return KeyRefusedError(f"{provider.name} {what} ({status})", hint=hint, status=status)


def _later(wait_s: float | None) -> str:
    """Return when to try again. A date that is wrong by years is no wait."""
    if not wait_s or wait_s > _MAX_TOLD_WAIT_S:
        return "try again later"
    if wait_s < _MINUTE_S * 2:
        return f"try again in {wait_s:.0f} s"
    return f"try again in {wait_s / _MINUTE_S:.0f} minutes"


def _refused(provider: Provider, status: int, *, detail: str, wait_s: float | None) -> ModelError:
    name = provider.name
    if status == 402 or (status == 429 and _NO_CREDIT in detail):
        what_next = "check the plan and the credit of the key"
        return BadRequestError(f"{name} requires payment or credit ({status}){detail}", hint=what_next, status=status)
    if status == 429:
        return RateLimitedError(
            f"{name} refused for now: rate limit exceeded ({status}){detail}",
            hint=_later(wait_s),
            status=status,
            retry_after_s=wait_s,
        )
    said: dict[str, Any] = {"status": status, "retry_after_s": wait_s}
    if status == 408:
        return TimedOutError(f"{name} timed out (408){detail}", hint="try again", **said)
    is_too_long = _TOO_LONG.search(detail) is not None
    if status == 409 or (status >= 500 and not is_too_long):  # llama-server reports it as a server error
        message = f"{name} has a fault or too much to do ({status}){detail}"
        return OverloadedError(message, hint="try again later", **said)
    hint = {404: "check the name of the model, and the address"}.get(status, "try another model")
    if status == 413 or is_too_long:
        hint = "send less context: set OPENBOOK_CONTEXT_TOKENS to a smaller number"
    return BadRequestError(f"{name} refused the request ({status}){detail}", hint=hint, **said)


def detail_of(body: Any, key: str) -> str:
    """Return the provider's message as one line that begins with a colon; empty without one."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    said = error.get("message") or error.get("detail") if isinstance(error, Mapping) else error
    if not isinstance(said, str) or said.lstrip().startswith("<"):
        return ""
    line = " ".join((said if key in ("", NO_KEY) else said.replace(key, "***")).split())
    line = _KEY.sub("***", line)
    line = line if len(line) <= _MAX_DETAIL_CHARS else line[:_MAX_DETAIL_CHARS] + "…"
    return f": {line}" if line else ""
