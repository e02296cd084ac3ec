"""Checks that a tag is what the files say, and prints its part of the changelog.

    python tools/check_release.py v0.1.0 --repository someone/openbook

Needs Python alone, so that a release is refused before anything is installed.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Where the address of the repository stands.
_NAMES_REPOSITORY = ("pyproject.toml", "CITATION.cff", "SECURITY.md", "mkdocs.yml", ".github/ISSUE_TEMPLATE/config.yml")
_PLACEHOLDER = re.compile(r"OWNER(?=[/.])")
_ADDRESS = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)")


def changes(changelog: str, version: str) -> str | None:
    """Return the section of one version without its heading; None if there is none with a date."""
    heading = re.search(rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE)
    return changelog[heading.end() :].partition("\n## ")[0].strip() if heading else None


def problems(tag: str, repository: str, root: Path = ROOT) -> list[str]:
    """Find what keeps a tag from being released.

    Args:
        tag: `v` and the version.
        repository: OWNER/NAME on GitHub, as its address has it.
        root: The checkout.
    """
    texts = {name: (root / name).read_text(encoding="utf-8") for name in (*_NAMES_REPOSITORY, "CHANGELOG.md")}
    version = tomllib.loads(texts["pyproject.toml"])["project"]["version"]
    found = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, and pyproject.toml has version {version}")
    if f"\nversion: {version}\n" not in texts["CITATION.cff"]:
        found.append(f"CITATION.cff has another version than {version}")
    if changes(texts["CHANGELOG.md"], version) is None:
        found.append(f"CHANGELOG.md has no heading '## {version} - YYYY-MM-DD'")
    for name in _NAMES_REPOSITORY:
        others = sorted(set(_ADDRESS.findall(texts[name])) - {repository})
        if others:
            found.append(f"{name} names {', '.join(others)} in the place of {repository}")
        elif _PLACEHOLDER.search(texts[name]):
            found.append(f"{name} still says OWNER")
    return found


def main() -> int:
    """Print the changes of the version, or why it cannot be released."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tag")
    parser.add_argument("--repository", required=True, help="OWNER/NAME")
    arguments = parser.parse_args()
    found = problems(arguments.tag, arguments.repository)
    for problem in found:
        print(f"error: {problem}", file=sys.stderr)
    if not found:
        print(changes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), arguments.tag.removeprefix("v")))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
