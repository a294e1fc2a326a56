"""What is in the image of this project, and what the interpreters in it can import."""

import pathlib
import re

import pytest

from tests.image.engines import Engine

pytestmark = [pytest.mark.image, pytest.mark.xdist_group("image")]

WRAPPERS = {
    "python-NemoGym": "nemo_rl.environments.nemo_gym.NemoGym",
    "python-RolloutReassemblerActor": "nemo_rl.experience.rollout_reassembler_actor.RolloutReassemblerActor",
}
FINGERPRINT = "/opt/nemo_rl_container_fingerprint"

LIST_FILES = r"""
find /opt /usr/local /etc /root /var -xdev \( -type f -o -type l \) -printf '%p\t%y %m %s %T@ %l\n' | LC_ALL=C sort
"""
"""Path, then what changes when a file is written. Folders of the engine itself are left out."""

OF_THE_ENGINE = re.compile(r"/etc/(hosts|hostname|resolv\.conf)")

OF_THE_PROJECT = re.compile(
    r"/opt/nemo-rl/.*"
    r"|/opt/nemo_rl_container_fingerprint"
    r"|/usr/local/bin/python-(NemoGym|RolloutReassemblerActor)"
    r"|/opt/ray_venvs/nemo_rl\.[\w.]+\.lock"
    r"|/opt/ray_venvs/nemo_rl\.[\w.]+/actor-environment\.json"
    r"|/opt/(nemo_rl_venv|ray_venvs/nemo_rl\.[\w.]+)/lib/python3\.\d+/site-packages/"
    r"(nemo_rl-[\d.]+\.dist-info/[\w./]+|__editable__[\w.]*nemo_rl[\w.-]*)"
)


def output(engine: Engine, tag: str, script: str) -> str:
    run = engine.run(tag, script)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def files(engine: Engine, release: str, dependencies: str) -> tuple[dict[str, str], dict[str, str]]:
    """Path -> state of every file, before and after the release layer."""

    def states(tag: str) -> dict[str, str]:
        lines = [line.split("\t") for line in output(engine, tag, LIST_FILES).splitlines()]
        return {path: state for path, state in lines if not OF_THE_ENGINE.fullmatch(path)}

    return states(dependencies), states(release)


def test_the_list_names_what_was_not_skipped(engine: Engine, release: str) -> None:
    rows = [line.split("\t") for line in output(engine, release, "cat /opt/actor_environments.tsv").splitlines()]
    assert rows == [[name, "deps", "--extra nemo_gym"] for name in WRAPPERS.values()]


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_wrapper_starts_an_interpreter_with_the_actors_packages(engine: Engine, release: str, wrapper: str) -> None:
    module, _, name = WRAPPERS[wrapper].rpartition(".")
    code = f"import sys, nemo_gym, {module} as module; print(sys.prefix, nemo_gym.__file__, module.{name} is not None)"
    prefix, gym, has_class = output(engine, release, f"{wrapper} -W error::UserWarning:nemo_rl -c '{code}'").split()
    assert prefix == f"/opt/ray_venvs/{WRAPPERS[wrapper]}"
    assert pathlib.Path(gym).is_relative_to(prefix)
    assert has_class == "True"


def test_driver_has_the_project_and_not_the_actors_packages(engine: Engine, release: str) -> None:
    output(engine, release, "python -W error -c 'import nemo_rl'")
    run = engine.run(release, "python -c 'import nemo_gym'")
    assert run.returncode == 1
    assert "No module named 'nemo_gym'" in run.stderr


def test_environments_share_their_files_by_hard_links(engine: Engine, release: str) -> None:
    script = "cd /opt/ray_venvs; find . -path '*/site-packages/*' -type f -printf '%i %n %P\\n'"
    shared: dict[str, set[str]] = {}
    for line in output(engine, release, script).splitlines():
        inode, _, path = line.split(" ", 2)
        shared.setdefault(path.partition("/")[2], set()).add(inode)
    third_party = {path: inodes for path, inodes in shared.items() if "nemo_rl" not in path}
    linked = [path for path, inodes in third_party.items() if len(inodes) == 1]
    assert len(third_party) > 10_000
    # Not linked: RECORD, INSTALLER and REQUESTED, which uv writes anew, and the 5 % that mlflow and mlflow-skinny
    # both bring: which of the two is installed last is not the same in every environment.
    assert len(linked) > 0.9 * len(third_party)


def test_caches_are_gone(files: tuple[dict[str, str], dict[str, str]]) -> None:
    assert not [path for path in files[1] if re.match(r"/opt/(uv_cache|tmp\.)|.*/\.cache/", path)]


def test_dependency_layers_hold_nothing_of_the_package(files: tuple[dict[str, str], dict[str, str]]) -> None:
    assert {path for path in files[0] if path.startswith("/opt/nemo-rl/")} == {
        "/opt/nemo-rl/pyproject.toml",
        "/opt/nemo-rl/uv.lock",
        "/opt/nemo-rl/nemo_rl/distributed/actor_environments.py",
        "/opt/nemo-rl/nemo_rl/utils/environment_stamp.py",
        "/opt/nemo-rl/docker/install_dependencies.sh",
        "/opt/nemo-rl/docker/trtllm_wheel.sh",
    }
    assert not [path for path in files[0] if re.search(r"site-packages/.*nemo_rl", path)]


def test_release_layer_holds_no_third_party_file(files: tuple[dict[str, str], dict[str, str]]) -> None:
    before, after = files
    written = {path for path in after if after[path] != before.get(path)}
    assert "/opt/nemo-rl/nemo_rl/__init__.py" in written
    assert sorted(path for path in written if not OF_THE_PROJECT.fullmatch(path)) == []
    assert before.keys() - after.keys() == set()


def test_stamps_say_how_far_each_layer_got(engine: Engine, release: str, dependencies: str) -> None:
    script = "grep -h '\"state\"' /opt/ray_venvs/*/actor-environment.json"
    assert output(engine, dependencies, script).split() == ['"state":', '"dependencies",'] * 2
    assert output(engine, release, script).split() == ['"state":', '"complete",'] * 2


def test_prefetch_finds_nothing_to_do(engine: Engine, release: str) -> None:
    lines = output(engine, release, "UV_OFFLINE=1 python -m nemo_rl.utils.prefetch_venvs NemoGym 2>&1").splitlines()
    assert any(line.startswith("reused nemo_rl.environments.nemo_gym.NemoGym") for line in lines)


def test_fingerprint_is_that_of_the_code(engine: Engine, release: str) -> None:
    output(engine, release, f"python /opt/nemo-rl/tools/generate_fingerprint.py | cmp - {FINGERPRINT}")


def test_changed_entry_makes_the_import_raise(engine: Engine, release: str) -> None:
    change = 'sed -i \'s/NemoGym": \\["nemo_gym"\\]/NemoGym": ["nemo_gym", "vllm"]/\''
    leaf = "/opt/nemo-rl/nemo_rl/distributed/actor_environments.py"
    run = engine.run(release, f"{change} {leaf}; grep -q 'NemoGym.*vllm' {leaf} || exit 9; python -c 'import nemo_rl'")
    assert run.returncode == 1
    assert "nemo_rl/distributed/actor_environments.py" in run.stderr
    assert "NRL_IGNORE_VERSION_MISMATCH" in run.stderr


def test_missing_trtllm_wheel_fails_at_once_after_its_own_phase(engine: Engine, release: str) -> None:
    row = r"printf 'some.Actor\ttrtllm\t--extra trtllm\n' > /tmp/list"
    run = engine.run(release, f"cd /opt/nemo-rl; {row}; UV_OFFLINE=1 docker/trtllm_wheel.sh /tmp/list")
    assert run.returncode == 1
    assert "has no wheel of tensorrt-llm==" in run.stderr
