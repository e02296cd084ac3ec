"""Study guides are made beside the server, within a time, and what is wrong is told."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from threading import Event, Semaphore, Thread

import pytest

from openbook.errors import OpenbookError, QueryError
from openbook.library import Library
from openbook.server.failures import RequestRefusedError
from openbook.server.served_library import ServedLibrary
from openbook.server.study_guides import GuideJob, StudyGuides
from openbook.settings import Settings
from openbook.types import Filter
from tests.server.conftest import Serve
from tests.support import write_tree

EVERYTHING = Filter()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[ServedLibrary]:
    tree = write_tree(
        tmp_path / "bread", {"dough.md": "# Dough\n\nA levain is a piece of dough kept for the next day.\n"}
    )
    settings = Settings(home=tmp_path / "home", workers=1)
    with closing(ServedLibrary(Library.of(tree, settings=settings))) as served:
        yield served


def never_end(job: GuideJob) -> str:
    Event().wait(60)
    return ""


@pytest.mark.slow
def test_a_guide_is_made_and_its_errors_keep_their_hints(library: ServedLibrary) -> None:
    with closing(StudyGuides(library)) as guides:
        guide = guides.make(EVERYTHING, 3)
        with pytest.raises(QueryError) as refused:
            guides.make(Filter(globs=("*.pdf",)), 3)

    assert "A levain is a piece of dough kept for the next day. [1]" in guide
    assert isinstance(refused.value, OpenbookError)
    assert refused.value.hint


@pytest.mark.slow
def test_a_guide_is_markdown_or_the_same_rendered(serve: Serve) -> None:
    client, lesson = serve(), {"course": "harbour/quay.txt", "lesson": "1"}

    plain = client.get("/api/study", params=lesson)
    told = client.get("/api/study", params=lesson | {"format": "json"}).json()

    assert plain.headers["content-type"].startswith("text/markdown")
    assert told["markdown"] == plain.text
    assert "Summary</h" in told["html"]
    assert "## " not in told["html"]


def test_a_slow_guide_fails_and_its_process_is_killed(library: ServedLibrary) -> None:
    with (
        closing(StudyGuides(library, timeout_s=0.0, make=never_end)) as guides,
        pytest.raises(RequestRefusedError, match="cannot be made: took longer") as refused,
    ):
        guides.make(EVERYTHING, 3)

    assert refused.value.status == 503


def test_waiting_too_long_for_other_guides_is_an_error(library: ServedLibrary) -> None:
    with closing(StudyGuides(library, max_wait_s=0.0)) as guides:
        begun, told = Event(), Event()

        def make() -> None:
            with guides._process._lock:  # as another guide has it
                begun.set()
                told.wait(60)

        other = Thread(target=make)
        other.start()
        begun.wait(60)
        with pytest.raises(RequestRefusedError, match="are being made"):
            guides.make(EVERYTHING, 3)
        told.set()
        other.join()


def be_quick(job: GuideJob) -> str:
    return "# Guide\n"


class CountedGuides(StudyGuides):
    asked = Semaphore(0)

    def make(self, where: Filter, count: int) -> str:
        self.asked.release()
        return super().make(where, count)


@pytest.mark.slow
def test_guides_that_wait_keep_no_other_route_waiting(serve: Serve) -> None:
    client = serve(key_questions_per_minute=1000)
    client.get("/api/me")
    guides = CountedGuides(client.app.state.library, make=be_quick)  # type: ignore[attr-defined]
    client.app.state.guides = guides  # type: ignore[attr-defined]
    course = {"course": "harbour/quay.txt", "lesson": "1"}
    others = ("/healthz", "/docs.css", "/api/me", "/api/courses")

    with closing(guides), ThreadPoolExecutor(70) as people:
        with guides._process._lock:  # as another guide has it
            studying = [people.submit(client.get, "/api/study", params=course) for _ in range(60)]
            waiting = [guides.asked.acquire(timeout=60) for _ in range(32)]
            asked = [people.submit(client.get, path) for path in others]
            wait(asked, timeout=60)
            finished = [path for path, reply in zip(others, asked, strict=True) if reply.done()]
        guided = [reply.result().status_code for reply in studying]

    assert all(waiting)
    assert finished == list(others)
    assert guided == [200] * 60
