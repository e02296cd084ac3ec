"""State shared by several servers in Redis: browser logins, limits of keys, and running work."""

from __future__ import annotations

import secrets
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from openbook.integrations.redis_client import MAX_MS, RedisClient
from openbook.integrations.redis_sessions import RedisSessions
from openbook.server.keys import hash_of, new_token
from openbook.server.limits import SpendReservation, all_spent, too_many, too_many_today, usd_per_day
from openbook.server.shared_store import LOST_AFTER_S, Kind, UpdateReply, WorkRecord, WorkUpdate
from openbook.settings import Secret, Settings

if TYPE_CHECKING:
    from openbook.server.auth import Caller


_LOGIN = "login:"

_SECRET_BYTES = 32

_ADD = "redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])"
_SUBJECT = "return redis.call('GET', KEYS[1]) or ''"
_RENEW = "redis.call('PEXPIRE', KEYS[1], ARGV[2])"
_REMOVE = "redis.call('DEL', KEYS[1])"
_SECRET = "redis.call('SET', KEYS[1], ARGV[2], 'NX') return redis.call('GET', KEYS[1])"


class RedisStore(RedisClient):
    """Conversations, limits, logins and running work in a Redis: `redis://host:6379/0`, or `redis:unix:///path`.

    Implements `SharedStore`.
    """

    scheme = "redis"

    def __init__(self, address: str) -> None:
        """Connect to Redis.

        Args:
            address: The part after the scheme, or a whole address with another scheme.

        Raises:
            MissingExtraError, SettingsError, SharedError: See `RedisClient`.
        """
        super().__init__(Secret(f"{self.scheme}:{address}" if address.startswith("//") else address))

    def sessions(self, expire_s: float) -> RedisSessions:
        return RedisSessions(self, expire_s=expire_s)

    def limits(self, settings: Settings) -> RedisLimits:
        return RedisLimits(self, settings)

    def logins(self) -> RedisLogins:
        return RedisLogins(self)

    def work(self) -> RedisWork:
        return RedisWork(self)


class TlsRedisStore(RedisStore):
    """The same with TLS: `rediss://host:6379/0`."""

    scheme = "rediss"


class RedisLogins:
    """Logins by the hash of their token. Redis expires them."""

    def __init__(self, shared: RedisClient) -> None:
        self._add, self._find, self._renew, self._remove = map(shared.script, (_ADD, _SUBJECT, _RENEW, _REMOVE))
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
    return max(1, min(int(seconds * 1000), MAX_MS))


# For each kind of work: a hash and a stream of events per item, and two sorted sets of ids by start time, of one owner
# and of all.
_WORK, _EVENTS, _OWNER, _ALL = "work:", "work-events:", "work-of:", "work"

# As long as a server remembers its own finished answers.
_LIVES_MS = 600_000

_UPDATE = """
local owner, id, header, ended, known, whole, lives_ms, dropped = unpack(ARGV, 2, 9)
local kept = redis.call('HMGET', KEYS[1], 'owner', 'last', 'stop')
if kept[1] and kept[1] ~= owner then return {0, 0} end
if tonumber(kept[2] or 0) < tonumber(known) then return {1, 0} end
if whole == '1' then redis.call('DEL', KEYS[2]) end
local first = 10 + tonumber(dropped)
for at = 10, first - 1 do redis.call('XDEL', KEYS[2], ARGV[at] .. '-0') end
local last = tonumber(kept[2] or 0)
for at = first, #ARGV, 2 do
  -- The events of a request whose reply got lost are there already.
  if tonumber(ARGV[at]) > last then
    redis.call('XADD', KEYS[2], ARGV[at] .. '-0', 'event', ARGV[at + 1])
    last = tonumber(ARGV[at])
  end
end
redis.call('HSET', KEYS[1], 'owner', owner, 'header', header, 'ended', ended, 'at', now, 'last', last)
redis.call('ZADD', KEYS[3], 'NX', now, id)
redis.call('ZADD', KEYS[4], 'NX', now, id)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, lives_ms) end
return {0, tonumber(kept[3] or 0)}
"""

_READ = """
local function read(key)
  local kept = redis.call('HMGET', key, 'owner', 'header', 'ended', 'at')
  if not kept[1] then return false end
  local silent = kept[3] == '' and tonumber(now) - tonumber(kept[4]) > tonumber(ARGV[2])
  return {kept[1], kept[2], silent and 1 or 0}
end
"""

_FIND = f"""
{_READ}
local found = read(KEYS[1])
if not found or found[1] ~= ARGV[3] then return false end
local events = {{}}
for _, each in ipairs(redis.call('XRANGE', KEYS[2], ARGV[4] .. '-0', '+')) do
  events[#events + 1] = {{each[1], each[2][2]}}
end
found[4] = events
return found
"""

_LIST = f"""
{_READ}
local listed = {{}}
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local found = read(KEYS[2] .. id)
  if found then
    listed[#listed + 1] = {{id, found[1], found[2], found[3]}}
  else
    redis.call('ZREM', KEYS[1], id)
  end
end
return listed
"""

_STOP = "if redis.call('HGET', KEYS[1], 'owner') == ARGV[2] then redis.call('HSET', KEYS[1], 'stop', 1) end"


class RedisWork:
    """The work of several servers in Redis. Implements `SharedWork`."""

    def __init__(self, shared: RedisClient) -> None:
        """Use a Redis client, which the caller closes."""
        self._update, self._find = shared.script(_UPDATE), shared.script(_FIND)
        self._list, self._stop = shared.script(_LIST), shared.script(_STOP)

    def update(self, kind: Kind, update: WorkUpdate) -> UpdateReply:
        at = f"{kind}:{update.id}"
        keys = [_WORK + at, _EVENTS + at, f"{_OWNER}{kind}:{update.owner}", f"{_ALL}:{kind}"]
        flags = ("1" if update.has_ended else "", update.known, "1" if update.is_whole else "", _LIVES_MS)
        events = [part for event in update.events for part in event]
        is_behind, stop = self._update(
            keys, update.owner, update.id, update.header, *flags, len(update.dropped), *update.dropped, *events
        )
        return UpdateReply(bool(is_behind), bool(stop))

    def find(self, kind: Kind, owner: str, work_id: str, after: int = 0) -> WorkRecord | None:
        at = f"{kind}:{work_id}"
        found = self._find([_WORK + at, _EVENTS + at], LOST_AFTER_S, owner, after + 1)
        return None if found is None else _record(work_id, *found)

    def all(self, kind: Kind, owner: str | None = None) -> list[WorkRecord]:
        listing = f"{_ALL}:{kind}" if owner is None else f"{_OWNER}{kind}:{owner}"
        return [_record(*each) for each in self._list([listing, f"{_WORK}{kind}:"], LOST_AFTER_S)]

    def stop(self, kind: Kind, owner: str, work_id: str) -> None:
        self._stop([f"{_WORK}{kind}:{work_id}"], owner)


def _record(work_id: str, owner: str, header: str, is_lost: int, events: Any = ()) -> WorkRecord:
    numbered = tuple((int(number.partition("-")[0]), text) for number, text in events)
    return WorkRecord(work_id, owner, header, bool(is_lost), numbered)


_QUESTIONS, _SPENT = "questions:", "spent:"

# Returns the exceeded limit, `day` or `minute`, and the seconds to wait, as strings; empty if the question is allowed.
# The key expires after a minute without questions, when the bucket is full again.
_TAKE = """
local most, at, max_today = tonumber(ARGV[2]), tonumber(now), tonumber(ARGV[3])
local today = KEYS[1] .. ':' .. math.floor(at / 86400)
if max_today and tonumber(redis.call('GET', today) or 0) >= max_today then
  return {'day', string.format('%.17g', 86400 - at % 86400)}
end
local kept = redis.call('HMGET', KEYS[1], 'left', 'since')
local left, since = tonumber(kept[1] or most), tonumber(kept[2] or at)
left = math.min(most, left + math.max(0, at - since) * most / 60)
if left < 1 then return {'minute', string.format('%.17g', (1 - left) * 60 / most)} end
redis.call('HSET', KEYS[1], 'left', string.format('%.17g', left - 1), 'since', now)
redis.call('EXPIRE', KEYS[1], 60)
if max_today then
  redis.call('INCR', today)
  redis.call('EXPIRE', today, 86400)
end
return {'', ''}
"""

# Returns the reserved amount, the day, and the seconds until midnight. Reservations count as spent: a process that dies
# before settling has called a model at unknown cost.
_RESERVE = """
local day = math.floor(tonumber(now) / 86400)
local key = KEYS[1] .. ':' .. day
local spent = tonumber(redis.call('GET', key) or 0)
local granted = math.min(tonumber(ARGV[2]), tonumber(ARGV[3]) - spent)
local wait = string.format('%.17g', 86400 - tonumber(now) % 86400)
if granted <= 0 then return {'', '', wait} end
-- The day after is the last one that an answer of this day can end in.
redis.call('SET', key, string.format('%.17g', spent + granted), 'EX', 2 * 86400)
return {string.format('%.17g', granted), tostring(day), wait}
"""

_SETTLE = """
local key, granted = KEYS[1] .. ':' .. ARGV[2], tonumber(ARGV[3])
local spent = tonumber(redis.call('GET', key) or granted) - granted + tonumber(ARGV[4])
redis.call('SET', key, string.format('%.17g', math.max(0, spent)), 'EX', 2 * 86400)
"""


class RedisLimits:
    """Limits shared through Redis, on its clock."""

    def __init__(self, shared: RedisClient, settings: Settings) -> None:
        """Use a Redis client, which the caller closes, with the limits of the settings."""
        self._per_minute = settings.key_questions_per_minute
        self._usd_per_day = settings.key_usd_per_day
        self._take, self._reserve, self._settle = (shared.script(each) for each in (_TAKE, _RESERVE, _SETTLE))

    def take(self, caller: Caller) -> None:
        if caller.key is None:
            return
        max_today = caller.key.grant.questions_per_day
        which, wait_s = self._take(
            [_QUESTIONS + caller.key.id], self._per_minute, "" if max_today is None else max_today
        )
        if which == "minute":
            raise too_many(self._per_minute, float(wait_s))
        if which == "day" and max_today is not None:
            raise too_many_today(max_today, float(wait_s))

    def reserve(self, caller: Caller, usd: float) -> SpendReservation:
        if caller.key is None:
            return SpendReservation(usd)
        most = usd_per_day(caller.key, self._usd_per_day)
        granted, day, wait_s = self._reserve([_SPENT + caller.key.id], repr(usd), repr(most))
        if not granted:
            raise all_spent(most, float(wait_s))
        return SpendReservation(float(granted), day)

    def settle(self, caller: Caller, grant: SpendReservation, cost_usd: Decimal | float | None) -> None:
        if caller.key is None or cost_usd is None:
            return
        self._settle([_SPENT + caller.key.id], grant.day, repr(grant.usd), repr(float(cost_usd)))
