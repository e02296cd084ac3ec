"""A quoted example comes with what introduces it, and a quote of a named section with what opens that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from openbook.extractive.context import build_context
from openbook.extractive.passages import passages_of
from openbook.extractive.surroundings import with_examples
from openbook.tokens import tokenize
from tests.unit.retrieval.material import chunk_of, result_of

NIGHT, LEADS_IN = "By night the gate of the lock is closed.", "Whoever comes late can open it:"
EXAMPLE = "```sh\nlock gate --open B7\n```"
WORDS = tokenize("gate keeper shut open")
LONG = f"The keeper {'sees that the gate is closed and ' * 9}sleeps."


def extended(text: str, *parts: str) -> list[str]:
    """Return the quotes of a text that consist of so many parts of it, with what introduces examples."""
    (shown,) = build_context([result_of(chunk_of(text, language="markdown"))], 10_000).shown
    passages = passages_of(shown)
    chosen = [each for part in parts for each in passages if each.text == part]
    assert len(chosen) == len(parts)
    return [each.text if each else "" for each in with_examples(chosen, passages, WORDS)]


@pytest.mark.parametrize("apart", ["\n", "\n\n"])
def test_an_example_comes_with_the_paragraph_that_introduces_it(apart: str) -> None:
    introduced = f"{NIGHT}\n{LEADS_IN}{apart}{EXAMPLE}"

    assert extended(f"Ships wait here.\n\n{introduced}\n\nOthers wait too.", EXAMPLE) == [introduced]


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        (f"{NIGHT}\n\n{EXAMPLE}", EXAMPLE, EXAMPLE),
        (EXAMPLE, EXAMPLE, EXAMPLE),
        (f"{LEADS_IN}\n\nNobody is there.\n\n{EXAMPLE}", EXAMPLE, EXAMPLE),
        (f"{LONG}\n{LEADS_IN}\n\n{EXAMPLE}", EXAMPLE, f"{LEADS_IN}\n\n{EXAMPLE}"),
        (f"{LEADS_IN}\n\n{NIGHT}", NIGHT, NIGHT),
        (f"{EXAMPLE}\n\n{LEADS_IN}", EXAMPLE, EXAMPLE),
    ],
    ids=["not introduced", "nothing above", "introduces other text", "long paragraph", "no example", "below"],
)
def test_only_the_end_of_a_short_paragraph_with_a_colon_introduces(text: str, quote: str, found: str) -> None:
    assert extended(text, quote) == [found]


def test_what_is_quoted_already_is_not_repeated_above_an_example() -> None:
    page = f"{NIGHT}\n{LEADS_IN}\n\n{EXAMPLE}"

    assert extended(page, NIGHT, EXAMPLE) == [page, ""]


def test_a_quote_that_is_part_of_what_is_below_the_first_is_left_out() -> None:
    assert extended(f"{NIGHT}\n\n{EXAMPLE}", NIGHT, EXAMPLE) == [f"{NIGHT}\n\n{EXAMPLE}", ""]


def test_no_other_page_introduces_an_example() -> None:
    pages = [f"{LEADS_IN}\n\nNobody is there.", f"{'.'.rjust(len(LEADS_IN), 'x')}\n\n{EXAMPLE}"]
    chunks = [chunk_of(page, f"{at}.md", language="markdown") for at, page in enumerate(pages)]
    passages = [
        each
        for shown in build_context([result_of(chunk) for chunk in chunks], 10_000).shown
        for each in passages_of(shown)
    ]
    example = next(each for each in passages if each.text == EXAMPLE)

    assert with_examples([example], passages, WORDS) == [example]


def test_the_first_quote_goes_on_in_its_paragraph_with_what_has_words_of_the_question() -> None:
    paragraph = "The gate may be shut now. It is\nopened by the keeper."
    text = f"{paragraph}\nTides do not matter much.\nIt may be shut then.\n\nShips wait here."

    assert extended(text, "The gate may be shut now.") == [paragraph]
    assert extended(text, "Ships wait here.", "The gate may be shut now.")[1] == "The gate may be shut now."


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (f"The gate is shut now.\n{LONG}", "The gate is shut now."),
        ("```sh\nlock gate --open\n```\nIt is open then.", "```sh\nlock gate --open\n```"),
        ("Shut it:\n\n    lock gate --shut B7\n\n    lock gate --open B7", "    lock gate --shut B7"),
    ],
    ids=["long", "example", "code"],
)
def test_it_does_not_go_on_to_what_is_long_or_of_another_kind(text: str, quote: str) -> None:
    assert extended(text, quote) == [quote]


def test_a_sentence_that_says_something_does_not_go_on() -> None:
    quote = "The gate of the old lock may be shut by night, and all ships wait for the keeper."

    assert extended(f"{quote}\nIt is opened by the keeper.", quote) == [quote]


def test_a_transcript_has_no_paragraphs() -> None:
    (shown,) = build_context([result_of(chunk_of("The gate is shut. It is opened.", kind="course"))], 10_000).shown
    passages = passages_of(shown)

    assert with_examples(passages[:1], passages, WORDS) == passages[:1]


def test_a_quote_that_is_whole_does_not_go_on() -> None:
    (shown,) = build_context(
        [result_of(chunk_of("The gate is shut. It is opened.", language="markdown"))], 10_000
    ).shown
    passages = passages_of(shown)

    assert with_examples([replace(passages[0], is_whole=True)], passages, WORDS)[0] == replace(
        passages[0], is_whole=True
    )
