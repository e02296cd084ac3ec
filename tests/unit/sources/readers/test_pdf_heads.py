"""What stands around the text of a PDF on page after page is left out."""

from __future__ import annotations

from openbook.sources.readers.pdf_heads import without_running_heads
from openbook.sources.readers.pdf_pages import PageLine, Row

HEIGHT = 10.0
PAGE = 800.0


def row(text: str, top: float, *, height: float = HEIGHT) -> Row:
    return (PageLine(text, 50, 300, top - height, top, height, 300),)


def kept_of(pages: list[list[Row]]) -> list[list[str]]:
    return [[line[0].text for line in page] for page in without_running_heads(pages, [PAGE] * len(pages))]


def test_a_line_in_the_margin_that_repeats_a_title_goes_where_other_pages_have_one() -> None:
    names = ("Flour", "Water", "Yeast", "Ovens")
    heads = [row(f"{page} CHAPTER {page}. {name.upper()}", 780) for page, name in enumerate(names, start=1)]
    titles = [row(f"{page} {name}", 600, height=16.0) for page, name in enumerate(names, start=1)]
    body = row("Text of a page that is long enough.", 400)
    pages = [[head, title, body] for head, title in zip(heads, titles, strict=True)]

    kept = without_running_heads([*pages, [row("A first line of text", 780), body]], [PAGE] * 5)

    assert kept == [*([title, body] for title in titles), [row("A first line of text", 780), body]]


def test_a_number_in_the_margin_goes_only_if_it_counts_the_pages() -> None:
    counted = [[row("Text.", 400), row(f"{page + 7}", 30)] for page in range(6)]
    scattered = [[row("Text.", 400), row(f"{page * page}", 30)] for page in range(6)]

    assert without_running_heads(counted, [PAGE] * 6) == [[row("Text.", 400)]] * 6
    assert without_running_heads(scattered, [PAGE] * 6) == scattered


def test_what_repeats_within_the_text_or_in_a_larger_font_stays() -> None:
    within = [[row("Agenda", 400)] for _ in range(6)]
    title = [[row("Agenda", 790, height=20), row("Text of the page.", 400)] for _ in range(6)]

    assert without_running_heads(within, [PAGE] * 6) == within
    assert without_running_heads(title, [PAGE] * 6) == title


def test_a_title_that_changes_goes_where_a_number_beside_it_counts_the_pages() -> None:
    titles = ["Flour", "Water", "Yeast", "Ovens", "Loaves", "Crumbs"]
    pages = [[row(f"{title} and more {page + 3}", 780), row("Text.", 400)] for page, title in enumerate(titles)]
    entry = [row("Index . . . . . . . . . 9", 780), row("Text.", 400)]
    front = [row("xii", 780), row("Text.", 400)]

    assert kept_of([*pages, entry, front]) == [["Text."]] * 6 + [[entry[0][0].text, "Text."], ["Text."]]


def test_page_numbers_go_from_small_pages_on_large_paper_whatever_their_size() -> None:
    pages = [[row("Text.", 500), row(f"— {page + 1} —", 190, height=14)] for page in range(5)]

    assert kept_of(pages) == [["Text."]] * 5
    assert kept_of([[row("Text.", 500), row("1", 190)], []]) == [["Text.", "1"], []]


def test_numbers_that_count_few_pages_stay() -> None:
    pages = [[row("Text.", 500), row(f"{page + 1 if page < 3 else 7 * page}", 30)] for page in range(6)]

    assert kept_of(pages) == [[line[0].text for line in page] for page in pages]
