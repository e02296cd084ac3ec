"""The MCP server, asked by the official client: in memory, as a child process, and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from openbook.index.sqlite import SqliteIndex
from openbook.ingest.reading_state import ReadingState
from openbook.libraries.catalog import name_for
from openbook.library import Library
from openbook.server.keys import KeyStore
from openbook.settings import Settings
from openbook.types import Document, Stamp
from openbook.watched_library import WatchedLibrary
from tests.integration.support_cli import run
from tests.integration.support_mcp import CODE, ask, call, watched, write_shop
from tests.support import heed_interrupts


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_shop(tmp_path)


@pytest.fixture
def library(shop: Path) -> Iterator[WatchedLibrary]:
    with watched(shop) as library:
        yield library


def test_every_tool_is_described_with_its_arguments_and_only_reads(library: WatchedLibrary) -> None:
    call(library, "list_sources")  # those for courses are listed once there is one
    listed = ask(library, lambda client: client.list_tools())

    assert [tool.name for tool in listed.tools] == [
        *("search", "ask", "read_lines", "outline", "find_symbol", "find_references", "grep", "find_related"),
        *("verify_citations", "list_files", "list_sources", "list_courses", "course_outline"),
    ]
    for tool in listed.tools:
        assert "\n  " not in tool.description
        assert tool.output_schema is None
        assert tool.annotations.read_only_hint
        for name, schema in tool.input_schema["properties"].items():
            assert schema.get("description"), (tool.name, name)


def test_the_tools_that_an_agent_begins_with_say_that_they_are_to_be_shown_at_once(library: WatchedLibrary) -> None:
    listed = ask(library, lambda client: client.list_tools())

    shown_at_once = {tool.name for tool in listed.tools if (tool.meta or {}).get("anthropic/alwaysLoad")}
    assert shown_at_once == {"search", "read_lines", "find_references"}


@pytest.mark.parametrize(
    ("tool", "arguments", "place", "line"),
    [
        ("search", {"query": "How heavy may a parcel be?"}, "src/parcels.py:", "5|     "),
        ("search", {"query": "weigh", "path": "test_*.py"}, "test_parcels.py:", "4| def test_a_parcel"),
        ("search", {"query": "glue", "kind": "course"}, "course.txt", "7| A label is glued"),
        ("read_lines", {"path": "course.txt", "first_line": 3, "last_line": 4}, "course.txt:3-4", "4| A scale has"),
        ("outline", {"path": "src/parcels.py"}, "src/parcels.py", "4| def weigh"),
        ("outline", {"path": "src/parcels.py:4-6"}, "src/parcels.py", "4| def weigh"),
        ("read_lines", {"path": "src/parcels.py#L4-L5"}, "src/parcels.py:4-5", "5| "),
        ("find_related", {"path": "src/parcels.py:4", "line": 5}, "test_parcels.py:", "assert weigh"),
        ("find_symbol", {"name": "weigh"}, "src/parcels.py:1-6", "4| def weigh"),
        ("find_references", {"name": "weigh", "use": "call"}, "test_parcels.py test_a_parcel_is_weighed 5", "5"),
        ("grep", {"pattern": "Weigh a"}, "src/parcels.py", "5| "),
        ("list_files", {}, "course.txt", "src/parcels.py"),
        ("find_related", {"path": "src/parcels.py", "line": 5}, "test_parcels.py:", "assert weigh"),
        ("list_courses", {}, "shop/course.txt", "Parcels for Beginners"),
    ],
)
def test_a_tool_shows_places_and_numbered_lines(
    tool: str, arguments: dict[str, Any], place: str, line: str, library: WatchedLibrary
) -> None:
    result = call(library, tool, **arguments)

    text = result.content[0].text
    assert not result.is_error
    assert place in text
    assert line in text
    assert text.startswith(place.partition(":")[0])
    assert result.structured_content is None  # which clients would show the model in place of the text


def test_several_searches_of_one_call_are_merged(library: WatchedLibrary) -> None:
    alone = call(library, "search", query="Where is the label glued?").content[0].text
    merged = call(library, "search", query="Where is the label glued?", also=["31 kg", " "]).content[0].text

    assert "src/parcels.py:1-6  weigh  1| " in alone
    assert "src/parcels.py:1-6  weigh  5| " in merged  # the line for which the other search found it
    assert "7| A label is glued" in merged


@pytest.mark.parametrize(("query", "note"), [("zanfeldt", "No source mentions 'zanfeldt'.\n\n"), ("weigh", "src/")])
def test_a_search_for_what_occurs_nowhere_says_so_first(library: WatchedLibrary, query: str, note: str) -> None:
    assert call(library, "search", query=query).content[0].text.startswith(note)


@pytest.mark.parametrize(
    ("also", "note"),
    [
        pytest.param("weigh", "", id="one-search-without-a-list"),
        pytest.param('["weigh", "label"]', "", id="a-list-in-a-string"),
        pytest.param(["weigh", "???", ".*"], "", id="without-words"),
        pytest.param(["weigh"] * 9, "(only the first 5 of also were taken)", id="too-many"),
    ],
)
def test_other_searches_may_be_given_as_agents_give_them(library: WatchedLibrary, also: object, note: str) -> None:
    result = call(library, "search", query="scale", also=also)

    assert not result.is_error
    assert "weigh" in result.content[0].text
    assert result.content[0].text.endswith(note)


def test_an_answer_is_quoted_and_every_quote_was_checked(library: WatchedLibrary) -> None:
    result = call(library, "ask", question="How much may a parcel weigh at most?")

    text = result.content[0].text
    cited = re.findall(r"^(\S+): exact$", text, re.MULTILINE)
    assert "31 kg" in text
    assert cited[0] == "src/parcels.py:4-6"
    assert cited == re.findall(r"\[(\S+:\d+(?:-\d+)?)\]$", text, re.MULTILINE)


def test_what_the_library_does_not_tell_is_refused(library: WatchedLibrary) -> None:
    result = call(library, "ask", question="Who won the chess championship in Reykjavik?")

    text = result.content[0].text
    assert text.startswith("The sources do not answer this")
    assert ": exact" not in text


def test_a_draft_is_judged_claim_by_claim(library: WatchedLibrary) -> None:
    draft = (
        "A parcel may weigh at most 31 kg (src/parcels.py:5). A parcel may weigh at most 40 kg `src/parcels.py:5`. "
        "A label is glued to the largest side [course.txt:7-7]. It is burnt (course.txt:70). A scale is read twice."
    )

    result = call(library, "verify_citations", text=draft)

    lines = result.content[0].text.splitlines()
    assert [re.sub(r": .*?\(|\).*", " ", line) for line in lines] == [
        "exact src/parcels.py:5 ",
        "conflict src/parcels.py:5 ",
        "exact course.txt:7-7 ",
        "unknown course.txt:70 ",
        "uncited no place ",
    ]


def test_what_words_cannot_tell_has_no_reason_and_a_claim_no_empty_brackets(library: WatchedLibrary) -> None:
    draft = "Whatever is carried is put on a balance first (`src/parcels.py:4`, `src/parcels.py:6`)."

    result = call(library, "verify_citations", text=draft)

    assert result.content[0].text == (
        "unverified: Whatever is carried is put on a balance first. (src/parcels.py:4, src/parcels.py:6)"
    )


def test_of_a_long_claim_that_words_cannot_tell_the_beginning_is_repeated(library: WatchedLibrary) -> None:
    draft = "Whatever is carried is put on a balance that stands on level ground first (`src/parcels.py:4`)."

    result = call(library, "verify_citations", text=draft)

    assert result.content[0].text == ("unverified: Whatever is carried is put on a balance that ... (src/parcels.py:4)")


@pytest.mark.slow
def test_lines_that_were_asked_for_by_number_come_without_a_note(library: WatchedLibrary) -> None:
    for arguments in ({"path": "course.txt:3-4"}, {"path": "course.txt", "first_line": 3, "last_line": 4}):
        assert call(library, "read_lines", **arguments).content[0].text.splitlines()[-1].startswith("4| ")
    for arguments in ({"path": "course.txt"}, {"path": "course.txt", "first_line": 3}):
        assert call(library, "read_lines", **arguments).content[0].text.endswith("(the document has 7 lines)")


@pytest.mark.parametrize(
    ("draft", "verdict"),
    [
        pytest.param("The database image is postgres:13 (conf.yml:1-2).", "conflict", id="a-tag-is-no-place"),
        pytest.param("It listens on localhost:8080 (conf.yml:2).", "conflict", id="a-port-is-no-place"),
        pytest.param("A label is glued to the largest side (course.txt:7, gone.py:4).", "unknown", id="file-is-gone"),
        pytest.param(
            "A label is glued to the largest side (course.txt:7, course.txt:99).", "unknown", id="line-is-gone"
        ),
        pytest.param("A parcel may weigh at most 40 kg (src/parcels.py:5, gone.py:4).", "conflict", id="both-wrong"),
    ],
)
def test_nothing_false_passes_beside_a_place_that_is_there(shop: Path, draft: str, verdict: str) -> None:
    (shop / "conf.yml").write_text("image: postgres:16\nport: 5432\n", encoding="utf-8")
    with Library.open("conf", settings=Settings.from_env()) as assistant:
        result = call(WatchedLibrary(assistant, [shop], watch=False), "verify_citations", text=draft)

    assert result.content[0].text.startswith(f"{verdict}: ")


def test_a_draft_of_many_places_lists_the_library_once(library: WatchedLibrary) -> None:
    asked = list[str]()
    with library.fresh() as assistant:
        assert isinstance(assistant.index, SqliteIndex)
        assistant.index._connection.set_trace_callback(asked.append)

    call(library, "verify_citations", text="A parcel may weigh at most 31 kg (src/parcels.py:5). " * 20)

    assert sum("SELECT source, path, kind, course" in each for each in asked) == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("search", {"query": " "}, "the question is empty"),
        ("read_lines", {"path": "nowhere.py"}, "no document of that path"),
        ("read_lines", {"path": "../../etc/passwd"}, "no document of that path"),
        ("read_lines", {"path": "course.txt", "first_line": 90}, "has the lines 1 to 7"),
        ("read_lines", {"path": "course.txt:4-3"}, "the range is reversed: 4-3; read 3-4"),
        ("read_lines", {"path": "course.txt", "first_line": 4, "last_line": 3}, "the range is reversed: 4-3"),
        ("find_references", {"name": " "}, "a name is needed, such as"),
        ("find_symbol", {"name": "sell"}, "no document defines that name"),
        ("find_related", {"path": "course.txt", "line": 900}, "no text in that line; its last one is 7"),
        ("find_related", {"path": "parcel.py", "line": 5}, "did you mean src/parcels.py?"),
        ("outline", {"path": "lib/parcels.py:4-6"}, "did you mean src/parcels.py?"),
        ("outline", {"path": "course.txt", "first_line": 90}, "the last entry begins at line 6"),
        ("grep", {"pattern": "weigh", "path": "parcel.py"}, "no document has a path like that; did you mean src/par"),
        ("grep", {"pattern": "weigh", "path": "source/"}, "the folders are src/"),
        ("list_files", {"path": "*.rs"}, "no document has a path like that; paths end in .py, .txt"),
        ("search", {"query": "weigh", "path": "SRC/"}, "did you mean src/?"),
        ("find_symbol", {"name": "weigh", "path": "sorc/"}, "no document has a path like that"),
        ("find_references", {"name": "weigh", "path": "*.go"}, "paths end in .py, .txt"),
        ("course_outline", {"course": "astronomy"}, "course"),
        ("search", {"query": "x", "limit": "many"}, "search has invalid arguments: limit: Input should be"),
        ("search", {}, "search has invalid arguments: query: Field required"),
        ("read_lines", {"path": "course.txt", "start": 3}, "no argument 'start'; it has path, first_line, last_line"),
        ("search", {"query": "weigh", "path": "!"}, "is no pattern of paths"),
    ],
)
def test_an_invalid_call_returns_an_error_that_says_why(
    tool: str, arguments: dict[str, Any], problem: str, library: WatchedLibrary
) -> None:
    result = call(library, tool, **arguments)

    assert result.is_error
    assert problem in result.content[0].text


def test_documents_are_resources_and_nothing_else_is(library: WatchedLibrary) -> None:
    async def read(client: Client) -> list[str]:
        texts = []
        for uri in ("openbook://shop/src/parcels.py", "openbook://shop/../../../etc/passwd", "openbook://other/a.py"):
            try:
                texts.append((await client.read_resource(uri)).contents[0].text)  # type: ignore[union-attr]
            except Exception as exc:  # noqa: BLE001 - the client has one class for all
                texts.append(f"refused: {exc}")
        return texts

    found, outside, other = ask(library, read)

    assert found == CODE
    assert outside.startswith("refused")
    assert other.startswith("refused")


def test_a_document_of_many_megabytes_is_read_in_parts(library: WatchedLibrary) -> None:
    sentence = "The parcel is heavy. "
    text = sentence * (1024 * 1024 // len(sentence) + 1)
    with library.fresh() as assistant:
        for name, written in (("long.txt", text), ("less.txt", text[: 1024 * 1024])):
            assistant.index.put(Document("shop", name, "docs", "text", written, name), [], Stamp(1, 1, 1))

    async def read(client: Client) -> tuple[int, str]:
        less = (await client.read_resource("openbook://shop/less.txt")).contents[0].text  # type: ignore[union-attr]
        with pytest.raises(MCPError) as caught:
            await client.read_resource("openbook://shop/long.txt")
        return len(less), str(caught.value)

    length, problem = ask(library, read)

    assert length == 1024 * 1024
    assert "characters: read parts of it with read_lines" in problem


def test_every_document_is_listed_and_can_be_read_by_its_address(shop: Path, library: WatchedLibrary) -> None:
    (shop / "über uns.md").write_text("# Wir\n\nWir wiegen.\n", encoding="utf-8")

    async def read(client: Client) -> dict[str, str]:
        listed = (await client.list_resources()).resources
        return {each.name: str(await client.read_resource(each.uri)) for each in listed}

    texts = ask(library, read)

    assert sorted(texts) == ["course.txt", "src/parcels.py", "test_parcels.py", "über uns.md"]
    assert "Wir wiegen." in texts["über uns.md"]


def test_the_prompt_asks_for_checked_citations(library: WatchedLibrary) -> None:
    prompt = ask(library, lambda client: client.get_prompt("cited_answer", {"question": "How heavy?"}))

    text = prompt.messages[0].content.text
    assert "verify_citations" in text
    assert "How heavy?" in text


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_a_child_process_answers_over_its_pipes_and_ends_with_them(shop: Path, mode: str) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "openbook", "mcp", str(shop)], env=dict(os.environ), cwd=str(shop)
    )

    async def use() -> tuple[set[str], str, list[str], list[str]]:
        async with Client(stdio_client(server), mode=mode) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            called = str(await client.call_tool("find_symbol", {"name": "weigh"}))
            again = [tool.name for tool in (await client.list_tools()).tools]
            return listed, called, again, [each.name for each in (await client.list_resources()).resources]

    listed, called, again, resources = asyncio.run(use())

    assert "src/parcels.py:1-6" in called
    assert {"search", "read_lines"} <= listed <= set(again)
    assert set(again) - listed <= {"list_courses", "course_outline"}
    assert "src/parcels.py" in resources


@pytest.mark.slow
def test_ctrl_c_ends_a_server_that_waits_for_its_agent(shop: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    command = [sys.executable, "-m", "openbook", "mcp", str(shop)]

    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=heed_interrupts,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{json.dumps(request)}\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=30)

    assert code == -signal.SIGINT


@contextmanager
def serving(shop: Path, *options: str) -> Iterator[str]:
    """Run the server over HTTP in a process of its own, and give its address."""
    command = [sys.executable, "-m", "openbook", "mcp", str(shop), "--http", "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "serving on" in line)
        yield line.split()[2].replace("0.0.0.0", "127.0.0.1")
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


async def _heavy(address: str, key: str = "") -> str:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        return str(await client.call_tool("search", {"query": "How heavy may a parcel be?"}))


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_this_machine_needs_no_key_over_http(shop: Path) -> None:
    with serving(shop) as address:
        told = asyncio.run(_heavy(address))
        foreign = ({"Host": "evil.example"}, {"Origin": "http://evil.example"})
        refused = [httpx2.post(address, json={}, headers=headers).status_code for headers in foreign]

    assert refused == [421, 403]
    assert "src/parcels.py:" in told


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_the_tools_for_courses_are_listed_over_http_before_there_are_any(tmp_path: Path) -> None:
    (tmp_path / "ferry.md").write_text("# Ferry\n\nThe ferry leaves.\n", encoding="utf-8")

    async def listed(address: str) -> set[str]:
        async with Client(address, mode="legacy") as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    with serving(tmp_path) as address:
        assert asyncio.run(listed(address)) >= {"list_courses", "course_outline"}


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_damaged_library_is_rebuilt_because_no_agent_shows_a_hint(shop: Path) -> None:
    library = Settings.from_env().home / "libraries" / f"{name_for([shop])}.sqlite"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"no index" * 1000)

    with serving(shop) as address:
        told = asyncio.run(_heavy(address))

    assert "src/parcels.py:" in told


@pytest.mark.slow
def test_a_database_of_another_program_is_not_overwritten(shop: Path) -> None:
    library = Settings.from_env().home / "libraries" / f"{name_for([shop])}.sqlite"
    library.parent.mkdir(parents=True)
    with closing(sqlite3.connect(library)) as connection, connection:
        connection.execute("CREATE TABLE letters (text TEXT)")
    before = library.read_bytes()

    command = [sys.executable, "-m", "openbook", "mcp", str(shop)]
    ended = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", stdin=subprocess.DEVNULL, timeout=60, check=False
    )

    assert "move it away" in ended.stderr
    assert library.read_bytes() == before


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_everybody_else_needs_a_key_over_http(shop: Path) -> None:
    key = KeyStore(Settings.from_env().home).add("agent")

    with serving(shop, "--host", "0.0.0.0") as address:
        refused = [httpx2.post(address, headers=headers).status_code for headers in ({}, {"Authorization": "Bearer x"})]
        told = asyncio.run(_heavy(address, key))
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_sources", "arguments": {}}}
        accepted = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
        sources = httpx2.post(address, json=call, headers=accepted).text

    assert refused == [401, 401]
    assert (shop.name in sources, str(shop.parent) in sources) == (True, False)
    assert "src/parcels.py:" in told


def test_without_any_key_it_does_not_listen_to_others(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = run(capsys, "mcp", shop, "--http", "--host", "0.0.0.0")

    assert ended.code == 2
    assert "openbook keys add" in ended.err


def test_tools_for_courses_are_listed_where_there_are_courses(shop: Path) -> None:
    (shop / "course.txt").unlink()
    with watched(shop) as library:
        call(library, "list_sources")
        listed = ask(library, lambda client: client.list_tools())

    assert not {"list_courses", "course_outline"} & {tool.name for tool in listed.tools}


def test_a_client_receives_the_progress_of_indexing(shop: Path) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    class Reading(WatchedLibrary):
        """A library of which three files of twelve are read."""

        @property
        def reading(self) -> ReadingState:
            return ReadingState(3, 12)

    with Library.open("reading", settings=Settings.from_env()) as assistant:
        assistant.add(shop)
        library = Reading(assistant, [shop], watch=False)
        result = ask(library, lambda c: c.call_tool("list_files", {}, progress_callback=note))

    assert told[0][:2] == (3, 12)
    assert "indexed 3 of 12 new and changed files" in result.content[0].text
