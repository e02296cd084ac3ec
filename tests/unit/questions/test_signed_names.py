"""Names with signs, as those of Lisp."""

from __future__ import annotations

import pytest

from openbook.questions.names import signed_names
from openbook.questions.question import read_question


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


@pytest.mark.parametrize(
    ("text", "defined", "identifiers", "owners"),
    [
        ("what does moor->quay do", {"moor->quay"}, ("moor->quay",), ((),)),
        ("what does ship->quay return", {"quay"}, ("quay",), (("ship",),)),
        ("what does moor! do in harbour.ropes", {"moor!"}, ("moor!",), (("harbour", "ropes"),)),
        ("what does harbour.ropes/moor! do", {"moor!"}, ("moor!",), (("harbour", "ropes"),)),
        ("is it the same as moored?", {"moored?"}, ("moored?",), ((),)),
        ("what is set-quay?", {"set-quay"}, ("set-quay",), ((),)),
        ("who calls set-quay and Client.send?", {"set-quay"}, ("set-quay", "send"), ((), ("Client",))),
        ("where is quays/set-quay.py", {"set-quay"}, ("py",), (("quay",),)),
        ("what does moor do", {"moor"}, (), ()),
    ],
)
def test_words_with_signs_are_names_if_code_defines_them(
    text: str, defined: set[str], identifiers: tuple[str, ...], owners: tuple[tuple[str, ...], ...]
) -> None:
    question = read_question(text).naming(defined)

    assert (question.identifiers, question.owners) == (identifiers, owners)
