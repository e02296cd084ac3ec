"""Prints the size and shape of the package: `python -m tools.structure [FOLDER]`.

Lines and modules by room, public class names that stand in several modules, small modules that one module imports, and
how far one question travels: the modules and functions that it enters, and the depth of its calls.
"""

from __future__ import annotations

import ast
import sys
import tempfile
from collections import Counter, defaultdict
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType

PACKAGE = Path(__file__).parents[1] / "src" / "openbook"

# A module that is that small and has one importer may belong into it.
_SMALL = 110


def lines_by_room(package: Path) -> Counter[str]:
    """Count the lines of Python in each folder; modules beside the folders are the room `.`."""
    counts: Counter[str] = Counter()
    for path in package.rglob("*.py"):
        counts[_room(path, package)] += len(path.read_text(encoding="utf-8").splitlines())
    return counts


def names_in_several_modules(package: Path) -> dict[str, list[str]]:
    """Return public class names that several modules define, with the modules, in order."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path.relative_to(package).as_posix())
    return {name: found for name, found in sorted(places.items()) if len(found) > 1}


def small_modules_with_one_importer(package: Path) -> list[tuple[str, str]]:
    """List small modules that exactly one other module imports, with that module, in order."""
    importers: dict[str, set[str]] = defaultdict(set)
    modules = {_dotted(path, package): path for path in package.rglob("*.py")}
    for name, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for imported in _imported(node):
                if imported in modules and imported != name:
                    importers[imported].add(name)
    return sorted(
        (name, next(iter(found)))
        for name, found in importers.items()
        if len(found) == 1 and len(modules[name].read_text(encoding="utf-8").splitlines()) <= _SMALL
    )


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def _dotted(path: Path, package: Path) -> str:
    return ".".join((package.name, *path.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")


def _room(path: Path, package: Path) -> str:
    first, *rest = path.relative_to(package).parts
    return first if rest else "."


def trip(question: str, folder: Path) -> tuple[int, int, int, int]:
    """Answer a question from a folder; count the modules, functions and frames that it enters, and its deepest call.

    The folder is indexed before. Properties count as functions. Comprehensions, and the bodies of modules and classes
    that the first question imports, are frames of their own.
    """
    from openbook import Library
    from openbook.settings import Settings

    entered: set[CodeType] = set()
    depth = deepest = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal depth, deepest
        if event not in ("call", "return") or str(PACKAGE) not in frame.f_code.co_filename:
            return
        if event == "call":
            entered.add(frame.f_code)
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth = max(0, depth - 1)

    with tempfile.TemporaryDirectory() as home, Library.open(settings=Settings(home=Path(home), workers=1)) as library:
        library.add(folder)
        sys.setprofile(profile)
        try:
            library.query(question)
        finally:
            sys.setprofile(None)
    functions = [code for code in entered if code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<")]
    return len({code.co_filename for code in entered}), len(functions), len(entered), deepest


def main() -> None:
    """Print all figures."""
    package = Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE
    lines = lines_by_room(package)
    modules = Counter(_room(path, package) for path in package.rglob("*.py"))
    for room in sorted(lines):
        print(f"{lines[room]:6} lines  {modules[room]:3} modules  {room}")
    print(f"{lines.total():6} lines  {modules.total():3} modules  in all")
    twice = names_in_several_modules(package)
    print(f"{len(twice)} public class names in several modules: {', '.join(twice) or 'none'}")
    small = small_modules_with_one_importer(package)
    print(f"{len(small)} modules of at most {_SMALL} lines with one importer")
    for name, importer in small:
        print(f"  {name} <- {importer}")
    if package == PACKAGE:
        sample = PACKAGE.parents[1] / "tests" / "sample"
        count, functions, frames, depth = trip("Where is a lost parcel reported?", sample)
        print(f"one question enters {count} modules, {functions} functions and {frames} frames, {depth} calls deep")


if __name__ == "__main__":
    main()
