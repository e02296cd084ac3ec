from __future__ import annotations

import pytest

from openbook.types import Filter, View
from tests.unit.retrieval.material import Library


@pytest.fixture
def library(library: Library) -> Library:
    library.put("docs/install.md", "Copy mail.conf to /etc/mail.conf first.", "Then edit mail.conf.")
    library.put("mail.conf.docker", "This is mail.conf for containers.")
    library.put("deploy/charts/mail.conf", "storage sql", kind="code")
    library.put("mail.conf", "listen on every address", "storage of messages", kind="code")
    library.put("Gemfile", "source of packages", kind="code")
    library.put("docs/packages.md", "The Gemfile lists packages.", "Sort the Gemfile.")
    return library


def files(library: Library, query: str, view: View = "auto", where: Filter | None = None) -> list[str]:
    return [result.chunk.span.path for result in library.search(query, view=view, where=where)]


@pytest.mark.parametrize("view", ["auto", "files", "passages"])
def test_a_file_name_finds_that_file_first_and_the_one_nearest_to_the_top_before_others(
    library: Library, view: View
) -> None:
    assert files(library, "mail.conf", view)[:2] == ["mail.conf", "deploy/charts/mail.conf"]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("charts/mail.conf", "deploy/charts/mail.conf"),
        ("./Mail.CONF", "mail.conf"),
        ("`mail.conf.docker`", "mail.conf.docker"),
        ("src/docs/install.md", "docs/install.md"),
        ("gemfile", "Gemfile"),
    ],
)
def test_the_last_parts_of_a_path_name_it_in_any_case(library: Library, query: str, path: str) -> None:
    assert files(library, query)[0] == path


@pytest.mark.slow
def test_a_file_is_found_by_name_among_many_that_mention_it(library: Library) -> None:
    for number in range(200):
        library.put(f"notes/{number}.md", f"Note {number} on mail.conf, mail.conf and mail.conf.")
    library.put("etc/x/Some Notes.pdf", "nothing")

    assert files(library, "charts/mail.conf")[0] == "deploy/charts/mail.conf"
    assert files(library, "some notes.pdf")[0] == "etc/x/Some Notes.pdf"
    library.put("docs/notes.md", "See some notes.pdf for more.")
    assert files(library, '"some notes.pdf"')[0] == "etc/x/Some Notes.pdf"


@pytest.mark.parametrize("query", ["mail", "conf", "il.conf", "mail.conf first", "docs", "mail.conf?"])
def test_nothing_is_put_first_for_less_or_more_than_a_name(library: Library, query: str) -> None:
    assert not any("named" in result.signals for result in library.search(query))


def test_a_named_file_that_a_filter_leaves_out_is_not_found(library: Library) -> None:
    assert set(files(library, "mail.conf", where=Filter(globs=("docs/",)))) <= {"docs/install.md", "docs/packages.md"}


def test_the_score_of_a_named_file_is_still_the_sum_of_its_signals(library: Library) -> None:
    results = library.search("mail.conf")

    assert [sum(result.signals.values()) for result in results] == [result.score for result in results]
    assert results == sorted(results, key=lambda each: (-each.score, each.chunk.source, each.chunk.span))
