"""Which conditions and patterns answers need: each is forced to a value, and questions in which that matters ask again.

    python -m benchmarks.conditions --data DATA --checkouts FOLDER --home FOLDER [--questions FILE ...]
        [--modules NAME ...] [--all]

A condition is the test of an `if`, an operand of `and` or `or`, or a filter of a comprehension, in the packages that
find and quote. It is forced to be false and true, or to the value with which the other operands decide. A pattern is
left out: it matches nothing. Both are noted for each question first, so that only questions ask again in which a
condition had another value, or a pattern matched: of these, at most ten, the quickest ones, two of a project.

Printed are the ones that no question needs: `never` had another value in no question, `same` changed no answer and no
search, `rare` matters in at most twenty questions and made no citation right. `--all` prints the others too. What a
condition is for may be in none of the questions: broken input, follow-ups, courses, other languages, models.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib
import pkgutil
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from benchmarks.answers import Asked
    from openbook.library import Library
    from openbook.types import Span

_PACKAGES = ("questions", "retrieval", "extractive", "answering", "lookup")

# Questions that ask again for a condition, those of one project among them, and changes after which no more do.
_ASKED_AGAIN, _OF_A_PROJECT, _ENOUGH = 10, 2, 2

_RARE = 20
_RESULTS = 10
_NEVER = re.compile("(?!)")

# What code raises that cannot do without a condition.
_BROKEN = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    StopIteration,
    TypeError,
    ValueError,
)


class _Unit(NamedTuple):
    module: str
    line: int
    code: str
    forced: tuple[bool, ...]
    """The values that a condition is forced to; for a pattern, False."""


@dataclass
class _Probe:
    """Notes which conditions are true and false and which patterns match, or forces one of them."""

    units: list[_Unit] = field(default_factory=list)
    seen: set[tuple[int, bool]] = field(default_factory=set)
    forced: tuple[int, bool] | None = None

    def condition(self, number: int, value: Any) -> Any:
        """Return the value of a condition, or the one that it is forced to."""
        if self.forced is not None and self.forced[0] == number:
            return self.forced[1]
        self.seen.add((number, bool(value)))
        return value

    def pattern(self, number: int, pattern: re.Pattern[str]) -> Any:
        """Return what stands for a pattern."""
        return _Watched(self, number, pattern)


class _Watched:
    """A pattern that notes that it found anything, or finds nothing."""

    def __init__(self, probe: _Probe, number: int, pattern: re.Pattern[str]) -> None:
        self._probe, self._number, self._pattern = probe, number, pattern

    def __getattr__(self, name: str) -> Any:
        given = getattr(self._pattern, name)
        if not callable(given):
            return given
        if self._probe.forced == (self._number, False):
            return getattr(_NEVER, name)

        def called(*arguments: Any, **named: Any) -> Any:
            result = list(given(*arguments, **named)) if name == "finditer" else given(*arguments, **named)
            if result and not (name in ("sub", "split") and result in (arguments[-1], [arguments[-1]])):
                self._probe.seen.add((self._number, True))
            return iter(result) if name == "finditer" else result

        return called


_PROBE = _Probe()


class _Instrument(ast.NodeTransformer):
    """Puts each condition in a function, and each pattern outside of one, through the probe."""

    def __init__(self, module: str) -> None:
        self._module, self._is_in_function = module, False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        outer, self._is_in_function = self._is_in_function, True
        node.body = [self.visit(each) for each in node.body]
        self._is_in_function = outer
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        node.body = [self.visit(each) for each in node.body]
        node.orelse = [self.visit(each) for each in node.orelse]
        node.test = self._watched(node.test, False, True)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        node.test = self._watched(node.test, False, True)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        node.values = [self._watched(each, isinstance(node.op, ast.And)) for each in node.values]
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        node.iter = self.visit(node.iter)
        node.ifs = [self._watched(each, True) for each in node.ifs]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        is_pattern = not self._is_in_function and ast.unparse(node.func) == "re.compile"
        return self._through("_probe_pattern", node, False) if is_pattern else node

    def _watched(self, node: ast.expr, *forced: bool) -> ast.expr:
        before = ast.unparse(node)
        made = self.visit(node)
        return self._through("_probe_condition", made, *forced, code=before) if self._is_in_function else made

    def _through(self, function: str, node: ast.expr, *forced: bool, code: str = "") -> ast.expr:
        _PROBE.units.append(_Unit(self._module, node.lineno, code or ast.unparse(node), forced))
        arguments = [ast.Constant(len(_PROBE.units) - 1), node]
        return ast.copy_location(ast.Call(ast.Name(function, ast.Load()), arguments, []), node)


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        tree = ast.parse(Path(self.path).read_text(encoding="utf-8"))
        tree = ast.fix_missing_locations(_Instrument(fullname).visit(tree))
        return compile(tree, self.path, "exec")


class _Finder(MetaPathFinder):
    def __init__(self, prefixes: Sequence[str]) -> None:
        self._prefixes = tuple(prefixes)

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        spec: ModuleSpec | None = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin and fullname.startswith(self._prefixes):
            spec.loader = _Loader(fullname, spec.origin)
        return spec


def main() -> None:
    """Print the conditions and patterns that no question needs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with real-questions")
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with checkouts of the repositories")
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    parser.add_argument("--questions", type=Path, nargs="+", default=[], help="beside real-questions, as these")
    parser.add_argument("--modules", nargs="+", default=_PACKAGES, help="as extractive.lists; all of five packages")
    parser.add_argument("--all", action="store_true", help="print those that are needed, too")
    arguments = parser.parse_args()
    watched = [f"openbook.{each}" for each in arguments.modules]
    _instrument(watched)
    asked = _asked(arguments.data, arguments.checkouts, arguments.questions)
    asking = _Asking(asked, arguments.checkouts, arguments.home)
    print("| line | condition | forced to | matters in | asked again | changed | first | any | |\n|" + "---|" * 9)
    for (number, value), made in asking.with_each_forced().items():
        _print(_PROBE.units[number], value, made, everything=arguments.all)


def _instrument(watched: Sequence[str]) -> None:
    vars(builtins).update(_probe_condition=_PROBE.condition, _probe_pattern=_PROBE.pattern)
    sys.meta_path.insert(0, _Finder(watched))
    for package in _PACKAGES:
        path = importlib.import_module(f"openbook.{package}").__path__
        for each in pkgutil.iter_modules(path):
            importlib.import_module(f"openbook.{package}.{each.name}")


def _asked(data: Path, checkouts: Path, files: Sequence[Path]) -> list[Asked]:
    from benchmarks.answers import read_questions

    every = [each for file in (None, *files) for each in read_questions(data, file)]
    return [each for each in every if (checkouts / each.project).is_dir()]


class _Made(NamedTuple):
    """What an answer and a search make of a question."""

    answer: str
    first: float
    any: float
    found: tuple[Span, ...]


@dataclass
class _Forced:
    """What forcing one condition does."""

    matters_in: int = 0
    asked_again: int = 0
    changes: list[tuple[float, float]] = field(default_factory=list)
    """How many more right first and any citations there are with all conditions as they are."""

    @property
    def verdict(self) -> str:
        """`never`, `same`, `rare`, or nothing if some question needs the condition."""
        if not self.matters_in:
            return "never"
        if not self.changes:
            return "same" if self.asked_again else ""
        return "rare" if self.matters_in <= _RARE and sum(map(sum, self.changes)) <= 0 else ""


class _Asking:
    """Asks questions with and without each condition."""

    def __init__(self, asked: Sequence[Asked], checkouts: Path, home: Path) -> None:
        self._of_projects: dict[str, list[Asked]] = defaultdict(list)
        for each in asked:
            self._of_projects[each.project].append(each)
        self._checkouts, self._home = checkouts, home
        modules = [module for name, module in sys.modules.items() if name.startswith("openbook.")]
        self._caches = {
            id(value): value
            for module in modules
            if module.__name__.split(".")[1] in _PACKAGES
            for name, value in vars(module).items()
            if hasattr(value, "cache_clear") and name != "load_model"
        }.values()

    def with_each_forced(self) -> Mapping[tuple[int, bool], _Forced]:
        """Return what each condition does, in the order of the code."""
        forced = {(number, value): _Forced() for number, unit in enumerate(_PROBE.units) for value in unit.forced}
        plain: dict[int, _Made] = {}
        seconds: dict[int, float] = {}
        matters_in: dict[tuple[int, bool], list[Asked]] = defaultdict(list)
        for library, each in self._each():
            _PROBE.seen.clear()
            started = time.perf_counter()
            plain[id(each)] = self._ask(library, each)
            seconds[id(each)] = time.perf_counter() - started
            # A pattern that matched is noted as true, and forced to be false.
            for number, value in _PROBE.seen:
                matters_in[number, not value].append(each)
        again: dict[int, list[tuple[int, bool]]] = defaultdict(list)
        for key in forced.keys() & matters_in.keys():
            forced[key].matters_in = len(matters_in[key])
            for each in _quickest(matters_in[key], seconds):
                again[id(each)].append(key)
        for library, each in self._each():
            for key in again[id(each)]:
                if len(forced[key].changes) < _ENOUGH:
                    self._force(key, forced[key], library, each, plain[id(each)])
        return forced

    def _force(self, key: tuple[int, bool], made: _Forced, library: Library, asked: Asked, before: _Made) -> None:
        _PROBE.forced = key
        now = self._ask(library, asked)
        _PROBE.forced = None
        made.asked_again += 1
        if now != before:
            made.changes.append((before.first - now.first, before.any - now.any))

    def _each(self) -> Iterator[tuple[Library, Asked]]:
        from benchmarks.answers import open_library

        for project, those in self._of_projects.items():
            with open_library(self._checkouts / project, self._home / project) as library:
                yield from ((library, each) for each in those)

    def _ask(self, library: Library, asked: Asked) -> _Made:
        """Ask without what other questions have left in caches. What cannot be answered is an answer of its own."""
        from benchmarks.answers import places_cited
        from openbook.errors import OpenbookError

        for each in self._caches:
            each.cache_clear()
        try:
            answer = library.query(asked.text)
            found = library.search(asked.text, limit=_RESULTS)
        except (*_BROKEN, OpenbookError) as exc:
            return _Made(type(exc).__name__, 0.0, 0.0, ())
        scores = (0.0, 0.0) if answer.refused else places_cited(answer, asked)
        return _Made(answer.answer, *scores, tuple(each.chunk.span for each in found))


def _quickest(asked: Sequence[Asked], seconds: Mapping[int, float]) -> Iterator[Asked]:
    """Yield the questions that are answered soonest, few of a project."""
    of_project = Counter[str]()
    left = _ASKED_AGAIN
    for each in sorted(asked, key=lambda one: seconds[id(one)]):
        if left and of_project[each.project] < _OF_A_PROJECT:
            left -= 1
            of_project[each.project] += 1
            yield each


def _print(unit: _Unit, forced: bool, made: _Forced, *, everything: bool) -> None:
    if not made.verdict and not everything:
        return
    place = f"{unit.module.removeprefix('openbook.')}:{unit.line}"
    first, any_of = (sum(each[n] for each in made.changes) for n in (0, 1))
    code = unit.code.replace("|", "\\|")
    cells = (place, f"`{code}`", forced, made.matters_in, made.asked_again, len(made.changes), f"{first:+.0f}")
    print("|", " | ".join(map(str, (*cells, f"{any_of:+.1f}", made.verdict))), "|")


if __name__ == "__main__":
    main()
