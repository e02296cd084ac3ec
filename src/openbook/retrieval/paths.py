"""Compares the words of a question with the paths of files."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from pathlib import PurePosixPath

from openbook.questions.question import Question
from openbook.tokens import tokenize

_PREFIX_MATCH, _PREFIX_CHARS = 0.8, 4
_FOLDER_MATCH, _FOLDERS = 0.5, 3
# For these, the folder is the name.
_GENERIC_STEMS = frozenset({"index", "__init__", "mod", "lib", "init", "main"})

# A search reads the paths of a hundred candidates, mostly the same again. About 1 KB each.
_CACHED_PATHS = 1 << 13


def path_match(query: Question, path: str) -> float:
    """Return the share of the question's tokens that the path contains, from 0 to 1.

    Example:
        >>> from openbook.questions.question import read_question
        >>> path_match(read_question("retry transport"), "http/transport.py")
        0.5
    """
    stem_words, beginnings, folder_words = _path_words(path)
    total = 0.0
    for token in query.tokens:
        if token in stem_words:
            total += 1.0
        elif token[:_PREFIX_CHARS] in beginnings and any(_share_prefix(token, word) for word in stem_words):
            total += _PREFIX_MATCH
        elif token in folder_words:
            total += _FOLDER_MATCH
    return total / len(query.tokens)


def is_named(path: str, tokens: Collection[str]) -> bool:
    """Return whether a question has all tokens of a file's name, as "the -l option of scp" has those of `scp.1`.

    Example:
        >>> is_named("man/borg-list.1", ("list", "borg", "option")), is_named("man/borg-list.1", ("list", "option"))
        (True, False)
    """
    stem_words = _path_words(path)[0]
    return bool(stem_words) and stem_words.issubset(tokens)


@lru_cache(maxsize=_CACHED_PATHS)
def _path_words(path: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the tokens of the name, their prefixes, and the tokens of the folders."""
    folders = " ".join(PurePosixPath(path).parent.parts[-_FOLDERS:])
    words = frozenset(tokenize(stem_of(path)))
    return words, frozenset(word[:_PREFIX_CHARS] for word in words), frozenset(tokenize(folders))


def _share_prefix(a: str, b: str) -> bool:
    return min(len(a), len(b)) >= _PREFIX_CHARS and (a.startswith(b) or b.startswith(a))


def stem_of(path: str) -> str:
    """Return the name of a file without its suffix; for generic names such as `client/index.ts`, the folder.

    Example:
        >>> stem_of("http/client/index.ts"), stem_of("http/client.go")
        ('client', 'client')
    """
    pure = PurePosixPath(path)
    return pure.parent.name if is_generic(path) and pure.parent.name else pure.stem


@lru_cache(maxsize=_CACHED_PATHS)
def is_generic(path: str) -> bool:
    """Return whether the name of a file is generic, as `index.ts` and `mod.rs` are."""
    return PurePosixPath(path).stem in _GENERIC_STEMS
