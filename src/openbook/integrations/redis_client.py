"""A Redis client with short timeouts, shared by several servers. Independent of what is stored."""

from __future__ import annotations

import contextlib
import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from openbook.errors import MissingExtraError, SettingsError, SharedError
from openbook.settings import Secret

if TYPE_CHECKING:
    from redis import Redis, RedisError

_logger = logging.getLogger(__name__)

# Within the servers' network, a reply takes a millisecond. A page request should fail no later than this.
_TIMEOUT_S = 2.0

# An unresponsive Redis is not contacted for this long. Otherwise each question would block a thread for the whole
# timeout, and requests without Redis would wait for threads.
_BACKOFF_S = 1.0

# What a check writes is gone before the next one.
_CHECK_MS = 1_000

# Separates our keys from others in the same database.
_PREFIX = "openbook:"

# Prefix of each script. `ARGV[1]` is empty except in tests, which set the time. It is a string because a number would
# lose its last digits.
_NOW = """
local now = ARGV[1]
if now == '' then
  local time = redis.call('TIME')
  now = string.format('%d.%06d', time[1], time[2])
end
"""

# Path of an address.
_DATABASE = re.compile(r"(/\d*)?")

_HINT = "try again in a moment; else check that Redis is running and that OPENBOOK_SHARED_STORE is correct"
_REFUSED_HINT = "check the memory (`maxmemory`) and the disk of Redis, that it is no replica, and what its user may do"

MAX_MS = 2**53
"""Redis counts in 64 bits, Lua scripts in 53: 285,000 years."""

Script = Callable[..., Any]
"""Called with a list of keys, then with strings and numbers. Runs atomically."""


class RedisClient:
    """A Redis client with a deadline. Thread-safe.

    Times come from Redis: differing server clocks would allow a key too many questions, and order conversations
    wrongly.
    """

    def __init__(self, url: Secret, *, timeout_s: float = _TIMEOUT_S, now: Callable[[], float] | None = None) -> None:
        """Connect to Redis.

        Args:
            url: Such as `redis://host:6379/0`, `rediss://...` or `unix://...`. It may contain a password.
            timeout_s: Seconds per operation.
            now: Clock in Unix seconds, instead of that of Redis.

        Raises:
            MissingExtraError: The package is not installed.
            SettingsError: The address is invalid.
            SharedError: Redis does not respond, or refuses access.
        """
        self._address = display_address(url)
        self._timeout_s = timeout_s
        self._now = now
        self._rests_until = 0.0
        self._client = _client(url, timeout_s)
        try:
            with self._translated():
                self._client.ping()
        except TypeError:  # the address has an unknown option
            raise _no_address() from None
        except BaseException:
            self.close()
            raise

    def check(self) -> None:
        """Check that Redis responds and takes writes: a full one, or a replica, still answers a ping.

        Raises:
            SharedError: It does not.
        """
        with self._logged():
            self._client.set(_PREFIX + "check", "", px=_CHECK_MS)

    def script(self, lua: str) -> Script:
        """Register a script. It can use `now`, a string; its arguments begin at `ARGV[2]`.

        Calling it raises `SharedError` if Redis does not respond, or refuses. There is no retry, since the script may
        have run.
        """
        registered = self._client.register_script(_NOW + lua)

        def call(keys: Sequence[str], *values: str | float) -> Any:
            now = "" if self._now is None else repr(self._now())
            with self._logged():
                return registered(keys=[_PREFIX + key for key in keys], args=[now, *values])

        return call

    def close(self) -> None:
        self._client.close()

    @contextlib.contextmanager
    def _logged(self) -> Iterator[None]:
        try:
            with self._translated():
                yield
        except SharedError as exc:
            _logger.warning("redis cannot be used", extra={"reason": str(exc)})
            raise

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        from redis import RedisError, exceptions

        if time.monotonic() < self._rests_until:
            raise self._unusable("it did not respond a moment ago")
        try:
            yield
        except exceptions.TimeoutError as exc:
            self._rests_until = time.monotonic() + _BACKOFF_S
            raise self._unusable(f"no answer within {self._timeout_s:g} seconds") from exc
        except exceptions.ResponseError as exc:
            raise self._unusable(_reason(exc), hint=_REFUSED_HINT) from exc
        except (RedisError, OSError) as exc:
            raise self._unusable(_reason(exc)) from exc

    def _unusable(self, reason: str, *, hint: str = _HINT) -> SharedError:
        return SharedError(f"Redis at {self._address} cannot be used: {reason}", hint=hint)


def display_address(url: Secret) -> str:
    """Return an address without user, password and options, for display.

    Raises:
        SettingsError: It is invalid.

    Example:
        >>> display_address(Secret("rediss://openbook:pw@cache.example:6380/1?ssl_ca_certs=/etc/ca.pem"))
        'rediss://cache.example:6380/1'
    """
    try:
        parts = urlsplit(url.reveal())
        port, host = parts.port, parts.hostname or ""
    except ValueError:  # its message quotes part of the address
        raise _no_address() from None
    # An unescaped `/`, `?` or `#` ends a password early, and the rest would be shown as another part.
    is_cut = bool(parts.fragment) or "@" in parts.path + parts.query or (port is not None and not host)
    if parts.scheme == "unix" and parts.path and not is_cut:
        return f"unix://{parts.path}"
    if parts.scheme not in ("redis", "rediss") or is_cut or not _DATABASE.fullmatch(parts.path):
        raise _no_address()
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{f':{port}' if port else ''}{parts.path}"


def _no_address() -> SettingsError:
    return SettingsError(
        "OPENBOOK_SHARED_STORE is not an address of Redis",
        hint="write it as redis://host:6379/0, rediss://host:6379/0 or redis:unix:///path, and / in a password as %2F",
    )


def _client(url: Secret, timeout_s: float) -> Redis:
    try:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ModuleNotFoundError as exc:
        raise MissingExtraError("the package 'redis' is not installed", hint="pip install 'openbook[redis]'") from exc
    try:
        return Redis.from_url(
            url.reveal(),
            decode_responses=True,
            encoding_errors="surrogatepass",  # a question may contain lone surrogates
            protocol=2,  # which proxies of Redis also support; nothing here needs a newer one
            retry=Retry(NoBackoff(), 0),
            socket_connect_timeout=timeout_s,
            socket_timeout=timeout_s,
        )
    except ValueError:
        raise _no_address() from None


def _reason(exc: RedisError | OSError) -> str:
    """Return the reason without any address or sent data."""
    from redis import exceptions

    if isinstance(exc, exceptions.AuthenticationError | exceptions.AuthorizationError):
        return "it refuses the user or password"
    if isinstance(exc, exceptions.ResponseError | exceptions.BusyLoadingError):
        return str(exc).partition(", with args")[0].partition(" script: ")[0].rstrip(".")
    cause = exc.__context__
    if isinstance(cause, OSError):
        return cause.strerror or type(cause).__name__
    return "the connection was closed" if isinstance(exc, exceptions.ConnectionError) else "the server is not Redis"
