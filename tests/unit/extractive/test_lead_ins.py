"""A quoted example comes with what introduces it, and a quote of a named section with what opens that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from openbook.extractive.context import build_context
from openbook.extractive.headed_passages import opening_of_named
from openbook.extractive.passages import passages_of
from openbook.extractive.surroundings import with_examples
from openbook.questions.question import read_question
from openbook.retrieval.setting_entries import SettingEntry
from openbook.tokens import tokenize
from tests.unit.extractive.picking import picked, quotes
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


ENTRY = SettingEntry(0, 9, "key", True, True, False, (), "", False, True, False)
OPENING = "Ties a boat to a ring."
DETAIL = "If the moor helper has no rope, the moor helper does wait."


@pytest.mark.parametrize("title", ["moor", "`moor()`", "Moor {#moor}"])
def test_the_section_that_is_named_is_quoted_from_its_beginning(title: str) -> None:
    page = chunk_of(f"## {title}\n\n{OPENING}\n\n{DETAIL}\n", language="markdown")

    assert quotes(picked("what does the moor helper do", page))[0].startswith(OPENING)


@pytest.mark.parametrize(
    "page",
    [
        f"## Mooring\n\n{OPENING}\n\n{DETAIL}\n",
        f"{OPENING}\n\n{DETAIL}\n",
        f"## moor\n\n```sh\nmoor --boat B7 --ring\n```\n\n{DETAIL}\n",
        f"## moor\n\n    moor --boat B7 --ring\n\n{DETAIL}\n",
        f"## moor\n\n{DETAIL}\n\n{OPENING}\n",
    ],
    ids=["other name", "no heading", "opens with an example", "opens with code", "opens with the best"],
)
def test_other_sections_are_not_quoted_from_their_beginning(page: str) -> None:
    (shown,) = build_context([result_of(chunk_of(page, language="markdown"))], 10_000).shown
    passages = passages_of(shown)
    best = next(each for each in passages if each.text == DETAIL)

    assert opening_of_named(read_question("what does the moor helper do"), best, passages) is None


def test_no_other_page_introduces_an_example_or_opens_a_section() -> None:
    named = f"## moor\n\n{OPENING}\n\n{DETAIL}\n"
    pages = [f"{LEADS_IN}\n\nNobody is there.", f"{'.'.rjust(len(LEADS_IN), 'x')}\n\n{EXAMPLE}", named]
    other = chunk_of(f"{NIGHT}\n\n{NIGHT}", "other.md", language="markdown")
    chunks = [other, *(chunk_of(page, f"{at}.md", language="markdown") for at, page in enumerate(pages))]
    passages = [
        each
        for shown in build_context([result_of(chunk) for chunk in chunks], 10_000).shown
        for each in passages_of(shown)
    ]
    example, best = (next(each for each in passages if each.text == text) for text in (EXAMPLE, DETAIL))
    opening = opening_of_named(read_question("what does the moor helper do"), best, passages)

    assert with_examples([example], passages, WORDS) == [example]
    assert opening is not None
    assert opening.text == OPENING


def test_code_has_no_opening_and_a_setting_is_quoted_by_its_entry() -> None:
    text = "# moor\n\ntie(boat, to, ring)\n\nwait(for_a_rope, at_night, here)\n"
    code = chunk_of(text, "a.py", kind="code", language="python")
    page = chunk_of(f"## moor\n\n{OPENING}\n\n{DETAIL}\n", language="markdown")
    of_code, of_page = (passages_of(shown) for shown in build_context([result_of(code), result_of(page)], 10_000).shown)
    query = read_question("what does the moor helper do")

    assert opening_of_named(read_question("how long does the moor helper wait"), of_page[-1], of_page) is None
    assert opening_of_named(query, of_code[-1], of_code) is None
    assert opening_of_named(query, replace(of_page[-1], setting=ENTRY), of_page) is None


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
