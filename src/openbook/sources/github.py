"""Reads a repository through GitHub's REST API: conditional requests, whole trees, blobs side by side, or a tarball."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

from openbook.errors import FetchError
from openbook.settings import Secret
from openbook.sources.archives import tar_contents
from openbook.sources.github_api import Api
from openbook.sources.network_policy import NetworkPolicy
from openbook.sources.remote import Entry, Head, Listing, Patience, git_hash, list_files
from openbook.sources.repository_urls import COMMIT, GITHUB, RepositoryUrl

T = TypeVar("T")

_SHA = "application/vnd.github.sha"
_RAW = "application/vnd.github.raw+json"

# GitHub allows 100 at a time, and asks for few. A blob takes 0.1 s, so that these fetch 80 in a second.
_AT_ONCE = 8

# Below, blobs are as fast. A tarball counts as one request, however much is in it.
_FEW_FILES = 20
_TARBALL_SHARE = 0.5


class GitHubRemote:
    """A repository on GitHub. Use it as a context manager."""

    def __init__(
        self,
        url: RepositoryUrl,
        *,
        api_url: str,
        token: Secret | None = None,
        reach: NetworkPolicy,
        patience: Patience,
        max_bytes: int,
    ) -> None:
        """Get ready to ask; nothing is sent yet.

        Args:
            url: The repository.
            api_url: Of the API. The token goes there and nowhere else.
            token: As `GITHUB_TOKEN` has it.
            reach: What may be asked.
            patience: How long it may take.
            max_bytes: Of an archive, unpacked.
        """
        self._url = url
        self._has_token = token is not None
        self._patience = patience
        self._max_bytes = max_bytes
        self._path = f"/repos/{url.path}"
        self._api = Api(url.web_url, api_url=api_url, token=token, reach=reach, patience=patience)

    def __enter__(self) -> Self:
        self._api.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._api.__exit__(kind, error, trace)

    def newest(self, known: Head | None) -> Head | None:
        """Ask for the commit, and for the rest only if it is another one."""
        ref, folder = (known.ref, known.folder) if known else self._resolve()
        try:
            reply = self._api.get(
                f"{self._path}/commits/{quote(ref or 'HEAD')}", accept=_SHA, etag=known.etag if known else ""
            )
        except FetchError as exc:
            if exc.status == 409:
                raise FetchError(self._url.web_url, "the repository is empty", status=409) from exc
            if not ref or exc.status not in (404, 422):
                raise
            self._api.get(self._path)  # says so if it is the repository that is missing
            raise self._no_ref(exc.status) from exc
        if reply is None:
            return None
        commit = reply.body.decode("ascii", "replace").strip()
        if not COMMIT.fullmatch(commit):
            raise self._nonsense()
        if known and commit == known.commit:
            return None
        return self._described(commit, ref, folder, reply.etag)

    def _described(self, commit: str, ref: str, folder: str, etag: str) -> Head:
        def read(about: Any) -> Head:
            return Head(
                commit=commit,
                web_url=f"https://{GITHUB}/{about['full_name']}",
                ref=ref,
                folder=folder,
                etag=etag,
                default_branch=str(about["default_branch"]),
                description=str(about["description"] or ""),
                language=str(about.get("language") or ""),
                private=bool(about["private"]),
            )

        return self._json(self._path, read)

    def _resolve(self) -> tuple[str, str]:
        """Tell branch, tag or commit from the folder behind it, by asking which there are."""
        first, slash, _ = self._url.rest.partition("/")
        if not slash:
            return first, ""
        for kind in ("heads", "tags"):
            refs = self._refs(f"{self._path}/git/matching-refs/{kind}/{quote(first)}")
            for ref, folder in self._url.splits():
                if f"refs/{kind}/{ref}" in refs:
                    return f"{kind}/{ref}", folder
        return first, self._url.rest.partition("/")[2]  # a commit, or the next request fails and says so

    def _refs(self, path: str) -> set[str]:
        found: set[str] = set()
        while path:
            reply = self._api.get(path)
            assert reply is not None
            found |= set(self._read(reply.body, lambda refs: [str(ref["ref"]) for ref in refs]))
            path = reply.next_url
        return found

    def listing(self, head: Head) -> Listing:
        """List a commit, tree by tree where GitHub cuts the whole list short."""
        return list_files(self._tree(head.commit, ""))

    def _tree(self, sha: str, prefix: str) -> Iterator[tuple[str, str, int, str]]:
        found, truncated = self._read_tree(f"{self._path}/git/trees/{sha}?recursive=1")
        if truncated:
            found, truncated = self._read_tree(f"{self._path}/git/trees/{sha}")
            if truncated:
                raise FetchError(self._url.web_url, f"the folder {prefix or '/'} holds more than GitHub lists")
            for mode, inner, _, path in found:
                if mode == "040000":
                    yield from self._tree(inner, f"{prefix}{path}/")
        yield from ((mode, inner, size, prefix + path) for mode, inner, size, path in found if mode != "040000")

    def _read_tree(self, path: str) -> tuple[list[tuple[str, str, int, str]], bool]:
        def read(tree: Any) -> tuple[list[tuple[str, str, int, str]], bool]:
            found = [
                (str(entry["mode"]), str(entry["sha"]), int(entry.get("size") or 0), str(entry["path"]))
                for entry in tree["tree"]
            ]
            if not all(COMMIT.fullmatch(sha) for _, sha, _, _ in found):
                raise ValueError
            return found, bool(tree["truncated"])

        return self._json(path, read)

    def contents(self, head: Head, listing: Listing, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """Fetch a tarball where most is wanted, and blobs for what is not in it."""
        missing = {entry.sha: entry for entry in listing.entries if entry.sha in set(wanted)}
        if self._by_tarball(listing, missing.values()):
            for sha, raw in self._tarball(head.commit, missing):
                del missing[sha]
                yield sha, raw
        # What `.gitattributes` leaves out of archives or changes in them is still to come.
        yield from self._blobs(list(missing.values()))

    def _by_tarball(self, listing: Listing, missing: Collection[Entry]) -> bool:
        if len(missing) <= _FEW_FILES:
            return False
        share = sum(entry.size_bytes for entry in missing) / (sum(e.size_bytes for e in listing.entries) or 1)
        # Without a token, there are 60 requests in an hour.
        return share >= _TARBALL_SHARE or not self._has_token

    def _tarball(self, commit: str, missing: dict[str, Entry]) -> Iterator[tuple[str, bytes]]:
        """Yield what is missing and in the archive, by hash: what members are called does not matter."""
        path, largest = f"{self._path}/tarball/{commit}", max(entry.size_bytes for entry in missing.values())
        any_sha, waiting = next(iter(missing)), set(missing)
        for attempt in range(2):
            try:
                with self._api.stream(path) as chunks:
                    limits = {"max_bytes": self._max_bytes, "max_file_bytes": largest}
                    for raw in tar_contents(chunks, location=self._url.web_url, **limits):
                        sha = git_hash(raw, any_sha)
                        if sha in waiting:
                            waiting.remove(sha)
                            yield sha, raw
                return
            except FetchError as exc:
                if attempt or exc.status is not None or "more than is allowed" in exc.reason:
                    raise

    def _blobs(self, entries: list[Entry]) -> Iterator[tuple[str, bytes]]:
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            for start in range(0, len(entries), _AT_ONCE * 4):
                batch = entries[start : start + _AT_ONCE * 4]
                yield from pool.map(self._blob, batch)

    def _blob(self, entry: Entry) -> tuple[str, bytes]:
        for _ in range(2):
            reply = self._api.get(f"{self._path}/git/blobs/{entry.sha}", accept=_RAW, max_bytes=entry.size_bytes)
            assert reply is not None
            if git_hash(reply.body, entry.sha) == entry.sha:
                return entry.sha, reply.body
        raise FetchError(self._url.web_url, f"{entry.path!r} came damaged", hint="try again")

    def _json(self, path: str, read: Callable[[Any], T]) -> T:
        reply = self._api.get(path)
        assert reply is not None
        return self._read(reply.body, read)

    def _read(self, body: bytes, read: Callable[[Any], T]) -> T:
        try:
            return read(json.loads(body))
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            raise self._nonsense() from exc

    def _nonsense(self) -> FetchError:
        return FetchError(self._url.web_url, "what came is not what GitHub promises", hint="try again later")

    def _no_ref(self, status: int | None) -> FetchError:
        reason = f"it has no branch, tag or commit {self._url.rest!r}"
        return FetchError(self._url.web_url, reason, hint="leave it out to get the default branch", status=status)
