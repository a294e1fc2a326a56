"""An environment is what the table says, and is built only when it is not."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from environment_checks import distributions_of, imports, programs_of
from small_project import uv, write_small_project

from nemo_rl.distributed.ray_actor_environment_registry import UnregisteredActorError
from nemo_rl.utils import environment_stamp, uv_command
from nemo_rl.utils.actor_project import ActorProject, this_project
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_lookup import Action, Outcome
from nemo_rl.utils.environment_stamp import COMPLETE, DEPENDENCIES
from nemo_rl.utils.venvs import ensure_environment

READER = "small.actors.MarkupReader"
WRITER = "small.actors.MarkupWriter"
COLOURFUL = "small.actors.Colourful"


def build(project: ActorProject, actor: str = READER, **settings: bool | str) -> Outcome:
    return ensure_environment(project, actor, report=lambda line: None, **settings)  # type: ignore[arg-type]


def changed_table(project: ActorProject, actor: str, extras: list[str]) -> ActorProject:
    return project._replace(table={**project.table, actor: extras})


def copied(project: ActorProject, tmp_path: pathlib.Path) -> ActorProject:
    """The same project in a folder that the test may change."""
    return project._replace(root=pathlib.Path(shutil.copytree(project.root, tmp_path / "copy")))


def test_an_environment_has_exactly_the_extras_of_its_actor_and_the_project(small: ActorProject) -> None:
    outcome = build(small)
    assert outcome.action is Action.BUILT
    assert outcome.python == small.environments / READER / "bin" / "python"
    assert set(distributions_of(outcome.python)) == {"toml", "xmltodict", "small-project"}
    assert imports(outcome.python, "toml") and not imports(pathlib.Path(sys.executable), "toml")


def test_conflicting_extras_get_an_environment_each(small: ActorProject) -> None:
    old = distributions_of(build(small, "small.actors.OldDecorator").python)
    new = distributions_of(build(small, "small.exports.NewDecorator").python)
    assert (old["decorator"], new["decorator"]) == ("5.1.1", "5.2.1")


def test_every_program_of_an_environment_starts(small: ActorProject) -> None:
    folder = small.folder_of(READER)
    build(small)
    programs = programs_of(folder)
    assert {"python", "small-hello"} <= {program.name for program in programs}
    for program in programs:
        run = subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert run.returncode == 0, f"{program}: {run.stderr}"


def test_a_complete_environment_is_used_again_untouched(small: ActorProject) -> None:
    python = build(small).python
    before = (python.parent.parent / environment_stamp.STAMP_NAME).stat()
    assert build(small).action is Action.REUSED
    assert (python.parent.parent / environment_stamp.STAMP_NAME).stat() == before


def test_a_complete_environment_is_used_without_uv_and_without_a_writable_folder(
    small: ActorProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(small)
    (small.environments / f"{READER}.lock").unlink()
    monkeypatch.setattr(uv_command, "find_uv", lambda: pytest.fail("uv was looked for"))
    assert build(small).action is Action.REUSED
    assert not (small.environments / f"{READER}.lock").exists()


def test_changed_extras_of_an_actor_get_a_new_environment_without_the_old_packages(small: ActorProject) -> None:
    build(small)
    outcome = build(changed_table(small, READER, ["colour"]))
    assert outcome.action is Action.BUILT
    assert set(distributions_of(outcome.python)) == {"termcolor", "small-project"}


def test_the_order_of_extras_makes_no_difference(small: ActorProject) -> None:
    build(changed_table(small, READER, ["markup", "colour"]))
    assert build(changed_table(small, READER, ["colour", "markup"])).action is Action.REUSED


def test_a_changed_lock_gets_a_new_environment(small: ActorProject, tmp_path: pathlib.Path) -> None:
    project = copied(small, tmp_path)
    build(project)
    pyproject = project.root / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace('["toml", "xmltodict"]', '["toml"]'))
    uv(project.root, "lock")
    outcome = build(project)
    assert outcome.action is Action.BUILT
    assert set(distributions_of(outcome.python)) == {"toml", "small-project"}


def test_an_environment_that_was_moved_is_built_anew_because_its_programs_are_broken(small: ActorProject) -> None:
    build(small, READER)
    small.folder_of(READER).rename(small.folder_of(WRITER))
    outcome = build(small, WRITER)
    assert outcome.action is Action.BUILT
    assert subprocess.run([small.folder_of(WRITER) / "bin" / "small-hello"]).returncode == 0


def test_an_environment_of_another_checkout_is_built_anew(small: ActorProject, tmp_path: pathlib.Path) -> None:
    build(small)
    project = copied(small, tmp_path)
    outcome = build(project)
    where = subprocess.run([outcome.python, "-I", "-c", "import small; print(small.__file__)"], capture_output=True)
    assert where.stdout.decode().startswith(str(project.root))


def test_an_environment_whose_interpreter_is_gone_is_built_anew(small: ActorProject) -> None:
    python = build(small).python
    python.unlink()
    assert build(small).action is Action.BUILT
    assert distributions_of(python)


def test_an_interpreter_alone_is_no_finished_environment(small: ActorProject) -> None:
    uv(small.root, "venv", str(small.folder_of(READER)))
    assert small.interpreter_of(READER).exists()
    outcome = build(small)
    assert outcome.action is Action.BUILT
    assert "toml" in distributions_of(outcome.python)


def stamp_by_script(project: ActorProject, actor: str) -> None:
    """What the layer of an image does: third-party packages by uv, then the stamp by the script."""
    folder = project.folder_of(actor)
    extras = [word for extra in project.extras_of(actor) or () for word in ("--extra", extra)]
    environment = {**uv_command.cleaned(os.environ), "UV_PROJECT_ENVIRONMENT": str(folder)}
    command = ["sync", "--locked", "--no-install-project", "--python", sys.executable, *extras]
    uv_path = uv_command.find_uv()
    subprocess.run([uv_path, *command], cwd=project.root, env=environment, check=True, capture_output=True)
    version = subprocess.run([uv_path, "--version"], check=True, capture_output=True, text=True).stdout
    script = [sys.executable, "-I", "-S", environment_stamp.__file__, "write", str(folder), "--state", "dependencies"]
    lock = ["--lock", str(project.root / "uv.lock"), "--python", sys.executable, "--uv", version]
    subprocess.run([*script, *extras, *lock], check=True)


def test_an_environment_that_an_image_layer_stamped_is_completed_in_place(small: ActorProject) -> None:
    stamp_by_script(small, READER)
    inode = (small.folder_of(READER) / "pyvenv.cfg").stat().st_ino
    outcome = build(small)
    assert outcome.action is Action.COMPLETED
    assert (small.folder_of(READER) / "pyvenv.cfg").stat().st_ino == inode
    assert set(distributions_of(outcome.python)) == {"toml", "xmltodict", "small-project"}


def test_dependencies_of_other_extras_are_not_completed_but_rebuilt(small: ActorProject) -> None:
    stamp_by_script(small, READER)
    assert build(changed_table(small, READER, ["colour"])).action is Action.BUILT


def test_dependencies_with_traces_of_the_project_are_rebuilt_since_uv_would_trust_them(small: ActorProject) -> None:
    stamp_by_script(small, READER)
    (trace,) = small.folder_of(READER).glob("lib/python3*/site-packages/toml-*.dist-info")
    (trace.parent / "small_project-0.1.0.dist-info").mkdir()
    outcome = build(small)
    assert outcome.action is Action.BUILT
    assert set(distributions_of(outcome.python)) == {"toml", "xmltodict", "small-project"}


def test_a_forced_rebuild_builds_anew_once_in_a_run(small: ActorProject, monkeypatch: pytest.MonkeyPatch) -> None:
    build(small, run="earlier")
    monkeypatch.setenv("NRL_FORCE_REBUILD_VENVS", "true")
    assert build(small, run="now").action is Action.BUILT
    assert build(small, run="now").action is Action.REUSED
    assert build(small, run="later").action is Action.BUILT


def test_an_unknown_value_of_the_force_variable_is_an_error(
    small: ActorProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NRL_FORCE_REBUILD_VENVS", "yes please")
    with pytest.raises(ValueError, match="set it to true or false"):
        build(small)


def test_the_second_environment_of_a_set_is_links_to_the_files_of_the_first(small: ActorProject) -> None:
    build(small, READER)
    build(small, WRITER)
    (first,) = small.folder_of(READER).glob("lib/python3*/site-packages/xmltodict.py")
    (second,) = small.folder_of(WRITER).glob("lib/python3*/site-packages/xmltodict.py")
    assert first.samefile(second)


def test_the_surrounding_environment_does_not_decide_what_is_built(
    small: ActorProject, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setenv("UV_PROJECT_ENVIRONMENT", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("UV_NO_EDITABLE", "1")
    monkeypatch.setenv("UV_LINK_MODE", "copy")
    monkeypatch.setenv("UV_PROJECT", str(tmp_path))
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    outcome = build(small)
    assert set(distributions_of(outcome.python)) == {"toml", "xmltodict", "small-project"}
    assert not (tmp_path / "elsewhere").exists()


def test_folders_may_have_spaces_letters_of_any_script_and_long_names(tmp_path: pathlib.Path) -> None:
    project = write_small_project(tmp_path)
    (tmp_path / "Größe 環境").mkdir()
    root = (tmp_path / "small-project").rename(tmp_path / "Größe 環境" / "p")
    project = project._replace(root=root, environments=tmp_path / "Größe 環境" / ("x" * 200))
    outcome = build(project)
    assert set(distributions_of(outcome.python)) == {"toml", "xmltodict", "small-project"}
    # An interpreter's path that is longer than the kernel allows in a script's first line.
    for program in programs_of(project.folder_of(READER)):
        assert subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    assert build(project).action is Action.REUSED


def test_a_relative_cache_is_one_cache_below_the_folder_of_the_builder(
    small: ActorProject, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copied(small, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UV_CACHE_DIR", "cache")
    build(project)
    (file,) = project.folder_of(READER).glob("lib/python3*/site-packages/xmltodict.py")
    assert any(file.samefile(cached) for cached in (tmp_path / "cache").rglob("xmltodict.py"))
    assert not (project.root / "cache").exists()


def test_an_actor_on_the_driver_has_no_environment_and_an_unknown_one_is_explained(small: ActorProject) -> None:
    with pytest.raises(ValueError, match="runs on the driver's interpreter"):
        build(small, "small.actors.OnDriver")
    with pytest.raises(UnregisteredActorError, match=r"did you mean 'small.actors.Colourful'"):
        build(small, "small.actors.Colorful")


def test_the_stamp_tells_what_was_built(small: ActorProject) -> None:
    build(small)
    stamp = environment_stamp.read_stamp(small.folder_of(READER))
    assert stamp is not None
    assert (stamp.state, stamp.extras, stamp.project) == (COMPLETE, ("markup",), str(small.root))
    assert stamp.lock == environment_stamp.hash_of(small.root / "uv.lock")
    assert stamp.interpreter == environment_stamp.this_interpreter()
    assert stamp.uv and DEPENDENCIES not in stamp.state


def test_a_lock_that_does_not_fit_the_project_is_refused(small: ActorProject, tmp_path: pathlib.Path) -> None:
    project = copied(small, tmp_path)
    pyproject = project.root / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace("termcolor", "six"))
    with pytest.raises(EnvironmentBuildError, match="run `uv lock`"):
        build(project)
    assert not project.folder_of(READER).exists()


def test_nemo_rl_keeps_environments_where_the_variable_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    assert this_project().environments == this_project().root / "venvs"
    monkeypatch.setenv("NEMO_RL_VENV_DIR", str(tmp_path))
    actor = "nemo_rl.environments.nemo_gym.NemoGym"
    assert this_project().folder_of(actor) == tmp_path / actor
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEMO_RL_VENV_DIR", "relative")
    assert this_project().folder_of(actor) == tmp_path / "relative" / actor
