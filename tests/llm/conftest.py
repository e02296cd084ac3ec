"""A real model on this machine, started once. `make test-llm` installs it and runs these tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from openbook.llm.choose import connect
from openbook.llm.protocol import Model
from openbook.llm.providers import LLAMACPP
from openbook.llm.retry import RetryPolicy
from tools.local_model.server import MODEL, serving


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with serving() as url:
        yield url


@pytest.fixture(params=["anthropic", "openai"])
def model(request: pytest.FixtureRequest, address: str) -> Model:
    """Return the model through one of our wires."""
    wire = request.param
    url = address if wire == "anthropic" else f"{address}/v1"
    provider = replace(LLAMACPP, name="local", wire=wire, url=url)
    # llama-server closes connections when it likes, also just as the next request comes: one more try.
    return connect(provider, MODEL, retries=RetryPolicy(pauses_s=(0.1,)))
