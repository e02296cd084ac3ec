"""Tools of MCP servers, by the official package, from a real server in a process of its own."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from openbook.agent import Agent, McpToolset, ToolError, mcp
from openbook.llm.messages import ToolResult
from openbook.testing import ScriptedModel, ScriptedReply
from tests.unit.agent.test_agent import call, results

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

SERVER = [sys.executable, str(Path(__file__).parents[2] / "fakes" / "mcp_server.py")]


@pytest.fixture(scope="module")
def harbour() -> Iterator[McpToolset]:
    with mcp(SERVER, env={"HARBOUR": "Rye"}, timeout_s=20) as tools:
        yield tools


def told(harbour: McpToolset, name: str, arguments: str = "{}", *, is_async: bool = False) -> Sequence[ToolResult]:
    """Let a model call a tool, and return what it is told."""
    with ScriptedModel(ScriptedReply(call(name, arguments)), "Done.") as model:
        agent = Agent(model, harbour)
        asyncio.run(agent.arun("Go.")) if is_async else agent.run("Go.")
    return results(model)


@pytest.mark.slow
@pytest.mark.parametrize("is_async", [False, True])
def test_a_tool_of_a_server_is_called(harbour: McpToolset, is_async: bool) -> None:
    assert told(harbour, "harbour_depth", '{"berth": 3}', is_async=is_async) == [ToolResult("call-1", "6 m")]


@pytest.mark.slow
def test_the_model_is_told_of_its_schema_and_a_name_that_it_takes(harbour: McpToolset) -> None:
    spec = next(tool.spec for tool in harbour.tools() if tool.name == "harbour_depth")

    assert spec.description == "Return the depth of water at a berth, in metres."
    assert spec.parameters["properties"]["berth"]["type"] == "integer"


@pytest.mark.slow
def test_what_fails_there_is_told_to_the_model(harbour: McpToolset) -> None:
    (failed,) = told(harbour, "broken")

    assert failed.is_error
    assert "broken" in failed.text


def test_arguments_that_the_server_refuses_are_told_to_the_model(harbour: McpToolset) -> None:
    (refused,) = told(harbour, "harbour_depth", '{"berth": "deep"}')

    assert refused.is_error
    assert "berth" in refused.text


def test_a_picture_is_named(harbour: McpToolset) -> None:
    assert told(harbour, "picture")[0].text == "[image that is not shown]"


def test_a_program_sees_the_variables_it_is_given_and_none_of_this_process(harbour: McpToolset) -> None:
    assert "PYTEST_CURRENT_TEST" in os.environ
    assert told(harbour, "seen", '{"name": "PYTEST_CURRENT_TEST"}')[0].text == "not set"
    assert told(harbour, "seen", '{"name": "HARBOUR"}')[0].text == "Rye"


@pytest.mark.slow
def test_a_server_that_ends_is_a_tool_error_and_so_is_every_call_after_it() -> None:
    with mcp(SERVER) as tools:
        first = told(tools, "leave")[0]
        second = told(tools, "harbour_depth", '{"berth": 3}')[0]

    assert first.is_error
    assert second.is_error


@pytest.mark.slow
def test_a_call_that_takes_too_long_is_given_up_and_the_server_closed() -> None:
    with mcp(SERVER, timeout_s=0.2) as tools:
        (late,) = told(tools, "slow")

    assert late.is_error
    assert "too long" in late.text or "longer than" in late.text
    with pytest.raises(ToolError, match="is closed"):
        tools.tools()[0].function()


@pytest.mark.slow
def test_an_agent_keeps_a_connection_open_which_is_closed_when_nobody_uses_it_any_more() -> None:
    tools = mcp(SERVER, prefix="north_")
    thread = tools._session._thread
    with ScriptedModel(ScriptedReply(call("north_harbour_depth", '{"berth": 3}')), "Done.") as model:
        agent = Agent(model, tools)
        del tools
        gc.collect()
        agent.run("How deep?")
    assert results(model)[0].text == "6 m"

    del agent
    gc.collect()

    assert not thread.is_alive()


@pytest.mark.slow
def test_a_connection_is_closed_at_the_end_of_an_async_block() -> None:
    async def opened() -> McpToolset:
        async with mcp(SERVER) as tools:
            assert len(tools.tools()) == 6
        return tools

    assert not asyncio.run(opened())._session._thread.is_alive()


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        ("/nowhere/server --token s3cret", "server is no MCP server: FileNotFoundError"),
        ([sys.executable, "-c", "import sys; sys.exit('no licence')"], "it wrote: no licence"),
        ("http://127.0.0.1:9/mcp?token=s3cret", "http://127.0.0.1:9/mcp is no MCP server"),
    ],
)
def test_a_server_that_cannot_be_had_is_an_error_without_its_arguments(server: str | list[str], reason: str) -> None:
    with pytest.raises(ToolError) as raised:
        Agent(ScriptedModel(), mcp(server))

    assert reason in str(raised.value)
    assert "s3cret" not in str(raised.value)


@pytest.mark.slow
def test_no_command_is_refused() -> None:
    with pytest.raises(ValueError, match="no command"):
        mcp(" ")


@pytest.mark.slow
def test_a_server_is_reached_at_its_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [*SERVER, "--http", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8"
    )
    assert process.stderr is not None
    try:
        while "running on" not in (line := process.stderr.readline()):
            assert line, "the server ended"
        with mcp(f"http://127.0.0.1:{port}/mcp", headers={"X-Ask": "1"}) as tools:
            assert told(tools, "harbour_depth", '{"berth": 4}')[0].text == "8 m"
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
