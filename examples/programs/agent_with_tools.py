"""Let a model call two functions of yours, within a budget, and say what was used."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from pydantic import Field

from openbook.agent import Agent, Budget, Tool

STOCK = {"pen": 12, "book": 3}


def stock(item: Annotated[str, Field(description="Name of the item, in the singular.")]) -> int:
    """Return how many pieces of an item are in stock."""
    return STOCK[item]


async def price(item: str, currency: Literal["EUR", "CZK"] = "EUR") -> dict[str, float | str]:
    """Look up the price of an item.

    Args:
        item: Name of the item, in the singular.
        currency: Currency of the price.
    """
    return {"item": item, "price": 2.5 if currency == "EUR" else 62.0, "currency": currency}


def main(model: str, question: str) -> None:
    tools = [stock, Tool.from_function(price, timeout_s=5, cost_usd=0.001)]
    agent = Agent(model, tools, system="You help in a shop.", budget=Budget(max_rounds=4, max_usd=0.05))
    result = agent.run(question)
    print(result)
    for name, use in result.tools.items():
        print(f"{name}: {use.calls} calls, {use.errors} errors, ${use.cost_usd}")
    usage = result.usage
    print(f"{usage.input_tokens} + {usage.output_tokens} tokens, stopped by: {result.stopped_by or 'nothing'}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python agent_with_tools.py MODEL QUESTION")
    main(sys.argv[1], sys.argv[2])
