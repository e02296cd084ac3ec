"""The command `serve`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openbook.cli import options, printing
from openbook.errors import MissingExtraError, SettingsError, did_you_mean

if TYPE_CHECKING:
    from openbook.settings import Settings


def serve(
    paths: options.Paths = None,
    *,
    library: options.LibraryName = None,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8321,
    require_key: Annotated[
        bool, typer.Option("--require-key", help="Require a key on localhost too, such as behind a proxy.")
    ] = False,
) -> None:
    """Serve a web page and an HTTP API."""
    from openbook.cli.opening import opened, settings
    from openbook.libraries.catalog import LibraryCatalog

    check_installed()
    from openbook.server.app import create_app
    from openbook.server.running import browser_url, is_loopback, listen, run_server

    needs_key = require_key or not is_loopback(host)
    _check_settings(settings(), host, needs_key=needs_key)
    served = options.as_paths(paths) or ([] if library else [Path()])
    known = LibraryCatalog(settings()).names() if library and not served else []
    with closing(listen(host, port)) as listener, opened(served, library, may_be_new=True) as assistant:
        if library and not (served or assistant.stats().documents):
            _note_empty(library, known, is_added_to=bool(assistant.sources()))
        roots = [path.expanduser() for path in served]
        folders = [root for root in roots if root.is_dir()]
        app = create_app(assistant, needs_key=needs_key, roots=folders, workers=assistant.settings.server_workers)
        address = browser_url(listener)
        run_server(
            app,
            listener,
            started=lambda: printing.note(f"serving on {address} (press Ctrl-C to stop)"),
            stopping=app.stop,
        )
    printing.note("stopped")


def _check_settings(here: Settings, host: str, *, needs_key: bool) -> None:
    """Fail before minutes of indexing, and not at each question."""
    from openbook.cli.diagnosis import setting_faults, unread_variables
    from openbook.llm.choose import open_model
    from openbook.opening import open_reranker
    from openbook.server.people import People
    from openbook.server.shared_store import open_shared_store

    with closing(People.of(here.home)) as people:
        has_keys = bool(people.keys.all() or people.classes.all())
        if not people.keys.tables.is_writable:
            lost = "conversations, uploads and what is counted are not kept"
            printing.note(f"warning: the home {here.home} cannot be written: {lost}")
    if needs_key and not has_keys and not here.oidc_issuer:
        raise SettingsError(
            f"on {host} everybody needs a key, and there is none",
            hint="make one with: openbook keys add NAME",
        )
    for remark in unread_variables():
        printing.note(f"warning: {remark}")
    for fault in setting_faults(here):
        raise fault
    if here.shared_store:
        open_shared_store(here.shared_store).close()
    if here.model:
        open_model(here.model)
    open_reranker(here.reranker, here)


def _note_empty(library: str, known: Sequence[str], *, is_added_to: bool) -> None:
    """Say that a library is empty, and if it was not there: its name may be wrong, or its index job late."""
    fill = f"`{shlex.join(['openbook', 'add', 'PATH', '--library', library])}`"
    waits = f"the server is not ready until it is filled: {fill}"
    if library not in known:
        hint = did_you_mean(library, known, f"an empty one was made; {waits}")
        printing.note(f"warning: there is no library {library!r}; {hint}")
    elif is_added_to:
        printing.note(f"the library {library!r} is empty: fill it with {fill}")
    else:
        printing.note(f"warning: the library {library!r} is empty; {waits}")


# Imported packages that are not in the base installation.
_MODULES = ("fastapi", "uvicorn", "python_multipart", "prometheus_client", "nh3", "pygments")


def check_installed(modules: Sequence[str] = _MODULES) -> None:
    """Raise an error if packages of the extra are missing."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"the server needs {', '.join(missing)}", hint="install it with: pip install 'openbook[server]'"
        )
