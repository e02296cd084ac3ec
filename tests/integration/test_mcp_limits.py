"""What the tools of the MCP server leave out or take otherwise, and say so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openbook.watched_library import WatchedLibrary
from tests.integration.support_mcp import call, watched, write_shop


@pytest.fixture
def library(tmp_path: Path) -> Iterator[WatchedLibrary]:
    with watched(write_shop(tmp_path)) as library:
        yield library


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            {"name": "weigh", "use": "call", "path": "src/"},
            "no call of weigh in src/; other lines: 1 definition, 1 mention",
        ),
        (
            {"name": "scale", "path": "test_*.py"},
            "no line in test_*.py holds the name scale as a whole word; elsewhere: 1 call, 1 mention",
        ),
        ({"name": "weighs", "path": "src/"}, "no document holds the name weighs as a whole word"),
    ],
)
def test_references_that_a_path_or_a_use_leaves_out_are_counted(
    library: WatchedLibrary, arguments: dict[str, Any], told: str
) -> None:
    assert call(library, "find_references", **arguments).content[0].text == told


def test_a_number_beyond_its_limit_is_capped_and_the_reply_says_so(library: WatchedLibrary) -> None:
    result = call(library, "search", query="weigh", limit=500, max_tokens=1)

    assert not result.is_error
    assert result.content[0].text.endswith("(limit=500 was taken as 50; max_tokens=1 was taken as 100)")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "arguments", "start", "note"),
    [
        ("read_lines", {"path": "course.txt", "first_line": 0}, "course.txt:1-7", "(first_line=0 was taken as 1)"),
        ("read_lines", {"path": "course.txt", "last_line": -1}, "course.txt:1-7", "(last_line=-1 was taken as 0)"),
        ("outline", {"path": "course.txt", "first_line": -1}, "course.txt", "(first_line=-1 was taken as 1)"),
        ("find_related", {"path": "src/parcels.py", "line": 0}, "", "(line=0 was taken as 1)"),
    ],
)
def test_numbers_below_a_limit_without_an_upper_one_are_taken_as_it(
    library: WatchedLibrary, tool: str, arguments: dict[str, Any], start: str, note: str
) -> None:
    result = call(library, tool, **arguments)

    assert not result.is_error
    assert result.content[0].text.startswith(start)
    assert result.content[0].text.endswith(note)


def test_a_search_in_another_language_says_so_unless_another_search_is_not(library: WatchedLibrary) -> None:
    query, note = "Wie schwer darf denn ein Paket höchstens sein?", "The question and the sources are in different"

    alone = call(library, "search", query=query).content[0].text
    with_other = call(library, "search", query=query, also=["weigh"]).content[0].text

    assert note in alone.partition("course.txt")[0]
    assert note not in with_other


def test_an_issue_with_a_long_log_is_searched_for(library: WatchedLibrary) -> None:
    result = call(library, "search", query="`weigh` fails\n\n" + "It worked before. " * 2_000)

    assert not result.is_error
    assert "src/parcels.py" in result.content[0].text
