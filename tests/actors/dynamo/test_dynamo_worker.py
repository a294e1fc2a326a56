import os
import pathlib
import socket
import sys
import time

import psutil
import pytest
import ray

from nemo_rl.models.generation.dynamo.chat_client import ServerError
from nemo_rl.models.generation.dynamo.dynamo_worker import (
    DynamoConfig,
    DynamoVllmWorker,
    DynamoVllmWorkerImpl,
    ServerFailed,
)
from nemo_rl.models.generation.dynamo.server import RestartPolicy
from nemo_rl.models.interfaces import SamplingParameters

SERVER = pathlib.Path(__file__).with_name("server_for_tests.py")
POLICY = RestartPolicy(
    start_limit=20.0, health_interval=0.1, failed_checks=2, max_restarts=2, first_delay=0.05, grace=10.0
)
SAMPLING = SamplingParameters(max_new_tokens=8)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def configuration(folder, policy=POLICY):
    port = free_port()
    return DynamoConfig(
        command=(sys.executable, str(SERVER), str(port), str(folder), "model-{checkpoint}"),
        environment={"PATH": os.environ["PATH"]},
        folder=str(folder),
        log=str(folder / "log"),
        base_url=f"http://127.0.0.1:{port}",
        model="served",
        checkpoint="one",
        restart_policy=policy,
    )


def server_processes(folder):
    """The server and its sleeping child, which both have the folder among their arguments."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(folder) in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found


def server_process(folder):
    return next(process for process in server_processes(folder) if str(SERVER) in process.cmdline())


def starts(folder):
    return (folder / "starts").read_text().split()


def wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 30 s"
        time.sleep(0.02)


def ask(text, role="user"):
    return [{"role": role, "content": text}]


@pytest.fixture
def worker(tmp_path):
    worker = DynamoVllmWorkerImpl(configuration(tmp_path))
    yield worker
    worker.shutdown()
    assert server_processes(tmp_path) == []


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    worker = DynamoVllmWorkerImpl(configuration(tmp_path_factory.mktemp("server")))
    worker.start()
    yield worker
    worker.shutdown()


def test_a_batch_is_answered_in_order_with_log_probabilities(running):
    result = running.generate([ask("a"), ask("b", "environment"), ask("c", "system")], SAMPLING)
    assert result.texts == ["model-one: a as user", "model-one: b as user", "model-one: c as system"]
    assert result.log_probabilities == [[-0.5, -0.25]] * 3
    assert result.token_ids == [[], [], []]
    assert result.finish_reasons == ["stop"] * 3
    assert result.weight_version == 0


def test_a_batch_split_in_two_gives_the_same(running):
    logs = [ask(str(number)) for number in range(5)]
    whole = running.generate(logs, SAMPLING)
    assert whole.texts == running.generate(logs[:2], SAMPLING).texts + running.generate(logs[2:], SAMPLING).texts


def test_the_limit_of_tokens_is_a_reason_to_finish(running):
    assert running.generate([ask("a")], SamplingParameters(max_new_tokens=1)).finish_reasons == ["length"]


def test_a_refused_request_says_what_the_server_said(running):
    with pytest.raises(ServerError, match=r"status 400.*refused on purpose"):
        running.generate([ask("a"), ask("refuse")], SAMPLING)


def test_an_unreadable_answer_is_an_error(running):
    with pytest.raises(ServerError, match="no message"):
        running.generate([ask("nonsense")], SAMPLING)


def test_an_empty_batch_is_an_error(running):
    with pytest.raises(ValueError, match="batch is empty"):
        running.generate([], SAMPLING)


def test_a_worker_starts_is_alive_and_stops_and_leaves_no_process(worker, tmp_path):
    assert not worker.is_alive()
    worker.start()
    assert worker.is_alive()
    assert worker.status().state == "healthy"
    assert len(server_processes(tmp_path)) == 2
    with pytest.raises(RuntimeError, match="started before"):
        worker.start()
    worker.shutdown()
    worker.shutdown()
    assert (worker.is_alive(), worker.status().state) == (False, "stopped")
    assert server_processes(tmp_path) == []
    assert (tmp_path / "asked").exists()
    assert "the server says hello" in (tmp_path / "log").read_text()
    with pytest.raises(ServerFailed, match="is stopped"):
        worker.generate([ask("a")], SAMPLING)


def test_a_server_that_ignores_the_request_to_end_is_killed_after_the_grace(tmp_path):
    (tmp_path / "deaf").touch()
    policy = RestartPolicy(start_limit=20.0, health_interval=0.1, grace=0.3)
    worker = DynamoVllmWorkerImpl(configuration(tmp_path, policy))
    worker.start()
    worker.shutdown()
    assert server_processes(tmp_path) == []


def test_a_killed_server_is_restarted_and_its_children_go_with_it(worker, tmp_path):
    worker.start()
    old = server_processes(tmp_path)
    server_process(tmp_path).kill()
    wait_for(lambda: worker.status().restarts == 1 and worker.status().state == "healthy")
    assert worker.status().last_failure == "it ended by itself with exit code 137"
    assert worker.generate([ask("a")], SAMPLING).texts == ["model-one: a as user"]
    assert not any(process.is_running() for process in old)


def test_a_server_that_stays_ill_is_restarted(worker, tmp_path):
    worker.start()
    (tmp_path / "ill").touch()
    wait_for(lambda: len(starts(tmp_path)) == 2)
    (tmp_path / "ill").unlink()
    wait_for(lambda: worker.status().state == "healthy")
    assert worker.status().last_failure == "2 health checks in a row failed"


def test_a_server_that_crashes_at_its_start_has_failed_after_the_last_restart(worker, tmp_path):
    (tmp_path / "crash").touch()
    with pytest.raises(ServerFailed, match=r"is failed: it ended by itself with exit code 3; its log is .*log"):
        worker.start()
    assert starts(tmp_path) == ["model-one"] * 3
    assert (worker.status().state, worker.status().restarts) == ("failed", 2)


def test_a_server_that_never_becomes_healthy_has_failed(tmp_path):
    (tmp_path / "hang").touch()
    policy = RestartPolicy(start_limit=0.3, health_interval=0.1, max_restarts=1, first_delay=0.05, grace=10.0)
    worker = DynamoVllmWorkerImpl(configuration(tmp_path, policy))
    with pytest.raises(ServerFailed, match=r"not healthy within 0.3 s of its start"):
        worker.start()
    assert server_processes(tmp_path) == []


def test_a_program_that_does_not_exist_is_named(tmp_path):
    cfg = configuration(tmp_path, RestartPolicy(health_interval=0.1, max_restarts=0))
    worker = DynamoVllmWorkerImpl(DynamoConfig(**{**vars(cfg), "command": ("/nowhere/dynamo",)}))
    with pytest.raises(ServerFailed, match="/nowhere/dynamo is failed: it ended by itself with exit code 127"):
        worker.start()
    assert "/nowhere/dynamo could not be started" in (tmp_path / "log").read_text()


def test_a_log_that_cannot_be_written_is_named(tmp_path):
    cfg = configuration(tmp_path, RestartPolicy(health_interval=0.1, max_restarts=0))
    worker = DynamoVllmWorkerImpl(DynamoConfig(**{**vars(cfg), "log": str(tmp_path / "no" / "log")}))
    with pytest.raises(ServerFailed, match="No such file or directory"):
        worker.start()


def test_new_weights_restart_the_server_with_their_checkpoint(worker, tmp_path):
    worker.start()
    worker.update_weights("two", 7)
    result = worker.generate([ask("a")], SAMPLING)
    assert (result.texts, result.weight_version) == (["model-two: a as user"], 7)
    assert starts(tmp_path) == ["model-one", "model-two"]


def test_new_weights_need_a_place_in_the_command(tmp_path):
    cfg = configuration(tmp_path)
    worker = DynamoVllmWorkerImpl(DynamoConfig(**{**vars(cfg), "command": (sys.executable,)}))
    with pytest.raises(ValueError, match=r"no argument of the server's command contains \{checkpoint\}"):
        worker.update_weights("two", 1)


@pytest.mark.parametrize(("restart", "delay"), [(1, 1.0), (2, 2.0), (3, 4.0), (7, 60.0), (2000, 60.0)])
def test_delays_double_up_to_the_longest(restart, delay):
    assert RestartPolicy(first_delay=1.0, longest_delay=60.0).delay(restart) == delay


@pytest.mark.parametrize("bad", [{"health_interval": 0.0}, {"start_limit": 0.0}, {"failed_checks": 0}])
def test_a_bad_policy_is_an_error(bad):
    with pytest.raises(ValueError, match="have to be positive"):
        RestartPolicy(**bad)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"command": ()}, "absolute path of a program"),
        ({"command": ("dynamo",)}, "absolute path of a program"),
        ({"base_url": "localhost:1"}, "base_url has to begin with http://"),
        ({"concurrency": 0}, "concurrency has to be positive"),
    ],
)
def test_a_bad_configuration_is_an_error(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        DynamoConfig(**{**vars(configuration(tmp_path)), **change})


@pytest.mark.xdist_group("ray")
def test_through_ray_no_process_outlives_an_actor_that_is_killed(ray_cluster, tmp_path):
    actor = DynamoVllmWorker.remote(configuration(tmp_path))
    ray.get(actor.start.remote())
    assert ray.get(actor.generate.remote([ask("a")], SAMPLING)).texts == ["model-one: a as user"]
    pid = ray.get(actor.__ray_call__.remote(lambda _: __import__("os").getpid()))
    processes = server_processes(tmp_path)
    assert len(processes) == 2
    psutil.Process(pid).kill()
    _, alive = psutil.wait_procs(processes, timeout=20)
    assert not alive
