"""A LlamaIndex retriever over an Openbook library.

pip install llama-index-core openbook
python llamaindex_retriever.py "How are sessions renewed?" docs
"""

from __future__ import annotations

import sys

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from openbook import Library, RetrievalResult


class OpenbookRetriever(BaseRetriever):
    """Retrieve passages of a library: the exact text of each with its offsets, and its place as metadata."""

    def __init__(self, library: Library, limit: int = 5) -> None:
        """Take a library, and how many passages a query gets at most."""
        self._library = library
        self._limit = limit
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(result) for result in self._library.search(query_bundle.query_str, limit=self._limit)]


def _node(result: RetrievalResult) -> NodeWithScore:
    span = result.chunk.span
    place = {"source": result.chunk.source, "path": span.path, "start_line": span.start_line, "end_line": span.end_line}
    node = TextNode(
        id_=f"{result.chunk.source}/{span.path}:{span.start_char}-{span.end_char}",
        text=result.chunk.text,
        metadata=place,
        start_char_idx=span.start_char,
        end_char_idx=span.end_char,
    )
    return NodeWithScore(node=node, score=result.score)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python llamaindex_retriever.py QUESTION FOLDER...")
    question, *paths = sys.argv[1:]
    with Library.of(*paths) as library:
        for found in OpenbookRetriever(library).retrieve(question):
            print(f"{found.node.metadata['path']}:{found.node.metadata['start_line']}", found.text.split("\n")[0])
