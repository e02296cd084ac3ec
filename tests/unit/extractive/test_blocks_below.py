"""The best quote is followed by the list or example directly below it."""

from __future__ import annotations

import pytest

from openbook.extractive.context import build_context
from openbook.extractive.passages import Passage, passages_of
from openbook.extractive.surroundings import with_block
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of, result_of

BRAKE = "A crane stops at once if its brake is pulled."
EXAMPLE = "```sh\nquay brake --now\n```"
LIST = "- at dawn the small ones\n- at night the large ones"
ASCIIDOC = "[source,sh]\n----\nquay brake --now\n----"
LONG = "".join(f"- ship {number}, which is as large as the others and waits for the tide\n" for number in range(30))


def followed(text: str, quote: str, language: str = "markdown") -> str:
    """Return the passage of a text that begins so, with what is below it."""
    (shown,) = build_context([result_of(chunk_of(text, language=language))], 10_000).shown
    return with_block(next(one for one in passages_of(shown) if one.text.lstrip().startswith(quote))).text


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (f"{BRAKE}\n\n{EXAMPLE}", "markdown"),
        (f"{BRAKE}\n{EXAMPLE}", "markdown"),
        (f"{BRAKE}\n\n{LIST}", "markdown"),
        (f"{BRAKE}\n\n{ASCIIDOC}", "asciidoc"),
    ],
    ids=["example", "without a blank line", "list", "example with attributes"],
)
def test_a_quote_has_the_block_directly_below(text: str, language: str) -> None:
    assert followed(f"{text}\n\nShips wait until then.\n", "A crane", language) == text


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (f"{BRAKE}\n", BRAKE),
        (f"{BRAKE}\n\nShips wait.\n\n{EXAMPLE}\n", BRAKE),
        (f"{BRAKE}\n\n## Ships\n\n{LIST}\n", BRAKE),
        (f"{BRAKE}\n\n```sh\nquay brake --now\n", BRAKE),
        (f"- {BRAKE}\n\n{EXAMPLE}\n", f"- {BRAKE}"),
        (f"{EXAMPLE}\n\n{LIST}\n", EXAMPLE),
        (f"Run this to stop:\n\n    quay brake --now\n\n{LIST}\n", "    quay brake --now"),
    ],
    ids=["nothing", "paragraph", "heading", "example cut off", "item", "below an example", "below indented code"],
)
def test_a_quote_has_nothing_of_what_is_not_its_own(text: str, quote: str) -> None:
    assert followed(text, quote.strip()) == quote


def test_a_quote_within_its_paragraph_has_nothing_below_it() -> None:
    (shown,) = build_context(
        [result_of(chunk_of(f"{BRAKE} Others wait.\n\n{LIST}", language="markdown"))], 10_000
    ).shown
    quote = Passage(shown, shown.units[0], shown.units[0], (0, len(BRAKE)))

    assert with_block(quote) == quote


def test_a_quote_with_what_is_below_it_begins_where_it_began_and_is_of_the_same_release() -> None:
    (shown,) = build_context([result_of(chunk_of(f"{BRAKE}\n\n{LIST}", language="markdown"))], 10_000).shown
    quote = with_block(Passage(shown, shown.units[0], shown.units[0], (2, len(BRAKE)), release="2.0"))

    assert (quote.text, quote.release) == (f"{BRAKE}\n\n{LIST}"[2:], "2.0")


@pytest.mark.parametrize(
    "block",
    [LONG, f"```sh\n{LONG.replace('- ', 'moor ')}```", "```sh\n" + "moor\n" * 30 + "```"],
    ids=["list", "words", "lines"],
)
def test_a_long_block_below_a_quote_is_cut(block: str) -> None:
    quote = followed(f"{BRAKE}\n\n{block}", "A crane")

    assert quote.startswith(f"{BRAKE}\n\n{block[:30]}")
    assert 4 < quote.count("\n") < 25


def test_only_the_best_quote_has_what_is_below_it() -> None:
    other = "The crane stops at once if the brake is pulled on a barge."
    pages = (f"{BRAKE}\n\n{EXAMPLE}", f"{other}\n\n{LIST}")
    chunks = [chunk_of(page, f"{number}.md", language="markdown") for number, page in enumerate(pages)]

    assert quotes(picked("Which crane stops at once, if its brake is pulled?", *chunks))[:2] == [pages[0], other]


def test_what_is_below_the_best_quote_is_not_quoted_again() -> None:
    text = f"{BRAKE}\n\n- the others wait\n- a crane whose brake is pulled stops at once in the harbour"
    found = quotes(picked("Which crane stops at once, if its brake is pulled?", chunk_of(text, language="markdown")))

    assert found == [text]
