"""What becomes of a library behind the MCP server that is damaged, and of what lies in its place."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp.server.mcpserver.exceptions import ToolError as RefusedCall

from openbook.cli.opening import Remake, add_paths, for_agents
from openbook.errors import LibraryError, LibraryWriteError
from openbook.index.files import remove_library_file
from openbook.libraries.catalog import name_for
from openbook.library import Library
from openbook.mcp.server import build_server
from openbook.mcp.tools import McpTools, as_tool
from openbook.settings import Settings
from openbook.watched_library import WatchedLibrary
from tests.integration.support_mcp import CODE, write_shop

MADE_AGAIN = "(the library was damaged: it is made again from its folders)"
DIARY = b"Dear diary, nobody else has these lines.\n" * 200


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_shop(tmp_path)


@contextmanager
def serving(
    folder: Path, name: str = "", *, hindered: Callable[[Remake], Remake] = lambda remake: remake
) -> Iterator[WatchedLibrary]:
    wanted = [] if name else [folder]
    with for_agents(name or name_for(wanted), Settings.from_env(), wanted) as (assistant, remake):
        remake = remake and hindered(remake)
        library = WatchedLibrary(assistant, wanted, watch=False, patience_s=60, remake=remake)
        yield library
        library.close()


def search(library: WatchedLibrary) -> str:
    return as_tool(McpTools(library).search, library)("How heavy may a parcel be?")


def file_of(library: WatchedLibrary) -> Path:
    assert isinstance(library.assistant.location, Path)
    return library.assistant.location


def damage(library: WatchedLibrary) -> None:
    """Damage pages of the texts, which no opening reads, behind the back of the process."""
    file = file_of(library)
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages = [page for (page,) in connection.execute("SELECT rootpage FROM sqlite_master WHERE rootpage > 0")]
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(file.read_bytes())
    for page in pages[4:]:
        content[(page - 1) * page_bytes : page * page_bytes] = b"\xee" * page_bytes
    with file.open("r+b") as written:
        written.write(content)


def test_a_file_that_openbook_did_not_write_is_set_aside_when_the_server_makes_its_library(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Settings.from_env().home / "libraries" / f"{name_for([shop])}.sqlite"
    place.parent.mkdir(parents=True)
    place.write_bytes(DIARY)
    earlier = place.with_name(f"{place.name}.aside-1")
    earlier.write_text("set aside before", encoding="utf-8")

    with serving(shop) as library:
        told = search(library)

    aside = place.with_name(f"{place.name}.aside-2")
    assert "src/parcels.py:" in told
    assert aside.read_bytes() == DIARY
    assert earlier.read_text(encoding="utf-8") == "set aside before"
    assert f"it is now {aside}" in capsys.readouterr().err


def test_damage_that_a_call_meets_is_mended_and_said_once(shop: Path) -> None:
    with serving(shop) as library:
        search(library)
        damage(library)

        told = [search(library), search(library)]

    assert [("src/parcels.py:" in each, MADE_AGAIN in each) for each in told] == [(True, True), (True, False)]
    assert [file.name for file in file_of(library).parent.glob("*.aside*")] == []


@pytest.mark.slow
def test_a_damaged_library_is_made_again_for_resources_too(shop: Path) -> None:
    with serving(shop) as library:
        server = build_server(library, version="1")
        search(library)
        damage(library)

        names = [each.name for each in asyncio.run(server.list_resources())]

    assert "src/parcels.py" in names


@pytest.mark.slow
def test_a_damaged_library_is_made_again_for_the_text_of_a_document_and_the_list_of_tools(shop: Path) -> None:
    with serving(shop) as library:
        server = build_server(library, version="1")
        search(library)
        damage(library)
        read = asyncio.run(server.read_resource("openbook://shop/src/parcels.py"))

    with serving(shop) as library:
        server = build_server(library, version="1")
        search(library)
        damage(library)
        tools = {tool.name for tool in asyncio.run(server.list_tools())}

    assert [getattr(part, "content", part) for part in read] == [CODE]
    assert "search" in tools


def test_a_folder_of_courses_is_one_still_when_its_library_is_made_again(shop: Path) -> None:
    with Library.open(name_for([shop]), settings=Settings.from_env()) as assistant:
        assistant.add(shop, course=True)
    with serving(shop) as library:
        search(library)
        damage(library)
        told = search(library)
        kinds = [source.kind for source in library.assistant.sources()]

    assert MADE_AGAIN in told
    assert kinds == ["course"]


@pytest.mark.slow
def test_calls_that_meet_damage_at_once_are_all_answered(shop: Path) -> None:
    with serving(shop) as library:
        search(library)
        damage(library)
        with ThreadPoolExecutor(6) as pool:
            told = list(pool.map(lambda _: search(library), range(12)))

    assert [each for each in told if "src/parcels.py:" not in each] == []


def test_what_is_damaged_again_is_an_error_that_names_the_command(shop: Path) -> None:
    with serving(shop) as library:
        for _ in range(2):
            search(library)
            damage(library)

        with pytest.raises(RefusedCall, match=f"openbook add --rebuild --library {name_for([shop])} {shop}"):
            search(library)


def kept_by_another(_: Remake) -> Remake:
    """Refuse, as Windows does as long as another process has the file."""

    def remake(damage: LibraryError) -> Library:
        raise PermissionError(13, "used by another process")

    return remake


def once_without_space(remake: Remake) -> Remake:
    """Fail once, where the damaged file is deleted already."""
    failed: list[LibraryError] = []

    def remake_later(damage: LibraryError) -> Library:
        fresh = remake(damage)
        if failed:
            return fresh
        failed.append(damage)
        location = fresh.location
        assert isinstance(location, Path)
        fresh.close()
        remove_library_file(location)
        raise LibraryWriteError("cannot use the library: the disk is full")

    return remake_later


@pytest.mark.slow
def test_a_library_that_cannot_be_made_again_now_is_used_once_somebody_has_made_it_again(shop: Path) -> None:
    with serving(shop, hindered=kept_by_another) as library:
        search(library)
        damage(library)
        for _ in range(3):
            with pytest.raises(RefusedCall, match=f"is damaged .*openbook add --rebuild .* {shop}"):
                search(library)
        add_paths([shop], name_for([shop]), course=False, rebuild=True)

        told = search(library)

    assert "src/parcels.py:" in told
    assert MADE_AGAIN not in told


def test_a_library_that_could_not_be_made_again_is_made_again_by_the_next_call(shop: Path) -> None:
    with serving(shop, hindered=once_without_space) as library:
        search(library)
        damage(library)
        with pytest.raises(RefusedCall, match=f"is damaged .*openbook add --rebuild .* {shop}"):
            search(library)

        told = search(library)

    assert "src/parcels.py:" in told
    assert MADE_AGAIN in told


def test_a_library_that_another_process_has_made_again_is_taken_as_it_is(shop: Path) -> None:
    with serving(shop) as first, serving(shop) as second:
        search(first)
        search(second)
        damage(first)
        search(first)
        made = file_of(first).stat().st_ino

        told = search(second)

        assert "src/parcels.py:" in told
        assert MADE_AGAIN not in told
        assert file_of(second).stat().st_ino == made


def _with_added_text(folder: Path) -> None:
    with Library.open("work", settings=Settings.from_env()) as assistant:
        assistant.add(folder)
        assistant.add_text("The lorry comes at nine.", "lorry.md")


@pytest.mark.slow
def test_a_library_that_was_named_is_not_made_again_unasked_and_goes_on_when_it_was(shop: Path) -> None:
    _with_added_text(shop)
    with serving(shop, "work") as library:
        search(library)
        damage(library)

        with pytest.raises(RefusedCall, match="openbook add --rebuild --library work") as refused:
            search(library)
        damaged = file_of(library).stat().st_ino
        places = [shop, Settings.from_env().home / "texts" / "work" / "texts"]
        assert [str(place) for place in places if str(place) not in str(refused.value)] == []

        add_paths(places, "work", course=False, rebuild=True)
        told = search(library)

    assert file_of(library).stat().st_ino != damaged
    assert "src/parcels.py:" in told


def test_a_file_that_openbook_did_not_write_is_set_aside_when_a_library_is_rebuilt(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Settings.from_env().home / "libraries" / "work.sqlite"
    place.parent.mkdir(parents=True)
    with sqlite3.connect(place) as connection:
        connection.execute("CREATE TABLE letters (text TEXT)")
    connection.close()
    letters = place.read_bytes()

    add_paths([shop], "work", course=False, rebuild=True)

    aside = place.with_name("work.sqlite.aside-1")
    assert aside.read_bytes() == letters
    assert f"it is now {aside}" in capsys.readouterr().err
