"""What says in which release something was changed is quoted, with its release."""

from __future__ import annotations

from openbook.extractive.answerer import pick
from openbook.extractive.composing import compose
from openbook.extractive.context import build_context
from openbook.questions.question import read_question
from openbook.testing import HashEmbedder
from openbook.types import Chunk
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of, result_of

QUESTION = "Which version added `tide_table`?"
GUIDE = chunk_of("The function `tide_table` is what ships read before they sail.", "guide.md", language="markdown")


def changes(text: str, path: str = "CHANGES.md", *, before: str = "", context: tuple[str, ...] = ()) -> Chunk:
    return chunk_of(text, path, before=before, context=context, language="markdown")


def answer(question: str, document: str, chunk: Chunk) -> str:
    query = read_question(question)
    context = build_context([result_of(chunk)], 10_000)
    rarity = dict.fromkeys(query.tokens, 1.0)
    return compose(pick(query, context, HashEmbedder(), rarity, lambda _source, _path: document))


def test_the_entry_comes_before_what_describes_the_thing() -> None:
    found = quotes(picked(QUESTION, GUIDE, changes("## 2.1\n\n- Ropes are long.\n- Add `tide_table`.")))

    assert found[0] == "- Add `tide_table`."


def test_an_entry_that_only_has_the_words_of_the_question_is_no_repetition() -> None:
    entry = "- `Quay.tide_table`"
    other = "- The ropes of May are deprecated, see `Quay.tide_table` for what is known of them."
    page = changes(f"### Deprecated\n\n{other}\n{entry}", context=("2.1",))

    assert quotes(picked("When was `Quay.tide_table` deprecated?", GUIDE, page))[0] == entry


def test_what_says_it_less_well_is_not_quoted() -> None:
    found = quotes(picked(QUESTION, changes("## 2.1\n\n- Add `tide_table`.\n- A `tide_table` of the harbour.")))

    assert found == ["- Add `tide_table`."]


def test_of_several_releases_the_first_one_comes_first() -> None:
    page = changes(
        "## 2.10.0\n\n- Add `tide_table`.\n\n## 2.9.0\n\n- Add to ships of May `tide_table` with all of its moons.",
        context=("Changes of 1.0",),
    )

    assert quotes(picked(QUESTION, page))[0].startswith("- Add to ships")


def test_an_earlier_release_that_says_it_less_well_does_not_come_first() -> None:
    page = changes("## 2.1\n\n- Add `tide_table`, with moons.\n\n## 2.0\n\n- Add ropes. `tide_table` ropes.")

    assert quotes(picked(QUESTION, page))[0] == "- Add `tide_table`, with moons."


def test_what_names_no_release_does_not_come_first() -> None:
    page = changes("## 2.1\n\n- Add to ships of May `tide_table` with all of its moons.")

    assert quotes(picked(QUESTION, changes("- Add `tide_table`.", "NEWS.md"), page))[0].startswith("- Add to ships")


def test_a_thing_without_a_name_may_be_another_one_in_the_first_release() -> None:
    page = changes("## 2.10.0\n\n- Add tides.\n\n## 2.9.0\n\n- Add to ships of May the tides with all of its moons.")

    assert quotes(picked("Since when are there tides?", page))[0] == "- Add tides."


def test_numbers_are_compared_without_zeros_at_their_end() -> None:
    long = changes("## 2.1\n\n- Add to ships of May `tide_table` with all of its moons.", "NEWS.md")

    assert quotes(picked(QUESTION, changes("## 2.1.0\n\n- Add `tide_table`."), long))[0] == "- Add `tide_table`."


def test_the_line_that_names_the_release_stands_above_the_quote() -> None:
    before = "2.2, May\n\n* Ropes.\n\n2.1 (April)\n\nChanges since 2.0:\n\n- Piers of 1.9\n\nPiers are of 2.0.\n\n"
    page = changes("- Add `tide_table`.", before=before)

    assert "`2.1 (April)`\n\n> - Add `tide_table`. [1:1]" in answer(QUESTION, before + page.text, page)


def test_the_field_of_a_directive_names_the_release() -> None:
    before = ".. changelog::\n    :version: 2.1\n\n"
    page = changes("Add `tide_table`.", before=before)

    assert "`version: 2.1`\n\n> Add `tide_table`. [1:1]" in answer(QUESTION, before + page.text, page)


def test_a_release_in_a_heading_or_the_path_or_a_note_is_not_repeated() -> None:
    before = "2.2\n\n"
    entry = "- Add `tide_table`, for ropes of 2.0."
    shown = (
        changes(entry, before=before, context=("2.1",)),
        changes(entry, "changelog/2.1/tides.md", before=before),
        chunk_of("`tide_table`\n\nNew in 2.1", before=before, language="markdown"),
    )

    assert all("`2.2`" not in answer(QUESTION, before + page.text, page) for page in shown)
    assert "`2.2`" in answer(QUESTION, before + entry, changes(entry, before=before))


def test_other_questions_are_not_answered_by_changes() -> None:
    page = changes("## 2.1\n\n- Add `tide_table`.\n\n## 2.0\n\n- Ropes.")

    assert quotes(picked("What is read before they sail?", GUIDE, page))[0] == GUIDE.text
