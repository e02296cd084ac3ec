"""Puts the rooms together: one library, with all that fills it, searches it and answers from it."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from openbook.embedding.static import load_embedder
from openbook.errors import SkippedFileError, SourceError
from openbook.index.protocol import Index, IndexStats, Source
from openbook.ingest.difference import Difference, compare_sources, folder_of, unread_files
from openbook.ingest.sync import Progress, SyncReport, sync
from openbook.libraries.catalog import DEFAULT_LIBRARY, LibraryCatalog, Location, name_for, name_of, open_as_made
from openbook.libraries.registration import register, source_at, unknown_source
from openbook.libraries.repositories import Repository, fetch_repository, refreshed, repository_of
from openbook.library_answers import LibraryAnswers
from openbook.opening import open_embedder, open_reranker
from openbook.questions.question import read_question
from openbook.retrieval.excerpts import with_excerpts
from openbook.retrieval.search import EVERYTHING, Retriever
from openbook.settings import Settings
from openbook.sources.content_hash import is_content
from openbook.sources.folder import Folder
from openbook.sources.optional_readers import readers_of
from openbook.sources.reader_registry import FileReader, ReaderRegistry
from openbook.types import Chunk, Course, Filter, RetrievalResult, View

if TYPE_CHECKING:
    from openbook.answering.generator import Generator
    from openbook.answering.options import AnswerOptions
    from openbook.answering.references import References
    from openbook.courses.catalog import PlacedLesson
    from openbook.embedding.protocol import Embedder
    from openbook.grounding.protocol import Judge
    from openbook.libraries.texts import TextStore
    from openbook.llm.protocol import Model
    from openbook.retrieval.reranking import Reranker
    from openbook.sources.course_edits import Edit
    from openbook.sources.loading import LoadOptions
    from openbook.study.guide import StudyGuide

# Refusals name files that were not read. To walk the folders for each of them took half of its time.
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
        """Open the library at a place, making it if there is none. See `open` for the other arguments.

        Raises:
            LibraryError: The library cannot be used; the hint says what to do.
        """
        if isinstance(embedder, str):
            settings, embedder = replace(settings, embedder=embedder), None
        if isinstance(reranker, str):
            settings, reranker = replace(settings, reranker=reranker), None
        self._served = embedder or (open_embedder(settings.embedder) if settings.embedder else None)
        self._embedder = load_embedder()
        self._made_by = self._served or self._embedder
        self._reranker = reranker
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
        """Open a library, making it if there is none. What Openbook does itself can be done by others.

        Args:
            library: Its name, or the path of its file.
            embedder: Makes the vectors in place of the shipped model: an `Embedder`, or a name as in
                `OPENBOOK_EMBEDDER`. A library that another one has made has to be made again.
            index: Keeps words and vectors in place of the file. It has to be of the same embedder.
            judge: Checks the claims of models, where `AnswerOptions.verifier` names nothing else: a `Judge`, a
                model, or a name as in `--verifier`.
            reranker: Orders the best results anew: a `Reranker`, or a name as in `--reranker`.
            readers: Readers of files by suffix, such as `{"ini": read_ini}`. Each takes all bytes and the path, and
                returns the text or a `Reading`. They go before those of Openbook and of plugins, and run in this
                process.
            settings: All else. Default: the environment.

        Raises:
            SettingsError: A name could not be one of a file everywhere, or means nothing.
            LibraryError: The library cannot be used.
            PluginError: A plugin that is named cannot be loaded.
        """
        settings = settings or Settings.from_env()
        location = library if isinstance(library, Path) else LibraryCatalog(settings).location(library)
        return cls(location, settings, embedder=embedder, index=index, judge=judge, reranker=reranker, readers=readers)

    @classmethod
    def of(
        cls,
        *paths: str | Path,
        embedder: Embedder | str | None = None,
        judge: Judge | Model | str | None = None,
        reranker: Reranker | str | None = None,
        readers: Mapping[str, FileReader] | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Open the library that belongs to exactly these folders and files, brought up to date.

        Args:
            paths: The folders and files.
            embedder: See `open`, as for those that follow. Each embedder has a library of its own.
            judge: Checks the claims of models.
            reranker: Orders the best results anew.
            readers: Readers of files by suffix.
            settings: All else. Default: the environment.

        Raises:
            ValueError: There is no path.
            SourceError: A path does not exist or cannot be read.
            LibraryError: The library cannot be used.
        """
        if not paths:
            raise ValueError("name at least one folder or file")
        for path in paths:
            if not isinstance(path, str | PathLike):
                raise TypeError(f"{path!r} is no path; name folders one by one: Library.of('docs', 'src')")
            Folder(path)  # before a library is made for what is not there
        made_by = embedder if isinstance(embedder, str | None) else embedder.identity
        name = name_for([Path(path).expanduser() for path in paths], made_by or "")
        assistant = cls.open(
            name, embedder=embedder, judge=judge, reranker=reranker, readers=readers, settings=settings
        )
        try:
            for path in paths:
                assistant.add(path)
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
        """Release the library. A closed assistant cannot be used again."""
        self._index.close()

    @property
    def index(self) -> Index:
        """What the library is kept in, for those who show what it holds."""
        return self._index

    @property
    def is_shared(self) -> bool:
        """Whether the library is one of several machines. Sources of others may lie in it."""
        return isinstance(self.location, str)

    def add(
        self, path: str | Path, *, course: bool = False, progress: Progress | None = None, only: Collection[str] = ()
    ) -> SyncReport:
        """Add a folder or file to the library, or update it.

        `course`: what is in the folder is material of a course, which is remembered. `progress` is told after each
        commit. `only`: paths in the folder, if not all files are to be looked at.

        Raises:
            SourceError: It does not exist or cannot be listed.
            LibraryWriteError: The library cannot be written. What was committed stays.
        """
        return self._sync(self.register(path, course=course), progress, only)

    def add_text(
        self, text: str, name: str, *, metadata: Mapping[str, Any] | None = None, progress: Progress | None = None
    ) -> SyncReport:
        """Add a text that is not a file, replacing one of that name. It belongs to the source `texts`.

        The text is kept in the home, so that citations are checked against it, and `remove("texts")` forgets it.

        Args:
            text: All of it.
            name: As of a file: `notes/monday.md`. Its suffix tells how it is read.
            metadata: What `metadata` is to return for it: anything that JSON takes.
            progress: Told after each commit.

        Raises:
            SourceError: The name is none of a file.
            ValueError: The text is blank.
            TypeError: The metadata cannot be written as JSON.
            LibraryWriteError: The library cannot be written.
        """
        self._texts.write(text, name, metadata or {})
        return self.add(self._texts.folder, progress=progress)

    def metadata(self, path: str) -> Mapping[str, Any]:
        """Return what was said of an added text, by its name; {} if nothing was."""
        return self._texts.metadata(path)

    @cached_property
    def _texts(self) -> TextStore:
        from openbook.libraries.texts import TextStore

        return TextStore(self.settings.home, name_of(self.location))

    def register(self, path: str | Path, *, course: bool = False) -> Source:
        """Remember a folder or file as a source, without reading it; the next sync does.

        A folder that was known becomes one of course material if asked, and is then read anew.

        Raises:
            SourceError: It does not exist, or a course is no folder.
            LibraryWriteError: The library cannot be written.
        """
        return register(path, self._index, self.settings.home, course=course)

    def sync(self, *, progress: Progress | None = None) -> list[SyncReport]:
        """Update every source, in order of names.

        Raises:
            SourceError: A source is gone. The library keeps what it has of it.
            LibraryWriteError: The library cannot be written.
        """
        return [self._sync(root, progress) for root in self._index.roots()]

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
        stored = source_at(Path(root.location), self._index)
        if stored is not None and stored.commit != root.commit:  # another commit with the same files
            self._index.put_root(replace(root, synced_at=stored.synced_at))
        self._compared = None
        return report

    def load_repository(
        self, url: str, options: LoadOptions | None = None, *, confined: bool = False, progress: Progress | None = None
    ) -> Repository:
        """Fetch a repository into the library, or what has changed in it. This goes to the network.

        `confined`: only to hosts that the settings of the server allow. `progress` is told of files
        fetched, then of files indexed.

        Raises:
            SourceError: The address names no repository, or it cannot be fetched.
            LibraryWriteError: The library cannot be written.
        """
        mirror = fetch_repository(url, self.settings, options, confined=confined, progress=progress)
        report = self.add(mirror.files, progress=progress)
        return repository_of(mirror, report.source, self._index)

    def remove(self, source: str) -> None:
        """Take a source and all that came from it out of the library. Its files stay.

        Raises:
            UnknownSourceError: The library has no source of that name.
        """
        if not self._index.delete_source(source):
            raise unknown_source(source, self._index)
        self._compared = None

    def sources(self) -> list[Source]:
        """List the sources, in order of names."""
        return self._index.roots()

    def courses(self, where: Filter = EVERYTHING) -> list[Course]:
        """List the courses, with their lessons, in the order of source and path."""
        return self._index.courses(where)

    def course(self, name: str) -> Course:
        """Return the course that a name means: its path, title, a part of it, a word for it.

        Raises:
            UnknownCourseError: It means none; the hint lists those that are there.
            AmbiguousCourseError: It means several; the hint lists them.
        """
        from openbook.courses.names import find_course

        return find_course(name, self.courses(), self._embedder)

    def outline(self, course: Course) -> list[PlacedLesson]:
        """List the lessons of a course, each with its places."""
        from openbook.courses.catalog import outline

        return outline(self._index, course)

    def edit_course(self, course: Course, edits: Sequence[Edit] = ()) -> Path:
        """Write a course of a folder into its `course.toml`, with changes, and return the path."""
        from openbook.libraries.course_editing import edit_course

        path = edit_course(self._index, course, edits)
        self._sync(next(root for root in self._index.roots() if root.name == course.source), None)
        return path

    def pending(self) -> Mapping[str, Difference | SourceError]:
        """Return what a sync would do for each source, or why it cannot be compared. Reads no content."""
        return compare_sources(self._index, self.settings, self._readers)

    def stats(self) -> IndexStats:
        """Count what the library holds."""
        return self._index.stats()

    def search(
        self, query: str, *, limit: int = 10, where: Filter = EVERYTHING, view: View = "auto"
    ) -> list[RetrievalResult]:
        """Rank chunks for a question, at most `limit`, ordered by `(-score, source, span)`, each with an excerpt.

        Args:
            query: The question.
            limit: Most results.
            where: Documents that may be found.
            view: `files` lists each file once, `passages` may list several of one file; `auto` lets
                the question decide.

        Raises:
            QueryError: The question is empty, too long, or holds no word.
            UnknownSourceError: The filter names a source that the library does not have.
            ValueError: `limit` is below 1.
        """
        self._check(limit, where)
        question = read_question(query)
        return with_excerpts(question, self.retriever.search(question, limit=limit, where=where, view=view))

    def references(self, name: str, *, where: Filter = EVERYTHING) -> References:
        """Find every line that defines, calls, imports or mentions a name. Calls of `Client.get` are of every `get`."""
        from openbook.answering.references import find_references

        self._check(None, where)
        return find_references(name, self._index, where)

    def retrieve(self, message: str, *, limit: int = 10, where: Filter = EVERYTHING) -> list[RetrievalResult]:
        """Rank what `query` writes an answer from, best first, before a model's context is filled up.

        That is more than `search` does: headings and lessons of courses that a question asks for, the pages that
        introduce a project, documentation beside code.

        A question for places has three times `limit`. Arguments and errors are those of `query`.
        """
        self._check(limit, where)
        return self.generator.retrieve(message, limit, where=where)

    def study(self, *, where: Filter = EVERYTHING, options: AnswerOptions | None = None, count: int = 10) -> StudyGuide:
        """Make a study guide: a summary, key terms and questions, each with citations that have been checked.

        Args:
            where: What to study: a lesson, a course, a document, or several.
            options: The model that writes. Without it, the guide is made of the sources' own sentences.
            count: Most terms, and most questions.

        Raises:
            QueryError: The filter lets nothing through.
            UnknownSourceError: The filter names a source that the library does not have.
            ValueError: `count` is below 1.
            ModelError: The model did not answer.
        """
        from openbook.answering.evidence import EvidenceFinder
        from openbook.study.making import make_guide

        if count < 1:
            raise ValueError(f"count is {count}; at least 1 term has to be asked for")
        self._check(None, where)
        completed = self._completed(options, ())
        if completed.deadline_s is None:
            completed = replace(completed, deadline_s=self.settings.model_timeout_s)
        finder = EvidenceFinder(self._index, self._embedder, self.text_now, self.retriever)
        return make_guide(finder, where, completed, context_tokens=self.settings.context_tokens, count=count)

    @cached_property
    def retriever(self) -> Retriever:
        """What searches the library. `SettingsError`: the reranker that the settings name cannot be used."""
        # Not before: a sync needs none.
        reranker = self._reranker or open_reranker(self.settings.reranker, self.settings)
        return Retriever(self._index, self._made_by, self._embedder, reranker)

    @cached_property
    def generator(self) -> Generator:
        """What writes the answers, with its statistics."""
        from openbook.answering.generator import Generator  # a search answers nothing

        return Generator(
            self._index,
            self._embedder,
            text_now=self.text_now,
            context_tokens=self.settings.context_tokens,
            retriever=self.retriever,
            model_timeout_s=self.settings.model_timeout_s,
            unread=self._unread,
            expands_queries=self.settings.query_expansion,
        )

    def _unread(self, where: Filter) -> Mapping[str, str]:
        """Return the files that could not be read, with the reason for each."""
        now = time.monotonic()
        if self._compared is None or now - self._compared[0] > _COMPARED_AGAIN_S:
            self._compared = now, self.pending()
        return unread_files(self._compared[1], where)

    def text_now(self, chunk: Chunk) -> str | None:
        """Read a chunk's document again, so that a citation is checked against the file itself; None if it is gone."""
        from openbook.sources.documents import current_text  # loads all readers, and a search reads nothing again

        source, path = chunk.source, chunk.span.path
        root = next((root for root in self._index.roots() if root.name == source), None)
        if root is None:
            return None
        known = self._index.document(source, path)
        if self.is_shared and not Path(root.location).exists():
            return known.text if known else None  # the file is on another machine: what that one read last
        try:
            folder = folder_of(root, self.settings, self._readers)
            holder = folder.holder_of(path)
            if not holder:
                raw = folder.read_bytes(path)
                return current_text(raw, path, known, self._readers, mask=self.settings.mask_secrets)
            # An attached file is unchanged as long as the file around it is: to read it again may take long.
            around = self._index.document(source, holder)
            is_same = around is not None and is_content(folder.read_bytes(holder), around.content_hash)
            return known.text if known and is_same else None
        except (SourceError, SkippedFileError):
            return None


Assistant = Library
"""The name of `Library` in version 0.1."""
