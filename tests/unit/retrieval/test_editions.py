"""Of several versions of a documentation, the newest answers, or the one that a question names."""

from __future__ import annotations

import pytest

from openbook.retrieval.editions import (
    Choice,
    choice_of,
    choose_editions,
    edition_of,
    folders_with_editions,
    pages_in,
)
from openbook.types import Filter, Kind
from tests.unit.retrieval.material import Library

_HOIST = "# Hoists\n\nTo raise the hoist, turn its crank {} times. It then holds the load."


@pytest.mark.parametrize(
    "name", ["v3", "v3.4", "V3.4", "3.4", "3.4.0", "3.x", "v3.x", "version-2.0.0", "version_2", "version2"]
)
def test_a_folder_named_by_a_version_has_an_edition(name: str) -> None:
    assert edition_of(f"site/docs/{name}/ops/hoist.md") == ("site/docs", name, "ops/hoist.md")


@pytest.mark.parametrize("name", ["3", "2023", "v", "v3beta1", "chapter-3", "3.4-hoists", "latest", "x"])
def test_other_folders_have_none(name: str) -> None:
    assert edition_of(f"docs/{name}/hoist.md") is None


@pytest.mark.parametrize(
    ("name", "page", "version"),
    [
        ("upgrading-to-12.md", "upgrad-to", "12"),
        ("migrate-to-12.md", "migrat-to", "12"),
        ("UpgradingToTide30.md", "UpgradToTide", "30"),
        ("upgrade_3_5.rst", "upgrad", "3_5"),
        ("tide-migration-guide-v4.x.md", "tide-migrat-guide", "4"),
        ("MIGRATION-4.0.md", "MIGRAT", "4.0"),
    ],
)
def test_guides_to_several_versions_are_editions_of_one_page(name: str, page: str, version: str) -> None:
    assert edition_of(f"docs/{name}") == (f"docs/{page}", version, page)


@pytest.mark.parametrize(
    "name", ["upgrading.md", "chapter-12.md", "migrate-v2-to-v3.md", "tide-12-upgrade.md", "upgrade-12-notes.md"]
)
def test_other_pages_with_a_number_have_none(name: str) -> None:
    assert edition_of(f"docs/{name}") is None


def test_a_long_name_is_read_in_linear_time() -> None:
    assert edition_of("docs/" + "upgrade-" * 2_500 + ".md") is None
    assert edition_of("docs/" + "migrate" * 2_500 + ".md") is None


def test_a_version_is_the_name_of_a_folder_and_the_first_counts() -> None:
    assert edition_of("docs/v3.4") is None
    assert edition_of("v3.4/v1/hoist.md") == ("", "v3.4", "v1/hoist.md")


def test_notes_of_releases_and_code_are_no_versions_of_pages() -> None:
    pages: list[tuple[str, str, Kind]] = [
        ("src", "docs/v3.4/hoist.md", "docs"),
        ("src", "docs/v3.4/manual.yml", "config"),
        ("src", "versioned_docs/version-3.4/hoist.md", "docs"),
    ]
    others: list[tuple[str, str, Kind]] = [
        ("src", "changelog/v3.4/hoist.md", "docs"),
        ("src", "api/v3/hoist.go", "code"),
    ]

    assert pages_in([*pages, *others]) == [page[:2] for page in pages]


def test_a_page_in_two_versions_shows_that_a_folder_has_editions() -> None:
    pages = [("docs", "v1/hoist.md"), ("docs", "v2/hoist.md"), ("docs", "v1/rope.md"), ("docs", "pages/v1/rope.md")]
    assert folders_with_editions(pages) == {("docs", "")}
    assert not folders_with_editions([("a", "v1/hoist.md"), ("b", "v2/hoist.md")])
    # A README is in every folder.
    assert not folders_with_editions(
        [("", f"talks/v{n}/{name}") for n in (1, 2) for name in ("README.md", "_index.md")]
    )
    assert not folders_with_editions([("", f"talks/v{n}/index.html") for n in (1, 2)])


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("how do I raise it", {"v3.10"}),
        ("how do I raise it in v3.9", {"v3.9"}),
        ("how do I raise it in 3.9?", {"v3.9"}),
        ("how do I raise it in version 3.9.2", {"v3.9"}),
        ("what changed between 3.9 and 3.10 for hoists", {"v3.9", "v3.10"}),
        ("how do I raise it in v4", {"v3.10"}),
        ("how do I raise 3 hoists", {"v3.10"}),
        ("how do I raise 13.9 tons", {"v3.10"}),
        ("how do I raise hoist-3.9", {"v3.10"}),
        ("how do I raise 3.9kg", {"v3.10"}),
    ],
)
def test_the_newest_version_is_chosen_or_those_named(question: str, chosen: set[str]) -> None:
    pages = [("", f"docs/{name}/hoist.md") for name in ("v3.2", "v3.10", "v3.9", "main")]
    pages += [("", "talks/v3.2/hoist.md"), ("", "talks/v3.10/rope.md")]

    is_named = chosen != {"v3.10"}
    assert choose_editions(question, pages) == {("", "docs"): Choice(frozenset(chosen), is_named)}


def test_earlier_versions_beside_a_documentation_are_chosen_only_if_named() -> None:
    pages = [("", f"site/versioned_docs/version-{number}/hoist.md") for number in ("1.0", "2.0")]

    assert choose_editions("how do I raise it", pages) == {}
    assert choose_editions("how do I raise it in 1.0", pages) == {
        ("", "site/versioned_docs"): Choice(frozenset({"version-1.0"}), is_named=True)
    }


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("how do I upgrade it", {"13"}),
        ("can I use version 12 on a barge", {"12"}),
        ("is release 12 fit for a barge", {"12"}),
        ("how do I upgrade to 12", {"12"}),
        ("how do I upgrade to 9", {"9.0.0"}),
        ("what breaks when migrating from Tide 12", {"12"}),
        ("can it raise 12 tons", {"13"}),
        ("how do I get from 12 tons to more", {"13"}),
    ],
)
def test_of_guides_to_several_versions_the_newest_is_chosen_or_the_one_named(question: str, chosen: set[str]) -> None:
    pages = [("", f"docs/upgrading-to-{number}.md") for number in ("9.0.0", "12", "13")]

    is_named = chosen != {"13"}
    assert choose_editions(question, pages) == {("", "docs/upgrad-to"): Choice(frozenset(chosen), is_named)}


def test_a_page_of_no_edition_has_no_choice() -> None:
    choice = Choice(frozenset({"v2"}), is_named=False)
    chosen = {("", "docs"): choice}

    assert choice_of("", "docs/v2/hoist.md", chosen) == (choice, True)
    assert choice_of("", "docs/v1/hoist.md", chosen) == (choice, False)
    for source, page in (("", "docs/main/hoist.md"), ("", "talks/v1/hoist.md"), ("other", "docs/v1/hoist.md")):
        assert choice_of(source, page, chosen) is None


@pytest.fixture
def library(library: Library) -> Library:
    for number in range(1, 13):
        library.put(f"docs/v1.{number}/hoist.md", _HOIST.format(number))
        library.put(f"docs/v1.{number}/rope.md", f"# Ropes\n\nA rope holds {number} tons.")
    return library


def _paths(library: Library, question: str, where: Filter | None = None) -> list[str]:
    return [result.chunk.span.path for result in library.search(question, where=where)]


def test_the_newest_version_comes_first(library: Library) -> None:
    found = library.search("How do I raise the hoist?")

    assert found[0].chunk.span.path == "docs/v1.12/hoist.md"
    assert not any("edition" in result.signals for result in found)


def test_the_version_that_is_named_comes_first(library: Library) -> None:
    found = library.search("How do I raise the hoist in v1.3?")

    assert found[0].chunk.span.path == "docs/v1.3/hoist.md"
    raised = {result.chunk.span.path for result in found if "edition" in result.signals}
    assert raised == {"docs/v1.3/hoist.md", "docs/v1.3/rope.md"}


def test_the_chosen_version_is_found_behind_many_equal_pages(library: Library) -> None:
    for number in range(90):
        library.put(f"docs/v1.{number // 10}.{number % 10}/hoist.md", _HOIST.format("many"))
    library.put("docs/v2/hoist.md", f"{_HOIST.format('no')} {'It is of steel, and needs a lot of grease. ' * 30}")

    assert _paths(library, "How do I raise the hoist?")[0] == "docs/v2/hoist.md"


def test_a_filter_holds_for_the_chosen_version(library: Library) -> None:
    where = Filter(within=frozenset({("src", f"docs/v1.{number}/hoist.md") for number in (3, 4)}))

    found = _paths(library, "How do I raise the hoist, and what does the rope hold?", where)

    assert found[0] == "docs/v1.4/hoist.md"
    assert set(found) <= {"docs/v1.3/hoist.md", "docs/v1.4/hoist.md"}


def test_versions_of_code_stand_side_by_side(library: Library) -> None:
    for number in (1, 2):
        library.put(f"docs/v1.{number}/winch.py", f"def wind_winch():\n    return {number} + {number}", kind="code")

    found = library.search("How do I raise the hoist, and which function can wind_winch?")

    roles = {result.chunk.span.path: result.signals["role"] for result in found if result.chunk.kind == "code"}
    assert len(roles) == 2
    assert len(set(roles.values())) == 1


def test_an_earlier_version_beside_a_documentation_answers_if_it_is_named(library: Library) -> None:
    library.put("site/docs/tug.md", "# Tugs\n\nTo call a tug, ring the bell of the pier.")
    for number in (1, 2):
        library.put(
            f"site/versioned_docs/version-{number}.0/tug.md",
            f"# Tugs\n\nTo call a tug, light {number} lamps on the pier.",
        )

    assert _paths(library, "How do I call a tug?")[0] == "site/docs/tug.md"
    assert _paths(library, "How do I call a tug in 1.0?")[0] == "site/versioned_docs/version-1.0/tug.md"


def test_a_named_version_is_found_if_no_candidate_is_of_it(library: Library) -> None:
    for number in range(90):
        library.put(
            f"tugs/{number}.md", f"How do I call a tug in 1, 0: ring {number} times, call a tug, and call a tug."
        )
    for number in (1, 2):
        text = f"To be towed, light {number} lamps on the pier. {'It is of granite, and dry at low tide. ' * 30}"
        library.put(f"site/versioned_docs/version-{number}.0/towing.md", text)

    assert "site/versioned_docs/version-1.0/towing.md" in _paths(library, "How do I call a tug on a pier in 1.0?")


def test_a_filter_holds_if_no_version_is_meant(library: Library) -> None:
    library.put("site/docs/tug.md", "# Tugs\n\nTo call a tug, ring the bell of the pier.")
    where = Filter(within=frozenset({("src", "site/docs/tug.md")}))

    assert _paths(library, "How do I raise a hoist of 5.5 tons?", where) == ["site/docs/tug.md"]


def test_a_number_that_no_version_has_changes_nothing(library: Library) -> None:
    library.put("site/docs/tug.md", "# Tugs\n\nTo call a tug, ring the bell of the pier.")
    library.put("site/versioned_docs/version-1.0/tug.md", "# Tugs\n\nTo call a tug, light a lamp on the pier.")

    assert _paths(library, "How do I call a tug at a depth of 5.5 fathoms?")[0] == "site/docs/tug.md"
