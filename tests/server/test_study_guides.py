"""Study guides are made beside the server, within a time, and what is wrong is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import pytest

from openbook.errors import OpenbookError, QueryError
from openbook.library import Library
from openbook.server.failures import RequestRefusedError
from openbook.server.served_library import ServedLibrary
from openbook.server.study_guides import GuideJob, StudyGuides
from openbook.settings import Settings
from openbook.types import Filter
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


def test_a_guide_is_made_and_its_errors_keep_their_hints(library: ServedLibrary) -> None:
    with closing(StudyGuides(library)) as guides:
        guide = guides.make(EVERYTHING, 3)
        with pytest.raises(QueryError) as refused:
            guides.make(Filter(globs=("*.pdf",)), 3)

    assert "A levain is a piece of dough kept for the next day. [1]" in guide
    assert isinstance(refused.value, OpenbookError)
    assert refused.value.hint


def test_a_guide_that_takes_too_long_is_told_and_the_process_is_ended(library: ServedLibrary) -> None:
    with (
        closing(StudyGuides(library, timeout_s=0.0, make=never_end)) as guides,
        pytest.raises(RequestRefusedError, match="cannot be made: took longer") as refused,
    ):
        guides.make(EVERYTHING, 3)

    assert refused.value.status == 503


def test_whoever_waits_too_long_for_the_guides_of_others_is_told(library: ServedLibrary) -> None:
    with closing(StudyGuides(library, longest_wait_s=0.0)) as guides:
        begun, told = Event(), Event()

        def make() -> None:
            with guides._process._lock:  # as another guide has it
                begun.set()
                told.wait(10)

        other = Thread(target=make)
        other.start()
        begun.wait(10)
        with pytest.raises(RequestRefusedError, match="are being made"):
            guides.make(EVERYTHING, 3)
        told.set()
        other.join()
