"""The NeMo Gym environment with its real servers: a judge, an agent, and a policy behind an HTTP endpoint.

Slow, and needs the extra ``nemo_gym`` (Python 3.12 or newer). The servers run in the environment of this test, put
where NeMo Gym looks for theirs, so that nothing is installed.
"""

import importlib.util
import pathlib
import sys
from collections.abc import Iterator

import pytest
from nemo_gym_servers import configuration, serve_policy, task

from nemo_rl.environments.nemo_gym import NemoGymImpl

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("nemo_gym") is None, reason="the extra nemo_gym is not installed here"),
]


@pytest.fixture(scope="module")
def gym(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NemoGymImpl]:
    folder = tmp_path_factory.mktemp("gym")
    with serve_policy() as policy:
        subject = NemoGymImpl(configuration(folder, policy, pathlib.Path(sys.prefix)))
        subject.start()
        yield subject
        subject.shutdown()


def test_a_server_judges_the_models_answers(gym: NemoGymImpl) -> None:
    logs = [[{"role": "assistant", "content": text}] for text in ("\\boxed{B}", "\\boxed{A}", "no idea", "")]
    tasks = [task("B", resources_server="mcqa") for _ in logs]
    answer = gym.step(logs, tasks)
    assert answer.rewards == [1.0, 0.0, 0.0, 0.0]
    assert answer.terminateds == [True] * 4
    assert answer.answers == ["\\boxed{B}", "\\boxed{A}", "no idea", ""]
    split = gym.step(logs[:1], tasks[:1]).rewards + gym.step(logs[1:], tasks[1:]).rewards
    assert split == answer.rewards


def test_an_agent_runs_whole_rollouts_in_the_order_of_the_rows(gym: NemoGymImpl) -> None:
    expected = ["A", "B", "A", "A", "B"]
    results = gym.run([task(letter, agent_ref={"name": "mcqa_simple_agent"}) for letter in expected])
    assert [result["reward"] for result in results] == [1.0, 0.0, 1.0, 1.0, 0.0]
    assert [result["expected_answer"] for result in results] == expected
