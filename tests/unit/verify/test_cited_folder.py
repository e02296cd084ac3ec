"""What a path means, and that nothing outside of the root is ever looked at."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from openbook.errors import SourceError
from openbook.verify.cited_folder import MAX_FILE_BYTES, CitedFolder, read_file
from openbook.verify.relocation import ComparedText
from tests.repositories import write


@pytest.fixture
def root(tmp_path: Path) -> CitedFolder:
    files = {
        "src/app.py": "one\ntwo\n",
        "src/deep/only.py": "x\n",
        "a/same.py": "x\n",
        "b/same.py": "x\n",
        "docs/a.md": "x\n",
    }
    write(tmp_path / "root", files)
    write(tmp_path, {"outside.py": "secret\n"})
    return CitedFolder(tmp_path / "root")


@pytest.mark.parametrize(
    ("written", "is_link", "path"),
    [
        pytest.param("src/app.py", False, "src/app.py", id="from-the-root"),
        pytest.param("../src/app.py", True, "src/app.py", id="link-from-the-citing-file"),
        pytest.param("../src/app.py", False, "src/app.py", id="path-from-the-citing-file"),
        pytest.param("/src/app.py", True, "src/app.py", id="link-from-the-top"),
        pytest.param("only.py", False, "src/deep/only.py", id="end-of-one-path"),
        pytest.param("deep/only.py", False, "src/deep/only.py", id="longer-end-of-one-path"),
        pytest.param("src/.../only.py", False, "src/deep/only.py", id="part-and-end-of-one-path"),
        pytest.param("docs/.../only.py", False, "", id="end-of-another-path"),
        pytest.param("only.py", True, "", id="a-link-is-exact"),
        pytest.param("same.py", False, "", id="several-are-called-so"),
        pytest.param("src", False, "", id="a-folder"),
        pytest.param("none.py", False, "", id="nothing"),
        pytest.param("x" * 5000, False, "", id="longer-than-a-name-can-be"),
    ],
)
def test_a_path_means_the_file_that_people_mean(root: CitedFolder, written: str, is_link: bool, path: str) -> None:
    assert root.find(written, "docs/a.md", is_link=is_link).path == path


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        pytest.param("src/apps.py", "src/app.py", id="name"),
        pytest.param("Src/App.py", "src/app.py", id="case"),
        pytest.param("readme.md", "README.md", id="case-at-the-top"),
        pytest.param("internals/config/config.go", "internal/config/config.go", id="first-folder"),
        pytest.param("internal/configs/config.go", "internal/config/config.go", id="last-folder"),
        pytest.param("internals/configs/config.go", "", id="two-folders"),
        pytest.param("internal/configs/load.go", "", id="folder-without-such-a-file"),
        pytest.param("external/config/config.go", "", id="another-word"),
        pytest.param("config/config.go", "", id="fewer-folders"),
        pytest.param("releases-12/a.go", "", id="another-number"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_a_path_is_a_typo_of_one_that_differs_in_case_or_a_little_in_one_part(
    root: CitedFolder, path: str, meant: str
) -> None:
    write(root.folder, {"README.md": "x\n", "internal/config/config.go": "x\n", "releases-11/a.go": "x\n"})

    assert root.spelled_like([path]) == meant


def test_an_absolute_path_into_the_root_is_within_it(root: CitedFolder) -> None:
    assert root.find(str(root.folder / "src/app.py"), None).path == "src/app.py"


@pytest.mark.parametrize("written", ["../outside.py", "docs/../../outside.py", "/etc/hosts", "../../../../etc/hosts"])
def test_a_path_out_of_the_root_is_refused(root: CitedFolder, written: str) -> None:
    assert root.find(written, None).refused == "it leads out of the root"


def test_a_link_out_of_the_root_is_refused(root: CitedFolder) -> None:
    (root.folder / "way_out.py").symlink_to(root.folder.parent / "outside.py")

    assert root.find("way_out.py", None).refused == "it leads out of the root"


def test_a_link_within_the_root_means_the_file_behind_it(root: CitedFolder) -> None:
    write(root.folder, {".env": "PASSWORD=x\n"})
    (root.folder / "lib").symlink_to("src")
    (root.folder / "env.txt").symlink_to(".env")

    assert root.find("../lib/app.py", "docs/a.md", is_link=True).path == "src/app.py"
    assert root.find("env.txt", None).refused == "secret"


def test_a_loop_of_links_is_no_file(root: CitedFolder) -> None:
    (root.folder / "loop.py").symlink_to(root.folder / "loop.py")

    assert root.find("loop.py", None).path == ""


def test_a_secret_is_refused(root: CitedFolder) -> None:
    write(root.folder, {".env": "PASSWORD=x\n"})

    assert root.find(".env", None).refused == "secret"


def test_a_root_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        CitedFolder(tmp_path / "none")


def test_a_file_of_unbearable_size_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "big.txt"
    with file.open("wb") as stream:
        stream.truncate(MAX_FILE_BYTES + 1)

    with pytest.raises(SourceError, match="larger than 16 MiB"):
        read_file(file, "big.txt")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="name too long"):
        read_file(tmp_path / ("x" * 5000), "x")


def test_binary_content_has_no_lines(root: CitedFolder) -> None:
    (root.folder / "blob.py").write_bytes(b"\0\1\2")

    with pytest.raises(SourceError, match="binary"):
        root.page("blob.py")


def test_a_block_is_found_in_the_one_file_that_has_it(root: CitedFolder) -> None:
    write(root.folder, {"src/new.py": "def a_function_of_its_own(argument):\n    return argument\n"})

    assert root.holding("defa_function_of_its_own(argument):", "src/app.py") == "src/new.py"
    assert root.holding("x", "src/app.py") == ""


def test_a_file_of_another_format_or_the_one_that_cites_is_not_where_a_block_went(root: CitedFolder) -> None:
    write(root.folder, {"docs/new.md": "def a_function_of_its_own(argument):\n    return argument\n"})

    assert root.holding("defa_function_of_its_own(argument):", "src/app.py") == ""
    assert root.holding("defa_function_of_its_own(argument):", "docs/old.md") == "docs/new.md"
    assert root.holding("defa_function_of_its_own(argument):", "docs/old.md", "docs/new.md") == ""


def test_a_renamed_file_is_known_by_its_lines(root: CitedFolder) -> None:
    text = "".join(f"a_line_that_only_this_file_has = {n}\n" for n in range(9))
    write(root.folder, {"src/renamed.py": text.replace("= 3", "= 33")})

    assert root.like(ComparedText(text), "src/old.py") == "src/renamed.py"
    assert root.like(ComparedText("nothing_like_it = 1\n"), "src/old.py") == ""


def test_a_path_may_lead_into_mail_and_to_what_is_attached_to_it(root: CitedFolder) -> None:
    message = EmailMessage()
    message["Subject"] = "Plans"
    message.set_content("See the notes.")
    for name, words in (("notes.md", "# Flour\n\nRye.\n"), (".env", "KEY=x\n")):
        message.add_attachment(words.encode(), maintype="text", subtype="plain", filename=name)
    (root.folder / "plans.eml").write_bytes(bytes(message))

    assert root.find("plans.eml/notes.md", None).path == "plans.eml/notes.md"
    assert root.page("plans.eml/notes.md").lines == ["# Flour", "", "Rye."]
    assert root.document_text("plans.eml/notes.md") == "# Flour\n\nRye.\n"
    assert root.find("plans.eml/.env", None).refused == "secret"
    assert root.find("plans.eml/other.md", None).path == ""
    assert root.find("src/app.py/notes.md", None).path == ""


def test_the_lines_of_files_that_are_only_looked_through_are_not_kept(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = 1\n", "b.py": "y = 2\n"})
    root = CitedFolder(tmp_path)

    lengths = [len(page.keys) for _, page in root.same_format("c.py")]

    assert lengths == [1, 1]
    assert all(vars(root.page(path)).keys().isdisjoint(("lines", "keys")) for path in ("a.py", "b.py"))
