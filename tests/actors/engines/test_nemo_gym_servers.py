"""The NeMo Gym environment with its real servers: a judge, an agent, and a policy behind an HTTP endpoint.

Slow, and needs the extra ``nemo_gym`` (Python 3.12 or newer). The servers run in the environment of this test, put
where NeMo Gym looks for theirs, so that nothing is installed.
"""

import http.server
import importlib.util
import json
import pathlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from nemo_rl.environments.nemo_gym import NemoGymConfig, NemoGymImpl

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("nemo_gym") is None, reason="the extra nemo_gym is not installed here"),
]

SERVERS = """
mcqa:
  resources_servers:
    mcqa: {entrypoint: app.py, domain: knowledge, verified: false, description: multiple choice}
mcqa_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      resources_server: {type: resources_servers, name: mcqa}
      model_server: {type: responses_api_models, name: policy_model}
policy_model:
  responses_api_models:
    openai_model:
      entrypoint: app.py
      openai_base_url: ${policy_base_url}
      openai_api_key: ${policy_api_key}
      openai_model: ${policy_model_name}
"""


def task(expected: str, **fields: Any) -> dict[str, Any]:
    return {
        "responses_create_params": {"input": [{"role": "user", "content": f"Which letter? A or B. Not {expected}"}]},
        "options": [{"A": "first"}, {"B": "second"}],
        "expected_answer": expected,
        "grading_mode": "strict_single_letter_boxed",
        **fields,
    }


class AlwaysA(http.server.BaseHTTPRequestHandler):
    """A policy behind OpenAI's responses API that answers A to everything."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        text = {"type": "output_text", "text": "\\boxed{A}", "annotations": []}
        message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
        answer = {
            "id": "r",
            "object": "response",
            "created_at": 0,
            "model": "policy",
            "output": [message],
            "parallel_tool_calls": False,
            "tool_choice": "none",
            "tools": [],
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test's output is enough."""


@pytest.fixture(scope="module")
def gym(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NemoGymImpl]:
    folder = tmp_path_factory.mktemp("gym")
    for server in ("resources_servers/mcqa", "responses_api_agents/simple_agent", "responses_api_models/openai_model"):
        (folder / server).mkdir(parents=True)
        (folder / server / ".venv").symlink_to(pathlib.Path(sys.prefix))
    (folder / "servers.yaml").write_text(SERVERS)
    policy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), AlwaysA)
    threading.Thread(target=policy.serve_forever, daemon=True).start()
    subject = NemoGymImpl(
        NemoGymConfig(
            config_paths=(str(folder / "servers.yaml"),),
            policy_base_url=f"http://127.0.0.1:{policy.server_address[1]}/v1",
            policy_model_name="policy",
            policy_api_key="none",
            settings={"uv_venv_dir": str(folder), "skip_venv_if_present": True},
        )
    )
    subject.start()
    yield subject
    subject.shutdown()
    policy.shutdown()


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
