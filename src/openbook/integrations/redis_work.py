"""Work that goes on at several servers, as each tells the others of it in a Redis."""

from __future__ import annotations

from typing import Any

from openbook.integrations.redis_client import RedisClient
from openbook.server.shared_store import LOST_AFTER_S, Heard, Kind, ToldWork, WorkNews

# Of each kind: a hash and a stream of events for each piece of work, and two sorted sets of ids by the time at which
# they began, of one owner and of all.
_WORK, _EVENTS, _OWNER, _ALL = "work:", "work-events:", "work-of:", "work"

# As long as an answer that has ended is remembered by its own server.
_LIVES_MS = 600_000

_TELL = """
local owner, id, header, ended, known, whole, lives_ms, dropped = unpack(ARGV, 2, 9)
local kept = redis.call('HMGET', KEYS[1], 'owner', 'last', 'stop')
if kept[1] and kept[1] ~= owner then return {0, 0} end
if tonumber(kept[2] or 0) < tonumber(known) then return {1, 0} end
if whole == '1' then redis.call('DEL', KEYS[2]) end
local first = 10 + tonumber(dropped)
for at = 10, first - 1 do redis.call('XDEL', KEYS[2], ARGV[at] .. '-0') end
local last = tonumber(kept[2] or 0)
for at = first, #ARGV, 2 do
  -- What was told by a request whose reply got lost is there already.
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
    """Work of several servers, told through a Redis. Implements `SharedWork`."""

    def __init__(self, shared: RedisClient) -> None:
        """Take a Redis, which whoever opened it closes."""
        self._tell, self._find = shared.script(_TELL), shared.script(_FIND)
        self._list, self._stop = shared.script(_LIST), shared.script(_STOP)

    def tell(self, kind: Kind, news: WorkNews) -> Heard:
        at = f"{kind}:{news.id}"
        keys = [_WORK + at, _EVENTS + at, f"{_OWNER}{kind}:{news.owner}", f"{_ALL}:{kind}"]
        flags = ("1" if news.has_ended else "", news.known, "1" if news.is_whole else "", _LIVES_MS)
        events = [part for event in news.events for part in event]
        is_behind, stop = self._tell(
            keys, news.owner, news.id, news.header, *flags, len(news.dropped), *news.dropped, *events
        )
        return Heard(bool(is_behind), bool(stop))

    def find(self, kind: Kind, owner: str, work_id: str, after: int = 0) -> ToldWork | None:
        at = f"{kind}:{work_id}"
        found = self._find([_WORK + at, _EVENTS + at], LOST_AFTER_S, owner, after + 1)
        return None if found is None else _told(work_id, *found)

    def all(self, kind: Kind, owner: str | None = None) -> list[ToldWork]:
        listing = f"{_ALL}:{kind}" if owner is None else f"{_OWNER}{kind}:{owner}"
        return [_told(*each) for each in self._list([listing, f"{_WORK}{kind}:"], LOST_AFTER_S)]

    def stop(self, kind: Kind, owner: str, work_id: str) -> None:
        self._stop([f"{_WORK}{kind}:{work_id}"], owner)


def _told(work_id: str, owner: str, header: str, is_lost: int, events: Any = ()) -> ToldWork:
    numbered = tuple((int(number.partition("-")[0]), text) for number, text in events)
    return ToldWork(work_id, owner, header, bool(is_lost), numbered)
