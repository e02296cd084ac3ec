"""Questions about repositories, in conversations, with everything wired by one call."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from openbook.answering.options import AnswerOptions
from openbook.answers import Answered, AnswerEvent, Exchange, GenerationResult, answered
from openbook.ingest.sync import Progress, SyncReport
from openbook.libraries.catalog import DEFAULT_LIBRARY
from openbook.libraries.registration import check_known
from openbook.libraries.repositories import Repository, repositories_in
from openbook.library import Library
from openbook.settings import Settings
from openbook.sources.loading import LoadOptions
from openbook.types import Chunk, Document, Filter, RetrievalResult

if TYPE_CHECKING:
    from openbook.agent.toolsets import ToolLike
    from openbook.llm.attachments import ImageLike

# A follow-up depends on the last few exchanges; more would crowd the question out of the prompt.
_EXCHANGES = 5

# Conversations kept, in LRU order. In memory, not in `Sessions`: those write every question to disk, which nobody asked
# for here, and do not store images, which follow-ups need.
_SESSIONS = 1000


def create_assistant(
    *, library: str = DEFAULT_LIBRARY, model: str = "", settings: Settings | None = None
) -> CodebaseAssistant:
    """Create an assistant that loads repositories and answers questions about them.

    Args:
        library: Name of the library, which is created if it does not exist.
        model: Writes the answers, such as `groq:...`; `extractive` quotes. Empty: the first provider with
            a key, or quotes without any key.
        settings: Default: read from the environment.

    Raises:
        LibraryError: The library cannot be used.
        ModelError: The model needs a key that is not set.

    Example:
        >>> with create_assistant(model="extractive") as assistant:  # doctest: +SKIP
        ...     assistant.load_repository("octo/shop")
        ...     print(assistant.query("How is a refund booked?").format_for_display())
    """
    from openbook.answering.verifiers import open_verifier
    from openbook.llm.choose import open_model

    settings = settings or Settings.from_env()
    options = AnswerOptions(
        model=open_model(model or settings.model), verifier=open_verifier(settings.verifier, settings)
    )
    return CodebaseAssistant(Library.open(library, settings=settings), options)


class CodebaseAssistant:
    """One library of repositories with its conversations. Thread-safe, with one thread per session."""

    def __init__(self, assistant: Library, options: AnswerOptions | None = None) -> None:
        """Take a library and options.

        Args:
            assistant: The library. It is closed together with this object.
            options: How answers are written; default: quotes.
        """
        self.assistant = assistant
        self._writing = options or AnswerOptions()
        self._sessions: OrderedDict[str, tuple[Exchange, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the library."""
        self.assistant.close()

    def load_repository(
        self, url: str, options: LoadOptions | None = None, *, progress: Progress | None = None
    ) -> Repository:
        """Load a repository, or update it.

        Raises:
            SourceError: The address is not that of a repository, or it cannot be fetched.
        """
        return self.assistant.load_repository(url, options, progress=progress)

    def repositories(self) -> list[Repository]:
        """List the repositories of the library, by name."""
        return repositories_in(self.assistant.index, self.assistant.settings.home)

    def query(
        self,
        message: str,
        session_id: str = "",
        *,
        sources: Iterable[str] = (),
        limit: int = 10,
        images: Iterable[ImageLike] = (),
    ) -> GenerationResult:
        """Answer a question from all repositories, or from some.

        Args:
            message: The question.
            session_id: The conversation; empty for none.
            sources: Names of repositories, as in `Repository.source`; default: all.
            limit: Maximum number of results to answer from.
            images: Images for the question: see `AnswerOptions.images`. The conversation remembers the latest.

        Raises:
            QueryError: The question is empty, too long, or contains no word; or an image cannot be used.
            UnknownSourceError: The library has no source with one of these names.
            ModelError: The model failed.
        """
        return answered(self.query_stream(message, session_id, sources=sources, limit=limit, images=images))

    def query_stream(
        self,
        message: str,
        session_id: str = "",
        *,
        sources: Iterable[str] = (),
        limit: int = 10,
        images: Iterable[ImageLike] = (),
    ) -> Iterator[AnswerEvent]:
        """Answer like `query`, and yield events. The last one contains the checked answer."""
        where = self._filter(sources)
        options = self._options(session_id, images)
        for event in self.assistant.query_stream(message, limit=limit, where=where, options=options):
            if isinstance(event, Answered) and session_id:
                self._remember(session_id, Exchange.of(message, event.answer, options.attached))
            yield event

    async def aquery(
        self,
        message: str,
        session_id: str = "",
        *,
        sources: Iterable[str] = (),
        limit: int = 10,
        images: Iterable[ImageLike] = (),
    ) -> GenerationResult:
        """Answer like `query`, without blocking."""
        events = self.aquery_stream(message, session_id, sources=sources, limit=limit, images=images)
        return answered([event async for event in events])

    async def aquery_stream(
        self,
        message: str,
        session_id: str = "",
        *,
        sources: Iterable[str] = (),
        limit: int = 10,
        images: Iterable[ImageLike] = (),
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Answer like `query_stream`, without blocking. Closing it cancels the model call."""
        from asyncio import to_thread

        options = await to_thread(self._options, session_id, images)
        where = Filter(sources=frozenset(sources))  # checked by the library, in a thread
        async with aclosing(self.assistant.aquery_stream(message, limit=limit, where=where, options=options)) as events:
            async for event in events:
                if isinstance(event, Answered) and session_id:
                    self._remember(session_id, Exchange.of(message, event.answer, options.attached))
                yield event

    def add(self, path: str | Path, *, progress: Progress | None = None, allow_large: bool = False) -> SyncReport:
        """Add a local folder or file to the library, or update it. `allow_large`: see `Library.of`.

        Raises:
            SourceError: It does not exist, cannot be listed, or is large.
        """
        return self.assistant.add(path, progress=progress, allow_large=allow_large)

    def search(self, query: str, *, sources: Iterable[str] = (), limit: int = 10) -> list[RetrievalResult]:
        """Rank passages for a question, best first, without a model.

        Raises:
            QueryError: The question is empty, too long, or contains no word.
            UnknownSourceError: The library has no source with one of these names.
        """
        return self.assistant.search(query, limit=limit, where=self._filter(sources))

    def register_tool(self, tool: ToolLike) -> None:
        """Add a tool for all answers written by a model: see `Library.register_tool`."""
        self.assistant.register_tool(tool)

    def reset(self, session_id: str) -> None:
        """Delete a conversation, if it exists."""
        with self._lock:
            self._sessions.pop(session_id, None)

    def get_document(self, source: str, path: str) -> Document | None:
        """Return a document with its text; None if it does not exist."""
        return self.assistant.index.document(source, path)

    def get_document_chunks(self, source: str, path: str) -> list[Chunk]:
        """Return the chunks of a document, in order; [] if it does not exist."""
        return self.assistant.index.chunks(source, path)

    def _filter(self, sources: Iterable[str]) -> Filter:
        named = frozenset(sources)
        check_known(named, self.assistant.index)
        return Filter(sources=named)

    def _options(self, session_id: str, images: Iterable[ImageLike]) -> AnswerOptions:
        return replace(self._writing, history=self._history(session_id)).with_images(images)

    def _history(self, session_id: str) -> tuple[Exchange, ...]:
        with self._lock:
            return self._sessions.get(session_id, ())

    def _remember(self, session_id: str, exchange: Exchange) -> None:
        with self._lock:
            self._sessions[session_id] = (*self._sessions.get(session_id, ()), exchange)[-_EXCHANGES:]
            self._sessions.move_to_end(session_id)
            while len(self._sessions) > _SESSIONS:
                self._sessions.popitem(last=False)
