from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.index.bm25 import inverse_frequency
from openbook.index.protocol import Outline
from openbook.retrieval.names import read_query
from openbook.retrieval.ranking import (
    coverage,
    definition_strengths,
    dense_weight,
    heading_match,
    path_match,
    rarities,
    relevance,
    scaled,
)
from openbook.types import Kind, View
from tests.unit.retrieval.material import outline_of

WORDS = st.sampled_from([f"w{n}" for n in range(12)])
RARITY = st.dictionaries(WORDS, st.floats(0.001, 9))


def definition(
    name: str, path: str = "a.py", *, symbol: str | None = None, defines: Sequence[str] = (), signature: str = ""
) -> Outline:
    return outline_of(
        path,
        symbol=name if symbol is None else symbol,
        defines=tuple(defines) or (name,),
        signature=signature or f"def {name}()",
    )


def strength(question: str, *outlines: Outline) -> list[float]:
    return definition_strengths(read_query(question), outlines)


def alone(question: str, *outlines: Outline) -> list[float]:
    """Give the strength of each as if the others were not there."""
    return [strength(question, outline)[0] for outline in outlines]


def weight(question: str, view: View = "passages") -> float:
    return dense_weight(read_query(question), view)


def test_among_passages_meaning_weighs_less_the_more_words_a_question_has() -> None:
    weights = [weight(" ".join(["the", *(f"word{chr(97 + n)}" for n in range(size))])) for size in range(2, 25)]

    assert weights == sorted(weights, reverse=True)
    steps = [a - b for a, b in pairwise(weights) if a != b]
    assert len(steps) > 1
    assert steps == pytest.approx([steps[0]] * len(steps))


def test_meaning_weighs_less_in_a_language_that_the_model_has_not_read() -> None:
    english, german = "the normannic castle was named what?", "welchen Namen trug die normannische Burg?"

    assert weight(german) < weight(english)
    assert weight(german, "files") == weight(english, "files")


def test_among_files_meaning_weighs_the_same_for_topics_of_any_length() -> None:
    assert weight("retry policy", "files") == weight("retry policy of one two three four five six seven", "files")


@pytest.mark.parametrize("view", ["files", "passages"])
def test_meaning_weighs_less_where_a_question_spells_code(view: View) -> None:
    assert weight("retry in send_all", view) < weight("retry in sending", view)
    assert weight("RetryPolicy", view) < weight("retry policy", view)


@given(st.lists(WORDS, min_size=1, max_size=20), st.sampled_from(["files", "passages"]))
def test_the_weight_of_meaning_is_a_share(words: list[str], view: View) -> None:
    assert 0 < weight(" ".join(words), view) < 1


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


def test_only_what_defines_the_name_asked_for_is_a_definition() -> None:
    found, mention, other = strength("send", definition("send"), outline_of("b.py"), definition("sender"))

    assert found > 0
    assert mention == other == 0


def test_a_question_without_names_asks_for_no_definition() -> None:
    assert strength("how do retries end", definition("retries"), definition("end")) == [0.0, 0.0]


def test_where_nothing_was_found_nothing_is_defined() -> None:
    assert strength("Client") == []


CLIENT = definition("Client", signature="class Client:")


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        pytest.param(CLIENT, definition("Client", signature="function Client()"), id="type-over-function"),
        pytest.param(
            definition("Client"), definition("Client", symbol="Session", defines=("Session", "Client")), id="inner"
        ),
        pytest.param(
            definition("Client", symbol="Session", signature="class Session:"),
            definition("Client", signature="impl Client {"),
            id="inner-over-impl",
        ),
        pytest.param(CLIENT, definition("Client", signature="extension Client: Sendable {"), id="extension"),
        pytest.param(CLIENT, CLIENT._replace(kind="docs", signature=""), id="code-over-heading"),
        pytest.param(CLIENT, definition("client", signature="class client:"), id="other-case"),
        pytest.param(definition("Client", "net/client.py"), definition("Client", "net/all.py"), id="file-named-so"),
        pytest.param(
            definition("Client", "client/__init__.py"), definition("Client", "net/__init__.py"), id="folder-named-so"
        ),
    ],
)
def test_a_definition_is_stronger(stronger: Outline, weaker: Outline) -> None:
    by_themselves = alone("Client", stronger, weaker)
    together = strength("Client", stronger, weaker)

    assert by_themselves[0] > by_themselves[1] > 0
    # Beside a better one, a definition loses some more.
    assert together[0] == by_themselves[0]
    assert 0 < together[1] < by_themselves[1]


@pytest.mark.parametrize(
    "signature",
    ["struct Client {", "pub trait Client", "export default interface Client {", "type Client struct", "data Client ="],
)
def test_a_type_is_one_in_any_language(signature: str) -> None:
    assert alone("Client", definition("Client", signature=signature)) == alone("Client", CLIENT)


def test_a_function_whose_arguments_are_named_like_types_is_no_type() -> None:
    plain, named = alone(
        "send_all",
        definition("send_all", signature="def send_all(message)"),
        definition("send_all", signature="def send_all(data, type, object)"),
    )

    assert named == plain


def test_the_exact_name_counts_where_a_chunk_defines_it_in_two_cases() -> None:
    both = definition("Client", defines=("client", "Client"), signature="class Client:")

    assert alone("Client", both) == alone("Client", CLIENT)


def test_a_name_that_is_defined_everywhere_identifies_little_but_never_nothing() -> None:
    (one,) = strength("Client", CLIENT)
    few, many, crowd = (
        strength("Client", *[definition("Client", f"{n}.py", signature="class Client:") for n in range(size)])
        for size in (3, 20, 900)
    )

    assert few == [one] * 3
    assert one > many[0] > crowd[0] > 0


def test_a_crowd_of_weaker_definitions_does_not_weaken_the_strongest() -> None:
    crowd = [definition("Client", f"{n}.py", symbol="Other") for n in range(50)]

    assert strength("Client", CLIENT, *crowd)[0] == strength("Client", CLIENT)[0]


def test_a_definition_counts_most_for_a_symbol_and_least_inside_a_sentence() -> None:
    (symbol,) = strength("send_all", definition("send_all"))
    (word,) = strength("send", definition("send"))
    (sentence,) = strength("why does send_all block", definition("send_all"))

    assert symbol > word > sentence > 0


def test_each_name_of_a_question_adds_to_what_defines_it() -> None:
    both = definition("open_file", defines=("open_file", "close_file"))

    (one,) = strength("is open_file safe", both)
    (two,) = strength("is open_file before close_file", both)

    assert two > one


@given(st.permutations([CLIENT, definition("client"), definition("Client", "client.py"), outline_of("b.md")]))
def test_strengths_do_not_depend_on_the_order_of_chunks(outlines: list[Outline]) -> None:
    found = dict(zip(outlines, strength("Client", *outlines), strict=True))

    again = sorted(outlines, key=lambda outline: (outline.span, outline.defines))
    assert dict(zip(again, strength("Client", *again), strict=True)) == found


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        pytest.param("http/retry.py", "http/send.py", id="file"),
        pytest.param("http/retry.py", "retry/send.py", id="file-before-folder"),
        pytest.param("retry/send.py", "http/send.py", id="folder"),
        pytest.param("retry/a/b/send.py", "retry/a/b/c/send.py", id="last-three-folders"),
        pytest.param("retry/__init__.py", "http/__init__.py", id="module-file"),
        pytest.param("retry/mod.rs", "retry/all.rs", id="module-file-is-its-folder"),
        pytest.param("retry/main.go", "retry/all.go", id="main-file-is-its-folder"),
        pytest.param("retry/index.ts", "retry/all.ts", id="index-is-its-folder"),
        pytest.param("retry/transport.py", "retry/send.py", id="more-words"),
    ],
)
def test_a_path_matches_as_far_as_it_holds_words_of_the_question(stronger: str, weaker: str) -> None:
    query = read_query("retry transport")

    assert path_match(query, stronger) > path_match(query, weaker)


def test_a_word_that_begins_a_longer_one_matches_less_than_the_word_itself() -> None:
    query = read_query("cache")

    assert path_match(query, "cache.py") > path_match(query, "cachetools.py") > path_match(query, "tools.py")


def test_a_short_word_is_no_prefix_of_a_file_name() -> None:
    assert path_match(read_query("cat"), "category.py") == 0


def test_a_module_file_at_the_root_keeps_its_own_name() -> None:
    assert path_match(read_query("main"), "main.py") == 1


@given(st.lists(WORDS, min_size=1, max_size=5), st.lists(WORDS, min_size=1, max_size=5))
def test_the_match_of_a_path_lies_between_0_and_1(words: list[str], parts: list[str]) -> None:
    assert 0 <= path_match(read_query(" ".join(words)), "/".join(parts) + ".py") <= 1


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
    rarity = rarities(read_query("zebra horse"), {"zebra": 1, "hors": 90}, 100)

    assert coverage({"zebra"}, rarity) > coverage({"hors"}, rarity) > 0


def test_a_question_without_tokens_covers_nothing() -> None:
    assert coverage({"a"}, {}) == 0


def test_each_word_of_a_question_weighs_what_its_frequency_says_in_the_order_of_the_question() -> None:
    rarity = rarities(read_query("retry zebra policy"), {"polici": 30, "retri": 3}, 200)

    assert list(rarity) == ["retri", "zebra", "polici"]
    assert list(rarity.values()) == [inverse_frequency(frequency, 200) for frequency in (3, 0, 30)]


def test_words_and_meaning_share_relevance_between_them() -> None:
    words, meaning, both = relevance(1.0, 0.0), relevance(0.0, 1.0), relevance(1.0, 1.0)

    assert min(words, meaning) > 0
    assert both == pytest.approx(words + meaning) == pytest.approx(1.0)
    assert relevance(0.5, 0.5) == pytest.approx(both / 2)
    assert relevance(0.5, -0.5) == relevance(0.5, 0.0)


def under(heading: str, kind: Kind = "docs") -> float:
    """Give how a heading matches a question for the waiting time of retries."""
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
