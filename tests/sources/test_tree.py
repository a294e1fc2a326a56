"""Which files a tree has, and what it says of those that it cannot give."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_actor_envs.model import ConfigurationError
from pytest_actor_envs.sources.answers import ANY_CHANGE, Read
from pytest_actor_envs.sources.tree import Tree, original_root

NOBODY = 65534


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda tree: tree.read_bytes("closed.py"), "closed.py:1:1: configuration: this file may not be read"),
        (lambda tree: list(tree.files()), "in/closed:1:1: configuration: this folder may not be read"),
        (lambda tree: list(tree.files("in/closed")), "in/closed:1:1: configuration: this folder may not be read"),
    ],
)
def test_what_may_not_be_read_is_said_with_the_way_out(
    asked: Callable[[Tree], object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed.py").write_text("")
    (tmp_path / "in/closed").mkdir(parents=True)
    for path in ("closed.py", "in/closed"):
        (tmp_path / path).chmod(0)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)  # the folders above it may be closed too
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)  # whom permissions hold for
    try:
        with pytest.raises(ConfigurationError) as raised:
            asked(Tree(Path()))
    finally:
        os.seteuid(user)
    assert str(raised.value) == f"{said}\n    let it be read, or take it out of the project"


def test_links_are_followed_within_the_project_and_never_back(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "package/one", root / "package/two", root / "elsewhere", outside):
        folder.mkdir(parents=True)
        (folder / "file.py").write_text("")
    links = {
        "package/linked": root / "elsewhere",
        "package/itself": root / "package",
        "package/above": root,
        "package/one/other": root / "package/two",
        "package/two/other": root / "package/one",
        "package/outside": outside,
        "package/linked.py": root / "elsewhere/file.py",
        "package/.#file.py": root / "somebody@host.4711",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "package/pipe.py")
    assert list(Tree(root).files("package")) == [
        "package/linked.py",
        "package/linked/file.py",
        "package/one/file.py",
        "package/one/other/file.py",
        "package/two/file.py",
        "package/two/other/file.py",
    ]


def test_under_mutmut_the_originals_are_judged_and_nowhere_else() -> None:
    copy, root = Path("/project/mutants"), Path("/project")
    assert original_root(copy, {"MUTANT_UNDER_TEST": ""}) == root
    assert original_root(copy, {}) == copy
    assert original_root(root, {"MUTANT_UNDER_TEST": "x"}) == root


OVERLAY = {"pkg/new.py": "", "pkg/gone.py": None, "pkg/one.py": "other", "only/deep/no.md": "", "never/was.py": None}


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A folder with files, some of them in folders that hold no sources."""
    for path in [
        "top.py",
        "pkg/one.py",
        "pkg/two.txt",
        "pkg/sub/deep.py",
        "pkg/gone.py",
        "pkg/.hidden/x.py",
        "pkg/.venv/x.py",
        "pkg/__pycache__/x.py",
        "pkg/build/x.py",
        "docs/page.md",
        "emptied/gone.py",
    ]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    return tmp_path


def layered_over(disk: Path) -> Tree:
    """These files with an overlay above."""
    return Tree(disk).with_overlay({**OVERLAY, "emptied/gone.py": None})


PACKAGE = ["pkg/new.py", "pkg/one.py", "pkg/sub/deep.py", "pkg/two.txt"]


@pytest.mark.parametrize(
    ("folder", "suffix", "expected"),
    [
        ("", "", ["docs/page.md", "only/deep/no.md", *PACKAGE, "top.py"]),
        ("pkg", "", PACKAGE),
        ("/pkg/", "", PACKAGE),
        ("pkg", ".py", PACKAGE[:3]),
        ("/", ".md", ["docs/page.md", "only/deep/no.md"]),
        ("pk", "", []),
        ("none", "", []),
        ("top.py", "", []),
    ],
)
def test_files_below_a_folder(disk: Path, folder: str, suffix: str, expected: list[str]) -> None:
    layered = layered_over(disk)
    assert list(layered.files(folder, suffix)) == expected


def test_all_files_are_the_default(disk: Path) -> None:
    layered = layered_over(disk)
    assert list(layered.files()) == list(layered.files("", ""))
    assert list(Tree(None, OVERLAY).files("pkg")) == ["pkg/new.py", "pkg/one.py"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("pkg", True),
        ("/pkg/", True),
        ("docs", True),
        ("only", True),
        ("only/deep", True),
        ("emptied", False),
        ("never", False),
        ("top.py", False),
        ("none", False),
    ],
)
def test_a_folder_is_what_has_files(disk: Path, path: str, expected: bool) -> None:
    layered = layered_over(disk)
    assert layered.is_folder(path) is expected
    if path in ("only", "never", "none"):
        assert Tree(None, OVERLAY).is_folder(path) is expected


def test_siblings_are_files_and_folders_with_python_files(disk: Path) -> None:
    layered = layered_over(disk)
    assert layered.siblings("pkg") == {"pkg/new.py", "pkg/one.py", "pkg/two.txt", "pkg/sub"}
    assert layered.siblings("") == {"top.py", "pkg"}
    assert layered.siblings("only") == set()


def test_files_are_read_through_the_overlay_once(disk: Path, tmp_path: Path) -> None:
    layered = layered_over(disk)
    assert layered.read_bytes("pkg/two.txt") == layered.unnoted_bytes("pkg/two.txt") == b"pkg/two.txt"
    (tmp_path / "pkg/two.txt").write_text("changed")
    (tmp_path / "late.py").write_text("")
    assert layered.read_text("pkg/two.txt") == "pkg/two.txt"
    assert layered.read_text("pkg/one.py") == "other"
    assert [layered.exists(path) for path in ("top.py", "pkg/new.py", "pkg/gone.py", "none.py", "pkg", "top.py/x")] == [
        *(True, True, False),
        *(False, False, False),
    ]
    list(layered.files())
    list(layered.files("docs"))
    on_disk = [
        "emptied/gone.py",
        "never/was.py",
        "none.py",
        "only/deep/no.md",
        "pkg",
        "pkg/gone.py",
        "pkg/new.py",
        "pkg/one.py",
    ]
    assert layered.seen() == ([*on_disk, "pkg/two.txt", "top.py", "top.py/x"], ["", "docs/"])
    assert layered.with_overlay({"top.py": None}).read_text("docs/page.md") == "docs/page.md"
    for path in ("pkg/gone.py", "none.py"):
        for ask in (layered.read_bytes, layered.unnoted_bytes, layered.read_text, reduced(layered)):
            with pytest.raises(FileNotFoundError) as error:
                ask(path)
            assert error.value.args == (path,)


def reduced(tree: Tree) -> Callable[[str], int]:
    return lambda path: tree.reduced("length", path, len)


def test_what_was_asked_is_noted(disk: Path) -> None:
    layered = layered_over(disk)

    def noted(ask: Callable[[], object]) -> set[Read]:
        return set(layered.answers.traced(ask)[1])

    def missing() -> None:
        with pytest.raises(FileNotFoundError):
            reduced(layered)("none.py")

    assert noted(lambda: layered.read_text("top.py")) == {("bytes", "top.py")}
    assert noted(lambda: layered.exists("none.py")) == {("exists", "none.py")}
    assert noted(lambda: reduced(layered)("top.py")) == {("length", "top.py")}
    assert noted(missing) == {("exists", "none.py")}
    assert noted(lambda: layered.unnoted_bytes("top.py")) == set()
    assert noted(lambda: list(layered.files("docs"))) == noted(lambda: layered.is_folder("docs")) == {("files",)}
    assert noted(lambda: layered.siblings("docs")) == {("files",)}
    assert set(Tree(None, OVERLAY).answers.traced(lambda: None)[1]) == set()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, set()),
        ({"top.py": "top.py", "never/was.py": None}, set()),
        ({"top.py": "other"}, {("bytes", "top.py")}),
        ({"pkg/one.py": "longer than before"}, {("bytes", "pkg/one.py"), ("length", "pkg/one.py")}),
        ({"pkg/one.py": "equal"}, {("bytes", "pkg/one.py")}),
        ({"late.py": ""}, {("bytes", "late.py"), ("exists", "late.py"), ("files",)}),
        (
            {"pkg/one.py": None},
            {("bytes", "pkg/one.py"), ("exists", "pkg/one.py"), ("files",), ("length", "pkg/one.py")},
        ),
    ],
)
def test_what_an_overlay_changes(disk: Path, files: dict[str, str | None], expected: set[Read]) -> None:
    layered = layered_over(disk)
    reduced(layered)("pkg/one.py")
    assert layered.with_overlay(files).answers.changed == {*expected, ANY_CHANGE}
