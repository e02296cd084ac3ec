"""Loads grammars and parses text with them, and gives up rather than wait.

Grammars come with the package `semble-grammars`, which unpacks a grammar into a folder under the
user's home when it is first used. Where there is no such folder, code is chunked by lines: the
package is told where to unpack by one environment variable of its own, which is for the person
who runs Openbook to set, not for a library.
"""

from __future__ import annotations

import logging
from functools import cache
from itertools import count
from time import thread_time

from semble_grammars import GrammarLoadError, LanguageNotFoundError, UnsupportedPlatformError, get_language
from tree_sitter import Language, Parser, Point, Tree

_logger = logging.getLogger(__name__)

# Real code parses at 3 to 8 MB/s, so no file that people wrote comes near. The rest is generated
# or hostile: 20,000 open `<div>` take minutes. CPU time, so that a busy machine changes nothing.
_MAX_PARSE_S = 1.0

# Above this, even text that parses at the usual speed would end at the limit above.
_MAX_PARSE_BYTES = 3_000_000

# The parser asks whether to go on each 20 microseconds, and to read the clock takes one.
_CALLS_PER_LOOK = 64

# The parser asks for text in blocks, and steps back to a place that it has left: a block must be
# cheap to copy.
_BLOCK_BYTES = 16_384


def load_parser(language: str) -> Parser | None:
    """Return a parser for the grammar of that name, or None if it cannot be had.

    The grammar is loaded once; the parser is new each time, because parsers are not safe to share
    between threads (a new one costs a microsecond).
    """
    grammar = _load_grammar(language)
    return None if grammar is None else Parser(grammar)


def parse(language: str, source: bytes) -> Tree | None:
    """Parse UTF-8, or give None: there is no grammar, the text is too large, or it takes too long."""
    parser = load_parser(language) if len(source) <= _MAX_PARSE_BYTES else None
    if parser is None:
        return None
    # Only a callback can be stopped, and tree-sitter 0.26.1 never frees what a callback returns: one
    # block for all calls, emptied at the end, loses 60 bytes for each text instead of the text.
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
    except ValueError:  # how the parser says that it was stopped
        _logger.info("parsing %d bytes of %s took too long: chunked by lines", len(source), language)
        return None
    except SystemError as exc:  # what a callback raises is told by the next one alone, as the cause of this
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
        grammar: Language = get_language(language)
    except LanguageNotFoundError:
        return None
    except (GrammarLoadError, UnsupportedPlatformError, RuntimeError, OSError) as exc:
        # RuntimeError: the user has no home at all.
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
