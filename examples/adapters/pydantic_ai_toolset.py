"""Tools over an Openbook library for a pydantic-ai agent: search, and answers with checked citations.

pip install pydantic-ai-slim openbook
python pydantic_ai_toolset.py "How are sessions renewed?" docs
"""

from __future__ import annotations

import sys

from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import FunctionToolset

from openbook import Library


def toolset_of(library: Library, limit: int = 5) -> FunctionToolset[None]:
    """Build a toolset. Each tool returns places as `path:start-end`, so that the agent can cite them."""

    def search(query: str) -> str:
        """Find the passages that speak most of a question, best first, each with its place."""
        results = library.search(query, limit=limit)
        shown = (
            f"{result.chunk.span.path}:{result.chunk.span.start_line}-{result.chunk.span.end_line}\n{result.chunk.text}"
            for result in results
        )
        return "\n\n".join(shown) or "nothing found"

    def answer(question: str) -> str:
        """Answer a question with quotes whose places have been checked."""
        return library.query(question).format_for_display()

    return FunctionToolset([search, answer])


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python pydantic_ai_toolset.py QUESTION FOLDER...")
    question, *paths = sys.argv[1:]
    with Library.of(*paths) as library:
        # A model of pydantic-ai that calls each tool once; name a real one, such as `openai:gpt-4o`, in its place.
        agent = Agent(TestModel(), toolsets=[toolset_of(library)])
        print(agent.run_sync(question).output)
