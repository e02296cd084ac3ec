"""Conversations in Redis, shared by servers on several machines."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from openbook.answers import Exchange
from openbook.errors import SessionError
from openbook.integrations.redis_client import MAX_MS, RedisClient
from openbook.sessions.protocol import MAX_LISTED, Cut, Session, has_changed, session_title

# A conversation is a hash and a list of exchanges. Two sorted sets, by the time of the last question, contain the ids
# of one owner, and all ids with their owners. All keys expire, so that nothing outlives the last server.
_SESSION, _EXCHANGES, _OWNER, _AGES = "session:", "exchanges:", "owner:", "sessions-by-age"

# Redis is blocked meanwhile, for some milliseconds.
_DELETED_AT_ONCE = 500

_OLDEST = "local oldest = string.format('%.6f', tonumber(now) - tonumber(ARGV[2]))\n"

_ADD = """
local lives_ms, owner, id, title, exchange, begins, kept, total, first = unpack(ARGV, 2)
if begins == '1' then
  if redis.call('EXISTS', KEYS[1]) == 1 then return 'taken' end
  redis.call('HSET', KEYS[1], 'owner', owner, 'title', title, 'created_at', now)
elseif redis.call('HGET', KEYS[1], 'owner') ~= owner then
  return 'gone'
end
if kept ~= '' then
  if redis.call('LLEN', KEYS[2]) ~= tonumber(total) then return 'changed' end
  local dropped = cjson.decode(redis.call('LINDEX', KEYS[2], kept))
  if dropped[3].id ~= first then return 'changed' end
  if kept == '0' then redis.call('DEL', KEYS[2]) else redis.call('LTRIM', KEYS[2], 0, tonumber(kept) - 1) end
end
redis.call('HSET', KEYS[1], 'updated_at', now)
redis.call('RPUSH', KEYS[2], exchange)
redis.call('ZADD', KEYS[3], now, id)
redis.call('ZADD', KEYS[4], now, id .. ' ' .. owner)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, lives_ms) end
return 'kept'
"""

# False if this owner has no such conversation, or it has expired. Else its fields, and its exchanges from an index on.
_FIND = f"""
{_OLDEST}
local found = redis.call('HMGET', KEYS[1], 'owner', 'title', 'created_at', 'updated_at', 'pinned')
if found[1] ~= ARGV[3] or tonumber(found[4]) < tonumber(oldest) then return false end
local exchanges = ARGV[4] == '' and {{}} or redis.call('LRANGE', KEYS[2], ARGV[4], ARGV[5])
return {{found[2], found[3], found[4], redis.call('LLEN', KEYS[2]), found[5], exchanges}}
"""

_LIST = f"""
{_OLDEST}
local listed = {{}}
for _, id in ipairs(redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', oldest, 'LIMIT', 0, ARGV[3])) do
  local found = redis.call('HMGET', KEYS[2] .. id, 'title', 'created_at', 'updated_at', 'pinned')
  if found[1] then
    listed[#listed + 1] = {{id, found[1], found[2], found[3], redis.call('LLEN', KEYS[3] .. id), found[4]}}
  end
end
return listed
"""

_CHANGE = f"""
{_OLDEST}
local found = redis.call('HMGET', KEYS[1], 'owner', 'updated_at')
if found[1] ~= ARGV[3] or tonumber(found[2]) < tonumber(oldest) then return 0 end
redis.call('HSET', KEYS[1], ARGV[4], ARGV[5])
return 1
"""

_DELETE = """
local owner, id = ARGV[2], ARGV[3]
if redis.call('HGET', KEYS[1], 'owner') ~= owner then return 0 end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('ZREM', KEYS[3], id)
redis.call('ZREM', KEYS[4], id .. ' ' .. owner)
return 1
"""

_DELETE_ALL = """
local owner = ARGV[2]
local ids = redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[3]) - 1)
for _, id in ipairs(ids) do
  redis.call('DEL', KEYS[2] .. id, KEYS[3] .. id)
  redis.call('ZREM', KEYS[1], id)
  redis.call('ZREM', KEYS[4], id .. ' ' .. owner)
end
return #ids
"""

_EXPIRE = f"""
{_OLDEST}
local expired = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. oldest, 'LIMIT', 0, ARGV[3])
for _, each in ipairs(expired) do
  local id, owner = each:match('^(%S+) (.*)$')
  redis.call('DEL', KEYS[2] .. id, KEYS[3] .. id)
  redis.call('ZREM', KEYS[4] .. owner, id)
  redis.call('ZREM', KEYS[1], each)
end
return #expired
"""


class RedisSessions:
    """Conversations in Redis, shared by threads, processes and machines."""

    def __init__(self, shared: RedisClient, *, expire_s: float) -> None:
        """Use a Redis client, which the caller closes."""
        self._expire_s = repr(expire_s)
        self._lives_ms = min(int(expire_s * 1000) + 1, MAX_MS)
        self._add, self._find, self._list = shared.script(_ADD), shared.script(_FIND), shared.script(_LIST)
        self._change, self._delete = shared.script(_CHANGE), shared.script(_DELETE)
        self._delete_all, self._expire = shared.script(_DELETE_ALL), shared.script(_EXPIRE)

    def find(self, owner: str, session_id: str) -> Session | None:
        found = self._found(owner, session_id)
        return found[0] if found else None

    def add(
        self,
        owner: str,
        session_id: str,
        exchange: Exchange,
        record: dict[str, Any],
        *,
        begins: bool = False,
        cut: Cut | None = None,
    ) -> None:
        said = json.dumps([exchange.question, exchange.answer, record], ensure_ascii=False)
        values = (self._lives_ms, owner, session_id, session_title(exchange), said, "1" if begins else "")
        places = ("", "", "") if cut is None else (cut.kept, cut.total, cut.first)
        outcome = self._add(_keys(owner, session_id), *values, *places)
        if outcome == "changed":
            raise has_changed()
        if outcome == "taken":
            raise SessionError("this answer was not saved: a conversation with that id exists", hint="ask again")
        if outcome == "gone":
            raise SessionError(
                "this answer was not saved: its conversation has been deleted", hint="begin a new conversation"
            )

    def history(self, owner: str, session_id: str, last: int, *, before: int | None = None) -> tuple[Exchange, ...]:
        first, behind = (-last, 0) if before is None else (max(0, before - last), before)
        found = self._found(owner, session_id, first, behind - 1) if last and before != 0 else None
        return tuple(Exchange(question, answer) for question, answer, _ in found[1]) if found else ()

    def records(self, owner: str, session_id: str) -> tuple[Session, list[dict[str, Any]]] | None:
        found = self._found(owner, session_id, 0)
        return (found[0], [record for _, _, record in found[1]]) if found else None

    def of(self, owner: str) -> list[Session]:
        listed = self._list([_OWNER + owner, _SESSION, _EXCHANGES], self._expire_s, MAX_LISTED)
        return sorted((_session(*each) for each in listed), key=lambda session: (-session.updated_at, session.id))

    def rename(self, owner: str, session_id: str, title: str) -> bool:
        return bool(self._change([_SESSION + session_id], self._expire_s, owner, "title", title))

    def pin(self, owner: str, session_id: str, *, pinned: bool) -> bool:
        value = "1" if pinned else ""
        return bool(self._change([_SESSION + session_id], self._expire_s, owner, "pinned", value))

    def delete(self, owner: str, session_id: str) -> bool:
        return bool(self._delete(_keys(owner, session_id), owner, session_id))

    def delete_all(self, owner: str) -> int:
        keys = [_OWNER + owner, _SESSION, _EXCHANGES, _AGES]
        return _repeated(lambda: self._delete_all(keys, owner, _DELETED_AT_ONCE))

    def expire(self) -> int:
        keys = [_AGES, _SESSION, _EXCHANGES, _OWNER]
        return _repeated(lambda: self._expire(keys, self._expire_s, _DELETED_AT_ONCE))

    def close(self) -> None:
        pass

    def _found(
        self, owner: str, session_id: str, first: int | None = None, last: int = -1
    ) -> tuple[Session, list[Any]] | None:
        """Return a conversation and a range of its exchanges; none without a range."""
        place = "" if first is None else first
        found = self._find([_SESSION + session_id, _EXCHANGES + session_id], self._expire_s, owner, place, last)
        return (_session(session_id, *found[:5]), [json.loads(said) for said in found[5]]) if found else None


def _repeated(delete: Callable[[], int]) -> int:
    """Delete in portions until one is not full, and return the number of all."""
    total, counted = 0, _DELETED_AT_ONCE
    while counted == _DELETED_AT_ONCE:
        counted = delete()
        total += counted
    return total


def _keys(owner: str, session_id: str) -> list[str]:
    return [_SESSION + session_id, _EXCHANGES + session_id, _OWNER + owner, _AGES]


def _session(
    session_id: str, title: str, created_at: str, updated_at: str, exchanges: int, pinned: str | None
) -> Session:
    return Session(session_id, title, float(created_at), float(updated_at), exchanges, pinned=bool(pinned))
