"""What is said of a project whose pyproject.toml does not say who it is."""

import pathlib

import pytest

from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.project_metadata import project_metadata


def test_the_table_of_a_project(tmp_path: pathlib.Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes('[project]\nname = "sample"\ndescription = "\N{SNOWMAN}"\n'.encode())
    assert project_metadata(tmp_path) == {"name": "sample", "description": "\N{SNOWMAN}"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        ("[project", "is no TOML: Expected ']' at the end of a table declaration (at end of document)"),
        ("[tool]\n", "has no [project] with a name"),
        ("[project]\nversion = '1'\n", "has no [project] with a name"),
    ],
)
def test_what_is_wrong_with_it(tmp_path: pathlib.Path, text: str | None, said: str) -> None:
    path = tmp_path / "pyproject.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(EnvironmentBuildError) as raised:
        project_metadata(tmp_path)
    assert str(raised.value) == f"{path} {said}"
