"""Puts the rooms together: one library, with all that fills it, searches it and answers from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from openbook.chunking.identity import chunks_identity
from openbook.embedding.static import load_embedder
from openbook.errors import SkippedFileError, SourceError, UnknownSourceError
from openbook.generation import Answered, AnswerEvent, GenerationResult, Policy
from openbook.index.protocol import Identity, Root, Stats
from openbook.index.sqlite import SqliteIndex
from openbook.ingest.difference import Difference, compare, folder_of
from openbook.ingest.sync import Progress, SyncReport, sync
from openbook.libraries import DEFAULT_LIBRARY, library_path, name_for
from openbook.retrieval.search import EVERYTHING, Retriever
from openbook.retrieval.tokens import tokens_identity
from openbook.settings import Settings
from openbook.sources.folder import Folder
from openbook.types import Chunk, Filter, RetrievalResult, View

if TYPE_CHECKING:
    from openbook.answering.checking import Retry
    from openbook.answering.generator import Generator
    from openbook.answering.writing import Writing


class Assistant:
    """One library. Use it as a context manager, or `close` it.

    Example:
        >>> with Assistant.open() as assistant:  # doctest: +SKIP
        ...     assistant.add("docs")
        ...     print(assistant.query("How do I start the server?").format_for_display())
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        """Open the library in the file at `path`, making it if there is none.

        Raises:
            LibraryError: The library cannot be used; the hint says what to do.
        """
        self.settings = settings
        self._embedder = load_embedder()
        identity = Identity(self._embedder.identity, tokens_identity(), chunks_identity(settings))
        self._index = SqliteIndex(path, identity, lock_timeout_s=settings.lock_timeout_s)

    @classmethod
    def open(cls, library: str = DEFAULT_LIBRARY, *, settings: Settings | None = None) -> Self:
        """Open a library by name, making it if there is none.

        Raises:
            SettingsError: The name could not be one of a file everywhere.
            LibraryError: The library cannot be used.
        """
        settings = settings or Settings.from_env()
        return cls(library_path(settings.home, library), settings)

    @classmethod
    def of(cls, *paths: str | Path, settings: Settings | None = None) -> Self:
        """Open the library that belongs to exactly these folders and files, brought up to date.

        Raises:
            ValueError: There is no path.
            SourceError: A path does not exist or cannot be read.
            LibraryError: The library cannot be used.
        """
        if not paths:
            raise ValueError("name at least one folder or file")
        for path in paths:
            Folder(path)  # before a library is made for what is not there
        assistant = cls.open(name_for([Path(path).expanduser() for path in paths]), settings=settings)
        for path in paths:
            assistant.add(path)
        return assistant

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the library. A closed assistant cannot be used again."""
        self._index.close()

    @property
    def path(self) -> Path:
        """The file of the library."""
        return self._index.path

    def add(self, path: str | Path, *, progress: Progress | None = None) -> SyncReport:
        """Put a folder or file into the library, or bring it up to date if it is there.

        Raises:
            SourceError: It does not exist or cannot be listed.
            LibraryWriteError: The library cannot be written. What was committed stays.
        """
        return self._sync(self.register(path), progress)

    def register(self, path: str | Path) -> Root:
        """Remember a folder or file as a source, without reading it; the next sync does.

        Raises:
            SourceError: It does not exist.
            LibraryWriteError: The library cannot be written.
        """
        folder = Folder(path, max_file_bytes=self.settings.max_file_bytes)
        location = Path(path).expanduser().resolve()
        _check_storable(location)
        known = self._root_at(location)
        if known is not None:
            return known
        # Under the lock of writers: two processes must not give one name to two folders.
        with self._index.batch():
            known = self._root_at(location)
            if known is not None:
                return known
            name = _free_name(folder.name, {root.name for root in self._index.roots()})
            root = Root(name, "folder" if location.is_dir() else "file", str(location))
            self._index.put_root(root)
        return root

    def _root_at(self, location: Path) -> Root | None:
        return next((root for root in self._index.roots() if root.location == str(location)), None)

    def sync(self, *, progress: Progress | None = None) -> list[SyncReport]:
        """Bring every source up to date, in order of names.

        Raises:
            SourceError: A source is gone. The library keeps what it has of it.
            LibraryWriteError: The library cannot be written.
        """
        return [self._sync(root, progress) for root in self._index.roots()]

    def _sync(self, root: Root, progress: Progress | None) -> SyncReport:
        return sync(root, self._index, settings=self.settings, load_embedder=load_embedder, progress=progress)

    def remove(self, source: str) -> None:
        """Take a source and all that came from it out of the library. Its files stay.

        Raises:
            UnknownSourceError: The library has no source of that name.
        """
        if not self._index.delete_source(source):
            names = ", ".join(root.name for root in self._index.roots()) or "none"
            raise UnknownSourceError(f"the library has no source {source!r}", hint=f"it has: {names}")

    def sources(self) -> list[Root]:
        """List the sources, in order of names."""
        return self._index.roots()

    def pending(self) -> Mapping[str, Difference | SourceError]:
        """Tell per source what a sync would do, or why it cannot be compared. Reads no content."""
        found: dict[str, Difference | SourceError] = {}
        for root in self._index.roots():
            try:
                found[root.name] = compare(folder_of(root, self.settings), self._index)
            except SourceError as exc:
                found[root.name] = exc
        return found

    def stats(self) -> Stats:
        """Count what the library holds."""
        return self._index.stats()

    def search(
        self, query: str, *, limit: int = 10, where: Filter = EVERYTHING, view: View = "auto"
    ) -> list[RetrievalResult]:
        """Rank chunks for a question, at most `limit`, ordered by `(-score, source, span)`.

        Args:
            query: The question.
            limit: Most results.
            where: Documents that may be found.
            view: `files` lists each file once, `passages` may list several of one file; `auto` lets
                the question decide.

        Raises:
            QueryError: The question is empty, too long, or holds no word.
        """
        return Retriever(self._index, self._embedder).search(query, limit=limit, where=where, view=view)

    def query(
        self, message: str, *, limit: int = 10, where: Filter = EVERYTHING, writing: Writing | None = None
    ) -> GenerationResult:
        """Answer a question from the library, with citations that have been checked.

        Args:
            message: The question.
            limit: Most results to answer from.
            where: Documents that may be used.
            writing: The model, what it may spend, and what was asked before. Without it, answers are quotes.

        Raises:
            QueryError: The question is empty, too long, or holds no word.
            ModelError: The model did not answer.
        """
        *_, last = self.query_stream(message, limit=limit, where=where, writing=writing)
        assert isinstance(last, Answered)
        return last.answer

    def query_stream(
        self, message: str, *, limit: int = 10, where: Filter = EVERYTHING, writing: Writing | None = None
    ) -> Iterator[AnswerEvent]:
        """Answer as `query` does, and tell what happens: words while they are written, tools, at last the answer.

        The words have not been checked; the answer has. Closing the iterator ends the call of the model.
        """
        from openbook.answering.writing import Writing

        return self.generator.stream(message, limit, where=where, writing=writing or Writing())

    def context(self, results: Sequence[RetrievalResult]) -> str:
        """Give what a model is shown of results: each in a fence, its lines or sentences numbered."""
        from openbook.answering.context import build_context

        return str(build_context(results, self.settings.context_tokens))

    def check(
        self,
        message: str,
        answer: str,
        results: Sequence[RetrievalResult],
        *,
        policy: Policy = "flag",
        retry: Retry | None = None,
    ) -> GenerationResult:
        """Check an answer that any model wrote, claim by claim, and repair what can be repaired.

        Args:
            message: The question.
            answer: The model's words, with marks such as `[2:14-18]` that count what `context` gives.
            results: What the model was shown.
            policy: What happens to claims that fail: `flag` shows them as failing, `drop` takes them
                out, `retry` asks once more.
            retry: For `retry`: takes the claims that fail, gives another answer.

        Raises:
            QueryError: The question is empty, too long, or holds no word.
            ValueError: The policy is none, or `retry` without anything to call.
        """
        return self.generator.check(message, answer, results, policy=policy, retry=retry)

    @cached_property
    def generator(self) -> Generator:
        """What writes the answers, with its statistics."""
        from openbook.answering.generator import Generator  # a search answers nothing

        return Generator(
            self._index, self._embedder, text_now=self._text_now, context_tokens=self.settings.context_tokens
        )

    def _text_now(self, chunk: Chunk) -> str | None:
        """Read a chunk's document again, so that a citation is checked against the file itself."""
        root = next((root for root in self._index.roots() if root.name == chunk.source), None)
        if root is None:
            return None
        try:
            return folder_of(root, self.settings).read(chunk.span.path).text
        except (SourceError, SkippedFileError):
            return None


def _check_storable(location: Path) -> None:
    """Refuse a path that an index cannot remember.

    Raises:
        SourceError: Its bytes are no UTF-8.
    """
    try:
        str(location).encode("utf-8")
    except UnicodeEncodeError as exc:
        raise SourceError(str(location), "its path is not UTF-8", hint="rename it") from exc


def _free_name(name: str, taken: set[str]) -> str:
    """Give the name, with the first number behind it that makes it new if it is taken."""
    candidates = (name if number == 1 else f"{name}-{number}" for number in range(1, len(taken) + 2))
    return next(candidate for candidate in candidates if candidate not in taken)
