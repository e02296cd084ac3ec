"""Loads tree-sitter grammars and parses text with them, within a time limit.

The package `semble-grammars` unpacks a grammar on first use, into a folder under the user's home. Without that folder,
code is chunked by lines. Its location is an environment variable of that package, which the user may set; this library
does not.
"""

from __future__ import annotations

import logging
from functools import cache
from itertools import count
from time import thread_time
from types import MappingProxyType

from semble_grammars import GrammarLoadError, LanguageNotFoundError, UnsupportedPlatformError, get_language
from tree_sitter import Language, Parser, Point, Tree

_logger = logging.getLogger(__name__)

# Languages without a grammar that differ from another one only in what few definitions have.
_READ_AS = MappingProxyType({"elisp": "scheme", "lisp": "scheme"})

# Real code parses at 3 to 8 MB/s, far from this limit. Other text is generated or malicious: 20,000 open `<div>` take
# minutes. This is CPU time, so that a busy machine changes nothing.
_MAX_PARSE_S = 1.0

# Above this size, even text that parses at the usual speed would exceed the time limit.
_MAX_PARSE_BYTES = 3_000_000

# The parser calls back every 20 microseconds, and reading the clock takes one.
_CALLS_PER_LOOK = 64

# The parser reads text in blocks, and may return to a previous place: a block must be cheap to copy.
_BLOCK_BYTES = 16_384


def load_parser(language: str) -> Parser | None:
    """Return a parser for a grammar by name; None if it is not available.

    The grammar is cached; the parser is new each time (1 µs), because parsers are not thread-safe.
    """
    grammar = _load_grammar(language)
    return None if grammar is None else Parser(grammar)


def parse(language: str, source: bytes) -> Tree | None:
    """Parse UTF-8; None without a grammar, or if the text is too large or takes too long."""
    parser = load_parser(language) if len(source) <= _MAX_PARSE_BYTES else None
    if parser is None:
        return None
    # Only a parse with callbacks can be cancelled, and tree-sitter 0.26.1 leaks the objects that they return. With one
    # reused block, emptied at the end, it leaks 60 bytes per text instead of the text.
    block = bytearray()

    def read(offset: int, _: Point) -> bytearray:
        block[:] = source[offset : offset + _BLOCK_BYTES]
        return block

    calls = count(1)
    deadline_s = thread_time() + _MAX_PARSE_S

    def is_late(_offset: int, _has_error: bool) -> bool:
        return next(calls) % _CALLS_PER_LOOK == 0 and thread_time() > deadline_s

    try:
        return parser.parse(read, progress_callback=is_late)
    except ValueError:  # raised if the parse was cancelled
        _logger.info("parsing %d bytes of %s took too long: chunked by lines", len(source), language)
        return None
    except SystemError as exc:  # an exception of a callback surfaces only as the cause of this one, from the next call
        if _is_interrupt(exc):
            raise KeyboardInterrupt from exc
        raise
    finally:
        block.clear()


def _is_interrupt(exc: BaseException | None) -> bool:
    while exc is not None and not isinstance(exc, KeyboardInterrupt):
        exc = exc.__cause__
    return exc is not None


@cache
def _load_grammar(language: str) -> Language | None:
    if not language:
        return None
    try:
        grammar: Language = get_language(_READ_AS.get(language, language))
    except LanguageNotFoundError:
        return None
    except (GrammarLoadError, UnsupportedPlatformError, RuntimeError, OSError) as exc:
        # RuntimeError: the user has no home folder.
        _warn_once(str(exc.__cause__ or exc))
        return None
    return grammar


@cache
def _warn_once(reason: str) -> None:
    _logger.warning(
        "grammars cannot be loaded, so code is chunked by lines (%s); "
        "set SEMBLE_GRAMMARS_CACHE_DIR to a folder that can be written",
        reason,
    )
