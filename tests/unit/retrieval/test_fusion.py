"""One ranked list from those of several searches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.retrieval.fusion import fuse, fuse_keeping_best
from openbook.types import RetrievalResult
from tests.unit.retrieval.material import chunk_of, result_of


def found(*names: str) -> list[RetrievalResult]:
    return [result_of(chunk_of(f"text of {name}", f"{name}.md"), score=9.0) for name in names]


def names(results: list[RetrievalResult]) -> list[str]:
    return [result.chunk.span.path.removesuffix(".md") for result in results]


def test_without_other_searches_the_order_stays() -> None:
    assert names(fuse(found("b", "a", "c"), [])) == ["b", "a", "c"]


def test_what_several_searches_find_comes_before_what_one_finds() -> None:
    fused = fuse(found("a", "b", "c"), [found("d", "c"), found("c", "e"), found("c", "f")])

    assert names(fused)[0] == "c"
    assert len(fused) == 3, "as many as the longest search has"


def test_all_other_searches_together_weigh_as_much_as_the_first() -> None:
    best, second = fuse(found("b", "x"), [found("a", "y")] * 3)

    assert {*names([best, second])} == {"a", "b"}
    assert best.score == pytest.approx(second.score) == pytest.approx(1 / 11)


def test_what_the_searches_of_an_agent_agree_on_comes_before_what_its_question_finds() -> None:
    agreed = fuse_keeping_best([found("a", "x"), found("b", "y"), found("b", "z")], 9)
    not_agreed = fuse_keeping_best([found("a", "x"), found("b", "y"), found("c", "z")], 9)

    assert names(agreed)[:2] == ["b", "a"]
    assert names(not_agreed)[0] == "a"


def test_a_score_is_the_sum_of_its_signals() -> None:
    (both,) = fuse(found("a"), [found("a"), []])

    assert both.signals == pytest.approx({"rank": 1 / 11, "expansion": 0.5 / 11})
    assert both.score == pytest.approx(sum(both.signals.values()))


def test_copies_of_one_text_are_one_result() -> None:
    one, other = (result_of(chunk_of("the same line", path)) for path in ("a.md", "vendor/a.md"))

    assert [result.chunk.span.path for result in fuse([one], [[other]])] == ["a.md"]


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), min_size=1, max_size=4))
def test_the_order_is_total(searches: list[list[str]]) -> None:
    first, *others = (found(*each) for each in searches)

    fused = fuse(first, others)

    keys = [(-each.score, each.chunk.source, each.chunk.span) for each in fused]
    assert keys == sorted(set(keys))
