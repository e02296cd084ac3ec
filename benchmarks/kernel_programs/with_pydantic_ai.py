"""The same with pydantic-ai."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from pydantic_ai import (
    Agent,
    BinaryContent,
    InstrumentationSettings,
    ModelMessagesTypeAdapter,
    ModelSettings,
    UsageLimits,
)
from pydantic_ai.capabilities import BatchModelRequests, Instrumentation
from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded
from pydantic_ai.models.fallback import FallbackModel

MODEL = "openai-chat:gpt-4.1"
CALLS: list[str] = []


def stock(item: str) -> int:
    """Return how many pieces of an item are in stock."""
    CALLS.append(item)
    if item == "anchor":
        raise ValueError("no such item")
    return 12


@dataclass
class Order:
    customer: str
    pieces: int


def tool() -> object:
    return {"text": Agent(MODEL, tools=[stock]).run_sync("How many pens?").output}


def repeated() -> object:
    return {"text": Agent(MODEL, tools=[stock]).run_sync("How many pens?").output, "calls": len(CALLS)}


def budget() -> object:
    try:
        Agent(MODEL).run_sync("pen " * 1000, usage_limits=UsageLimits(total_tokens_limit=500))
    except UsageLimitExceeded as error:
        return {"stopped": str(error)}
    return {}


def cancel() -> object:
    async def run() -> None:
        task = asyncio.create_task(Agent(MODEL).run("Hello."))
        while not Path("received").exists():
            await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.sleep(5)

    asyncio.run(run())
    return {}


def structured() -> object:
    try:
        return {"pieces": Agent(MODEL, output_type=Order).run_sync("Two pens for Ada.").output.pieces}
    except UnexpectedModelBehavior as error:
        return {"error": str(error)}


def fallback() -> object:
    return {"text": Agent(FallbackModel("openai-chat:broken", MODEL)).run_sync("Hello.").output}


def history() -> object:
    saved = Agent(MODEL).run_sync("My name is Ada.").all_messages_json()
    Agent(MODEL).run_sync("Who am I?", message_history=ModelMessagesTypeAdapter.validate_json(saved))
    return {}


def tracing() -> object:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traced = Instrumentation(InstrumentationSettings(tracer_provider=provider))
    Agent(MODEL, tools=[stock], capabilities=[traced]).run_sync("How many pens?")
    return {"spans": [dict(span.attributes or {}) for span in exporter.get_finished_spans()]}


def picture() -> object:
    dot = BinaryContent(Path("dot.png").read_bytes(), media_type="image/png")
    return {"text": Agent(MODEL).run_sync(["What is it?", dot]).output}


def cost() -> object:
    return {"usd": float(Agent(MODEL).run_sync("Hello.").response.cost().total_price)}


def sampling() -> object:
    return {"text": Agent(MODEL, model_settings=ModelSettings(temperature=0.5, seed=7)).run_sync("Hello.").output}


def refused() -> object:
    settings = ModelSettings(temperature=0.5)
    return {"text": Agent("openai-chat:o3", model_settings=settings).run_sync("Hello.").output}


def batch() -> object:
    async def run() -> None:
        second = timedelta(seconds=1)
        batching = BatchModelRequests(max_requests=2, max_wait=second, poll_interval=second)
        agent = Agent("openai:gpt-4.1", capabilities=[batching])  # of OpenAI's APIs, it batches Responses alone
        # The server knows no Responses: what it has received says enough.
        await asyncio.gather(agent.run("Hello."), agent.run("Good day."), return_exceptions=True)

    asyncio.run(run())
    return {}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](), default=str))
