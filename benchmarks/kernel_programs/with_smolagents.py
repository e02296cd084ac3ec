"""The same with smolagents: its agent that calls tools by JSON."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from smolagents import OpenAIServerModel, ToolCallingAgent
from smolagents import tool as as_tool

CALLS: list[str] = []


def stock(item: str) -> int:
    """Return how many pieces of an item are in stock.

    Args:
        item: Its name.
    """
    CALLS.append(item)
    if item == "anchor":
        raise ValueError("no such item")
    return 12


def made(*tools: Any, name: str = "gpt-4.1", **options: Any) -> Any:
    model = OpenAIServerModel(name, os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"], **options)
    return ToolCallingAgent([as_tool(each) for each in tools], model, verbosity_level=0)


def tool() -> object:
    return {"text": made(stock).run("How many pens?")}


def repeated() -> object:
    return {"text": made(stock).run("How many pens?"), "calls": len(CALLS)}


def cancel() -> object:
    agent = made()
    threading.Thread(target=agent.run, args=("Hello.",), daemon=True).start()
    while not Path("received").exists():
        time.sleep(0.05)
    agent.interrupt()
    time.sleep(5)
    return {}


def picture() -> object:
    from PIL import Image

    return {"text": made().run("What is it?", images=[Image.open("dot.png")])}


def sampling() -> object:
    return {"text": made(temperature=0.5, seed=7).run("Hello.")}


def refused() -> object:
    return {"text": made(name="o3", temperature=0.5).run("Hello.")}


def rate() -> object:
    agent = made(requests_per_minute=2)
    began = time.monotonic()
    for _ in range(3):
        agent.run("Hello.")
    return {"seconds": time.monotonic() - began}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](), default=str))
