"""Reads the context size of a local model server, if it reports one.

llama.cpp reports it at `/props`; Ollama at `/api/show` for a model that sets it, and at `/api/ps` for a loaded model.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace
from importlib import import_module
from typing import Any

from openbook.llm.connecting import make_client
from openbook.llm.providers import Provider
from openbook.llm.transport import faults_of, timeout_within
from openbook.settings import Secret

_SDK = "openai"
_DEADLINE_S = 5.0
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


def context_size(
    provider: Provider, model: str, key: Secret | None = None, *, deadline_s: float = _DEADLINE_S
) -> int | None:
    """Return the context size in tokens; None if the server does not report it within `deadline_s`.

    Providers that need a key are not asked.
    """
    if provider.needs_key:
        return None
    sdk = import_module(_SDK)
    root = replace(provider, url=provider.url.rstrip("/").removesuffix("/v1"))
    client = make_client(sdk, "OpenAI", root, key or Secret("none"), blocking=True)
    ends_at = time.monotonic() + deadline_s

    def options() -> dict[str, Any]:
        return {"timeout": timeout_within(max(0.0, ends_at - time.monotonic()))}

    def got(path: str) -> Any:
        return client.get(path, cast_to=object, options=options())

    def shown() -> Any:
        return client.post("/api/show", cast_to=object, body={"model": model}, options=options())

    try:
        return (
            _asked(sdk, lambda: int(got("/props")["default_generation_settings"]["n_ctx"]))
            or _asked(sdk, lambda: _of_show(shown()))
            or _asked(sdk, lambda: _of_ps(got("/api/ps"), model))
        )
    finally:
        client.close()


def _asked(sdk: Any, ask: Any) -> int | None:
    odd: tuple[type[Exception], ...] = (*faults_of(sdk), LookupError, TypeError, ValueError)
    try:
        found: int | None = ask()
    except odd:  # no such endpoint, or an unexpected reply
        return None
    return found


def _of_show(reply: Any) -> int | None:
    """Read `num_ctx` from the model's own parameters.

    Without it, the server decides by available memory when it loads the model. `model_info` has the size that the model
    was trained for, which the server seldom uses.
    """
    found = _NUM_CTX.search(str(reply["parameters"]))
    return int(found[1]) if found else None


def _of_ps(reply: Any, model: str) -> int | None:
    """Read the context size of a loaded model."""
    names = (model, f"{model}:latest")
    return next((int(each["context_length"]) for each in reply["models"] if each["name"] in names), None)
