"""What several tests make: small documents with words and vectors of their own, and child processes."""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openbook.index.protocol import Entry, Hit, Identity, Index, Terms
from openbook.spans import LineIndex
from openbook.types import Anchor, Chunk, Document, Filter, Kind, Stamp

if TYPE_CHECKING:
    from openbook.index.protocol import Vector

IDENTITY = Identity(embedder="test-8", tokens="test-1", chunks="test-2")
DIM = 8
EVERYTHING = Filter()

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_STAYED_PRIVILEGED = 77


def stamp(number: int = 1) -> Stamp:
    return Stamp(size_bytes=number, modified_ns=number * 10, changed_ns=number * 100)


def document(
    path: str = "a.md",
    text: str = "One.\n",
    *,
    source: str = "s",
    kind: Kind = "docs",
    anchors: tuple[Anchor, ...] = (),
) -> Document:
    content_hash = hashlib.sha256(text.encode("utf-8")).hexdigest()
    return Document(source, path, kind, "markdown", text, content_hash, anchors=anchors)


def vector(*numbers: float) -> Vector:
    """Make a row of unit length that begins with these numbers and goes on with zeros."""
    row = np.zeros(DIM, dtype=np.float32)
    row[: len(numbers)] = numbers
    length = np.linalg.norm(row)
    return (row / length).astype(np.float32) if length else row


NO_VECTOR = vector()


def entry(
    of: Document,
    start: int = 0,
    end: int | None = None,
    *,
    terms: Terms | None = None,
    vector: Vector = NO_VECTOR,
    **fields: Any,
) -> Entry:
    """Make a chunk of a document ready; its words are those between spaces unless `terms` are given."""
    end = len(of.text) if end is None else end
    text = of.text[start:end]
    chunk = Chunk(of.source, LineIndex(of.text).span(of.path, start, end), text, of.kind, of.language, **fields)
    return Entry(chunk, Terms(body=tuple(text.split())) if terms is None else terms, vector)


def put(
    index: Index,
    path: str,
    text: str = "word",
    *,
    source: str = "s",
    kind: Kind = "docs",
    vector: Vector = NO_VECTOR,
) -> None:
    """Store a document of one chunk, whose words are those between its spaces."""
    made = document(path, text, source=source, kind=kind)
    index.put(made, [entry(made, vector=vector)], stamp())


def paths(index: Index, hits: Iterable[Hit]) -> list[str]:
    return [found.chunk.span.path for found in index.fetch([hit.id for hit in hits])]


def everything(index: Index, tokens: Sequence[str], query: Vector) -> dict[str, Any]:
    """Give all that an index answers, in a form that compares."""
    sources = [root.name for root in index.roots()]
    records = {source: index.records(source) for source in sources}
    lexical, dense = index.lexical(tokens, 1000, EVERYTHING), index.dense(query, 1000, EVERYTHING)
    return {
        "roots": index.roots(),
        "records": records,
        "documents": [index.document(source, path) for source in sources for path in sorted(records[source])],
        "lexical": lexical,
        "dense": dense,
        "frequencies": index.frequencies(tokens),
        "found": index.fetch(sorted({hit.id for hit in lexical + dense})),
    }


def write_tree(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    return root


def tell(line: object) -> None:
    """Say something to the process that started this one."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def start_child(
    function: Callable[..., object], *arguments: object, unprivileged: bool = False, **options: Any
) -> subprocess.Popen[str]:
    """Run a function of a module in a process of its own, which tells what the function gives.

    Args:
        function: Of a module that can be imported.
        arguments: JSON values or paths.
        unprivileged: Take from root the right to read and write what it has no permission for.
        options: For `Popen`.
    """
    packed = json.dumps([str(argument) if isinstance(argument, Path) else argument for argument in arguments])
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support", function.__module__, function.__name__, packed, str(unprivileged)],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        encoding="utf-8",
        **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options,
    )


def run_child(function: Callable[..., object], *arguments: object, unprivileged: bool = False) -> str:
    """Run a function as `start_child` does, until it ends well, and give what it told."""
    with start_child(function, *arguments, unprivileged=unprivileged) as process:
        output, errors = process.communicate()
    if process.returncode == _STAYED_PRIVILEGED:
        import pytest  # children would pay for it on the first line

        pytest.skip("this system does not let root give up its rights")
    assert process.returncode == 0, errors
    return output.strip()


def _drop_privileges() -> bool:
    """Give up root's way around permissions, from the next exec on."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "prctl"):
        return False
    rights = (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH)
    return all(libc.prctl(_PR_CAPBSET_DROP, right, 0, 0, 0) == 0 for right in rights)


def _main() -> None:
    module, name, packed, unprivileged = sys.argv[1:]
    if unprivileged == "True" and os.geteuid() == 0:
        if not _drop_privileges():
            sys.exit(_STAYED_PRIVILEGED)
        os.execv(sys.executable, [sys.executable, "-m", "tests.support", module, name, packed, "False"])
    answer = getattr(importlib.import_module(module), name)(*json.loads(packed))
    if answer is not None:
        tell(answer)


if __name__ == "__main__":
    _main()
