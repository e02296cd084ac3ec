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


def made(*tools: Any) -> Any:
    model = OpenAIServerModel("gpt-4.1", os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"])
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


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](), default=str))
