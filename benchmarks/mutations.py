"""How many claims, broken one way, words alone find in conflict or take for exact, and how many true ones.

    python -m benchmarks.mutations --data DATA [--count 1000] [--others] [--scarce] [--misses]

Each true claim (`benchmarks/true_claims.py`) is said in other words by rules and broken one way. These are the
kinds of error that rules were written for, so they say little of what a model gets wrong: `benchmarks.model_claims`
measures that. Caught means `conflict`; passed means `exact`, the one good word that words alone may say. Beside
them stands the guard that others use: it accepts what shares half of its words with the cited text.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.true_claims import (
    Claim,
    File,
    chinese_claims,
    make_claims,
    read_chinese_files,
    read_files,
    read_other_files,
    reworded,
)
from openbook.grounding.literal import LiteralVerdict, check_literally
from openbook.grounding.protocol import CitedClaim, SourceText

# The scarce kinds first: a claim is broken in the first way that still wants claims and fits it.
KINDS = ("quote", "entity", "number", "negation", "identifier", "range", "other file")
UNBROKEN = "unbroken"

# What few sentences have is drawn from ten times as many of them, up to so many claims of each kind.
_SCARCE_COUNT, _MAX_SCARCE = 10_000, 100

# A shifted range that holds this share of the claim's words may well say the same.
_MAX_SHARED = 0.6
_TRIES = 40
_GUARD = 0.5

_NAME_OF_CODE = re.compile(r"\b(?:[a-z]+(?:_[a-z0-9]+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+|[a-z]+(?:[A-Z][a-z]+)+)\b")
_ENTITY = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]+)*")
_NUMBER = re.compile(r"(?<![\w.,`-])\d+(?:[.,]\d+)*(?![\w.,-]*\w)")
_SPELLED = "two three four five six seven eight nine ten twelve twenty".split()
_SPELLED_NUMBER = re.compile(rf"\b(?:{'|'.join(_SPELLED)})\b", re.IGNORECASE)
_QUOTED = re.compile(r'(?<=")[^"]{6,}(?=")')

# Each rule turns a denial into its opposite, or the other way round; one that fits is drawn.
_DROPPED = (
    (r"\b(is|are|was|were|can|could|must|should|will|would|has|have|does|do|did|may|might) not\b", r"\1"),
    (r"\b(is|are|was|were|could|should|would|has|have|does|do|did)n['’]t\b", r"\1"),
    (r"\b(?:cannot|can['’]t)\b", "can"),
    (r"\bwon['’]t\b", "will"),
    (r"\bnever\b", "always"),
    (r"\bno longer\b", "still"),
    (r"\bwithout\b", "with"),
    (r"\bunless\b", "if"),
    (r"\bexcept\b", "including"),
    (r"\bnone of\b", "all of"),
    (r"\bnothing\b", "everything"),
)
_VERBS = (
    "take return use say give hold read write find make show keep allow need require contain include provide support"
    " set get call run start stop create add remove change move wait open close load save send match begin end work"
    " become mean become apply follow count check raise accept handle store print parse convert represent help depend"
)
_THIRD = "|".join(
    f"{verb[:-1]}ies" if verb.endswith("y") else f"{verb}es" if verb.endswith(("ch", "sh")) else f"{verb}s"
    for verb in _VERBS.split()
)
_ADDED = (
    (r"\b(is|are|was|were|can|could|must|should|will|would|may|might)\b(?! not)", r"\1 not"),
    (r"\b(has|have|had) (\w+(?:ed|en|un|wn|ne))\b", r"\1 never \2"),
    (rf"(?<=[\w`)] )(?<!\bthe )(?<!\ba )(?<!\bno )({_THIRD})\b", r"never \1"),
    (r"^(Gives|Retrieves|Tests|Makes|Returns|Reads|Writes|Finds)\b", r"Never \1"),
    (r"\bwith\b", "without"),
    (r"\bif\b", "unless"),
    (r"\balways\b", "never"),
)

_SMALL = rf"(?= (?:about )?(?:\d|(?:{'|'.join(_SPELLED)})\b))"
_BOUNDS = {
    "at least": "at most", "at most": "at least", "up to": "at least", "more than": "less than", "over": "under",
    "less than": "more than", "fewer than": "more than", "no more than": "at least",
}  # fmt: skip
_ORDINALS = "first second third fourth fifth".split()
_PERIODS = "second minute hour day week month year".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = "January February March April June July August September October November December".split()
# What is replaced, and by which words; each has a row of its own below the others.
_SCARCE: dict[str, tuple[re.Pattern[str], Callable[[str], list[str]]]] = {
    "ordinal": (re.compile(r"(?<=\bthe )(?:first|second|third|fourth|fifth)\b"), lambda _: _ORDINALS),
    "bound": (re.compile(rf"\b(?:{'|'.join(_BOUNDS)})\b{_SMALL}"), lambda word: [_BOUNDS[word]]),
    "rate": (
        re.compile(r"(?:(?<=\bper )|(?<=\bevery ))(?:second|minute|hour|day|week|month|year)\b"),
        lambda _: _PERIODS,
    ),
    "weekday": (re.compile(rf"\b(?:{'|'.join(_DAYS)})\b"), lambda _: _DAYS),
    "month": (re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b(?! \d)"), lambda _: _MONTHS),
    "sign": (re.compile(r"(?:(?<=\bis )|(?<=\bto ))-?(?=\d*[1-9])"), lambda sign: ["" if sign else "-"]),
}
_IN_CHINESE = "number in Chinese"

Break = Callable[[Claim, random.Random], "Claim | None"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one claim."""

    kind: str
    """What was broken, or `unbroken`."""
    claim: Claim
    judgement: LiteralVerdict
    guard_accepts: bool
    took_ms: float

    @property
    def is_flagged(self) -> bool:
        """Whether it is in conflict."""
        return self.judgement.verdict == "conflict"


def _change(pattern: re.Pattern[str], text: str, draw: random.Random, other: Callable[[str], str | None]) -> str | None:
    """Replace one match, drawn at random; None if nothing changes."""
    found = list(pattern.finditer(text))
    if not found:
        return None
    match = draw.choice(found)
    new = other(match.group())
    return None if new is None or new == match.group() else text[: match.start()] + new + text[match.end() :]


def _with(claim: Claim, text: str | None) -> Claim | None:
    return None if text is None else replace(claim, text=text)


def break_number(claim: Claim, draw: random.Random, pattern: re.Pattern[str] | None = None) -> Claim | None:
    """Change a number: by one, tenfold, or a digit; or spell another one."""

    def other(number: str) -> str:
        if number.lower() in _SPELLED:
            return draw.choice([word for word in _SPELLED if word != number.lower()])
        digit = draw.randrange(len(number.rstrip("0123456789")), len(number))
        changed = number[:digit] + draw.choice([d for d in "123456789" if d != number[digit]]) + number[digit + 1 :]
        whole = number.replace(",", "")
        return draw.choice((changed, str(int(whole) + 1), f"{int(whole)}0") if whole.isdigit() else (changed,))

    pattern = pattern or (_NUMBER if _NUMBER.search(claim.text) else _SPELLED_NUMBER)
    return _with(claim, _change(pattern, claim.text, draw, other))


def break_negation(claim: Claim, draw: random.Random) -> Claim | None:
    """Drop a denial where there is one; else add one."""
    for rules in (_DROPPED, _ADDED):
        fitting = [(pattern, new) for pattern, new in rules if re.search(pattern, claim.text)]
        if fitting:
            pattern, new = draw.choice(fitting)
            return _with(claim, re.sub(pattern, new, claim.text, count=1))
    return None


def break_identifier(claim: Claim, draw: random.Random) -> Claim | None:
    """Put another name of the same file in the place of one."""
    names = sorted(set(_NAME_OF_CODE.findall(claim.file.text)))
    # One that the cited lines hold as well could make another true statement.
    cited = " ".join((*claim.cited, claim.symbol)) if claim.kind == "statement" else claim.text
    names = [name for name in names if not re.search(rf"\b{re.escape(name)}\b", cited)]

    def sibling(name: str) -> str | None:
        return draw.choice(names) if names else None

    if claim.kind == "statement":
        changed = _change(re.compile(r"(?<=`)[A-Za-z_]\w*(?=(?:\(\))?`)"), claim.text, draw, sibling)
        return _with(claim, changed)
    return _with(claim, _change(_NAME_OF_CODE, claim.text, draw, sibling))


def break_quote(claim: Claim, draw: random.Random) -> Claim | None:
    """Leave a word of a quote out, put another word of the file in its place, or swap two."""
    others = sorted(set(re.findall(r"\b[a-z]{4,}\b", claim.file.text)))

    def altered(quote: str) -> str | None:
        words = quote.split()
        place = draw.randrange(len(words))
        changes = [[*words[:place], draw.choice(others), *words[place + 1 :]]] if others else []
        if 0 < place < len(words) - 1:
            changes.append([*words[:place], *words[place + 1 :]])
            changes.append([*words[: place - 1], words[place], words[place - 1], *words[place + 1 :]])
        new = " ".join(draw.choice(changes)) if changes else quote
        return None if new in " ".join(" ".join(claim.cited).split()) else new

    return _with(claim, _change(_QUOTED, claim.text, draw, altered))


def break_entity(claim: Claim, draw: random.Random) -> Claim | None:
    """Put another name of the same file in the place of one, be it cited or not."""
    names = sorted(set(_ENTITY.findall(claim.file.text)))

    def other(name: str) -> str | None:
        foreign = [one for one in names if not set(one.split()) & set(name.split()) and one not in claim.text]
        return draw.choice(foreign) if foreign else None

    return _with(claim, _change(_ENTITY, claim.text, draw, other)) if claim.kind == "prose" else None


def break_range(claim: Claim, draw: random.Random) -> Claim | None:
    """Cite as many other units of the same file: as near as three units, or anywhere."""
    size, total = claim.last - claim.first, len(claim.file.units)
    for attempt in range(_TRIES):
        near = draw.choice((-1, 1)) * (size + draw.randrange(3, 12))
        first = claim.first + near if attempt % 2 == 0 else draw.randrange(max(1, total - size))
        if first >= 0 and first + size <= total and (first >= claim.last or first + size <= claim.first):
            moved = replace(claim, first=first, last=first + size, symbol="")
            if _shared(claim.text, moved.cited) < _MAX_SHARED:
                return moved
    return None


def other_file(claim: Claim, draw: random.Random, files: Sequence[File]) -> Claim | None:
    """Cite the same units of another file of the same type, or its last ones."""
    suffix = claim.file.name.rpartition(".")[2]
    alike = [file for file in files if file.name != claim.file.name and file.name.endswith(suffix)]
    for _ in range(_TRIES if alike else 0):
        file, size = draw.choice(alike), claim.last - claim.first
        first = max(0, min(claim.first, len(file.units) - size))
        moved = replace(claim, file=file, first=first, last=min(first + size, len(file.units)), symbol="")
        if _shared(claim.text, moved.cited) < _MAX_SHARED:
            return moved
    return None


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 2}


def _shared(claim: str, cited: Sequence[str]) -> float:
    """Return the share of a claim's words that the cited units hold: all that the guard of others looks at."""
    words = _words(claim)
    return len(words & _words(" ".join(cited))) / len(words) if words else 0.0


def broken(claims: Sequence[Claim], files: Sequence[File], seed: int) -> list[tuple[str, Claim]]:
    """Break each claim one way, so that kinds are as even as the claims allow. In the order of claims."""
    breaks: dict[str, Break] = {
        "quote": break_quote, "entity": break_entity, "number": break_number, "negation": break_negation,
        "identifier": break_identifier, "range": break_range,
        "other file": lambda claim, draw: other_file(claim, draw, files),
    }  # fmt: skip
    counted: Counter[str] = Counter()
    found = []
    for place, claim in enumerate(claims):
        for kind in sorted(KINDS, key=lambda kind: (counted[kind], KINDS.index(kind))):
            changed = breaks[kind](claim, random.Random(f"{seed}/{place}/{kind}"))
            if changed is not None:
                counted[kind] += 1
                found.append((kind, changed))
                break
    return found


def break_scarce(kind: str, claim: Claim, draw: random.Random) -> Claim | None:
    """Put another word of a kind, which the cited lines do not hold, in the place of one."""
    pattern, others = _SCARCE[kind]

    def other(word: str) -> str | None:
        cited = set(re.findall(r"\w+", " ".join(claim.cited)))
        foreign = [one for one in others(word) if one != word and one not in cited]
        return draw.choice(foreign) if foreign else None

    return _with(claim, _change(pattern, claim.text, draw, other))


def attack(files: Sequence[File], count: int, seed: int) -> list[Outcome]:
    """Judge every claim as it is and broken."""
    claims = _reworded(files, count, seed)
    return _judged([(UNBROKEN, claim) for claim in claims] + broken(claims, files, seed))


def attack_scarce(files: Sequence[File], chinese: Sequence[File], seed: int) -> list[Outcome]:
    """Judge claims that say what few do, as they are and broken; Chinese ones are sentences as they stand."""
    claims = _reworded(files, _SCARCE_COUNT, seed)
    found: list[tuple[str, Claim]] = []
    for kind in _SCARCE:
        made = ((claim, break_scarce(kind, claim, random.Random(f"{seed}/{n}"))) for n, claim in enumerate(claims))
        pairs = [(claim, changed) for claim, changed in made if changed is not None][:_MAX_SCARCE]
        found += [pair for claim, changed in pairs for pair in ((UNBROKEN, claim), (kind, changed))]
    told = [claim for claim in chinese_claims(chinese, seed) if re.search(r"\d", claim.text)]
    for place, claim in enumerate(told[:_MAX_SCARCE]):
        changed = break_number(claim, random.Random(f"{seed}/{place}"), re.compile(r"\d+(?:\.\d+)?"))
        if changed is not None:
            found += [(UNBROKEN, claim), (_IN_CHINESE, changed)]
    return _judged(found)


def _reworded(files: Sequence[File], count: int, seed: int) -> list[Claim]:
    claims = make_claims(files, count, seed)
    draw = random.Random(seed)
    draw.shuffle(claims)
    return [replace(claim, text=reworded(claim.text, draw)) for claim in claims]


def _judged(pairs: Sequence[tuple[str, Claim]]) -> list[Outcome]:
    outcomes = []
    for kind, claim in pairs:
        cited = "\n".join(claim.cited)
        started = time.process_time()
        source = SourceText(cited, claim.file.name, claim.symbol)
        judgement = check_literally(CitedClaim(claim.text, cited, (source,)))
        took_ms = (time.process_time() - started) * 1000
        outcomes.append(Outcome(kind, claim, judgement, _shared(claim.text, claim.cited) >= _GUARD, took_ms))
    return outcomes


def table(outcomes: Sequence[Outcome]) -> str:
    """Write which share of each kind is in conflict, and which passes as exact."""
    lines = [
        "| broken | claims | conflict % | exact % | word-overlap guard % |",
        "|---|---|---|---|---|",
    ]
    for kind in (*KINDS, *_SCARCE, _IN_CHINESE, UNBROKEN):
        those = [one for one in outcomes if one.kind == kind]
        guard = 100 * sum(not one.guard_accepts for one in those) / max(1, len(those))
        exact = 100 * sum(one.judgement.verdict == "exact" for one in those) / max(1, len(those))
        flagged = 100 * sum(one.is_flagged for one in those) / max(1, len(those))
        if those:
            name = "nothing" if kind == UNBROKEN else kind
            lines.append(f"| {name} | {len(those)} | {flagged:.1f} | {exact:.1f} | {guard:.1f} |")
    return "\n".join(lines)


def cost(outcomes: Sequence[Outcome]) -> str:
    """Write what a judgement costs, and how far claims are from the text that they were made from."""
    took = sorted(one.took_ms for one in outcomes)
    true = [one.claim for one in outcomes if one.kind == UNBROKEN]
    said = (" ".join(" ".join(claim.cited).split()) for claim in true)
    changed = sum(claim.text not in cited for claim, cited in zip(true, said, strict=True)) / len(true)
    return (
        f"{sum(took) / len(took):.2f} CPU ms per claim, median {took[len(took) // 2]:.2f}, most {took[-1]:.1f}. "
        f"{100 * changed:.0f} % of the true claims do not stand in the cited text word for word."
    )


def main() -> None:
    """Print the table, and what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with span-qa, docs-qa and courses")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--others", action="store_true", help="take packages that no rule was improved with")
    parser.add_argument("--scarce", action="store_true", help="break what few claims say: ordinals, bounds, rates ...")
    parser.add_argument("--misses", action="store_true", help="print what went wrong")
    arguments = parser.parse_args()
    files = read_other_files() if arguments.others else read_files(arguments.data)
    if arguments.scarce:
        chinese = [] if arguments.others else read_chinese_files(arguments.data)
        outcomes = attack_scarce(files, chinese, arguments.seed)
    else:
        outcomes = attack(files, arguments.count, arguments.seed)
    print(table(outcomes))
    print(f"\n{cost(outcomes)}")
    if arguments.misses:
        for one in outcomes:
            if one.is_flagged == (one.kind == UNBROKEN):
                print(f"\n{one.kind} ({one.claim.kind}): {one.judgement}\n  {one.claim.text}\n  {one.claim.cited}")


if __name__ == "__main__":
    main()
