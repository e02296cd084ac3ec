"""Syncs a folder with an index, for tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from openbook.embedding.protocol import Embedder
from openbook.index.protocol import Index, Source
from openbook.ingest.sync import SyncReport, sync
from openbook.settings import Settings
from openbook.sources.reader_registry import ReaderRegistry
from openbook.testing import HashEmbedder


def an_hour_later() -> float:
    """Return a time at which no file has just been written."""
    return time.time() + 3600


def bring(
    index: Index,
    tree: Path,
    *,
    load_embedder: Callable[[], Embedder] = HashEmbedder,
    now: Callable[[], float] = an_hour_later,
    progress: Callable[[int, int], None] | None = None,
    only: tuple[str, ...] = (),
    readers: ReaderRegistry | None = None,
    **settings: Any,
) -> SyncReport:
    """Sync the source called `s`, as it is remembered."""
    root = next((root for root in index.roots() if root.name == "s"), Source("s", "folder", str(tree)))
    chosen = Settings(**{"workers": 1} | settings)
    return sync(
        root,
        index,
        settings=chosen,
        load_embedder=load_embedder,
        readers=readers,
        now=now,
        progress=progress,
        only=only,
    )
