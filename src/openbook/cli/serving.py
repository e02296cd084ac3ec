"""Commands of the server: `serve` and `keys`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openbook.cli import EXIT_NOTHING, options, printing
from openbook.errors import SettingsError

keys: typer.Typer = typer.Typer(
    name="keys",
    help="Create, list and revoke server keys.",
    short_help="Create, list and revoke server keys",
    no_args_is_help=True,
)

if TYPE_CHECKING:
    from openbook.server.keys import KeyStore

KeyName = Annotated[str, typer.Argument(metavar="NAME", help="Who or what uses the key.")]


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
    from openbook.server.requirements import check_installed

    check_installed()
    from openbook.server.app import create_app
    from openbook.server.running import browser_url, is_loopback, listen, run_server
    from openbook.server.shared_store import open_shared_store

    needs_key = require_key or not is_loopback(host)
    with _keys() as kept:
        has_keys = bool(kept.all())
    if needs_key and not has_keys:
        raise SettingsError(
            f"on {host} everybody needs a key, and there is none",
            hint="make one with: openbook keys add NAME",
        )
    if shared := settings().shared_store:
        open_shared_store(shared).close()  # what cannot be reached is told before minutes of indexing
    served = options.as_paths(paths) or ([] if library else [Path()])
    listener = listen(host, port)
    with opened(served, library, may_be_new=True) as assistant:
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


@keys.command("add")
def add_key(name: KeyName) -> None:
    """Create a key and print it. It is shown only once."""
    with _keys() as kept:
        printing.say(kept.add(name))
    printing.note(f"this is the key for {name}; it is not shown again")


@keys.command("list")
def list_keys() -> None:
    """List the keys."""
    import time

    with _keys() as kept:
        found = kept.all()
    for key in found:
        printing.say(f"{key.name}  made {time.strftime('%Y-%m-%d', time.gmtime(key.created_at))}")
    if not found:
        printing.note("there are no keys; openbook keys add NAME makes one")


@keys.command("remove")
def remove_key(name: KeyName) -> None:
    """Revoke a key."""
    with _keys() as kept:
        is_gone = kept.remove(name)
    if not is_gone:
        printing.complain(f"no key named {name!r}", "list keys with: openbook keys list")
        raise typer.Exit(EXIT_NOTHING)
    printing.note(f"removed {name}")


def _keys() -> closing[KeyStore]:
    from openbook.cli.opening import settings
    from openbook.server.keys import KeyStore

    return closing(KeyStore(settings().home))
