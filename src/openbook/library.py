"""Wires everything together: one library, and all that fills it, searches it and answers from it."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from openbook.embedding.static import load_embedder
from openbook.errors import InvalidArgumentError, SourceError
from openbook.index.protocol import Index, IndexStats, Source
from openbook.ingest.current import text_now
from openbook.ingest.difference import Difference, compare_sources, unread_files
from openbook.ingest.sync import Progress, SyncReport, sync
from openbook.libraries.catalog import (
    DEFAULT_LIBRARY,
    LibraryCatalog,
    Location,
    known_machine,
    name_of,
    open_as_made,
)
from openbook.libraries.registration import check_meant, register, source_at, unknown_source
from openbook.libraries.repositories import Repository, fetch_repository, refreshed, repository_of
from openbook.library_answers import LibraryAnswers
from openbook.opening import CheckedEmbedder, checked_reranker, embedder_of, open_reranker
from openbook.questions.question import read_question
from openbook.retrieval.excerpts import with_excerpts
from openbook.retrieval.search import EVERYTHING, Retriever
from openbook.settings import Settings
from openbook.sources.folder import Folder, is_gone
from openbook.sources.optional_readers import readers_of
from openbook.sources.reader_registry import FileReader, ReaderRegistry
from openbook.types import Chunk, Course, Filter, RetrievalResult, View

if TYPE_CHECKING:
    from openbook.answering.generator import Generator
    from openbook.answering.options import AnswerOptions
    from openbook.courses.catalog import PlacedLesson
    from openbook.embedding.protocol import Embedder
    from openbook.grounding.protocol import Judge
    from openbook.libraries.texts import TextStore
    from openbook.llm.protocol import Model
    from openbook.lookup.references import References
    from openbook.retrieval.reranking import Reranker
    from openbook.sources.course_edits import Edit
    from openbook.sources.loading import LoadOptions
    from openbook.study.guide import StudyGuide

# Refusals list unread files. Comparing all folders for each refusal took half of its time.
_COMPARED_AGAIN_S = 60.0


class Library(LibraryAnswers):
    """One library. Use it with `with` or `async with`, or `close` it.

    Example:
        >>> with Library.open() as library:  # doctest: +SKIP
        ...     library.add("docs")
        ...     print(library.query("How do I start the server?").format_for_display())
    """

    def __init__(
        self,
        location: Location,
        settings: Settings,
        *,
        embedder: Embedder | str | None = None,
        index: Index | None = None,
        judge: Judge | Model | str | None = None,
        reranker: Reranker | str | None = None,
        readers: Mapping[str, FileReader] | None = None,
    ) -> None:
        """Open the library at a location, and create it if it does not exist. See `open` for the other arguments.

        Raises:
            LibraryError: The library cannot be used; the hint says what to do.
        """
        if isinstance(embedder, str):
            settings, embedder = replace(settings, embedder=embedder), None
        if isinstance(reranker, str):
            settings, reranker = replace(settings, reranker=reranker), None
        self._served = embedder_of(embedder, settings.embedder)
        self._embedder = load_embedder()
        self._made_by = self._served or self._embedder
        self._reranker = None if reranker is None else checked_reranker(reranker)
        super().__init__(judge)
        self._readers = ReaderRegistry(readers or {}, readers_of(settings))
        self.location = location
        """The file of the library, or `engine:address/name`."""
        self._compared: tuple[float, Mapping[str, Difference | SourceError]] | None = None
        made_by = self._made_by.identity
        self.settings, self._index = (settings, index) if index else open_as_made(location, made_by, settings)

    @classmethod
    def open(
        cls,
        library: str | Path = DEFAULT_LIBRARY,
        *,
        embedder: Embedder | str | None = None,
        index: Index | None = None,
        judge: Judge | Model | str | None = None,
        reranker: Reranker | str | None = None,
        readers: Mapping[str, FileReader] | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Open a library, and create it if it does not exist. Components can be replaced.

        Args:
            library: Its name, or the path of its file.
            embedder: Replaces the shipped model: an `Embedder`, or a name as in `OPENBOOK_EMBEDDER`. A library
                built with another embedder must be rebuilt.
            index: Replaces the file. It must have been built with the same embedder.
            judge: Checks the claims of models, unless `AnswerOptions.verifier` is set: a `Judge`, a model, or a
                name as in `--verifier`.
            reranker: Reorders the best results: a `Reranker`, or a name as in `--reranker`.
            readers: Readers by file suffix, such as `{"ini": read_ini}`. Each takes the bytes and the path, and
                returns the text or a `Reading`. They take precedence over built-in readers and plugins, and run in
                this process.
            settings: Everything else. Default: from the environment.

        Raises:
            SettingsError: A name is unknown, or not a valid file name on every system.
            LibraryError: The library cannot be used.
            PluginError: A named plugin cannot be loaded.
        """
        settings = settings or Settings.from_env()
        location = library if isinstance(library, Path) else LibraryCatalog(settings).location(library)
        return cls(location, settings, embedder=embedder, index=index, judge=judge, reranker=reranker, readers=readers)

    @classmethod
    def of(
        cls,
        *paths: str | Path,
        allow_large: bool = False,
        embedder: Embedder | str | None = None,
        judge: Judge | Model | str | None = None,
        reranker: Reranker | str | None = None,
        readers: Mapping[str, FileReader] | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Open the library of exactly these folders and files, and sync it.

        Args:
            paths: The folders and files.
            allow_large: Whether a new folder may have more than 20,000 files or 1 GB, or be the root of the disk,
                a home or a system folder. Once it is a source, it may.
            embedder: See `open`, also for the following arguments. Each embedder has its own library.
            judge: Checks the claims of models.
            reranker: Reorders the best results.
            readers: Readers by file suffix.
            settings: Everything else. Default: from the environment.

        Raises:
            InvalidArgumentError: There is no path.
            SourceError: A path does not exist, cannot be read, or is large.
            LibraryError: The library cannot be used.
        """
        if not paths:
            raise InvalidArgumentError("at least one folder or file has to be named", hint="Library.of('docs', 'src')")
        for path in paths:
            if not isinstance(path, str | PathLike):
                raise TypeError(f"{path!r} is no path; name folders one by one: Library.of('docs', 'src')")
            Folder(path)  # raises before a library is created for a missing path
        made_by = embedder if isinstance(embedder, str | None) else CheckedEmbedder(embedder).identity
        settings = settings or Settings.from_env()
        name = LibraryCatalog(settings).name_for([Path(path).expanduser() for path in paths], made_by or "")
        if not allow_large:
            known = {root.location for root in LibraryCatalog(settings).roots(name)}
            for path in paths:
                check_meant(path, known, settings)
        assistant = cls.open(
            name, embedder=embedder, judge=judge, reranker=reranker, readers=readers, settings=settings
        )
        try:
            for path in paths:
                assistant.add(path, allow_large=True)
        except BaseException:
            assistant.close()
            raise
        return assistant

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the library. A closed library cannot be used again: open another."""
        self._index.close()

    @property
    def index(self) -> Index:
        """The index of the library, for displaying its contents."""
        return self._index

    @property
    def is_shared(self) -> bool:
        """Whether several machines share the library. It may then contain sources of other machines."""
        return isinstance(self.location, str)

    def add(
        self,
        path: str | Path,
        *,
        course: bool = False,
        progress: Progress | None = None,
        only: Collection[str] = (),
        allow_large: bool = False,
    ) -> SyncReport:
        """Add a folder or file to the library, or update it.

        `course`: mark the folder as course material; the library records this. `progress` is called after each
        commit. `only`: paths in the folder to check; default: all. `allow_large`: see `of`.

        Raises:
            SourceError: It does not exist, cannot be listed, or is large.
            LibraryWriteError: The library cannot be written. Committed files stay.
        """
        return self._sync(self.register(path, course=course, allow_large=allow_large), progress, only)

    def add_text(
        self, text: str, name: str, *, metadata: Mapping[str, Any] | None = None, progress: Progress | None = None
    ) -> SyncReport:
        """Add a text that is not a file, replacing one with the same name. It belongs to the source `texts`.

        The text is kept in the home, so that citations can be checked against it. `remove("texts")` deletes it.

        Args:
            text: The whole text.
            name: A file name, such as `notes/monday.md`. The suffix determines the reader.
            metadata: What `metadata` returns for it: anything that JSON can represent.
            progress: Called after each commit.

        Raises:
            SourceError: The name is not a valid file name.
            InvalidArgumentError: The text is blank.
            TypeError: The metadata cannot be serialized to JSON.
            LibraryWriteError: The library cannot be written.
        """
        self._texts.write(text, name, metadata or {})
        return self.add(self._texts.folder, progress=progress, allow_large=True)

    def metadata(self, path: str) -> Mapping[str, Any]:
        """Return the metadata of an added text, by its name; {} if there is none."""
        return self._texts.metadata(path)

    @cached_property
    def _texts(self) -> TextStore:
        from openbook.libraries.texts import TextStore

        return TextStore(self.settings.home, name_of(self.location))

    def register(self, path: str | Path, *, course: bool = False, allow_large: bool = False) -> Source:
        """Register a folder or file as a source. The next sync reads it.

        With `course`, a known folder becomes course material, and is read again. `allow_large`: see `of`.

        Raises:
            SourceError: It does not exist, a course is not a folder, or it is large.
            LibraryWriteError: The library cannot be written.
        """
        if not allow_large:
            check_meant(path, {root.location for root in self._index.roots()}, self.settings)
        return register(path, self._index, self.settings, course=course, is_shared=self.is_shared)

    @property
    def _machine(self) -> str:
        """The id of this machine in a shared library; empty if it has added nothing to one."""
        return known_machine(self.settings.home) if self.is_shared else ""

    def is_own(self, root: Source) -> bool:
        """Return whether a source may be updated here: in a shared library, other machines may have added some."""
        return root.is_of(self._machine)

    def sync(self, *, progress: Progress | None = None) -> list[SyncReport]:
        """Sync every source, in the order of names. In a shared library, those of other machines are left alone.

        Raises:
            SourceError: A source is gone. The library keeps its documents.
            LibraryWriteError: The library cannot be written.
        """
        return [self._sync(root, progress) for root in self._index.roots() if self.is_own(root)]

    def _sync(self, root: Source, progress: Progress | None, only: Collection[str] = ()) -> SyncReport:
        root = refreshed(root, self.settings.home)
        report = sync(
            root,
            self._index,
            settings=self.settings,
            load_embedder=load_embedder,
            served=self._served,
            readers=self._readers,
            progress=progress,
            only=only,
        )
        stored = next((each for each in self._index.roots() if each.name == root.name), None)
        if stored is not None and stored.commit != root.commit:  # a new commit with the same files
            self._index.put_root(replace(root, synced_at=stored.synced_at))
        self._compared = None
        return report

    def load_repository(
        self, url: str, options: LoadOptions | None = None, *, confined: bool = False, progress: Progress | None = None
    ) -> Repository:
        """Fetch a repository into the library, or its changes since the last fetch. Uses the network.

        `confined`: only allow hosts in the server's settings. `progress` is called with the number of files
        fetched, then indexed.

        Raises:
            SourceError: The address is not that of a repository, or it cannot be fetched.
            LibraryWriteError: The library cannot be written.
        """
        mirror = fetch_repository(url, self.settings, options, confined=confined, progress=progress)
        report = self.add(mirror.files, progress=progress, allow_large=True)
        return repository_of(mirror, report.source, self._index)

    def remove(self, source: str) -> None:
        """Remove a source and all its documents from the library. Its files stay, except texts of `add_text`.

        Raises:
            UnknownSourceError: The library has no source with this name.
            LibraryWriteError: The library cannot be written, or the texts cannot be deleted.
        """
        added = source_at(self._texts.folder.resolve(), self._index, self._machine)
        if not self._index.delete_source(source):
            raise unknown_source(source, self._index)
        if added is not None and added.name == source:
            self._texts.delete()
        self._compared = None

    def sources(self) -> list[Source]:
        """List the sources by name."""
        return self._index.roots()

    def courses(self, where: Filter = EVERYTHING) -> list[Course]:
        """List the courses, with their lessons, in the order of source and path."""
        return self._index.courses(where)

    def course(self, name: str) -> Course:
        """Return the course with a name: its path, its title, part of it, or words that describe it.

        Raises:
            UnknownCourseError: No course matches; the hint lists all.
            AmbiguousCourseError: Several courses match; the hint lists them.
        """
        from openbook.courses.names import find_course

        return find_course(name, self.courses(), self._embedder)

    def outline(self, course: Course) -> list[PlacedLesson]:
        """List the lessons of a course, with their places."""
        from openbook.courses.catalog import outline

        return outline(self._index, course)

    def edit_course(self, course: Course, edits: Sequence[Edit] = ()) -> Path:
        """Write a folder's course to its `course.toml`, with edits. Returns the path."""
        from openbook.libraries.course_editing import edit_course

        path = edit_course(self._index, course, edits)
        self._sync(next(root for root in self._index.roots() if root.name == course.source), None)
        return path

    def pending(self) -> Mapping[str, Difference | SourceError]:
        """Return what a sync of each source would change, or why it cannot be compared. Reads no contents."""
        return compare_sources(self._index, self.settings, self._readers, self._machine)

    def stats(self) -> IndexStats:
        """Return the size of the library."""
        return self._index.stats()

    def search(
        self, query: str, *, limit: int = 10, where: Filter = EVERYTHING, view: View = "auto"
    ) -> list[RetrievalResult]:
        """Rank chunks for a question, at most `limit`, ordered by `(-score, source, span)`, each with an excerpt.

        Args:
            query: The question. For a text in double quotation marks and nothing else, these are the chunks that have
                the text, in any case and across line ends.
            limit: Maximum number of results.
            where: Which documents to search.
            view: `files` lists each file once, `passages` may list several of one file; `auto` depends on
                the question.

        Raises:
            QueryError: The question is empty, too long, or contains no word.
            UnknownSourceError: The filter names a source that the library does not have.
            InvalidArgumentError: `limit` is below 1.
        """
        self._check(limit, where)
        question = read_question(query)
        if question.as_written:
            from openbook.lookup.quotations import find_quoted

            return with_excerpts(question, find_quoted(question, self.retriever, limit=limit, where=where, view=view))
        return with_excerpts(question, self.retriever.search(question, limit=limit, where=where, view=view))

    def references(self, name: str, *, where: Filter = EVERYTHING) -> References:
        """Find the lines that define, call, import or mention a name. Calls of `Client.get` include every `get`."""
        from openbook.lookup.references import find_references

        self._check(None, where)
        return find_references(name, self._index, where)

    def retrieve(self, message: str, *, limit: int = 10, where: Filter = EVERYTHING) -> list[RetrievalResult]:
        """Rank the chunks that `query` answers from, best first, before they are cut to a model's context.

        In addition to the results of `search`, these are headings and lessons of courses that a question asks
        for, introductory pages of a project, and documentation beside code.

        A question about places gets three times `limit`. Arguments and errors are those of `query`.
        """
        self._check(limit, where)
        return self.generator.retrieve(message, limit, where=where)

    def study(self, *, where: Filter = EVERYTHING, options: AnswerOptions | None = None, count: int = 10) -> StudyGuide:
        """Make a study guide: a summary, key terms and questions, each with checked citations.

        Args:
            where: What to study: a lesson, a course, a document, or several.
            options: The model to use. Without it, the guide consists of sentences from the sources.
            count: Maximum number of terms, and of questions.

        Raises:
            QueryError: No document passes the filter, or none with prose and there is no model.
            UnknownSourceError: The filter names a source that the library does not have.
            InvalidArgumentError: `count` is below 1.
            ModelError: The model failed.
        """
        from openbook.answering.evidence import EvidenceFinder
        from openbook.study.making import make_guide

        if count < 1:
            raise InvalidArgumentError(f"count is {count}", hint="ask for at least 1 term")
        self._check(None, where)
        completed = self._completed(options, ())
        if completed.deadline_s is None:
            completed = replace(completed, deadline_s=self.settings.model_timeout_s)
        finder = EvidenceFinder(self._index, self._embedder, self.text_now, self.retriever)
        return make_guide(finder, where, completed, context_tokens=self.settings.context_tokens, count=count)

    @cached_property
    def retriever(self) -> Retriever:
        """Searches the library. Raises `SettingsError` if the configured reranker cannot be used."""
        # Lazy, because a sync needs no reranker.
        reranker = self._reranker or open_reranker(self.settings.reranker, self.settings)
        return Retriever(self._index, self._made_by, self._embedder, reranker)

    @cached_property
    def generator(self) -> Generator:
        """Writes the answers, and has statistics of them."""
        from openbook.answering.generator import Generator  # lazy: searches do not need it

        return Generator(
            self._index,
            self._embedder,
            text_now=self.text_now,
            context_tokens=self.settings.context_tokens,
            retriever=self.retriever,
            model_timeout_s=self.settings.model_timeout_s,
            unread=self.unread,
            expands_queries=self.settings.query_expansion,
        )

    def unread(self, where: Filter) -> Mapping[str, str]:
        """Return the files that may contain text and could not be read, with the reasons.

        Folders are compared at most once a minute.
        """
        now = time.monotonic()
        if self._compared is None or now - self._compared[0] > _COMPARED_AGAIN_S:
            self._compared = now, self.pending()
        return unread_files(self._compared[1], where)

    def text_now(self, chunk: Chunk) -> str | None:
        """Read a chunk's document again, to check citations against the file itself; None if it is gone."""
        source, path = chunk.source, chunk.span.path
        root = next((root for root in self._index.roots() if root.name == source), None)
        if root is None:
            return None
        is_own = root.owner != "" and root.owner == self._machine and not is_gone(root.location)
        is_elsewhere = self.is_shared and not is_own
        return text_now(root, path, self._index, self.settings, self._readers, is_elsewhere=is_elsewhere)


Assistant = Library
"""The name of `Library` in version 0.1."""
