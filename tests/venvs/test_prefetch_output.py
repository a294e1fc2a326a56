"""What the prefetch says, word by word, about environments that need not be built or cannot be; test_prefetch.py builds."""

import argparse
import pathlib
import re

import pytest
from hand_made_environments import make_environment, project_in

from nemo_rl.utils import prefetch_venvs
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.environment_lookup import Action, Outcome, wanted_stamps
from nemo_rl.utils.prefetch_progress import Result
from nemo_rl.utils.prefetch_venvs import WrongArgumentError, actor_named, positive, selected, summary


@pytest.fixture
def project(tmp_path: pathlib.Path) -> ActorProject:
    return project_in(tmp_path, One=["x", "y"], Two=["x"], Three=["z"], Driver=None)


@pytest.fixture
def prefetch(project: ActorProject, capsys: pytest.CaptureFixture[str]) -> "Prefetch":
    return Prefetch(project, capsys)


class Prefetch:
    """Runs of the command line; times are left out of what they say."""

    def __init__(self, project: ActorProject, capsys: pytest.CaptureFixture[str]) -> None:
        self.project = project
        self.capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = prefetch_venvs.main(arguments, self.project)
        out, err = (re.sub(r"\(\d\.\d s\)", "(time)", text) for text in self.capsys.readouterr())
        return code, out, err


def test_what_is_complete_is_said_to_be(prefetch: Prefetch) -> None:
    for actor in ("a.One", "a.Two", "a.Three"):
        make_environment(prefetch.project, actor)
    done = "3 of 3 environments are complete, 0 failed (time)\n"
    said = "reused a.One (time)\nreused a.Three (time)\nreused a.Two (time)\n"
    assert prefetch() == prefetch("a.Two", "One", "Three") == (0, done, said)
    alone = "1 of 1 environments are complete, 0 failed (time)\n"
    assert prefetch("Two", "Driver") == (
        0,
        f"a.Driver runs on the driver's interpreter: nothing to build\n{alone}",
        "reused a.Two (time)\n",
    )
    assert prefetch("Two", "One", "--skip-extra", "y", "--skip-extra", "z") == (
        0,
        f"a.One is skipped: nothing to build\n{alone}",
        "reused a.Two (time)\n",
    )
    assert prefetch("Driver") == (
        0,
        "a.Driver runs on the driver's interpreter: nothing to build\n"
        "0 of 0 environments are complete, 0 failed (time)\n",
        "",
    )


def test_what_cannot_be_built_is_said_at_the_end_with_every_reason(prefetch: Prefetch) -> None:
    lock = prefetch.project.root / "uv.lock"
    make_environment(prefetch.project, "a.Two")
    lock.unlink()
    why = f"    there is no {lock}, which says what environments consist of\n"
    way_out = f"    write it: uv lock --directory {prefetch.project.root} (here: make lock)\n"
    code, out, err = prefetch("--jobs", "1", "One", "Two")
    assert (code, err) == (1, "FAILED a.One\nFAILED a.Two\n")
    assert out == (
        f"the environment of a.One (extras: x, y) was not built\n{why}{way_out}"
        f"the environment of a.Two (extras: x) was not built\n{why}{way_out}"
        "0 of 2 environments are complete, 2 failed (time)\n"
    )


def test_a_stamp_that_cannot_be_read_fails_its_own_environment_only(prefetch: Prefetch) -> None:
    make_environment(prefetch.project, "a.Two")
    make_environment(prefetch.project, "a.One")
    stamp = prefetch.project.folder_of("a.One") / "actor-environment.json"
    stamp.unlink()
    stamp.mkdir()
    code, out, err = prefetch("--jobs", "1", "One", "Two")
    assert (code, err) == (1, "FAILED a.One\nreused a.Two (time)\n")
    assert out.startswith("the environment of a.One (extras: x, y) was not built\n    [Errno 21] Is a directory: ")
    assert out.endswith("\n1 of 2 environments are complete, 1 failed (time)\n")


def test_only_what_is_not_complete_is_built(project: ActorProject, monkeypatch: pytest.MonkeyPatch) -> None:
    make_environment(project, "a.Two")
    asked: list[tuple[object, ...]] = []

    def build_all(*arguments: object) -> list[Result]:
        asked.append(arguments)
        actors = arguments[1]
        assert isinstance(actors, list)
        return [Result(actor, error="no") for actor in actors]

    monkeypatch.setattr("nemo_rl.utils.prefetch_builds.build_all", build_all)
    monkeypatch.setattr(prefetch_venvs, "this_run", lambda: "this run")
    progress = prefetch_venvs.progress_for(open(project.root / "out", "w"), 2)  # noqa: SIM115
    actors = ["a.One", "a.Three", "a.Two"]
    one, three, two = prefetch_venvs.results_for(project, actors, False, 7, progress)
    assert (one, three) == (Result("a.One", error="no"), Result("a.Three", error="no"))
    assert two.actor == "a.Two" and two.error is None
    assert two.outcome is not None and two.outcome.action is Action.REUSED
    forced = prefetch_venvs.results_for(project, actors, True, 3, progress)
    assert [result.error for result in forced] == ["no", "no", "no"]
    assert asked == [
        (project, ["a.One", "a.Three"], "this run", 7, progress),
        (project, actors, "this run", 3, progress),
    ]
    assert prefetch_venvs.results_for(project, ["a.Two"], False, 1, progress) == [
        Result("a.Two", outcome=two.outcome._replace(seconds=pytest.approx(0, abs=60)))
    ]
    assert len(asked) == 2


def test_the_list_and_the_system_flag_build_nothing(prefetch: Prefetch, monkeypatch: pytest.MonkeyPatch) -> None:
    venvs = prefetch.project.environments
    listed = f"a.One\tx y\t{venvs}/a.One\na.Three\tz\t{venvs}/a.Three\na.Two\tx\t{venvs}/a.Two\n"
    assert prefetch("--list") == (0, listed, "")
    monkeypatch.setenv("NEMO_RL_PY_EXECUTABLES_SYSTEM", "1")
    assert prefetch("--list") == (0, listed, "")
    flag = "NEMO_RL_PY_EXECUTABLES_SYSTEM=1: every actor runs on the driver's interpreter, so there is nothing to build"
    assert prefetch() == (0, f"{flag}\n", "")


def test_wrong_arguments_are_one_line_on_stderr(prefetch: Prefetch, monkeypatch: pytest.MonkeyPatch) -> None:
    def error(line: str) -> tuple[int, str, str]:
        return 2, "", f"prefetch_venvs: {line}\n"

    assert prefetch("Twoo") == error("unknown actor 'Twoo'; did you mean 'Two'?; --list prints all")
    assert prefetch("--skip-extra", "q") == error("unknown extra 'q'; known: x, y, z")
    monkeypatch.setenv("NRL_FORCE_REBUILD_VENVS", "maybe")
    assert prefetch() == error("NRL_FORCE_REBUILD_VENVS is 'maybe'; set it to true or false, or unset it")


def test_wrapper_scripts_are_written_for_what_is_complete(prefetch: Prefetch, tmp_path: pathlib.Path) -> None:
    make_environment(prefetch.project, "a.Two")
    make_environment(prefetch.project, "a.One")
    assert prefetch("One", "Two", "--wrappers", str(tmp_path / "bin"))[0] == 0
    assert sorted(path.name for path in (tmp_path / "bin").iterdir()) == ["python-One", "python-Two"]
    (tmp_path / "file").touch()
    code, out, _ = prefetch("Two", "--wrappers", str(tmp_path / "file"))
    assert code == 1
    assert out == (
        "1 of 1 environments are complete, 0 failed (time)\n"
        f"the wrapper scripts were not written: [Errno 17] File exists: '{tmp_path}/file'\n"
        "    name another folder: --wrappers FOLDER\n"
    )


@pytest.mark.parametrize(
    ("words", "skipped", "expected"),
    [
        ([], [], ["a.One", "a.Three", "a.Two"]),
        (["Two", "a.Two"], [], ["a.Two"]),
        (["Driver", "One"], [], ["a.One"]),
        ([], ["x"], ["a.Three"]),
        ([], ["y", "z"], ["a.Two"]),
        (["One"], ["y"], []),
    ],
)
def test_which_actors_are_selected(
    project: ActorProject, words: list[str], skipped: list[str], expected: list[str]
) -> None:
    assert selected(project, words, iter(skipped)) == expected


def test_a_class_name_of_several_actors_is_none(project: ActorProject) -> None:
    deep = project._replace(table={"package.module.Deep": ["x"]})
    assert actor_named("Deep", deep) == "package.module.Deep"
    with pytest.raises(WrongArgumentError) as error:
        actor_named("Deeep", deep)
    assert str(error.value) == "unknown actor 'Deeep'; did you mean 'Deep'?; --list prints all"
    twice = project._replace(table={"z.One": ["x"], **project.table})
    assert actor_named("One", twice._replace(table={**twice.table, "One": None})) == "One"
    with pytest.raises(WrongArgumentError) as error:
        actor_named("One", twice)
    assert str(error.value) == "'One' is the class of a.One and of z.One; give the whole name"
    with pytest.raises(WrongArgumentError) as error:
        actor_named("a.Threee", twice)
    assert "did you mean 'a.Three'" in str(error.value)
    with pytest.raises(WrongArgumentError) as error:
        selected(project, [], ["xx", "ww"])
    assert str(error.value).startswith("unknown extra 'ww'") and str(error.value).endswith("; known: x, y, z")


def test_the_summary_has_errors_in_full_and_each_note_once() -> None:
    def outcome(actor: str, *notes: str) -> Outcome:
        return Outcome(actor, pathlib.Path("/python"), Action.BUILT, 1.0, notes)

    results = [
        Result("a", outcome=outcome("a", "two", "one")),
        Result("b", error="b failed\n    why"),
        Result("c", outcome=outcome("c", "one")),
        Result("d", error="d failed"),
        Result("e", error=""),
    ]
    assert summary(results, 12.34) == (
        "b failed\n    why\nd failed\n\nnote: one\nnote: two\n2 of 5 environments are complete, 3 failed (12.3 s)"
    )


@pytest.mark.parametrize("text", ["0", "00", "-1", "1.5", "x", "", "\N{SUPERSCRIPT TWO}"])
def test_a_number_of_jobs_is_above_zero(text: str) -> None:
    assert positive("1") == 1
    with pytest.raises(argparse.ArgumentTypeError) as error:
        positive(text)
    assert str(error.value) == f"{text!r} is no number above 0"


def test_the_help_names_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NRL_CONTAINER", "0")
    parser = prefetch_venvs.parser()
    assert vars(parser.parse_args([])) == {
        "actors": [],
        "skip_extra": [],
        "jobs": prefetch_venvs.os.cpu_count() or 1,
        "list": False,
        "wrappers": None,
    }
    given = ["A", "B", "--skip-extra", "x", "--skip-extra", "y", "--jobs", "3", "--list", "--wrappers", "f"]
    assert vars(parser.parse_args(given)) == {
        "actors": ["A", "B"],
        "skip_extra": ["x", "y"],
        "jobs": 3,
        "list": True,
        "wrappers": pathlib.Path("f"),
    }
    monkeypatch.setenv("COLUMNS", "300")
    text = re.sub(r"\s+", " ", parser.format_help())
    for part in [
        "usage: python -m nemo_rl.utils.prefetch_venvs [-h] [--skip-extra E] [--jobs N] [--list] [--wrappers FOLDER] "
        "[ACTOR ...] Build the environments of actors ahead of time. ",
        " ACTOR name or class name; all actors if there is none ",
        " --skip-extra E leave out actors with this extra ",
        " --jobs N how many at once ",
        " --list print the actors, their extras and folders; build nothing ",
        " --wrappers FOLDER write scripts python-<ClassName> there; in a container (NRL_CONTAINER=1): /usr/local/bin "
        "NEMO_RL_VENV_DIR says below which folder. Exit codes: 0 all are complete, 1 one failed, 2 usage, 130 interrupted.",
    ]:
        assert part in text


def test_a_project_that_nobody_can_tell_about_has_nothing_complete(project: ActorProject) -> None:
    make_environment(project, "a.Two")
    assert list(prefetch_venvs.already_complete(project, ["a.One", "a.Two"], "run")) == ["a.Two"]
    assert wanted_stamps(project, ["a.Two"], "run")["a.Two"].run == "run"
    (project.root / "uv.lock").unlink()
    assert prefetch_venvs.already_complete(project, ["a.Two"], "run") == {}
