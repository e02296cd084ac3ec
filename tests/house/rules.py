"""Rules of this project that no linter has, as pure functions from text to findings.

A finding is `file:line: what is wrong`. Without findings, the rule is kept.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 50
# Whoever clones gets every version of every file. What a command can make again, or is data to measure on, stays out.
MAX_FILE_BYTES = 1_000_000

# Importing the package must stay free; these cost from 20 ms to seconds.
HEAVY_MODULES = frozenset(
    {"asyncio", "click", "huggingface_hub", "markdown_it", "multiprocessing", "numpy", "onnxruntime", "pathspec"}
    | {"platformdirs", "pydantic", "pygments", "ray", "rich", "semble_grammars", "sqlite3", "tokenizers"}
    | {"tree_sitter", "typer"}
)

# Folders of one machine, and hosts that packages come from: both change under a reader's feet.
_PLACES = re.compile(
    r"(?<![\w.~])/(?:work|root|opt/pypi|opt/wheels)\b"
    r"|pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|download\.pytorch"
)
# Each turns text into markup or code, or into what the page's own policy forbids.
_LIVE = re.compile(
    r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|setHTMLUnsafe|srcdoc|(?:eval|Function)\()"
    r"|document\.write|javascript:|(?<![\w$.])on[a-z]+\s*=(?![=>])|\.on[a-z]+\s*=(?!=)|\sstyle\s*=|\bvar\s"
)
# The one place: it takes what the server has sanitised.
_LIVE_ALLOWED = ("web/dom.js", "template.innerHTML = policy.createHTML(html);")
_UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
_DRAWN = re.compile(r"^(?P<stem>[\s│├└─]*)(?P<name>[A-Z]\w+)")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def long_modules(path: str, text: str) -> list[str]:
    """Find modules that are too long."""
    count = text.count("\n")
    return [f"{path}:{count}: {count} lines, at most {MAX_MODULE_LINES}"] if count > MAX_MODULE_LINES else []


def long_functions(path: str, text: str) -> list[str]:
    """Find functions that do not fit on a screen. Decorators and the docstring count."""
    sizes = ((node, (node.end_lineno or 0) - node.lineno + 1) for node in _functions(text))
    return [
        f"{path}:{node.lineno}: {node.name} has {size} lines, at most {MAX_FUNCTION_LINES}"
        for node, size in sizes
        if size > MAX_FUNCTION_LINES
    ]


def large_file(path: str, size_bytes: int) -> list[str]:
    """Find a file that is too large for the repository."""
    return [f"{path}:1: {size_bytes} bytes, at most {MAX_FILE_BYTES}"] if size_bytes > MAX_FILE_BYTES else []


def unbounded_steps(path: str, text: str) -> list[str]:
    """Find commands of the CI script without a timeout."""
    lines = enumerate(text.splitlines(), start=1)
    return [f"{path}:{number}: {line}" for number, line in lines if re.match(r"(?:\w+=\S* )*(?:make|\.venv/)", line)]


def environment_reads(path: str, text: str) -> list[str]:
    """Find uses of the process environment."""
    if not _holds(text, "env"):
        return []
    names = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            used = {node.attr} & names
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            used = {alias.name for alias in node.names} & names
        else:
            continue
        found += [f"{path}:{node.lineno}: os.{name}; settings.py reads the environment" for name in sorted(used)]
    return found


def shell_calls(path: str, text: str) -> list[str]:
    """Find calls that pass text to a shell."""
    if not _holds(text, "shell", "system", "popen"):
        return []
    return [
        f"{path}:{call.lineno}: runs a shell"
        for call in _calls(text)
        if _name(call.func) in {"os.system", "os.popen"}
        or any(word.arg == "shell" and not _is_constant(word.value, False) for word in call.keywords)
    ]


def markup_calls(path: str, text: str) -> list[str]:
    """Find terminal output that would parse brackets of a source or an error as style."""
    if not _holds(text, "Console", "TextColumn", "from_markup"):
        return []
    found = []
    for call in _calls(text):
        name = _name(call.func).rpartition(".")[2]
        if name in {"Console", "TextColumn"}:
            if not any(word.arg == "markup" and _is_constant(word.value, False) for word in call.keywords):
                found.append(f"{path}:{call.lineno}: {name} without markup=False")
        elif name == "from_markup":
            found.append(f"{path}:{call.lineno}: {name}; build the Text from plain strings")
    return found


def doubles_of_our_own(path: str, text: str) -> list[str]:
    """Find tests that patch a part of Openbook instead of passing a double."""
    if not _holds(text, "mock", "monkeypatch"):
        return []
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and _name(node.func) in {"monkeypatch.setattr", "monkeypatch.delattr"}:
            target = node.args[0] if node.args else node
            modules = ["mock"] if str(getattr(target, "value", "")).startswith("openbook") else []
        else:
            continue
        if any("mock" in module.split(".") for module in modules):
            found.append(f"{path}:{node.lineno}: replaces our own parts; pass a double in")
    return found


def unlisted_names(path: str, text: str) -> list[str]:
    """Find public functions and classes missing from `__all__`, if there is one."""
    if not _holds(text, "__all__"):
        return []
    body = ast.parse(text).body
    listed: set[str] | None = None
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(_name(target) == "__all__" for target in targets):
                listed = {str(item.value) for item in ast.walk(node.value) if isinstance(item, ast.Constant)}
    if listed is None:
        return []
    return [
        f"{path}:{node.lineno}: {node.name} is public and not in __all__"
        for node in body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and node.name not in listed
    ]


def unfinished(path: str, text: str) -> list[str]:
    """Find marks of unfinished work, which belong into issues."""
    return _lines_with(_UNFINISHED, path, text)


def machine_places(path: str, text: str) -> list[str]:
    """Find paths of one machine and names of package hosts."""
    return _lines_with(_PLACES, path, text)


def live_markup(path: str, text: str) -> list[str]:
    """Find places of a page where text could become markup or code, except the one for sanitised text."""
    place, line = _LIVE_ALLOWED
    if path.endswith(place):
        text = text.replace(line, "", 1)
    return _lines_with(_LIVE, path, text)


def unpinned(path: str, text: str) -> list[str]:
    """Find requirements without an exact version or without a hash."""
    found = []
    # A requirement and its hashes are one logical line, continued with backslashes.
    for match in re.finditer(r"^(?:[^\n]*\\\n)*[^\n]*$", text, re.MULTILINE):
        entry = match.group()
        if not entry.strip() or entry.lstrip().startswith("#"):
            continue
        if not re.match(r"[\w.-]+(?:\[[\w,-]+\])?==\S", entry) or "--hash=sha256:" not in entry:
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{path}:{line}: not pinned with a hash: {entry.splitlines()[0]}")
    return found


def drawn_errors(drawing: str) -> dict[str, str]:
    """Parse a drawn tree into a map from name to parent; the parent of the root is empty."""
    parents: dict[str, str] = {}
    open_at: list[tuple[int, str]] = []
    for line in drawing.splitlines():
        match = _DRAWN.match(line)
        if match is None or not match["name"].endswith("Error"):
            continue
        depth = len(match["stem"])
        while open_at and open_at[-1][0] >= depth:
            open_at.pop()
        parents[match["name"]] = open_at[-1][1] if open_at else ""
        open_at.append((depth, match["name"]))
    return parents


def defined_errors(text: str) -> dict[str, str]:
    """Parse the error classes of a module into a map from name to parent among them."""
    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    known = {node.name for node in classes}
    return {
        node.name: next((_name(parent) for parent in node.bases if _name(parent) in known), "")
        for node in classes
        if node.name.endswith("Error") and not node.name.startswith("_")
    }


def never_raised(parents: Mapping[str, str], texts: Mapping[str, str]) -> list[str]:
    """Find leaves of the error tree that no other module raises."""
    made = {
        _name(call.func).rpartition(".")[2]
        for path, text in texts.items()
        if not path.endswith("/errors.py")
        for call in _calls(text)
    }
    return [f"{name} is never raised" for name in parents if name not in parents.values() and name not in made]


def _holds(text: str, *words: str) -> bool:
    """Return whether a text contains one of the words of a rule, because parsing a module takes much longer."""
    return any(word in text for word in words)


def _lines_with(pattern: re.Pattern[str], path: str, text: str) -> list[str]:
    return [
        f"{path}:{number}: {match.group()}"
        for number, line in enumerate(text.splitlines(), start=1)
        if (match := pattern.search(line))
    ]


def _functions(text: str) -> Iterator[Function]:
    return (node for node in _statements(ast.parse(text).body) if isinstance(node, Function))


def _statements(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements and nested ones, but not expressions, which are far more."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            nested = getattr(node, part, None)
            if isinstance(nested, list):
                yield from _statements(nested)


def _calls(text: str) -> Iterator[ast.Call]:
    return (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))


def _name(node: ast.expr) -> str:
    """Return a dotted name such as `a.b.c`; empty for other nodes, so that an attribute of a call is `.c`."""
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _is_constant(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value
