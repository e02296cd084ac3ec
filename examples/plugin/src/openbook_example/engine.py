"""An engine: libraries in SQLite, but in a folder of one's choice, such as a disk that a team mounts."""

from pathlib import Path

from openbook.index.files import remove_library_file
from openbook.index.protocol import Index, IndexIdentity, Source
from openbook.index.schema import stored_sources
from openbook.index.sqlite import SqliteIndex


class FolderEngine:
    """Used as `OPENBOOK_STORAGE=folder:/mnt/team`."""

    def __init__(self, address: str) -> None:
        self.address = str(Path(address).expanduser().absolute())

    def open(self, name: str, identity: IndexIdentity, *, lock_timeout_s: float) -> Index:
        """Open a library, making it if there is none."""
        Path(self.address).mkdir(parents=True, exist_ok=True)
        return SqliteIndex(self._file(name), identity, lock_timeout_s=lock_timeout_s)

    def names(self) -> list[str]:
        """List the libraries, in order."""
        return sorted(file.stem for file in Path(self.address).glob("*.sqlite"))

    def sources(self, name: str) -> list[Source]:
        """Return the sources of a library that may be unusable otherwise."""
        return stored_sources(self._file(name))

    def remove(self, name: str) -> None:
        """Delete a library. None there is no error."""
        remove_library_file(self._file(name))

    def _file(self, name: str) -> Path:
        return Path(self.address) / f"{name}.sqlite"
