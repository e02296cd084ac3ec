"""Published packages in a cache outside the tree: fetched once by an ordinary client, checked, unpacked.

A checked and unpacked package is used again without any network.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

# Built for one platform and Python, so that every machine measures the same files.
_WHEEL = (
    *(
        "--only-binary",
        ":all:",
        "--implementation",
        "cp",
        "--abi",
        "cp311",
        "--abi",
        "none",
        "--python-version",
        "3.11",
    ),
    *("--platform", "manylinux_2_28_x86_64", "--platform", "manylinux2014_x86_64", "--platform", "any"),
)
_PIP = (sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps")

# What a Debian source has beside the upstream archive.
_BESIDE = (".dsc", ".asc", ".debian.tar.xz", ".debian.tar.gz")

_APT_SOURCES = Path("/etc/apt")

# The slowest seen is a source distribution whose build environment is set up first: 20 s.
_TIMEOUT_S = 300


class MissingArchiveError(Exception):
    """The archive cannot be had here: no client, no network, or the registry has dropped it."""


class ChangedArchiveError(Exception):
    """The archive is not the one that the questions were written for."""


@dataclass(frozen=True, slots=True)
class Archive:
    """One version of a package."""

    registry: str
    """`pypi` (a wheel), `pypi-source`, `npm`, `debian` or `debian-source`."""
    package: str
    version: str
    sha256: str = ""
    """Of the file, hexadecimal. Empty accepts any."""

    def __str__(self) -> str:
        return f"{self.registry} {self.package} {self.version}"


def unpacked(archive: Archive, cache: Path) -> Path:
    """Return the folder of an unpacked package, fetching it if the cache has none.

    Raises:
        MissingArchiveError: It cannot be fetched.
        ChangedArchiveError: Its SHA-256 is another one.
    """
    name = f"{archive.package.replace('/', '+')}-{archive.version.replace(':', '+')}"
    folder = cache / "packages" / archive.registry / name
    proof = folder.with_name(f"{name}.sha256")
    if not (folder.is_dir() and proof.is_file()):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            file = _checked(archive, _fetch(archive, Path(scratch), cache))
            contents = Path(scratch) / "contents"
            _unpack(file, contents)
            shutil.rmtree(folder, ignore_errors=True)
            contents.rename(folder)
            proof.write_text(_digest(file), encoding="ascii")
    if archive.sha256 and archive.sha256 != proof.read_text(encoding="ascii"):
        raise ChangedArchiveError(f"{archive}: the cache holds another file; delete {str(folder)!r}")
    return folder


def _fetch(archive: Archive, folder: Path, cache: Path) -> list[Path]:
    """Have a client put an archive into `folder`, and list the files that could be it."""
    pinned = f"{archive.package}=={archive.version}"
    debian = _apt(cache / "apt") if archive.registry.startswith("debian") else ()
    commands = {
        "pypi": (*_PIP, *_WHEEL, "--dest", ".", pinned),
        "pypi-source": (*_PIP, "--no-binary", ":all:", "--dest", ".", pinned),
        "npm": ("npm", "pack", "--silent", f"{archive.package}@{archive.version}"),
        "debian": (*debian, "download", f"{archive.package}={archive.version}"),
        "debian-source": (*debian, "source", "--download-only", f"{archive.package}={archive.version}"),
        # Another Debian revision still carries the same upstream archive.
        "debian-source, any": (*debian, "source", "--download-only", archive.package),
    }
    errors = ""
    for name in (archive.registry, f"{archive.registry}, any"):
        if name in commands:
            errors += _run(commands[name], archive, folder).stderr
            # Failed or not: of a Debian source, the upstream archive alone will do.
            files = [path for path in sorted(folder.iterdir()) if not path.is_dir() and not path.name.endswith(_BESIDE)]
            if files:
                return files
    reason = (errors.strip() or "nothing came").splitlines()[-1]
    raise MissingArchiveError(f"{archive}: {reason}")


def _run(command: tuple[str, ...], cause: object, folder: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="replace",
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise MissingArchiveError(f"{cause}: {exc}") from exc


def _apt(folder: Path) -> tuple[str, ...]:
    """Return apt-get with lists of its own, which name sources, too. The lists are fetched once."""
    options = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": folder / "parts",
        "Dir::State::lists": folder / "lists",
        "Dir::Cache::pkgcache": "",
        "Dir::Cache::srcpkgcache": "",
    }
    command = ("apt-get", *(f"-o{name}={value}" for name, value in options.items()))
    if not (folder / "ready").is_file():
        for name in ("parts", "lists/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for file in sorted(_APT_SOURCES.glob("sources.list.d/*.sources")):
            text = re.sub("^Types:.*", "Types: deb deb-src", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
            (folder / "parts" / file.name).write_text(text, encoding="utf-8")
        for file in (_APT_SOURCES / "sources.list", *sorted(_APT_SOURCES.glob("sources.list.d/*.list"))):
            if file.is_file():
                lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("deb ")]
                both = [twice for line in lines for twice in (line, line.replace("deb ", "deb-src ", 1))]
                (folder / "parts" / f"{file.stem}.list").write_text("\n".join(both) + "\n", encoding="utf-8")
        if _run((*command, "update"), "apt-get update", folder).returncode == 0:
            (folder / "ready").touch()
    return command


def _checked(archive: Archive, files: list[Path]) -> Path:
    """Choose the file with the right content, of several that may make up a source."""
    for file in files:
        if archive.sha256 in {"", _digest(file)}:
            return file
    raise ChangedArchiveError(
        f"{archive}: no file has SHA-256 {archive.sha256}; {files[0].name} has {_digest(files[0])}"
    )


def _unpack(file: Path, folder: Path) -> None:
    folder.mkdir()
    if file.suffix == ".deb":
        subprocess.run(("dpkg-deb", "--extract", file, folder), check=True, timeout=_TIMEOUT_S)
    elif zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as wheel:
            wheel.extractall(folder)
    else:
        with tarfile.open(file) as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and later have it
            tar.extractall(folder)


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
