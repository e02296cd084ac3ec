from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.index.bm25 import inverse_frequency
from openbook.questions.definitions import AskedTerm
from openbook.questions.question import read_question
from openbook.retrieval.signals import (
    comment_signals,
    coverage,
    heading_match,
    question_signals,
    rarities,
    scaled,
    setting_strength,
    term_signals,
    text_signals,
)
from openbook.types import Kind
from tests.unit.retrieval.material import chunk_of, outline_of

WORDS = st.sampled_from([f"w{n}" for n in range(12)])
RARITY = st.dictionaries(WORDS, st.floats(0.001, 9))


@pytest.mark.slow
@given(st.lists(st.floats(-10, 100), max_size=8), st.floats(-10, 10))
def test_scaled_scores_lie_between_0_and_1_and_keep_their_order(scores: list[float], floor: float) -> None:
    result = scaled(scores, floor=floor)

    assert len(result) == len(scores)
    assert all(0 <= value <= 1 for value in result)
    assert [b for _, b in sorted(zip(scores, result, strict=True))] == sorted(result)


def test_the_floor_and_what_is_below_it_become_0_and_the_best_1() -> None:
    assert scaled([0.5, 0.75, 1.0, 0.25], floor=0.5) == [0.0, 0.5, 1.0, 0.0]


@pytest.mark.parametrize("scores", [[], [0.0, 0.0], [-1.0]], ids=["none", "zeros", "negative"])
def test_without_a_score_above_the_floor_all_are_0(scores: list[float]) -> None:
    assert scaled(scores) == [0.0] * len(scores)


@pytest.mark.slow
@given(RARITY, st.frozensets(WORDS), WORDS)
def test_coverage_lies_between_0_and_1_and_another_word_never_lowers_it(
    rarity: dict[str, float], words: frozenset[str], another: str
) -> None:
    assert 0 <= coverage(words, rarity) <= coverage(words | {another}, rarity) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("words", "covered"),
    [(frozenset({"a", "b", "c"}), 1.0), (frozenset({"c"}), 0.0), (frozenset(), 0.0)],
    ids=["all", "others", "none"],
)
def test_coverage_is_1_with_all_words_and_0_without_any(words: frozenset[str], covered: float) -> None:
    assert coverage(words, {"a": 0.5, "b": 2.0}) == covered


def test_a_rare_word_covers_more_than_a_common_one() -> None:
    rarity = rarities(read_question("zebra horse"), {"zebra": 1, "hors": 90}, 100)

    assert coverage({"zebra"}, rarity) > coverage({"hors"}, rarity) > 0


def test_a_question_without_tokens_covers_nothing() -> None:
    assert coverage({"a"}, {}) == 0


def test_each_word_of_a_question_weighs_what_its_frequency_says_in_the_order_of_the_question() -> None:
    rarity = rarities(read_question("retry zebra policy"), {"polici": 30, "retri": 3}, 200)

    assert list(rarity) == ["retri", "zebra", "polici"]
    assert list(rarity.values()) == [inverse_frequency(frequency, 200) for frequency in (3, 0, 30)]


def under(heading: str, kind: Kind = "docs") -> float:
    """Return how a heading matches a question for the waiting time of retries."""
    return heading_match(
        {"retri": 2.0, "wait": 1.0, "time": 1.0}, outline_of("a.md", kind=kind, context=("All", heading))
    )


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        pytest.param("Retries", "Waiting", id="rarer-word"),
        pytest.param("Waiting time of retries", "Retries", id="more-words"),
        pytest.param("Retries", "Retries and sessions", id="fewer-others"),
    ],
)
def test_a_heading_matches_as_far_as_it_says_what_was_asked_and_little_else(stronger: str, weaker: str) -> None:
    assert under(stronger) > under(weaker) > 0


def test_a_heading_that_says_just_the_question_matches_fully_and_another_not_at_all() -> None:
    assert under("Retry wait times") == pytest.approx(1)
    assert under("Sessions") == under("") == 0


def test_what_code_stands_in_is_no_heading() -> None:
    assert under("Retries", "code") == 0


def test_signals_of_several_intents_are_added_in_one_order() -> None:
    query = read_question("How do I find where the ropes are, and what uses them?")

    (signals,) = question_signals(query, [{"lexical": 1.0, "dense": 1.0}], [outline_of("docs/harbour.md", kind="docs")])

    found = [name.rpartition(":")[2] for name in signals if name.startswith("role:documentation:")]
    found.remove("predicted")
    assert len(query.intents) == len(found) == 3
    assert found == sorted(found)  # of a set, the sum of their floats would change with the hash seed


def test_only_documentation_gains_by_what_is_predicted_to_answer() -> None:
    query = read_question("How do I renew my session?")
    outlines = [outline_of("docs/harbour.md", kind="docs"), outline_of("harbour.py"), outline_of("tests/test_a.py")]

    found = question_signals(query, [{"lexical": 1.0, "dense": 1.0}] * 3, outlines)

    predicted = [signals.get("role:documentation:predicted", 0.0) for signals in found]
    assert predicted == [query.documentation_odds, 0.0, 0.0]
    assert predicted[0] > 0


def test_a_term_is_defined_by_a_sentence_a_heading_or_what_has_its_name() -> None:
    term = AskedTerm(("tide", "table"))
    chunks = [
        chunk_of("A tide table is a list."),
        chunk_of("## Tide tables\n\nThey are printed."),
        chunk_of("class TideTable:", "a.py", kind="code", symbol="harbour.TideTable"),
        chunk_of("class Tide:\nclass TideTable:", "a.py", kind="code", symbol="Tide", defines=("Tide", "TideTable")),
        chunk_of("# Tide tables\nprint(tides)", "a.py", kind="code"),
        chunk_of("Tide tables are printed."),
    ]

    found = [[name for name, value in term_signals(term, chunk).items() if value] for chunk in chunks]

    assert found == [["defining"], ["defining:heading"], ["defining:symbol"], ["defining:symbol"], [], []]


def test_an_entry_of_a_definition_list_says_what_a_setting_of_its_page_is() -> None:
    manual = chunk_of("max_load tonnes\f\nTonnes.", "crane.1", language="man", defines=("max_load",))

    asked = ("What does max_load do?", "What does crane.max_load do?", "What does gate.max_load do?")
    found = [setting_strength(read_question(each).settings, manual) for each in asked]

    assert found == [1.0, 1.0, 0.0]


def test_an_option_on_the_command_line_is_the_setting_of_that_name() -> None:
    manual = chunk_of("--max-load n  Tonnes.", "options.rst", kind="docs", defines=("--max-load",))

    asked = ("What is the default of max-load?", "What is the default of min-load?")

    assert [setting_strength(read_question(each).settings, manual) for each in asked] == [1.0, 0.0]


def test_a_module_of_tests_has_the_role_of_tests() -> None:
    query = read_question("How are ships moored?")
    outlines = [outline_of("moor.rs", symbol=symbol) for symbol in ("tests.moors", "Ship.tests")]

    found = question_signals(query, [{"lexical": 1.0, "dense": 1.0}] * 2, outlines)

    assert [[name for name in each if name.startswith("role")] for each in found] == [["role:test"], ["role:source"]]


def test_what_a_changelog_or_a_test_says_is_no_description_of_a_setting() -> None:
    asked = read_question("What does max_load do?").settings
    text = "- `max_load`: now in tonnes instead of pounds."

    strengths = [setting_strength(asked, chunk_of(text, path)) for path in ("docs/crane.md", "CHANGELOG.md")]

    assert strengths == [1.0, 0.0]


def test_what_asks_for_documentation_adds_a_quarter_to_code_that_is_half_a_comment() -> None:
    chunk = chunk_of("/// Moors it\nmoor(ship); ", "src/ship.rs", kind="code")

    found = text_signals(read_question("How do I moor?"), chunk, 0.0, 0.0, is_prose=False)

    assert found["role:documentation:how-to"] == 0.25


def test_settings_count_as_documentation_by_the_share_of_their_comments() -> None:
    chunk = chunk_of("# Moor here.\nrope-is = 15\n", "app.ini", kind="config")

    assert comment_signals(read_question("How do I moor?"), chunk) == {
        "role:documentation": 0.5,
        "role:configuration": -0.5,
        "role:documentation:how-to": 0.5,
        "role:documentation:predicted": 0.5 * read_question("How do I moor?").documentation_odds,
    }
