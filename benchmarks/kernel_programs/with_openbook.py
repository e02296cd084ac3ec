"""The kernel of Openbook, as its documentation shows it. The first argument names what to do."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from openbook import require_model
from openbook.agent import Agent, Budget, Sampling, Tool, history_from_json, history_to_json, image
from openbook.errors import BadRequestError
from openbook.llm.batches import BatchedModel
from openbook.llm.rate_limit import RateLimitedModel
from openbook.llm.reply_cache import CachedModel

MODEL = "openai:gpt-4.1"
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
    return {"text": Agent(MODEL, [stock]).run("How many pens?").text}


def repeated() -> object:
    return {"text": Agent(MODEL, [stock]).run("How many pens?").text, "calls": len(CALLS)}


def budget() -> object:
    result = Agent(MODEL, budget=Budget(max_tokens=500)).run("pen " * 1000)
    return {"stopped": result.stopped_by}


def cancel() -> object:
    async def run() -> None:
        task = asyncio.create_task(Agent(MODEL).arun("Hello."))
        while not Path("received").exists():
            await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.sleep(5)

    asyncio.run(run())
    return {}


def structured() -> object:
    order = Agent(MODEL).run_as(Order, "Two pens for Ada.")
    return {"pieces": order.pieces}


def fallback() -> object:
    return {"text": Agent("openai:broken,openai:gpt-4.1").run("Hello.").text}


def history() -> object:
    first = Agent(MODEL)
    first.run("My name is Ada.")
    Agent(MODEL, history=history_from_json(history_to_json(first.history))).run("Who am I?")
    return {}


def tracing() -> object:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    Agent(MODEL, [stock], tracer=provider.get_tracer("kernels")).run("How many pens?")
    return {"spans": [dict(span.attributes or {}) for span in exporter.get_finished_spans()]}


def picture() -> object:
    return {"text": Agent(MODEL).run(["What is it?", image("dot.png")]).text}


def cost() -> object:
    cost_usd = Agent(MODEL).run("Hello.").cost_usd
    return {"usd": None if cost_usd is None else float(cost_usd)}


def sampling() -> object:
    return {"text": Agent(MODEL, sampling=Sampling(temperature=0.5, seed=7)).run("Hello.").text}


def refused() -> object:
    try:
        return {"text": Agent("openai:o3", sampling=Sampling(temperature=0.5)).run("Hello.").text}
    except BadRequestError as error:
        return {"error": str(error)}


def cached() -> object:
    for _ in range(2):
        Agent(CachedModel(require_model(MODEL), "replies")).run("Hello.")
    return {}


def rate() -> object:
    model = RateLimitedModel(require_model(MODEL), requests_per_minute=2)
    began = time.monotonic()
    for _ in range(3):
        Agent(model).run("Hello.")
    return {"seconds": time.monotonic() - began}


def tool_cost() -> object:
    result = Agent(MODEL, Tool.from_function(stock, cost_usd=0.01)).run("How many pens?")
    return {"usd": float(result.tools["stock"].cost_usd)}


def batch() -> object:
    async def run() -> None:
        model = BatchedModel(MODEL, gather_s=1, poll_s=0.1)
        await asyncio.gather(*(Agent(model).arun(text) for text in ("Hello.", "Good day.")))

    asyncio.run(run())
    return {}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](), default=str))
