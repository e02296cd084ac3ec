from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, Required, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from openbook.agent import Tool, ToolError
from openbook.agent.tools import is_async


@dataclass
class Place:
    path: str
    line: int


def search(query: str, limit: int = 5, kind: Literal["code", "docs"] = "code", *, near: Place | None = None) -> str:
    """Search the library.

    Finds names and topics.

    Args:
        query: What to look for.
        limit: Most results.
        kind: Where to look.
        near: A place to begin at.
    """
    return f"{query} {limit} {kind} {near}"


SEARCH = Tool.from_function(search)


def arguments_or_complaint(text: str) -> object:
    try:
        return SEARCH.read_arguments(text)
    except ToolError as exc:
        return str(exc)


def test_type_hints_and_docstring_are_the_schema() -> None:
    spec = SEARCH.spec

    assert (spec.name, spec.description) == ("search", "Search the library.\n\nFinds names and topics.")
    assert spec.parameters["required"] == ["query"]
    assert spec.parameters["additionalProperties"] is False
    assert spec.parameters["properties"] | {"near": None} == {
        "query": {"description": "What to look for.", "type": "string"},
        "limit": {"default": 5, "description": "Most results.", "type": "integer"},
        "kind": {"default": "code", "description": "Where to look.", "enum": ["code", "docs"], "type": "string"},
        "near": None,
    }
    assert "title" not in spec.parameters


def test_arguments_come_out_in_the_types_of_the_function() -> None:
    given_arguments = SEARCH.read_arguments('{"query": "x", "limit": "7", "near": {"path": "a.py", "line": 3}}')

    assert given_arguments == {"query": "x", "limit": 7, "near": Place("a.py", 3)}


def test_no_arguments_at_all_are_an_empty_object() -> None:
    def now() -> str:
        """Tell the time."""
        return "noon"

    assert Tool.from_function(now).read_arguments("") == {}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("{}", "argument 'query' is missing", id="missing"),
        pytest.param(
            '{"query": "x", "limit": "many"}',
            "argument 'limit': Input should be a valid integer, unable to parse string as an integer, got 'many'",
            id="wrong-type",
        ),
        pytest.param(
            '{"query": "x", "depth": 2}',
            "argument 'depth' is unknown; 'search' takes query, limit, kind, near",
            id="unknown",
        ),
        pytest.param(
            '{"query": "x", "kind": "film"}',
            "argument 'kind': Input should be 'code' or 'docs', got 'film'",
            id="no-such-choice",
        ),
        pytest.param(
            '{"query": 1, "near": {"path": "a", "line": "b"}}',
            "argument 'query': Input should be a valid string, got 1\nargument 'near.line': Input should be a valid "
            "integer, unable to parse string as an integer, got 'b'",
            id="two-and-one-deep-inside",
        ),
        pytest.param("[1]", "the arguments are not a JSON object: Input should be an object", id="list"),
    ],
)
def test_what_is_wrong_with_an_argument_is_said_by_its_name(text: str, complaint: str) -> None:
    with pytest.raises(ToolError) as caught:
        SEARCH.read_arguments(text)

    assert str(caught.value) == complaint


def test_a_huge_wrong_value_is_not_repeated_in_full() -> None:
    with pytest.raises(ToolError) as caught:
        SEARCH.read_arguments(json.dumps({"query": "x", "limit": "9" * 4000 + "x"}))

    assert len(str(caught.value)) < 300


@pytest.mark.slow
@given(
    st.text()
    | st.recursive(
        st.none() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["query", "limit", "x"]), inner),
    ).map(json.dumps)
)
def test_whatever_a_model_writes_is_arguments_or_a_complaint(text: str) -> None:
    assert isinstance(arguments_or_complaint(text), dict | str)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"query": "\ud800"}', '{"query": ' + "9" * 5000 + "}", '{"query": "x", ']
)
def test_text_that_breaks_parsers_is_arguments_or_a_complaint(text: str) -> None:
    assert isinstance(arguments_or_complaint(text), dict | str)


def test_names_that_mean_something_to_the_validator_are_names_like_others() -> None:
    def convert(copy: str, json: int, model_config: str, _private: str = "") -> str:
        """Convert.

        Args:
            copy: A.
            json: B.
            model_config: C.
            _private: D.
        """
        return copy

    tool = Tool.from_function(convert)

    written = '{"copy": "a", "json": 1, "model_config": "c", "_private": "d"}'
    assert tool.read_arguments(written) == json.loads(written)


def untyped(x) -> str:  # type: ignore[no-untyped-def]
    """Do.

    Args:
        x: X.
    """
    return str(x)


def overdescribed(x: int) -> str:
    """Do.

    Args:
        x: X.
        y: Gone.
    """  # noqa: DOC102
    return str(x)


def silent(x: int) -> str:
    return str(x)


def anything(*parts: str) -> str:
    """Do.

    Args:
        *parts: Parts.
    """
    return "".join(parts)


def by_place(x: int, /) -> str:
    """Do.

    Args:
        x: X.
    """
    return str(x)


def unshowable(x: Callable[[], None]) -> str:
    """Do.

    Args:
        x: X.
    """
    return str(x)


def unresolved(x: Nowhere) -> str:  # type: ignore[name-defined]  # noqa: F821
    """Do.

    Args:
        x: X.
    """
    return str(x)


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        (untyped, "argument 'x' has no type"),
        (overdescribed, "describes y, which it does not take"),
        (silent, "does not say what it is for"),
        (anything, "cannot be passed by name"),
        (by_place, "cannot be passed by name"),
        (unshowable, "no JSON schema"),
        (unresolved, "a type is not known"),
        (lambda: "", "cannot be the name of a tool"),
    ],
)
def test_a_function_that_says_too_little_is_refused_at_once(function: Callable[..., Any], complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        Tool.from_function(function)


def test_a_method_is_a_tool_without_its_self() -> None:
    class Shelf:
        def take(self, title: str) -> str:
            """Take a book.

            Args:
                title: Its title.
            """
            return title

    tool = Tool.from_function(Shelf().take, name="take-book")

    assert tool.name == "take-book"
    assert list(tool.spec.parameters["properties"]) == ["title"]


def one_line(param: str) -> str:
    """Tool description for LLM."""
    return param


def annotated(
    name: Annotated[str, Field(description="Exact name.", min_length=1)],
    limit: Annotated[int, "Most results."] = 5,
) -> str:
    """Find.

    Args:
        name: Not so exact.
    """
    return f"{name} {limit}"


def test_a_function_with_types_and_one_line_is_a_tool() -> None:
    spec = Tool.from_function(one_line).spec

    assert (spec.name, spec.description) == ("one_line", "Tool description for LLM.")
    assert spec.parameters["properties"] == {"param": {"type": "string"}}


def test_annotations_describe_and_limit_arguments() -> None:
    tool = Tool.from_function(annotated)

    assert tool.spec.parameters["properties"] == {
        "name": {"description": "Exact name.", "minLength": 1, "type": "string"},
        "limit": {"default": 5, "description": "Most results.", "type": "integer"},
    }
    assert tool.read_arguments('{"name": "x"}') == {"name": "x"}
    with pytest.raises(ToolError, match="at least 1 character"):
        tool.read_arguments('{"name": ""}')


class Inner(TypedDict):
    line: int


class Hit(TypedDict, total=False):
    """A place."""

    path: Required[str]
    inner: Inner
    more: list[Inner] | None


def test_typed_dicts_are_arguments_that_stay_dicts() -> None:
    def open_hits(hits: list[Hit], first: Hit | None = None) -> str:
        """Open."""
        return str(hits)

    tool = Tool.from_function(open_hits)

    text = '{"hits": [{"path": "a", "inner": {"line": "3"}, "more": [{"line": 4}]}, {"path": "b"}]}'
    assert tool.read_arguments(text) == {
        "hits": [{"path": "a", "inner": {"line": 3}, "more": [{"line": 4}]}, {"path": "b"}]
    }
    with pytest.raises(ToolError, match=r"argument 'hits\.0\.path' is missing"):
        tool.read_arguments('{"hits": [{}]}')


class Query(BaseModel):
    text: str = Field(description="What to look for.")


def test_models_of_pydantic_are_arguments() -> None:
    def look(query: Query) -> str:
        """Look."""
        return query.text

    tool = Tool.from_function(look)

    assert tool.read_arguments('{"query": {"text": "x"}}') == {"query": Query(text="x")}
    assert "What to look for." in json.dumps(tool.spec.parameters)


def test_what_a_partial_gives_by_itself_the_model_does_not_see() -> None:
    def fetch(connection: object, query: str, limit: int) -> str:
        """Fetch.

        Args:
            connection: Where from.
            query: What.
            limit: Most results.
        """
        return f"{connection} {query} {limit}"

    tool = Tool.from_function(partial(fetch, "db", limit=3))

    assert (tool.name, list(tool.spec.parameters["properties"])) == ("fetch", ["query"])
    assert tool.function(**tool.read_arguments('{"query": "x"}')) == "db x 3"


def test_an_object_that_can_be_called_is_a_tool_with_the_name_of_its_class() -> None:
    class Clock:
        async def __call__(self, zone: str) -> str:
            """Tell the time."""
            return zone

    tool = Tool.from_function(Clock())

    assert (tool.name, tool.spec.description) == ("Clock", "Tell the time.")
    assert is_async(tool.function)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("text", "text"),
        (None, "null"),
        ({"a": [1, 2.5]}, '{"a":[1,2.5]}'),
        (Place("a.py", 3), '{"path":"a.py","line":3}'),
        (b"\xff", '"_w=="'),
        (1j, '"1j"'),
    ],
    ids=repr,
)
def test_what_is_no_text_is_shown_as_json(value: object, shown: str) -> None:
    assert SEARCH.show(value) == shown


def test_a_long_result_is_cut_and_says_so() -> None:
    tool = Tool.from_function(search, max_chars=5)

    assert tool.show("1234567") == "12345\n[cut: the first 5 of 7 characters]"
    assert tool.show("12345") == "12345"
