"""Questions of FAQs that are no headings, and titles without pictures."""

from __future__ import annotations

import pytest

from openbook.containers import questions_in, without_pictures


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("**Do ropes freeze?**\n\nThey do.", "Do ropes freeze?"),
        ("- __Do ropes freeze?__ They do.", "Do ropes freeze?"),
        ("3. **Do ropes freeze?**", "Do ropes freeze?"),
        ("**Q: Do ropes freeze?**", "Do ropes freeze?"),
        ("**Q:** Do ropes freeze?\n**A:** They do.", "Do ropes freeze?"),
        ("Q: Do ropes\n   freeze?\nA: They do.", "Do ropes freeze?"),
        ("Q12. Do ropes freeze?\n \nThey do.", "Do ropes freeze?"),
        ("🪢 **Question**: My rope is stiff.\nIs it old?\n\n**Answer**: Yes.", "My rope is stiff. Is it old?"),
        ("!!! question\n\n    Do ropes\n    freeze?\n\nThey do.", "Do ropes freeze?"),
        ('!!! question "Do ropes freeze?"\n\n    They do.', "Do ropes freeze?"),
        ("<details>\n<summary><b>Do ropes freeze?</b></summary>\n\nThey do.", "Do ropes freeze?"),
        ("<summary>Do ropes freeze?</summary>", "Do ropes freeze?"),
    ],
)
def test_questions_in_bold_with_a_label_or_folded_are_read(text: str, question: str) -> None:
    (found,) = questions_in(text)

    assert (found[0], found[2]) == (0, question)
    assert not text[found[1] :].startswith(question[-1])


@pytest.mark.parametrize(
    "text",
    [
        "Do ropes freeze?",
        "**Ropes freeze.** Do they?",
        "They ask: **do ropes freeze?**",
        "**Why?** It is cold.",
        "**Ropes** and **knots?**",
        "**Ropes\n\nfreeze now?**",
        "FAQ: ropes freeze in winter",
        "### Q: Do ropes freeze?",
        "!!! note\n\n    Do ropes freeze?",
        "<summary>Frozen ropes</summary>",
    ],
)
def test_other_text_has_none(text: str) -> None:
    assert list(questions_in(text)) == []


@pytest.mark.parametrize(
    ("title", "rest"),
    [
        ("Ropes ![Build](a.svg)", "Ropes"),
        ("Ropes · [![Build](a.svg)](b) | [![Chat][c]][d]", "Ropes"),
        ("![Build](a.svg)", "![Build](a.svg)"),
        ("<b>![Ropes](a.svg)</b>&nbsp;![Build](b.svg)", "<b>![Ropes](a.svg)</b>&nbsp;![Build](b.svg)"),
        ("[Ropes](a.md) and knots!", "[Ropes](a.md) and knots!"),
        ("Ropes [![Build](a.svg) ok", "Ropes [ ok"),
    ],
)
def test_a_title_loses_its_pictures_if_it_has_words(title: str, rest: str) -> None:
    assert without_pictures(title) == rest


@pytest.mark.parametrize("text", ["[![a", "![", "[![a](", "![a](b", "[![a](b)", "&a"])
def test_a_long_title_takes_no_more_time_than_its_length(text: str) -> None:
    assert without_pictures(text * 10_000)
