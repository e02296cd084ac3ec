"""What one key may do at all servers together, counted in a Redis."""

from __future__ import annotations

from decimal import Decimal

from openbook.integrations.redis_client import RedisClient
from openbook.server.auth import Caller
from openbook.server.limits import SpendReservation, all_spent, too_many, too_many_today, usd_per_day
from openbook.settings import Settings

_QUESTIONS, _SPENT = "questions:", "spent:"

# Gives what there was too much of, `day` or `minute`, and the seconds to wait, as a text; nothing where the question
# is let through. After a minute without a question all of them have come back, so nothing has to be remembered.
_TAKE = """
local most, at, most_today = tonumber(ARGV[2]), tonumber(now), tonumber(ARGV[3])
local today = KEYS[1] .. ':' .. math.floor(at / 86400)
if most_today and tonumber(redis.call('GET', today) or 0) >= most_today then
  return {'day', string.format('%.17g', 86400 - at % 86400)}
end
local kept = redis.call('HMGET', KEYS[1], 'left', 'since')
local left, since = tonumber(kept[1] or most), tonumber(kept[2] or at)
left = math.min(most, left + math.max(0, at - since) * most / 60)
if left < 1 then return {'minute', string.format('%.17g', (1 - left) * 60 / most)} end
redis.call('HSET', KEYS[1], 'left', string.format('%.17g', left - 1), 'since', now)
redis.call('EXPIRE', KEYS[1], 60)
if most_today then
  redis.call('INCR', today)
  redis.call('EXPIRE', today, 86400)
end
return {'', ''}
"""

# Gives what is set aside, the day, and the seconds up to midnight. What is set aside is counted as spent: whoever
# dies before it is settled has called a model, and nobody knows what that did cost.
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
    """Limits shared through a Redis, on its clock."""

    def __init__(self, shared: RedisClient, settings: Settings) -> None:
        """Take a Redis, which whoever opened it closes, and the limits."""
        self._per_minute = settings.key_questions_per_minute
        self._usd_per_day = settings.key_usd_per_day
        self._take, self._reserve, self._settle = (shared.script(each) for each in (_TAKE, _RESERVE, _SETTLE))

    def take(self, caller: Caller) -> None:
        if caller.key is None:
            return
        most_today = caller.key.grant.questions_per_day
        which, wait_s = self._take(
            [_QUESTIONS + caller.key.id], self._per_minute, "" if most_today is None else most_today
        )
        if which == "minute":
            raise too_many(self._per_minute, float(wait_s))
        if which == "day" and most_today is not None:
            raise too_many_today(most_today, float(wait_s))

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
