from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.retrieval import ranking
from openbook.retrieval.names import read_query
from openbook.retrieval.ranking import (
    Candidate,
    coverage,
    definition_strengths,
    dense_weight,
    inverse_frequency,
    path_match,
    prior,
    relevance,
    scaled,
    signals_of,
)
from openbook.types import Chunk
from tests.unit.retrieval.material import chunk_of

WORDS = st.sampled_from([f"w{n}" for n in range(12)])


def definition(name: str, path: str = "a.py", *, symbol: str | None = None) -> Chunk:
    return chunk_of(f"def {name}(): ...", path, kind="code", defines=(name,), symbol=name if symbol is None else symbol)


def strength(question: str, *chunks: Chunk) -> list[float]:
    return definition_strengths(read_query(question), chunks)


def test_meaning_weighs_less_the_more_words_a_question_has_in_equal_steps_between_two_lengths() -> None:
    weights = [dense_weight(read_query(" ".join(f"word{chr(97 + n)}" for n in range(size)))) for size in range(2, 25)]

    assert [weights[0], weights[-1]] == pytest.approx([ranking._DENSE_WEIGHT_SHORT, ranking._DENSE_WEIGHT_LONG])
    steps = [a - b for a, b in pairwise(weights) if a != b]
    assert len(steps) == ranking._LONG_WORDS - ranking._SHORT_WORDS
    assert steps == pytest.approx([(weights[0] - weights[-1]) / len(steps)] * len(steps))


def test_a_symbol_has_a_weight_of_meaning_of_its_own() -> None:
    assert dense_weight(read_query("RetryPolicy")) == ranking._DENSE_WEIGHT_SYMBOL


def test_meaning_weighs_little_where_a_question_spells_code() -> None:
    assert dense_weight(read_query("retry in send_all")) < dense_weight(read_query("retry in sending"))


def test_meaning_weighs_less_for_a_symbol_than_for_a_topic() -> None:
    assert dense_weight(read_query("RetryPolicy")) < dense_weight(read_query("retry policy"))


@given(st.lists(WORDS, min_size=1, max_size=20))
def test_the_weight_of_meaning_is_a_share(words: list[str]) -> None:
    assert 0 < dense_weight(read_query(" ".join(words))) < 1


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
    mention = chunk_of("send()", "b.py", kind="code")

    found, not_found, other = strength("send", definition("send"), mention, definition("sender"))

    assert found > 0
    assert not_found == other == 0


def test_a_question_without_names_asks_for_no_definition() -> None:
    assert strength("how do retries end", definition("retries"), definition("end")) == [0.0, 0.0]


def test_a_definition_in_another_case_is_weaker() -> None:
    exact, other = strength("Client", definition("Client"), definition("client"))

    assert exact > other > 0


def test_a_definition_inside_another_one_is_weaker() -> None:
    outer, inner = strength("Client", definition("Client"), definition("Client", symbol="Session"))

    assert outer > inner > 0


def test_a_definition_in_a_file_of_that_name_is_stronger() -> None:
    named, elsewhere = strength("Client", definition("Client", "net/client.py"), definition("Client", "net/all.py"))

    assert named > elsewhere


def test_the_folder_names_a_module_file() -> None:
    named, elsewhere = strength("client", definition("client", "client/__init__.py"), definition("client", "a/b.py"))

    assert named > elsewhere


def test_a_name_that_is_defined_everywhere_identifies_nothing() -> None:
    (alone,) = strength("Client", definition("Client"))
    (one_of_many, *_) = strength("Client", *[definition("Client", f"{n}.py") for n in range(50)])

    assert 0 < one_of_many < alone


def test_a_few_definitions_of_one_name_do_not_weaken_each_other() -> None:
    (alone,) = strength("Client", definition("Client"))

    assert strength("Client", *[definition("Client", f"{n}.py") for n in range(3)]) == [alone] * 3


def test_a_definition_counts_most_for_a_symbol_and_least_inside_a_sentence() -> None:
    (symbol,) = strength("send_all", definition("send_all"))
    (word,) = strength("send", definition("send"))
    (sentence,) = strength("why does send_all block", definition("send_all"))

    assert symbol > word > sentence > 0


def test_each_name_of_a_question_adds_to_what_defines_it() -> None:
    both = chunk_of("...", kind="code", defines=("open_file", "close_file"), symbol="open_file")

    (one,) = strength("is open_file safe", both)
    (two,) = strength("is open_file before close_file", both)

    assert two > one


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        pytest.param("http/retry.py", "http/send.py", id="file"),
        pytest.param("http/retry.py", "retry/send.py", id="file-before-folder"),
        pytest.param("retry/send.py", "http/send.py", id="folder"),
        pytest.param("retry/a/b/send.py", "retry/a/b/c/send.py", id="last-three-folders"),
        pytest.param("retry/__init__.py", "http/__init__.py", id="module-file"),
        pytest.param("retry/mod.rs", "retry/all.rs", id="module-file-is-its-folder"),
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


@given(st.lists(WORDS, unique=True), st.frozensets(WORDS), st.dictionaries(WORDS, st.integers(0, 50)))
def test_coverage_lies_between_0_and_1(tokens: list[str], words: frozenset[str], counts: dict[str, int]) -> None:
    assert 0 <= coverage(tokens, words, counts, 50) <= 1


@given(st.lists(WORDS, unique=True), st.frozensets(WORDS), WORDS, st.dictionaries(WORDS, st.integers(0, 50)))
def test_another_word_never_lowers_coverage(
    tokens: list[str], words: frozenset[str], another: str, counts: dict[str, int]
) -> None:
    assert coverage(tokens, words | {another}, counts, 50) >= coverage(tokens, words, counts, 50)


@pytest.mark.parametrize(
    ("words", "covered"),
    [(frozenset({"a", "b", "c"}), 1.0), (frozenset({"c"}), 0.0), (frozenset(), 0.0)],
    ids=["all", "others", "none"],
)
def test_coverage_is_1_with_all_words_and_0_without_any(words: frozenset[str], covered: float) -> None:
    assert coverage(["a", "b"], words, {"a": 3}, 10) == covered


def test_a_rare_word_covers_more_than_a_common_one() -> None:
    counts = {"rare": 1, "common": 9}

    rare = coverage(["rare", "common"], frozenset({"rare"}), counts, 10)
    common = coverage(["rare", "common"], frozenset({"common"}), counts, 10)

    assert rare > common > 0


def test_a_question_without_tokens_covers_nothing() -> None:
    assert coverage([], frozenset({"a"}), {}, 10) == 0


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_an_inverse_frequency_is_never_negative(a: int, b: int) -> None:
    assert inverse_frequency(min(a, b), max(a, b)) >= 0


@pytest.mark.parametrize(
    ("frequency", "chunks", "odds"),
    [(3, 200, 402 / 7), (0, 0, 202), (200, 200, 402 / 401)],
    ids=["some", "none", "all"],
)
def test_an_inverse_frequency_is_the_one_of_bm25(frequency: int, chunks: int, odds: float) -> None:
    assert inverse_frequency(frequency, chunks) == pytest.approx(math.log(odds))


@given(st.integers(0, 9_999))
def test_an_inverse_frequency_falls_with_the_frequency(frequency: int) -> None:
    assert inverse_frequency(frequency, 10_000) > inverse_frequency(frequency + 1, 10_000)


def rows(question: str, *candidates: Candidate) -> list[dict[str, float]]:
    return signals_of(read_query(question), candidates)


def candidate(path: str = "a.py", *, bm25: float = 0.0, cosine: float = 0.0) -> Candidate:
    return Candidate(chunk_of("x y z", path, kind="code"), frozenset("xyz"), bm25, cosine)


def test_each_leg_adds_to_what_it_found() -> None:
    words, meaning, neither = rows(
        "retry policy", candidate(bm25=2.0, cosine=0.1), candidate(cosine=0.9), candidate("b.py")
    )

    assert words.keys() == {"lexical"}
    assert meaning.keys() == {"dense"}
    assert neither == {}


def test_the_legs_share_what_they_add_between_them() -> None:
    query = read_query("RetryPolicy")

    best, _ = signals_of(query, [candidate(bm25=9.0, cosine=0.9), candidate(cosine=0.1)])

    assert best["dense"] == pytest.approx(dense_weight(query))
    assert best["lexical"] + best["dense"] == pytest.approx(1.0)


def test_what_the_dense_leg_did_not_find_does_not_lower_its_floor() -> None:
    _, weakest, _ = rows("retry policy", candidate(cosine=0.9), candidate(cosine=0.5), candidate(bm25=1.0))

    assert "dense" not in weakest


def test_the_path_and_the_definition_add_to_the_score() -> None:
    named = Candidate(definition("retry", "retry.py"), frozenset())

    (signals,) = rows("retry", named)

    assert signals == {"definition": strength("retry", named.chunk)[0], "path": ranking._PATH_WEIGHT}


def test_a_test_loses_a_share_of_all_its_other_signals() -> None:
    source, test = rows("retry policy", candidate("retry.py", bm25=2.0), candidate("tests/retry.py", bm25=2.0))

    gained = sum(value for value in test.values() if value > 0)
    assert gained == pytest.approx(sum(source.values()))
    assert test["role"] == pytest.approx((prior(read_query("retry policy"), "tests/retry.py") - 1) * gained)


@given(
    st.lists(
        st.builds(
            candidate,
            st.sampled_from(["a.py", "w1.py", "tests/w2.py", "CHANGELOG.md"]),
            bm25=st.floats(0, 30),
            cosine=st.floats(-1, 1),
        ),
        max_size=6,
    )
)
def test_signals_leave_out_what_adds_nothing_and_never_sum_below_0(candidates: list[Candidate]) -> None:
    found = rows("w1 w2", *candidates)

    assert len(found) == len(candidates)
    for signals in found:
        assert all(signals.values())
        assert sum(signals.values()) >= -1e-9


def test_words_and_meaning_share_relevance_between_them() -> None:
    def relevance_of(words: str, cosine: float) -> float:
        candidate = Candidate(chunk_of("x"), frozenset(words.split()), cosine=cosine)
        return relevance(read_query("retry policy"), candidate, {"retri": 3, "polici": 3}, 10)

    words, meaning, both = relevance_of("retri polici", 0.0), relevance_of("", 1.0), relevance_of("retri polici", 1.0)

    assert min(words, meaning) > 0
    assert both == pytest.approx(words + meaning) == pytest.approx(1.0)
    assert relevance_of("retri", 0.5) == pytest.approx(both / 2)
    assert relevance_of("retri", -0.5) == relevance_of("retri", 0.0)


def test_a_word_that_is_absent_from_a_tiny_library_does_not_outweigh_those_that_are_there() -> None:
    present, absent = inverse_frequency(1, 2), inverse_frequency(0, 2)

    assert absent < 1.5 * present
