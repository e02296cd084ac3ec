"""Words that name repositories, where commands take paths. What is there as a path is a path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from openbook.cli.printing import note
from openbook.settings import Settings


def fetch(words: Sequence[str] | None, settings: Settings) -> None:
    """Fetch the repositories among some words, or what has changed in them. Nothing else goes to the network."""
    for word in words or ():
        if _is_repository(word):
            from openbook.cli.opening import progress_bar
            from openbook.libraries.repositories import fetch_repository

            with progress_bar() as progress:
                state = fetch_repository(word, settings, progress=progress).state
            if state is not None and state.head is not None:
                note(f"fetched {state.head.web_url} at {state.head.commit[:12]}")


def fetched_path(word: str) -> Path:
    """Return the path that a word means; for a repository, the folder of what was fetched of it."""
    if _is_repository(word):
        from openbook.libraries.repositories import fetched_files

        return fetched_files(word, Settings.from_env())
    return Path(word)


def _is_repository(word: str) -> bool:
    # `docs/api` is a path that does not exist where there is a folder `docs`.
    if "/" not in word or any(_exists(path) for path in (Path(word), Path(word.partition("/")[0]))):
        return False
    from openbook.sources.repository_urls import names_repository

    return names_repository(word)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False
