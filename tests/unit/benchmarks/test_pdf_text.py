"""What is left in the text of PDFs that is none."""

from __future__ import annotations

from benchmarks.pdf_text import counts


def test_what_is_no_text_is_counted() -> None:
    pages = [f"Rye {{hnamei}} \x02\ue000\n{number}\n" for number in range(5, 10)]

    assert counts(pages) == {"pages": 5, "numbers": 5, "control": 5, "private": 5, "brackets": 5, "unknown": 0}
    assert counts(["7\nText.", "Text.\n90", ""])["numbers"] == 0
