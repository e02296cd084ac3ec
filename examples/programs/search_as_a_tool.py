"""Give the search of a library to an agent of your own, as a tool."""

from __future__ import annotations

import sys

from openbook import Library
from openbook.agent import Agent


def main(model: str, folder: str, message: str) -> None:
    with Library.of(folder) as library:

        def search(question: str) -> str:
            """Search the handbook. Returns places, each with the lines that match."""
            return "\n\n".join(str(result) for result in library.search(question, limit=3)) or "nothing was found"

        result = Agent(model, search, system="Answer from the handbook, and name the place.").run(message)
    print(result.text, f"({result.tools['search'].calls} searches)")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python search_as_a_tool.py MODEL FOLDER MESSAGE")
    main(*sys.argv[1:])
