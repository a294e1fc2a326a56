"""Environments that consist of a stamp and of something that looks like an interpreter: enough to be taken for complete."""

import pathlib
import sys

from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_lookup import wanted_stamps
from nemo_rl.utils.environment_stamp import Stamp, write_stamp


def project_in(folder: pathlib.Path, **table: "list[str] | None") -> ActorProject:
    """A project of actors ``a.NAME`` below a folder, with a lock and environments behind a link."""
    (folder / "root").mkdir()
    (folder / "root/uv.lock").write_text("version = 1\n")
    (folder / "root/pyproject.toml").write_text('[project]\nname = "by-hand"\nversion = "1"\n')
    (folder / "real").mkdir()
    (folder / "venvs").symlink_to("real")
    named = {f"a.{name}": extras for name, extras in table.items()}
    return ActorProject(folder / "root", named, folder / "venvs", sys.executable)


def make_environment(project: ActorProject, actor: str, stamp: "Stamp | None" = None) -> None:
    """Make one with this stamp, by default the one that is wanted, of an earlier run."""
    python = project.interpreter_of(actor)
    python.parent.mkdir(parents=True)
    python.touch(mode=0o755)
    write_stamp(project.folder_of(actor), stamp or wanted_stamps(project, [actor], "earlier")[actor])
