"""Words of which one rules the others out: Monday and Friday, per minute and per hour, at most and at least."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from openbook.grounding.facts import KEPT_TEXTS
from openbook.grounding.numbers import Number, dates_of, in_lower_case, month_of, numbers_of
from openbook.grounding.opposites import is_near

_Question = tuple[str, float]
"""What is told, and of which number; 0 where it is told of none."""

# What a bound says may be said from the other side as well: "fails with more than 3" allows at most 3.
_TURNING = re.compile(
    r"\b(?:if|when|unless|until|raises?d?|rejects?|rejected|refuse[sd]?|errors?|fail\w*|not|never|cannot|without|n[’']t)\b",
    re.IGNORECASE,
)

_MOST = (
    r"at most|up to|(?:no|not|never) (?:more|greater|longer|larger|higher|later) than|(?:not|never) exceed(?:s|ing)?"
    r"|(?:a |the )?max(?:imum)?\.? (?:of|is)|less than|fewer than|under|below|(?:smaller|shorter|lower) than"
    r"|höchstens|maximal|bis zu|weniger als"
)
_LEAST = (
    r"at least|(?:no|not|never) (?:less|fewer|smaller|shorter|lower|earlier) than|(?:a |the )?min(?:imum)?\.? (?:of|is)"
    r"|more than|(?:greater|longer|larger|higher) than|over|above|exceed(?:s|ing)?|mindestens|mehr als"
)
_LEADING = re.compile(
    rf"(?:(?P<most>\b(?:{_MOST})|最多|至多|不超过|少于|低于)|(?P<least>\b(?:{_LEAST})|至少|不少于|(?<!不)超过|多于)"
    r"|(?P<exactly>\b(?:exactly|precisely|genau)|恰好|正好))[有为是]?\s*(?:the |an? |about )?[$€£¥]?$",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"\W{0,2}(?:[^\W\d_]+ )?(?:(?P<most>(?:or|and) (?:less|fewer|below|under|earlier)|at most|以内|以下)"
    r"|(?P<least>(?:or|and) (?:more|greater|above|over|higher|later)|at least|以上))",
    re.IGNORECASE,
)

_PERIODS = {
    form: period
    for period, forms in (
        ("second", "second s sec secondly 秒 Sekunde"),
        ("minute", "minute min minutely 分钟 分 Minute"),
        ("hour", "hour h hr hourly 小时 Stunde"),
        ("day", "day d daily 天 日 Tag"),
        ("week", "week weekly 周 Woche"),
        ("month", "month monthly 月 Monat"),
        ("year", "year yearly annually annum 年 Jahr"),
    )
    for form in forms.lower().split()
}
_LONG = "second|minute|hour|day|week|month|year"
_PERIOD = rf"(?P<period>(?:{_LONG})s?|annum|sekunde|stunde|tag|woche|monat|jahr)"
_RATE = re.compile(
    rf"\W?(?:[^\W\d_]+ ?){{0,4}}?(?:\b(?:per|pro) {_PERIOD}|/ ?(?P<short>s|sec|min|h|hr|d|{_LONG}))\b"
    rf"|\W?(?:[^\W\d_]+ ){{0,2}}?(?:an?|each|every) (?P<each>{_LONG})\b",
    re.IGNORECASE,
)
_OFTEN = re.compile(
    rf"\b(?:per|every|each|(?:once|twice|times) an?) {_PERIOD}\b|每(?P<short>秒|分钟|小时|天|日|周|月|年)"
    r"|\b(?P<each>hourly|daily|weekly|monthly|yearly|annually)\b",
    re.IGNORECASE,
)

_CURRENCIES = {
    form: name
    for name, forms in (
        ("dollar", "$ dollar dollars usd 美元"),
        ("euro", "€ euro euros eur 欧元"),
        ("pound", "£ pound pounds gbp 英镑"),
        ("yen", "yen jpy 日元"),
        ("yuan", "yuan cny rmb 元 人民币"),
    )
    for form in forms.split()
}
_MONEY_SIGN = re.compile(r"([$€£])\s?$")
_MONEY = re.compile(
    r"(?:[.,]\d+)?\s?(dollars?|euros?|pounds?|yen|yuan|usd|eur|gbp|jpy|cny|rmb|美元|欧元|英镑|日元|元)(?![^\W\d_])",
    re.IGNORECASE,
)
_HALF_OF_DAY = re.compile(r"\s?([ap])\.?m\b", re.IGNORECASE)

_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_ORDINAL = re.compile(
    rf"\b(?:the|its|their|his|her|our|your|this|that|and|or)\s+({'|'.join(_ORDINALS)})\b|\b(\d{{1,3}})(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"\b(?:(once)(?=\s*(?:[.,;)]|$|(?:an?|per|for|and|or|in|on|at)\b))|(twice)|(thrice))\b", re.IGNORECASE
)
_TIMES_BEHIND = re.compile(r"\s?times\b|次")
_MULTIPLE = re.compile(r"\b(doubl|tripl|quadrupl|halv)(?:es?|ed|ing)\b", re.IGNORECASE)
_FRACTION = re.compile(
    r"\b(half|(?:a|one) (?:third|quarter|fifth|tenth)|two thirds|three quarters)\b(?= (?:of|the)\b)", re.IGNORECASE
)
_WEEKDAY = re.compile(
    r"\b(?:(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|(Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag)s?)\b"
    r"|(?:星期|周)([一二三四五六日天])"
)
# "may" and "march" are verbs, so that they need a capital, and May a word before it.
_MONTH = re.compile(
    r"\b(January|February|March|April|June|July|August|September|October|November|December"
    r"|(?<=\b[a-z]{2} )May|(?<=\b[a-z]{5} )May|Januar|Februar|März|Juni|Juli|Oktober|Dezember)\b|(?<!\d)(\d{1,2})月"
)
# As far as words of a number are from it.
_REACH_CHARS = 40


def alternative_disagrees(claim: str, sentences: Sequence[str]) -> str:
    """Say what a claim says where a sentence that is near to it says what rules that out; empty if nothing.

    What any of the sentences says as the claim does agrees.

    Example:
        >>> alternative_disagrees("It takes 9 requests per hour", ["It takes at most 9 requests per minute"])
        'the claim says "per hour" where the cited lines say "per minute"'
    """
    own = _told(claim)
    for sentence in sentences if own else ():
        if not is_near(claim, sentence):
            continue
        theirs = _told(sentence)
        for question in sorted(own.keys() & theirs.keys()):
            others = [shown for answer, shown in theirs[question].items() if answer not in own[question]]
            if not others or _is_turned(question, claim, sentence):
                continue
            said = set(chain.from_iterable(_told(each).get(question, ()) for each in sentences))
            alone = [shown for answer, shown in own[question].items() if answer not in said]
            if alone:
                return f'the claim says "{alone[0]}" where the cited lines say "{others[0]}"'
    return ""


def _is_turned(question: _Question, claim: str, sentence: str) -> bool:
    words = [{match.group().lower() for match in _TURNING.finditer(text)} for text in (claim, sentence)]
    return question[0] == "bound" and words[0] != words[1]


@lru_cache(maxsize=KEPT_TEXTS)
def _told(text: str) -> Mapping[_Question, Mapping[str, str]]:
    """Give what a text answers to each question, and in which words."""
    found: dict[_Question, dict[str, str]] = defaultdict(dict)
    numbers = numbers_of(text)
    for question, answer, shown in chain(_of_words(text), chain.from_iterable(_of_number(n, text) for n in numbers)):
        found[question].setdefault(answer, " ".join(shown.split()))
    return dict(found)


def _of_words(text: str) -> Iterator[tuple[_Question, str, str]]:
    for match in _OFTEN.finditer(text):
        yield ("per", 0), _period(match), match.group()
    for match in _ORDINAL.finditer(text):
        place = str(_ORDINALS.index(in_lower_case(match[1])) + 1) if match[1] else match[2]
        yield ("place", 0), place, match[1] or match.group()
    for match in _TIMES.finditer(text):
        yield ("times", 0), str(match.lastindex), match.group()
    for name, pattern in (("multiple", _MULTIPLE), ("fraction", _FRACTION)):
        for match in pattern.finditer(text):
            yield (name, 0), re.sub(r"^(?:a|one) ", "", in_lower_case(match[1])), match.group()
    for match in _WEEKDAY.finditer(text):
        yield ("weekday", 0), match[match.lastindex or 0], match.group()
    for match in _MONTH.finditer(text):
        yield ("month", 0), str(month_of(match[1]) if match[1] else int(match[2])), match.group()
    for date in dates_of(text):
        if date.month:
            yield ("month", 0), str(date.month), date.text


def _of_number(number: Number, text: str) -> Iterator[tuple[_Question, str, str]]:
    end = number.start + len(number.text)
    before, behind = text[max(0, number.start - _REACH_CHARS) : number.start], text[end : end + _REACH_CHARS]
    value = abs(number.value)
    if value and number.kind != "version":
        yield (f"sign {number.kind}", value), "-" if number.value < 0 else "+", text[number.start : end]
    for bound in (_LEADING.search(before), _TRAILING.match(behind)):
        if bound and bound.lastgroup:
            yield ("bound", value), bound.lastgroup, bound.group()
    rate = _RATE.match(behind)
    if rate:
        yield (
            ("per", value),
            _period(rate),
            re.sub(r"^.*(?=(?:\bper|\bpro|/|\ban?|\beach|\bevery)\W*\w+$)", "", rate.group()),
        )
    sign, money = _MONEY_SIGN.search(before), _MONEY.match(behind)
    if sign or money:
        form = sign[1] if sign else money[1] if money else ""
        yield ("currency", value), _CURRENCIES[in_lower_case(form)], form
    if half := _HALF_OF_DAY.match(behind):
        yield ("half of the day", value), half[1].lower(), half.group()
    if _TIMES_BEHIND.match(behind):
        yield ("times", 0), f"{value:g}", f"{number.text} times"


def _period(match: re.Match[str]) -> str:
    form = in_lower_case(next(filter(None, (match["period"], match["short"], match["each"]))))
    return _PERIODS.get(form) or _PERIODS[form.removesuffix("s")]
