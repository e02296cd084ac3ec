"""A LangChain retriever over an Openbook library.

pip install langchain-core openbook
python langchain_retriever.py "How are sessions renewed?" docs
"""

from __future__ import annotations

import sys
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from openbook import Library, RetrievalResult


class OpenbookRetriever(BaseRetriever):
    """Retrieve passages of a library: the exact text of each, and its place as metadata."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    library: Library
    limit: int = 5

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **_: Any
    ) -> list[Document]:
        return [_document(result) for result in self.library.search(query, limit=self.limit)]


def _document(result: RetrievalResult) -> Document:
    span = result.chunk.span
    place = {"source": result.chunk.source, "path": span.path, "start_line": span.start_line, "end_line": span.end_line}
    name = f"{result.chunk.source}/{span.path}:{span.start_char}-{span.end_char}"
    return Document(id=name, page_content=result.chunk.text, metadata={**place, "score": result.score})


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python langchain_retriever.py QUESTION FOLDER...")
    question, *paths = sys.argv[1:]
    with Library.of(*paths) as library:
        for document in OpenbookRetriever(library=library).invoke(question):
            print(
                f"{document.metadata['path']}:{document.metadata['start_line']}", document.page_content.split("\n")[0]
            )
