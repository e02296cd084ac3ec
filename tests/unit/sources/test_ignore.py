"""Rules mean what they mean to git; .openbookignore is stronger."""

from __future__ import annotations

import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

from openbook.sources.folder import Folder
from openbook.sources.git_environment import environment_of_git
from tests.repositories import Repository, write


def tree(root: Path, *files: str, **rules: str) -> Path:
    """Make empty files, and files of rules: `git` and `own` at the root, `git_sub` in `sub/`."""
    names = {
        "git": ".gitignore",
        "own": ".openbookignore",
        "git_sub": "sub/.gitignore",
        "own_sub": "sub/.openbookignore",
    }
    for name in (*files, *(names[rule] for rule in rules)):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for rule, text in rules.items():
        (root / names[rule]).write_text(text, encoding="utf-8")
    return root


def listed(root: Path) -> list[str]:
    paths = [file.path for file in Folder(root).scan().files]
    return [path for path in paths if not path.endswith("ignore")]


@pytest.mark.parametrize(
    ("rules", "files", "left"),
    [
        pytest.param("*.log", ["a.log", "b/c.log", "d.py"], ["d.py"], id="a-name-matches-at-every-depth"),
        pytest.param("*a*b*a.py", ["xabxa.py", "aab.py", "abba.py"], ["aab.py"], id="several-stars-stretch"),
        pytest.param("*a" * 30 + "b", ["a" * 200], ["a" * 200], id="a-pattern-made-to-be-slow-is-not"),
        pytest.param("a/**/**/b/**/c/**/d/**/e", ["a/b/c/d/e"], ["a/b/c/d/e"], id="a-maze-of-folders-says-nothing"),
        pytest.param("/a.py", ["a.py", "b/a.py"], ["b/a.py"], id="a-leading-slash-anchors"),
        pytest.param("b/a.py", ["b/a.py", "c/b/a.py"], ["c/b/a.py"], id="an-inner-slash-anchors"),
        pytest.param("out/", ["out/a.py", "b/out"], ["b/out"], id="a-final-slash-means-a-folder"),
        pytest.param("*.log\n!keep.log", ["a.log", "keep.log"], ["keep.log"], id="the-last-match-decides"),
        pytest.param("out/\n!out/a.py", ["out/a.py"], [], id="nothing-returns-from-an-ignored-folder"),
        pytest.param(
            "out/**\n!out/a.py", ["out/a.py", "out/b.py"], ["out/a.py"], id="but-from-ignored-content-it-does"
        ),
        pytest.param("*\n!*/\n!*.py", ["a.py", "a.txt", "b/c.py", "b/d.txt"], ["a.py", "b/c.py"], id="white-list"),
        pytest.param("a/**/z.py", ["a/z.py", "a/b/c/z.py", "z.py"], ["z.py"], id="two-stars-cross-folders"),
        pytest.param("out/**/", ["out/a.py", "out/b/c.py"], ["out/a.py"], id="folders-below-but-not-the-folder"),
        pytest.param("# x\n\n\\#y", ["# x", "#y"], ["# x"], id="comments-and-escapes"),
        pytest.param("[z-a]\ntail\\\nx[\n*.log", ["a", "b.log"], ["a"], id="malformed-patterns-match-nothing"),
        pytest.param(
            "[[:digit:]_]?.py\n[![:lower:]]\n[[:no:]]", ["1a.py", "_a.py", "d.py", "A", "b"], ["b", "d.py"], id="named"
        ),
        pytest.param("[[:alpha:]]", ["a", "B", "1", "ab"], ["1", "ab"], id="a-named-set-alone"),
        pytest.param("\ufeffa.py\r\nb.py\r\n", ["a.py", "b.py", "c.py"], ["c.py"], id="windows-line-ends-and-mark"),
    ],
)
def test_patterns_mean_what_they_mean_to_git(tmp_path: Path, rules: str, files: list[str], left: list[str]) -> None:
    assert listed(tree(tmp_path, *files, git=rules)) == left


def test_a_deeper_file_overrules_one_above_it(tmp_path: Path) -> None:
    root = tree(tmp_path, "a.log", "sub/a.log", "sub/b.py", git="*.log", git_sub="!a.log\nb.py")

    assert listed(root) == ["sub/a.log"]


def test_patterns_are_relative_to_the_folder_of_their_file(tmp_path: Path) -> None:
    root = tree(tmp_path, "a.py", "sub/a.py", "sub/c/a.py", git_sub="/a.py")

    assert listed(root) == ["a.py", "sub/c/a.py"]


def test_openbookignore_wins_over_gitignore_at_any_depth(tmp_path: Path) -> None:
    root = tree(tmp_path, "a.log", "sub/b.log", "sub/c.py", git="*.log", own="!*.log\nc.py", git_sub="b.log")

    assert listed(root) == ["a.log", "sub/b.log"]


def test_openbookignore_can_ask_for_what_is_ignored_by_default(tmp_path: Path) -> None:
    root = tree(tmp_path, "node_modules/a.js", "uv.lock", "poetry.lock", own="!node_modules/\n!uv.lock")

    assert listed(root) == ["node_modules/a.js", "uv.lock"]


def test_gitignore_cannot_ask_for_what_is_ignored_by_default(tmp_path: Path) -> None:
    assert listed(tree(tmp_path, "node_modules/a.js", git="!node_modules/")) == []


def test_the_exclude_file_of_a_checkout_applies(tmp_path: Path) -> None:
    root = tree(tmp_path, "a.tmp", "b.py", ".git/info/exclude")
    (root / ".git/info/exclude").write_text("*.tmp", encoding="utf-8")

    assert listed(root) == ["b.py"]


def test_rules_above_the_root_apply_up_to_the_top_of_the_checkout(tmp_path: Path) -> None:
    tree(tmp_path, "top/.git/HEAD", "top/lib/a.py", "top/lib/a.tmp", "top/lib/b.log")
    (tmp_path / ".gitignore").write_text("*.py", encoding="utf-8")
    (tmp_path / "top/.gitignore").write_text("/lib/*.tmp", encoding="utf-8")
    (tmp_path / "top/.openbookignore").write_text("*.log", encoding="utf-8")

    assert listed(tmp_path / "top/lib") == ["a.py"]


def test_rules_above_do_not_apply_outside_a_checkout(tmp_path: Path) -> None:
    tree(tmp_path, "lib/a.py", git="*.py")

    assert listed(tmp_path / "lib") == ["a.py"]


@pytest.mark.parametrize("rule", ["out/", "*"])
def test_a_root_that_is_ignored_itself_is_walked_without_the_rules_above(tmp_path: Path, rule: str) -> None:
    tree(tmp_path, ".git/HEAD", "out/a.py", "out/deep/b.py", git=rule)

    assert listed(tmp_path / "out") == ["a.py", "deep/b.py"]
    assert listed(tmp_path / "out/deep") == ["b.py"]


def test_a_folder_named_like_a_file_of_rules_is_no_rule(tmp_path: Path) -> None:
    assert listed(tree(tmp_path, ".gitignore/a.py", "b.py")) == [".gitignore/a.py", "b.py"]


def tracked(root: Path, *paths: str) -> Path:
    """Let git track files, as `git add --force` does."""
    run = partial(subprocess.run, check=True, env=environment_of_git(), capture_output=True)
    run(["git", "init", "--quiet", str(root)])
    run(["git", "-C", str(root), "add", "--force", "--", *paths])
    return root


def test_a_tracked_file_is_read_whatever_rules_of_git_say(tmp_path: Path) -> None:
    root = tree(tmp_path, "a.conf", "new.conf", "out/b.py", "out/new.py", "out/deep/c.py", git="*.conf\nout/")

    assert listed(tracked(root, "a.conf", "out/deep/c.py")) == ["a.conf", "out/deep/c.py"]
    assert listed(root / "out") == ["b.py", "deep/c.py", "new.py"]  # a user who names an ignored folder wants it all


def test_a_tracked_file_below_the_top_of_its_repository_is_read(tmp_path: Path) -> None:
    root = tree(tmp_path, "sub/a.conf", "sub/new.conf", git="*.conf")

    assert listed(tracked(root, "sub/a.conf") / "sub") == ["a.conf"]


def test_a_tracked_file_is_not_read_if_other_rules_exclude_it(tmp_path: Path) -> None:
    files = ["out/.env", "out/a.png", "out/uv.lock", "out/own.py", "out/node_modules/a.js", "out/a.py"]
    root = tracked(tree(tmp_path, *files, git="out/", own="own.py"), *files)

    scan = Folder(root).scan()

    assert [file.path for file in scan.files if "ignore" not in file.path] == ["out/a.py"]
    assert {file.path: str(file.reason) for file in scan.skipped} == {
        "out/.env": "secret",
        "out/a.png": "binary by name",
    }


def test_a_repository_inside_another_folder_has_its_own_tracked_files(tmp_path: Path) -> None:
    root = tree(tmp_path, "sub/a.conf", "sub/new.conf", "b.conf", git="*.conf")
    tracked(root / "sub", "a.conf")

    assert listed(root) == ["sub/a.conf"]


def test_a_tracked_submodule_in_an_ignored_folder_is_read_whole(tmp_path: Path) -> None:
    root = tracked(tree(tmp_path, "out/new.py", "out/sub/a.py", "out/sub/b.py", git="out/"))
    tracked(root / "out/sub", "a.py")
    link = f"160000,{'1' * 40},out/sub"
    subprocess.run(["git", "-C", str(root), "update-index", "--add", "--cacheinfo", link], check=True)

    assert listed(root) == ["out/sub/a.py", "out/sub/b.py"]


def test_a_damaged_repository_tracks_nothing(tmp_path: Path) -> None:
    root = tracked(tree(tmp_path, "a.conf", "b.py", git="*.conf"), "a.conf")
    (root / ".git/index").write_bytes(b"no index")

    assert listed(root) == ["b.py"]


def test_listing_what_is_tracked_runs_no_command_that_the_repository_names(tmp_path: Path) -> None:
    repository, sprung = Repository(tmp_path / "shop"), tmp_path / "sprung"
    repository.commit({".gitignore": "*.log\n", "a/a.md": "text\n", "b/b.md": "text\n"})
    repository.git("sparse-checkout", "set", "--cone", "--sparse-index", "a")
    repository.set_trap("HEAD:b", sprung)
    write(repository.folder, {"new.log": "text\n"})

    assert listed(repository.folder) == ["a/a.md"]
    assert not sprung.exists()

    repository.git("ls-files")
    assert sprung.exists()  # so there was a trap


def test_a_folder_of_a_checkout_that_looks_like_a_repository_tracks_nothing(tmp_path: Path) -> None:
    forged, checkout = Repository(tmp_path / "forged"), tmp_path / "shop"
    forged.commit({"a.conf": "text\n"})
    tree(checkout, ".git/HEAD", "docs/a.conf", "docs/b.md", git="*.conf")
    for name in ("HEAD", "config", "index", "objects", "refs"):
        (forged.folder / ".git" / name).rename(checkout / "docs" / name)

    assert "a.conf" not in listed(checkout / "docs")


@pytest.mark.slow
def test_a_folder_full_of_forged_repositories_does_not_call_git_for_each(tmp_path: Path) -> None:
    folders = [f"{number:03}" for number in range(70)]
    tree(tmp_path, *(f"{folder}/a.conf" for folder in folders), git="*.conf")
    tracked(tmp_path / "000", "a.conf")
    for folder in folders[1:]:
        shutil.copytree(tmp_path / "000/.git", tmp_path / folder / ".git")

    assert len(listed(tmp_path)) == 64
