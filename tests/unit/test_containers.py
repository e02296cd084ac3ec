"""Questions of FAQs that are no headings."""

from __future__ import annotations

import pytest

from openbook.containers import questions_in


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
