from __future__ import annotations

from dataclasses import replace

import pytest

from openbook.extractive.citations import (
    NOWHERE,
    UnitRange,
    citation_of,
    headings_at,
    is_current,
    numbered,
    places_of,
    symbol_at,
)
from openbook.extractive.context import Context, ContextItem, build_context
from openbook.sources.readers.html import read_html
from openbook.text import units
from openbook.types import Span
from tests.unit.retrieval.material import chunk_of, result_of

BEFORE = "Über uns\n\n"
FIRST = chunk_of("One.\nTwo.\n\nThree.\nFour.", "a.md", before=BEFORE, context=("Guide",))
SECOND = chunk_of("def f():\n    return 1", "b.py", kind="code", source="other", symbol="A.f", signature="def f():")
CONTEXT = build_context([result_of(FIRST), result_of(SECOND)], 1_000)
SHOWN = numbered(CONTEXT)


def place_of(mark: str) -> UnitRange:
    (place,) = places_of(mark, SHOWN)
    assert place is not None
    return place


@pytest.mark.parametrize(
    ("mark", "place", "quote"),
    [
        pytest.param("[1]", "a.md:3-7", "One.\nTwo.\n\nThree.\nFour.", id="a-whole-result"),
        pytest.param("[1:3]", "a.md:6-6", "Three.", id="one-unit"),
        pytest.param("[1:2-3]", "a.md:4-6", "Two.\n\nThree.", id="units-over-a-blank-line"),
        pytest.param("[1:1-4]", "a.md:3-7", "One.\nTwo.\n\nThree.\nFour.", id="all-units"),
        pytest.param("[1:2-2]", "a.md:4-4", "Two.", id="from-a-unit-to-itself"),
        pytest.param("[2:2]", "b.py:2-2", "    return 1", id="indentation-is-quoted"),
        pytest.param("[01:03]", "a.md:6-6", "Three.", id="leading-zeros"),
    ],
)
def test_a_mark_names_units_of_a_result(mark: str, place: str, quote: str) -> None:
    found = place_of(mark)

    assert (str(found.span), found.quote) == (place, quote)


@pytest.mark.parametrize(
    "mark",
    ["[9]", "[3:1]", "[1:99]", "[1:2-99]", "[1:5]", "[1:4-3]", "[0]", "[0:1]", "[1:0]", "[1:0-2]", "[9999]", "[a]", ""],
)
def test_a_mark_that_names_nothing_shown_has_no_place(mark: str) -> None:
    assert places_of(mark, SHOWN) == (None,)


def test_a_mark_of_several_ranges_names_a_place_for_each() -> None:
    first, second, third = places_of("[1:1, 3-4, 9]", SHOWN)

    assert [place.quote if place else None for place in (first, second, third)] == ["One.", "Three.\nFour.", None]


def test_a_place_on_a_page_of_one_line_is_in_the_section_above_it() -> None:
    page = "<h1>Travel</h1><h2>Hotels</h2><p>Rooms cost 140 euros.</p><h2>Claims</h2><p>Hand in receipts soon.</p>"
    chunk = chunk_of(read_html(page).text, "a.html", language="html")
    shown = numbered(build_context([result_of(chunk)], 1_000))
    lines = {unit.text: unit.number for unit in shown[1].units}

    def section_of(line: str) -> tuple[str, ...]:
        (place,) = places_of(f"[1:{lines[line]}]", shown)
        assert place is not None
        return headings_at(place)

    assert section_of("Rooms cost 140 euros.") == section_of("Hotels") == ("Travel", "Hotels")
    assert section_of("Hand in receipts soon.") == ("Travel", "Claims")


def test_a_mark_counts_only_units_that_were_shown() -> None:
    cut = {1: ContextItem(1, result_of(FIRST), units(FIRST)[:2])}

    assert [place.quote for place in places_of("[1]", cut) if place] == ["One.\nTwo."]
    assert places_of("[1:3]", cut) == (None,)


def test_a_result_without_units_has_no_place() -> None:
    assert places_of("[1]", {1: ContextItem(1, result_of(FIRST), ())}) == (None,)


def test_a_mark_means_the_result_of_its_number_and_not_of_its_position() -> None:
    sparse = numbered(Context((ContextItem(4, result_of(SECOND), units(SECOND)),)))

    assert places_of("[1]", sparse) == (None,)
    assert [str(place.span) for place in places_of("[4:1]", sparse) if place] == ["b.py:1-1"]


@pytest.mark.parametrize("mark", ["[1:1]", "[1:2-3]", "[1:1-4]", "[2:2]"])
def test_the_mark_that_is_written_is_the_one_that_is_read(mark: str) -> None:
    assert place_of(mark).mark == mark


def test_a_citation_carries_its_source_its_label_and_its_symbol() -> None:
    first = citation_of("[1:1]", place_of("[1:1]"), "unverified", "because", claim=3)
    second = citation_of("[2]", place_of("[2]"), "exact")

    assert (first.source, first.label, first.symbol, first.quote) == ("src", "Guide", "", "One.")
    assert (first.verdict, first.reason, first.claim) == ("unverified", "because", 3)
    assert (second.source, second.label, second.symbol, second.claim) == ("other", "", "A.f()", None)


def test_a_citation_of_nothing_has_no_place() -> None:
    found = citation_of("[9]", None, "unknown", "why")

    assert (found.mark, found.source, found.span, found.quote, found.place) == ("[9]", "", NOWHERE, "", "")


@pytest.mark.parametrize(
    ("signature", "symbol", "defines", "name"),
    [
        pytest.param("def get(self, url):", "Client.get", ("get",), "Client.get()", id="method"),
        pytest.param("func ParseLabel(s string) error {", "ParseLabel", (), "ParseLabel()", id="go"),
        pytest.param("fn parse<T>(s: T)", "parse", ("parse",), "parse()", id="generic"),
        pytest.param("class Client(Session):", "Client", ("Client",), "Client", id="class"),
        pytest.param("struct reply *send(int a) {", "send", ("send",), "send()", id="c-function-that-returns-a-struct"),
        pytest.param("enum reply Client::send(int a)", "send", (), "send()", id="cpp-method-that-returns-an-enum"),
        pytest.param("struct reply {", "reply", ("reply",), "reply", id="c-struct"),
        pytest.param("struct API(2) reply", "reply", ("reply",), "reply", id="c-struct-with-an-attribute"),
        pytest.param("class API Client : Session(3)", "Client", (), "Client", id="class-with-a-macro"),
        pytest.param("enum class Color(val rgb: Int)", "Color", (), "Color", id="kotlin-enum"),
        pytest.param("record struct Point(int x)", "Point", (), "Point", id="csharp-record"),
        pytest.param("def moored?(ship)", "Quay.moored?", ("moored?",), "Quay.moored?()", id="name-with-a-sign"),
        pytest.param("LIMIT = 3", "LIMIT", ("LIMIT",), "LIMIT", id="constant"),
        pytest.param("", "Client", (), "Client", id="no-signature"),
        pytest.param("", "", (), "", id="no-definition"),
        pytest.param("def one():", "one", ("one", "two"), "", id="another-of-several-definitions"),
    ],
)
def test_what_is_defined_is_named_as_people_write_it(
    signature: str, symbol: str, defines: tuple[str, ...], name: str
) -> None:
    chunk = chunk_of("x = 1", "a.py", kind="code", symbol=symbol, signature=signature, defines=defines)
    (place,) = places_of("[1]", numbered(build_context([result_of(chunk)], 100)))

    assert place is not None
    assert symbol_at(place) == name


TWO_IN_PYTHON = """\
def one():
    return two()


# one() calls it.
def two():
    if ready:
        return 1
    return 2


ready = one()
two()
"""
TWO_IN_GO = """\
type Pool struct {
	Size int
}

// Keeper has a pool.
type Keeper interface {
	Pool() Pool
}

func (k *keeper) Pool() Pool {
	return k.pool
}
"""
METHODS_IN_GO = """\
func (c *Check) StateOf(id string) State {
	return &state{c: c}
}

func (s *state) CheckConnection(id string) bool {
	return true
}

func reset(state *state) {
	state.c = nil
}
"""
TWO_IN_C = """\
int one(void)
{
	if (ready) {
		two();
	}
#ifdef LATE
	late();
#endif
	return 1;
}

struct two *two_new(void)
{
	return one();
}
"""


@pytest.mark.parametrize(
    ("text", "symbol", "signature", "defines", "symbols"),
    [
        pytest.param(
            TWO_IN_PYTHON,
            "one",
            "def one():",
            ("one", "two", "ready"),
            {"1": "one()", "2": "one()", "3-4": "two()", "5-6": "two()", "6": "two()", "8": "ready", "9": ""},
            id="python",
        ),
        pytest.param(
            TWO_IN_GO,
            "Pool",
            "type Pool struct {",
            ("Pool", "Keeper"),
            {"1": "Pool", "2": "Pool", "4-7": "Keeper", "6": "Keeper"},
            id="go",
        ),
        pytest.param(
            METHODS_IN_GO,
            "Check.StateOf",
            "func (c *Check) StateOf(id string) State",
            ("StateOf", "state", "CheckConnection", "reset"),
            {"1-3": "Check.StateOf()", "4-6": "state.CheckConnection()", "7-9": "reset()"},
            id="receivers-and-parameters-of-go",
        ),
        pytest.param(
            "void open(int);\nvoid (*close)(int);\n",
            "open",
            "void open(int)",
            ("open", "close"),
            {"1": "open()", "2": "close"},
            id="pointer-to-a-function",
        ),
        pytest.param(
            TWO_IN_C,
            "one",
            "int one(void)",
            ("one", "two_new"),
            {"1-2": "one()", "4": "one()", "9": "one()", "11-13": "two_new()", "13": "two_new()"},
            id="c",
        ),
    ],
)
def test_of_several_definitions_the_one_that_begins_there_or_that_the_lines_are_in_is_named(
    text: str, symbol: str, signature: str, defines: tuple[str, ...], symbols: dict[str, str]
) -> None:
    chunk = chunk_of(text, "a.py", kind="code", symbol=symbol, signature=signature, defines=defines)
    shown = numbered(build_context([result_of(chunk)], 1_000))

    assert {
        units: symbol_at(place) for units in symbols for place in places_of(f"[1:{units}]", shown) if place
    } == symbols


TEXT = "a\nbé\nc d\n"
QUOTE = Span("a.md", 2, 8, 2, 3)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        pytest.param(TEXT, True, id="unchanged"),
        pytest.param(TEXT + "more\n", True, id="changed-behind-it"),
        pytest.param("A\nbé\nc d\n", True, id="changed-before-it-without-moving-it"),
        pytest.param("a\nbé\nC d\n", False, id="other-text"),
        pytest.param("a\n\nbé\nc d\n", False, id="moved-by-a-line"),
        pytest.param("ab\nbé\nc d\n", False, id="moved-by-a-character"),
        pytest.param("\n\nbé\nc d\n", False, id="same-characters-on-other-lines"),
        pytest.param("ab" + TEXT[2:], False, id="same-characters-one-line-up"),
        pytest.param("a\nbé\nc", False, id="cut-short"),
        pytest.param("", False, id="emptied"),
        pytest.param(None, False, id="gone"),
    ],
)
def test_a_quote_is_current_only_at_its_very_characters_and_lines(text: str | None, holds: bool) -> None:
    assert is_current(QUOTE, "bé\nc d", text) is holds


def test_carriage_returns_are_characters_and_end_no_line() -> None:
    span = Span("a.md", 3, 8, 2, 3)

    assert is_current(span, "b\r\ncd", "a\r\nb\r\ncd\r\n")
    assert not is_current(span, "b\r\ncd", "a\nb\ncd\n")


def test_a_span_with_the_wrong_last_line_is_not_current() -> None:
    assert not is_current(Span("a.md", 2, 8, 2, 2), "bé\nc d", TEXT)


def test_the_label_names_the_section_of_the_lines_or_the_heading_that_they_begin_with() -> None:
    chunk = chunk_of("# Guide\n\nIt moors.\n\n## Ropes\n\nOf hemp.", context=("Guide",), language="markdown")
    shown = numbered(build_context([result_of(chunk)], 1_000))

    def label_of(mark: str) -> str:
        return citation_of(mark, places_of(mark, shown)[0], "exact").label

    assert [label_of(mark) for mark in ("[1:1-2]", "[1:2]")] == ["Guide", "Guide"]
    assert [label_of(mark) for mark in ("[1:3-4]", "[1:4]")] == ["Guide › Ropes", "Guide › Ropes"]


@pytest.mark.parametrize(
    ("context", "symbol", "names"),
    [
        (("Dock",), "Dock.one", ["Dock.one()", "Dock.two()"]),
        (("Harbour", "Dock"), "Harbour.Dock.one", ["Harbour.Dock.one()", "Harbour.Dock.two()"]),
        (("Dock",), "one", ["one()", "two()"]),
        ((), "Dock.one", ["Dock.one()", "two()"]),
    ],
    ids=["class", "nested", "other", "receiver"],
)
def test_a_later_method_of_a_chunk_within_a_class_is_named_with_it(
    context: tuple[str, ...], symbol: str, names: list[str]
) -> None:
    text = "    def one():\n        return 1\n\n    def two():\n        return 2"
    kept = chunk_of(text, "a.py", kind="code", signature="def one():", defines=("one", "two"))
    chunk = replace(kept, symbol=symbol, context=context)
    shown = numbered(build_context([result_of(chunk)], 1_000))

    assert [symbol_at(place) for units in ("1", "3-4") for place in places_of(f"[1:{units}]", shown) if place] == names


@pytest.mark.parametrize(
    ("text", "context", "defines", "names"),
    [
        (
            "func (d *Dock) Moor() {\n}\n\ntype ship struct {\n}\n\nfunc (s *ship) Moor() {\n}",
            ("Dock",),
            ("Moor", "ship"),
            ["Dock.Moor()", "ship", "ship.Moor()"],
        ),
        (
            "fun <T> Dock<T>.moor() {\n}\n\nfun sail() {\n}\n\nfun Ship?.load() {\n}",
            ("Dock",),
            ("moor", "sail", "load"),
            ["Dock.moor()", "sail()", "Ship.load()"],
        ),
        (
            "void Dock::moor() {\n}\n\nvoid sail() {\n}\n\nint Ship::load() {\n}",
            ("port", "Dock"),
            ("moor", "sail", "load"),
            ["port.Dock.moor()", "port.sail()", "port.Ship.load()"],
        ),
    ],
    ids=["go", "kotlin", "cpp"],
)
def test_an_owner_that_is_written_in_front_of_a_name_owns_no_other(
    text: str, context: tuple[str, ...], defines: tuple[str, ...], names: list[str]
) -> None:
    signature = text.partition(" {")[0]
    kept = chunk_of(text, "a", kind="code", signature=signature, defines=defines)
    chunk = replace(kept, symbol=".".join((*context, defines[0])), context=context)
    shown = numbered(build_context([result_of(chunk)], 1_000))

    assert [
        symbol_at(place) for units in ("1", "3", "5") for place in places_of(f"[1:{units}]", shown) if place
    ] == names


@pytest.mark.parametrize(
    ("defines", "names"),
    [(("two",), ["Dock", "Dock.two()"]), ((), ["Dock.two()", "Dock.two()"])],
    ids=["the-end-of-another", "a-part-of-one"],
)
def test_lines_above_the_only_definition_of_a_chunk_are_not_named_after_it(
    defines: tuple[str, ...], names: list[str]
) -> None:
    text = "        self.ropes = 3\n        return 1\n\n    # Twice.\n    def two():\n        return 2"
    kept = chunk_of(text, "a.py", kind="code", signature="def two():", defines=defines)
    chunk = replace(kept, symbol="Dock.two", context=("Dock",))
    shown = numbered(build_context([result_of(chunk)], 1_000))

    assert [
        symbol_at(place) for units in ("1-2", "3-4") for place in places_of(f"[1:{units}]", shown) if place
    ] == names
