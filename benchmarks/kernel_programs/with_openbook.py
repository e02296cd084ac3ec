"""The kernel of Openbook, as its documentation shows it. The first argument names what to do."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from openbook.agent import Agent, Budget, history_from_json, history_to_json, image

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


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](), default=str))
