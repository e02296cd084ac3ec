"""What each small rule of reading questions, ranking and quoting is worth: each is left out in turn.

    python -m benchmarks.ablation --checkouts FOLDER --home FOLDER --questions FILE ... [--rooms ROOM ...]
        [--rules patterns|functions] [--most N] [--diffs FOLDER] [--part N/M]

A rule is a regular expression that a module names, which then matches nothing, or a function that other modules call
and that may say no: one that changes what it is given, which then returns it as it is, or one that returns a truth
value, a collection or something optional, which then returns `False`, nothing or `None`.

Each question is searched for and asked once with all rules, and once more without each rule that said anything while it
was answered: of more than `--most` such questions, a sample. `changed` counts other answers or results. The figures are
questions won by the rule, less those lost: a right result first, a right result among ten, a right place cited first,
or at all, and a refusal that is right. `worth` is their sum. What cannot be done without a rule counts as lost.

A rule that says nothing to any question may still be there for what these do not ask.
"""

from __future__ import annotations

import argparse
import collections.abc
import difflib
import importlib
import inspect
import pkgutil
import re
import sys
import types
import typing
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks.answers import Asked, open_library, places_cited, read_questions
from openbook.evals.metrics import ExpectedSpan
from openbook.library import Library

_ROOMS = ("questions", "retrieval", "lookup", "extractive", "answering")

_NEVER = re.compile("(?!)")

# What says no in place of a function, by the type that it returns.
_NO: Mapping[object, Callable[[], object]] = {
    bool: bool,
    tuple: tuple,
    frozenset: frozenset,
    set: set,
    list: list,
    dict: dict,
    collections.abc.Sequence: tuple,
    collections.abc.Iterable: tuple,
    collections.abc.Collection: tuple,
    collections.abc.Iterator: lambda: iter(()),
    collections.abc.Mapping: dict,
    collections.abc.Set: frozenset,
}


class Outcome(NamedTuple):
    """What became of a question: shares, and what was shown."""

    at_one: float
    in_ten: float
    first: float
    any: float
    refused_rightly: float
    answer: str
    spans: Sequence[ExpectedSpan]

    @property
    def shares(self) -> tuple[float, ...]:
        """What was right."""
        return self.at_one, self.in_ten, self.first, self.any, self.refused_rightly

    @property
    def shown(self) -> tuple[object, ...]:
        """What a user sees of it."""
        return self.answer, self.spans


@dataclass(frozen=True)
class Rule:
    """A pattern or function, what says no instead of it, and each place of a module that refers to it."""

    name: str
    made: Any
    no: object
    places: tuple[tuple[ModuleType, str], ...]

    @contextmanager
    def replaced(self, by: object) -> Iterator[None]:
        """Put something else in its place."""
        for module, name in self.places:
            setattr(module, name, by)
        _forget()
        try:
            yield
        finally:
            for module, name in self.places:
                setattr(module, name, self.made)
            _forget()

    def watched(self, note: Callable[[], None]) -> object:
        """Return the same rule, which notes when it says anything."""
        if isinstance(self.made, re.Pattern):
            return _Watched(self.made, note)
        return _watched(self.made, typing.cast(Callable[..., Any], self.no), note)


class _Watched:
    """A pattern that notes when it matches."""

    def __init__(self, pattern: re.Pattern[str], note: Callable[[], None]) -> None:
        self._pattern = pattern
        self._note = note

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._pattern, name)
        if name not in {"search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"}:
            return found

        def call(*arguments: Any, **named: Any) -> Any:
            result = found(*arguments, **named)
            if name == "finditer":
                result = list(result)
            text = next((each for each in (*reversed(arguments), *named.values()) if isinstance(each, str)), "")
            if result and not (name == "sub" and result == text) and result != [text]:
                self._note()
            return iter(result) if name == "finditer" else result

        return call


def _watched(function: Callable[..., Any], no: Callable[..., Any], note: Callable[[], None]) -> Callable[..., Any]:
    """Return a function that notes when its result is another one than that of `no`."""

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        if isinstance(result, collections.abc.Iterator):
            result = list(result)
            if result:
                note()
            return iter(result)
        returned, said_no = result, no(*arguments, **named)
        if isinstance(said_no, list | tuple):
            said_no, result = tuple(said_no), tuple(result) if isinstance(result, list) else result
        if result != said_no:
            note()
        return returned

    return call


def main() -> None:
    """Print a row for each rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with checkouts of the repositories")
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    parser.add_argument("--questions", type=Path, nargs="+", required=True, help="written like real-questions")
    parser.add_argument("--rooms", nargs="+", default=_ROOMS, help="packages of openbook")
    parser.add_argument("--rules", choices=("patterns", "functions"), default="patterns")
    parser.add_argument("--most", type=int, default=250, help="questions to ask without one rule")
    parser.add_argument("--diffs", type=Path, help="folder for the answers that change, a file for each rule")
    parser.add_argument("--part", default="0/1", help="leave out only each Mth rule from the Nth")
    arguments = parser.parse_args()
    part, parts = map(int, arguments.part.split("/"))
    asked = [
        each
        for file in arguments.questions
        for each in read_questions(file, file)
        if (arguments.checkouts / each.project).is_dir() and (each.places or not each.is_answerable)
    ]
    with ExitStack() as stack:
        libraries = {
            name: stack.enter_context(open_library(arguments.checkouts / name, arguments.home / name))
            for name in sorted({each.project for each in asked})
        }
        rules = list(find_rules(arguments.rooms, arguments.rules))[part::parts]
        print(f"{len(rules)} {arguments.rules}, {len(asked)} questions", file=sys.stderr, flush=True)
        before = [outcome(libraries[each.project], each) for each in asked]
        told = watch(libraries, asked, rules)
        print("| left out | says something to | asked | changed | at 1 | in 10 | first | any | refused | worth |")
        print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
        for rule in rules:
            numbers = _sample(sorted(told[rule.name]), arguments.most)
            with rule.replaced(rule.no):
                after = [_outcome_or_error(libraries[asked[n].project], asked[n]) for n in numbers]
            _print(rule.name, len(told[rule.name]), [before[n] for n in numbers], after)
            if arguments.diffs:
                arguments.diffs.mkdir(parents=True, exist_ok=True)
                text = "".join(_diffs([asked[n] for n in numbers], [before[n] for n in numbers], after))
                (arguments.diffs / f"{rule.name}.md").write_text(text, encoding="utf-8")


def _print(name: str, told: int, before: Sequence[Outcome], after: Sequence[Outcome]) -> None:
    changed = sum(one.shown != other.shown for one, other in zip(before, after, strict=True))
    worth = [sum(one) - sum(other) for one, other in zip(_columns(before), _columns(after), strict=True)]
    cells = " | ".join(f"{each:+.0f}" for each in (*worth, sum(worth)))
    print(f"| {name} | {told} | {len(before)} | {changed} | {cells} |", flush=True)


def _columns(outcomes: Iterable[Outcome]) -> list[list[float]]:
    """Return each of the five shares of all."""
    return [list(shares) for shares in zip(*(each.shares for each in outcomes), strict=True)] or [[]] * 5


def _diffs(asked: Sequence[Asked], before: Sequence[Outcome], after: Sequence[Outcome]) -> Iterator[str]:
    """Yield the answers that change, with what was right before and is now."""
    for each, one, other in zip(asked, before, after, strict=True):
        if one.shown != other.shown:
            lines = difflib.unified_diff(
                one.answer.splitlines(), other.answer.splitlines(), "with", "without", "", "", 1, ""
            )
            yield (
                f"## {each.project}: {each.text}\n\nwith {one.shares}, without {other.shares}\n\n"
                + "\n".join(lines)
                + "\n\n"
            )


def find_rules(rooms: Sequence[str], kind: str) -> Iterator[Rule]:
    """Find the patterns or functions that the modules of some packages name, in order of modules and of lines."""
    modules = [importlib.import_module(name) for room in rooms for name in _modules(room)]
    everywhere = [module for name, module in sorted(sys.modules.items()) if name.startswith("openbook")]
    seen: set[int] = set()
    for module in modules:
        for name, value in list(vars(module).items()):
            no = _no(value) if kind == "functions" else _NEVER if isinstance(value, re.Pattern) else None
            if no is None or id(value) in seen:
                continue
            seen.add(id(value))
            places = tuple((each, other) for each in everywhere for other, same in vars(each).items() if same is value)
            if kind == "functions" and len(places) == 1:
                continue
            yield Rule(f"{_home(value, places).removeprefix('openbook.')}.{name}", value, no, places)


def _home(value: object, places: Sequence[tuple[ModuleType, str]]) -> str:
    """Return the name of the module that defines a pattern or function."""
    if not isinstance(value, re.Pattern):
        return str(inspect.unwrap(value).__module__)  # type: ignore[arg-type]
    sources = ((module, re.compile(rf"^{name} = ", re.MULTILINE), inspect.getsource(module)) for module, name in places)
    defining = (module for module, sets, source in sources if sets.search(source))
    return next(defining, places[0][0]).__name__


def _no(value: object) -> Callable[..., object] | None:
    """Return what says no instead of a function of ours, if it is known."""
    if not inspect.isfunction(inspect.unwrap(value)) or not value.__module__.startswith("openbook."):  # type: ignore[arg-type]
        return None
    try:
        hints = typing.get_type_hints(inspect.unwrap(value))  # type: ignore[arg-type]
    except NameError:  # a type that is imported for checks alone
        return None
    returned = hints.pop("return", None)
    same = [number for number, hint in enumerate(hints.values()) if _is_same(hint, returned)]
    if len(same) == 1 and returned is not bool:
        return lambda *arguments, **named: (*arguments, *named.values())[same[0]]
    if isinstance(returned, types.UnionType) and types.NoneType in typing.get_args(returned):
        return lambda *_, **__: None
    made = _NO.get(typing.get_origin(returned) or returned)
    return (lambda *_, **__: made()) if made else None


def _is_same(taken: object, returned: object) -> bool:
    """Return whether two types are the same, or collections of the same."""
    if taken == returned:
        return True
    if None in (typing.get_origin(taken), typing.get_origin(returned)):
        return False
    of_taken, of_returned = ([each for each in typing.get_args(made) if each is not ...] for made in (taken, returned))
    return bool(of_taken) and of_taken == of_returned


def _modules(room: str) -> Iterator[str]:
    package = importlib.import_module(f"openbook.{room}")
    yield package.__name__
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield found.name


def watch(libraries: Mapping[str, Library], asked: Sequence[Asked], rules: Sequence[Rule]) -> Mapping[str, set[int]]:
    """Ask all once more, and return to which questions each rule said something."""
    told: dict[str, set[int]] = defaultdict(set)
    current = 0
    with ExitStack() as stack:
        for rule in rules:
            note = lambda name=rule.name: told[name].add(current)  # noqa: E731 - `current` is read when it is called
            stack.enter_context(rule.replaced(rule.watched(note)))
        for current, each in enumerate(asked):  # noqa: B007 - read by the notes
            _forget()
            outcome(libraries[each.project], each)
    return told


def outcome(library: Library, asked: Asked) -> Outcome:
    """Search for a question, and ask it."""
    spans = [
        ExpectedSpan(each.chunk.span.path, each.chunk.span.start_line, each.chunk.span.end_line)
        for each in library.search(asked.text, limit=10)
    ]
    right = [any(place.overlaps(span) for place in asked.places) for span in spans]
    answer = library.query(asked.text)
    refused_rightly = float(answer.refused) if not asked.is_answerable else float(not answer.refused)
    cited = places_cited(answer, asked) if asked.is_answerable and not answer.refused else (0.0, 0.0)
    return Outcome(float(any(right[:1])), float(any(right)), *cited, refused_rightly, answer.answer, spans)


def _outcome_or_error(library: Library, asked: Asked) -> Outcome:
    try:
        return outcome(library, asked)
    except Exception as error:  # noqa: BLE001 - whatever the code around the rule raises
        return Outcome(0.0, 0.0, 0.0, 0.0, 0.0, repr(error), ())


def _forget() -> None:
    """Empty what the modules keep of earlier questions and texts, but no weights that they have read."""
    for clear in _caches():
        clear()


@cache
def _caches() -> Sequence[Callable[[], None]]:
    return [
        value.cache_clear
        for room in _ROOMS
        for name in _modules(room)
        for value in vars(importlib.import_module(name)).values()
        if callable(getattr(value, "cache_clear", None)) and not value.__name__.startswith("load_")
    ]


def _sample(numbers: Sequence[int], most: int) -> Sequence[int]:
    if len(numbers) <= most:
        return numbers
    return [numbers[n * len(numbers) // most] for n in range(most)]


if __name__ == "__main__":
    main()
