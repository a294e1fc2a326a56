import os
import sys
import tempfile
from pathlib import Path

import psutil
import pytest
import ray

from nemo_rl.environments.code_environment import CodeEnvironment, CodeEnvironmentConfig, CodeEnvironmentImpl
from nemo_rl.environments.code_sandbox import CodeLimits, run_code

LIMITS = CodeLimits(time=20.0)
# A bomb that gives up by itself, should its limits not hold: the machine has other users.
FORK_BOMB = """
import os, time
end = time.time() + 1.5
while time.time() < end:
    try:
        os.fork()
    except OSError:
        pass
"""
FORGED_RESULT = """
import json, os
os.write(3, json.dumps({"token": "", "code_ended": True, "tests_passed": True, "state": "", "not_kept": []}).encode())
os._exit(0)
"""
ISOLATION = pytest.mark.parametrize("isolated", [True, False], ids=["namespace", "subreaper"])


def command_line(process):
    """The command line of a process, empty for one that has ended meanwhile."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


@pytest.fixture(autouse=True)
def nothing_left_behind(tmp_path, monkeypatch):
    """No process and no folder outlives a test; other test processes have temporary folders of their own."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    processes = set(psutil.Process().children(recursive=True))
    yield
    left = [process for process in psutil.Process().children(recursive=True) if process not in processes]
    assert [command for command in map(command_line, left) if "code_runner" in command] == []
    assert list(tmp_path.glob("supervised-*")) == []


@pytest.fixture(scope="module")
def environment():
    environment = CodeEnvironmentImpl(CodeEnvironmentConfig(limits=LIMITS))
    yield environment
    environment.shutdown()


@pytest.fixture(scope="module")
def notebook():
    environment = CodeEnvironmentImpl(CodeEnvironmentConfig(limits=LIMITS, keep_state=True))
    yield environment
    environment.shutdown()


def code(text):
    return f"I would write\n<code>\n{text}\n</code>"


def processes_with(marker):
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("MARKER") == marker or marker in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize(
    ("response", "metadata"),
    [
        (code("print(6 * 7)"), {"expected_output": "42\n"}),
        ("```python\nprint(6 * 7)  \n```\nas asked", {"expected_output": "42"}),
        (code("def add(a, b):\n    return a + b"), {"tests": "assert add(1, 2) == 3"}),
        (
            code("import sys\ndef f(): return 1\nprint(1)\nsys.exit(0)"),
            {"tests": "assert f() == 1", "expected_output": "1"},
        ),
    ],
)
def test_code_that_passes_is_rewarded(environment, conversation, response, metadata):
    result = environment.step([conversation(response)], [metadata])
    assert result.rewards == [1.0]
    assert result.terminateds == [True]


@pytest.mark.parametrize(
    ("response", "metadata", "observation"),
    [
        (code("print(41)"), {"expected_output": "42"}, "41"),
        (code("print(42)"), {}, "42"),
        (code("def add(a, b):\n    return a - b"), {"tests": "assert add(1, 2) == 3"}, "AssertionError"),
        (code("print(42)\nraise KeyError('gone')"), {"expected_output": "42"}, "KeyError: 'gone'"),
        (code("def f(:"), {"tests": "pass"}, "SyntaxError"),
        (code("import os\nos._exit(0)"), {"tests": "pass"}, "<result>"),
        (code("import sys\nsys.exit(1)"), {"tests": "pass"}, "<result>"),
        (code(FORGED_RESULT), {"tests": "pass"}, "<result>"),
        (code("import os\nos.write(3, b'{')"), {"tests": "pass"}, ""),
        ("no code at all", {"tests": "pass"}, "no code found"),
        ("", {"tests": "pass"}, "no code found"),
        ("```python\nprint(1)", {"expected_output": "1"}, "no code found"),
        (code("#" + "x" * 1_000_000), {"tests": "pass"}, "no code found"),
        (code("{" * 1000 + "}" * 1000), {"tests": "pass"}, "Error"),
        (code("(" * 50_000), {"tests": "pass"}, "Error"),
    ],
)  # fmt: skip
def test_every_other_response_has_reward_zero(environment, conversation, response, metadata, observation):
    result = environment.step([conversation(response)], [metadata])
    assert result.rewards == [0.0]
    assert observation in result.observations[0]["content"]


@ISOLATION
def test_an_endless_loop_ends_at_the_limit_of_time(isolated):
    result = run_code("while True: pass", CodeLimits(time=0.5), isolated=isolated)
    assert (result.reason, result.code_ended) == ("time", False)


@ISOLATION
def test_an_endless_print_is_cut_at_the_limit_of_output(isolated):
    result = run_code("while True: print('x' * 99)", CodeLimits(time=20.0, output=1000), isolated=isolated)
    assert (result.reason, result.code_ended, len(result.stdout)) == ("output", False, 1000)


@ISOLATION
def test_an_allocation_of_ten_gigabytes_ends_with_a_memory_error(isolated):
    result = run_code("x = bytearray(10 * 2**30)", LIMITS, isolated=isolated)
    assert (result.reason, result.code_ended) == ("exited", False)
    assert "MemoryError" in result.stderr


@ISOLATION
def test_memory_of_several_processes_counts_together(isolated):
    each_takes_its_share = "import os, time\nos.fork()\nos.fork()\nx = b'x' * (120 * 2**20)\ntime.sleep(15)"
    result = run_code(each_takes_its_share, CodeLimits(time=20.0, memory=300 * 2**20), isolated=isolated)
    assert (result.reason, result.code_ended) == ("memory", False)


@ISOLATION
def test_a_fork_bomb_ends_at_the_limit_of_processes_and_leaves_none(isolated):
    before = len(psutil.pids())
    result = run_code(FORK_BOMB, CodeLimits(time=20.0), isolated=isolated)
    assert (result.reason, result.code_ended) == ("processes", False)
    assert len(psutil.pids()) < before + 16


@ISOLATION
def test_a_process_in_a_session_of_its_own_does_not_outlive_the_code(isolated):
    marker = os.urandom(8).hex()
    daemon = f"""
import os, subprocess, sys
if os.fork() == 0:
    os.setsid()
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", {marker!r}])
    os._exit(0)
os.wait()
print("left it")
"""
    result = run_code(daemon, LIMITS, isolated=isolated)
    assert (result.stdout, result.code_ended) == ("left it\n", True)
    assert processes_with(marker) == []


def test_isolated_code_cannot_see_or_kill_its_supervisor():
    result = run_code("import os\nprint(os.getpid() < 10)\nos.kill(os.getppid(), 9)\nprint('still here')", LIMITS)
    if result.stdout.startswith("False"):
        pytest.skip("this kernel lets us make no PID namespace")
    assert (result.stdout, result.code_ended) == ("True\nstill here\n", True)


def test_files_have_a_limit_of_size():
    result = run_code("with open('f', 'w') as f: f.write('x' * 2000)", CodeLimits(time=20.0, file_size=1000))
    assert "File too large" in result.stderr


def test_environment_and_folder_and_input_are_empty_and_the_folder_is_removed():
    result = run_code(
        "import os, sys\nprint(sorted(set(os.environ) - {'LC_CTYPE'}), os.listdir(), repr(sys.stdin.read()))\n"
        "os.makedirs('a/b')\nos.chmod('a/b', 0)\nopen('c', 'w').close()\nprint(os.getcwd())",
        LIMITS,
    )
    first, folder = result.stdout.splitlines()
    assert first == "[] [] ''"
    assert not Path(folder).exists()
    assert folder != os.getcwd()


def test_code_runs_on_the_interpreter_of_the_caller():
    assert run_code("import sys; print(sys.executable)", LIMITS).stdout.strip() == sys.executable


def test_state_is_kept_between_steps(notebook, conversation):
    first = notebook.step(
        [
            conversation(
                code("import math\nn = 1\ndef read():\n    return n\nclass Counter:\n    def read(self): return n")
            )
        ],
        [{}],
    )
    assert (first.terminateds, first.rewards) == ([False], [0.0])
    second = notebook.step(
        [conversation(code("n = 5\nprint(read(), Counter().read(), math.floor(2.5))"))], first.metadata
    )
    assert "5 5 2" in second.observations[0]["content"]
    failed = notebook.step([conversation(code("n = 6\nraise ValueError"))], second.metadata)
    assert failed.metadata == second.metadata
    last = notebook.step([conversation(code("print(n)"))], [{**failed.metadata[0], "expected_output": "5"}])
    assert (last.rewards, last.terminateds, last.metadata) == ([1.0], [True], [None])


def test_an_episode_with_state_ends_with_a_response_without_code(notebook, conversation):
    result = notebook.step([conversation("I give up")], [{"tests": "pass"}])
    assert (result.rewards, result.terminateds) == ([0.0], [True])


def test_what_cannot_be_kept_is_named(notebook, conversation):
    result = notebook.step(
        [conversation(code("import threading\nn = 3\nlock = threading.Lock()\ng = (i for i in ())"))], [{}]
    )
    assert "not kept for the next step: g, lock" in result.observations[0]["content"]
    assert "3" in notebook.step([conversation(code("print(n)"))], result.metadata).observations[0]["content"]


def test_a_state_that_is_too_large_ends_the_code(conversation):
    result = run_code("x = 'x' * 10_000", CodeLimits(time=20.0, state=1000), keep_state=True)
    assert (result.reason, result.state) == ("output", "")


def test_without_keep_state_nothing_is_kept(environment, conversation):
    first = environment.step([conversation(code("n = 1"))], [{}])
    assert first.metadata == [None]
    assert "NameError" in environment.step([conversation(code("print(n)"))], [{}]).observations[0]["content"]


def test_a_batch_split_in_two_gives_the_same(environment, conversation):
    logs = [conversation(code(f"print({n})")) for n in range(3)] + [conversation("none")]
    metadata = [{"expected_output": "1"}] * 4
    whole = environment.step(logs, metadata)
    first, second = environment.step(logs[:2], metadata[:2]), environment.step(logs[2:], metadata[2:])
    assert whole.rewards == first.rewards + second.rewards == [0.0, 1.0, 0.0, 0.0]
    assert whole.observations == first.observations + second.observations


def test_an_empty_batch_and_unequal_lengths_are_errors(environment, conversation):
    with pytest.raises(ValueError, match="batch is empty"):
        environment.step([], [])
    with pytest.raises(ValueError, match="1 conversations and 2 metadata"):
        environment.step([conversation(code("1"))], [{}, {}])


@pytest.mark.parametrize("field", ["time", "memory", "output", "processes", "file_size", "state"])
def test_limits_have_to_be_positive(field):
    with pytest.raises(ValueError, match=f"limit {field} has to be positive"):
        CodeLimits(**{field: 0})


@pytest.mark.xdist_group("ray")
def test_through_ray_code_runs_and_ends_with_the_actor_even_when_that_is_killed(ray_cluster, conversation):
    actor = CodeEnvironment.remote(CodeEnvironmentConfig(limits=CodeLimits(time=300.0)))
    result = ray.get(actor.step.remote([conversation(code("print(1)"))], [{"expected_output": "1"}]))
    assert result.rewards == [1.0]
    pid = ray.get(actor.__ray_call__.remote(lambda _: __import__("os").getpid()))
    marker = os.urandom(8).hex()
    sleeper = (
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(600)', {marker!r}])"
    )
    running = actor.step.remote([conversation(code(sleeper))], [{}])
    while not (sleepers := processes_with(marker)):
        assert not ray.wait([running], timeout=0.1)[0]
    psutil.Process(pid).kill()
    _, alive = psutil.wait_procs(sleepers, timeout=20)
    assert not alive
    with pytest.raises(ray.exceptions.RayActorError):
        ray.get(running)
