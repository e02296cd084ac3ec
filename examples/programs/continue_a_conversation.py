"""Continue a conversation that a file keeps."""

from __future__ import annotations

import sys
from pathlib import Path

from openbook.agent import Agent, KeepTokens, history_from_json, history_to_json


def main(model: str, file: Path, message: str) -> None:
    history = history_from_json(file.read_text(encoding="utf-8")) if file.exists() else ()
    agent = Agent(model, history=history, pruning=KeepTokens(20_000))
    text, cost_usd = agent.chat(message)
    file.write_text(history_to_json(agent.history), encoding="utf-8")
    print(text, f"({len(agent.history)} messages, {'unknown price' if cost_usd is None else f'${cost_usd:.4f}'})")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python continue_a_conversation.py MODEL FILE MESSAGE")
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
