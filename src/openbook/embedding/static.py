"""The default embedder: one vector per word piece, looked up and added up.

There is no network to run and nothing to download, so thousands of chunks are embedded in a
second on one core. docs/static-model.md says where the vectors come from and what they are worth.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import as_file, files
from itertools import chain
from pathlib import Path
from string import punctuation
from typing import TYPE_CHECKING, Any

from openbook.errors import SettingsError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from openbook.embedding.protocol import Vectors

TOKENIZER_FILE = "tokenizer.json"
MATRIX_FILE = "matrix.npy"

# What is longer is cut, so that a megabyte in one line costs 12 ms at most and not seconds. It is
# several times the largest chunk. Cutting at 512 pieces, as MiniLM does, was measured to be worse:
# MRR on docs-qa, whose sections are long, fell from .52 to .48.
_MAX_CHARS = 8_192

# Texts that are summed at once: embedding 10,000 chunks then takes 2 MB of memory beside the vectors.
_BATCH_SIZE = 256

# The tokenizer cuts at white space and around each mark of ASCII punctuation, so what lies between can be
# tokenized by itself and remembered, and marks can be counted: a text takes a seventh of the time.
# It drops control characters, which would be white space to `str.split`.
_DROPPED = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"
_BLANKS = str.maketrans(dict.fromkeys(punctuation, " ") | dict.fromkeys(_DROPPED, "\0"))

# The tokenizer cuts here as well.
_BETWEEN_CASES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

# Distinct words of a large library, at about 200 bytes. What is longer is no word and comes once.
_KEPT_WORDS = 1 << 17
_LONGEST_KEPT_CHARS = 40


class StaticEmbedder:
    """Embeds with the tokenizer, one that cuts as that of BERT, and the int8 matrix of a folder.

    How much a piece says was learned with its row and is the length of it, so a text is a plain sum.
    Sums of int8 are exact, which makes vectors equal bit by bit on all machines, in batches of any size.

    Threads may share an embedder. A forked process can go on using the one of its parent; pickled,
    it travels as the path of its folder and is loaded anew. The matrix is mapped, so that all
    processes share one copy in memory.
    """

    def __init__(self, folder: Path) -> None:
        """Load `tokenizer.json` and `matrix.npy`: about 40 ms, NumPy and tokenizers imported.

        Raises:
            SettingsError: The folder holds no static model, or a damaged one.
        """
        self._folder = folder
        try:
            vocabulary = (folder / TOKENIZER_FILE).read_bytes()
            tokenizer = _read_tokenizer(vocabulary)
            self._pieces = _Pieces(tokenizer)
            self._matrix = _read_matrix(folder / MATRIX_FILE, rows=tokenizer.get_vocab_size())
        except (OSError, EOFError, ValueError) as exc:
            raise SettingsError(
                f"no static model in {str(folder)!r}: {exc}",
                hint="reinstall openbook, or make the model again: tools/README.md says how",
            ) from exc
        self._mark_codes = [ord(mark) for mark in punctuation]
        self._mark_rows = self._matrix.take([self._pieces[mark][0] for mark in punctuation], axis=0).astype("int32")
        # The rule of pooling is part of what vectors depend on, so it is part of the identity.
        digest = hashlib.sha256(f"sum over the first {_MAX_CHARS} characters".encode())
        digest.update(vocabulary)
        digest.update(self._matrix.data)
        self._identity = f"static-{digest.hexdigest()[:12]}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._folder,))

    @property
    def identity(self) -> str:
        """`static-` and the start of a SHA-256 over tokenizer and matrix."""
        return self._identity

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""
        return int(self._matrix.shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 (len(texts), dim), in order: rows of unit length, or zero.

        A text is read up to its 8,192nd character. Words of more than 100 characters and symbols
        that the model has no piece for count for nothing; commas, dots and parentheses count for about
        a tenth of a word.
        """
        import numpy as np

        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        for start in range(0, len(texts), _BATCH_SIZE):
            batch = texts[start : start + _BATCH_SIZE]
            vectors[start : start + len(batch)] = _to_unit_length(self._sums(batch))
        return vectors

    def _sums(self, texts: Sequence[str]) -> NDArray[np.int32]:
        import numpy as np

        sums = np.zeros((len(texts), self.dim), dtype=np.int32)
        marks = np.zeros((len(texts), len(punctuation)), dtype=np.int32)
        for row, text in enumerate(texts):
            # Lone surrogates, as in file names that are no UTF-8, cannot cross into the tokenizer.
            encoded = text[:_MAX_CHARS].encode("utf-8", "replace")
            words = encoded.decode("utf-8").translate(_BLANKS).split()
            pieces = np.array(list(chain.from_iterable(map(self._pieces.__getitem__, words))), dtype=np.intp)
            self._matrix.take(pieces, axis=0).sum(axis=0, dtype=np.int32, out=sums[row])
            marks[row] = np.bincount(np.frombuffer(encoded, dtype=np.uint8), minlength=128)[self._mark_codes]
        sums += np.einsum("ij,jk->ik", marks, self._mark_rows)
        return sums


class _Pieces(dict[str, list[int]]):
    """Gives the pieces of a word, and keeps them."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __missing__(self, word: str) -> list[int]:
        lower = word.lower()
        if word != lower and word.isascii() and word.isalnum():
            pieces = [piece for part in _BETWEEN_CASES.split(word) for piece in self[part.lower()]]
        else:
            pieces = self._tokenizer.encode(word, add_special_tokens=False).ids
        if len(word) <= _LONGEST_KEPT_CHARS:
            if len(self) >= _KEPT_WORDS:
                self.clear()
            self[word] = pieces
        return pieces


@cache
def load_embedder() -> StaticEmbedder:
    """Return the model that is shipped with Openbook, loaded once per process.

    Raises:
        SettingsError: The installation is damaged.
    """
    with as_file(files("openbook.embedding") / "model") as folder:
        return StaticEmbedder(folder)


def _read_tokenizer(content: bytes) -> Tokenizer:
    from tokenizers import Tokenizer

    return Tokenizer.from_buffer(content)


def _read_matrix(path: Path, *, rows: int) -> NDArray[np.int8]:
    import numpy as np

    matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    if matrix.dtype != np.int8 or matrix.ndim != 2:
        raise ValueError(f"{path.name} is {matrix.dtype} {matrix.shape}, and must be int8 with two dimensions")
    if matrix.shape[0] != rows:
        raise ValueError(f"{path.name} has {matrix.shape[0]} rows for {rows} word pieces")
    return np.ascontiguousarray(matrix)


def _to_unit_length(sums: NDArray[np.int32]) -> Vectors:
    import numpy as np

    # float64 holds every square and their sum exactly; a sum that is not zero is at least 1 long.
    exact = sums.astype(np.float64)
    lengths = np.sqrt(np.square(exact).sum(axis=1, keepdims=True))
    vectors: Vectors = (exact / np.maximum(lengths, 1.0)).astype(np.float32)
    return vectors


@lru_cache(maxsize=1)
def common_words() -> frozenset[str]:
    """Return the whole words of the vocabulary, in lower case: 25,348, read in some 10 ms.

    Example:
        >>> [word in common_words() for word in ("sometimes", "protein", "twosided")]
        [True, True, False]
    """
    raw = (files("openbook.embedding") / "model" / TOKENIZER_FILE).read_text("utf-8")
    return frozenset(word for word in json.loads(raw)["model"]["vocab"] if word.isalpha())
