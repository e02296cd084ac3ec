"""What several servers share, in a Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbook.integrations.redis_client import RedisClient
from openbook.integrations.redis_logins import RedisLogins
from openbook.integrations.redis_sessions import RedisSessions
from openbook.integrations.redis_work import RedisWork
from openbook.settings import Secret, Settings

if TYPE_CHECKING:
    from openbook.integrations.redis_limits import RedisLimits


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
