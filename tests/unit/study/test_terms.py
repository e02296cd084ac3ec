"""Sentences that define a term, as languages and glossaries write them."""

from __future__ import annotations

import pytest

from openbook.study.extracting import definition_in


@pytest.mark.parametrize(
    ("sentence", "term", "question"),
    [
        ("A levain is a piece of dough that is kept.", "levain", "What is a levain?"),
        ("Proofing means letting the dough rise.", "Proofing", "What is Proofing?"),
        ("Such a point is called an amphidromic point.", "amphidromic point", "What is an amphidromic point?"),
        ("Ein Vorteig ist ein Teig, der über Nacht reift.", "Vorteig", "Was ist ein Vorteig?"),
        ("Diesen Teig nennt man Biga.", "Biga", "Was ist Biga?"),
        ("Le levain est une pâte qui fermente.", "levain", "Qu'est-ce que le levain ?"),
        ("La corteza es una capa dura.", "corteza", "¿Qué es la corteza?"),
        ("**Crumb**: the inside of a loaf.", "Crumb", "What is Crumb?"),
        ("- `rest` – let the dough stand.", "rest", "What is rest?"),
        ("Poolish:: a wet dough with yeast.", "Poolish", "What is Poolish?"),
        ("**Krume**: das Innere eines Brotes mit allen seinen Löchern.", "Krume", "Was ist Krume?"),
        ("**Mie** : l'intérieur du pain, avec tous ses trous.", "Mie", "Qu'est-ce que Mie ?"),
        ("**Why rye?**: it keeps for a week.", "Why rye?", "Why rye?"),
    ],
)
def test_a_term_and_its_question_are_found(sentence: str, term: str, question: str) -> None:
    found = definition_in(sentence)

    assert found is not None
    assert (found.term, found.question) == (term, question)


@pytest.mark.parametrize(
    "sentence",
    [
        "It is a piece of dough.",
        "This is called it.",
        "The reason is a lack of water.",
        "**This**: is said of nothing.",
        "The dough rests for an hour.",
        "If there is a second oven, it is used.",
        "Only meaningful if the oven is an old one.",
    ],
)
def test_what_stands_for_something_else_is_no_term(sentence: str) -> None:
    assert definition_in(sentence) is None
