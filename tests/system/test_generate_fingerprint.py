"""The fingerprint: what it covers, that it depends on content alone, and how it is written."""

import configparser
import hashlib
import json
import os
import pathlib
import shutil
import stat
import tempfile

import pytest

from tools import generate_fingerprint
from tools.generate_fingerprint import (
    LEAF,
    file_value,
    files_below,
    fingerprint,
    folder_value,
    line_of_empty_path,
    main,
    submodule_paths,
    write_output,
)

SCRIPT = pathlib.Path(generate_fingerprint.__file__)


def md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


@pytest.fixture
def project(tmp_path: pathlib.Path) -> pathlib.Path:
    root = tmp_path / "project"
    (root / LEAF).parent.mkdir(parents=True)
    (root / LEAF).write_bytes(b"leaf")
    (root / "pyproject.toml").write_bytes(b"pyproject")
    return root


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    root = tmp_path / "folder"
    (root / "b").mkdir(parents=True)
    (root / "a").write_bytes(b"1")
    (root / "b" / "c").write_bytes(b"2")
    return root


def test_each_covered_file_has_its_own_hash(project: pathlib.Path) -> None:
    expected = {"pyproject.toml": md5(b"pyproject"), "uv.lock": "missing", LEAF: md5(b"leaf")}
    assert fingerprint(project) == expected
    (project / "uv.lock").write_bytes(b"lock")
    assert fingerprint(project) == {**expected, "uv.lock": md5(b"lock")}


@pytest.mark.parametrize("changed", ["pyproject.toml", "uv.lock", LEAF])
def test_a_changed_byte_changes_that_entry_and_no_other(changed: str, project: pathlib.Path) -> None:
    (project / "uv.lock").write_bytes(b"lock")
    before = fingerprint(project)
    (project / changed).write_bytes((project / changed).read_bytes() + b" ")
    after = fingerprint(project)
    assert {key for key in before if before[key] != after[key]} == {changed}


def test_folder_in_place_of_a_file_is_a_missing_file(tmp_path: pathlib.Path) -> None:
    assert file_value(tmp_path) == "missing"


def test_fingerprint_of_no_folder_is_an_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(NotADirectoryError) as refusal:
        fingerprint(tmp_path / "absent")
    assert str(refusal.value) == f"there is no folder {tmp_path / 'absent'}"


def test_paths_of_submodules_are_read_as_git_writes_them(project: pathlib.Path) -> None:
    assert submodule_paths(project) == []
    (project / ".gitmodules").write_text(
        '[submodule "z"]\n\tpath = vendor/z\n\turl = ../z\n[submodule "a b"]\n\tpath = "vendor/a #b"\n\tshallow\n'
        '[submodule "no path"]\n\turl = ../n\n[submodule "ä"]\n\tpath = vendor/ä\n',
        "utf-8",
    )
    assert submodule_paths(project) == ["vendor/a #b", "vendor/z", "vendor/ä"]
    assert {key for key in fingerprint(project) if "/" in key} == {
        LEAF,
        *("submodules/" + path for path in submodule_paths(project)),
    }


def test_broken_list_of_submodules_is_an_error(project: pathlib.Path) -> None:
    (project / ".gitmodules").write_text("no section\n", "utf-8")
    with pytest.raises(configparser.Error):
        fingerprint(project)


@pytest.mark.parametrize("line", ["path", "path =", '\tPath = ""', "  path =  "])
def test_submodule_path_without_a_value_is_an_error_with_its_place(
    line: str, project: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f'[submodule "a"]\n\tpath = a\n\tpathless = \n[submodule "b"]\n{line}\n\turl = ../b\n'
    (project / ".gitmodules").write_text(text, "utf-8")
    assert main(["--root", str(project)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        f"generate_fingerprint.py: {project / '.gitmodules'}:5: "
        "the path of a submodule has no value: write `path = FOLDER`\n"
    )
    assert line_of_empty_path(text) == 5
    assert line_of_empty_path(text.replace(line, "path = b")) == 0


def test_broken_list_of_submodules_is_named_with_the_line(
    project: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".gitmodules").write_text("no section\n", "utf-8")
    assert main(["--root", str(project)]) == 1
    assert f"'{project / '.gitmodules'}', line: 1" in capsys.readouterr().err


def test_absent_and_empty_folders_are_missing(tmp_path: pathlib.Path) -> None:
    assert folder_value(tmp_path / "absent") == "missing"
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    (tmp_path / "empty" / ".git" / "HEAD").write_bytes(b"x")
    assert folder_value(tmp_path / "empty") == "missing"


def test_folder_value_is_the_documented_hash(folder: pathlib.Path) -> None:
    (folder / "link").symlink_to("a")
    text = b"1:a4:file1:1" + b"3:b/c4:file1:2" + b"4:link4:link1:a"
    assert folder_value(folder) == md5(text)


def test_folder_value_ignores_git_and_caches_at_every_depth(folder: pathlib.Path) -> None:
    before = folder_value(folder)
    for ignored in (".git", "b/.git", "__pycache__", "b/__pycache__", ".venv", ".mypy_cache"):
        (folder / ignored).mkdir()
        (folder / ignored / "x").write_bytes(b"x")
    (folder / "b" / "x.pyc").write_bytes(b"x")
    assert folder_value(folder) == before
    shutil.rmtree(folder / ".git")
    (folder / ".git").write_bytes(b"gitdir: elsewhere")
    assert folder_value(folder) == before


def test_metadata_of_an_editable_installation_in_a_submodule_is_no_content(folder: pathlib.Path) -> None:
    before = folder_value(folder)
    for metadata in ("library.egg-info", "b/library.egg-info"):
        (folder / metadata).mkdir()
        (folder / metadata / "PKG-INFO").write_bytes(b"x")
    (folder / "old.egg-info").write_bytes(b"x")
    assert folder_value(folder) == before
    (folder / "egg-info").write_bytes(b"x")
    assert folder_value(folder) != before


def test_socket_in_a_submodule_is_no_content(folder: pathlib.Path) -> None:
    before = folder_value(folder)
    os.mknod(folder / "b" / "socket", stat.S_IFSOCK | 0o600)
    assert folder_value(folder) == before


def test_link_to_a_pipe_is_content_by_its_targets_name(folder: pathlib.Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("pipe")
    assert sorted(path.name for path in files_below(folder)) == ["a", "c", "link"]


def test_folder_value_changes_with_names_bytes_kinds_and_targets(folder: pathlib.Path) -> None:
    values = [folder_value(folder)]
    (folder / "b" / "c").write_bytes(b"3")
    values.append(folder_value(folder))
    (folder / "b" / "c").rename(folder / "b" / "d")
    values.append(folder_value(folder))
    (folder / "link").symlink_to("b")
    values.append(folder_value(folder))
    (folder / "link").unlink()
    (folder / "link").symlink_to("absent")
    values.append(folder_value(folder))
    (folder / "link").unlink()
    (folder / "link").write_bytes(b"absent")
    values.append(folder_value(folder))
    assert len(set(values)) == 6


def test_links_to_folders_are_entries_and_are_not_followed(folder: pathlib.Path) -> None:
    (folder / "z").symlink_to("b")
    found = sorted(path.relative_to(folder).as_posix() for path in files_below(folder))
    assert found == ["a", "b/c", "z"]


def test_folder_that_cannot_be_listed_is_an_error(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("b"):
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(PermissionError):
        folder_value(folder)


def test_main_prints_sorted_json(project: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(project)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out == (
        f'{{\n  "{LEAF}": "{md5(b"leaf")}",\n  "pyproject.toml": "{md5(b"pyproject")}",\n  "uv.lock": "missing"\n}}\n'
    )


def test_main_without_arguments_is_about_the_scripts_own_project(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == fingerprint(SCRIPT.resolve().parents[1])
    assert printed[LEAF] != "missing"


def test_main_writes_a_readable_file_in_place_of_the_old_one(
    project: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))  # a move from another disk would not be atomic
    (project / ".gitmodules").write_text('[submodule "ä"]\n\tpath = ä\n', "utf-8")
    output = tmp_path / "out" / "fingerprint"
    output.parent.mkdir()
    output.write_text("old", "utf-8")
    assert main(["--root", str(project), "--output", str(output)]) == 0
    assert json.loads(output.read_bytes()) == fingerprint(project)
    assert output.stat().st_mode & 0o777 == 0o644
    assert [path.name for path in output.parent.iterdir()] == ["fingerprint"]
    assert capsys.readouterr() == ("", "")


def test_whoever_has_the_old_output_open_keeps_it_whole(project: pathlib.Path, tmp_path: pathlib.Path) -> None:
    output = tmp_path / "fingerprint"
    output.write_text("old", "utf-8")
    os.link(output, tmp_path / "kept")
    assert main(["--root", str(project), "--output", str(output)]) == 0
    assert (tmp_path / "kept").read_text("utf-8") == "old"
    assert json.loads(output.read_bytes()) == fingerprint(project)


def test_output_that_is_a_link_stays_one_and_its_target_is_written(
    project: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "link"
    link.symlink_to("elsewhere/fingerprint")
    for _ in ("target absent", "target there"):
        assert main(["--root", str(project), "--output", str(link)]) == 0
        assert link.is_symlink()
        assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["fingerprint"]
        assert json.loads(link.read_bytes()) == fingerprint(project)


def test_output_to_a_pipe_is_written_into_it(project: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (project / ".gitmodules").write_text('[submodule "ä"]\n\tpath = ä\n', "utf-8")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert main(["--root", str(project), "--output", str(pipe)]) == 0
        assert json.loads(os.read(reader, 1 << 16)) == fingerprint(project)
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_output_to_a_device_is_written_into_it_and_its_error_is_reported(
    project: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device = tmp_path / "full"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, pathlib.Path("/dev/full").stat().st_rdev)
        device.write_bytes(b"")
    except PermissionError:
        pytest.skip("only root can make a device, and a wrong script would replace the machine's own /dev/full")
    before = device.stat()
    assert main(["--root", str(project), "--output", str(device)]) == 1
    assert capsys.readouterr().err == "generate_fingerprint.py: [Errno 28] No space left on device\n"
    assert (device.stat().st_rdev, device.stat().st_ino) == (before.st_rdev, before.st_ino)


def test_write_that_fails_half_way_loses_nothing_and_leaves_nothing(tmp_path: pathlib.Path) -> None:
    output = tmp_path / "out"
    output.write_text("before", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write_output(output, "\ud800")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert output.read_text(encoding="utf-8") == "before"


def test_failed_write_loses_nothing_and_leaves_nothing(
    project: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    (output / "kept").mkdir(parents=True)
    assert main(["--root", str(project), "--output", str(output)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("generate_fingerprint.py: [Errno 21] Is a directory: ")
    assert printed.err.endswith("\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "project"]
    assert [path.name for path in output.iterdir()] == ["kept"]


@pytest.mark.parametrize("content", [b"no section\n", b"\xff\n"])
def test_main_reports_what_it_cannot_read(
    content: bytes, project: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".gitmodules").write_bytes(content)
    assert main(["--root", str(project)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("generate_fingerprint.py: ")


def test_help_says_what_the_script_does(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "usage: generate_fingerprint.py [-h] [--output FILE] [--root FOLDER]"
    assert generate_fingerprint.PURPOSE in lines
    assert f"--output FILE {generate_fingerprint.OUTPUT_HELP}" in lines
    assert f"--root FOLDER {generate_fingerprint.ROOT_HELP}" in lines
