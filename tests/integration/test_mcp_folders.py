"""The folders behind the MCP server: how they are followed, and how an agent may write paths into them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client

from openbook.library import Library
from openbook.settings import Settings
from openbook.watched_library import WatchedLibrary
from tests.integration.support_mcp import ask, call, watched, write_shop


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_shop(tmp_path)


@pytest.fixture
def library(shop: Path) -> Iterator[WatchedLibrary]:
    with watched(shop) as library:
        yield library


def test_a_change_is_seen_by_a_later_call(shop: Path, library: WatchedLibrary) -> None:
    async def use(client: Client) -> str:
        await client.call_tool("list_sources", {})
        (shop / "new.md").write_text("# Returns\n\nA return costs 4 euros.\n", encoding="utf-8")
        for _ in range(200):
            result = await client.call_tool("search", {"query": "What does a return cost?"})
            if "new.md" in str(result):
                return "seen"
            await asyncio.sleep(0.05)
        return "never seen"

    assert ask(library, use) == "seen"


@pytest.mark.slow
def test_a_folder_that_goes_does_no_harm_and_is_followed_again_when_it_comes_back(
    shop: Path, library: WatchedLibrary
) -> None:
    async def search(client: Client, query: str, name: str) -> str:
        for _ in range(200):
            result = await client.call_tool("search", {"query": query})
            if result.is_error or name in str(result):
                return str(result)
            await asyncio.sleep(0.05)
        return "never seen"

    def go() -> None:
        shop.rename(shop.with_name("away"))

    def come_back() -> None:
        shop.mkdir()
        (shop / "back.md").write_text("# Zeppelin\n\nThe zeppelin lands.\n", encoding="utf-8")

    async def use(client: Client) -> list[str]:
        before = await search(client, "weigh", "src/parcels.py")
        go()
        gone = await search(client, "weigh", "src/parcels.py")
        come_back()
        back = await search(client, "zeppelin", "back.md")
        (shop / "later.md").write_text("# Ferry\n\nThe ferry leaves.\n", encoding="utf-8")
        return [before, gone, back, await search(client, "ferry", "later.md")]

    told = ask(library, use)

    assert not [one for one in told if one == "never seen" or "is_error=True" in one]
    gone = f"(the folder of {shop.name} is gone: what is found in it was indexed before)"
    assert [gone in one for one in told] == [False, True, False, False]


@pytest.mark.slow
def test_folders_that_the_system_does_not_watch_are_looked_at_by_each_call(
    shop: Path, library: WatchedLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> Iterator[None]:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr("watchfiles.watch", full)

    async def use(client: Client) -> str:
        await client.call_tool("list_sources", {})
        for _ in range(200):
            (shop / "new.md").write_text("# Returns\n\nA return costs 4 euros.\n", encoding="utf-8")
            result = await client.call_tool("search", {"query": "What does a return cost?"})
            if "new.md" in str(result):
                return "seen"
            await asyncio.sleep(0.05)
        return "never seen"

    assert ask(library, use) == "seen"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_lines", {"path": "{shop}/src/parcels.py"}),
        ("outline", {"path": "{shop}/src/parcels.py"}),
        ("find_related", {"path": "{shop}/test_parcels.py", "line": 5}),
        ("search", {"query": "weigh", "path": "{shop}/src"}),
        ("search", {"query": "weigh", "path": "{shop}/"}),
    ],
)
def test_paths_may_begin_at_the_root_of_this_machine(
    tool: str, arguments: dict[str, Any], shop: Path, library: WatchedLibrary
) -> None:
    result = call(library, tool, **{name: str(value).format(shop=shop) for name, value in arguments.items()})

    assert not result.is_error
    assert "src/parcels.py" in result.content[0].text


def test_a_file_with_quotation_marks_in_its_name_is_read_as_results_show_it(
    shop: Path, library: WatchedLibrary
) -> None:
    (shop / "'no' vote.md").write_text("# Votes\n\nNobody voted.\n", encoding="utf-8")

    read = [call(library, "read_lines", path=path) for path in ("'no' vote.md:3", f"{shop}/'no' vote.md:3")]

    assert [each.content[0].text.splitlines()[:2] for each in read] == [["'no' vote.md:3-3", "3| Nobody voted."]] * 2


def test_an_argument_that_is_null_was_not_given(library: WatchedLibrary) -> None:
    result = call(library, "search", query="weigh", path=None, kind=None, limit=None)

    assert not result.is_error


@pytest.mark.slow
def test_a_folder_that_is_away_from_the_beginning_is_read_when_it_is_there(shop: Path, tmp_path: Path) -> None:
    other = write_shop(tmp_path / "second")
    with Library.open("both", settings=Settings.from_env()) as assistant:
        assistant.add(shop)
        assistant.add(other)
        shop.rename(tmp_path / "away")
        library = WatchedLibrary(assistant, [])
        call(library, "list_sources")
        (tmp_path / "away" / "new.md").write_text("# Ferry\n\nThe ferry leaves.\n", encoding="utf-8")
        (tmp_path / "away").rename(shop)

        found = call(library, "search", query="When does the ferry leave?")
        library.close()

    assert "new.md" in found.content[0].text


def test_of_several_sources_a_whole_path_means_one(shop: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "src").mkdir(parents=True)
    (other / "src" / "parcels.py").write_text("LIMIT_KG = 31\n", encoding="utf-8")
    alone = tmp_path / "alone.md"
    alone.write_text("# Alone\n\nNobody here.\n", encoding="utf-8")
    with Library.open("three", settings=Settings.from_env()) as assistant:
        library = WatchedLibrary(assistant, [shop, other, alone], watch=False)

        texts = [call(library, "read_lines", path=str(path)) for path in (other / "src" / "parcels.py", alone)]

    assert "1| LIMIT_KG = 31" in texts[0].content[0].text
    assert "3| Nobody here." in texts[1].content[0].text


@pytest.mark.slow
def test_with_several_sources_paths_begin_with_the_name_of_theirs(shop: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("# Weighing\n\nWeigh every parcel twice.\n", encoding="utf-8")
    with Library.open("both", settings=Settings.from_env()) as assistant:
        library = WatchedLibrary(assistant, [shop, other], watch=False)

        read = call(library, "read_lines", path="other/a.md")
        checked = call(library, "verify_citations", text=f"Weigh every parcel twice ({other}/a.md:3).")

    assert read.content[0].text.startswith("other/a.md:1-3")
    assert checked.content[0].text.startswith("exact: ")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("grep", {"pattern": "parcel", "path": "other/"}),
        ("grep", {"pattern": "parcel", "path": "other/a.md"}),
        ("list_files", {"path": "other/"}),
        ("search", {"query": "weigh", "path": "other/*.md"}),
        ("find_references", {"name": "parcel", "path": "other/", "use": "mention"}),
    ],
)
def test_with_several_sources_a_pattern_may_begin_with_the_name_of_one(
    tool: str, arguments: dict[str, Any], shop: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("# Weighing\n\nWeigh every parcel twice.\n", encoding="utf-8")
    (shop / "a.md").write_text("# Weighing\n\nWeigh every parcel once.\n", encoding="utf-8")
    with Library.open("both", settings=Settings.from_env()) as assistant:
        library = WatchedLibrary(assistant, [shop, other], watch=False)

        result = call(library, tool, **arguments)

    text = result.content[0].text
    assert not result.is_error
    assert "other/a.md" in text
    assert "shop/" not in text


ODD_NAMES = ("Notes (1)", "command line 1", "[id]", "{a,b}")


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("ending", ["", "/", "/a.md", "/a.md:3"])
def test_a_path_as_it_stands_is_neither_a_pattern_nor_one_with_lines(name: str, ending: str, tmp_path: Path) -> None:
    for folder in (*ODD_NAMES, "Notes", "command", "i", "a"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.md").write_text("# Weighing\n\nWeigh every parcel.\n", encoding="utf-8")
    with Library.open("odd", settings=Settings.from_env()) as assistant:
        library = WatchedLibrary(assistant, [tmp_path], watch=False)

        result = call(library, "list_files", path=f"{name}{ending}")

    assert result.content[0].text == f"{name}/a.md\n(1 document)"


@pytest.mark.slow
def test_in_a_library_of_several_machines_only_folders_that_are_named_are_brought_up_to_date(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBOOK_STORAGE", f"lance:{tmp_path / 'shared'}")
    other = write_shop(tmp_path / "second")
    with Library.open("team", settings=Settings.from_env()) as assistant:
        names = {folder: assistant.register(folder).name for folder in (shop, other)}
        for folder in names:
            assistant.add(folder)
            (folder / "new.md").write_text("# Ferry\n\nThe ferry leaves.\n", encoding="utf-8")
        library = WatchedLibrary(assistant, [other], watch=False)

        found = call(library, "search", query="When does the ferry leave?")
        library.close()

        assert assistant.index.document(names[other], "new.md") is not None
        assert assistant.index.document(names[shop], "new.md") is None
    assert "new.md" in found.content[0].text


@pytest.mark.slow
def test_a_file_that_was_left_out_is_named_with_the_reason(shop: Path, library: WatchedLibrary) -> None:
    (shop / "docs").mkdir()
    (shop / "docs" / "big.txt").write_text("A long line of text.\n" * 60_000, encoding="utf-8")
    told = "that file is left out: too large; raise OPENBOOK_MAX_FILE_BYTES"

    (shop / "docs" / "tides.png").write_bytes(b"\x89PNG")
    (shop / "uv.lock").write_text("version = 1\n", encoding="utf-8")

    assert "3 documents  2 files left out: 1 binary by name, 1 too large" in str(call(library, "list_sources"))
    assert "lock files" in str(call(library, "read_lines", path="uv.lock"))
    assert told in str(call(library, "read_lines", path="docs/big.txt:3-9"))
    assert told in str(call(library, "read_lines", path=str(shop / "docs" / "big.txt")))
    assert told in str(call(library, "list_files", path="big.txt"))
    assert told in str(call(library, "search", query="long line", path="docs/big.txt"))
    assert told in str(call(library, "grep", pattern="long line", path="docs/big.txt"))
    assert "left out" not in str(call(library, "read_lines", path="docs/small.txt"))


@pytest.mark.parametrize(
    "path",
    [
        "src\\parcels.py:4:5",
        "src/parcels.py:line 4",
        "src/parcels.py(4,5)",
        "`src/parcels.py:4`",
        '"src/parcels.py":4',
        'File "src/parcels.py", line 4, in weigh',
        "parcels.py:4",
        "src/parcels.py:4:",
    ],
)
def test_a_path_may_be_written_as_stack_traces_and_editors_do(path: str, library: WatchedLibrary) -> None:
    told = call(library, "read_lines", path=path).content[0].text

    assert told == "src/parcels.py:4-4\n4| def weigh(parcel: str) -> float:"
    assert call(library, "outline", path=path).content[0].text.startswith("src/parcels.py")
    assert call(library, "find_related", path=path, line=4).content[0].text.startswith("test_parcels.py:")


def test_a_url_of_a_file_is_its_path(shop: Path, library: WatchedLibrary) -> None:
    told = call(library, "read_lines", path=f"file://{shop}/src/parcels.py:4").content[0].text

    assert told.startswith("src/parcels.py:4-4")


def test_a_part_of_a_path_means_no_document_if_several_end_so(shop: Path, library: WatchedLibrary) -> None:
    (shop / "old").mkdir()
    (shop / "old" / "parcels.py").write_text("def weigh(): ...\n", encoding="utf-8")
    call(library, "list_sources")

    with library.fresh() as assistant:
        assistant.sync()
    result = call(library, "read_lines", path="parcels.py:4")

    assert result.is_error
    assert "did you mean old/parcels.py or src/parcels.py?" in result.content[0].text


@pytest.mark.parametrize("path", ["src/parcels.py:1-9", "src\\*.py", "*arcels.{py,md}", "`src/`"])
def test_a_pattern_may_have_lines_backslashes_and_braces(path: str, library: WatchedLibrary) -> None:
    told = call(library, "grep", pattern="def weigh", path=path).content[0].text

    assert told == "src/parcels.py\n4| def weigh(parcel: str) -> float:\n(1 line matched)"


def test_a_file_that_is_there_and_not_in_the_library_is_told_with_the_reason(shop: Path) -> None:
    (shop / ".git").mkdir()
    (shop / ".gitignore").write_text("gen/\n", encoding="utf-8")
    (shop / ".openbookignore").write_text("drafts/*.md\n", encoding="utf-8")
    for path in ("gen/api.ts", "drafts/a.md", "node_modules/x/a.js", "icon.png", "big.txt"):
        (shop / path).parent.mkdir(parents=True, exist_ok=True)
        (shop / path).write_text("x = 1\n" * (1 if path != "big.txt" else 1_000_000), encoding="utf-8")

    with watched(shop) as library:
        told = {
            path: call(library, "read_lines", path=path).content[0].text
            for path in ("gen/api.ts:3", "gen\\api.ts", "drafts/a.md", "node_modules/x/a.js", "icon.png", "big.txt")
        }
        of_pattern = call(library, "grep", pattern="x", path="gen/").content[0].text
        others = [call(library, "read_lines", path=path) for path in ("gen/no.ts", "../shop/gen/api.ts")]

    by_git = "that path is left out: ignored by git; .openbookignore can include it"
    assert told == {
        "gen/api.ts:3": by_git,
        "gen\\api.ts": by_git,
        "drafts/a.md": "that path is left out: ignored by .openbookignore",
        "node_modules/x/a.js": "that path is left out: node_modules is made by tools; .openbookignore can include it",
        "icon.png": "that file is left out: binary by name; nothing reads this format; save it as text, PDF or DOCX",
        "big.txt": "that file is left out: too large; raise OPENBOOK_MAX_FILE_BYTES from 1048576: it has 6.0 MB",
    }
    assert of_pattern == by_git
    assert all("the library has no document of that path" in other.content[0].text for other in others)
