"""Repositories become sources like any other: searched, updated, linked to, and never fetched unless asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.answers import Answered
from openbook.errors import FetchError, SourceError
from openbook.index.protocol import Source
from openbook.libraries.repositories import _token_for, fetched_files, link_to, with_permalinks
from openbook.library import Library
from openbook.settings import Settings
from openbook.sources.loading import LoadOptions
from openbook.sources.repository_urls import read_repository_url
from openbook.types import Span
from tests.fakes.git_server import GitServer
from tests.repositories import Repository

FILES = {
    "README.md": "# Shop\n\nRefunds are booked by the till.\n",
    "src/till.py": "def book_refund(amount):\n    return -amount\n",
}


@pytest.fixture
def assistant() -> Iterator[Library]:
    with Library.open() as assistant:
        yield assistant


def test_a_repository_is_a_source_with_its_address_and_commit(assistant: Library, github: Path) -> None:
    served = Repository(github / "octo" / "shop")
    served.git("checkout", "-q", "-b", "trunk")
    commit = served.commit(FILES)

    repository = assistant.load_repository("octo/shop")

    (root,) = assistant.sources()
    assert (root.name, root.kind, root.url) == ("shop", "git", "https://github.com/octo/shop")
    assert (root.commit, repository.commit) == (commit, commit)
    assert (repository.owner, repository.name, repository.branch) == ("octo", "shop", "trunk")
    assert [(each.path, each.type) for each in repository.documents] == [
        ("README.md", "readme"),
        ("src/till.py", "code"),
    ]
    assert (repository.total_files, repository.total_bytes) == (2, sum(map(len, FILES.values())))
    assert repository.language == "python"


def test_a_folder_of_a_branch_is_loaded_by_the_address_of_its_page(assistant: Library, github: Path) -> None:
    served = Repository(github / "octo" / "shop")
    served.git("checkout", "-q", "-b", "feature/x")
    commit = served.commit({**FILES, "docs/api/a.md": "# API\n"})

    repository = assistant.load_repository("https://github.com/octo/shop/tree/feature/x/docs/api")

    assert [each.path for each in repository.documents] == ["docs/api/a.md"]
    assert repository.language == ""
    assert (repository.branch, repository.commit) == ("feature/x", commit)


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("octo/shop", True),
        ("https://github.com/octo/shop", True),
        ("http://github.com/octo/shop", False),
        ("git@github.com:octo/shop.git", False),
        ("https://github.com:8443/octo/shop", False),
        ("https://github.com.evil.org/octo/shop", False),
        ("https://gitlab.com/octo/shop", False),
    ],
)
def test_the_token_of_github_is_for_github_over_https(
    monkeypatch: pytest.MonkeyPatch, address: str, wanted: bool
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_s3cret")

    assert (_token_for(read_repository_url(address)) is not None) is wanted


def test_another_host_is_not_sent_the_token(
    assistant: Library, git_server: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_s3cret")
    git_server.token = "ghp_s3cret"
    Repository(git_server.folder / "octo" / "shop").commit(FILES)

    with pytest.raises(FetchError, match="does not exist, or is private"):
        assistant.load_repository(f"{git_server.url}/octo/shop")

    assert git_server.credentials == []


def test_a_token_in_an_address_is_neither_kept_nor_shown(
    assistant: Library, github: Path, git_server: GitServer
) -> None:
    Repository(github / "octo" / "shop").commit(FILES)
    address = "https://ghp_s3cret@github.com/octo/shop"
    with pytest.raises(SourceError) as caught:
        fetched_files(address, assistant.settings)

    repository = assistant.load_repository(address)

    kept = [file for file in assistant.settings.home.rglob("*") if file.is_file() and b"s3cret" in file.read_bytes()]
    assert kept == []
    assert "s3cret" not in f"{caught.value} {caught.value.hint} {repository}"
    assert not any("s3cret" in sent for sent in (*git_server.requests, *git_server.credentials))


def test_every_citation_has_the_permanent_address_of_its_lines(assistant: Library, github: Path) -> None:
    commit = Repository(github / "octo" / "shop").commit(FILES)
    assistant.load_repository("octo/shop")

    answer = assistant.query("By what are refunds booked?")

    page = f"https://github.com/octo/shop/blob/{commit}"
    urls = {citation.span.path: citation.url for citation in answer.citations}
    assert urls["README.md"] == f"{page}/README.md?plain=1#L3"
    assert {citation.verdict for citation in answer.citations} == {"exact"}


@pytest.mark.slow
def test_another_commit_with_the_same_files_moves_the_links(assistant: Library, github: Path) -> None:
    served = Repository(github / "octo" / "shop")
    served.commit(FILES)
    assistant.load_repository("octo/shop", LoadOptions(include_paths=("src",)))
    commit = served.commit({**FILES, "README.md": "other\n"})

    assistant.load_repository("octo/shop", LoadOptions(include_paths=("src",)))

    assert [root.commit for root in assistant.sources()] == [commit]


def test_bringing_a_library_up_to_date_asks_nobody(assistant: Library, github: Path, git_server: GitServer) -> None:
    served = Repository(github / "octo" / "shop")
    served.commit(FILES)
    assistant.load_repository("octo/shop")
    served.commit({"README.md": "# Shop\n\nNothing here.\n"})
    git_server.requests.clear()

    assistant.sync()

    assert git_server.requests == []
    assert assistant.stats().documents == 2


@pytest.mark.slow
def test_a_second_library_takes_the_commit_that_is_there(assistant: Library, github: Path) -> None:
    served = Repository(github / "octo" / "shop")
    served.commit(FILES)
    assistant.load_repository("octo/shop")
    with Library.open("other") as other:
        other.add(fetched_files("octo/shop", assistant.settings))
        commit = served.commit({"README.md": "# Shop\n\nChanged.\n"})
        other.load_repository("octo/shop")

    before = assistant.sources()[0].commit
    assistant.sync()

    assert before != commit
    assert assistant.sources()[0].commit == commit


def test_a_repository_may_be_on_any_host(assistant: Library, git_server: GitServer) -> None:
    served = Repository(git_server.folder / "octo" / "shop")
    commit = served.commit(FILES)

    repository = assistant.load_repository(f"{git_server.url}/octo/shop")

    (root,) = assistant.sources()
    assert (root.kind, root.url, root.commit) == ("git", f"{git_server.url}/octo/shop", commit)
    assert (repository.owner, repository.branch) == ("octo", "main")
    assert [each.path for each in repository.documents] == ["README.md", "src/till.py"]
    assert {citation.url for citation in assistant.query("Who books refunds?").citations} == {""}


def test_files_come_as_they_are_whatever_they_are_called(assistant: Library, github: Path) -> None:
    files = {**FILES, "a b.md": "spaces\n", "ä.md": "umlaut\r\n", "deep/er/f.md": "", "x.png": "no", ".env": "KEY=1"}
    Repository(github / "octo" / "shop").commit(files)

    repository = assistant.load_repository("octo/shop")

    document = assistant.index.document(repository.source, "ä.md")
    assert document is not None
    assert document.text == "umlaut\r\n"
    assert repository.skipped == {"binary by name": ("x.png",), "secret": (".env",)}


@pytest.mark.parametrize("address", ["{host}/octo/shop", "http://169.254.169.254/octo/shop", "https://evil.org/o/r"])
def test_a_confined_assistant_fetches_from_no_other_hosts(git_server: GitServer, address: str) -> None:
    Repository(git_server.folder / "octo" / "shop").commit(FILES)

    with Library.open() as assistant, pytest.raises(FetchError) as caught:
        assistant.load_repository(address.format(host=git_server.url), confined=True)

    assert "OPENBOOK_SERVER_GIT_HOSTS" in caught.value.hint
    assert git_server.requests == []


def test_a_disk_that_cannot_be_written_is_said(github: Path, tmp_path: Path) -> None:
    Repository(github / "octo" / "shop").commit(FILES)
    with Library.open() as assistant:
        (assistant.settings.home / "repositories").write_text("in the way", encoding="utf-8")

        with pytest.raises(FetchError, match="cannot be written"):
            assistant.load_repository("octo/shop")


def test_what_was_not_fetched_is_not_there_and_the_hint_fetches_it(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not been fetched yet") as caught:
        fetched_files("octo/shop", Settings(home=tmp_path))

    assert caught.value.hint == "openbook add octo/shop"


def test_what_has_no_lines_is_linked_as_a_file() -> None:
    root = Source("shop", "github", "/r", url="https://github.com/octo/shop", commit="c0")

    link = link_to(root, Span("slides.pdf", 0, 5, 1, 1), "p. 2")

    assert link == link_to(root, Span("slides.pdf", 0, 5, 7, 7), "p. 3")
    assert link == "https://github.com/octo/shop/blob/c0/slides.pdf"


def test_answers_from_folders_have_no_addresses(assistant: Library, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(FILES["README.md"], encoding="utf-8")
    assistant.add(tmp_path / "a.md")

    answer = assistant.query("Who books refunds?")

    assert with_permalinks(Answered(answer), assistant.index) == Answered(answer)
    assert {citation.url for citation in answer.citations} == {""}


def test_a_citation_of_a_page_has_the_id_of_its_own_place(assistant: Library, tmp_path: Path) -> None:
    (tmp_path / "eels.html").write_text(
        "<h1>Eels</h1>\n<section id=life><h2>Life</h2><p>Eels spawn in the sea.</section>\n"
        "<p id=weight>An eel weighs up to nine kilograms.</p>\n",
        encoding="utf-8",
    )
    assistant.add(tmp_path / "eels.html")

    places = [
        assistant.query(question).citations[0].place for question in ("Where do eels spawn?", "What weighs an eel?")
    ]

    assert places == ["eels.html:2 (Eels › Life #life)", "eels.html:3 (Eels › Life #weight)"]


@pytest.mark.parametrize("is_course", [False, True])
def test_a_citation_of_a_talk_has_the_time_of_its_own_paragraph(
    assistant: Library, tmp_path: Path, is_course: bool
) -> None:
    cues = "\n\n".join(
        f"00:0{at // 60}:{at % 60:02},000 --> 00:0{at // 60}:{at % 60 + 2:02},000\nA {name} guards its own burrow."
        for at, name in ((5, "shrimp"), (25, "goby"), (50, "lobster"), (70, "conger"))
    )
    (tmp_path / "reefs").mkdir()
    (tmp_path / "reefs" / "01-burrows.srt").write_text(cues, encoding="utf-8")
    assistant.add(tmp_path / "reefs", course=is_course)

    cited = [assistant.query(f"What does a {name} guard?").citations[0] for name in ("lobster", "conger")]

    assert [each.anchor for each in cited] == ["00:00:50", "00:01:10"]
    in_course = ["Reefs · Lesson 1: Burrows"] * 2
    assert [each.label for each in cited] == (in_course if is_course else [each.anchor for each in cited])


def test_a_repository_follows_the_home_that_it_was_fetched_into(tmp_path: Path, github: Path) -> None:
    served = Repository(github / "octo" / "shop")
    served.git("checkout", "-q", "-b", "trunk")
    served.commit(FILES)
    with Library.open("shops", settings=Settings(home=tmp_path / "old")) as library:
        library.load_repository("octo/shop")
    (tmp_path / "old").rename(tmp_path / "new")

    with Library.open("shops", settings=Settings(home=tmp_path / "new")) as library:
        library.load_repository("octo/shop")

        (root,) = library.sources()
        assert Path(root.location).is_relative_to(tmp_path / "new")
        assert library.stats().documents == 2
