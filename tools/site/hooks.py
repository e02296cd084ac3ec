"""What `mkdocs` calls while it builds the site: pages from outside `docs/`, links out of it, and no foreign hosts.

The pages are written for a checkout and for the repository's own site, where `../src/app.py` is a link.
Here, a link that leads out of `docs/` becomes one to the repository.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = "docs"

# Files outside `docs/` that are part of the site, and their place in it.
INCLUDED = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "src/openbook/server/web/favicon.svg": "assets/favicon.svg",
}
_SOURCES = {place: file for file, place in INCLUDED.items()}

_LINK = re.compile(r"(\]\()(?![a-z]+:|#|/)([^)#\s]+)((?:#[^)\s]*)?\))")
_FENCE = re.compile(r"^ *(```|~~~)")

# What a browser loads by itself. A link that a reader may follow is none of these.
_TAG = re.compile(r"<(?:script|link|img|iframe|source|audio|video|embed|object|use)\b[^>]*>", re.IGNORECASE)
_ADDRESS = re.compile(r"""\b(?:src|href|data|srcset)\s*=\s*["']?((?:https?:)?//[^"'\s>]+)""", re.IGNORECASE)
_NOT_LOADED = re.compile(r"\brel\s*=\s*[\"']?(?:canonical|next|prev|edit)\b", re.IGNORECASE)
# What the theme's script fetches something for: the stars of a repository, and the program that draws diagrams.
_FETCHED_FOR = re.compile(r'data-md-component="source"|class="mermaid"')
_STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)


def on_config(config: Any) -> Any:
    """Make anchors as GitHub does, so that a link to a heading works in both places."""
    config["mdx_configs"].setdefault("toc", {})["slugify"] = github_slug
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add what lies outside `docs/`."""
    from mkdocs.structure.files import File

    for file, place in INCLUDED.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / file)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Turn the links of a page into those that hold on the site. The first page needs no list of pages beside it."""
    if page.file.src_uri == INCLUDED["README.md"]:
        page.meta["hide"] = ["navigation"]
    return site_links(markdown, page.file.src_uri, config["repo_url"])


def on_post_build(config: Any) -> None:
    """Fail if a page would load something from another host."""
    from mkdocs.exceptions import PluginError

    found = list(foreign_addresses(Path(config["site_dir"])))
    if found:
        raise PluginError("the site loads from other hosts:\n" + "\n".join(found))


def github_slug(title: str, separator: str) -> str:
    """Return the anchor that GitHub gives to a heading.

    >>> github_slug("Libraries for several machines: LanceDB", "-")
    'libraries-for-several-machines-lancedb'
    >>> github_slug("401 & 403 – `KeyError`", "-")
    '401--403--keyerror'
    """
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", separator)


def site_links(markdown: str, place: str, repository: str) -> str:
    """Rewrite the links of the page at `place`, outside code blocks.

    >>> site_links("[a](docs/a.md#b) [c](LICENSE)", "index.md", "https://example.org/x")
    '[a](a.md#b) [c](https://example.org/x/blob/main/LICENSE)'
    >>> site_links("[a](../../README.md) [c](../../src/c.py#L4)", "tutorials/t.md", "https://example.org/x")
    '[a](../index.md) [c](https://example.org/x/blob/main/src/c.py#L4)'
    """
    source = _SOURCES.get(place, f"{DOCS}/{place}")

    def rewritten(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[2]))
        inside = INCLUDED.get(target) or (target.removeprefix(f"{DOCS}/") if target.startswith(f"{DOCS}/") else "")
        if inside:
            return link[1] + posixpath.relpath(inside, posixpath.dirname(place) or ".") + link[3]
        return f"{link[1]}{repository}/blob/main/{target}{link[3]}"

    return "\n".join(line if code else _LINK.sub(rewritten, line) for line, code in _lines(markdown))


def foreign_addresses(site: Path) -> Iterator[str]:
    """Yield each place of a built site from which a browser would load something of another host."""
    for path in sorted(site.rglob("*")):
        if path.suffix in (".html", ".css"):
            for address in _loaded(path.read_text(encoding="utf-8")):
                yield f"{path.relative_to(site).as_posix()}: {address}"


def _lines(markdown: str) -> Iterable[tuple[str, bool]]:
    fenced = False
    for line in markdown.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        yield line, fenced or line.startswith("    ")


def _loaded(text: str) -> Iterator[str]:
    for tag in _TAG.findall(text):
        if not _NOT_LOADED.search(tag):
            yield from _ADDRESS.findall(tag)
    yield from _STYLE.findall(text)
    yield from _FETCHED_FOR.findall(text)
