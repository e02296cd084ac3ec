"""A pasted message is found by the string literal that prints it, whatever values it has."""

from __future__ import annotations

import pytest

from openbook.answering.missing import missing_note
from openbook.retrieval.messages import literals_of, message_places, message_strength
from openbook.types import Kind
from tests.unit.retrieval.material import Library, chunk_of

MESSAGE = "berth B7 at quay North is not free"


def common(message: str, code: str) -> int:
    return message_places([message], code)[0]


@pytest.mark.parametrize(
    "code",
    [
        'raise Full("berth %s at quay %-5s is not free" % place)',
        'raise Full("berth %(berth)s at quay %(quay)s is not free" % place)',
        "raise Full(f'berth {place.berth!r} at quay {place[0]} is not free')",
        '#[error("berth {0} at quay {} is not free")]',
        'raise Full, "berth #{berth} at quay #{quay} is not free"',
        "throw new Full(`berth ${berth} at quay ${quay()} is not free`)",
        'throw new Full("berth $berth at quay $quay->name is not free");',
        'throw Full("berth \\(berth) at quay \\(quay.name) is not free")',
        'message: "berth {{berth}} at quay {{ quay }} is not free"',
        'io:format("berth ~p at quay ~s is not free", [Berth, Quay])',
        'printf("berth %ld at quay %.3lf is not free\\n", berth, quay);',
        'printf("berth %" PRIu64 " at quay %s is not free", berth, quay);',
        'throw new Full("berth " + berth + " at quay " + quay + " is not free");',
        "die('berth ' . $berth . ' at quay ' . $quay . ' is not free');",
        'error("berth " .. berth .. " at quay " .. quay .. " is not free")',
        'out << "berth " << berth << " at quay " << quay << " is not free";',
        'raise Full("berth %s at "\n           f"quay {quay} is " "not free")',
        'raise "berth #{berth} at quay " \\\n  "#{quay} is not free"',
        'fail("berth " + berth +\n     " at quay " +\n     quay + " is not free")',
        'panic!("berth {} at quay {} \\\n    is not free", berth, quay)',
        '"""Moor."""\nraise Full("\\"berth\\" %s at \'quay\' %s is not free")',
        '"""\nraise Full("BERTH %s at quay %s is Not free.")',
    ],
)
def test_placeholders_and_joined_literals_stand_for_any_value(code: str) -> None:
    assert common(MESSAGE, code) == 6


@pytest.mark.parametrize(
    "code",
    [
        'fail("berth %+d at quay %#x is not free")',
        'fail("berth %05.1f at quay %X is not free")',
        'fail("berth %*d at quay %.*f is not free")',
        'fail(@"berth %@ at quay %zu is not free")',
        'io:format("berth ~ts at quay ~w is not free", [Berth, Quay])',
        'fail "berth $1 at quay ${2} is not free"',
        'fail("berth {\n  berth} at quay {} is not free")'.replace("\n", "\\\n"),
        'throw Full("berth \\(berth(7)) at quay \\(quay) is not free")',
        'printf("berth %"PRIu64" at quay %"PRId8 " is not free", berth, quay);',
        'fail("berth "+berth+" at quay "+quay+" is not free")',
        'fail("berth " <> berth <> " at quay " <> quay <> " is not free")',
        'fail("berth "..berth.." at quay "..quay.." is not free")',
    ],
)
def test_placeholders_of_other_forms_stand_for_any_value(code: str) -> None:
    assert common(MESSAGE, code) == 6


@pytest.mark.parametrize("sign", ["+", ".", "~", "\\", "..", "<<", "<>", ""])
def test_an_operator_joins_two_literals(sign: str) -> None:
    assert common(MESSAGE, f'fail("berth %s at " {sign} "quay %s is not free")') == 6


@pytest.mark.parametrize(
    "behind", ["+ rope", ". $rope", ".. rope", "<< rope", "<> rope", "+ (rope)", ".rope", "+$rope"]
)
def test_a_value_may_follow_a_literal(behind: str) -> None:
    assert common("unknown rope R2", f'fail("unknown rope " {behind})') == 2


@pytest.mark.parametrize(
    "between", ["; warn(quay + ", "{ quay + ", "} quay + ", ", quay, ", " quay ", ")\nmoor()" * 20 + "+ "]
)
def test_what_ends_a_statement_joins_no_literals(between: str) -> None:
    assert common(MESSAGE, f'fail("berth %s at " + berth {between} "quay %s is not free")') == 4


@pytest.mark.parametrize("mark", "\"'`")
def test_a_literal_ends_with_the_mark_that_opens_it(mark: str) -> None:
    def words(code: str) -> list[str]:
        return [" ".join(each.words) for each in literals_of(code.replace("|", mark))]

    assert words("|unknown rope here|, |old berth is free|") == ["unknown rope here", "old berth is free"]
    assert words("5| is long\n|unknown rope here|") == ["unknown rope here"]
    assert words("|unknown \\|old\\| rope|") == ["unknown old rope"]
    assert words("|unknown rope here\\| and there\n") == []
    assert words("|unknown \\\n  rope here|") == ["unknown rope here"]


@pytest.mark.parametrize("place", ['#{ship["name"]}', '${ship["name"]}', '#{ships.map { |ship| ship["name"] }}'])
def test_a_literal_within_a_placeholder_ends_the_text(place: str) -> None:
    assert common("rope of ship Anna", f'fail("rope of ship {place}")') == 3


def test_a_bracket_that_is_alone_is_no_placeholder() -> None:
    assert common("no rope behind } of the berth", 'fail("{} rope behind } of the berth")') == 5
    assert common("expected { and rope but found {1}", 'fail("expected { and rope but found {}")') == 5


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (f"why do I get FullError: {MESSAGE}, please", 6),
        ("Error while mooring: berth B7 at quay North is", 4),  # pasted in part
        ("quay North is not free", 4),
        ("the berth B7 at quay", 0),  # too few words in common
        ("berth B7 at pier North is not free", 0),
        ("berth B7 at quay North is seldom free", 0),
        ("ship B7 at quay North is not free", 0),
        ("berth", 0),
        ("the berth at quay North is old", 0),
    ],
)
def test_a_message_may_be_pasted_in_part_and_among_other_words(message: str, words: int) -> None:
    assert common(message, 'raise Full("berth %s at quay %s is not free")') == words


@pytest.mark.parametrize(
    ("message", "code", "words"),
    [
        ("Rope R2 has no ends", 'fail("{} {} has no ends")', 3),
        ("the old rope of harbour R2 has no ends", 'fail("{} {} has no ends")', 0),  # mostly values
        ("unknown rope R2", 'fail("unknown rope %s")', 2),
        ("unknown rope R2", 'fail("unknown rope " + rope)', 2),
        ("unknown old rope R2", 'fail("unknown old rope")', 0),
        ("why: unknown rope R2", 'fail("unknown rope %s")', 0),
        ("old rope R2", 'fail("unknown old rope %s")', 0),
        ("is not R2", 'fail("is not %s")', 0),  # says nothing
        ("what is it that is to be told", 'fail("what is it that is to be told")', 0),
        ("rope", 'fail("rope %s")', 0),
        ("R2: unknown old rope", 'fail(f"{name}: unknown old rope")', 3),
    ],
)
def test_a_short_literal_counts_if_it_is_the_whole_message(message: str, code: str, words: int) -> None:
    assert common(message, code) == words


def test_of_several_literals_those_with_most_words_in_common_count() -> None:
    best, other = "berth %s at quay %s is not free", "quay %s is not free"
    code = f'a("{other}") b("{best}") c("{best}") d("{other}")'

    found, places = message_places([MESSAGE], code)

    assert (found, places) == (6, [code.index('"berth'), code.rindex('"berth')])


def test_what_is_quoted_in_a_question_is_a_message_of_its_own() -> None:
    question = 'what does "quay North is not free" mean'
    code = 'fail("berth %s at quay %s is not free, and %s late")'

    assert message_places([question], code) == (0, [])
    assert message_places(["quay North is not free", question], code)[0] == 4


def test_a_message_may_have_several_sentences() -> None:
    text = "Berth %s at quay %s is not free. " * 10

    assert common(text.replace("%s", "B7"), f'fail("{text}")') == 60


@pytest.mark.parametrize("text", ["berth %s at quay %s is not free " * 14, "berths/quay-north_old.free.yaml here"])
def test_a_long_text_or_a_path_is_no_message(text: str) -> None:
    assert not literals_of(f'tell("{text}")')


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [("dock.py", "code", 6), ("tests/test_dock.py", "code", 0), ("dock.md", "docs", 0)],
)
def test_tests_and_prose_print_no_message(path: str, kind: Kind, words: int) -> None:
    chunk = chunk_of('raise Full("berth %s at quay %s is not free")', path, kind=kind)

    assert message_strength([MESSAGE], MESSAGE, chunk) == words
    assert message_strength([MESSAGE], f"which tests say {MESSAGE}?", chunk) == (words if kind == "docs" else 6)


@pytest.fixture
def library(library: Library) -> Library:
    for number in range(450):  # more than are candidates of a message
        library.put(f"docs/{number}.md", f"# Zanzibar\n\nFoo_bar of zanzibar, `foo_bar`, is pier {number} of zanzibar.")
    library.put("harbour.py", 'def moor():\n    raise Full("quay %s of %s is not free")', kind="code")
    library.put("old.py", 'fail("zanzibar is not free")', kind="code")  # fewer words in common
    library.put("names.py", 'def tie():\n    raise FullError("tied")', kind="code")
    library.put(
        "tests/test_harbour.py", 'def test_moor():\n    raise Full("quay foo_bar of 7 is not free")', kind="code"
    )
    return library


@pytest.mark.parametrize(
    "query",
    [
        "quay foo_bar of 'zanzibar zanzibar' is not free",
        "why do I get FullError: quay foo_bar of 'zanzibar' is not free",
        'what is wrong if it says "quay foo_bar of zanzibar is not free"?',
    ],
)
def test_what_prints_a_message_comes_before_what_has_its_values(library: Library, query: str) -> None:
    found = library.search(query)

    assert found[0].chunk.span.path == "harbour.py"
    assert "message" in found[0].signals
    assert not any("message" in result.signals for result in found[1:])
    assert not missing_note(query, found, library.index)


def test_a_message_lists_passages_and_a_topic_files(library: Library) -> None:
    library.put("two.py", 'fail("rope %s is not tied here")', 'warn("rope %s is not tied here")', kind="code")

    listed = [result.chunk.span.path for result in library.search("rope R2 is not tied here")]
    of_topic = [result.chunk.span.path for result in library.search("rope tied here")]

    assert (listed.count("two.py"), of_topic.count("two.py")) == (2, 1)


def test_a_message_that_nothing_prints_is_an_ordinary_query(library: Library) -> None:
    found = library.search("no ship of zanzibar is foo_bar today", limit=3)

    assert found
    assert not any("message" in result.signals for result in found)
    assert missing_note("foo_bar of old_ship", found, library.index)
    assert not missing_note("foo_bar of old_ship", [], library.index)


def test_values_that_are_rarer_than_the_words_do_not_hide_what_prints_a_message(library: Library) -> None:
    for word in ("quay", "free", "not", "of"):
        library.put(f"{word}.md", *(f"{word} {number}" for number in range(600)))

    assert library.search("quay foo_bar of 'zanzibar foo_bar' is not free")[0].chunk.span.path == "harbour.py"
