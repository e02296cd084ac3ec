"""What a library remembers of how it was cut, and reads again."""

from __future__ import annotations

import pytest

from openbook.chunking.identity import chunks_identity, settings_of
from openbook.settings import Settings


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(mask_secrets=False),
        Settings(course_chunk_chars=400, course_overlap_chars=0),
        Settings(chunk_strategy="hybrid", chunk_words=300, course_chunk_chars=400, mask_secrets=False),
    ],
    ids=chunks_identity,
)
def test_the_settings_that_cut_a_library_are_read_from_its_identity(settings: Settings) -> None:
    others = Settings(chunk_words=90, chunk_overlap_words=9, course_chunk_chars=200, course_overlap_chars=20)

    found = settings_of(chunks_identity(settings), others)

    assert found is not None
    assert chunks_identity(found) == chunks_identity(settings)


def test_libraries_from_before_courses_had_settings_are_still_theirs() -> None:
    assert chunks_identity(Settings()) == "rules-21/semantic"
    assert settings_of("rules-21/semantic-course-1-1", Settings()) is None
