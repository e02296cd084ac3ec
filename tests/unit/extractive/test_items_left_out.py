"""Of a list that is cut, the item that the question asks for is quoted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from openbook.extractive.context import build_context
from openbook.extractive.lists import asked_item
from openbook.extractive.passages import Passage
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of, result_of

LONG = "and it is of a kind that the sailors of this old port have always liked very much indeed"
OTHERS = "".join(f"- kind {number}, {LONG}\n" for number in range(12))
TEXT = f"Ropes:\n\n- hemp, {LONG}\n- wire, {LONG}\n- silk of spiders,\n  {LONG}\n- silk, too\n{OTHERS}"
SILK = f"- silk of spiders,\n  {LONG}"
ASKED = ("silk", "spiders")


def item(text: str, words: Sequence[str], others: Sequence[int] = (), now: str = "") -> str | None:
    """Return the item with these words below a quote of the first two units, beside quotes of one unit each."""
    (shown,) = build_context([result_of(chunk_of(text, language="markdown"))], 10_000).shown
    quote = Passage(shown, shown.units[0], shown.units[1])
    quotes = [quote, *(Passage(shown, shown.units[place], shown.units[place]) for place in others)]
    found = asked_item(quote, quotes, lambda source, path: now or text, dict.fromkeys(words, 1.0))
    return found.text if found else None


def test_the_item_with_most_words_of_the_question_is_found() -> None:
    assert item(TEXT, ASKED) == SILK


@pytest.mark.parametrize(
    ("text", "words", "others", "now"),
    [
        (TEXT, ("hemp",), (), ""),
        (TEXT, ("liked", "port"), (), ""),
        (TEXT, ("pier",), (), ""),
        (TEXT, ASKED, (4,), ""),
        (TEXT, ASKED, (), TEXT.upper()),
        (TEXT[: TEXT.index(f"\n  {LONG}")], ASKED, (), TEXT),
        (TEXT[: TEXT.index("- silk")], ASKED, (), TEXT),
        (TEXT.replace(SILK, f"- silk of spiders, {LONG} {LONG} {LONG}"), ASKED, (), ""),
        ("Ropes are old.\n\nThe silk of spiders is one.\n", ASKED, (), ""),
    ],
    ids=["quoted", "as good", "unknown", "other quote", "changed", "broken off", "next chunk", "long", "no list"],
)
def test_no_item_is_found(text: str, words: Sequence[str], others: Sequence[int], now: str) -> None:
    assert item(text, words, others, now) is None


def test_the_item_follows_the_first_quote() -> None:
    text = f"The harbour of Bremen sells many ropes:\n\n{OTHERS}{OTHERS}- pirates, {LONG}\n"
    question = "Does the harbour of Bremen sell many ropes to pirates?"
    found = picked(question, chunk_of(text, language="markdown"), text_of=lambda source, path: text)

    assert quotes(found)[0].startswith("The harbour of Bremen")
    assert quotes(found)[1] == f"- pirates, {LONG}"
    assert (found[0].left_out.note, found[1].left_out.note) == ("(goes on to line 27)", "")


def test_pointers_stay_below_the_item() -> None:
    text = f"The harbour of Bremen sells many ropes:\n\n{OTHERS}- pirates, {LONG}\n"
    question = "Does the harbour of Bremen sell many ropes to pirates?"
    others = [chunk_of(f"The harbour of Bremen sells {number} ropes.", f"{number}.md") for number in range(8)]
    chunks = [chunk_of(text, language="markdown"), *others]
    with_item = picked(question, *chunks, text_of=lambda source, path: text)
    without = picked(question, *chunks)

    assert len(with_item) == len(without) + 1
    assert with_item[-1].is_pointer
