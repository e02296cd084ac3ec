"""Turn a letter into a checked value of your own type."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import date

from pydantic import BaseModel, Field

from openbook.agent import Agent
from openbook.errors import BadResponseError


@dataclass
class Item:
    name: str
    pieces: int


class Order(BaseModel):
    customer: str
    ordered_on: date
    items: list[Item] = Field(min_length=1)


def main(model: str, letter: str) -> None:
    agent = Agent(model, system="Extract the order from the letter.")
    try:
        order = agent.run_as(Order, letter)
    except BadResponseError as error:
        print(f"no order: {error}")
        return
    print(order.customer, order.ordered_on.isoformat(), sum(item.pieces for item in order.items))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python extract_values.py MODEL LETTER")
    main(sys.argv[1], sys.argv[2])
