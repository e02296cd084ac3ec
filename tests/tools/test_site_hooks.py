"""The site's links lead where the pages' do, and nothing of it is loaded from another host."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.site.hooks import foreign_addresses, github_slug, site_links

REPOSITORY = "https://example.org/book"


@pytest.mark.parametrize(
    ("link", "page", "expected"),
    [
        ("docs/a.md#b", "index.md", "a.md#b"),
        ("docs/page.png", "index.md", "page.png"),
        ("LICENSE", "index.md", f"{REPOSITORY}/blob/main/LICENSE"),
        ("../README.md", "a.md", "index.md"),
        ("../../README.md", "tutorials/t.md", "../index.md"),
        ("../a.md#b", "tutorials/t.md", "../a.md#b"),
        ("../src/c.py#L4-L6", "a.md", f"{REPOSITORY}/blob/main/src/c.py#L4-L6"),
        ("https://example.org", "a.md", "https://example.org"),
        ("#b", "a.md", "#b"),
    ],
)
def test_a_link_leads_to_a_page_of_the_site_or_to_the_repository(link: str, page: str, expected: str) -> None:
    assert site_links(f"See [this]({link}).", page, REPOSITORY) == f"See [this]({expected})."


@pytest.mark.parametrize("code", ["```\n[a](../b.py)\n```", "    [a](../b.py)", "~~~text\n[a](../b.py)\n~~~"])
def test_code_is_left_as_it_is(code: str) -> None:
    assert site_links(code, "a.md", REPOSITORY) == code


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Libraries for several machines (LanceDB)", "libraries-for-several-machines-lancedb"),
        ("POST /api/jobs/{job_id}", "post-apijobsjob_id"),
        ("Behaviour of `ask` – in short", "behaviour-of-ask--in-short"),
    ],
)
def test_anchors_are_those_of_github(heading: str, anchor: str) -> None:
    assert github_slug(heading, "-") == anchor


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/x.js"></script>',
        "<script src=//cdn.example/x.js></script>",
        '<link rel="stylesheet" href="https://fonts.example/css">',
        '<link rel="preconnect" href="https://fonts.example">',
        '<img alt="" src="http://pictures.example/a.png">',
        "<style>a { background: url('https://pictures.example/a.png') }</style>",
        '@import "https://fonts.example/css";',
        '<a href="https://git.example/x" data-md-component="source">x</a>',
        '<pre class="mermaid"><code>a --> b</code></pre>',
    ],
)
def test_what_another_host_would_send_is_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(text, encoding="utf-8")

    assert len(list(foreign_addresses(tmp_path))) == 1


def test_links_that_a_reader_follows_and_files_of_the_site_are_let_through(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        '<a href="https://example.org">x</a> <link rel="canonical" href="https://example.org/a/">'
        '<script src="../assets/x.js"></script> <img src="data:image/png;base64,AA==">'
        "<style>a { b: url(x.png) }</style>",
        encoding="utf-8",
    )

    assert list(foreign_addresses(tmp_path)) == []
