"""What an error tells: names of files and never their folders, in a time that its length does not blow up."""

from __future__ import annotations

import pytest

from openbook.server.failures import without_places


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cannot read '/home/ada/a.md': gone", "cannot read 'a.md': gone"),
        ("cannot read '/home/ada/notes/': gone", "cannot read 'notes': gone"),
        ('cannot read "/home/o\'neil/a.md": gone', 'cannot read "a.md": gone'),
        (r"cannot read 'C:\\users\\ada\\a.md'", "cannot read 'a.md'"),
        ("neither '/a/b' nor '/c/d'", "neither 'b' nor 'd'"),
        ("no '/' in 'a/b' or ''", "no '/' in 'a/b' or ''"),
    ],
)
def test_of_a_path_the_last_part_is_told(text: str, told: str) -> None:
    assert without_places(text) == told


def test_a_path_that_never_ends_is_read_once() -> None:
    # Read anew from each of its characters, it would take an hour.
    text = "no source 'C:" + "\\" + "a" * 500_000

    assert without_places(text) == text
