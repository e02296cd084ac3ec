"""Orders of chunks: what several signals make of them together."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.index.protocol import Evidence, Matches, Outline
from openbook.questions.question import read_question
from openbook.retrieval import weights
from openbook.retrieval.ranking import RankedChunk, rank, rerank_files, rerank_passages
from openbook.types import Kind, View
from tests.unit.retrieval.material import outline_of

TOPIC = "retry policy"
LONG = "why does alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike end?"
VIEWS: tuple[View, ...] = ("files", "passages")


@dataclass(frozen=True)
class Found:
    """A chunk, and what the index says of it."""

    outline: Outline
    bm25: float = 1.0
    file: float = 1.0
    cosine: float = 0.0
    matched: int = 1


def found(
    path: str = "a.py",
    start: int = 0,
    *,
    bm25: float = 1.0,
    file: float = 1.0,
    cosine: float = 0.0,
    matched: int = 1,
    kind: Kind = "code",
    source: str = "src",
) -> Found:
    return Found(outline_of(path, start, kind=kind, source=source), bm25, file, cosine, matched)


def ranked(
    candidates: Sequence[Found],
    view: View = "files",
    question: str = TOPIC,
    frequencies: Mapping[str, int] | None = None,
) -> list[RankedChunk]:
    query = read_question(question)
    evidence = [
        Evidence(number, each.bm25, each.file, each.cosine, each.matched) for number, each in enumerate(candidates)
    ]
    counts = frequencies or dict.fromkeys(query.tokens, 1)
    matches = Matches(tuple(evidence), query.tokens, counts, 1000, 0.0)
    return rank(query, view, matches, [each.outline for each in candidates])


def places(found: Sequence[RankedChunk]) -> list[tuple[str, int]]:
    return [(each.outline.span.path, each.outline.span.start_char) for each in found]


def paths(found: Sequence[RankedChunk]) -> list[str]:
    return [each.outline.span.path for each in found]


PATHS = ["a.py", "tests/a.py", "retry.py", "lib/v1/a.py", "lib/v2/a.py", "pkg/__init__.py", "docs/a.md", "CHANGELOG.md"]
CANDIDATES = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(PATHS), st.integers(0, 5)), unique=True, max_size=12
).flatmap(
    lambda keys: st.tuples(
        *(
            st.builds(
                found,
                st.just(path),
                st.just(10 * start),
                bm25=st.floats(0, 30),
                file=st.just(float(len(path))),
                cosine=st.floats(-1, 1),
                matched=st.integers(0, 3),
                kind=st.just("docs" if path.endswith(".md") else "code"),
                source=st.just(source),
            )
            for source, path, start in keys
        )
    )
)


@pytest.mark.slow
@given(CANDIDATES, st.sampled_from(VIEWS), st.sampled_from([TOPIC, LONG, "retry_policy", "tests of v1"]), st.randoms())
def test_the_order_is_total_and_does_not_depend_on_that_of_the_candidates(
    candidates: tuple[Found, ...], view: View, question: str, rng: random.Random
) -> None:
    result = ranked(candidates, view, question)
    shuffled = rng.sample(candidates, len(candidates))

    order = [(-each.score, each.outline.source, each.outline.span) for each in result]
    assert order == sorted(order)
    assert len(set(order)) == len(order)
    assert ranked(shuffled, view, question) == result


@pytest.mark.slow
@given(CANDIDATES, st.sampled_from(VIEWS), st.sampled_from([TOPIC, LONG]))
def test_signals_sum_to_the_score_which_is_never_below_0_and_leave_out_what_adds_nothing(
    candidates: tuple[Found, ...], view: View, question: str
) -> None:
    for each in ranked(candidates, view, question):
        assert each.score == sum(each.signals.values())
        assert each.score >= -1e-9
        assert all(each.signals.values())


@pytest.mark.slow
@given(CANDIDATES)
def test_files_gives_each_file_once_and_passages_every_chunk(candidates: tuple[Found, ...]) -> None:
    files, passages = (ranked(candidates, view) for view in VIEWS)

    keys = [(each.outline.source, each.outline.span.path) for each in files]
    assert len(set(keys)) == len(keys)
    assert set(keys) == {(each.outline.source, each.outline.span.path) for each in candidates}
    assert {each.outline for each in passages} == {each.outline for each in candidates}
    assert len(passages) == len(candidates)


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_found_is_nothing_ranked(view: View) -> None:
    assert ranked([], view) == []


@pytest.mark.parametrize("view", VIEWS)
def test_equals_are_ordered_by_source_then_by_span(view: View) -> None:
    candidates = [found("b.py", source="a"), found("a.py", source="b"), found("a.py", source="a")]

    result = ranked(candidates, view)

    assert [(each.outline.source, each.outline.span.path) for each in result] == [
        ("a", "a.py"),
        ("a", "b.py"),
        ("b", "a.py"),
    ]


def test_a_file_is_shown_by_its_best_chunk_and_by_its_first_among_equals() -> None:
    assert places(ranked([found(start=0), found(start=10, bm25=3.0), found(start=20)])) == [("a.py", 10)]
    assert places(ranked([found(start=20), found(start=10)])) == [("a.py", 10)]


def test_files_of_the_same_path_in_two_sources_are_two_files() -> None:
    assert len(ranked([found(source="one"), found(source="two")])) == 2


@pytest.mark.parametrize("view", VIEWS)
def test_each_signal_alone_puts_the_better_file_first(view: View) -> None:
    worse = found("b.py", bm25=1.0, file=1.0, cosine=0.1, matched=1)
    for better in (
        found("c.py", bm25=2.0, file=1.0, cosine=0.1),
        found("c.py", bm25=1.0, file=2.0, cosine=0.1),
        found("c.py", bm25=1.0, file=1.0, cosine=0.2),
        found("retry.py", bm25=1.0, file=1.0, cosine=0.1),
    ):
        assert paths(ranked([worse, better], view))[0] == better.outline.span.path


def test_what_is_no_nearer_than_most_gains_nothing_from_meaning() -> None:
    query = read_question(TOPIC)
    evidence = (Evidence(0, 0.0, 0.0, 0.9, 0), Evidence(1, 0.0, 0.0, 0.3, 0), Evidence(2, 0.0, 0.0, 0.2, 0))
    matches = Matches(evidence, (), {}, 100, 0.3)

    near, middle, far = rank(query, "passages", matches, [outline_of(path) for path in ("a.py", "b.py", "c.py")])

    assert "dense" in near.signals
    assert middle.signals == far.signals == {"role": middle.signals["role"]}


def test_words_are_those_that_the_index_says_are_held() -> None:
    candidates = [found("b.py", matched=0b10), found("a.py", matched=0b11)]

    one, both = ranked(candidates, "passages", frequencies={"retri": 2})[::-1]

    assert 0 < one.signals["coverage"] < both.signals["coverage"] == pytest.approx(weights.QUESTION["coverage"])


def test_a_definition_comes_before_what_speaks_most_of_its_name() -> None:
    mention = found("b.py", bm25=9.0, file=9.0)
    defining = replace(found(bm25=1.0), outline=outline_of(symbol="send_all", defines=("send_all",)))

    first, _ = ranked([mention, defining], question="send_all")

    assert first.outline == defining.outline
    assert first.signals["definition"] == max(first.signals.values())


def test_a_definition_counts_more_where_its_parameters_are_asked_for() -> None:
    defining = replace(found(), outline=outline_of(symbol="send_all", defines=("send_all",)))

    asked, other = (
        ranked([defining], "passages", question)[0].signals["definition"]
        for question in ("Which arguments does send_all take?", "Does send_all end?")
    )

    assert asked > other


def test_three_good_chunks_beat_a_single_one() -> None:
    many = [found("many.py", start, bm25=9.0) for start in (0, 10, 20)]
    one = [found("a.py", 0, bm25=9.0), found("a.py", 10, bm25=1.0), found("a.py", 20, bm25=1.0)]

    assert paths(ranked([*many, *one])) == ["many.py", "a.py"]


def test_a_fourth_chunk_neither_helps_nor_harms_its_file() -> None:
    three = [found("a.py", start) for start in (0, 10, 20)]

    (without,) = ranked(three)
    (with_one,) = ranked([*three, found("a.py", 30, bm25=0.5)])

    assert without == with_one


def test_a_passage_gains_from_its_file() -> None:
    lonely = found("a.py", bm25=5.0)
    candidates = [lonely, found("b.py", 0, bm25=5.0, file=4.0), found("b.py", 10, bm25=4.0, file=4.0)]

    assert places(ranked(candidates, "passages"))[0] == ("b.py", 0)


@pytest.mark.parametrize("view", VIEWS)
def test_what_is_no_source_gives_way_to_a_source(view: View) -> None:
    candidates = [found("tests/a.py", bm25=1.2), found("z.py"), found("examples/a.py", bm25=1.2)]

    first, *others = ranked(candidates, view)

    assert first.outline.span.path == "z.py"
    assert all(each.signals.get("role", 0.0) < first.signals["role"] for each in others)


def test_a_page_that_fits_better_comes_before_a_source() -> None:
    assert places(ranked([found("z.py"), found("docs/a.md", kind="docs", bm25=1.4)], "passages"))[0][0] == "docs/a.md"


def test_the_front_page_comes_before_one_that_fits_as_well() -> None:
    pages = [found(path, kind="docs") for path in ("guide/a.md", "README.md")]

    assert places(ranked(pages, "passages"))[0][0] == "README.md"


def test_a_test_that_is_asked_for_keeps_its_place() -> None:
    candidates = [found("tests/a.py", bm25=1.2), found("z.py")]

    assert paths(ranked(candidates, question="where is retry tested"))[0] == "tests/a.py"


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("where is a retry decided", "z.py"),
        ("where is the retry button shown", "app/a.tsx"),
        ("where is the retry tested", "tests/z.tsx"),
    ],
    ids=["decided", "shown", "tested"],
)
def test_what_is_shown_comes_after_what_decides_unless_it_is_asked_for(question: str, first: str) -> None:
    candidates = [found("app/a.tsx", bm25=1.2), found("z.py" if "tested" not in question else "tests/z.tsx")]

    assert paths(ranked(candidates, "passages", question))[0] == first


def test_passages_of_one_file_make_room_for_others_only_in_long_questions() -> None:
    candidates = [*(found("a.py", 10 * n, bm25=5.0, file=2.0) for n in range(4)), found("b.py", bm25=4.9, file=2.0)]

    short, long = (ranked(candidates, "passages", question) for question in ("retry policy?", LONG))

    assert paths(short) == ["a.py"] * 4 + ["b.py"]
    assert paths(long)[:2] == ["a.py", "b.py"]
    assert not any("spread" in each.signals for each in short)
    losses = [each.signals["spread"] for each in long if "spread" in each.signals]
    assert len(losses) == 3
    assert losses == sorted(losses, reverse=True)
    assert losses[0] < 0


def test_a_passage_makes_room_for_four_better_ones_of_its_file_at_most() -> None:
    candidates = [*(found("a.py", 10 * n, bm25=5.0, file=2.0) for n in range(7)), found("b.py", bm25=4.9, file=2.0)]

    losses = [each.signals.get("spread", 0.0) for each in ranked(candidates, "passages", LONG)]

    shares = sorted({round(loss, 6) for loss in losses})
    assert len(shares) == 5  # of no, one, two, three and four
    assert losses.count(min(losses)) == 3


def test_the_sections_of_a_page_answer_together_unless_code_lies_beside() -> None:
    pages = [
        *(found("a.md", 10 * n, bm25=5.0, file=2.0, kind="docs") for n in range(4)),
        found("b.md", bm25=4.9, file=2.0, kind="docs"),
    ]

    assert paths(ranked(pages, "passages", LONG)) == ["a.md"] * 4 + ["b.md"]
    assert paths(ranked([*pages, found("c.py", bm25=0.1)], "passages", LONG))[:2] == ["a.md", "b.md"]


def test_a_section_gains_from_a_heading_that_says_what_was_asked() -> None:
    pages = [found("a.md", bm25=1.1, kind="docs"), found("b.md", kind="docs")]
    headed = [pages[0], replace(pages[1], outline=outline_of("b.md", kind="docs", context=("Guide", "Retry policies")))]

    assert paths(ranked(pages, "passages")) == ["a.md", "b.md"]
    assert paths(ranked(headed, "passages")) == ["b.md", "a.md"]
    assert paths(ranked(headed, "files")) == ["b.md", "a.md"]


def test_files_are_never_spread() -> None:
    assert not any("spread" in each.signals for each in ranked([found("a.py"), found("b.py")], "files", LONG))


def test_a_passage_that_holds_the_words_close_together_moves_up() -> None:
    first, second = ranked([found("a.py"), found("b.py")], "passages")

    moved = rerank_passages([first, second], [{}, {"proximity": 0.25, "sentence": 0.25}])

    assert [each.outline for each in moved] == [second.outline, first.outline]
    assert moved[0].score == sum(moved[0].signals.values()) > second.score
    assert moved[1] == first


def test_no_passage_is_none_reordered() -> None:
    assert rerank_passages([], []) == []


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How do I retry my job?", "guide.md"),
        ("Where is a job retried?", "job.py"),
        ("Wie kann ich meinen Job wiederholen?", "guide.md"),
    ],
)
def test_a_guide_answers_how_to_and_code_answers_where(question: str, first: str) -> None:
    candidates = [found("job.py"), found("guide.md", kind="docs")]

    assert paths(ranked(candidates, "passages", question))[0] == first


def test_every_kind_can_be_ranked() -> None:
    candidates = [found(f"{kind}.x", kind=kind) for kind in get_args(Kind)]

    assert len(ranked(candidates)) == len(candidates)


def test_of_equal_files_the_one_whose_path_is_nearer_to_the_topic_comes_first() -> None:
    first = ranked([found("a.py"), found("b.py")])

    again = rerank_files(first, [0.1, 0.6])

    assert paths(first) == ["a.py", "b.py"]
    assert paths(again) == ["b.py", "a.py"]
    assert again[0].signals["place"] == pytest.approx(6 * again[1].signals["place"])


def test_a_path_that_is_far_from_the_topic_takes_nothing_from_a_file() -> None:
    first = ranked([found("a.py")])

    assert rerank_files(first, [-0.4]) == first
