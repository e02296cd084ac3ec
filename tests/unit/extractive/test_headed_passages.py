"""Sections whose heading is nearly the question, or has its message."""

from __future__ import annotations

import pytest

from openbook.extractive.context import build_context
from openbook.extractive.headed_passages import headed_passages
from openbook.questions.question import read_question
from openbook.types import Chunk
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of, result_of

QUESTION = 'why do I get "quay B7 is full"'
LONG = " ".join(f"Number{number} stands here." for number in range(30))


def page(*lines: str, path: str = "full.md", before: str = "", context: tuple[str, ...] = ()) -> Chunk:
    return chunk_of("\n\n".join(lines), path, before=before, context=context, language="markdown")


def told(question: str, *chunks: Chunk) -> list[str]:
    return quotes([item for item in picked(question, *chunks) if not item.is_pointer])


def headed(question: str, *chunks: Chunk) -> list[str]:
    query = read_question(question)
    context = build_context([result_of(chunk) for chunk in chunks], 10_000).shown
    return [each.text for each in headed_passages(query, context, dict.fromkeys(query.tokens, 1.0))]


def test_the_short_text_below_such_a_heading_comes_first_though_it_has_other_words() -> None:
    faq = page("This is on the quay.", "## Can ships moor overnight?", "Ask at the gate.", "## Fees", "They are low.")
    other = page("Ships can moor. Ships moor overnight, and can ships moor by day?", path="ships.md")

    found = told("can ships moor overnight?", other, faq)

    assert found[0] == "Ask at the gate."


def test_what_explains_a_message_comes_before_what_prints_it() -> None:
    code = chunk_of(
        'def moor(self):\n    raise Full(f"quay {name} is full")', "quay.py", kind="code", language="python"
    )
    faq = page("# Quay is full of ships", "Too many ships are tied.", "Send some away.")

    found = told("quay B7 is full of ships", code, faq)

    assert found == ["Too many ships are tied.\n\nSend some away.", code.text]


def test_examples_that_repeat_a_message_are_left_out_with_what_introduces_them() -> None:
    example = "```\nERR quay B7 is full\n```"
    faq = page("## The log has `quay B7 is full`", "Here is one of them:", example, "Send some ships away.")

    assert told(QUESTION, faq) == ["Send some ships away."]


def test_below_a_message_the_sections_inside_are_read_with_their_headings() -> None:
    example = "```\nERR quay B7 is full\n```"
    faq = page("# Quay B7 is full", "You may see this:", example, "## Fixing it", "Send some away.", "# Ropes", "No.")

    assert told(QUESTION, faq)[0] == "## Fixing it\n\nSend some away."


def test_below_a_question_the_sections_inside_are_not_read() -> None:
    faq = page("# Can ships moor overnight?", "Never at all, they say.", "## Fees", LONG)

    assert told("can ships moor overnight?", faq)[0] == "Never at all, they say."


def test_a_title_in_front_matter_is_a_heading() -> None:
    text = '---\ntitle: "Quay B7 is full"\n---\n\nToo many ships are tied.'

    page_on_it = chunk_of(f"{text}\n\n## Fixing it\n\nSend some away.", "full.md", context=("Quay B7 is full",))
    assert told(QUESTION, chunk_of(text, "full.md", context=("Quay B7 is full",)))[0] == "Too many ships are tied."
    assert headed(QUESTION, page_on_it) == ["Too many ships are tied.\n\n## Fixing it\n\nSend some away."]


def test_a_section_goes_on_in_the_result_that_follows_in_the_page() -> None:
    first = page("# Quay B7 is full", "Too many ships are tied.")
    second = page("## Fixing it", "Send some away.", before=f"{first.text}\n\n", context=("Quay B7 is full",))
    apart = page("## Later", "Much more.", before=f"{first.text}\n\n{second.text} {LONG}", context=("Quay B7 is full",))

    found = told(QUESTION, apart, second, first)

    assert found[:2] == ["Too many ships are tied.", "## Fixing it\n\nSend some away."]
    inside = page("Send some away.", before=f"{first.text}\n\n", context=("Quay B7 is full", "Fixing it"))
    other = page("Send some away.", path="b.md", before=f"{first.text}\n\n", context=("Quay B7 is full",))
    assert headed(QUESTION, first, inside) == ["Too many ships are tied.", "Send some away."]
    assert headed(QUESTION, first, other) == ["Too many ships are tied."]


def test_a_section_of_a_question_goes_on_up_to_a_heading() -> None:
    title = ("Can ships moor overnight?",)
    first = page("# Can ships moor overnight?", "Never at all, they say.")
    second = page("Not even in May.", "## Fees", LONG, before=f"{first.text}\n\n", context=title)
    inside = page("They are very low.", before=f"{first.text}\n\n", context=(*title, "Fees"))

    assert told("can ships moor overnight?", first, second)[:2] == ["Never at all, they say.", "Not even in May."]
    assert headed("can ships moor overnight?", first, inside) == ["Never at all, they say."]


def test_a_long_section_is_cut_and_a_table_is_not() -> None:
    rows = "\n".join(f"| rope {number} | it is number {number} of the long ropes |" for number in range(10))
    table = page("# Can ships moor overnight?", "They differ in this:", f"| rope | what |\n| --- | --- |\n{rows}")
    text = page("# Can ships moor overnight?", *(f"Number{number} stands here today." for number in range(80)))

    assert rows in told("can ships moor overnight?", table)[0]
    sentence = page("# Can ships moor overnight?", f"They {'may ' * 170}moor here.", "Ask.")
    assert 90 <= len(told("can ships moor overnight?", text)[0].split()) <= 100
    assert len(headed("can ships moor overnight?", sentence)[0].split()) > 160


def test_what_introduces_the_rest_of_a_long_section_is_not_quoted() -> None:
    code = "\n".join(["moor" + " --ship 1" * 30] * 4)
    faq = page("# Can ships moor overnight?", "Never at all, they say.", "Try this:", f"```sh\n{code}\n```")
    alone = page("# Can ships moor overnight?", "Try one of these:")

    assert told("can ships moor overnight?", faq)[0] == "Never at all, they say."
    assert headed("can ships moor overnight?", alone) == ["Try one of these:"]


def test_nothing_is_quoted_behind_what_is_cut() -> None:
    example = "```\nERR quay B7 is full\n```"
    text = [f"Number{number} is one of those that stand here." for number in range(40)]
    faq = page("# Quay B7 is full", *text, example, "Send some away.")

    assert len(headed(QUESTION, faq)) == 1


def test_a_section_inside_is_counted_once() -> None:
    text = [f"Number{number} is {'one ' * 20}here." for number in range(5)]
    faq = page("# Quay B7 is full", "## Fixing it", *text)

    assert headed(QUESTION, faq) == ["\n\n".join(("## Fixing it", *text))]


def test_the_best_result_with_such_a_heading_is_quoted() -> None:
    first = page("# Mooring ships", "Tie them to a post.", path="one.md")
    second = page("# How do I moor ships?", "Call the guard first.", path="two.md")

    assert told("how do I moor ships?", first, second)[0] == "Tie them to a post."


def test_pages_aside_are_not_headed() -> None:
    faq = page("# Can ships moor overnight?", "Ask at the gate.", path="CHANGELOG.md")
    other = page("Ships can moor overnight in May, as the guard says.", path="ships.md")

    assert told("can ships moor overnight?", faq, other)[0] == other.text


def test_questions_for_places_keep_one_quote_of_each() -> None:
    faq = page("# Can ships moor overnight?", "Ask at the gate.")
    other = page("Ships can moor overnight in May, as the guard says.", path="ships.md")

    assert len(told("which files say whether ships can moor overnight?", faq, other)) <= 2


def test_the_sections_of_a_comparison_are_read_as_well() -> None:
    first, second = "Ropes are light.", "Chains are strong."
    whole = page("## Rope vs. chain", "Both moor a ship.", "### Ropes", first, "### Chains", second, "## Fees", "Low.")

    assert headed("rope vs chain, when to use which", whole)[0].endswith(second)


def test_what_stands_behind_a_message_that_a_page_shows_comes_first() -> None:
    faq = page("## Full quays", "The log says:", "> quay B7 is full", "Send some ships away.", "## Ropes", "Of hemp.")

    assert told(QUESTION, faq)[0] == "Send some ships away."


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("full.md", "> quay B7 is full of ships, and so are nine other quays with many more boats when May comes"),
        ("full.md", "> quay A2 is old"),
        ("full.md", "> full is the quay called B7"),
        ("full.md", "Here quay B7 is full.\nOthers are not full yet."),
        ("tests/full.md", "> quay B7 is full"),
    ],
)
def test_nothing_stands_behind_other_lines(path: str, text: str) -> None:
    assert headed(QUESTION, page("The log says:", text, "Send some ships away.", path=path)) == []


def test_nothing_stands_behind_a_line_without_a_message() -> None:
    faq = page("The log says:", "> quay is full", "Send some ships away.")

    assert headed("is the quay full", faq) == []
