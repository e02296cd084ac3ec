"""Quotes of comments, read as prose."""

from __future__ import annotations

from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of

OTHERS = "".join(f"//! Words about number {number} and nothing else that is of use.\n//!\n" for number in range(3))
ROPES = "\n".join(
    f"//! {said}"
    for said in (
        "A ship is moored with two ropes of hemp.",
        "The master sees to it.",
        "It takes an hour.",
        "Nobody may help.",
        "All is done by hand.",
        "The crew sings.",
    )
)
RINGS = "\n".join(
    f"//! {said}"
    for said in (
        "Each rope is tied to a ring of the quay.",
        "It is iron.",
        "It is old.",
        "It is red.",
        "It creaks.",
        "It holds.",
    )
)


def test_paragraphs_of_a_comment_with_nothing_between_but_its_signs_are_one_quote() -> None:
    text = f"{OTHERS}{ROPES}\n//!\n{RINGS}\n//!\n{OTHERS}"
    chunk = chunk_of(text, "quay.rs", kind="code", language="rust")

    said = quotes(picked("How is a ship moored with ropes of hemp, and to which ring is each rope tied?", chunk))

    assert said[0].startswith(f"{ROPES}\n//!\n{RINGS}")
