"""A study guide says nothing without a citation that holds, and is Markdown, cards of Anki or JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from openbook import AnswerOptions, Budget, Filter, Library, StudyGuide, StudyItem
from openbook.answers import Citation
from openbook.errors import QueryError
from openbook.testing import ScriptedModel
from openbook.types import Span
from tests.support import write_tree

LESSON = """\
# Dough

A levain is a piece of dough that is kept for the next day.
The levain needs food twice a day, or else it becomes too sour for bread.
Knead the dough for 12 minutes until it is smooth and hardly sticks to your hands.
Then it rests for an hour at room temperature, which makes it light.

## How long does it bake?

It bakes for 40 minutes in a very hot oven.
"""
GUIDE = """\
Here it is.

## Summary

- A levain is a piece of dough that is kept for the next day. [1:2]
- The dough is kneaded by machines. [9:1]

## Key terms

- **levain**: A piece of dough that is kept for the next day. [1:2]
- levain without a term [1:2]

## Questions

- **How long is the dough kneaded?** Knead the dough for 12 minutes. [1:4]
- **How long is it kneaded in the morning?** Knead the dough for 90 minutes. [1:4]
- **Who invented it?** The ancient Egyptians in 3000 BC.
Not an item.
"""
PLACE = Citation("[1:3]", "bread", Span("dough.md", 9, 68, 3, 3), "A levain", "exact")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.open("bread") as library:
        library.add(write_tree(tmp_path / "bread", {"dough.md": LESSON, "bake.py": "OVEN = 230\n"}))
        yield library


def test_without_a_model_everything_is_a_quote_of_the_sources(library: Library) -> None:
    guide = library.study(where=Filter(globs=("*.md",)))

    assert (guide.title, guide.model, guide.left_out) == ("Dough", "extractive", 0)
    assert [(item.prompt, item.text) for item in guide.terms] == [
        ("levain", "A levain is a piece of dough that is kept for the next day.")
    ]
    asked = {item.prompt: item.text for item in guide.questions}
    assert asked["What is a levain?"] == "A levain is a piece of dough that is kept for the next day."
    assert asked["How long does it bake?"].startswith("It bakes for 40 minutes")
    gap = "Knead the dough for ____ minutes until it is smooth and hardly sticks to your hands."
    assert asked[gap] == f"12: {gap.replace('____', '12')}"
    assert guide.summary
    for item in guide.items:
        (citation,) = item.citations
        assert citation.verdict == "exact"
        assert " ".join(citation.quote.split()) in " ".join(LESSON.split())
        assert item.text.removeprefix("12: ").removeprefix("40: ") in " ".join(citation.quote.split())


def test_formulas_and_listings_sum_up_nothing_and_leave_no_gap(tmp_path: Path) -> None:
    text = (
        "# Prices\n\nPrices are higher in years with a small harvest and lower after a large one.\n\n"
        "```{math}\nprices harvest years small large higher lower after p_t = a - b q_t\n```\n\n"
        "Thus producers expect the price of each year to be a function of up to $12$ earlier ones.\n"
    )
    with Library.open("prices") as library:
        library.add(write_tree(tmp_path / "prices", {"prices.md": text}))
        guide = library.study()

    assert guide.summary
    assert not any("```" in item.text for item in guide.summary)
    assert not any("____$" in question.prompt for question in guide.questions)


def test_emphasis_and_code_at_the_beginning_of_a_line_stay_whole(tmp_path: Path) -> None:
    text = (
        "# Bread\n\n**Crust** is the outside of a loaf, which turns brown in the heat of the oven.\n\n"
        "- **Sampling bakers** taste the dough every minute and record what it does then.\n\n"
        "#include is the first word of each of the recipes that are written in the language C.\n"
    )
    with Library.open("bread") as library:
        library.add(write_tree(tmp_path / "bread", {"bread.md": text}))
        guide = library.study()

    assert [item.text.partition(" is")[0].partition(" taste")[0] for item in guide.summary] == [
        "**Crust**",
        "**Sampling bakers**",
        "#include",
    ]


def test_the_definition_of_an_entry_begins_behind_its_term(tmp_path: Path) -> None:
    text = "# Bread\n\n**Crumb**: the inside of a loaf.\n\n- `levain`: a piece of dough that is kept.\n"
    with Library.open("bread") as library:
        library.add(write_tree(tmp_path / "bread", {"bread.md": text}))
        guide = library.study()

    assert [(item.prompt, item.text) for item in guide.terms] == [
        ("Crumb", "the inside of a loaf."),
        ("levain", "a piece of dough that is kept."),
    ]
    assert [(item.prompt, item.text) for item in guide.questions] == [
        ("What is Crumb?", "the inside of a loaf."),
        ("What is levain?", "a piece of dough that is kept."),
    ]
    assert all(item.text in item.citations[0].quote for item in guide.terms)


def test_the_number_of_a_reference_is_not_asked_for(tmp_path: Path) -> None:
    text = "# Ropes\n\nThe old sailors of Bergen knew this bend as well as anybody [ 13 ].\n"
    with Library.open("ropes") as library:
        library.add(write_tree(tmp_path / "ropes", {"ropes.md": text}))
        guide = library.study()

    assert guide.summary
    assert not guide.questions


def test_what_changed_since_it_was_indexed_is_left_out(library: Library, tmp_path: Path) -> None:
    (tmp_path / "bread" / "dough.md").write_text(LESSON.replace("levain", "starter"), encoding="utf-8")

    guide = library.study()

    assert not guide.terms
    assert guide.left_out > 0
    assert all("levain" not in item.text for item in guide.items)


def test_numbers_of_questions_are_limited_and_nothing_to_study_is_an_error(library: Library) -> None:
    assert len(library.study(count=1).questions) == 1
    with pytest.raises(QueryError, match="nothing to study"):
        library.study(where=Filter(globs=("*.pdf",)))
    with pytest.raises(ValueError, match="count"):
        library.study(count=0)


def test_code_alone_is_studied_by_a_model_only(library: Library) -> None:
    where = Filter(globs=("*.py",))

    with pytest.raises(QueryError, match="only code"):
        library.study(where=where)
    with ScriptedModel(GUIDE) as model:
        assert library.study(where=where, options=AnswerOptions(model=model, verifier="off")).title == "bake.py"
    assert library.study().title == "Dough"


def test_a_summary_of_many_pages_has_ten_sentences_and_one_of_the_front_page(tmp_path: Path) -> None:
    pages = {
        f"{number:02}.md": f"# Loaf {number}\n\nThe loaf of kind {number} is baked in an oven with a lot of steam.\n"
        for number in range(30)
    }
    front = {"README.md": "# Loaves\n\nThese pages are about the many loaves of a bakery and their crusts.\n"}
    with Library.open("loaves") as library:
        library.add(write_tree(tmp_path / "loaves", pages | front))
        guide = library.study()

    assert len(guide.summary) == 10
    assert "README.md" in {item.citations[0].span.path for item in guide.summary}


def test_translations_licences_and_build_files_are_studied_only_by_themselves(tmp_path: Path) -> None:
    said = "# Loaves\n\nThese pages are about the many loaves of a bakery and their crusts.\n"
    beside = ("README.de.md", "README.dk.md", "LICENSE.md", "meson_options.txt", "_loaf", ".github/TEMPLATE.md")
    with Library.open("loaves") as library:
        library.add(write_tree(tmp_path / "loaves", dict.fromkeys(("README.md", *beside), said)))
        every = library.study()
        one = library.study(where=Filter(globs=("README.dk.md",)))

    assert {item.citations[0].span.path for item in every.items} == {"README.md"}
    assert {item.citations[0].span.path for item in one.items} == {"README.dk.md"}


def test_of_what_a_model_writes_only_what_holds_is_kept(library: Library) -> None:
    with ScriptedModel(GUIDE) as model:
        guide = library.study(options=AnswerOptions(model=model, verifier="off"))

    assert [item.text for item in guide.summary] == ["A levain is a piece of dough that is kept for the next day."]
    assert [item.prompt for item in guide.terms] == ["levain"]
    assert [item.prompt for item in guide.questions] == ["How long is the dough kneaded?"]
    assert {citation.verdict for item in guide.items for citation in item.citations} <= {"exact", "unverified"}
    assert (guide.left_out, guide.model) == (4, "scripted:model")
    assert "study guide" in model.requests[0].messages[-1].text


def test_what_a_verifier_does_not_find_said_is_left_out(library: Library) -> None:
    claims = "## Summary\n\n- Doughs rise while they are left alone. [1:5]\n"
    with ScriptedModel(claims) as model, ScriptedModel('{"claim": 1, "verdict": "not said", "quote": ""}') as judge:
        guide = library.study(options=AnswerOptions(model=model, verifier=judge))

    assert (guide.summary, guide.left_out) == ((), 1)


def test_a_budget_that_forbids_the_call_leaves_a_note(library: Library) -> None:
    model = ScriptedModel()

    guide = library.study(options=AnswerOptions(model=model, budget=Budget(max_tokens=1)))

    assert not any(guide.items)
    assert guide.note
    assert guide.to_dict()["note"] == guide.note


def test_markdown_numbers_its_places_and_keeps_answers_behind_questions() -> None:
    unsure = replace(PLACE, verdict="unverified", span=Span("dough.md", 70, 90, 5, 5))
    item = StudyItem("It is kept.", (PLACE,))
    guide = StudyGuide(
        "Dough",
        (item,),
        (StudyItem("Kept dough.", (PLACE, unsure), "levain"),),
        (StudyItem("Yes.", (unsure,), "Is it?"),),
    )

    assert str(guide) == (
        "# Dough\n\n*Quoted from the sources; no model wrote this.*\n\n## Summary\n\n- It is kept. [1]\n\n"
        "## Key terms\n\n- **levain**: Kept dough. [1][2] (not checked)\n\n## Questions\n\n1. Is it?\n\n"
        "## Answers\n\n1. Yes. [2] (not checked)\n\n## Sources\n\n- [1] dough.md:3\n- [2] dough.md:5\n"
    )
    written = replace(guide, model="anthropic:x", cost_usd=None)
    assert "Written by anthropic:x" in written.to_markdown()
    assert written.to_dict()["cost_usd"] is None
    assert StudyGuide("Dough").to_markdown() == "# Dough\n\n*Quoted from the sources; no model wrote this.*\n"


def test_anki_gets_one_line_a_card_with_an_identifier_that_stays() -> None:
    card = StudyItem('<b> & "more"\nlines', (replace(PLACE, verdict="unverified"),), "What\tis it?")
    guide = StudyGuide("Baking :: Dough", questions=(card,), cost_usd=Decimal(0))

    header, (line,) = guide.to_anki().splitlines()[:6], guide.to_anki().splitlines()[6:]
    identifier, front, back, tag = line.split("\t")

    assert header[:4] == ["#separator:tab", "#html:true", "#notetype:Basic", "#deck:Openbook::Baking : Dough"]
    assert (front, tag) == ("What is it?", "Baking-::-Dough")
    assert back == "&lt;b&gt; &amp; &quot;more&quot; lines<br><br><small>dough.md:3 (not checked)</small>"
    again = replace(guide, questions=(replace(card, text="Another answer."),))
    assert again.to_anki().splitlines()[6].split("\t")[0] == identifier


def test_a_term_is_one_card_of_anki_and_not_asked_for_again() -> None:
    term = StudyItem("A drone is a male bee.", (PLACE,), "drone")
    asked = replace(term, prompt="What is a drone?")
    other = StudyItem("In May.", (PLACE,), "When do bees swarm?")

    cards = StudyGuide("Bees", terms=(term,), questions=(asked, other)).to_anki().splitlines()[6:]

    assert [card.split("\t")[1] for card in cards] == ["drone", "When do bees swarm?"]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("A **drone** is a *male* `bee < 3`.", "A <strong>drone</strong> is a <em>male</em> <code>bee &lt; 3</code>."),
        (
            "See [the *book*](b.md) ![of bees](x.png) <https://a.example>.",
            "See the <em>book</em> of bees &lt;https://a.example&gt;.",
        ),
        ("It lays ____ eggs in my_own_hive.", "It lays ____ eggs in my_own_hive."),
        (r"The area is \(x^2\), 2 * 3 * 4 & more.", r"The area is \(x^2\), 2 * 3 * 4 &amp; more."),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("[x](javascript:alert(1)) ![<b>](y)", "[x](javascript:alert(1)) &lt;b&gt;"),
    ],
)
def test_markup_of_a_card_is_that_of_anki(text: str, field: str) -> None:
    guide = StudyGuide("Bees", terms=(StudyItem(text, (PLACE,), text),))

    _, front, back, _ = guide.to_anki().splitlines()[6].split("\t")

    assert (front, back.partition("<br>")[0]) == (field, field)
