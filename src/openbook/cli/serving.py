"""The command `serve`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from openbook.cli import options, printing
from openbook.errors import MissingExtraError, SettingsError


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
    from openbook.llm.choose import open_model
    from openbook.opening import open_reranker
    from openbook.server.people import People

    check_installed()
    from openbook.server.app import create_app
    from openbook.server.running import browser_url, is_loopback, listen, run_server
    from openbook.server.shared_store import open_shared_store

    needs_key = require_key or not is_loopback(host)
    with closing(People.of(settings().home)) as people:
        has_keys = bool(people.keys.all() or people.classes.all())
    if needs_key and not has_keys and not settings().oidc_issuer:
        raise SettingsError(
            f"on {host} everybody needs a key, and there is none",
            hint="make one with: openbook keys add NAME",
        )
    # Fail before minutes of indexing, and not at each question.
    if shared := settings().shared_store:
        open_shared_store(shared).close()
    for name in filter(None, (settings().model, *settings().server_models)):
        open_model(name)
    open_reranker(settings().reranker, settings())
    served = options.as_paths(paths) or ([] if library else [Path()])
    with closing(listen(host, port)) as listener, opened(served, library, may_be_new=True) as assistant:
        if library and not (served or assistant.stats().documents):
            printing.note(f"the library {library} is empty: fill it with `openbook add PATH --library {library}`")
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


# Imported packages that are not in the base installation.
_MODULES = ("fastapi", "uvicorn", "python_multipart", "prometheus_client", "nh3", "pygments")


def check_installed(modules: Sequence[str] = _MODULES) -> None:
    """Raise an error if packages of the extra are missing."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"the server needs {', '.join(missing)}", hint="install it with: pip install 'openbook[server]'"
        )
