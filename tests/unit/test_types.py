from __future__ import annotations

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, asdict, replace
from itertools import pairwise
from typing import Any

import pytest
from pydantic import TypeAdapter

from openbook.types import Block, Chunk, Course, Excerpt, Filter, Lesson, ResultRole, RetrievalResult, Span

SPAN = Span("a.py", 4, 8, 2, 2)
CHUNK = Chunk("s", SPAN, "text", "code", "python", symbol="f")


@pytest.mark.parametrize(
    "place",
    [
        pytest.param((-1, 4, 1, 1), id="before-the-start"),
        pytest.param((5, 4, 1, 1), id="characters-backwards"),
        pytest.param((0, 4, 0, 1), id="line-zero"),
        pytest.param((0, 4, 3, 2), id="lines-backwards"),
    ],
)
def test_a_span_that_cannot_be_is_refused(place: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"span 'a\.py': bad"):
        Span("a.py", *place)


def test_a_span_may_be_empty() -> None:
    assert str(Span("a.py", 0, 0, 1, 1)) == "a.py:1-1"


def test_spans_are_ordered_by_path_then_by_characters() -> None:
    ordered = [Span("a", 0, 2, 1, 1), Span("a", 0, 3, 1, 1), Span("a", 2, 3, 1, 1), Span("b", 0, 1, 1, 1)]

    assert all(first < second for first, second in pairwise(ordered))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        pytest.param({"text": "texts"}, "5 characters of text for a span of 4", id="wrong-length"),
        pytest.param({"text": " \n\t "}, "blank text", id="blank"),
    ],
)
def test_a_chunk_is_text_of_the_length_of_its_span(changed: dict[str, str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Chunk("s", SPAN, changed["text"], "code")


def test_a_chunk_is_known_by_source_and_span() -> None:
    assert CHUNK.key == ("s", SPAN)


@pytest.mark.parametrize("fields", [{"kind": "heading"}, {"kind": "text", "level": 1}, {"kind": "code", "level": 2}])
def test_headings_and_nothing_else_have_a_level(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="block cannot have level"):
        Block(0, 4, **fields)


def test_a_block_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ValueError, match="bad block 5-4"):
        Block(5, 4)


@pytest.mark.parametrize(
    ("lesson", "text"),
    [
        (Lesson("Course", 0, "Start"), "Lesson 0: Start"),
        (Lesson("Course", 3), "Lesson 3"),
        (Lesson("Course"), ""),
    ],
)
def test_a_lesson_is_shown_by_its_number_which_may_be_zero(lesson: Lesson, text: str) -> None:
    assert str(lesson) == text


def test_values_are_frozen_and_the_signals_of_a_result_are_its_own() -> None:
    signals = {"words": 0.5}
    result = RetrievalResult(CHUNK, 1.0, signals)

    signals["words"] = 9.0

    assert result.signals == {"words": 0.5}
    with pytest.raises(FrozenInstanceError):
        result.score = 9.0  # type: ignore[misc]


def test_web_frameworks_can_serialize_a_result_as_a_dataclass() -> None:
    roles = frozenset({ResultRole.OVERVIEW})
    result = RetrievalResult(CHUNK, 1.0, {"words": 0.5}, excerpt=Excerpt("text", 1, 1), roles=roles)

    assert asdict(result)["signals"] == {"words": 0.5}
    assert TypeAdapter(RetrievalResult).dump_python(result, mode="json")["signals"] == {"words": 0.5}
    assert pickle.loads(pickle.dumps(result)) == copy.deepcopy(result) == result


def test_a_result_is_shown_as_json_values() -> None:
    shown = RetrievalResult(CHUNK, 1 / 3, {"words": 0.5}).to_dict()

    assert json.loads(json.dumps(shown)) == {
        "source": "s",
        "path": "a.py",
        "start_line": 2,
        "end_line": 2,
        "start_char": 4,
        "end_char": 8,
        "kind": "code",
        "language": "python",
        "symbol": "f",
        "anchor": "",
        "score": 0.333333,
        "text": "text",
    }


def test_marks_of_readers_are_blanks_in_json_and_characters_keep_their_places() -> None:
    chunk = replace(CHUNK, text="-k\f\n")
    shown = RetrievalResult(chunk, 0.5, excerpt=Excerpt("-k\f", 2, 2, ((0, 2),))).to_dict()

    assert (shown["text"], shown["excerpt"]["text"]) == ("-k \n", "-k ")


def test_a_result_explains_itself_in_json_only_when_asked() -> None:
    result = RetrievalResult(CHUNK, 0.25, {"lexical": 1 / 3, "role": -1 / 12})

    plain, explained = result.to_dict(), result.to_dict(explain=True)

    assert "signals" not in plain
    assert explained == plain | {"signals": {"lexical": 0.333333, "role": -0.083333}}
    assert json.loads(json.dumps(explained)) == explained
    assert RetrievalResult(CHUNK, 0.0).to_dict(explain=True)["signals"] == {}


def test_a_course_goes_into_json_with_its_lessons() -> None:
    course = Course("s", "b.txt", "Bread", "https://b", "Ada", (Lesson("Bread", 0, "Flour", "https://b/0"),))

    assert course.to_dict() == {
        "source": "s",
        "path": "b.txt",
        "title": "Bread",
        "link": "https://b",
        "instructor": "Ada",
        "lesson_count": 1,
        "lessons": [{"number": 0, "part": None, "label": "0", "title": "Flour", "link": "https://b/0"}],
    }
    assert json.loads(json.dumps(course.to_dict())) == course.to_dict()


@pytest.mark.parametrize(
    ("fields", "error", "told"),
    [
        ({"globs": "*.py"}, TypeError, "collection of strings"),
        ({"globs": [3]}, TypeError, "3, which is not a string"),
        ({"kinds": "docs"}, TypeError, "collection of strings"),
        ({"kinds": ["prose"]}, ValueError, "kinds are code, docs"),
        ({"sources": 1}, TypeError, "collection of strings"),
        ({"courses": "a"}, TypeError, "pair of source and path"),
        ({"courses": [("a",)]}, TypeError, "pair of source and path"),
        ({"lesson": "3"}, TypeError, "not an integer"),
        ({"lesson": True}, TypeError, "not an integer"),
        ({"lesson": -1}, ValueError, "the first is 0 or 1"),
    ],
)
def test_a_filter_of_other_types_is_refused_where_it_is_made(
    fields: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        Filter(**fields)


def test_a_filter_takes_any_collection() -> None:
    loose: dict[str, Any] = {"kinds": ["docs"], "globs": ["*.md"], "sources": ("a",), "courses": [("a", "b")]}

    assert Filter(**loose) == Filter(frozenset({"docs"}), ("*.md",), frozenset({"a"}), frozenset({("a", "b")}))
