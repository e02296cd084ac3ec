"""Ignore rules with git's semantics: .gitignore, .git/info/exclude and our own .openbookignore."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

RULE_FILES = (".gitignore", ".openbookignore")
"""Names of ignore files, in order of increasing precedence."""


# Name of the group in pathspec's expressions that marks a match of a whole folder.
_FOLDER_MARK = "ps_d"

# Beginning of the expression for a pattern without a slash.
_ANY_FOLDER = "^(?:.+/)?"


# Limit of `**` per pattern. More are useless, and each multiplies the backtracking on a deep path.
_MAX_FOLDERS = 3
_FOLDERS = re.compile(r"\.\+")

# Placeholder for `*` in an expression: no pattern contains a line feed.
_STAR = "\n"
_BETWEEN_STARS = re.compile(r"\n((?:\\.|\[\^?\]?[^\]]*\]|[^\n/()|\\\[])+)(?=\n)")


# Sets of characters, and the names that they may contain: `[[:digit:]_]`.
_SET = re.compile(r"\[[!^]?\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*\]")
_NAMED = re.compile(r"\[:([a-z]+):\]")
# Paths are not longer. Sets in a line of a megabyte would take quadratic time.
_MAX_PATTERN_CHARS = 4096
# A sign of negation never comes first, and a slash is in none.
_CHARACTERS = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "xdigit": "0-9a-fA-F",
    "blank": " \t",
    "space": " \t\v\f\r",
    "punct": ":-@!-.[-`{-~",
    "graph": "0-~!-.",
    "print": "0-~ -.",
}


class _Patterns:
    """The patterns of one rule file, for paths below its folder."""

    def __init__(self, text: str) -> None:
        # Lazy: 15 ms, needed only for folders with rules.
        from pathspec import GitIgnoreSpec

        self._patterns: list[tuple[re.Pattern[str], bool]] = []
        for line in text.removeprefix("\ufeff").split("\n"):
            try:
                # The other backends raise errors of their own for expressions that they do not know.
                spec = GitIgnoreSpec.from_lines([_normalized(line.removesuffix("\r"))], backend="simple")
            except (ValueError, re.error):
                continue  # like git, ignore malformed patterns
            self._patterns.extend(
                (_without_backtracking(p.regex), p.include)
                for p in spec.patterns
                if p.regex and p.include is not None and len(_FOLDERS.findall(p.regex.pattern)) <= _MAX_FOLDERS
            )
        self._patterns.reverse()
        self._any = _union([regex.pattern for regex, _ in self._patterns])

    def verdict(self, path: str) -> bool | None:
        """Return whether the path is ignored (True), included again (False) or not matched (None).

        The last pattern that matches decides. Folders end with a slash.
        """
        if self._any.search(path) is None:
            return None
        for regex, ignored in self._patterns:
            if _matches_itself(regex, path):
                return ignored
        return None


def _without_backtracking(regex: re.Pattern[str]) -> re.Pattern[str]:
    """Make a wildcard before another one lazy, to prevent catastrophic backtracking (ReDoS).

    Otherwise a repository could have a pattern of ten wildcards that takes days to match.
    """
    source = re.sub(r"(?:\[\^/\]\*)+", _STAR, regex.pattern)
    source = _BETWEEN_STARS.sub(r"(?>[^/]*?\1)", source)
    return re.compile(source.replace(_STAR, "[^/]*"))


def _normalized(line: str) -> str:
    """Rewrite what pathspec 1.1.1 does not read as git does.

    `folder/**/` is all subfolders, but not the folder; `[[:digit:]]` is a digit.
    """
    if "[:" in line and len(line) <= _MAX_PATTERN_CHARS:
        line = _SET.sub(lambda found: _NAMED.sub(lambda name: _CHARACTERS.get(name[1], "\0"), found[0]), line)
    return re.sub(r"(?<=[^/!])/\*\*/[ ]*$", "/**/*/", line)


def _union(sources: list[str]) -> re.Pattern[str]:
    """Combine all patterns into one, because most paths match none, and 76 separate searches take 40 µs.

    Most begin with the same "in any folder" expression, which is factored out.
    """
    plain = [source.replace(f"?P<{_FOLDER_MARK}>", "?:") for source in sources]
    anywhere = [source.removeprefix(_ANY_FOLDER) for source in plain if source.startswith(_ANY_FOLDER)]
    others = [source for source in plain if not source.startswith(_ANY_FOLDER)]
    if anywhere:
        others.append(f"{_ANY_FOLDER}(?:{'|'.join(anywhere)})")
    return re.compile("|".join(others) or r"(?!)")


def _matches_itself(regex: re.Pattern[str], path: str) -> bool:
    """Return whether a pattern matches the path itself, not only a folder above it.

    The walk has already checked the folders above, and an ignore file of higher precedence may have overruled this one
    for them.
    """
    match = regex.search(path)
    while match is not None and match.groupdict().get(_FOLDER_MARK):
        if match.end(_FOLDER_MARK) == len(path):
            return True
        match = regex.search(path, match.end(_FOLDER_MARK))
    # `folder/**` matches the content of the folder, but not the folder.
    return match is not None and not (path.endswith("/") and match.end() == len(path))


@dataclass(frozen=True, slots=True)
class _Level:
    prefix: str
    """Path of the folder with the ignore file, from the top folder; empty or with a final slash."""
    patterns: _Patterns


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The ignore rules that apply in one folder, including inherited ones."""

    prefix: str = ""
    """Path of the scanned root from the top folder, with a final slash if not empty."""
    git: tuple[_Level, ...] = field(default=())
    own: tuple[_Level, ...] = field(default=())
    """From .openbookignore. Both tuples have the deepest folder, whose rules take precedence, first."""

    def enter(self, folder: Path, path: str, names: set[str]) -> IgnoreRules:
        """Add the ignore files of a folder.

        `path` is empty or has a final slash. Only files in `names` are opened.
        """
        git, own = self.git, self.own
        if ".gitignore" in names:
            git = (*_levels(folder / ".gitignore", self.prefix + path), *git)
        if ".openbookignore" in names:
            own = (*_levels(folder / ".openbookignore", self.prefix + path), *own)
        return IgnoreRules(self.prefix, git, own)

    def verdict(self, path: str) -> bool | None:
        """Return whether a path from the root is ignored (True), explicitly included (False) or neither (None).

        Only a `!` pattern in .openbookignore includes a path explicitly: it also overrules our default exclusions.
        Folders end with a slash. The folders above the path must not be ignored themselves.
        """
        own = self.own_verdict(path)
        return own if own is not None else self.is_ignored_by_git(path) or None

    def own_verdict(self, path: str) -> bool | None:
        """Return the verdict of .openbookignore alone."""
        return _first(self.own, self.prefix + path)

    def is_ignored_by_git(self, path: str) -> bool:
        """Return whether a rule of git ignores a path, tracked or not."""
        return bool(self.git and _first(self.git, self.prefix + path))


def _first(levels: tuple[_Level, ...], path: str) -> bool | None:
    for level in levels:
        found = level.patterns.verdict(path[len(level.prefix) :])
        if found is not None:
            return found
    return None


def _levels(file: Path, prefix: str) -> tuple[_Level, ...]:
    text = _text_of(file)
    return (_Level(prefix, _Patterns(text)),) if text.strip() else ()


def _text_of(file: Path) -> str:
    """Read an ignore file; an unreadable one has no rules."""
    try:
        # Reading a pipe would block forever.
        return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    except OSError:
        return ""


def includes_again(root: Path) -> bool:
    """Return whether `.openbookignore` in a folder includes anything that would be excluded."""
    return any(line.startswith("!") for line in _text_of(root / ".openbookignore").splitlines())


def rules_above(root: Path) -> IgnoreRules:
    """Collect the rules of the folders above the root, up to the top of its git checkout, if any.

    If they ignore the root itself, they are all dropped: a user who names an ignored folder wants its content.
    """
    top = top_of_checkout(root)
    if top is None:
        return IgnoreRules()
    parts = root.relative_to(top).parts
    rules = IgnoreRules("", _levels(top / ".git" / "info" / "exclude", ""))
    folder, path = top, ""
    for part in parts:
        rules = rules.enter(folder, path, set(RULE_FILES))
        folder, path = folder / part, f"{path}{part}/"
        if rules.verdict(path):
            return IgnoreRules()
    return IgnoreRules(path, rules.git, rules.own)


def top_of_checkout(root: Path) -> Path | None:
    """Return the top folder of the git checkout that contains a folder; None without one."""
    return next((folder for folder in (root, *root.parents) if _is_checkout(folder)), None)


def _is_checkout(folder: Path) -> bool:
    try:
        # In worktrees and submodules it is a file.
        return (folder / ".git").exists()
    except OSError:
        return False
