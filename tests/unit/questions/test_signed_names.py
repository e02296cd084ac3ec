"""Names with signs, as those of Lisp."""

from __future__ import annotations

import pytest

from openbook.questions.names import signed_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("what does moor->quay do", ["moor->quay"]),
        ("call *ropes* or moor! now", ["*ropes*", "moor!"]),
        ("is it moored?", ["moored?"]),
        ("read a-b.c and a--b/c/d", []),
        ("-> and !?", []),
        # Long words are read in linear time: with backtracking, this one takes eight seconds.
        ("a" * 19_000 + "/", []),
    ],
    ids=["arrow", "stars", "question mark", "paths", "signs alone", "long"],
)
def test_words_with_signs_are_names(text: str, names: list[str]) -> None:
    assert [each.name for each in signed_names(text)] == names
