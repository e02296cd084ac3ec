"""Lists the sources of the library, and starts jobs that change them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openbook.errors import OpenbookError
from openbook.index.protocol import FileRecord, Index, Source
from openbook.ingest.sync import Progress, SyncReport
from openbook.library import Library
from openbook.retrieval.search import EVERYTHING
from openbook.server.failures import RequestRefusedError, without_places
from openbook.server.jobs import Job, JobQueue, Work
from openbook.server.schemas import (
    CourseResponse,
    CoursesResponse,
    RejectedFileResponse,
    SourceRequest,
    SourceResponse,
    SourcesResponse,
    UploadedFile,
    UploadResponse,
)
from openbook.server.served_library import ServedLibrary
from openbook.server.suggestions import SuggestionCache
from openbook.server.uploads import UploadStore
from openbook.settings import Settings
from openbook.sources.course_edits import Edit
from openbook.sources.folder import holder_of
from openbook.sources.repository_urls import read_repository_url

if TYPE_CHECKING:
    from fastapi import UploadFile

ADDED = "added"
"""The outcome of a searchable file."""

# Nobody would read more.
_MAX_REMARKS = 20


class SourceService:
    """Lists and changes the sources of a library."""

    def __init__(
        self,
        library: ServedLibrary,
        jobs: JobQueue,
        uploads: UploadStore,
        settings: Settings,
        *,
        roots: Sequence[Path],
    ) -> None:
        """Serve a library. Folders and repositories can be added from within `roots`."""
        self._library = library
        self._suggestions = SuggestionCache(library)
        self._jobs = jobs
        self._uploads = uploads
        self._roots = [root.expanduser().resolve() for root in (*roots, *map(Path, settings.server_roots))]
        self._git_hosts = frozenset(host.lower() for host in settings.server_git_hosts)
        # Registering a source, changing its files and starting a job must be atomic. Otherwise a source could be
        # removed in between, and the job would restore deleted files, or miss files of an accepted upload.
        self._changing = threading.Lock()

    def sources(self) -> SourcesResponse:
        busy = {job.source for job in self._jobs.open()} | {job.source for job in self._jobs.elsewhere()}
        failed = self._jobs.failed()
        self._uploads.refresh_for_listing()
        with self._library.in_use() as assistant:
            counts = Counter(listed.source for listed in assistant.index.documents(EVERYTHING))
            listed = [
                self._source(root, counts[root.name], assistant, root.name in busy, failed.get(root.name, ""))
                for root in assistant.sources()
            ]
        location = self._library.location
        return SourcesResponse(sources=listed, writable=isinstance(location, str) or os.access(location, os.W_OK))

    def _source(self, root: Source, documents: int, assistant: Library, is_busy: bool, failure: str) -> SourceResponse:
        records = assistant.index.records(root.name)
        remarks = [f"{path}: {remark}" for path, record in sorted(records.items()) for remark in record.remarks]
        folder = self._uploads.at(root.location)
        return SourceResponse(
            name=root.name,
            kind=root.kind,
            location=root.url or Path(root.location).name,
            documents=documents,
            # A source that was never synced to its end may be indexed by another process.
            state="error" if failure and not is_busy else "indexing" if is_busy or not root.synced_at else "ready",
            message="" if is_busy else without_places(failure),
            skipped=dict(sorted(Counter(record.skipped for record in records.values() if record.skipped).items())),
            remarks=remarks[:_MAX_REMARKS],
            uploaded=[
                UploadedFile(
                    document_id=self._library.document_id(root.name, path),
                    name=path,
                    outcome="" if is_busy and path not in records else _outcome(records.get(path)),
                )
                for path in (self._uploads.files(folder) if folder else ())
            ],
        )

    def courses(self) -> CoursesResponse:
        with self._library.in_use() as assistant:
            found = assistant.courses()
        numbered = (
            replace(course, lessons=tuple(lesson for lesson in course.lessons if lesson.number is not None))
            for course in found
        )
        courses = [CourseResponse.model_validate(course) for course in numbered]
        return CoursesResponse(
            total_courses=len(courses), course_titles=[each.title for each in courses], courses=courses
        )

    def edit_course(self, source: str, path: str, edit: Edit) -> None:
        """Change a lesson of a course, in the file `course.toml` of its folder."""
        with self._changing, self._library.opened_anew() as assistant:
            course = next((one for one in assistant.courses() if one.key == (source, path)), None)
            if course is None:
                raise RequestRefusedError(404, "the library has no such course", hint="GET /api/courses lists them")
            location = next(root.location for root in assistant.sources() if root.name == source)
            if self._uploads.at(location) is not None:
                self._uploads.change(lambda: assistant.edit_course(course, [edit]))
            else:
                self._allowed(location, "the folder of this course may not be changed from here")
                assistant.edit_course(course, [edit])

    def suggestions(self) -> list[str]:
        return self._suggestions.get()

    def add(self, owner: str, new: SourceRequest) -> Job:
        """Start to add a folder or a repository."""
        if (new.path is None) == (new.url is None):
            raise RequestRefusedError(400, "a new source has either a path or a url", hint="send one of them")
        if new.url is not None:
            return self._add_repository(owner, new.url)
        path = self._allowed(new.path or "")
        with self._changing, self._library.opened_anew() as assistant:
            name = assistant.register(path, allow_large=True).name  # the operator allowed it
            return self._jobs.start(owner, name, self._syncing(path))

    def _allowed(self, path: str, refusal: str = "no source may be added from there") -> Path:
        try:
            place = Path(path).expanduser().resolve()
        except (OSError, RuntimeError, ValueError):
            place = None
        if place is None or not self._is_below_roots(place):
            raise RequestRefusedError(403, refusal, hint="OPENBOOK_SERVER_ROOTS names allowed folders")
        return place

    def _add_repository(self, owner: str, url: str) -> Job:
        address = read_repository_url(url)
        # Not by SSH: callers must not use the operator's keys.
        if not address.clone_url.startswith("https://") or address.host not in self._git_hosts:
            raise RequestRefusedError(
                403,
                "no repository may be loaded from there",
                hint=f"give an https address at {', '.join(sorted(self._git_hosts)) or 'no host: none is allowed'}",
            )

        def load(progress: Progress) -> dict[str, Any]:
            with self._library.opened_anew() as assistant:
                found = assistant.load_repository(url, confined=True, progress=progress)
            return {"source": found.source, "commit": found.commit, "documents": found.total_files}

        return self._jobs.start(owner, "", load)

    def upload(self, owner: str, files: Sequence[UploadFile], *, course: bool) -> UploadResponse:
        """Store uploaded files, and start to index them."""
        taken, refused = self._uploads.check(files)
        if not taken:
            raise RequestRefusedError(
                415, f"no file was accepted: {refused[0].name} is {refused[0].reason}", hint="send documents or code"
            )
        with self._changing:
            self._jobs.check_open()
            folder = self._uploads.made_folder(course=course)
            with self._library.opened_anew() as assistant:  # first: it may be rejected
                name = assistant.register(folder, course=course, allow_large=True).name
            kept = self._uploads.keep(taken, owner, course=course)
            job = self._jobs.start(owner, name, self._syncing(folder, only=kept, is_upload=True), paths=kept)
        return UploadResponse(
            job_id=job.id,
            accepted=[_name(path) for path in kept],
            refused=[RejectedFileResponse(name=each.name, reason=each.reason) for each in refused],
        )

    def remove(self, name: str) -> None:
        """Remove a source from the library, and cancel its jobs. Uploaded files are deleted; others are not touched."""
        with self._changing, self._library.opened_anew() as assistant:
            location = next((root.location for root in assistant.sources() if root.name == name), "")
            if self._uploads.at(location) is not None:
                self._uploads.refresh()  # first, so that a source whose files cannot be deleted is not forgotten
            self._jobs.cancel_source(name)  # otherwise a later commit would restore it
            self._jobs.cancel_elsewhere(name)
            self._uploads.forget(location)  # first, because the storage may refuse
            assistant.remove(name)

    def remove_file(self, owner: str, document_id: str) -> Job:
        """Delete an uploaded file, and start to remove it from the index."""
        away = None
        try:
            self._uploads.refresh()
        except RequestRefusedError as exc:
            away = exc
        with self._changing:
            with self._library.in_use() as assistant:
                folders = {root.name: self._uploads.at(root.location) for root in assistant.sources()}
            for source, folder in folders.items():
                # Includes unreadable files, which are not documents.
                paths = self._uploads.files(folder) if folder else []
                path = next((each for each in paths if self._library.document_id(source, each) == document_id), None)
                if folder and path:
                    self._jobs.check_open()
                    self._uploads.remove(folder, path)
                    return self._jobs.start(owner, source, self._syncing(folder, only=[path]), paths=[path])
        place = self._library.place(document_id)
        if away is not None and place is not None and folders.get(place[0]):  # the copy may lack it
            raise away
        if place is not None and not folders.get(place[0]):
            raise RequestRefusedError(403, "only files that were uploaded can be removed", hint="remove the source")
        raise RequestRefusedError(404, "the library has no such document", hint="it may have been removed already")

    def resume(self) -> None:
        """Resume the jobs that a stopped or killed server left unfinished.

        Uploads are registered as an empty source at once, so that they do not look finished.
        """
        self._resume_sources()
        self._uploads.clean()
        try:
            self._uploads.refresh()
        except RequestRefusedError:  # files missing from the copy would be removed from the index
            return
        for folder in self._uploads.folders:
            name, is_course = "", folder == self._uploads.folder(course=True)
            with contextlib.suppress(OpenbookError), self._library.opened_anew() as assistant:  # the job will report it
                name = assistant.register(folder, course=is_course, allow_large=True).name
            self._jobs.start("", name, self._syncing(folder, course=is_course, is_whole=True))

    def _resume_sources(self) -> None:
        """Resume folders and repositories of this machine that could be added here and were never synced to the end."""
        with self._library.in_use() as assistant:
            unfinished = [root for root in assistant.sources() if not root.synced_at and assistant.is_own(root)]
        for root in unfinished:
            path = Path(root.location)
            if self._uploads.at(root.location) is None and path.exists() and (root.url or self._is_below_roots(path)):
                self._jobs.start("", root.name, self._syncing(path))

    def _is_below_roots(self, place: Path) -> bool:
        return any(place.is_relative_to(root) for root in self._roots)

    def _syncing(
        self,
        path: Path,
        *,
        course: bool = False,
        only: Collection[str] = (),
        is_upload: bool = False,
        is_whole: bool = False,
    ) -> Work:
        """Return the job of a sync. `is_whole`: sync all uploads, and also remove files that the copy does not have."""

        def sync(progress: Progress) -> dict[str, Any]:
            if is_whole:
                self._uploads.refresh()
            with self._library.opened_anew() as assistant:
                report = assistant.add(path, course=course, progress=progress, only=only, allow_large=True)
                told = _report(report)
                return told | _report_of_files(only, report.source, assistant.index) if is_upload else told

        return sync


def _report(report: SyncReport) -> dict[str, Any]:
    told = asdict(report)
    return told | {"skipped": {reason: len(paths) for reason, paths in report.skipped.items()}}


def _report_of_files(paths: Collection[str], source: str, index: Index) -> dict[str, Any]:
    """Return the outcomes of some files and their attachments, without those of other uploads."""
    records = index.records(source)
    attached = (path for path in records if holder_of(path, paths))
    outcomes = {path: _outcome(records.get(path)) for path in (*paths, *attached)}
    for path, outcome in outcomes.items():
        if outcome == ADDED and not index.chunks(source, path):
            outcomes[path] = "it contains no text"
    counts = Counter(outcomes.values())
    return {
        "added": counts.pop(ADDED, 0),
        "skipped": dict(sorted(counts.items())),
        "left_out": [{"name": _name(path), "reason": why} for path, why in outcomes.items() if why != ADDED],
    }


def _outcome(record: FileRecord | None) -> str:
    return "left out by its name or size, or stopped before it was read" if record is None else record.skipped or ADDED


def _name(path: str) -> str:
    return path.rpartition("/")[2]
