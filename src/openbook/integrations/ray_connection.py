"""A shared connection of this process to a Ray cluster, closed after its last user."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from openbook.errors import ClusterError, MissingExtraError

Ray = Any
"""The package `ray`, which only this module imports."""

LOCAL = "local"
"""The address of a cluster on this machine only, which ends with the connection."""

_DEFAULT_PORTS = {"ray": 10001, "": 6379}
_PROBE_S = 5.0

# Size of the object store, for batches in flight: a few hundred MB at most. Ray's default is a third of the memory.
_OBJECT_STORE_BYTES = 512 * 1024 * 1024

_lock = threading.Lock()
_users = 0
"""Number of users of this module's connection. Ray allows one per process."""


@contextlib.contextmanager
def connected(address: str, cpus: int) -> Iterator[Ray]:
    """Yield the package `ray`, connected. An existing connection of the caller's program is used, and left open.

    Args:
        address: `local`, or an address for `ray.init`: `auto`, `host:6379`, `ray://host:10001`.
        cpus: Number of processes for `local`.

    Raises:
        MissingExtraError: The package is not installed.
        ClusterError: The cluster cannot be reached, has other versions, or goes away.
    """
    ray = _imported(address)
    with _lock:
        global _users
        ours = bool(_users) or not ray.is_initialized()
        if ours:
            if not _users:
                _connect(ray, address, cpus)
            _users += 1
    try:
        yield ray
    except (ConnectionError, ray.exceptions.RayError) as exc:
        raise ClusterError(
            f"the connection to the Ray cluster at {_shown(address)} broke: {exc}",
            hint="indexed files are kept; the next run continues from there",
        ) from exc
    finally:
        if ours:
            with _lock:
                _users -= 1
                if not _users:
                    ray.shutdown()


def _imported(address: str) -> Ray:
    # Ray reads the token once, at import.
    _prepare_environment(starts=address == LOCAL and "ray" not in sys.modules)
    try:
        import ray

        if address.startswith("ray://"):
            import_module("grpc")  # Ray requires it for such an address, but its own error is less clear
    except ModuleNotFoundError as exc:
        raise _missing(exc.name) from exc
    return ray


def check_installed() -> None:
    """Check that Ray is installed, without its import, which takes a second.

    Raises:
        MissingExtraError: It is not.
    """
    if find_spec("ray") is None:
        raise _missing("ray")


def _missing(package: str | None) -> MissingExtraError:
    return MissingExtraError(
        f"the package {package!r} is not installed, which OPENBOOK_EXECUTOR=ray:... needs",
        hint="pip install 'openbook[ray]', or unset OPENBOOK_EXECUTOR",
    )


def _connect(ray: Ray, address: str, cpus: int) -> None:
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        _quieten()
        with _restored_signals():
            if address == LOCAL:
                ray.init(num_cpus=cpus, include_dashboard=False, object_store_memory=_OBJECT_STORE_BYTES, **quiet)
            else:
                _probe(address)
                ray.init(address=address, **quiet)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as exc:
        with contextlib.suppress(Exception):
            ray.shutdown()
        raise _unusable(address, exc) from exc


def _unusable(address: str, exc: Exception) -> ClusterError:
    shown = _shown(address)
    reasons = " ".join(f"{exc} {exc.__cause__ or ''}".split())
    if "ersion" in reasons and "Python" in reasons:
        return ClusterError(
            f"the Ray cluster at {shown} has other versions: {reasons}",
            hint="use the same versions of Python and ray here as on the cluster",
        )
    if "AuthenticationError" in reasons or "AuthToken" in reasons:
        return ClusterError(
            f"the Ray cluster at {shown} wants a token", hint="set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
        )
    return ClusterError(
        f"cannot reach the Ray cluster at {shown}: {exc}",
        hint="start it with `ray start --head`, or unset OPENBOOK_EXECUTOR to work on this machine",
    )


def _shown(address: str) -> str:
    return address.rpartition("@")[2]


def _probe(address: str) -> None:
    """Check that something listens at the address: Ray itself would wait for minutes.

    Raises:
        OSError: Nothing does.
        ValueError: The port is not a number.
    """
    if address == "auto":
        return
    parts = urlsplit(address if "://" in address else f"//{address}")
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
    with socket.create_connection((parts.hostname or "", port), timeout=_PROBE_S):
        pass


def _quieten() -> None:
    """Keep Ray's log of other machines off standard output, which is for our JSON. It has no option for that."""
    with contextlib.suppress(ModuleNotFoundError):
        worker: Any = import_module("ray._private.worker")
        worker.print_to_stdstream = lambda *_, **__: None
    # Batches are meant to be sent in messages.
    warnings.filterwarnings("ignore", message="More than 10MB of messages", category=UserWarning)
    # Ray forks for each of its programs, which use nothing of LanceDB.
    warnings.filterwarnings("ignore", message="lancedb fork support is experimental", category=RuntimeWarning)


@contextlib.contextmanager
def _restored_signals() -> Iterator[None]:
    """Restore the signal handlers of this process, which Ray replaces."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _prepare_environment(*, starts: bool) -> None:
    """Set environment variables that Ray reads at import, unless they are set.

    It sends no usage statistics, and gives up an unresponsive address after about 40 s instead of 10 minutes. `starts`:
    a cluster is started here, whose ports other machines can reach. It gets a token that only its own processes know,
    because Ray would otherwise write one into the user's home.
    """
    chosen = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_NUM_REDIS_GET_RETRIES": "1", "GRPC_ENABLE_FORK_SUPPORT": "0"}
    if starts and not {"RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & os.environ.keys():
        chosen |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    for name, value in chosen.items():
        os.environ.setdefault(name, value)
