"""The same with openai-agents."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import (
    Agent,
    ModelBehaviorError,
    ModelSettings,
    OpenAIChatCompletionsModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from agents.exceptions import MaxTurnsExceeded
from openai import AsyncOpenAI

CALLS: list[str] = []
set_tracing_disabled(True)  # else runs are sent to OpenAI


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


def made(*tools: Any, output_type: Any = None) -> Agent[Any]:
    model = OpenAIChatCompletionsModel(model="gpt-4.1", openai_client=AsyncOpenAI())
    return Agent(name="shop", model=model, tools=[function_tool(each) for each in tools], output_type=output_type)


def tool() -> object:
    return {"text": Runner.run_sync(made(stock), "How many pens?").final_output}


def repeated() -> object:
    try:
        text = Runner.run_sync(made(stock), "How many pens?").final_output
    except MaxTurnsExceeded as error:
        text = str(error)
    return {"text": text, "calls": len(CALLS)}


def cancel() -> object:
    async def run() -> None:
        task = asyncio.create_task(Runner.run(made(), "Hello."))
        while not Path("received").exists():
            await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.sleep(5)

    asyncio.run(run())
    return {}


def structured() -> object:
    try:
        return {"pieces": Runner.run_sync(made(output_type=Order), "Two pens for Ada.").final_output.pieces}
    except ModelBehaviorError as error:
        return {"error": str(error)}


def history() -> object:
    saved = json.dumps(Runner.run_sync(made(), "My name is Ada.").to_input_list())
    Runner.run_sync(made(), [*json.loads(saved), {"role": "user", "content": "Who am I?"}])
    return {}


def picture() -> object:
    url = f"data:image/png;base64,{base64.b64encode(Path('dot.png').read_bytes()).decode()}"
    parts = [{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": url}]
    message: Any = [{"role": "user", "content": parts}]
    return {"text": Runner.run_sync(made(), message).final_output}


def sampling() -> object:
    agent = made()
    agent.model_settings = ModelSettings(temperature=0.5, extra_args={"seed": 7})
    return {"text": Runner.run_sync(agent, "Hello.").final_output}


def refused() -> object:
    agent = made()
    agent.model = OpenAIChatCompletionsModel(model="o3", openai_client=AsyncOpenAI())
    agent.model_settings = ModelSettings(temperature=0.5)
    return {"text": Runner.run_sync(agent, "Hello.").final_output}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](), default=str))
