"""What people write to name a repository is understood, or refused before anybody is asked."""

from __future__ import annotations

import pytest

from openbook.errors import SourceError
from openbook.sources.repository_urls import names_repository, permanent_link, read_repository_url

SHOP = "https://github.com/octo/shop.git"


@pytest.mark.parametrize(
    ("text", "clone_url", "rest"),
    [
        pytest.param("octo/shop", SHOP, "", id="short"),
        pytest.param("octo/shop@v1.2", SHOP, "v1.2", id="short-at-tag"),
        pytest.param("octo/shop@feature/x", SHOP, "feature/x", id="short-at-branch-with-slash"),
        pytest.param("github.com/octo/shop", SHOP, "", id="without-scheme"),
        pytest.param("https://github.com/octo/shop/", SHOP, "", id="slash"),
        pytest.param("https://www.GitHub.com/octo/shop.git?tab=readme#top", SHOP, "", id="www-git-query-fragment"),
        pytest.param("https://github.com/octo/shop/tree/feature/x/docs", SHOP, "feature/x/docs", id="tree"),
        pytest.param("https://github.com/octo/shop/blob/main/a%20b.md", SHOP, "main/a b.md", id="blob"),
        pytest.param("https://github.com/octo/shop/commit/c0ffee1", SHOP, "c0ffee1", id="commit"),
        pytest.param("git@github.com:octo/shop.git", "git@github.com:octo/shop.git", "", id="scp"),
        pytest.param("ssh://git@h.org:22/o/r", "ssh://git@h.org:22/o/r", "", id="ssh"),
        pytest.param("https://gitlab.com/a/b/c/-/tree/x/docs", "https://gitlab.com/a/b/c.git", "x/docs", id="gitlab"),
        pytest.param("https://codeberg.org/o/r/src/branch/x/d", "https://codeberg.org/o/r.git", "x/d", id="gitea"),
        pytest.param("https://me@bitbucket.org/o/r/src/x/d", "https://bitbucket.org/o/r.git", "x/d", id="bitbucket"),
        pytest.param("https://git.sr.ht/~o/r", "https://git.sr.ht/~o/r", "", id="sourcehut"),
        pytest.param("git@git.sr.ht:~o/r", "git@git.sr.ht:~o/r", "", id="sourcehut-scp"),
        pytest.param("http://127.0.0.1:8080/o/r", "http://127.0.0.1:8080/o/r", "", id="own-host"),
    ],
)
def test_an_address_names_a_repository_and_what_of_it(text: str, clone_url: str, rest: str) -> None:
    url = read_repository_url(text)

    assert (url.clone_url, url.rest) == (clone_url, rest)


@pytest.mark.parametrize(
    "text",
    [
        *("", "a", "o/..", "o/r@", "o/-r", "-uo/r", "o/r@a/../b", "o/r@-x", "o/r\n/x", "ext::sh -c x/y"),
        *(
            "ssh://-oProxyCommand=x@h/o/r",
            "git@-h:o/r",
            "file:///etc/passwd",
            "git://h/o/r",
            "https://github.com/o",
            "https:///o/r",
            "https://h:99999/o/r",
        ),
        *("https://github.com/o/r/issues/5", "https://github.com/o/r/tree", "https://me:pw@github.com/o/r"),
        *("https://git.sr.ht/~/r", "https://git.sr.ht/~../r", "https://git.sr.ht/o/~r"),
    ],
)
def test_an_address_without_a_repository_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(SourceError) as caught:
        read_repository_url(text)

    assert caught.value.hint
    assert "pw@" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        *("https://me:pa/s3cret@host/o/r", "https://me:80/s3cret@h/r", "https://me:p?s3cret@h/o/r", "me:s3cret/@h/o/r"),
        *("https://s3cret@github.com/o", "s3cret@github.com/o/..", "https://s3cret@h/o/r@-x", "git://a:s3cret@h/o/r"),
        *("https://github.com/o?key=s3cret", "https://me:s3cret@h/o/r", "https://me:x://s3cret@h/o/r"),
    ],
)
def test_an_error_shows_no_name_password_or_key_of_an_address(text: str) -> None:
    with pytest.raises(SourceError) as caught:
        read_repository_url(text)

    assert "s3cret" not in f"{caught.value} {caught.value.hint} {caught.value.location}"


@pytest.mark.parametrize("text", ["git@-h:o/r", "o/r@-x", "https://h/o/r@-x", "https://github.com/o"])
def test_an_error_shows_an_display_address_as_it_is(text: str) -> None:
    with pytest.raises(SourceError, match=f"'{text}'"):
        read_repository_url(text)


def test_capital_letters_make_another_repository_everywhere_but_on_github() -> None:
    urls = ["Octo/Shop", "octo/shop", "https://gitlab.com/Octo/Shop", "https://gitlab.com/octo/shop"]

    first, second, third, fourth = (read_repository_url(url).identity for url in urls)

    assert first == second
    assert third != fourth


@pytest.mark.parametrize("text", ["docs", "./octo/shop", "../a/b", "~/a/b", "a/b/c", "/a/b", "a/..", "C:/a"])
def test_paths_are_not_taken_for_repositories(text: str) -> None:
    assert not names_repository(text)


@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("https://github.com/o/r", "https://github.com/o/r/blob/c0/a/b.py#L3-L9"),
        ("https://gitlab.com/o/r", "https://gitlab.com/o/r/-/blob/c0/a/b.py#L3-9"),
        ("https://codeberg.org/o/r", "https://codeberg.org/o/r/src/commit/c0/a/b.py#L3-L9"),
        ("https://bitbucket.org/o/r", "https://bitbucket.org/o/r/src/c0/a/b.py#lines-3:9"),
        ("https://git.sr.ht/~o/r", "https://git.sr.ht/~o/r/tree/c0/item/a/b.py#L3-9"),
        ("https://git.corp/o/r", ""),
    ],
)
def test_a_link_leads_to_the_lines_of_a_commit_where_the_pages_of_a_host_are_known(page: str, link: str) -> None:
    assert permanent_link(page, "c0", "a/b.py", 3, 9) == link


@pytest.mark.parametrize(
    ("page", "place"),
    [
        ("https://github.com/o/r", "blob/c0/README.md?plain=1#L3"),
        ("https://gitlab.com/o/r", "-/blob/c0/README.md?plain=1#L3"),
        ("https://codeberg.org/o/r", "src/commit/c0/README.md?display=source#L3"),
    ],
)
def test_a_link_to_prose_asks_for_its_source_which_has_lines(page: str, place: str) -> None:
    assert permanent_link(page, "c0", "README.md", 3, 3) == f"{page}/{place}"
    assert permanent_link(page, "c0", "README.md") == f"{page}/{place.partition('?')[0]}"
