"""`import nemo_rl` inside a container, in a process of its own over a small project."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import nemo_rl

ROOT = pathlib.Path(nemo_rl.__file__).parents[1]
OWN_VARIABLES = ("NEMO_RL_", "NRL_", "PYTHON")
COPIED = (
    "nemo_rl/__init__.py",
    "nemo_rl/container_check.py",
    "nemo_rl/distributed/actor_environments.py",
    "tools/generate_fingerprint.py",
    "pyproject.toml",
)


class Container:
    """A project and the fingerprint file of the image that it is in."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.root = folder / "project"
        self.file = folder / "fingerprint"
        for path in COPIED:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.root / path)

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN_VARIABLES)}
        environment = {**kept, "NEMO_RL_CONTAINER_FINGERPRINT": str(self.file), **variables}
        return subprocess.run(
            [sys.executable, *command], cwd=self.root, env=environment, capture_output=True, text=True, timeout=60
        )

    def write(self) -> None:
        assert self.run("tools/generate_fingerprint.py", "--output", str(self.file)).returncode == 0

    def imported(self, code: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        return self.run("-c", f"import nemo_rl\n{code}", **{"NRL_CONTAINER": "1", **variables})


@pytest.fixture
def container(tmp_path: pathlib.Path) -> Container:
    """A container that was built from its code."""
    built = Container(tmp_path)
    built.write()
    return built


@pytest.fixture
def stale(container: Container) -> Container:
    """A container whose code was given a lock and another pyproject.toml after it was built."""
    (container.root / "uv.lock").write_text("lock", encoding="utf-8")
    with (container.root / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    return container


def assert_refused(done: subprocess.CompletedProcess[str]) -> None:
    assert (done.returncode, done.stdout) == (1, "")
    assert "nemo_rl.container_check.ContainerMismatchError: " in done.stderr


def test_container_that_fits_is_silent(container: Container) -> None:
    done = container.imported("print('imported')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "imported\n", "")


def test_mismatch_names_each_differing_key_with_both_values(stale: Container) -> None:
    built_from = json.loads(stale.file.read_text(encoding="utf-8"))
    now = json.loads(stale.run("tools/generate_fingerprint.py").stdout)
    done = stale.imported()
    assert_refused(done)
    assert re.findall(r"^ *(\S+): image (\S+), code (\S+)$", done.stderr, re.MULTILINE) == [
        (key, built_from[key], now[key]) for key in ("pyproject.toml", "uv.lock")
    ]
    assert built_from["uv.lock"] == "missing"


def test_changed_table_is_a_mismatch(container: Container) -> None:
    leaf = container.root / "nemo_rl/distributed/actor_environments.py"
    text = leaf.read_text(encoding="utf-8")
    assert '["sglang"]' in text
    leaf.write_text(text.replace('["sglang"]', '["sglang", "nvrx"]'), encoding="utf-8")
    done = container.imported()
    assert_refused(done)
    assert re.findall(r"^ *(\S+): image", done.stderr, re.MULTILINE) == ["nemo_rl/distributed/actor_environments.py"]


def test_key_that_one_side_lacks_is_a_mismatch(container: Container) -> None:
    values = json.loads(container.file.read_text(encoding="utf-8"))
    del values["uv.lock"]
    container.file.write_text(json.dumps({**values, "submodules/gone": "1"}), encoding="utf-8")
    done = container.imported()
    assert_refused(done)
    assert "submodules/gone: image 1, code (no such key)" in done.stderr
    assert "uv.lock: image (no such key), code missing" in done.stderr


def test_way_out_to_write_the_fingerprint_anew_works_as_printed(stale: Container) -> None:
    printed = re.search(r"^ *python (tools/.*)$", stale.imported().stderr, re.MULTILINE)
    assert printed is not None
    assert stale.run(*printed[1].split()).returncode == 0
    assert stale.imported().returncode == 0


def test_way_out_to_ignore_the_mismatch_works_as_printed(stale: Container) -> None:
    printed = re.search(r"\bNRL_IGNORE_VERSION_MISMATCH=(\S+)", stale.imported().stderr)
    assert printed is not None
    done = stale.imported("print('imported')", NRL_IGNORE_VERSION_MISMATCH=printed[1])
    assert (done.returncode, done.stdout) == (0, "imported\n")
    assert "UserWarning: this container was not built from this code" in done.stderr
    assert "pyproject.toml: image" in done.stderr


def test_way_out_to_rebuild_environments_skips_the_check_with_a_note(stale: Container) -> None:
    printed = re.search(r"\bNRL_FORCE_REBUILD_VENVS=(\S+)", stale.imported().stderr)
    assert printed is not None
    done = stale.imported("print('imported')", NRL_FORCE_REBUILD_VENVS=printed[1])
    assert (done.returncode, done.stdout) == (0, "imported\n")
    assert "UserWarning: NRL_FORCE_REBUILD_VENVS is set" in done.stderr
    assert "image" not in done.stderr


@pytest.mark.parametrize("name", ["NRL_IGNORE_VERSION_MISMATCH", "NRL_FORCE_REBUILD_VENVS"])
def test_ways_out_that_are_switched_off_are_not_taken(name: str, stale: Container) -> None:
    assert_refused(stale.imported(**{name: "0"}))
    assert_refused(stale.imported(**{name: ""}))


def test_missing_file_is_a_warning(container: Container) -> None:
    container.file.unlink()
    done = container.imported("print('imported')")
    assert (done.returncode, done.stdout) == (0, "imported\n")
    assert f"UserWarning: there is no {container.file}" in done.stderr


def test_file_is_looked_for_at_its_default_place(container: Container) -> None:
    done = container.imported(NEMO_RL_CONTAINER_FINGERPRINT="")
    assert "/opt/nemo_rl_container_fingerprint" in done.stderr


@pytest.mark.parametrize("content", ["", "{", "{}", "[]", '{"uv.lock": 1}', "\udcff"])
def test_empty_or_unreadable_file_raises_with_the_ways_out(content: str, container: Container) -> None:
    container.file.write_bytes(content.encode("utf-8", "surrogateescape"))
    done = container.imported()
    assert_refused(done)
    assert f"fingerprint {container.file} " in done.stderr
    assert "NRL_IGNORE_VERSION_MISMATCH=1" in done.stderr
    assert container.imported(NRL_IGNORE_VERSION_MISMATCH="1").returncode == 0


def test_folder_in_place_of_the_file_raises(container: Container) -> None:
    container.file.unlink()
    container.file.mkdir()
    assert_refused(container.imported())


def test_code_that_cannot_be_fingerprinted_raises(container: Container) -> None:
    (container.root / ".gitmodules").write_text("no section\n", encoding="utf-8")
    assert_refused(container.imported())
    (container.root / "tools/generate_fingerprint.py").unlink()
    done = container.imported()
    assert_refused(done)
    assert "generate_fingerprint.py" in done.stderr


@pytest.mark.parametrize("value", ["0", ""])
def test_nothing_is_checked_outside_a_container(value: str, stale: Container) -> None:
    code = "import sys; print('nemo_rl.container_check' in sys.modules, 'json' in sys.modules, 'ray' in sys.modules)"
    done = stale.imported(code, NRL_CONTAINER=value)
    assert (done.returncode, done.stdout, done.stderr) == (0, "False False False\n", "")
