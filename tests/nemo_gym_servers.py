"""What NeMo Gym's real servers need in a test: a configuration, tasks, and a policy that answers A to everything."""

import contextlib
import http.server
import json
import pathlib
import threading
from collections.abc import Iterator
from typing import Any

from nemo_rl.environments.nemo_gym import NemoGymConfig

SERVER_FOLDERS = ("resources_servers/mcqa", "responses_api_agents/simple_agent", "responses_api_models/openai_model")

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

TEXT = {"type": "output_text", "text": "\\boxed{A}", "annotations": []}
ANSWER = {
    "id": "r",
    "object": "response",
    "created_at": 0,
    "model": "policy",
    "output": [{"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [TEXT]}],
    "parallel_tool_calls": False,
    "tool_choice": "none",
    "tools": [],
}


def task(expected: str, **fields: Any) -> dict[str, Any]:
    """A question of NeMo Gym's multiple-choice server."""
    return {
        "responses_create_params": {"input": [{"role": "user", "content": f"Which letter, A or B? Not {expected}"}]},
        "options": [{"A": "first"}, {"B": "second"}],
        "expected_answer": expected,
        "grading_mode": "strict_single_letter_boxed",
        **fields,
    }


def configuration(folder: pathlib.Path, policy: str, environment: pathlib.Path) -> NemoGymConfig:
    """Servers in an environment that exists, linked below ``folder``, where NeMo Gym looks for those of servers."""
    for server in SERVER_FOLDERS:
        (folder / server).mkdir(parents=True)
        (folder / server / ".venv").symlink_to(environment)
    (folder / "servers.yaml").write_text(SERVERS)
    return NemoGymConfig(
        config_paths=(str(folder / "servers.yaml"),),
        policy_base_url=policy,
        policy_model_name="policy",
        policy_api_key="none",
        settings={"uv_venv_dir": str(folder), "skip_venv_if_present": True},
    )


class AlwaysA(http.server.BaseHTTPRequestHandler):
    """A policy behind OpenAI's responses API."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the output of the test is what counts."""


@contextlib.contextmanager
def serve_policy() -> Iterator[str]:
    """Serve the policy while the block runs; yields the base address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), AlwaysA)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
