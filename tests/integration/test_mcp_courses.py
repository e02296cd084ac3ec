"""The tools for courses over the pipes of a real server: what a model reads after good, wrong and strange calls."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.subscriptions import ToolsListChanged
from mcp_types import ToolListChangedNotification

from openbook.library import Library
from openbook.mcp.server import build_server
from openbook.settings import Settings
from openbook.watched_library import WatchedLibrary
from tests.integration.support_mcp import COURSE

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_courses", {}),
    ("course_outline", {"course": "knots"}),
    ("course_outline", {"course": "parcel beginner"}),
    ("read_lines", {"path": "ropes/week1/02-bends.md:1-3"}),
    ("course_outline", {"course": "ropes"}),
    ("course_outline", {"course": "for"}),
    ("course_outline", {"course": "cooking"}),
    ("course_outline", {"course": ""}),
    ("course_outline", {"course": None}),
    ("course_outline", {"course": ["knots"]}),
    ("course_outline", {"course": "knots", "lesson": 1}),
    ("list_courses", {"max_tokens": 1}),
]


@pytest.fixture
def school(tmp_path: Path) -> Path:
    """A course that is a folder, with what is no lesson beside it, and two that are files."""
    files = {
        "ropes/README.md": "# Knots for Everybody\n\nA course.\n",
        "ropes/Dockerfile": "FROM scratch\n",
        "ropes/week1/01-hitches.md": "---\ntitle: Hitches\n---\n\nA hitch ties a rope to a pole.\n",
        "ropes/week1/02-bends.md": "# Bends\n\nA bend joins two ropes.\n",
        "talks/parcels.txt": COURSE,
        "talks/stamps.txt": COURSE.replace("Parcels", "Stamps").replace("Scales", "Glue"),
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    with Library.open("school", settings=Settings.from_env()) as assistant:
        assistant.add(tmp_path / "ropes", course=True)
        assistant.add(tmp_path / "talks")
    return tmp_path


COURSE_TOOLS = {"list_courses", "course_outline"}


async def course_tools(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools} & COURSE_TOOLS


@pytest.mark.slow
def test_the_tools_for_courses_come_with_the_first_course_and_go_with_the_last_and_the_client_is_told(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.md").write_text("# Ferry\n\nThe ferry leaves.\n", encoding="utf-8")
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "openbook", "mcp", str(tmp_path)], env=dict(os.environ), cwd=str(tmp_path)
    )
    told: list[object] = []

    async def note(message: object) -> None:
        told.append(message)

    async def until_told(client: Client, times: int) -> None:
        for _ in range(600):
            if len(told) >= times:
                break
            await client.call_tool("list_sources")
            await asyncio.sleep(0.05)

    async def use() -> list[object]:
        async with Client(stdio_client(server), mode="legacy", message_handler=note) as client:
            listed: list[object] = [await course_tools(client)]
            while "incomplete" in said(await client.call_tool("list_sources")):
                pass
            listed.append(len(told))
            (tmp_path / "parcels.txt").write_text(COURSE, encoding="utf-8")
            await until_told(client, 1)
            listed.append(await course_tools(client))
            (tmp_path / "parcels.txt").unlink()
            await until_told(client, 2)
            return [*listed, await course_tools(client)]

    assert asyncio.run(use()) == [set(), 0, COURSE_TOOLS, set()]
    assert [type(each) for each in told] == [ToolListChangedNotification] * 2


@pytest.mark.slow
def test_a_client_that_listens_is_told_of_a_course_that_another_process_has_added(tmp_path: Path) -> None:
    (tmp_path / "parcels.txt").write_text(COURSE, encoding="utf-8")

    async def use(library: WatchedLibrary) -> object:
        async with (
            Client(build_server(library, version="1"), mode="2026-07-28") as client,
            client.listen(tools_list_changed=True) as changes,
        ):
            assert await course_tools(client) == set()
            with Library.open("shelf", settings=Settings.from_env()) as other:
                other.add(tmp_path)
            assert not (await client.call_tool("list_files")).is_error
            return await asyncio.wait_for(anext(changes), timeout=60)

    with Library.open("shelf", settings=Settings.from_env()) as assistant:
        library = WatchedLibrary(assistant, (), watch=False)
        told = asyncio.run(use(library))
        library.close()

    assert told == ToolsListChanged()


def said(reply: Any) -> str:
    return str(reply.content[0].text)


@pytest.mark.slow
def test_a_model_finds_the_courses_and_lessons_and_learns_from_what_goes_wrong(school: Path) -> None:
    command = ["-m", "openbook", "mcp", "--library", "school"]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ), cwd=str(school))

    async def walk() -> tuple[set[str], list[tuple[bool, str]]]:
        async with Client(stdio_client(server)) as client:
            while "incomplete" in said(await client.call_tool("list_sources")):
                pass  # each call waits a while for the folders to be compared
            listed = {tool.name for tool in (await client.list_tools()).tools}
            replies: list[Any] = [await client.call_tool(name, arguments) for name, arguments in CALLS]
            return listed, [(bool(reply.is_error), said(reply)) for reply in replies]

    listed, replies = asyncio.run(walk())

    assert {"list_courses", "course_outline"} <= listed
    knots = (
        "Knots for Everybody  2 lessons\n"
        "1.1  Hitches  ropes/week1/01-hitches.md:1-5\n"
        "1.2  Bends  ropes/week1/02-bends.md:1-3"
    )
    parcels = "Parcels for Beginners  2 lessons\n0  Scales  talks/parcels.txt:3-4\n1  Labels  talks/parcels.txt:6-7"
    stamps = "Stamps for Beginners (talks/stamps.txt)"
    assert replies[:5] == [
        (
            False,
            "ropes  Knots for Everybody  2 lessons\n"
            "talks/parcels.txt  Parcels for Beginners  2 lessons\n"
            "talks/stamps.txt  Stamps for Beginners  2 lessons\n"
            "(3 courses)",
        ),
        (False, knots),
        (False, parcels),
        (False, "ropes/week1/02-bends.md:1-3\n1| # Bends\n3| A bend joins two ropes."),
        (False, knots),
    ]
    assert all(is_error for is_error, _ in replies[5:11])
    assert replies[5][1].startswith("'for' can mean ")
    assert stamps in replies[5][1]
    assert replies[6][1].startswith("no course is called 'cooking'; there are: Knots for Everybody (ropes); ")
    assert replies[7][1].startswith("no course is called ''; there are: ")
    assert replies[8][1] == "course_outline has invalid arguments: course: Field required"
    assert replies[9][1] == "course_outline has invalid arguments: course: Input should be a valid string"
    assert replies[10][1] == "course_outline has no argument 'lesson'; it has course, max_tokens"
    assert replies[11] == (False, f"{replies[0][1]}\n(max_tokens=1 was taken as 100)")
