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


def test_a_path_or_address_that_never_ends_is_read_once() -> None:
    # Read anew from each of its characters, one would take an hour.
    for text in ("no source 'C:" + "\\" + "a" * 500_000, "a:" * 250_000, " at a" * 100_000):
        assert without_places(text) == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("the cluster at ray://10.0.0.7:10001 is away: no route", "the cluster is away: no route"),
        ("the store at unix:///run/kept.sock.", "the store."),
        ("error:https://10.0.0.7/v1 said no", "the model's server said no"),
        ("cannot fetch 'git+ssh://git.example/ferry.git'", "cannot fetch 'git+ssh://git.example/ferry.git'"),
        ("no library 'lance:s3://bucket/mine'", "no library 'lance:s3://bucket/mine'"),
    ],
)
def test_addresses_of_other_servers_are_removed_from_errors_unless_quoted(text: str, told: str) -> None:
    assert without_places(text) == told
