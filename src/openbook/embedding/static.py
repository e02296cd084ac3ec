"""The default embedder: looks up one vector per word piece, and sums them.

It runs no neural network and downloads nothing, so a core embeds thousands of chunks per second.
docs/static-model.md describes the origin and the quality of the vectors.
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

# Longer texts are cut, so that a line of a megabyte takes at most 12 ms instead of seconds. The limit
# is several times the largest chunk. Cutting at 512 pieces, as MiniLM does, is worse: MRR on docs-qa,
# whose sections are long, fell from .52 to .48.
_MAX_CHARS = 8_192

# Texts per batch: embedding 10,000 chunks then takes 2 MB of memory besides the vectors.
_BATCH_SIZE = 256

# The tokenizer splits at whitespace and around ASCII punctuation. Words between these are tokenized separately and
# cached, and punctuation is counted, which takes a seventh of the time.
# It drops these control characters, which `str.split` would treat as whitespace.
_DROPPED = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"
_BLANKS = str.maketrans(dict.fromkeys(punctuation, " ") | dict.fromkeys(_DROPPED, "\0"))

# Other places where the tokenizer splits.
_BETWEEN_CASES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

# Cache for the distinct words of a large library, about 200 bytes each. Longer strings are not words and do not repeat.
_CACHED_WORDS = 1 << 17
_MAX_CACHED_CHARS = 40


class StaticEmbedder:
    """Embeds with the BERT-style tokenizer and the int8 matrix in a folder.

    The weight of a piece was learned with its row and is the row's norm, so a text is a plain sum.
    Sums of int8 are exact, so vectors are identical on all machines and for all batch sizes.

    Threads may share an embedder, and forked processes may use their parent's. Pickling stores only
    the path of the folder. The matrix is memory-mapped, so that all processes share one copy.
    """

    def __init__(self, folder: Path) -> None:
        """Load `tokenizer.json` and `matrix.npy`. Takes about 40 ms once NumPy and tokenizers are imported.

        Raises:
            SettingsError: The folder contains no static model, or a damaged one.
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
        # Vectors depend on the pooling rule, so the identity does too.
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
        """Number of dimensions."""
        return int(self._matrix.shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 (len(texts), dim), in order, with rows of unit length, or zero.

        Only the first 8,192 characters of a text count. Words of more than 100 characters and unknown
        symbols are ignored; commas, dots and parentheses weigh about a tenth of a word.
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
            # Lone surrogates, as in file names that are not UTF-8, cannot be passed to the tokenizer.
            encoded = text[:_MAX_CHARS].encode("utf-8", "replace")
            words = encoded.decode("utf-8").translate(_BLANKS).split()
            pieces = np.array(list(chain.from_iterable(map(self._pieces.__getitem__, words))), dtype=np.intp)
            self._matrix.take(pieces, axis=0).sum(axis=0, dtype=np.int32, out=sums[row])
            marks[row] = np.bincount(np.frombuffer(encoded, dtype=np.uint8), minlength=128)[self._mark_codes]
        sums += np.einsum("ij,jk->ik", marks, self._mark_rows)
        return sums


class _Pieces(dict[str, list[int]]):
    """Caches the pieces of each word."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __missing__(self, word: str) -> list[int]:
        lower = word.lower()
        if word != lower and word.isascii() and word.isalnum():
            pieces = [piece for part in _BETWEEN_CASES.split(word) for piece in self[part.lower()]]
        else:
            pieces = self._tokenizer.encode(word, add_special_tokens=False).ids
        if len(word) <= _MAX_CACHED_CHARS:
            if len(self) >= _CACHED_WORDS:
                self.clear()
            self[word] = pieces
        return pieces


@cache
def load_embedder() -> StaticEmbedder:
    """Return the model shipped with Openbook, loaded once per process.

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

    # float64 represents every square and their sum exactly; a nonzero sum has a norm of at least 1.
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
