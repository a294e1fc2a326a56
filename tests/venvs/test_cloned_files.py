"""What each file of an environment becomes in a clone of it; test_clones.py compares whole clones with what uv builds."""

import os
import pathlib
import stat

import pytest

from nemo_rl.utils.environment_clone import (
    CannotCloneError,
    Clone,
    first_lines,
    hash_in_record,
    metadata_folders,
    packages_folder,
    rows_of,
)

PACKAGES = "lib/python3.12/site-packages"
PROJECT = f"{PACKAGES}/My_Project-1.0.dist-info"
SCRIPT = "{interpreter}import sys  # {source}/share of {source}-more and {source}\n"
OLD_RECORD = '../../../bin/tool,sha256=old,5\n"a,b.py",,\n../../../bin/plain,sha256=kept,7\n'
PROJECT_RECORD = """\
My_Project-1.0.dist-info/METADATA,sha256=kept,0
My_Project-1.0.dist-info/RECORD,,
../../../bin/project-tool,sha256=old,5
my_project.pth,,
../../../share/project/deep/page.txt,,
"""


def write(file: pathlib.Path, text: str = "", mode: int = 0o644) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)


def script_in(environment: pathlib.Path, program: str = "python") -> str:
    interpreter = first_lines(f"{environment}/bin/{program}")
    return SCRIPT.replace("{interpreter}", interpreter).replace("{source}", str(environment))


@pytest.fixture
def source(tmp_path: pathlib.Path) -> pathlib.Path:
    source = tmp_path / "one"
    write(source / "pyvenv.cfg", "home = /usr/bin\n", 0o600)
    write(source / "actor-environment.json", "{}")
    write(source / "share/man/page.1", str(source))
    (source / "empty/deep").mkdir(parents=True)
    (source / "lib64").symlink_to("lib")
    (source / "whole").symlink_to(source / "share")
    (source / "share/man/link").symlink_to(source / "bin/tool")
    (source / "share/folder").symlink_to("man")
    write(source / "bin/tool", script_in(source), 0o755)
    write(source / "bin/tool3", script_in(source, "python3"), 0o700)
    write(source / "bin/plain", "#!/bin/sh\n", 0o755)
    write(source / "bin/cached", str(source))
    os.link(source / "bin/cached", tmp_path / "cache")
    (source / "bin/python").symlink_to("/usr/bin/python3.12")
    write(source / "bin/project-tool", script_in(source), 0o755)
    write(source / f"{PACKAGES}/other/__init__.py")
    write(source / f"{PACKAGES}/other-1.dist-info/RECORD", OLD_RECORD, 0o640)
    write(source / f"{PACKAGES}/other-1.dist-info/METADATA")
    write(source / f"{PACKAGES}/pure-1.dist-info/RECORD", "pure.py,,\n")
    write(source / f"{PACKAGES}/bare-1.dist-info/METADATA")
    write(source / f"{PACKAGES}/no-metadata/RECORD", OLD_RECORD)
    write(source / f"{PROJECT}/METADATA")
    write(source / f"{PROJECT}/RECORD", PROJECT_RECORD)
    write(source / f"{PACKAGES}/my_project.pth")
    write(source / "share/project/deep/page.txt")
    return source


def files_of(target: pathlib.Path, source: pathlib.Path) -> dict[str, str]:
    """Each file below `target`: `same` where it is the very file of `source`, else its mode and text; links; folders."""
    found = {}
    for path in target.rglob("*"):
        name = str(path.relative_to(target))
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        elif path.is_dir():
            found[name] = "folder"
        elif (source / name).exists() and path.samefile(source / name):
            found[name] = "same"
        else:
            found[name] = f"{stat.S_IMODE(path.stat().st_mode):o} {path.read_bytes().decode()}"
    return found


def record_of(*rows: tuple[str, str]) -> str:
    return "".join(f"{path},{rest}\n" for path, rest in rows)


def hashed(text: str) -> str:
    return f"{hash_in_record(text.encode())},{len(text)}"


def test_third_party_packages_are_cloned_and_then_the_project(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    target = tmp_path / "another"
    clone = Clone(str(source), str(target), "my.project")
    clone.packages_cloned()
    tool = script_in(target).replace(f"{target}-more", f"{source}-more")
    record = record_of(("../../../bin/tool", hashed(tool)), ('"a,b.py"', ","), ("../../../bin/plain", "sha256=kept,7"))
    expected = {
        "pyvenv.cfg": "600 home = /usr/bin\n",
        "share": "folder",
        "share/man": "folder",
        "share/man/page.1": "same",
        "share/man/link": f"-> {target}/bin/tool",
        "share/folder": "-> man",
        "lib64": "-> lib",
        "whole": f"-> {target}/share",
        "bin": "folder",
        "bin/tool": f"755 {tool}",
        "bin/tool3": f"700 {tool.replace('bin/python', 'bin/python3')}",
        "bin/plain": "same",
        "bin/cached": "same",
        "bin/python": "-> /usr/bin/python3.12",
        "lib": "folder",
        "lib/python3.12": "folder",
        PACKAGES: "folder",
        f"{PACKAGES}/other": "folder",
        f"{PACKAGES}/other/__init__.py": "same",
        f"{PACKAGES}/other-1.dist-info": "folder",
        f"{PACKAGES}/other-1.dist-info/RECORD": f"640 {record}",
        f"{PACKAGES}/other-1.dist-info/METADATA": "same",
        f"{PACKAGES}/pure-1.dist-info": "folder",
        f"{PACKAGES}/pure-1.dist-info/RECORD": "same",
        f"{PACKAGES}/bare-1.dist-info": "folder",
        f"{PACKAGES}/bare-1.dist-info/METADATA": "same",
        f"{PACKAGES}/no-metadata": "folder",
        f"{PACKAGES}/no-metadata/RECORD": "same",
    }
    assert files_of(target, source) == expected
    clone.project_cloned()
    project_record = PROJECT_RECORD.replace("sha256=old,5", hashed(tool))
    assert files_of(target, source) == {
        **expected,
        "bin/project-tool": f"755 {tool}",
        PROJECT: "folder",
        f"{PROJECT}/METADATA": "same",
        f"{PROJECT}/RECORD": f"644 {project_record}",
        f"{PACKAGES}/my_project.pth": "same",
        "share/project": "folder",
        "share/project/deep": "folder",
        "share/project/deep/page.txt": "same",
    }


def test_an_environment_without_programs_keeps_its_records(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for name in ("tool", "tool3"):
        (source / "bin" / name).unlink()
    write(source / f"{PACKAGES}/other-1.dist-info/RECORD", '"pure.py",,\n')
    target = tmp_path / "another"
    clone = Clone(str(source), str(target), "My_Project")
    clone.packages_cloned()
    assert files_of(target, source)[f"{PACKAGES}/other-1.dist-info/RECORD"] == "same"


def test_the_metadata_of_the_project_comes_last(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    target = tmp_path / "another"
    clone = Clone(str(source), str(target), "My_Project")
    clone.packages_cloned()
    write(target / "share/project/deep/page.txt", "in the way")
    with pytest.raises(FileExistsError):
        clone.project_cloned()
    assert not (target / PROJECT).exists()
    assert files_of(target, source)[f"{PACKAGES}/my_project.pth"] == "same"


def test_what_is_there_is_not_overwritten(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    clone = Clone(str(source), str(tmp_path / "another"), "My_Project")
    write(tmp_path / "another/pyvenv.cfg", "mine")
    with pytest.raises(FileExistsError):
        clone.packages_cloned()
    with pytest.raises(FileExistsError):
        clone.written(str(source / "pyvenv.cfg"), b"")
    assert (tmp_path / "another/pyvenv.cfg").read_text() == "mine"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", ""),
        ("/venvs/one", "/venvs/other"),
        ("a /venvs/one:/venvs/one/bin", "a /venvs/other:/venvs/other/bin"),
        (
            "/venvs/one-more /venvs/one.x /venvs/one_ /venvs/onee /venvs/one2 /venvs/one@ /venvs/one+ /venvs/oneX /venvs/one,",
            None,
        ),
        ("#!/venvs/one/bin/python\n/venvs/one\n", "#!/venvs/other/bin/python\n/venvs/other\n"),
        ("#!/venvs/one/bin/python3\nx", "#!/venvs/other/bin/python3\nx"),
        ("#!/venvs/one/bin/python3.12\nx", "#!/venvs/other/bin/python3.12\nx"),
    ],
)
def test_the_path_of_an_environment_is_replaced_and_none_that_begins_like_it(
    content: str, expected: str | None, source: pathlib.Path
) -> None:
    clone = Clone(str(source), "/venvs/other", "my_project")
    given = content.replace("/venvs/one", str(source))
    assert clone.with_target(given.encode()).decode() == (given if expected is None else expected)


def test_a_script_gets_the_first_lines_that_its_new_path_needs(source: pathlib.Path) -> None:
    target = "/" + "x" * 120
    clone = Clone(str(source), target, "my_project")
    given = f"{first_lines(f'{source}/bin/python')}{source}"
    assert clone.with_target(given.encode()).decode() == f"{first_lines(f'{target}/bin/python')}{target}"
    assert Clone(str(source), "/short", "my_project").with_target(given.encode()) == b"#!/short/bin/python\n/short"


def test_a_link_in_place_of_the_folder_of_programs_stays_one(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (source / "bin").rename(source / "programs")
    (source / "bin").symlink_to("programs")
    clone = Clone(str(source), str(tmp_path / "another"), "my_project")
    clone.packages_cloned()
    files = files_of(tmp_path / "another", source)
    assert (files["bin"], files["programs"], files["programs/plain"]) == ("-> programs", "folder", "same")


def test_a_first_line_that_is_too_long_is_a_shells() -> None:
    short, long = "/" + "x" * 123, "/" + "x" * 124
    assert first_lines(short) == f"#!{short}\n"
    assert first_lines(long) == f"#!/bin/sh\n'''exec' '{long}' \"$0\" \"$@\"\n' '''\n"


def test_letters_of_several_bytes_count_as_these() -> None:
    assert first_lines("/" + "x" * 121 + "\N{SNOWMAN}").startswith("#!/bin/sh\n")
    assert first_lines("/" + "x" * 120 + "\N{SNOWMAN}").startswith("#!/x")


def test_which_environments_cannot_be_cloned(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    def message(*arguments: str) -> str:
        with pytest.raises(CannotCloneError) as error:
            Clone(*arguments).project_files()
        return str(error.value)

    target = str(tmp_path / "another")
    letters = "has letters that scripts hold in a form of their own"
    assert message("/a b", target, "my_project") == f"/a b {letters}"
    assert message(str(source), "/a'b", "my_project") == f"/a'b {letters}"
    assert message(str(source), target, "none") == f"{source} has 0 distributions none"
    write(source / f"{PROJECT}/RECORD", "my_project.pth,,\n../../../../elsewhere,,\n")
    assert message(str(source), target, "my_project") == f"{tmp_path}/elsewhere is outside of {source}"
    (source / f"{PACKAGES}/my_project-2.dist-info").mkdir()
    assert message(str(source), target, "my_project") == f"{source} has 2 distributions my_project"
    (source / "lib/python3.13/site-packages").mkdir(parents=True)
    assert message(str(source), target, "my_project") == f"{source} has 2 folders site-packages"
    with pytest.raises(CannotCloneError, match="has 0 folders site-packages"):
        packages_folder(str(tmp_path))


def test_where_the_metadata_of_a_distribution_is(tmp_path: pathlib.Path) -> None:
    for name in ("My_Project-2.dist-info", "my_project-1.dist-info", "my_project_x-1.dist-info", "my_project-1.egg"):
        (tmp_path / name).mkdir()
    for spelling in ("my-project", "My_._Project"):
        assert metadata_folders(str(tmp_path), spelling) == [
            str(tmp_path / "My_Project-2.dist-info"),
            str(tmp_path / "my_project-1.dist-info"),
        ]


def test_rows_and_hashes_of_a_record(tmp_path: pathlib.Path) -> None:
    (tmp_path / "RECORD").write_bytes('"a,b",sha256=x,1\n\N{SNOWMAN},,\r\n"a\r\nb",,\r\n'.encode())
    assert rows_of(str(tmp_path / "RECORD")) == [
        ["a,b", "sha256=x", "1"],
        ["\N{SNOWMAN}", "", ""],
        ["a\r\nb", "", ""],
    ]
    assert hash_in_record(b"") == "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
