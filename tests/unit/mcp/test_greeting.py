"""The first answers of the MCP server, which are given before the SDK is imported."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from openbook.library import Library
from openbook.mcp.greeting import Greeter, Opening
from openbook.mcp.server import build_server
from openbook.settings import Settings
from openbook.watched_library import WatchedLibrary
from tools import write_mcp_greeting
from tools.write_mcp_greeting import answers, handshake, modern

HELLO = handshake("2025-06-18")[0]
ENVELOPE = modern("2026-07-28")[0]["params"]["_meta"]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[WatchedLibrary]:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "a.py").write_text("def weigh():\n    pass\n", encoding="utf-8")
    with Library.open("shop", settings=Settings.from_env()) as assistant:
        assistant.add(folder)
        yield WatchedLibrary(assistant, [folder], watch=False)


def greeted(*messages: object, has_courses: bool = False) -> tuple[list[dict[str, Any]], Opening, bytes]:
    """Send messages in one go, and return the answers, what is left to the SDK, and what was not read."""
    (source, to_server), (from_server, target) = os.pipe(), os.pipe()
    lines = [each if isinstance(each, str) else json.dumps(each) for each in messages]
    os.write(to_server, "".join(f"{line}\n" for line in lines).encode())
    opening = Greeter("1.2.3", lambda: has_courses, source=source, target=target).greet()
    left = os.read(source, 100_000) if select.select([source], [], [], 0)[0] else b""
    os.close(target)
    with os.fdopen(from_server, encoding="utf-8") as told:
        answered = [json.loads(line) for line in told]
    for each in (source, to_server):
        os.close(each)
    return answered, opening, left


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def test_the_recorded_answers_are_those_of_the_sdk() -> None:
    recorded = json.loads(write_mcp_greeting.FILE.read_text(encoding="utf-8"))

    made = json.loads(json.dumps(write_mcp_greeting.greeting()))

    assert recorded == made, "run: python -m tools.write_mcp_greeting"


@pytest.mark.slow
@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS])
@pytest.mark.parametrize("has_courses", [True, False])
def test_each_version_of_the_protocol_is_answered_as_the_sdk_does(
    version: str, has_courses: bool, library: WatchedLibrary, tmp_path: Path
) -> None:
    if has_courses:
        (tmp_path / "shop" / "c.txt").write_text(
            "Course Title: Parcels\n\nLesson 0: Scales\nLevel.\n", encoding="utf-8"
        )
        library.assistant.add(tmp_path / "shop")
    messages = modern(version) if version in MODERN_PROTOCOL_VERSIONS else handshake(version)
    methods = {each["id"]: each["method"] for each in messages if "id" in each}

    told, opening, left = greeted(*messages, has_courses=library.has_courses())

    by_sdk = answers(build_server(library, version="1.2.3"), messages)
    assert {methods[each["id"]]: each["result"] for each in told} == by_sdk
    assert left == b""
    assert [json.loads(line)["method"] for line in opening.lines] == (
        [] if version in MODERN_PROTOCOL_VERSIONS else ["initialize", "notifications/initialized"]
    )
    assert opening.is_answered == (version in HANDSHAKE_PROTOCOL_VERSIONS)


@pytest.mark.parametrize(
    "first",
    [
        pytest.param({**HELLO, "params": {**HELLO["params"], "protocolVersion": "2099-01-01"}}, id="other-version"),
        pytest.param({**HELLO, "params": {**HELLO["params"], "clientInfo": {}}}, id="nameless-client"),
        pytest.param({**HELLO, "params": {**HELLO["params"], "capabilities": {"roots": 1}}}, id="odd-capability"),
        pytest.param({**HELLO, "params": [1]}, id="odd-params"),
        pytest.param({**HELLO, "id": None}, id="no-id"),
        pytest.param({**HELLO, "jsonrpc": "1.0"}, id="other-rpc"),
        pytest.param(request(1, "tools/list"), id="no-handshake"),
        pytest.param(request(1, "tools/list", _meta={**ENVELOPE, "other": 1}), id="odd-envelope"),
        pytest.param(
            request(1, "server/discover", _meta={f"{key}": "x" for key in ENVELOPE}), id="values-of-an-envelope"
        ),
        pytest.param([HELLO], id="batch"),
        pytest.param("{", id="no-json"),
        pytest.param("", id="blank"),
    ],
)
def test_what_the_sdk_may_refuse_is_left_to_it(first: object) -> None:
    told, opening, left = greeted(first, HELLO)

    assert told == []
    assert not opening.is_answered
    assert len(opening.lines) == 1
    assert json.loads(left) == HELLO


def test_the_tools_do_not_wait_for_a_request_that_only_the_sdk_can_answer() -> None:
    told, opening, left = greeted(HELLO, request(7, "resources/list"), request(8, "tools/list"))

    assert [each["id"] for each in told] == [0, 8]
    assert [json.loads(line)["id"] for line in opening.lines] == [0, 7]
    assert left == b""


def test_a_page_of_a_list_is_left_to_the_sdk() -> None:
    told, opening, _ = greeted(HELLO, request(1, "tools/list", cursor="x"))

    assert [each["id"] for each in told] == [0]
    assert len(opening.lines) == 2


def test_a_request_of_the_other_era_is_left_to_the_sdk() -> None:
    told, opening, _ = greeted(HELLO, request(1, "tools/list", _meta=ENVELOPE))

    assert [each["id"] for each in told] == [0]
    assert len(opening.lines) == 2


def test_a_second_handshake_is_left_to_the_sdk() -> None:
    told, opening, _ = greeted(HELLO, {**HELLO, "id": 5})

    assert [each["id"] for each in told] == [0]
    assert len(opening.lines) == 2


@pytest.mark.slow
def test_the_tools_are_listed_before_the_sdk_is_imported(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def weigh():\n    pass\n", encoding="utf-8")
    command = [sys.executable, "-X", "importtime", "-m", "openbook", "mcp", str(tmp_path)]
    sent = "".join(f"{json.dumps(each)}\n" for each in (HELLO, request(1, "tools/list")))

    ended = subprocess.run(
        command, input=sent, capture_output=True, text=True, encoding="utf-8", timeout=60, check=True
    )

    listed = json.loads(ended.stdout.splitlines()[1])["result"]["tools"]
    imported = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert "search" in {tool["name"] for tool in listed}
    assert "openbook.mcp.greeting" in imported
    assert not {"mcp", "mcp_types", "pydantic"} & imported
