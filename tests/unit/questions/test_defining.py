"""Questions for what something is, and the lines that say it."""

from __future__ import annotations

import pytest

from openbook.questions.definitions import AskedTerm, doing_of, term_of
from openbook.questions.question import read_question


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("What is quay?", "**quay** is a small harbour server."),
        ("what is quay", "Meet quay. Quay is the server of harbours."),
        ("And what's a tide table?", "A *tide table* (printed) is a list."),
        ("What is a tide table?", "So tide tables, which are printed, tell it."),
        ("What is a tide table?", "And this list is called a tide table."),
        ("What is TTD?", "The tide table data, or TTD, is a list."),
        ("What are moorings?", "Moorings are ropes and rings."),
        ("What are moorings?", "The moorings are ropes and rings."),
        ("What is a quay?", "Quays are walls for ships."),
        ("What is quay?", "`Quay <https://quay.example>`__ is\na server."),
        ("What is quay?", "quay \\- A server of harbours"),
        ("What is quay?", "Quay NG/Server is a server."),
        ("What is quay?", "A _quay_ is any wall for ships."),
        ("What is quay?", "Quay represents a wall."),
        ("What is quay?", "A quay keeps ships at their place."),
        ("What is quay?", "Here it ends. A `quay` can keep ships."),
        ("What are quays?", "Quays are used for mooring."),
        ("What is a tide table?", "// TideTable is the list of a harbour."),
        ("Was ist ein Gezeitenbuch?", "Ein Gezeitenbuch ist eine Liste."),
        ("Qu'est-ce qu'une balise ?", "Une balise est un signal."),
        ("¿Qué es un muelle?", "Un muelle es una obra."),
    ],
)
def test_a_line_that_says_what_something_is_defines_it(question: str, line: str) -> None:
    term = term_of(question)

    assert term is not None
    assert term.is_defined_in(line)


@pytest.mark.parametrize(
    "line",
    [
        "Quay is used by many.",
        "The quays are listed in order.",
        "The best quay is a long one.",
        "Quays of old were a sight.",
        "QUAY - TABLE OF CONTENTS",
        "The quay keeps ships at their place.",
        "A quay wall keeps ships at their place.",
        "Quays are applied in order.",
        f"{'*' * 40}quay is a wall.",
    ],
)
def test_a_line_that_says_something_else_of_it_does_not(line: str) -> None:
    assert not AskedTerm(("quay",)).is_defined_in(line)


@pytest.mark.parametrize(
    ("text", "in_prose", "in_code"),
    [
        ("quay\n  A wall.", True, False),
        ("**Quay**\n: A wall.", True, False),
        ("- **Quays**: walls for ships", True, False),
        ("**Quay:** a wall", True, False),
        ("- quay: a wall", False, False),
        ("# quay is a wall", True, True),
    ],
)
def test_prose_has_entries_of_glossaries(text: str, *, in_prose: bool, in_code: bool) -> None:
    term = AskedTerm(("quay",))

    assert (term.is_defined_in(text), term.is_defined_in(text, is_code=True)) == (in_prose, in_code)


@pytest.mark.parametrize(
    ("text", "is_heading"),
    [
        ("text\n## Tide tables\ntext", True),
        ("== Tide table", True),
        ("title: The tide table", True),
        ("# What is a tide table?", True),
        ("# `TideTable` {#tides}", True),
        ("Tide tables\n~~~~~~~~~~~", True),
        ("Tide tables\ntext", False),
        ("## Tide table of May", False),
        ("## The old tide table", False),
    ],
)
def test_a_heading_is_the_term_and_nothing_else(text: str, *, is_heading: bool) -> None:
    assert AskedTerm(("tide", "table")).is_heading_in(text) is is_heading


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What is a tide table?", "tide table"),
        (f"what{'s'} a quay", "quay"),
        ("And what are quays?", "quays"),
        ("what does the term quay mean?", "quay"),
        ("what does quay stand for", "quay"),
        ("What does quay mean here?", "quay|here"),
        ("what is meant by a quay", "quay"),
        ("explain quays", "quays"),
        ("Please explain to me what a quay is", "quay"),
        ("define quay", "quay"),
        ("What is a task in this project?", "task|in this project"),
        ("what are hooks in the core code", "hooks|in the core code"),
        ("What is a quay good for?", "quay"),
        ("What is a quay there for?", "quay"),
        ("What is C++?", "C++"),
        ("What is .mooring?", ".mooring"),
    ],
)
def test_what_a_term_means_is_asked_in_many_ways(question: str, term: str) -> None:
    found = term_of(question)

    assert found is not None
    assert "|".join(filter(None, (" ".join(found.words), found.place))) == term


@pytest.mark.parametrize(
    "question",
    [
        "What happens at low tide?",
        "What is the default of the port option?",
        "What is the default port?",
        "What is stored in the cache?",
        "what is new in version 3",
        "What is it?",
        "What is this?",
        "what does it mean",
        "explain how quays are built",
        "What is ++?",
        "quay",
        f"What is a {'q' * 120}?",
    ],
)
def test_questions_for_something_else_ask_for_no_definition(question: str) -> None:
    assert term_of(question) is None


def test_a_term_is_a_name_in_any_spelling_and_number() -> None:
    term = AskedTerm(("Control", "links"))

    assert [term.is_name(name) for name in ("ControlLink", "control_link", "control-links", "links")] == [True] * 3 + [
        False
    ]
    assert [term.may_be_in(path) for path in ("app/ControlLink.rb", "app/link.rb")] == [True, False]


def test_the_words_around_a_term_are_not_searched_for() -> None:
    assert read_question("what is meant by a quay here").tokens == read_question("What is a quay?").tokens
    assert read_question("What is a quay in the harbour server?").tokens == ("quay", "harbor", "server")


def test_a_comparison_asks_for_no_term() -> None:
    asked = read_question("What is a quay vs. a pier?")

    assert asked.term is None
    assert asked.tokens == ("quay", "pier")


def test_a_term_of_a_project_is_not_the_project() -> None:
    asked = ("what are tasks in Harbour", "What is Harbour?")

    assert [read_question(each).asks_for_whole(["harbour"]) for each in asked] == [False, True]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("what does moor do", "moor"),
        ("What does the function `moor` do?", "moor"),
        ("What does moor() return?", "moor"),
        ("what does cast_off test for", "cast_off"),
        ("What do ropes() check?", "ropes"),
    ],
)
def test_a_name_is_asked_for_what_it_does(question: str, name: str) -> None:
    assert doing_of(question) == AskedTerm((name,))


@pytest.mark.parametrize("question", ["What does it do?", "what does cast_off mean", "What does the crane lift?"])
def test_other_questions_ask_no_name_for_what_it_does(question: str) -> None:
    assert doing_of(question) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`moor()` ties a ship.", True),
        ("- **moor(ship, rope)** ties it.", True),
        ("moor was here.", False),
        ("`moor_all()` ties ships.", False),
        ("`moor()` and `cast_off()`.", False),
        ("Use `moor()`, which ties a ship.", False),
    ],
)
def test_a_sentence_that_begins_with_a_name_and_a_verb_is_on_it(text: str, expected: bool) -> None:
    assert AskedTerm(("moor",)).is_subject_of(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: tide-table\nversion: 2\nsummary: It lists tides.", True),
        ('{\n  "name": "tide_table",\n  "description": "It lists tides."\n}', True),
        ("module: tide_table\nshort_description: It lists tides.", True),
        ("name: tide_table\nversion: 2", False),
        ("name: tide_tables_of_may\nsummary: It lists tides.", False),
        ("uses: tide_table\nsummary: It lists tides.", False),
    ],
    ids=["yaml", "json", "python", "no description", "another name", "another key"],
)
def test_a_manifest_describes_what_it_names(text: str, expected: bool) -> None:
    assert AskedTerm(("tide", "table")).is_described_in(text) is expected
