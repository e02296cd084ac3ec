from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.errors import ToolError
from openbook.lookup.matching_lines import MatchingLines, find_lines
from tests.unit.retrieval.material import Library


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    made.put("a.py", "raise Timeout(1)\n\nx = Timeouts(2)", kind="code")
    made.put("b.md", "A raise and a Timeout.\nÜber: raise Timeout(3) raise Timeout(4)")
    yield made
    made.close()


def places(found: MatchingLines) -> list[tuple[str, int]]:
    return [(line.path, line.line) for line in found.lines]


def test_an_exact_text_is_found_with_its_signs(library: Library) -> None:
    assert places(find_lines("raise Timeout(", library.index)) == [("a.py", 1), ("b.md", 2)]


def test_a_part_of_a_word_is_found_too(library: Library) -> None:
    assert places(find_lines("imeouts", library.index)) == [("a.py", 3)]


def test_letters_may_be_of_any_case(library: Library) -> None:
    assert places(find_lines("RAISE timeout(", library.index)) == []
    assert places(find_lines("RAISE timeout(", library.index, any_case=True)) == [("a.py", 1), ("b.md", 2)]


def test_the_scheme_of_a_url_is_a_part_of_the_text(library: Library) -> None:
    library.put("c.md", "Read https://quay.example/ropes first, says HTTPServer now.")

    assert places(find_lines("ad https://quay.example/ropes fi", library.index)) == [("c.md", 1)]
    assert places(find_lines("says httpserver now", library.index, any_case=True)) == [("c.md", 1)]


@pytest.mark.parametrize(
    "pattern",
    [r"raise|imeouts", r"raise.*\(", r"\bTimeout\(", "^raise", r"[A-Z]imeouts", r"[Tt]+imeouts"],
)
def test_what_is_written_as_a_regular_expression_and_stands_nowhere_is_taken_as_one(
    pattern: str, library: Library
) -> None:
    found = find_lines(pattern, library.index)

    assert found.is_expression
    assert found.lines == find_lines(pattern, library.index, is_regex=True).lines


@pytest.mark.parametrize("pattern", ["x || Timeouts", "Timeout[0]", "x?.raise", "Timeout(9)", "raise|(", "none|nix"])
def test_a_text_that_stands_nowhere_is_not_found_by_its_signs(pattern: str, library: Library) -> None:
    assert find_lines(pattern, library.index) == MatchingLines((), 0)


def test_a_text_that_stands_there_is_not_taken_as_a_regular_expression(library: Library) -> None:
    library.put("c.py", "a|b\na", kind="code")

    found = find_lines("a|b", library.index)

    assert places(found) == [("c.py", 1)]
    assert not found.is_expression


def test_a_regular_expression_never_leaves_its_line(library: Library) -> None:
    found = find_lines(r"^\w+ = Time|raise[^x]*Timeouts", library.index, is_regex=True)

    assert places(found) == [("a.py", 3)]
    assert found.lines[0].text == "x = Timeouts(2)"


def test_a_line_ends_before_the_mark_of_a_reader(library: Library) -> None:
    library.put("tie.1", "OPTIONS\f\f\n-t, --tight\f\nTies\fit.")

    found = find_lines("--tight$|^OPTIONS$|Ties it", library.index, is_regex=True)

    assert [(line.line, line.text) for line in found.lines] == [(1, "OPTIONS"), (2, "-t, --tight"), (3, "Ties it.")]


def test_no_pattern_takes_more_than_linear_time(library: Library) -> None:
    library.put("c.txt", "a" * 20_000 + "!")

    assert find_lines("(a|aa)+$", library.index, is_regex=True).count == 0


def test_documents_that_were_not_read_in_time_are_counted(library: Library) -> None:
    assert find_lines("raise", library.index, seconds=-1.0).unread == 2


def test_documents_that_were_not_read_for_a_regular_expression_in_time_are_counted(library: Library) -> None:
    # No document has the word `quux`, so none is read for the text itself.
    found = find_lines("no quux or.*", library.index, seconds=-1.0)

    assert (found.unread, found.is_expression) == (2, True)


@pytest.mark.parametrize("pattern", ["", "a\nb", "x" * 501])
def test_what_is_no_line_is_refused(pattern: str, library: Library) -> None:
    with pytest.raises(ToolError, match="one line"):
        find_lines(pattern, library.index)


@pytest.mark.parametrize(("pattern", "told"), [("(a", "not a regular expression"), ("x*", "matches every line")])
def test_what_is_no_pattern_is_refused(pattern: str, told: str, library: Library) -> None:
    with pytest.raises(ToolError, match=told):
        find_lines(pattern, library.index, is_regex=True)
