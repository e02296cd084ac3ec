"""Sentences that are quoted with those around them."""

from __future__ import annotations

import pytest

from openbook.extractive.context import build_context
from openbook.extractive.passages import Passage, passages_of
from openbook.extractive.surroundings import completed, enlarged, with_function, with_statement
from openbook.types import Kind
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of, result_of

# What is longer than a quote, so that it is quoted by the sentence.
LONG = "We eat fish and sing of it, and the cook does too. " * 12
SPOKEN = f"Boats are moored. The sea moves least. That is called a neap tide. All ships wait. {LONG}"


def quoted(text: str, quote: str) -> str:
    """Quote a sentence of a text with what it leans on."""
    (shown,) = build_context([result_of(chunk_of(text, kind="course"))], 10_000).shown
    passages = list(passages_of(shown))
    return completed(next(passage for passage in passages if passage.text == quote), passages).text


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("That is called a neap tide.", "The sea moves least. That is called a neap tide."),
        ("The sea moves least.", "The sea moves least."),
    ],
)
def test_a_sentence_that_leans_on_the_one_before_is_quoted_with_it(quote: str, found: str) -> None:
    assert quoted(SPOKEN, quote) == found


def test_sentences_of_another_paragraph_are_not_put_before() -> None:
    apart = "The sea moves.\n\nThat is called a neap tide.\n\nAll ships wait."

    assert quoted(apart, "That is called a neap tide.") == "That is called a neap tide."


def whole(text: str, quote: str) -> str:
    """Return what is quoted with the first passage that begins so."""
    (shown,) = build_context([result_of(chunk_of(text))], 10_000).shown
    return completed(next(one for one in passages_of(shown) if one.text.lstrip().startswith(quote))).text


COMMAND = "Install it with this command:\n\n```sh\nquay install\n\nquay start\n```"
TABLE = "| ship | ropes |\n| --- | --- |\n| Ada | two ropes each |\n| Bob | three ropes each |"


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        pytest.param(f"{COMMAND}\n\nThen wait.", "Install it", COMMAND, id="the-example-that-it-leads-to"),
        pytest.param(
            "Any ship may:\n\n- stay for days\n\n- leave at once\n\nNothing else.",
            "Any ship may",
            "Any ship may:\n\n- stay for days\n\n- leave at once",
            id="the-list-that-it-leads-to",
        ),
        pytest.param(
            "See.\n\n```\nload the ship\n\nmoor the ship\n```\n\nDone.",
            "```",
            "```\nload the ship\n\nmoor the ship\n```",
            id="the-example-that-it-stands-in",
        ),
        pytest.param(
            "See.\n\n```\n" + "load the ship\n" * 7 + "\nmoor the ship\n```\n\nDone.",
            "moor the ship",
            "```\n" + "load the ship\n" * 7 + "\nmoor the ship\n```",
            id="the-rest-of-a-longer-example",
        ),
        pytest.param(f"{TABLE}\n| Cyd | none |", "| Bob", TABLE, id="the-head-of-its-table"),
        pytest.param(
            "| Ada | two ropes each |\n| Bob | three ropes each |", "| Bob", "| Bob | three ropes each |", id="no-head"
        ),
        pytest.param(
            "| ship | ropes |\n| --- | --- |\n" + "| Ada | two ropes |\n" * 9 + "| Bob | one rope |",
            "| Bob",
            "| Bob | one rope |",
            id="a-head-far-above",
        ),
        pytest.param("We list them here:\n\n## Ships\n\nAda.", "We list", "We list them here:", id="a-heading-below"),
        pytest.param(
            "Moor it like this:\n\n```\n" + "tie the rope " * 40 + "\n```",
            "Moor it",
            "Moor it like this:",
            id="a-line-too-long",
        ),
    ],
)
def test_a_quote_has_with_it_what_it_cannot_be_understood_without(text: str, quote: str, found: str) -> None:
    assert whole(text, quote) == found


GAP = " " * 400
ROW = f"| Ada | two{GAP}| Her ropes are of hemp. They lie on the quay. |"
MANY = "They are of hemp and long. " * 15


@pytest.mark.parametrize(
    ("row", "quote", "found"),
    [
        pytest.param(ROW, "They lie", ROW, id="short"),
        pytest.param(ROW, "| Ada", ROW, id="its-first-sentence"),
        pytest.param(
            f"| Ada | Her ropes are old. And some are new. {MANY}|",
            "And some",
            "| Ada | Her ropes are old. And some are new.",
            id="long",
        ),
        pytest.param(f"| Ada | {MANY}Ada is old. |", "Ada is", "Ada is old.", id="long-before"),
        pytest.param(ROW.replace("|", "/"), "They lie", "They lie on the quay.", id="no-row"),
        pytest.param(f"{ROW}\n{ROW.replace('Ada', 'Bob')}", "They lie", ROW, id="another-row"),
    ],
)
def test_a_quote_within_a_row_begins_with_what_it_is_about(row: str, quote: str, found: str) -> None:
    assert whole(row, quote) == found


def test_a_quote_of_several_rows_stays_as_it_is() -> None:
    (shown,) = build_context([result_of(chunk_of(f"{ROW}\n{ROW}\n"))], 10_000).shown
    second = next(unit for unit in shown.units if unit.text.startswith("They"))

    assert completed(Passage(shown, second, shown.units[-1])).start_char == second.span.start_char


MOOR = "Moor it like this:\n\n```\n"
TIE = "Tie the rope to the next ring.\n\n"
STEPS = f"Follow these steps to moor a ship.\n\n{TIE * 3}"


@pytest.mark.parametrize(
    ("text", "quote", "lines", "note"),
    [
        pytest.param(MOOR + "tie the rope\n" * 20 + "```", "Moor it", 22, "line 23", id="code"),
        pytest.param(
            MOOR + "tie the rope to the ring of this pier\n" * 15 + "```", "Moor it", 13, "line 18", id="words"
        ),
        pytest.param(MOOR + "tie it\nnow\n\n" * 20 + "```", "Moor it", 29, "line 63", id="code-by-statement"),
        pytest.param("All ships may:\n\n" + "- stay\n  for\n  days\n" * 20, "All ships", 20, "", id="list-by-item"),
        pytest.param(STEPS, "Follow", 7, "", id="steps"),
        pytest.param(f"{STEPS}## Storms\n\nWait.", "Follow", 7, "", id="steps-to-a-heading"),
        pytest.param(f"{STEPS}{TIE * 20}", "Follow", 27, "line 47", id="long-steps"),
        pytest.param(STEPS.replace("ship.", "ship:"), "Follow", 3, "", id="a-paragraph-below-a-colon"),
        pytest.param(f"Follow these steps.\n\n- one rope\n- two ropes\n\n{TIE}", "Follow", 4, "", id="list-of-steps"),
        pytest.param(f"Sail after these steps.\n\n{TIE}", "Sail", 1, "", id="nothing-announced"),
    ],
)
def test_what_a_quote_introduces_is_cut_if_it_is_long(text: str, quote: str, lines: int, note: str) -> None:
    (shown,) = build_context([result_of(chunk_of(text))], 10_000).shown
    found = completed(next(one for one in passages_of(shown) if one.text.lstrip().startswith(quote)))

    assert (found.lines, found.goes_on) == (lines, f"(goes on to {note})" if note else "")


def enlarged_quote(text: str, quote: str, path: str = "a.md", kind: Kind = "docs") -> str:
    """Quote a passage of a text with what is around it."""
    (shown,) = build_context([result_of(chunk_of(text, path, kind=kind))], 10_000).shown
    passages = passages_of(shown)
    return enlarged(next(passage for passage in passages if passage.text == quote), passages).text


def test_a_document_without_lines_has_no_line_to_go_on_to() -> None:
    text = MOOR + "tie the rope\n" * 20 + "```"
    (shown,) = build_context([result_of(chunk_of(text, language="docx"))], 10_000).shown

    assert completed(passages_of(shown)[0]).goes_on == "(goes on)"


def test_what_is_cut_begins_with_the_quote() -> None:
    (shown,) = build_context([result_of(chunk_of(f"Old. {MOOR}" + "tie the rope\n" * 20 + "```"))], 10_000).shown
    quote = Passage(shown, shown.units[0], shown.units[0], (len("Old. "), len("Old. Moor it like this:")))

    assert completed(quote).text.startswith("Moor it like this:\n\n```\ntie")


@pytest.mark.parametrize(
    ("most", "times"),
    [pytest.param(64, 14, id="words-left"), pytest.param(12, 9, id="an-item-or-two-at-least")],
)
def test_what_a_quote_introduces_is_cut_to_the_words_that_are_left(most: int, times: int) -> None:
    text = MOOR + "tie it up now\n" * 40 + "```"
    (shown,) = build_context([result_of(chunk_of(text))], 10_000).shown

    assert completed(passages_of(shown)[0], most=most).text.count("tie it") == times


def test_a_grown_quote_has_what_its_last_sentence_introduces() -> None:
    told = "Since the old ropes rot in rain, tie each ship of the harbour to the pier with this command:"
    text = f"Ropes are new.\n\n{told}\n\n```\nquay moor --all\n```\n\nThen wait."

    assert enlarged_quote(text, told).endswith("```\nquay moor --all\n```")


def test_prose_grows_to_whole_sentences_below_and_above_it_up_to_headings() -> None:
    text = "Boats moor early.\n\nThe sea moves least.\n\nAll ships wait.\n\n## Storms\n\nStorms pass quickly."

    assert (
        enlarged_quote(text, "The sea moves least.") == "Boats moor early.\n\nThe sea moves least.\n\nAll ships wait."
    )


@pytest.mark.parametrize("heading", ["## Storms", "Storms\n------"])
def test_a_quote_that_begins_with_its_heading_does_not_grow_above_it(heading: str) -> None:
    text = f"All ships wait.\n\n{heading}\nStorms pass quickly.\n\nThey come from the west."
    (shown,) = build_context([result_of(chunk_of(text))], 10_000).shown
    headed = Passage(shown, shown.units[1], shown.units[1 + heading.count("\n") + 1])

    assert headed.text == f"{heading}\nStorms pass quickly."
    assert (
        enlarged(headed, list(passages_of(shown))).text
        == f"{heading}\nStorms pass quickly.\n\nThey come from the west."
    )


def test_what_grows_stays_short() -> None:
    text = "\n\n".join(["Boats moor early.", *(f"The cook sings of fish {number}." for number in range(20))])

    assert enlarged_quote(text, "Boats moor early.").count("\n") == 18


FUNCTION = "def wait(ship):\n    moor(ship)\n\n    return ship"


def code(text: str, part: str) -> Passage:
    """Return a quote of code that is no more than a part of it."""
    (shown,) = build_context([result_of(chunk_of(text, "a.py", kind="code"))], 10_000).shown
    first = text[: text.index(part)].count("\n") - text[: text.index(part)].count("\n\n")
    return Passage(shown, shown.units[first], shown.units[first + part.count("\n")])


def test_a_quote_of_code_is_the_short_statement_that_it_stands_in() -> None:
    branch = "if late:\n    moor(ship)\nelse:\n    sail(ship)"

    assert with_statement(code(FUNCTION, "    moor(ship)")).text == FUNCTION
    assert with_statement(code(branch, "    sail(ship)")).text == branch
    assert with_statement(code(f"{branch}\n\n{FUNCTION}", "if late:")).text == branch


def test_a_quote_of_code_does_not_begin_with_the_else_of_a_condition_above_the_result() -> None:
    assert (
        with_statement(code("else:\n    moor(ship)\n    sail(ship)\nlast()", "    moor(ship)")).text == "    moor(ship)"
    )


def test_a_quote_near_the_head_of_a_long_function_begins_with_it() -> None:
    text = "def wait(ship):\n    moor(ship)\n" + "\n".join(f"    sail({number})" for number in range(12))

    assert with_statement(code(text, "    sail(0)")).text == "def wait(ship):\n    moor(ship)\n    sail(0)"
    assert with_statement(code(text, "    sail(11)")).text == "    sail(11)"


SAILS = "".join(f"\n    sail(ship, fast, {number})\n" for number in range(5))
SAILING = f"def wait(ship):\n    moor(ship)\n{SAILS}\n    return ship\n"
WAITS = "# Waits for it.\n"
LAST = "def cast(off):\n    return off or None\n"


def pieces_of(text: str, *defines: str) -> tuple[Passage, ...]:
    chunk = chunk_of(text, "a.py", kind="code", language="python", defines=defines)
    (shown,) = build_context([result_of(chunk)], 10_000).shown
    return tuple(passages_of(shown))


def test_pieces_of_a_function_are_quoted_together_from_its_head_to_the_last_of_them() -> None:
    pieces = pieces_of(f"{SAILING}\n\n{LAST}", "wait", "cast")
    second, last = (next(each for each in pieces if text in each.text) for text in ("fast, 1", "fast, 2"))
    other = next(each for each in pieces if "return off" in each.text)

    for quote, beside in ((second, last), (last, second)):
        whole = with_function(quote, [quote, beside, other], 100)
        assert whole is not None
        assert whole.text == SAILING.partition("\n\n    sail(ship, fast, 3)")[0]
    assert with_function(second, [second, other], 100) is None
    assert with_function(second, [last], 5) is None


def test_the_last_lines_of_a_function_are_not_left_out_of_it() -> None:
    pieces = pieces_of(SAILING, "wait")
    near_the_end = next(each for each in pieces if "fast, 3" in each.text)

    whole = with_function(pieces[0], [near_the_end], 100)

    assert whole is not None
    assert whole.text == SAILING.rstrip()


def test_pieces_of_a_class_or_of_a_long_function_are_quoted_apart() -> None:
    fields = pieces_of("class Ship:\n    ropes = 1\n\n    knots = 2\n\n    sails = 3\n", "Ship")
    long = pieces_of(
        "def wait(ship):\n" + "\n\n".join(f"    sail(ship, fast, {number})" for number in range(30)), "wait"
    )

    assert with_function(fields[1], [fields[-1]], 100) is None
    assert with_function(long[0], [long[-1]], 1_000) is None


def test_the_head_of_a_short_function_has_its_body_unless_it_is_documented() -> None:
    (bare, *_), (documented, *_) = pieces_of(SAILING, "wait"), pieces_of(WAITS + SAILING, "wait")

    whole = with_function(bare, [], 100)

    assert whole is not None
    assert whole.text == SAILING.rstrip()
    assert with_function(documented, [], 100) is None
    below_long_comment = next(
        each for each in pieces_of(WAITS * 12 + SAILING, "wait") if each.text == "def wait(ship):"
    )
    assert with_function(below_long_comment, [], 100) is None
    assert with_function(pieces_of("class Ship:\n    ropes = 1\n\n    knots = 2\n", "Ship")[0], [], 100) is None
    assert with_function(pieces_of("LIMIT = 3\nropes = 2\n", "LIMIT")[0], [], 100) is None


def test_code_does_not_grow_into_another_definition() -> None:
    fold = "def fold(sail):\n    half = sail.height / 2\n    return half"
    text = f"def hoist(sail):\n    return sail\n\n\n{fold}\n\n\ndef moor(ship):\n    return ship.ropes\n"
    chunk = chunk_of(text, "a.py", kind="code", defines=("hoist", "fold", "moor"))
    (shown,) = build_context([result_of(chunk)], 10_000).shown
    passages = passages_of(shown)
    inner = next(each for each in passages if "half = " in each.text)

    assert enlarged(inner, passages).text == fold


def test_the_head_of_a_definition_is_quoted_with_the_rest_of_a_short_docstring() -> None:
    text = 'def wait(ship):\n    """Wait. A ship\n    is moored.\n    """\n' + "\n".join(
        f"    sail({n})" for n in range(12)
    )

    assert with_statement(code(text, 'def wait(ship):\n    """Wait. A ship')).text == text.partition("\n    sail")[0]


def test_the_last_item_of_a_list_is_quoted_to_its_end() -> None:
    items = "".join(f"- ship number {number}\n  waits,\n" for number in range(40))

    assert whole(f"All of these wait:\n\n{items}", "All").endswith("- ship number 9\n  waits,")


def test_what_a_directive_shows_is_quoted_with_the_sentence_that_leads_to_it() -> None:
    text = "This moors a ship:\n\n.. code-block:: sh\n\n   moor\n\n   wait\n\nThen sail."

    assert whole(text, "This moors") == text.partition("\n\nThen")[0]


EXAMPLE = "```sh\nmoor --ship\n```"
LISTED = f"This moors ships and boats of all sizes, {' and '.join(['night after night'] * 5)}:\n\n- a ship\n- a boat"


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        (f"{EXAMPLE}\n\nThe command above moors.", "The command", f"{EXAMPLE}\n\nThe command above moors."),
        (f"{EXAMPLE}\n\nThis moors a ship.", "This", f"{EXAMPLE}\n\nThis moors a ship."),
        (f"{EXAMPLE}\n\nA ship is moored.", "A ship", "A ship is moored."),
        (f"{EXAMPLE}\n\nShips wait.\n\nThis moors a ship.", "This", "This moors a ship."),
        (f"{EXAMPLE}\n\n{LISTED}", "This", LISTED),
        (f"{EXAMPLE}\n\nShips wait\nhere. This moors\na ship.", "This", "Ships wait\nhere. This moors\na ship."),
    ],
)
def test_a_sentence_that_points_up_is_quoted_with_the_example_directly_above(
    text: str, said: str, expected: str
) -> None:
    (shown,) = build_context([result_of(chunk_of(f"Ropes hold.\n\n{text}"))], 10_000).shown
    passages = passages_of(shown)

    assert completed(next(one for one in passages if one.text.startswith(said)), passages).text == expected


def test_code_of_several_paragraphs_is_quoted_with_the_sentence_that_leads_to_it() -> None:
    text = "Moor it like this::\n\n    import ropes\n\n    def moor(ship):\n        ropes.tie(ship)\n\nThen sail."
    (shown,) = build_context([result_of(chunk_of(text, "a.rst", language="rst"))], 10_000).shown
    (quote,) = (passage for passage in passages_of(shown) if passage.text == "Moor it like this::")

    assert completed(quote).text == text.partition("\n\nThen")[0]


def test_what_grows_does_not_end_with_a_sentence_that_leads_to_what_does_not_fit() -> None:
    text = "Boats moor early.\n\nThe ropes are:\n\n- hemp,\n- steel.\n\nThey sail."
    long = "Boats moor early.\n\nThe ropes are:\n\n- ropes of hemp " + "that are sold by the yard " * 12

    assert enlarged_quote(text, "Boats moor early.") == text
    assert enlarged_quote(long, "Boats moor early.") == "Boats moor early."
    assert enlarged_quote(f"Wind is rare.\n\n{long}", "Boats moor early.") == "Wind is rare.\n\nBoats moor early."


def test_a_sentence_that_leads_to_what_is_quoted_anyway_is_not_quoted_alone() -> None:
    text = (
        "Of berths and ropes, let's take a simple example of a rope::\n\n    berth = 1\n    if berth:\n"
        "        tie_the_rope_to_the_berth_of_the_quay(berth)\n\nShips come and go by night.\n"
    )

    chunk = chunk_of(text, "a.rst", language="rst")
    found = quotes(picked("How is the rope tied to the berth of the quay?", chunk))

    assert not any(each.endswith("::") for each in found)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("!!! note\n\n    Boats moor early.\n\nShips moor late.\n", "Boats moor early."),
        ("!!! note\n\n    Boats moor early.\n\nShips moor late.\n", "Ships moor late."),
        ('=== "Boats"\n\n    Boats moor early.\n\n=== "Ships"\n\n    Ships moor late.\n', "Boats moor early."),
        ('Boats moor early.\n\n=== "Ships"\n\n    Ships moor late.\n', "Boats moor early."),
        ('=== "Boats"\n\n    Boats moor early.\n\n    ### Ships\n\n    Ships moor late.\n', "Boats moor early."),
    ],
)
def test_what_grows_does_not_leave_its_tab_or_admonition(text: str, quote: str) -> None:
    assert enlarged_in_markdown(text, quote) == quote


def test_what_grows_in_an_admonition_has_all_of_it() -> None:
    text = "!!! note\n\n    Boats moor early.\n\n    Ships moor late."

    assert enlarged_in_markdown(text, "Boats moor early.").endswith("Ships moor late.")


def enlarged_in_markdown(text: str, quote: str) -> str:
    (shown,) = build_context([result_of(chunk_of(text, "a.md", language="markdown"))], 10_000).shown
    passages = passages_of(shown)
    return enlarged(next(passage for passage in passages if passage.text.strip() == quote), passages).text.strip()


LABEL, ITEMS = "- `MAX_LOAD`", "  - Limits what a crane lifts.\n  - It is in tonnes of ropes."


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        (f"{LABEL}\n{ITEMS}", "  - Limits what a crane lifts.", f"{LABEL}\n  - Limits what a crane lifts."),
        (f"{LABEL}\n{ITEMS}", "  - It is in tonnes of ropes.", f"{LABEL}\n{ITEMS}"),
        (f"- Cranes may lift less\n{ITEMS}", "  - Limits what a crane lifts.", "  - Limits what a crane lifts."),
        (f"MAX_LOAD\n{ITEMS}", "  - Limits what a crane lifts.", "  - Limits what a crane lifts."),
        (f"{LABEL}\n- Limits what a crane lifts.", "- Limits what a crane lifts.", "- Limits what a crane lifts."),
        (f"{LABEL}\n  - {LONG}\n{ITEMS}", "  - It is in tonnes of ropes.", "  - It is in tonnes of ropes."),
    ],
    ids=["first", "second", "sentence above", "no item above", "beside it", "far below"],
)
def test_an_item_comes_with_the_label_that_it_is_below(text: str, quote: str, found: str) -> None:
    (shown,) = build_context([result_of(chunk_of(text, language="markdown"))], 10_000).shown
    passages = passages_of(shown)

    assert completed(next(each for each in passages if each.text == quote), passages).text == found
