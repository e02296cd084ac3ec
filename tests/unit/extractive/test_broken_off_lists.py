"""Quotes of lists and tables: short rests are quoted, and readers are told what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from openbook.extractive.composing import compose, quotes_of
from openbook.extractive.context import build_context
from openbook.extractive.lists import LeftOut, completed_list
from openbook.extractive.passages import Passage, lines_of_code
from openbook.types import Chunk
from tests.unit.extractive.picking import picked
from tests.unit.retrieval.material import chunk_of, result_of

LONG = "and it is of a kind that the sailors of this old harbour have always liked very much indeed"
HEADER = "| Rope | Tears at |\n|---|---|\n"
ROWS = "".join(f"| rope {number} | {number} t, {LONG} |\n" for number in range(12))
HEMP = "| hemp | 2 t, which is what a loaded barge pulls |"
ITEMS = "".join(f"- kind {number}, {LONG}\n" for number in range(30))
INTRODUCED = f"The harbour sells these ropes:\n\n- hemp, {LONG}\n"
QUESTION = "Which ropes does the harbour sell?"


def asked(question: str, text: str, behind: str = "", *, before: str = "", now: str = "", **fields: Any) -> str:
    """Ask about a text that stands between others in its document."""
    chunk = chunk_of(text, before=before, **{"language": "markdown", **fields})
    return answer_from(question, chunk, now=now or f"{before}{text}{behind}")


def answer_from(question: str, *chunks: Chunk, now: str) -> str:
    return compose(picked(question, *chunks, text_of=lambda source, path: now))


def test_a_row_far_below_its_header_has_the_columns_above_it() -> None:
    answer = asked("When does hemp tear?", f"{HEMP}\n", before=f"{HEADER}{ROWS}")

    assert f"`Rope | Tears at`\n\n> {HEMP} [1:1]" in answer


def test_the_columns_stand_above_the_entry_of_a_setting_as_well() -> None:
    answer = asked("What does `hemp_rope` do?", f"{HEMP.replace('hemp', '`hemp_rope`')}\n", before=f"{HEADER}{ROWS}")

    assert "`Rope | Tears at`\n\n> | `hemp_rope` |" in answer


def test_a_quote_with_the_header_has_no_columns_above_it() -> None:
    assert "`Rope" not in asked("When does hemp tear?", f"{HEADER}{HEMP}\n")


def test_a_list_that_goes_on_in_the_next_chunk_says_so() -> None:
    answer = asked(QUESTION, INTRODUCED, ITEMS)

    assert answer.endswith("[1:1-2] (goes on to line 33)")


def test_the_note_is_no_part_of_the_quote() -> None:
    found = picked(QUESTION, chunk_of(INTRODUCED, language="markdown"), text_of=lambda source, path: INTRODUCED + ITEMS)

    (quote,) = quotes_of(found)
    assert compose(found)[quote.end_char :] == " (goes on to line 33)"


def test_a_list_of_a_document_without_lines_has_no_line() -> None:
    assert asked(QUESTION, INTRODUCED, ITEMS, language="docx").endswith("[1:1-2] (goes on)")


@pytest.mark.parametrize(
    ("now", "fields"),
    [
        pytest.param("", {}, id="whole"),
        pytest.param("The harbour sells nothing.", {}, id="indexed-again-since"),
        pytest.param(INTRODUCED + ITEMS, {"kind": "course"}, id="transcript"),
    ],
)
def test_nothing_is_said_of(now: str, fields: dict[str, Any]) -> None:
    assert "goes on" not in asked(QUESTION, INTRODUCED, now=now, **fields)


@pytest.mark.parametrize(
    ("text", "language"),
    [(f"The harbour sells {LONG}:\n\n```yaml\n{{}}", "markdown"), (f"The harbour sells {LONG}::\n\n{{}}", "rst")],
    ids=["fenced", "indented"],
)
def test_nothing_is_said_of_code(text: str, language: str) -> None:
    lines = [f"    - sell: rope {number}\n" for number in range(30)]

    answer = asked(QUESTION, text.format("".join(lines[:8])), "".join(lines[8:]), language=language)

    assert "- sell: rope 0" in answer
    assert "goes on" not in answer


@pytest.mark.parametrize(
    ("text", "opening", "lines"),
    [
        ("- hemp\n```\n\nRopes are old.\n\n```yaml\n- wire\n```\n\nThey rot.", "```yaml", {1, 2, 6, 7, 8}),
        ("- hemp\n\n```\n- wire\n- silk", "", {3, 4, 5}),
        ("- hemp\n\nA rope::\n\n    wire", "", {5}),
    ],
    ids=["begun-above", "ended-below", "indented"],
)
def test_the_lines_of_code_are_those_of_examples(text: str, opening: str, lines: set[int]) -> None:
    chunk = chunk_of(text, language="rst" if "::" in text else "markdown", code_opening=opening)
    (shown,) = build_context([result_of(chunk)], 10_000).shown

    assert lines_of_code(shown) == lines


SAID = "Which rope to use.\n\nOne of these:\n- hemp\n- wire\n- silk\n\nAll are old."


def commented(mark: str, indent: str = "") -> str:
    return "\n".join(f"{indent}{mark} {line}".rstrip() for line in SAID.split("\n"))


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        pytest.param(f"rope:\n{commented('#', '  ')}\n  name: wire", {"language": "yaml"}, id="hash"),
        pytest.param(f"// Ropes.\n{commented('//')}\nRope rope;", {"language": "cpp"}, id="slashes"),
        pytest.param(f"/*\n{commented(' *')}\n */\nRope rope;", {"language": "java"}, id="stars"),
        pytest.param(f'"""Ropes.\n\n{SAID}\n"""\nrope = 1', {"language": "python"}, id="docstring"),
        pytest.param(
            f"Ropes:\n\n```yaml\n{commented('#')}\n```", {"language": "markdown", "kind": "docs"}, id="example"
        ),
    ],
)
def test_a_list_in_a_comment_is_completed(text: str, fields: dict[str, Any]) -> None:
    (shown,) = build_context([result_of(chunk_of(text, **{"kind": "code", **fields}))], 10_000).shown
    first, last = (next(unit for unit in shown.units if each in unit.text) for each in ("One of", "- hemp"))

    for begin, end in ((first, first), (first, last)):
        quote = Passage(shown, begin, end)
        whole, left = completed_list(quote, [quote], lambda source, path: text)
        assert "- silk" in whole.text
        assert "All are old" not in whole.text
        assert left == LeftOut()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ropes:\n  - name: hemp\n  - name: wire\n  - name: silk\n", id="no-comment"),
        pytest.param('NAMES = """\nropes:\n- hemp\n- wire\n- silk\n"""\n', id="string-without-documentation"),
    ],
)
def test_a_list_in_code_is_not(text: str) -> None:
    (shown,) = build_context([result_of(chunk_of(text, kind="code", language="python"))], 10_000).shown
    first, last = (next(unit for unit in shown.units if each in unit.text) for each in ("ropes:", "hemp"))
    quote = Passage(shown, first, last)

    assert completed_list(quote, [quote], lambda source, path: text) == (quote, LeftOut())


def test_a_list_below_an_example_is_not_of_the_comment_in_it() -> None:
    text = "Ropes:\n\n```yaml\n# One of these:\n```\n\n* - hemp\n* - wire"
    (shown,) = build_context([result_of(chunk_of(text, language="markdown"))], 10_000).shown
    quote = Passage(shown, shown.units[2], shown.units[2])

    assert completed_list(quote, [quote], lambda source, path: text) == (quote, LeftOut())


def completed(
    text: str, quoted: int, others: Sequence[int] = (), behind: str = "", *, above: int = 0, is_asked: bool = False
) -> tuple[str, LeftOut]:
    """Complete a quote of the first units of a text, without those above, beside others of one unit each."""
    (shown,) = build_context([result_of(chunk_of(text, language="markdown"))], 10_000).shown
    quote = Passage(shown, shown.units[above], shown.units[quoted - 1])
    quotes = [quote, *(Passage(shown, shown.units[place], shown.units[place]) for place in others)]
    whole, left = completed_list(quote, quotes, lambda source, path: text + behind, is_asked=is_asked)
    return whole.text, left


ROPES = f"Ropes:\n\n- hemp\n- wire\n- silk\n- jute, {LONG}, and {LONG}"


@pytest.mark.parametrize(
    ("is_asked", "above", "quoted", "others", "expected"),
    [
        pytest.param(True, 2, 4, (), ROPES, id="asked-for"),
        pytest.param(False, 2, 4, (), "- wire\n- silk", id="not-asked-for"),
        pytest.param(True, 2, 3, (), "- wire", id="one-item"),
        pytest.param(True, 2, 4, (1,), "- wire\n- silk", id="an-item-above-quoted-too"),
        pytest.param(True, 2, 6, (), f"- wire{ROPES.partition('- wire')[2]}\n\nThey are old.", id="with-text-below"),
        pytest.param(True, 0, 3, (), ROPES.partition("\n- silk")[0], id="from-its-beginning"),
    ],
)
def test_if_a_list_is_asked_for_a_quote_of_several_items_begins_with_what_introduces_them(
    *, is_asked: bool, above: int, quoted: int, others: Sequence[int], expected: str
) -> None:
    text = f"{ROPES}\n\nThey are old."

    assert completed(text, quoted, others, above=above, is_asked=is_asked)[0] == expected


def test_a_short_rest_is_quoted() -> None:
    assert completed("Ropes:\n\n- hemp\n- wire\n- silk\n\nThey are old.", 2) == (
        "Ropes:\n\n- hemp\n- wire\n- silk",
        LeftOut(),
    )


@pytest.mark.parametrize(
    ("text", "others", "behind", "end"),
    [
        pytest.param(ITEMS, (), "", "30", id="long"),
        pytest.param("Ropes:\n- hemp\n- wire\n", (), "- silk\n", "4: wire, silk", id="only-a-part"),
        pytest.param("Ropes:\n- hemp\n- wire\n- silk", (3,), "", "4: wire, silk", id="in-another-quote"),
    ],
)
def test_a_rest_is_not_quoted(text: str, others: Sequence[int], behind: str, end: str) -> None:
    whole, left = completed(text, 2, others, behind)

    assert whole == "\n".join(text.split("\n")[:2])
    assert left.note == f"(goes on to line {end})"


def test_at_most_thirty_names_of_a_rest_are_listed() -> None:
    _, left = completed("Ropes:\n- hemp\n" + "- wire\n" * 29 + "- silk\n", 2, (), "")
    _, cut = completed("Ropes:\n- hemp\n" + "- wire\n" * 30 + "- silk\n", 2, (), "")

    assert (left.note, cut.note) == (
        f"(goes on to line 32: {'wire, ' * 29}silk)",
        f"(goes on to line 33: {'wire, ' * 30}...)",
    )


def test_pointers_stay_below_completed_quotes() -> None:
    others = [chunk_of(f"The harbour sells ropes of kind {number}.", f"{number}.md") for number in range(8)]

    answer = answer_from(QUESTION, chunk_of(INTRODUCED, language="markdown"), *others, now=INTRODUCED + ITEMS)

    assert "(goes on to line 33)" in answer
    assert "See also:" in answer


CODE = """\
Stop it:

```sh
quay brake --now
quay wait 5
quay moor 7
quay leave
```

```sh
quay rest
quay end
```
"""


@pytest.mark.parametrize(
    ("places", "note"),
    [
        ([(4, 4), (6, 6)], "(goes on to line 5)"),
        ([(4, 4), (7, 7), (6, 6)], "(goes on to line 5)"),
        ([(4, 4), (5, 5)], ""),
        ([(6, 6), (4, 4)], ""),
        ([(4, 4), (11, 11)], ""),
        ([(1, 1), (6, 6)], ""),
    ],
    ids=["between", "up to the next", "nothing between", "before", "other example", "prose"],
)
def test_what_is_left_out_between_two_quotes_of_an_example_is_said(places: list[tuple[int, int]], note: str) -> None:
    (shown,) = build_context([result_of(chunk_of(CODE, language="markdown"))], 10_000).shown
    at = {unit.span.start_line: unit for unit in shown.units}
    quotes = [Passage(shown, at[first], at[last]) for first, last in places]

    assert completed_list(quotes[0], quotes, lambda source, path: CODE)[1].note == note


def test_between_two_quotes_in_a_document_without_lines_none_is_named() -> None:
    (shown,) = build_context([result_of(chunk_of(CODE, language="docx"))], 10_000).shown
    quotes = [Passage(shown, each, each) for each in shown.units if each.text in ("quay brake --now", "quay leave")]

    assert completed_list(quotes[0], quotes, lambda source, path: CODE)[1].note == "(goes on)"


def test_nothing_is_said_of_an_example_of_another_page() -> None:
    pages = [chunk_of(CODE, path, language="markdown") for path in ("a.md", "b.md")]
    quotes = [
        Passage(shown, shown.units[place], shown.units[place])
        for shown, place in zip(build_context([result_of(page) for page in pages], 10_000).shown, (2, 4), strict=True)
    ]

    assert completed_list(quotes[0], quotes, lambda source, path: CODE)[1].note == ""
