"""Tables of contents: which page comes when, and what it is called."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from openbook.sources.contents import Contents, Entry, Pages, is_contents, linked_pages, read_contents

A, B, C = Entry("", "a.md"), Entry("", "b.md"), Entry("", "c.md")


def read(name: str, text: str, more: Mapping[str, str] | None = None) -> Contents | None:
    pages = {"a.md": "# A\n", "b.md": "# B\n", "c.md": "# C\n", "index.md": "# Home\n"}
    files = {**pages, name: text, **(more or {})}
    return read_contents(name, Pages(frozenset(files), lambda path: files[path]))


@pytest.mark.parametrize(
    ("name", "text", "entries"),
    [
        pytest.param("_toc.yml", "- file: index\n- file: a\n- file: b", (A, B), id="jupyter-book-before-2021"),
        pytest.param("_toc.yml", "root: index\nchapters:\n- glob: '[bc]*'", (B, C), id="jupyter-book-glob"),
        pytest.param(
            "_toc.yml",
            "root: index\nparts:\n- chapters: [{file: a}]\n- chapters: [{file: b, title: Bees}]",
            (A, Entry("Bees", "b.md")),
            id="jupyter-book-parts-are-numbered-through",
        ),
        pytest.param("myst.yml", "project: {toc: [{file: index}, {file: c}, {file: a}]}", (C, A), id="myst"),
        pytest.param(
            "_toctree.yml", "- title: One\n  sections:\n  - local: a", (Entry("One", "", (A,)),), id="toctree"
        ),
        pytest.param(
            "_quarto.yml",
            "book:\n  chapters:\n  - index.md\n  - part: One\n    chapters: [a.md]\n  - b.md",
            (A, B),
            id="quarto-book",
        ),
        pytest.param(
            "_quarto.yml",
            "book:\n  chapters:\n  - section: One\n    contents:\n    - part: Two\n      chapters: [a.md]\n    - b.md",
            (Entry("One", "", (A, B)),),
            id="quarto-part-of-a-section",
        ),
        pytest.param(
            "_quarto.yml",
            "website: {sidebar: [{contents: [{text: Bees, href: b.md}, a.md]}]}",
            (Entry("Bees", "b.md"), A),
            id="quarto-site",
        ),
        pytest.param("_bookdown.yml", "rmd_files: {html: [index.md, b.md, a.md]}", (B, A), id="bookdown"),
        pytest.param(
            "SUMMARY.md", "- [One](b.md)\n- [Two](a.md)", (Entry("One", "b.md"), Entry("Two", "a.md")), id="summary"
        ),
    ],
)
def test_the_order_of_pages_is_that_of_the_contents(name: str, text: str, entries: tuple[Entry, ...]) -> None:
    found = read(name, text)

    assert found is not None
    assert found.entries == entries


def test_the_episodes_of_the_carpentries_are_in_a_folder_of_their_own() -> None:
    files = {"episodes/01-a.md": "", "episodes/02-b.md": "", "episodes/files/c.md": ""}
    every = read("config.yaml", "carpentry: swc\ntitle: The Shell", files)
    some = read("config.yaml", "carpentry: swc\nepisodes: [02-b.md]", files)

    assert every is not None
    assert every.title == "The Shell"
    assert [entry.path for entry in every.entries] == ["episodes/01-a.md", "episodes/02-b.md"]
    assert some is not None
    assert [entry.path for entry in some.entries] == ["episodes/02-b.md"]
    assert read("config.yaml", "theme: dark") is None


def test_a_sidebar_names_pages_of_the_docs_by_their_ids() -> None:
    sidebars = json.dumps({"docs": ["b", {"type": "category", "label": "More", "items": ["a"]}]})

    found = read("sidebars.json", sidebars, {"docs/a.md": "", "docs/b.md": ""})

    assert found is not None
    assert found.entries == (Entry("", "docs/b.md"), Entry("More", "", (Entry("", "docs/a.md"),)))


def test_a_navigation_says_title_and_author_and_leaves_out_other_sites() -> None:
    found = read(
        "mkdocs.yml",
        "site_name: Bees\nsite_author: Ada\ndocs_dir: .\nnav:\n- a.md\n- More:\n  - B: b.md\n  - Web: https://x.org\n",
    )

    assert found == Contents((A, Entry("More", "", (Entry("B", "b.md"),))), "Bees", "Ada")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("_toc.yml", "chapters: 3", id="a-number-for-a-list"),
        pytest.param("_toc.yml", "a: [", id="no-yaml"),
        pytest.param("_toctree.yml", "- local: ../../etc/passwd", id="outside-of-the-source"),
        pytest.param("_quarto.yml", "book: 7", id="no-book"),
        pytest.param("sidebars.json", "{", id="no-json"),
        pytest.param("notes.yml", "- file: a", id="another-name"),
    ],
)
def test_an_invalid_table_of_contents_is_ignored(name: str, text: str) -> None:
    assert read(name, text) is None


def test_a_table_of_contents_is_known_by_its_name() -> None:
    assert is_contents("docs/_toc.yml")
    assert not is_contents("docs/toc.md")


def test_a_line_of_spaces_and_a_link_without_an_end_take_no_square_of_their_length() -> None:
    text = f"{' ' * 200_000}x\n- [A](a.md)\n"
    contents = read_contents("SUMMARY.md", Pages(frozenset({"SUMMARY.md", "a.md"}), lambda _: text))

    assert contents == Contents((Entry("A", "a.md"),))
    assert linked_pages(f"[A](a.md) [B]({'b' * 200_000}", "", Pages(frozenset({"a.md"}), lambda _: "")) == ["a.md"]
