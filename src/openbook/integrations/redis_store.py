"""What several servers share, in a Redis, and what browsers have logged in."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from openbook.integrations.redis_client import RedisClient
from openbook.integrations.redis_sessions import RedisSessions
from openbook.integrations.redis_work import RedisWork
from openbook.server.keys import hash_of
from openbook.server.logins import new_token
from openbook.settings import Secret, Settings

if TYPE_CHECKING:
    from openbook.integrations.redis_limits import RedisLimits

_LOGIN = "login:"

_SECRET_BYTES = 32

_ADD = "redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])"
_FIND = "return redis.call('GET', KEYS[1]) or ''"
_RENEW = "redis.call('PEXPIRE', KEYS[1], ARGV[2])"
_REMOVE = "redis.call('DEL', KEYS[1])"
_SECRET = "redis.call('SET', KEYS[1], ARGV[2], 'NX') return redis.call('GET', KEYS[1])"

# Redis counts in 64 bits, a Lua script in 53: 285,000 years.
_LONGEST_MS = 2**53


class RedisStore(RedisClient):
    """Conversations, limits, logins and news of running work in a Redis: `redis://host:6379/0`, or `redis:unix:///path`.

    Implements `SharedStore`.
    """

    scheme = "redis"

    def __init__(self, address: str) -> None:
        """Reach it.

        Args:
            address: What follows the scheme, or a whole address with another one.

        Raises:
            MissingExtraError, SettingsError, SharedError: See `RedisClient`.
        """
        super().__init__(Secret(f"{self.scheme}:{address}" if address.startswith("//") else address))

    def sessions(self, expire_s: float) -> RedisSessions:
        return RedisSessions(self, expire_s=expire_s)

    def limits(self, settings: Settings) -> RedisLimits:
        from openbook.integrations.redis_limits import RedisLimits  # needs what only a server has

        return RedisLimits(self, settings)

    def logins(self) -> RedisLogins:
        return RedisLogins(self)

    def work(self) -> RedisWork:
        return RedisWork(self)


class TlsRedisStore(RedisStore):
    """The same with TLS: `rediss://host:6379/0`."""

    scheme = "rediss"


class RedisLogins:
    """Logins by the hash of their token. Redis forgets them when they end."""

    def __init__(self, shared: RedisClient) -> None:
        """Take a Redis, which whoever opened it closes."""
        self._add, self._find, self._renew, self._remove = map(shared.script, (_ADD, _FIND, _RENEW, _REMOVE))
        self._secret = shared.script(_SECRET)

    def add(self, subject: str, lasts_s: float) -> str:
        token = new_token()
        self._add([_key(token)], subject, _milliseconds(lasts_s))
        return token

    def find(self, token: str) -> str:
        return str(self._find([_key(token)]))

    def renew(self, token: str, lasts_s: float) -> None:
        self._renew([_key(token)], _milliseconds(lasts_s))

    def remove(self, token: str) -> None:
        self._remove([_key(token)])

    def secret(self) -> bytes:
        return bytes.fromhex(self._secret(["secret:browsers"], secrets.token_hex(_SECRET_BYTES)))


def _key(token: str) -> str:
    return _LOGIN + hash_of(token).hex()


def _milliseconds(seconds: float) -> int:
    return max(1, min(int(seconds * 1000), _LONGEST_MS))
