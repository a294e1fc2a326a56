"""Fingerprints of a real repository with a real submodule, and of copies of it without git."""

import pathlib
import shutil
import subprocess

import pytest

from tools.generate_fingerprint import fingerprint

KEY = "submodules/vendor/library"


def git(folder: pathlib.Path, *arguments: str) -> None:
    settings = ["-c", "protocol.file.allow=always", "-c", "user.name=test", "-c", "user.email=test@example.org"]
    command = ["git", "-C", str(folder), *settings, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def checkout(tmp_path: pathlib.Path) -> pathlib.Path:
    """A clone with one initialised submodule of two commits, at its second."""
    library = tmp_path / "library"
    project = tmp_path / "project"
    for folder in (library, project):
        folder.mkdir()
        git(folder, "init", "--quiet", "--initial-branch", "main")
    for content in ("first", "second"):
        (library / "module.py").write_text(content, encoding="utf-8")
        git(library, "add", "module.py")
        git(library, "commit", "--quiet", "--message", content)
    (project / "pyproject.toml").write_text('[project]\nname = "project"\n', encoding="utf-8")
    git(project, "submodule", "--quiet", "add", str(library), "vendor/library")
    git(project, "add", "pyproject.toml")
    git(project, "commit", "--quiet", "--message", "project")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--recurse-submodules", str(project), str(clone))
    return clone


def without_git(checkout: pathlib.Path) -> pathlib.Path:
    """A copy as an image has it: no `.git`, in the project or in its submodule."""
    copy = checkout.with_name("copy")
    shutil.copytree(checkout, copy, ignore=shutil.ignore_patterns(".git"))
    assert not list(copy.rglob(".git"))
    return copy


def test_copy_without_git_has_the_fingerprint_of_the_checkout(checkout: pathlib.Path) -> None:
    assert fingerprint(checkout)[KEY] != "missing"
    assert fingerprint(without_git(checkout)) == fingerprint(checkout)


def test_uninitialised_submodule_is_missing_with_and_without_git(checkout: pathlib.Path) -> None:
    git(checkout, "submodule", "--quiet", "deinit", "--all")
    assert fingerprint(checkout)[KEY] == "missing"
    assert fingerprint(without_git(checkout))[KEY] == "missing"


def test_submodule_at_another_commit_is_changed_with_and_without_git(checkout: pathlib.Path) -> None:
    present = fingerprint(checkout)
    git(checkout / "vendor/library", "checkout", "--quiet", "HEAD~1")
    changed = fingerprint(checkout)
    assert {key for key in present if present[key] != changed[key]} == {KEY}
    assert changed[KEY] != "missing"
    assert fingerprint(without_git(checkout)) == changed


def test_edit_in_a_submodule_that_git_has_not_seen_is_a_change(checkout: pathlib.Path) -> None:
    present = fingerprint(checkout)
    (checkout / "vendor/library/module.py").write_text("edited", encoding="utf-8")
    assert fingerprint(checkout)[KEY] not in (present[KEY], "missing")
