"""The same with llm, from Python."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import llm
from llm.default_plugins.openai_models import AsyncChat, Chat
from pydantic import BaseModel, ValidationError

CALLS: list[str] = []


def stock(item: str) -> int:
    """Return how many pieces of an item are in stock."""
    CALLS.append(item)
    if item == "anchor":
        raise ValueError("no such item")
    return 12


class Order(BaseModel):
    customer: str
    pieces: int


def made(kind: Any = Chat, name: str = "gpt-4.1") -> Any:
    options: dict[str, Any] = {"supports_tools": True, "supports_schema": True, "vision": True}
    model = kind(name, model_name=name, api_base=os.environ["OPENAI_BASE_URL"], **options)
    model.key = os.environ["OPENAI_API_KEY"]
    return model


def tool() -> object:
    return {"text": made().chain("How many pens?", tools=[stock]).text()}


def repeated() -> object:
    try:
        text = made().chain("How many pens?", tools=[stock]).text()
    except ValueError as error:
        text = str(error)
    return {"text": text, "calls": len(CALLS)}


def cancel() -> object:
    async def read() -> str:
        return str(await made(AsyncChat).prompt("Hello.").text())

    async def run() -> None:
        task = asyncio.create_task(read())
        while not Path("received").exists():
            await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.sleep(5)

    asyncio.run(run())
    return {}


def structured() -> object:
    text = made().prompt("Two pens for Ada.", schema=Order).text()
    try:
        return {"pieces": Order.model_validate_json(text).pieces}
    except ValidationError as error:
        return {"error": str(error)}


def history() -> object:
    model = made()
    first = model.prompt("My name is Ada.")
    first.text()
    saved = json.dumps(first.to_dict())
    return {"text": llm.Response.from_dict(json.loads(saved), model=model).reply("Who am I?").text()}


def picture() -> object:
    return {"text": made().prompt("What is it?", attachments=[llm.Attachment(path="dot.png")]).text()}


def sampling() -> object:
    return {"text": made().prompt("Hello.", temperature=0.5, seed=7).text()}


def refused() -> object:
    return {"text": made(name="o3").prompt("Hello.", temperature=0.5).text()}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](), default=str))
