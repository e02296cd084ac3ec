"""Commands for coding agents: `mcp`, `install` and `uninstall`."""

from __future__ import annotations

import contextlib
import shutil
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import openbook
from openbook.cli import options, printing
from openbook.errors import MissingExtraError

if TYPE_CHECKING:
    from openbook.mcp.clients import Client, FileChange
    from openbook.watched_library import WatchedLibrary

AGENTS = (
    "claude, claude-desktop, cline, cline-cli, codex, copilot, cursor, gemini, goose, opencode, vscode, windsurf, zed"
)
"""The names in `openbook.mcp.clients`, which is not imported for help."""

AgentName = Annotated[str, typer.Argument(metavar="AGENT", help=f"One of: {AGENTS}.")]
ServerName = Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the server in the agent.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the new file without writing it.")]


def mcp(
    paths: options.Paths = None,
    *,
    library: options.LibraryName = None,
    http: Annotated[bool, typer.Option("--http", help="Use HTTP instead of standard input and output.")] = False,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8322,
) -> None:
    """Run the MCP server: tools for coding agents to search, read, ask and verify."""
    from openbook.cli import opening
    from openbook.libraries.catalog import LibraryCatalog

    wanted = [path.expanduser().resolve() for path in options.as_paths(paths) or ([] if library else [Path()])]
    opening.check_paths(wanted)
    if find_spec("mcp") is None:
        raise MissingExtraError("mcp is not installed", hint="pip install 'openbook[mcp]'")
    from openbook.watched_library import WatchedLibrary

    here = opening.settings()
    if library and not wanted:
        opening.check_there(here, library)
    with opening.for_agents(library or LibraryCatalog(here).name_for(wanted), here, wanted) as (assistant, remake):
        watched = WatchedLibrary(assistant, wanted, remake=remake)
        watched.start()
        try:
            if http:
                from openbook.mcp.http import run_http
                from openbook.mcp.server import build_server
                from openbook.server.running import is_loopback

                server = build_server(
                    watched, version=openbook.__version__, tells_places=is_loopback(host), tells_changes=False
                )
                run_http(server, here.home, host, port, started=printing.note)
            else:
                with _ended_by_ctrl_c():
                    _run_stdio(watched)
        finally:
            watched.close()


def _run_stdio(watched: WatchedLibrary) -> None:
    """Answer the first requests of agents, and only then import the rest."""
    from openbook.mcp.greeting import Greeter

    began = Greeter(openbook.__version__, watched.has_courses).greet()
    if not began.is_over:
        from openbook.mcp.server import build_server

        build_server(watched, version=openbook.__version__, opening=began).run("stdio")


@contextlib.contextmanager
def _ended_by_ctrl_c() -> Iterator[None]:
    """Let SIGINT end the process. Python would wait for the thread that is blocked reading standard input."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def install(
    agent: AgentName, paths: options.Paths = None, *, name: ServerName = "openbook", dry_run: DryRun = False
) -> None:
    """Add the MCP server to the configuration of a coding agent.

    Without PATH, it serves the current folder. Codex, Copilot CLI, Cline CLI and Goose have one configuration for all
    projects: there it serves the folder that the agent works in.
    """
    from openbook.cli.opening import check_paths
    from openbook.mcp.clients import plan_install

    given = options.as_paths(paths)
    client = _client(agent)
    check_paths(given or [Path()])
    wanted = [str(path.expanduser().resolve()) for path in given]
    change = plan_install(client, Path.cwd(), name, [*_command(), "mcp"], wanted)
    _apply(change, dry_run=dry_run, done=f"{client.title} starts {name} from now on; restart it")


def uninstall(agent: AgentName, *, name: ServerName = "openbook", dry_run: DryRun = False) -> None:
    """Remove the MCP server from the configuration of a coding agent.

    A file that was not changed since `install` becomes what it was, or is deleted if `install` made it.
    """
    from openbook.mcp.clients import plan_uninstall

    client = _client(agent)
    change = plan_uninstall(client, Path.cwd(), name, _kept())
    if not change.is_needed:
        printing.note(f"{client.title} does not start {name}: {change.path} does not name it")
        return
    _apply(change, dry_run=dry_run, done=f"{client.title} does not start {name} any more")


def _client(agent: str) -> Client:
    from openbook.mcp.clients import CLIENTS

    return CLIENTS[options.one_of(tuple(CLIENTS), agent, "AGENT")]


def _command() -> list[str]:
    """Return the command that starts this installation from any folder."""
    beside = Path(sys.executable).with_name("openbook")
    found = str(beside) if beside.is_file() else shutil.which("openbook")
    return [found] if found else [sys.executable, "-m", "openbook"]


def _apply(change: FileChange, *, dry_run: bool, done: str) -> None:
    from openbook.mcp.clients import write_change

    if change.kept:
        names = ", ".join(change.kept)
        printing.note(
            f"warning: the entry has fields that were there before, {names}: check them if somebody else wrote them"
        )
    if not change.is_needed:
        printing.note(f"{change.path} is already up to date")
        return
    if dry_run:
        printing.say((change.after or "").rstrip())
        printing.note(f"{change.path} would be {'this' if change.after else 'deleted'}; nothing was written")
        return
    write_change(change, _kept())
    printing.note(f"{'wrote' if change.after is not None else 'deleted'} {change.path}")
    printing.note(done)


def _kept() -> Path:
    """Return the folder with backups of the agents' files."""
    from openbook.cli.opening import settings

    return settings().home / "agents"
