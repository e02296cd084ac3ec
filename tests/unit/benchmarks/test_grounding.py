"""The figures of grounding stand between two marks of one page."""

from __future__ import annotations

from pathlib import Path

from benchmarks.grounding import BEGIN, END, write


def test_the_block_is_put_at_the_end_of_a_page_without_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Benchmarks\n", encoding="utf-8")

    write("| a |", page)

    assert page.read_text(encoding="utf-8") == f"# Benchmarks\n\n{BEGIN}\n\n| a |\n\n{END}\n"


def test_the_block_is_replaced_and_the_rest_is_kept(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{BEGIN}\n\nold\n\n{END}\n\nbehind\n", encoding="utf-8")

    write("new", page)

    assert page.read_text(encoding="utf-8") == f"before\n\n{BEGIN}\n\nnew\n\n{END}\n\nbehind\n"
