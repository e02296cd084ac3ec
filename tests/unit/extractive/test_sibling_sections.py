"""Lists that stand as the headings of a section, or as the pages of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.extractive.answerer import pick
from openbook.extractive.composing import compose
from openbook.extractive.context import build_context
from openbook.extractive.sibling_sections import is_name, with_sections
from openbook.questions.question import read_question
from openbook.types import Filter
from tests.unit.retrieval.material import Library, chunk_of, result_of

ASKED = "Which ropes are there?"
OTHER = "There are ropes in the harbour, and sailors who splice them."


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "sections.db")
    library.put("other.md", OTHER, language="markdown")
    yield library
    library.close()


def put(library: Library, path: str, *texts: str, title: str = "") -> None:
    library.put(path, *texts, language="markdown", context=(title,) if title else ())


def page(title: str, *headings: str, sign: str = "##") -> str:
    return "\n\n".join((title, *(f"{sign} {each}" for each in headings)))


def answer(
    library: Library,
    question: str = ASKED,
    where: Filter | None = None,
    results: tuple[str, ...] = (),
    max_tokens: int = 10_000,
) -> list[str]:
    """Return the lines of the answer, without its note and the marks, if `other.md` and `results` are found."""
    query = read_question(question)
    chunks = [chunk for path in ("other.md", *results) for chunk in library.index.chunks("src", path)]
    context = build_context([result_of(chunk) for chunk in chunks], max_tokens)
    picked = pick(query, context, library.embedder, dict.fromkeys(query.tokens, 1.0))
    picked, context = with_sections(query, picked, context, library.index, where or Filter())
    assert {item.passage.shown.number for item in picked} <= {item.number for item in context.shown}
    _, *lines = compose(picked).split("\n")
    items = [number for number, line in enumerate(lines) if line.startswith("- ")]
    assert items == list(range(1, 1 + len(items)))  # one list without blank lines
    return [line.partition(" [")[0] + line.partition("]")[2] for line in lines if line]


QUOTE = ["other.md", f"> {OTHER}"]
ROPES = ("Hemp", "Steel", "Nylon")
LISTED = ["- Hemp", "- Steel", "- Nylon"]


@pytest.mark.parametrize(
    "title",
    ["# Ropes", "# Supported ropes", "# List of ropes", "# Ropes in the harbour", "# Ropes reference", "# Tow ropes"],
)
def test_the_headings_below_a_title_that_is_on_the_things_are_listed_first(library: Library, title: str) -> None:
    put(library, "tar.md", page(title, *ROPES), title=title.strip("# "))

    assert answer(library) == [*LISTED, *QUOTE]


def test_a_section_of_a_page_has_its_own_list(library: Library) -> None:
    text = f"{page('## Ropes', *ROPES, sign='###')}\n\n{page('## Piers', 'North', 'South', 'West', sign='###')}"
    put(library, "harbour.md", "# Harbour\n\nIt moors.", text, title="Harbour")

    assert answer(library, results=("harbour.md",))[:5] == [*LISTED, *QUOTE]


def test_the_name_of_a_file_without_a_title_is_one(library: Library) -> None:
    put(library, "ropes.md", page("All of them.", *ROPES))

    assert answer(library) == [*LISTED, *QUOTE]


@pytest.mark.parametrize(
    "title",
    ["# Rope", "# Harbour", "# Piers of ropes", "# Testing old ropes"],
    ids=["of one", "other", "of other things", "two words more"],
)
def test_the_parts_of_a_section_on_something_else_are_no_list(library: Library, title: str) -> None:
    put(library, "tar.md", page(title, *ROPES), title=title.strip("# "))

    assert answer(library) == QUOTE


@pytest.mark.parametrize(
    "headings",
    [
        ("Hemp", "Steel"),
        ("Hemp", "Steel", "Nylon", "Silk", "Usage", "How to splice", "Step 3"),
        ("Hemp", "Steel", "Nylon", "Usage"),
    ],
    ids=["two", "few among others", "three among others"],
)
def test_a_list_has_three_items_and_little_beside_them(library: Library, headings: tuple[str, ...]) -> None:
    put(library, "ropes.md", page("# Ropes", *headings), title="Ropes")

    assert answer(library) == QUOTE


def test_what_is_no_name_is_left_out(library: Library) -> None:
    put(library, "ropes.md", page("# Ropes", *ROPES, "Silk", "Splicing ropes"), title="Ropes")

    assert answer(library) == [*LISTED, "- Silk", *QUOTE]


@pytest.mark.parametrize(
    "title",
    [
        "Usage",
        "Basic usage:",
        "How to moor",
        "Limits of hemp",
        "Is it safe?",
        "2. Splice",
        "Mooring a ship",
        "Custom ropes",
        "Moor with hemp",
        "Bowline hitch knot bend loop splice",
    ],
)
def test_a_heading_that_tells_something_names_nothing(title: str) -> None:
    assert not is_name(title)


def test_those_of_a_page_on_another_thing_are_not(library: Library) -> None:
    put(library, "tar.md", page("# Tar", "HempRope", "SteelRope", "TowRope"), title="Tar")

    assert answer(library, results=("tar.md",)) == QUOTE


def test_all_names_are_the_items_if_few_have_the_word(library: Library) -> None:
    names = ("Hemp rope", "Steel rope", "Tow rope", "Hawser", "Painter", "Sheet")
    put(library, "ropes.md", page("# Ropes", *names), title="Ropes")

    assert answer(library) == [*(f"- {name}" for name in names), *QUOTE]


def test_the_rest_of_the_question_is_in_the_headings_or_the_path(library: Library) -> None:
    put(library, "barge/ropes.md", page("# Ropes", *ROPES), title="Ropes")

    assert answer(library, "Which ropes are there for a barge?") == [*LISTED, *QUOTE]
    assert answer(library, "Which ropes are there for a ferry?") == QUOTE


def test_the_first_sentence_directly_below_is_quoted_with_a_heading(library: Library) -> None:
    text = "# Ropes\n\n## Hemp\n\nIt rots in the wet of a harbour. Then it tears, as all old ropes do.\n\n"
    text += "## Steel\n\n### Wire\n\nIt rusts soon.\n\n"
    text += "## Nylon\n\nIts lengths in m are:\n\n- 4\n\n## Silk\n\n```sh\nmoor --with silk\n```\n\n"
    text += "## Sisal\n\n    moor --with sisal now"
    put(library, "ropes.md", text, title="Ropes")

    assert answer(library) == [
        "- Hemp: It rots in the wet of a harbour.",
        "- Steel",
        "- Nylon",
        "- Silk",
        "- Sisal",
        *QUOTE,
    ]


def test_no_sentence_is_quoted_if_all_have_too_many_words(library: Library) -> None:
    below = "It holds " + "every ship of the harbour and " * 6 + "more."
    put(library, "ropes.md", "\n\n".join(("# Ropes", *(f"## {each}\n\n{below}" for each in ROPES))), title="Ropes")

    assert answer(library) == [*LISTED, *QUOTE]


def test_a_long_list_is_cut_and_says_so(library: Library) -> None:
    put(library, "ropes.md", page("# Ropes", *(f"Rope{number}" for number in range(30))), title="Ropes")

    shown = answer(library)

    assert shown[23:] == ["- Rope23 (goes on to line 61)", *QUOTE]


def test_nothing_is_added_if_the_first_quote_names_all(library: Library) -> None:
    put(library, "ropes.md", page("# Ropes", "harbour", "sailors", "ropes"), title="Ropes")

    assert answer(library) == QUOTE


def test_a_section_that_many_pages_have_is_no_answer(library: Library) -> None:
    for name in ("barge", "ferry"):
        put(library, f"{name}.md", page(f"# {name}\n\n## Ropes", *ROPES, sign="###"), title=name)
    assert answer(library, results=("barge.md", "ferry.md")) == [*LISTED, *QUOTE]

    put(library, "liner.md", page("# liner\n\n## Ropes", *ROPES, sign="###"), title="liner")

    assert answer(library, results=("barge.md", "ferry.md", "liner.md")) == QUOTE


def test_the_page_of_the_better_result_comes_first(library: Library) -> None:
    for name in ("barge", "ferry"):
        put(library, f"{name}.md", page(f"# {name}\n\n## Ropes", *ROPES, name, sign="###"), title=name)

    assert "- barge" in answer(library, results=("barge.md", "ferry.md"))
    assert "- ferry" in answer(library, results=("ferry.md", "barge.md"))


def test_the_page_that_is_called_so_comes_before_others(library: Library) -> None:
    put(library, "a.md", page("# A\n\n## Ropes", "One", "Two", "Three", "Four", sign="###"), title="A")
    put(library, "ropes.md", page("# Ropes", *ROPES), title="Ropes")
    put(library, "z.md", page("# Z\n\n## Tow ropes", "One", "Two", "Three", "Four", sign="###"), title="Z")

    assert answer(library, results=("a.md", "z.md")) == [*LISTED, *QUOTE]


def test_the_pages_of_a_folder_that_is_called_so_are_listed(library: Library) -> None:
    put(library, "docs/ropes/index.md", "All.")
    put(library, "docs/ropes/hemp.md", "---\ntitle: Hemp\n---\n\nIt rots.\n\n## Limits\n\nMany.", title="Hemp")
    put(library, "docs/ropes/nylon.md", "All of it.\n\n# Nylon\n\nIt holds any ship.")
    put(library, "docs/ropes/steel.md", "# Steel")
    put(library, "docs/ropes/data.md", "Tar is black.")
    for name in ROPES:
        put(library, f"site/ropes/{name}.md", "It is data.")
    put(library, "docs/ropes/more/silk.md", "# Silk")

    assert answer(library) == ["- Hemp", "- Nylon: It holds any ship.", "- Steel", *QUOTE]
    assert answer(library, "Which ropes are there for a ferry?") == QUOTE
    assert answer(library, where=Filter(globs=("*other.md", "*hemp.md", "*nylon.md"))) == QUOTE


def test_the_rest_of_a_folder_is_named(library: Library) -> None:
    for number in range(10, 40):
        put(library, f"ropes/{number}.md", f"# Rope{number}")

    assert answer(library)[23:] == ["- Rope33 (goes on in ropes/)", *QUOTE]


def test_a_page_of_an_earlier_version_is_not_listed(library: Library) -> None:
    put(library, "versioned_docs/version-1/ropes.md", page("# Ropes", *ROPES), title="Ropes")

    assert answer(library) == QUOTE


def test_other_questions_get_no_list(library: Library) -> None:
    put(library, "ropes.md", page("# Ropes", *ROPES), title="Ropes")

    assert answer(library, "Where are ropes in the harbour?") == QUOTE


def test_a_heading_that_is_underlined_is_shown_without_its_line(library: Library) -> None:
    text = "Ropes\n=====\n\n" + "\n\n".join(f"``{each}``\n----------\n\nIt holds ships." for each in ROPES)
    library.put("ropes.rst", text, language="rst", context=("Ropes",))

    assert answer(library) == [
        "- Hemp: It holds ships.",
        "- Steel: It holds ships.",
        "- Nylon: It holds ships.",
        *QUOTE,
    ]


def test_a_quote_of_what_a_heading_is_quoted_with_is_not_repeated(library: Library) -> None:
    text = "\n\n".join(("# Ropes", *(f"## {each}\n\nThere are ropes of it, such as {each}s." for each in ROPES)))
    put(library, "ropes.md", text, title="Ropes")

    assert answer(library, results=("ropes.md",)) == [
        *(f"- {each}: There are ropes of it, such as {each}s." for each in ROPES),
        *QUOTE,
    ]


def test_a_result_that_does_not_fit_the_context_is_still_quoted(library: Library) -> None:
    put(library, "ropes.md", page("# Ropes\n\n" + "\n".join(["It holds."] * 30), *ROPES), title="Ropes")

    assert answer(library, results=("ropes.md",), max_tokens=100)[:3] == LISTED


def test_only_the_best_pages_are_read(library: Library) -> None:
    pages = [f"{number}.md" for number in range(15)]
    for name in pages:
        put(library, name, "It moors.")
    put(library, "harbour.md", page("# Harbour\n\n## Ropes", *ROPES, sign="###"), title="Harbour")

    assert answer(library, results=(*pages[1:], "harbour.md"))[:3] == LISTED
    assert answer(library, results=(*pages, "harbour.md")) == QUOTE


def test_code_has_no_sections(library: Library) -> None:
    library.put("ropes.py", page("# Ropes", *ROPES), kind="code", language="python", context=("Ropes",))
    for name in ROPES:
        library.put(f"ropes/{name}.py", f"# {name}", kind="code", language="python")
        put(library, f"tests/ropes/{name}.md", f"# {name}")
        put(library, f"ropes/guides/{name}.md", f"# {name}")

    assert answer(library, results=("ropes.py",))[1] not in LISTED


def test_a_section_of_a_page_that_is_called_so_may_be_on_something_else(library: Library) -> None:
    put(library, "ropes.md", page("# Harbour\n\n## Piers", "North", "South", "West", sign="###"), title="Harbour")

    assert answer(library) == QUOTE


def test_the_first_heading_of_a_page_without_a_title_is_an_item(library: Library) -> None:
    chunks, before = [], ""
    for name in ROPES:
        text = f"## {name}\n\n### Limits\n\nMany."
        chunks.append(chunk_of(text, "ropes.md", before=before, language="markdown", context=(name,)))
        before += f"{text}\n\n"
    library.put_chunks(before, chunks)

    assert answer(library) == [*LISTED, *QUOTE]


def test_words_that_ask_for_a_list_need_not_be_in_the_headings(library: Library) -> None:
    put(library, "ropes.md", page("# Ropes", *ROPES), title="Ropes")

    assert answer(library, "Which supported ropes are available?") == [*LISTED, *QUOTE]
