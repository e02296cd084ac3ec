"""Lists of places as an agent reads them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from openbook.costs import estimate_tokens
from openbook.lookup.matching_lines import MatchingLine, MatchingLines
from openbook.lookup.references import Reference, References
from openbook.mcp.lines import grep_text, lessons_text, paths_text, references_text
from openbook.types import Course, Use


def path_of(_: str, path: str) -> str:
    return path


def place(path: str, line: int, use: Use = "call", within: str = "f", *, is_code: bool = True) -> Reference:
    return Reference("s", path, line, use, within, "send( 1 )", is_code)


def test_code_is_shown_if_asked_for_and_mentions_are_counted() -> None:
    mention = place("c.md", 1, "mention", "", is_code=False)
    found = References("send", (place("a.py", 3, "definition", "send"), place("b.py", 4), mention))

    assert references_text(found, path_of, 1000, code=True) == (
        "definition:\na.py:3 in send: send( 1 )\ncall:\nb.py:4 in f: send( 1 )\n(1 mention)"
    )
    assert references_text(found, path_of, 1000) == "a.py def 3\nb.py f 4\n(1 mention)"


def test_a_class_is_named_once_for_its_methods_that_follow_each_other() -> None:
    withins = ("A.run", "A.stop", "A.stop.inner", "B.run", "start", "stop")
    found = References("send", tuple(place("a.py", line, within=within) for line, within in enumerate(withins, 1)))

    assert references_text(found, path_of, 1000) == "a.py A.run 1 .stop 2 stop.inner 3 B.run 4 start 5 stop 6"


def test_a_file_is_named_once_for_all_uses_and_for_lines_that_follow_each_other() -> None:
    found = References(
        "send",
        (
            place("a.py", 30, "definition", "Client.send"),
            *(place("a.py", line, within="Client.get") for line in (3, 4, 5, 9)),
            place("b.py", 7, within=""),
            place("b.py", 1, "import", ""),
        ),
    )

    assert references_text(found, path_of, 1000) == "a.py Client.get 3-5,9 .def 30\nb.py 7 import 1"


def test_a_few_values_are_listed_because_what_takes_them_calls_them() -> None:
    called = (place("a.py", 3, "definition", "send"), place("a.py", 8), place("a.py", 1, "import", ""))
    told = (place("a.py", 2, "mention", "", is_code=False), place("b.md", 1, "mention", "", is_code=False))
    values = tuple(place("b.py", line, "mention", "connect") for line in range(1, 7))

    few = References("send", (*called, place("a.py", 9, "mention"), *values[:4], *told))
    many = References("send", (*called, *values, *told))

    assert references_text(few, path_of, 1000) == "a.py def 3 f 8 value 9 import 1\nb.py value 1-4\n(2 mentions)"
    assert references_text(many, path_of, 1000) == "a.py def 3 f 8 import 1\n(8 mentions, listed with use=mention)"


def test_where_nothing_but_mentions_is_found_they_are_listed_as_such() -> None:
    found = References("send", (place("a.py", 3, "mention", "Opts"), place("b.md", 1, "mention", "")))

    assert references_text(found, path_of, 1000) == "mentions:\na.py Opts 3\nb.md 1"
    assert references_text(found, path_of, 1000, mentions=True) == "a.py Opts 3\nb.md 1"
    assert references_text(found, path_of, 1000, code=True).startswith("mention:\na.py:3 in Opts: send( 1 )")


def test_of_a_name_with_a_separator_the_part_that_was_looked_for_is_told() -> None:
    found = References("send", (place("a.py", 3), place("b.md", 1, "mention", is_code=False)))

    assert references_text(found, path_of, 1000, asked="tune.send") == "a.py f 3\n(lines with send; 1 mention)"
    assert references_text(found, path_of, 1000, asked=" send() ") == "a.py f 3\n(1 mention)"


def test_a_call_outside_of_all_definitions_is_told_from_what_stands_before_it() -> None:
    found = References("send", (place("a.py", 3, "definition", "send"), place("a.py", 7, within="")))

    assert references_text(found, path_of, 1000) == "a.py def 3 call 7"


def test_more_callers_than_anybody_reads_are_told_by_their_lines_alone() -> None:
    few, many = (
        References("send", tuple(place("a.py", 2 * line, within=f"A.f{line}") for line in range(1, count + 1)))
        for count in (30, 31)
    )

    assert references_text(few, path_of, 1000).startswith("a.py A.f1 2 .f2 4 .f3 6 ")
    numbers = ",".join(str(2 * line) for line in range(1, 32))
    assert references_text(many, path_of, 1000) == f"a.py {numbers}\n(too many to name; narrow the path)"


def test_many_tests_of_a_file_that_call_a_name_are_told_by_their_lines() -> None:
    def calls(path: str, count: int) -> tuple[Reference, ...]:
        return tuple(place(path, 2 * line, within=f"f{line}") for line in range(1, count + 1))

    found = References("send", (*calls("src/a.py", 4), *calls("tests/test_a.py", 4), *calls("tests/test_b.py", 3)))

    assert references_text(found, path_of, 1000).splitlines() == [
        "src/a.py f1 2 f2 4 f3 6 f4 8",
        *("tests/", " test_a.py 2,4,6,8", " test_b.py f1 2 f2 4 f3 6"),
    ]


def test_of_a_long_line_the_part_with_the_name_is_shown() -> None:
    long = replace(place("a.py", 3), text=f"if {' and '.join(f'is_ready({n})' for n in range(19))}: send( 1 )")

    told = references_text(References("send", (long,)), path_of, 1000, code=True)

    assert told.endswith("is_ready(18): send( 1 )")
    assert "a.py:3 in f: ..." in told
    assert "is_ready(0)" not in told


def code_of(text: str, line: int, *, use: Use = "call") -> str:
    """Return the code that is shown of a line with `send`."""
    found = References("send", (place("a.py", line, use),))
    told = references_text(found, path_of, 1000, code=True, text_of=lambda *_: text)
    return told.partition(" in f: ")[2]


def test_a_call_is_shown_with_all_its_arguments() -> None:
    text = "x = 1\nawait client.send(\n    parcel,\n    to=[a, (b)],\n).result()\nsend(2)\n"

    assert code_of(text, 2) == "await client.send( parcel, to=[a, (b)], )"
    assert code_of(text, 6) == "send(2)"
    assert code_of(text, 2, use="mention") == "await client.send("


def test_a_definition_is_shown_with_all_its_parameters() -> None:
    assert (
        code_of("def send(\n    parcel: str,\n) -> None:\n    ...", 1, use="definition") == "def send( parcel: str, )"
    )


def test_of_a_call_of_many_lines_the_first_ones_are_shown() -> None:
    text = "send<Parcel>(\n" + "".join(f"  {number},\n" for number in range(9)) + ")"

    assert code_of(text, 1) == "send<Parcel>( 0, 1, 2, 3, ..."


def test_of_a_long_line_the_arguments_are_shown_before_what_stands_before_the_call() -> None:
    lead, arguments = "await " * 60, ", ".join(f"argument_{number}" for number in range(9))

    assert f"send({arguments});" in code_of(f"{lead}send({arguments});", 1)


def test_a_line_that_has_changed_since_is_shown_as_it_was() -> None:
    assert code_of("x = 1\n", 1) == code_of("", 9) == "send( 1 )"


@pytest.mark.parametrize("part", ["send(", "send<", "send(a) ", " ", "send ("])
def test_a_line_that_repeats_one_part_takes_no_more_than_its_length(part: str) -> None:
    text = "send(" + part * (400_000 // len(part))

    assert len(code_of(text, 1)) < 250


def test_no_place_is_lost_where_lines_follow_each_other() -> None:
    numbers = [*range(1, 40, 3), *range(41, 60), 70, 71, 99]
    found = References("send", tuple(place("a.py", line, within="") for line in numbers))

    told = references_text(found, path_of, 1000).removeprefix("a.py ").split(",")

    ends = [[int(number) for number in each.split("-")] for each in told]
    assert [line for each in ends for line in range(each[0], each[-1] + 1)] == numbers


def test_a_folder_is_named_once_and_files_that_only_import_share_a_line() -> None:
    found = References(
        "send",
        (
            *(place(path, 2, within="") for path in ("src/x/a.py", "src/y/b.py", "src/x/c.py", "top.py", "main.py")),
            *(place(path, 1, "import", "") for path in ("src/x/d.py", "src/x/e.py")),
        ),
    )

    assert references_text(found, path_of, 1000).splitlines() == [
        *("src/x/", " a.py,c.py 2", "src/y/b.py 2", "top.py,main.py 2"),
        "import: src/x/d.py 1; src/x/e.py 1",
    ]


def test_places_that_do_not_fit_are_counted() -> None:
    found = References("send", tuple(place(f"{number}.py", number) for number in range(1, 200)), unread=3)

    told = references_text(found, path_of, 200)

    assert estimate_tokens(told) <= 230
    assert "3 documents left unread" in told
    assert "more lines; raise max_tokens" in told


def test_lines_that_match_stand_below_their_file_with_their_spaces() -> None:
    found = MatchingLines((MatchingLine("s", "a.py", 3, "x\t =  1"), MatchingLine("s", "a.py", 9, "y\rz\u2028")), 2)

    assert grep_text(found, path_of, 1000) == "a.py\n3| x\t =  1\n9| y z\n(2 lines matched)"


def test_lines_of_a_pattern_that_was_taken_as_a_regular_expression_say_so() -> None:
    found = MatchingLines((MatchingLine("s", "a.py", 3, "x = 1"),), 1, is_expression=True)

    assert grep_text(found, path_of, 1000) == (
        "a.py\n3| x = 1\n(no line holds the pattern as it stands; as a regular expression: 1 line matched)"
    )


def test_paths_that_do_not_fit_are_told_by_folder() -> None:
    paths = ["README.md", *(f"src/{name}/{number}.py" for name in "ab" for number in range(100))]

    assert paths_text(paths[:2], 100) == "README.md\nsrc/a/0.py\n(2 documents)"
    assert paths_text(paths, 100).startswith("README.md\nsrc/a/ (100)\nsrc/b/ (100)\n(201 documents; name a folder")


def test_lines_that_match_and_do_not_fit_are_counted_without_the_names_of_their_files() -> None:
    lines = tuple(MatchingLine("s", f"file_{number // 2}.py", number, "x = 1") for number in range(1, 101))

    told = grep_text(MatchingLines(lines, 100), path_of, 100)

    shown = told.count("| x = 1")
    assert f"(100 lines matched; cut: {100 - shown} more lines;" in told


def test_a_course_without_a_numbered_lesson_says_so() -> None:
    told = lessons_text(Course("s", "knots", "Knots"), (), path_of, 1000)

    assert told == "Knots  0 lessons\n(no numbered lesson; outline shows what one of its documents holds)"
