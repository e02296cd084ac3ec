from __future__ import annotations

from dataclasses import replace

import pytest

from openbook.costs import estimate_tokens
from openbook.mcp.listing import ResultListing
from openbook.questions.question import read_question
from openbook.retrieval.excerpts import with_excerpts
from openbook.text import LineIndex
from openbook.types import Chunk, RetrievalResult


def result(path: str, text: str, symbol: str = "") -> RetrievalResult:
    return RetrievalResult(Chunk("s", LineIndex(text).span(path, 0, len(text)), text, "code", symbol=symbol), 1.0)


def path_of(_: str, path: str) -> str:
    return path


def test_lines_carry_their_numbers_and_places_their_names() -> None:
    listing = ResultListing(path_of, 1000)

    text = listing.keep([result("a.py", "def f():\n\n    return 1", "f"), result("b.py", "x = 1")])

    assert text == "a.py:1-3  f\n1| def f():\n3|     return 1\n\nb.py:1-1\n1| x = 1"


def test_results_of_one_file_share_its_heading() -> None:
    listing = ResultListing(path_of, 1000)

    text = listing.keep([result("a.py", "one = 1"), result("a.py", "two = 2")], "2 in all")

    assert text == "a.py\n1| one = 1\n1| two = 2\n(2 in all)"


def test_every_result_gets_its_share_and_the_budget_is_kept() -> None:
    many = [result(f"{number}.py", "\n".join(f"line_{n} = {n}" for n in range(40))) for number in range(9)]
    listing = ResultListing(path_of, 600)

    text = listing.keep([result("short.py", "x = 1"), *many])

    shown = listing.listed.results
    assert estimate_tokens(text) <= 600
    assert len(shown) == 10
    assert [entry.goes_on_to for entry in shown] == [0, *[40] * 9]
    assert "1.py:1-" in text
    assert "(goes on to line 40)" in text


def test_what_does_not_fit_at_all_is_counted() -> None:
    listing = ResultListing(path_of, 100)

    text = listing.keep([result(f"{number}.py", " ".join(map(str, range(30)))) for number in range(9)], "9 in all")

    missing = 9 - len(listing.listed.results)
    assert missing > 0
    assert f"(9 in all; cut: {missing} more results" in text


def test_a_first_result_that_is_too_large_is_cut_and_not_dropped() -> None:
    listing = ResultListing(path_of, 100)

    listing.keep([result("a.py", "\n".join(f"name_{n} = {n}" for n in range(200)))])

    [entry] = listing.listed.results
    assert (entry.path, entry.first_line) == ("a.py", 1)
    assert entry.lines.count("\n") > 3


def test_nothing_found_is_said() -> None:
    listing = ResultListing(path_of, 100)

    assert listing.keep([]) == "(nothing found)"


def test_what_some_program_takes_for_a_line_end_stays_in_its_line() -> None:
    listing = ResultListing(path_of, 100)

    text = listing.keep([result("a.py", "a\u20289| b\x0b9| c")])

    assert text == "a.py:1-1\n1| a 9| b 9| c"


@pytest.mark.parametrize("best_first", [False, True])
def test_the_marks_of_code_in_a_page_are_not_shown(best_first: bool) -> None:
    found = [result("a.html", "\x02\fmoor()\n\f\x03"), result("b.html", "Moor: \f\x02\fmoor()\f\x03")]

    text = ResultListing(path_of, 1000, best_first=best_first).keep(found)

    assert "moor()" in text
    assert not {"\x02", "\x03"} & set(text)


def test_of_a_passage_that_is_cut_the_lines_that_match_are_shown() -> None:
    text = "\n".join("retries = 3" if n == 30 else f"line_{n} = {n}" for n in range(40))
    listing = ResultListing(path_of, 60)

    listing.keep(with_excerpts("retries", [result("a.py", text)]))

    [entry] = listing.listed.results
    assert "31| retries = 3" in entry.lines
    assert entry.first_line == 28
    assert entry.goes_on_to == 40


def test_a_result_that_breaks_off_a_definition_says_where_that_ends() -> None:
    listing = ResultListing(path_of, 1000)

    text = listing.keep([replace(result("a.py", "def f():\n    x = 1", "f"), goes_on_to=260)])

    assert text.startswith("a.py:1-2 (goes on to line 260)  f\n")


def test_the_best_result_is_shown_whole_and_of_each_other_the_line_that_matches_best() -> None:
    question = read_question("carry crates")
    texts = ["def carry():\n    crates()\n", "def lift():\n    x = 1\n    carry(crates)\n    y = 2\n"]
    results = [result("0.py", texts[0].rstrip(), "a"), result("1.py", texts[1].rstrip(), "b")]
    listing = ResultListing(path_of, 1000, best_first=True)

    text = listing.keep(with_excerpts(question, results))

    assert text == "0.py:1-2  a\n1| def carry():\n2|     crates()\n\n1.py:1-4  b  3| carry(crates)"


def test_of_the_lines_that_match_the_one_is_shown_whose_words_stand_nowhere_else_in_the_passage() -> None:
    entries = (("buoys", 3), ("cranes", 2), ("ferries", 7))
    table = "\n".join(f"HARBOUR_TABLE_NUMBER, 0,\n{{ {name}, {limit} }}," for name, limit in entries)
    listing = ResultListing(path_of, 1000, best_first=True)

    question = read_question("limit of cranes in the HARBOUR_TABLE_NUMBER")
    text = listing.keep(with_excerpts(question, [result("0.py", "cranes"), result("1.py", table)]))

    assert text.endswith("  4| { cranes, 2 },")


def test_other_results_in_one_file_stand_below_its_path_and_those_in_one_definition_share_a_line() -> None:
    parts = [result("b.py", "x = 1\n", "Box.carry"), result("b.py", "\n\n\ny = 2", "Box.carry")]
    results = [result("a.py", "first"), *parts, result("b.py", "z = 3", "Box.lift"), result("c.py", "w = 4")]

    text = ResultListing(path_of, 1000, best_first=True).keep(results)

    assert text.partition("\n\n")[2] == "b.py\n 1-4  carry  1| x = 1\n 1-1  lift  1| z = 3\nc.py:1-1  1| w = 4"


def test_ranges_that_overlap_are_written_as_one_and_those_that_follow_each_other_apart() -> None:
    text = "\n".join(f"x_{n} = {n}" for n in range(1, 13))
    parts = [_cut_out(text, first, last) for first, last in ((1, 4), (3, 6), (7, 9), (7, 9))]
    results = [replace(part, chunk=replace(part.chunk, symbol="Box")) for part in parts]

    told = ResultListing(path_of, 1000, best_first=True).keep([result("b.py", "y"), *results])

    assert told.endswith("\n\na.py:1-6,7-9  Box  1| x_1 = 1")


def test_of_many_other_results_the_last_ones_are_named_without_a_line() -> None:
    results = [result(f"{n}.py", f"name_{n} = {n}", f"name_{n}") for n in range(12)]

    told = ResultListing(path_of, 1000, best_first=True).keep(results).splitlines()

    assert told[-9:-7] == ["3.py:1-1  1| name_3 = 3", "4.py:1-1 name_4"]


def _whole(text: str) -> ResultListing:
    whole = result("a.py", text).chunk
    return ResultListing(path_of, 1000, best_first=True, whole_of=lambda _: whole)


def _slice(text: str, start: int, end: int) -> RetrievalResult:
    return RetrievalResult(Chunk("s", LineIndex(text).span("a.py", start, end), text[start:end], "code"), 1.0)


def _cut_out(text: str, first: int, last: int) -> RetrievalResult:
    lines = LineIndex(text)
    return _slice(text, lines.start_of(first), lines.end_of(last))


def test_the_best_result_is_shown_with_the_rest_of_its_definition_and_other_parts_of_it_are_left_out() -> None:
    text = "def carry():\n    one()\n    two()\n    three()"

    told = _whole(text).keep([_cut_out(text, 2, 3), _cut_out(text, 4, 4)])

    assert told == "a.py:1-4\n1| def carry():\n2|     one()\n3|     two()\n4|     three()"


def test_a_best_result_that_is_whole_keeps_the_name_that_it_was_found_by() -> None:
    text = "def carry():\n    one()"
    found = replace(result("a.py", text).chunk, symbol="carry")

    told = _whole(text).keep([RetrievalResult(found, 1.0)])

    assert told.startswith("a.py:1-2  carry\n")


def test_of_a_definition_that_is_too_long_the_part_that_was_found_is_shown_and_what_follows_said() -> None:
    text = "\n".join("retries = 3" if n == 300 else f"line_{n} = {n}" for n in range(400))
    [found] = with_excerpts(read_question("retries"), [_cut_out(text, 295, 320)])

    told = _whole(text).keep([found])

    assert told.startswith("a.py:295-")
    assert "(goes on to line 400)" in told.splitlines()[0]
    assert "301| retries = 3" in told


def _one_line() -> str:
    """A section in one line, of which each sentence names another harbour."""
    return " ".join(f"Harbour_{n} has a pier, and a ferry that leaves at noon on {n} days." for n in range(200))


def test_of_one_long_line_the_sentences_that_were_found_are_shown() -> None:
    text = _one_line()
    at = text.index("Harbour_150")
    [found] = with_excerpts(read_question("Harbour_152"), [_slice(text, at, at + 300)])

    shown = _whole(text).keep([found]).splitlines()

    assert shown[0] == "a.py:1-1 (goes on to line 1)"
    assert shown[1].startswith("1| Harbour_150 has")


@pytest.mark.parametrize("best_first", [True, False], ids=["brief", "full"])
def test_of_one_long_passage_in_a_line_what_matches_is_shown(best_first: bool) -> None:
    text = f"{_one_line()} Pilots wait there. {_one_line()}"
    found = with_excerpts(read_question("pilots"), [_slice(text, 0, len(text))])

    told = ResultListing(path_of, 300, best_first).keep(found)

    assert "1| Pilots wait there." in told


def test_other_results_in_a_line_are_named_once_unless_they_are_shown() -> None:
    text = _one_line()
    at, cut = text.index("Harbour_150"), text.index("Harbour_153")
    others = [_slice(text, cut - 70, cut), *(_slice(text, n, n + 50) for n in (0, 700))]

    told = _whole(text).keep([_slice(text, at, cut), *others]).partition("\n\n")[2]

    assert told == "a.py:1-1  1| Harbour_0 has a pier, and a ferry that leaves at n"


def test_of_names_only_those_of_code_are_shortened() -> None:
    results = [result("a.py", "x"), result("b.py", "y", "Box.carry")]
    chunk = replace(result("c.md", "z").chunk, kind="docs", context=("Tools", "Node.js Project"))

    told = ResultListing(path_of, 1000, best_first=True).keep([*results, RetrievalResult(chunk, 1.0)])

    assert told.splitlines()[-2:] == ["b.py:1-1  carry  1| y", "c.md:1-1  Node.js Project  1| z"]


@pytest.mark.slow
@pytest.mark.parametrize("max_tokens", [100, 200, 400, 900, 2_000])
@pytest.mark.parametrize(
    "text",
    ["Ferries leave at noon, and so does " * 100, _one_line(), "\n".join(f"name_{n} = {n}" for n in range(900))],
    ids=["one-sentence", "one-line", "code"],
)
def test_no_list_is_longer_than_its_budget_and_the_best_result_leaves_room_for_others(
    text: str, max_tokens: int
) -> None:
    others = [result(f"src/depot/{number}.py", f"name_{number} = {number}") for number in range(40)]
    listing = ResultListing(path_of, max_tokens, best_first=True)

    told = listing.keep([result("src/depot/of_the_harbour.py", text, "Harbour.carry"), *others], "6 words say nothing")

    named = len(listing.listed.others)
    assert estimate_tokens(told) <= max_tokens
    assert "of_the_harbour.py:1-" in told
    assert (named == 40) == (max_tokens == 2_000)
    left_out = 40 + (not listing.listed.results) - named
    assert not left_out or f"(6 words say nothing; cut: {left_out} more results; raise max_tokens" in told


def test_lines_that_do_not_fit_say_where_to_go_on() -> None:
    text = "\n".join(f"line_{number} = {number}" for number in range(40))
    listing = ResultListing(path_of, 100)

    told = listing.keep_lines(result("a.py", text), 80)

    last = listing.listed.results[0].last_line
    assert last < 40
    assert told.endswith(f"(the document has 80 lines; go on with first_line={last + 1})")
    assert ResultListing(path_of, 5_000).keep_lines(result("a.py", text), 40).endswith("(the document has 40 lines)")


def test_lines_that_were_named_and_are_all_shown_have_no_note() -> None:
    text = "\n".join(f"line_{number} = {number}" for number in range(40))

    whole = ResultListing(path_of, 5_000).keep_lines(result("a.py", text), 80, is_all=True)
    cut = ResultListing(path_of, 100).keep_lines(result("a.py", text), 80, is_all=True)

    assert whole.endswith("40| line_39 = 39")
    assert "go on with first_line=" in cut


def test_lines_are_not_called_by_what_the_first_of_them_defines() -> None:
    told = ResultListing(path_of, 100).keep_lines(result("a.py", "x = 1\ndef carry(): ...", "pack"), 2)

    assert told == "a.py:1-2\n1| x = 1\n2| def carry(): ...\n(the document has 2 lines)"


@pytest.mark.parametrize("text", ["A ferry leaves. " * 200, "ferry" * 2_000], ids=["sentences", "one-word"])
def test_a_line_that_is_cut_is_named_and_not_passed_over_in_silence(text: str) -> None:
    told = ResultListing(path_of, 100).keep_lines(result("a.txt", f"{text}\nnext"), 2)

    assert "(the document has 2 lines; line 1 is cut because it is long; raise max_tokens" in told
    assert told.endswith("go on with first_line=2)")


def test_a_list_of_one_line_never_sends_back_to_its_first_entry() -> None:
    entries = [result("a.txt", f"Ferry {number} leaves at noon.") for number in range(40)]

    assert ResultListing(path_of, 100).keep_page(entries).endswith("more; raise max_tokens)")


def test_a_page_of_a_list_says_at_which_line_the_next_one_begins() -> None:
    text = "\n".join(f"def function_{number}(): ..." for number in range(40))
    lines = LineIndex(text)
    entries = [
        RetrievalResult(Chunk("s", lines.span("a.py", start, end), text[start:end], "code"), 0.0)
        for start, end in ((lines.start_of(n), lines.end_of(n)) for n in range(1, 41))
    ]
    listing = ResultListing(path_of, 100)

    told = listing.keep_page(entries)

    shown = len(listing.listed.results)
    assert 0 < shown < 40
    assert told.endswith(f"({40 - shown} more; go on with first_line={shown + 1})")


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        pytest.param("the mast is tall", "the mast is tall", id="short"),
        pytest.param("mast " + "sail " * 40, "mast sail", id="at-the-start"),
        pytest.param("sail " * 40 + "mast boom", "... mast boom", id="at-the-end"),
        pytest.param("sail " * 40 + "mast boom " + "oar " * 40, "... mast boom ...", id="in-the-middle"),
        pytest.param("sail/" * 40 + "mast/boom" + "/oar" * 40, "... mast/boom ...", id="without-any-blank"),
        pytest.param("sail/" * 40 + "mast/boom oar", "... mast/boom oar", id="no-blank-before-it"),
        pytest.param("sail " * 40 + "x" * 30 + "/mast/boom " + "oar " * 40, "... /mast/boom ...", id="inside-a-word"),
    ],
)
def test_of_a_long_line_the_part_that_matches_is_shown(line: str, shown: str) -> None:
    found = with_excerpts(read_question("mast boom"), [result("a.py", "x"), result("b.py", line)])

    told = ResultListing(path_of, 1000, best_first=True).keep(found).splitlines()[-1]

    assert len(told) <= 100
    for part in filter(None, shown.split("...")):
        assert part.strip() in told
    assert told.startswith("b.py:1-1  1| ...") == shown.startswith("...")
    assert told.endswith("...") == shown.endswith("...") or line.startswith("mast")
    assert len(told) >= min(len(line), 60)


def test_of_a_long_best_result_the_lines_that_tell_most_are_shown_with_those_around_them() -> None:
    text = "def f():\n" + "".join(f"    step({n})\n" for n in range(2, 61)).replace("step(30)", "moor(boat)")
    listing = ResultListing(path_of, 1000, best_first=True, relevant_lines_of=lambda *_: [30])

    told = listing.keep([result("a.py", text, "f")])

    assert told.startswith("a.py:1-60  f\n1| def f():\n(2-25)\n26|     step(26)\n")
    assert told.endswith(
        "30|     moor(boat)\n31|     step(31)\n32|     step(32)\n33|     step(33)\n34|     step(34)\n(35-60)"
    )


SETTINGS = """\
## retries

How often a boat tries to moor.
{0}
**Default:** `3`

## wait

How long a boat waits at sea.
{0}
Default: 20

## sails
{0}
Default: 7
"""


@pytest.mark.parametrize("max_tokens", [2000, 500])
def test_of_a_long_manual_the_default_of_what_was_found_is_shown_however_far_below_it_stands(max_tokens: int) -> None:
    text = SETTINGS.format("A line on ropes.\n" * 40)
    found = result("manual.md", text)
    found = replace(found, chunk=replace(found.chunk, kind="docs", language="markdown"))
    at = text[: text.index("waits at sea")].count("\n") + 1
    listing = ResultListing(path_of, max_tokens, best_first=True, relevant_lines_of=lambda *_: [at])

    told = listing.keep([found])

    assert (f"{at - 2}| ## wait\n" in told, "| Default: 20" in told) == (True, True)
    assert "Default: 7" not in told


MORE = "A line on ropes.\n" * 40


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(f"```bash\n# It waits\nboat --wait\n```\n{MORE}It waits at sea.\n{MORE}", id="comment-in-code"),
        pytest.param(f"{MORE}It waits at sea.", id="last-line-without-an-end"),
        pytest.param(f"{MORE}It waits at sea.\n", id="last-line"),
    ],
)
def test_of_a_long_manual_the_heading_of_what_was_found_is_shown(section: str) -> None:
    text = f"## retries\n\n{MORE}## wait\n\n{section}"
    found = result("manual.md", text)
    found = replace(found, chunk=replace(found.chunk, kind="docs", language="markdown"))
    at = text[: text.index("waits at sea")].count("\n") + 1
    listing = ResultListing(path_of, 2000, best_first=True, relevant_lines_of=lambda *_: [at])

    told = listing.keep([found])

    assert "\n43| ## wait\n" in told
    assert "It waits\n" not in told


def test_in_code_that_is_opened_above_a_result_no_comment_is_a_heading() -> None:
    text = f"sail\n# It waits\nboat --wait\n```\n{MORE}It waits at sea.\n{MORE}"
    found = result("manual.md", text)
    found = replace(found, chunk=replace(found.chunk, kind="docs", language="markdown", code_opening="```bash"))
    at = text[: text.index("waits at sea")].count("\n") + 1
    listing = ResultListing(path_of, 1000, best_first=True, relevant_lines_of=lambda *_: [at])

    told = listing.keep([found])

    assert "It waits at sea.\n" in told
    assert "# It waits\n" not in told


@pytest.mark.parametrize(("lines", "telling"), [(34, [20]), (60, []), (60, [400])])
def test_a_result_that_is_short_or_tells_nothing_is_shown_whole(lines: int, telling: list[int]) -> None:
    text = "\n".join(f"step({n})" for n in range(1, lines + 1))
    listing = ResultListing(path_of, 1000, best_first=True, relevant_lines_of=lambda *_: telling)

    assert f"\n{lines // 2}| step({lines // 2})\n" in listing.keep([result("a.py", text)])


def test_a_second_result_in_what_is_left_out_of_the_best_one_keeps_its_line() -> None:
    text = "def f():\n" + "".join(f"    step({n})\n" for n in range(2, 61)).replace("step(45)", "moor(boat)")
    found = with_excerpts(read_question("moor"), [_cut_out(text, 1, 30), _cut_out(text, 31, 60)])
    whole = result("a.py", text.rstrip(), "f").chunk
    listing = ResultListing(path_of, 1000, best_first=True, whole_of=lambda _: whole, relevant_lines_of=lambda *_: [3])

    told = listing.keep(found)

    assert told.endswith("\n7|     step(7)\n(8-44)\n45|     moor(boat)\n(46-60)")
    assert not listing.listed.others
