from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.agent.docstrings import read_docstring

FULL = """Find a symbol.

    Looks everywhere.

    Args:
        name: Exact name,
            without module.
        limit (int, optional): At most so many.
        *rest: More: with a colon.
        empty:
            Stands below.

    Returns:
        name: this is no argument.
"""


def test_a_docstring_gives_its_text_and_what_each_argument_means() -> None:
    text, arguments = read_docstring(FULL)

    assert text == "Find a symbol.\n\nLooks everywhere."
    assert arguments == {
        "name": "Exact name, without module.",
        "limit": "At most so many.",
        "rest": "More: with a colon.",
        "empty": "Stands below.",
    }


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        pytest.param("", ("", {}), id="empty"),
        pytest.param("One line.", ("One line.", {}), id="no-arguments"),
        pytest.param("Args:\n    x: Left.", ("", {"x": "Left."}), id="arguments-alone"),
        pytest.param("Do.\n\nArgs:\n    no colon here", ("Do.", {}), id="no-argument-in-section"),
        pytest.param("Do.\n\nRaises:\n    ValueError: Bad.", ("Do.", {}), id="errors-are-no-arguments"),
        pytest.param("Do.\nArgs:\n  x: Left.\n  y: Right.", ("Do.", {"x": "Left.", "y": "Right."}), id="two-blanks"),
    ],
)
def test_docstrings_in_other_shapes_are_read_as_far_as_they_go(
    docstring: str, expected: tuple[str, dict[str, str]]
) -> None:
    assert read_docstring(docstring) == expected


NUMPY = """Find a symbol.

    Looks everywhere.

    Parameters
    ----------
    name : str
        Exact name,
        without module.
    limit : int, optional
        Most results.
    near, far : float
        How far to look.
    *rest
        More.

    Returns
    -------
    str
        Where it is.
"""

SPHINX = """Find a symbol.

    Looks everywhere.

    :param name: Exact name,
        without module.
    :type name: str
    :param int limit: Most results.
    :keyword near: Where
        to look: here.
    :returns: Where it is.
    :raises ValueError: name is empty.
"""


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        pytest.param(
            NUMPY,
            {
                "name": "Exact name, without module.",
                "limit": "Most results.",
                "near": "How far to look.",
                "far": "How far to look.",
                "rest": "More.",
            },
            id="numpy",
        ),
        pytest.param(
            SPHINX,
            {"name": "Exact name, without module.", "limit": "Most results.", "near": "Where to look: here."},
            id="sphinx",
        ),
    ],
)
def test_the_styles_of_numpy_and_sphinx_are_read_too(docstring: str, expected: dict[str, str]) -> None:
    assert read_docstring(docstring) == ("Find a symbol.\n\nLooks everywhere.", expected)


@pytest.mark.parametrize(
    "docstring",
    [
        "Do.\n\nArgs:\n    x: Left.\n    Returns:\n        y: Text.",
        "Do.\n\nArgs:\n    x: Left.\n\nMore: text.",
        "Do.\n\n:param x: Left.\n\nMore text.",
        "Do.\n\nParameters\n----------\nx\n    Left.\n\nNotes\n-----\ny : no argument",
    ],
)
def test_what_follows_the_arguments_is_none(docstring: str) -> None:
    assert read_docstring(docstring) == ("Do.", {"x": "Left."})


@pytest.mark.slow
@given(
    st.text()
    | st.lists(
        st.sampled_from(
            [
                "Args:",
                "Returns:",
                "  x: y",
                "    z",
                "",
                "a:",
                "\t*b (c): d",
                ":param x: y",
                "Parameters",
                "----",
                "a, b",
            ]
        )
    ).map("\n".join)
)
def test_every_text_can_be_read(docstring: str) -> None:
    text, arguments = read_docstring(docstring)

    assert text == text.strip()
    assert all("\n" not in description for description in arguments.values())
