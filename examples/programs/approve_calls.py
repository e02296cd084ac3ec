"""Ask a person before a tool writes, and log what each call of the model costs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from openbook.agent import Agent, Hooks, RunFinished, UsageCounted, Veto
from openbook.llm.messages import ToolCall


def append(note: str) -> str:
    """Append a note to the log of the day."""
    with Path("log.txt").open("a", encoding="utf-8") as log:
        log.write(f"{note}\n")
    return "written"


class Approve(Hooks):
    """Asks before each call."""

    def __init__(self, ask: Callable[[str], str]) -> None:
        self.ask = ask

    def before_tool(self, call: ToolCall) -> ToolCall | Veto:
        answer = self.ask(f"{call.name} {call.arguments}? [y/n] ")
        return call if answer == "y" else Veto("the user does not want it")


def main(model: str, message: str, ask: Callable[[str], str] = input) -> None:
    agent = Agent(model, append, hooks=[Approve(ask)])
    for event in agent.stream(message):
        if isinstance(event, UsageCounted):
            print(f"{event.usage.output_tokens} tokens written, ${event.cost_usd or 0}")
        elif isinstance(event, RunFinished):
            print(event.result.text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python approve_calls.py MODEL MESSAGE")
    main(sys.argv[1], sys.argv[2])
