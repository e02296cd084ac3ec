"""Code that is cited, and how a text that cites it is checked, for several tests."""

from __future__ import annotations

from pathlib import Path

from openbook.verify.check import MentionChecker
from openbook.verify.citation_check import CitingText
from openbook.verify.cited_folder import CitedFolder
from openbook.verify.finding import Finding
from openbook.verify.history import History
from tests.repositories import Repository, write

CODE = """\
import os


class Client:
    timeout_s = 30

    def get(self, url):
        return self.send("GET", url)

    def post(self, url):
        return self.send("POST", url)


def retry(times):
    for each in range(times):
        yield each
"""
PUSHED = CODE.replace("import os\n", "import os\nimport re\nimport sys\n")


def checked(folder: Path, text: str, path: str = "docs/a.md") -> list[Finding]:
    root = CitedFolder(folder)
    return [finding for _, finding in MentionChecker(root, History(root.folder)).check(CitingText(text, path, path))]


def only(folder: Path, text: str) -> Finding:
    (finding,) = checked(folder, text)
    return finding


def told(finding: Finding) -> tuple[str, str, str]:
    return finding.verdict, finding.basis, str(finding.now or "")


def drifted(repository: Repository, page: str, new: str = PUSHED) -> Finding:
    """Commit a page and the code it cites, change the code, and check the page."""
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    write(repository.folder, {"src/app.py": new})
    return only(repository.folder, page)
