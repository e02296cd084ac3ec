from __future__ import annotations

from pathlib import Path

import pytest

from openbook.library import Library
from openbook.settings import Settings
from openbook.types import Filter, ResultRole
from tests.support import write_tree


@pytest.fixture
def harbour(tmp_path: Path) -> Library:
    folder = tmp_path / "harbour"
    for path, text in {
        "README.md": "# Harbour\n\n[![ci](https://x.example/a.svg)](https://x.example)\n\n"
        "Harbour is a small server that moors ships for you by night.\n\n## Install\n\nRun the installer.\n",
        "docs/architecture.md": "# Architecture\n\nA request goes through the quay, which alone talks to ships.\n",
        "tests/README.md": "# Tests\n\nThese are the tests of the server, which take a very long time to run here.\n",
        "src/quay.py": '"""Talk to ships, one at a time."""\n\ndef moor(ship):\n    return ship\n',
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return Library.of(folder, settings=Settings(home=tmp_path / "home"))


def test_an_overview_quotes_what_the_front_page_opens_with(harbour: Library) -> None:
    with harbour as assistant:
        answer = assistant.query("What does this project do?")

    assert not answer.refused
    first = answer.citations[0]
    assert (first.span.path, first.quote) == (
        "README.md",
        "Harbour is a small server that moors ships for you by night.",
    )
    assert all(citation.verdict == "exact" for citation in answer.citations)
    assert not any(citation.span.path.startswith("tests/") for citation in answer.citations)


def test_a_banner_above_what_a_project_is_does_not_say_what_it_is(tmp_path: Path) -> None:
    readme = (
        "We stand with Ukraine\n---------------------\n\nThis is an image of a town that was hit by many rockets.\n\n"
        "Ships at night\n--------------\n\nThis is a server that does the mooring of ships.\n\n"
        "Usage\n-----\n\n::\n\n    $ harbour moor --name NAME [--berth NUMBER] [--tug NAME] ship.\n\nExamples:\n\n"
        "This is a harbour of two people who promise no help at all.\n"
    )
    write_tree(tmp_path / "harbour", {"README.rst": readme})

    with Library.of(tmp_path / "harbour", settings=Settings(home=tmp_path / "home")) as library:
        answer = library.query("What is harbour?")

    assert answer.citations[0].quote == "This is a server that does the mooring of ships."


def test_the_page_on_architecture_comes_first_where_that_is_asked_for(harbour: Library) -> None:
    with harbour as assistant:
        answer = assistant.query("What is the architecture of this project?")

    assert answer.citations[0].span.path == "docs/architecture.md"


def test_a_page_is_summed_up_where_a_filter_names_it(harbour: Library) -> None:
    with harbour as assistant:
        answer = assistant.query("Summarize this page", where=Filter(globs=("src/quay.py", "docs/*")))

    assert not answer.refused
    assert {result.chunk.span.path for result in answer.results if ResultRole.OVERVIEW in result.roles} >= {
        "docs/architecture.md"
    }


def test_an_overview_quotes_no_directive_and_no_detail_that_begins_as_a_description_does(tmp_path: Path) -> None:
    readme = (
        "# Quay\n\nVarious helpers to moor ships of every size and to let them go again.\n\n"
        "A mark can be put on each of the ropes while a ship is moored.\n"
    )
    index = ".. image:: quay.svg\n   :alt: A picture of the harbour as it was once.\n"
    folder = write_tree(tmp_path / "quay", {"README.md": readme, "docs/index.rst": index})

    with Library.of(folder, settings=Settings(home=tmp_path / "home", workers=1)) as assistant:
        answer = assistant.query("What is this library for?")

    assert [citation.quote for citation in answer.citations] == [
        "Various helpers to moor ships of every size and to let them go again."
    ]


def _quotes(tmp_path: Path, files: dict[str, str], question: str) -> list[str]:
    folder = write_tree(tmp_path / "harbour", files)
    with Library.of(folder, settings=Settings(home=tmp_path / "home", workers=1)) as assistant:
        return [citation.quote for citation in assistant.query(question).citations]


def test_a_readme_that_only_points_to_another_one_does_not_hide_it(tmp_path: Path) -> None:
    files = {"README": "see README.md\n", "README.md": "# Harbour\n\nHarbour is a small server that moors ships.\n"}

    assert _quotes(tmp_path, files, "What does this project do?") == ["Harbour is a small server that moors ships."]


def test_sponsors_and_licences_are_not_what_a_project_does(tmp_path: Path) -> None:
    readme = (
        "|build| |license|\n\n:Version: 5.6 (recovery)\n:Keywords: quay, ship, mooring, tide, night\n\n"
        "Sponsors\n========\n\nRopeWorks\n---------\n\nRopeWorks is a leading vendor of ropes for all ports.\n\n"
        "What it is\n==========\n\nHarbour moors ships by night, using ropes of its own make.\n\n"
        "License\n=======\n\nHarbour is a work under the terms of the Free Licence, version two.\n"
    )

    told = _quotes(tmp_path, {"README.rst": readme}, "What does harbour do?")

    assert told == ["Harbour moors ships by night, using ropes of its own make."]


def test_a_project_on_what_is_mostly_beside_one_is_still_told_of(tmp_path: Path) -> None:
    readme = "# Licence checker\n\nHarbour is a tool that checks the licence of each ship.\n"

    assert _quotes(tmp_path, {"README.md": readme}, "What does this project do?") == [
        "Harbour is a tool that checks the licence of each ship."
    ]


def test_where_to_start_is_told_by_the_section_on_it(tmp_path: Path) -> None:
    readme = (
        "# Harbour\n\nHarbour is a small server that moors ships by night.\n\n"
        "## Tides\n\nTides are read twice a day from the tables of the port authority.\n\n"
        "## Getting started\n\nRead the tutorial on ropes and then moor your first ship.\n"
    )

    assert _quotes(tmp_path, {"README.md": readme}, "Where do I start?") == [
        "Harbour is a small server that moors ships by night.",
        "Read the tutorial on ropes and then moor your first ship.",
    ]


def test_a_page_that_a_filter_names_is_summed_up_by_what_each_section_opens_with(tmp_path: Path) -> None:
    tides = "# Tides\n\nHigh water comes twice a day here.\n\n## Tables\n\nTables are read at noon and at midnight.\n"
    folder = write_tree(tmp_path / "harbour", {"notes/tides.md": tides, "README.md": "# Harbour\n\nIt moors ships.\n"})

    with Library.of(folder, settings=Settings(home=tmp_path / "home", workers=1)) as assistant:
        answer = assistant.query("Summarize this page", where=Filter(globs=("notes/tides.md",)))

    assert [citation.quote for citation in answer.citations] == [
        "High water comes twice a day here.",
        "Tables are read at noon and at midnight.",
    ]


def test_a_library_of_posts_alone_is_about_what_they_say(tmp_path: Path) -> None:
    told = "This blog tells how we build reliable services at Acme, with one pattern in each post."
    folder = write_tree(
        tmp_path / "acme", {"blog/about.md": f"# About\n\n{told}\n", "blog/one.md": "# One\n\nA pattern.\n"}
    )

    with Library.of(folder, settings=Settings(home=tmp_path / "home")) as library:
        answer = library.query("What is this about?")

    assert answer.citations[0].quote == told


def test_what_defines_a_project_comes_before_what_else_is_told_of_it(tmp_path: Path) -> None:
    readme = (
        "# Harbour\n\n**Harbour is looking for** people who look after it.\n\n"
        "HarbourMaster (short: HM) is a server that moors ships by night.\n"
    )
    files = {"docs/overview.md": "# Overview\n\nHarbour was written by two people in one summer.\n"}

    quotes = _quotes(tmp_path, {**files, "README.md": readme}, "What does this project do?")

    assert quotes[0] == "HarbourMaster (short: HM) is a server that moors ships by night."


def test_a_page_with_a_definition_comes_before_a_front_page_without_one(tmp_path: Path) -> None:
    files = {
        "README.md": "# Harbour\n\nPlease read the notes on how faults are reported here.\n",
        "AGENTS.md": "# Notes\n\nHarbour is a server that moors ships by night.\n",
    }

    assert _quotes(tmp_path, files, "What does this project do?") == ["Harbour is a server that moors ships by night."]


def test_the_line_below_the_title_needs_no_full_stop_and_a_line_in_tags_says_nothing(tmp_path: Path) -> None:
    readme = (
        '<div align="center">\n<a href="https://x.example">\n  <b>I founded Ropes to save you money. Look at it!</b>\n'
        "</a>\n</div>\n\nA quiet server that moors ships by night\n\n## Sponsors\n\nMany thanks to all.\n"
    )

    quotes = _quotes(tmp_path, {"README.md": readme}, "What does this project do?")

    assert quotes == ["A quiet server that moors ships by night"]


def test_where_the_structure_is_asked_for_its_page_says_what_each_section_opens_with(tmp_path: Path) -> None:
    files = {
        "README.md": "# Harbour\n\nHarbour is a server that moors ships by night.\n",
        "docs/Codebase_Guide.md": (
            "# Codebase\n\nThis page leads through the packages here.\n\n"
            "## Packages\n\n* `quay`: Throws, catches and keeps the ropes.\n"
            "* `tug`: Pulls the ships that are too large.\n"
        ),
    }

    assert _quotes(tmp_path, files, "Give me an overview of the codebase") == [
        "This page leads through the packages here.",
        "* `quay`: Throws, catches and keeps the ropes.\n* `tug`: Pulls the ships that are too large.",
        "Harbour is a server that moors ships by night.",
    ]


def test_an_opening_that_leads_to_a_list_is_quoted_with_it(tmp_path: Path) -> None:
    readme = (
        "# Harbour\n\nHarbour is a small server that includes:\n\n- a quay\n- two tugs\n\n## Licence\n\nFree for all.\n"
    )

    assert _quotes(tmp_path, {"README.md": readme}, "What does this project do?") == [
        "Harbour is a small server that includes:\n\n- a quay\n- two tugs"
    ]


def test_a_line_with_the_name_and_a_dash_says_what_a_project_is(tmp_path: Path) -> None:
    readme = (
        "# Harbour\n\nHarbour - a tiny library for mooring ships in every port\n\nCall moor with the name of a ship.\n"
    )

    assert _quotes(tmp_path, {"README.md": readme}, "What does this project do?")[0].startswith("Harbour - a tiny")


@pytest.mark.parametrize(
    "line",
    [
        "Copyright 2020 The Harbour Authors and all its many contributors",
        "Built and maintained with love by the Acme platform team",
        "This README is also available in Chinese and Japanese",
    ],
)
def test_another_line_without_a_full_stop_says_nothing(line: str, tmp_path: Path) -> None:
    readme = f"# Harbour\n\n{line}\n\nShips are moored with it, and parcels are tracked until they arrive.\n"

    assert _quotes(tmp_path, {"README.md": readme}, "What does this project do?") == [
        "Ships are moored with it, and parcels are tracked until they arrive."
    ]


def test_a_word_in_capitals_that_begins_with_the_name_is_not_the_project(tmp_path: Path) -> None:
    readme = "# Harbour\n\nHARBOURED is the state of a ship in port.\n\nHarbourMaster is a server that moors ships.\n"

    assert _quotes(tmp_path, {"README.md": readme}, "What does this project do?")[0].startswith("HarbourMaster")


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("internals.md", "What is the architecture of this project?"),
        ("design-notes.md", "How does the whole codebase hang together?"),
        ("codebase.md", "Give me an overview of the codebase"),
    ],
)
def test_a_page_on_the_structure_comes_before_one_about_the_project(name: str, question: str, tmp_path: Path) -> None:
    files = {
        "about.md": "# About\n\nIt was written by two people in one long summer.\n",
        f"docs/{name}": "# Notes\n\nA request goes through the quay, which alone talks to ships.\n",
    }

    assert _quotes(tmp_path, files, question)[0].startswith("A request goes through the quay")


@pytest.mark.parametrize("text", ["{0} So they say.\n", "Old ropes are sold by the yard here.\n\n{0}\n"])
def test_a_sentence_without_an_article_that_stands_elsewhere_says_little(text: str, tmp_path: Path) -> None:
    readme = (
        f"# Harbour\n\n{text.format('Fast, reliable moorings for ships at sea.')}\nHarbour uses ropes to hold ships.\n"
    )

    quotes = _quotes(tmp_path, {"README.md": readme}, "What is this project about?")

    assert quotes[0].startswith("Harbour uses ropes")


def test_a_package_without_a_page_is_introduced_by_the_docstring_of_its_module(tmp_path: Path) -> None:
    files = {
        "harbour/__init__.py": '"""Moors ships and keeps a log of all that come and go."""\n\nimport quays\n',
        "harbour/quays.py": 'class Quay:\n    """A place where ships are moored."""\n',
    }
    write_tree(tmp_path / "port", files)

    with Library.of(tmp_path / "port", settings=Settings(home=tmp_path / "home")) as library:
        answer = library.query("What does this project do?")

    assert [each.quote for each in answer.citations] == ['"""Moors ships and keeps a log of all that come and go."""']
