"""What the library holds, and the work that changes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from openbook.assistant import Assistant
from openbook.index.protocol import Root
from openbook.ingest.sync import Progress, SyncReport
from openbook.retrieval.search import EVERYTHING
from openbook.server.failures import RequestRefusedError
from openbook.server.jobs import Job, Jobs
from openbook.server.library import Library
from openbook.server.shapes import (
    CourseReply,
    CoursesReply,
    LessonReply,
    NewSource,
    RefusedFile,
    SourceReply,
    SourcesReply,
    UploadReply,
)
from openbook.server.uploads import Upload, Uploads
from openbook.settings import Settings
from openbook.sources.repository_urls import read_repository_url

# Nobody reads more of them.
_MOST_REMARKS = 20


class Contents:
    """The sources of a library, shown and changed."""

    def __init__(
        self, library: Library, jobs: Jobs, uploads: Uploads, settings: Settings, *, roots: Sequence[Path]
    ) -> None:
        """Take the parts.

        Args:
            library: What is served.
            jobs: Where work is done.
            uploads: Where files are kept.
            settings: Limits.
            roots: Folders below which sources may be added.
        """
        self._library = library
        self._jobs = jobs
        self._uploads = uploads
        self._roots = [root.resolve() for root in (*roots, *map(Path, settings.server_roots))]
        self._git_hosts = frozenset(host.lower() for host in settings.server_git_hosts)

    def sources(self) -> SourcesReply:
        """List the sources."""
        busy = {job.source: job for job in self._jobs.open()}
        failed = self._jobs.failed()
        with self._library.in_use() as assistant:
            counts = Counter(listed.source for listed in assistant.index.documents(EVERYTHING))
            listed = [
                _source(root, counts[root.name], assistant, root.name in busy, failed.get(root.name, ""))
                for root in assistant.sources()
            ]
        return SourcesReply(sources=listed, writable=True)

    def courses(self) -> CoursesReply:
        """List the courses."""
        with self._library.in_use() as assistant:
            found = assistant.courses()
        courses = [
            CourseReply(
                source=course.source,
                path=course.path,
                title=course.title,
                link=course.link,
                instructor=course.instructor,
                lessons=[
                    LessonReply(number=lesson.number, title=lesson.title, link=lesson.link)
                    for lesson in course.lessons
                    if lesson.number is not None
                ],
            )
            for course in found
        ]
        return CoursesReply(total_courses=len(courses), course_titles=[each.title for each in courses], courses=courses)

    def add(self, owner: str, new: NewSource) -> Job:
        """Begin to add a folder or a repository.

        Raises:
            RequestRefusedError: It may not be added here.
            SourceError: It does not exist.
        """
        if (new.path is None) == (new.url is None):
            raise RequestRefusedError(400, "a new source has either a path or a url", hint="send one of them")
        if new.url is not None:
            return self._add_repository(owner, new.url)
        path = self._allowed(new.path or "")
        with self._library.opened_anew() as assistant:
            name = assistant.register(path).name
        return self._jobs.start(owner, name, self._syncing(path))

    def _allowed(self, path: str) -> Path:
        try:
            place = Path(path).expanduser().resolve()
        except (OSError, RuntimeError, ValueError):
            place = None
        if place is None or not any(place.is_relative_to(root) for root in self._roots):
            raise RequestRefusedError(
                403, "no source may be added from there", hint="OPENBOOK_SERVER_ROOTS names allowed folders"
            )
        return place

    def _add_repository(self, owner: str, url: str) -> Job:
        address = read_repository_url(url)
        # Not by SSH: the keys of whoever runs the server are not for those who ask it.
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

    def upload(self, owner: str, files: Sequence[Upload], *, course: bool) -> UploadReply:
        """Keep uploaded files, and begin to index them.

        Raises:
            RequestRefusedError: None can be taken.
        """
        taken, refused = self._uploads.check(files)
        if not taken:
            raise RequestRefusedError(
                415, f"no file was taken: {refused[0].name} is {refused[0].reason}", hint="send documents or code"
            )
        self._uploads.keep(taken, course=course)
        folder = self._uploads.folder(course=course)
        with self._library.opened_anew() as assistant:
            name = assistant.register(folder, course=course).name
        job = self._jobs.start(owner, name, self._syncing(folder))
        return UploadReply(
            job_id=job.id,
            accepted=[name for name, _ in taken],
            refused=[RefusedFile(name=each.name, reason=each.reason) for each in refused],
        )

    def remove(self, name: str) -> None:
        """Take a source out of the library. Uploaded files are deleted, others stay.

        Raises:
            UnknownSourceError: There is none of that name.
        """
        with self._library.opened_anew() as assistant:
            location = next((root.location for root in assistant.sources() if root.name == name), "")
            assistant.remove(name)
        self._uploads.forget(location)

    def resume(self) -> None:
        """Go on with what a server that was stopped or killed has left undone."""
        self._uploads.clean()
        for folder in self._uploads.folders:
            self._jobs.start("", "", self._syncing(folder))

    def _syncing(self, path: Path) -> Any:
        def sync(progress: Progress) -> dict[str, Any]:
            with self._library.opened_anew() as assistant:
                return _report(assistant.add(path, progress=progress))

        return sync


def _source(root: Root, documents: int, assistant: Assistant, is_busy: bool, failure: str) -> SourceReply:
    records = assistant.index.records(root.name)
    remarks = [f"{path}: {remark}" for path, record in sorted(records.items()) for remark in record.remarks]
    return SourceReply(
        name=root.name,
        kind=root.kind,
        location=root.url or Path(root.location).name,
        documents=documents,
        state="indexing" if is_busy else "error" if failure else "ready",
        message="" if is_busy else failure,
        skipped=dict(sorted(Counter(record.skipped for record in records.values() if record.skipped).items())),
        remarks=remarks[:_MOST_REMARKS],
    )


def _report(report: SyncReport) -> dict[str, Any]:
    told = asdict(report)
    return told | {"skipped": {reason: len(paths) for reason, paths in report.skipped.items()}}
