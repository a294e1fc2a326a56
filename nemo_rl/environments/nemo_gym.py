"""Environments of NeMo Gym: servers that judge answers and agents that run whole rollouts."""

import asyncio
import dataclasses
import itertools
from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import ray

from nemo_rl.distributed.py_executables import PY_EXECUTABLES
from nemo_rl.environments.interfaces import (
    EnvironmentInterface,
    EnvironmentReturn,
    MessageLog,
    check_batch,
    ended_episodes,
    last_response,
)
from nemo_rl.models.engine_owner import EngineOwner, EngineRequirements

if TYPE_CHECKING:
    from nemo_gym.cli.env import RunHelper

GymTask = dict[str, Any]
"""One row of a NeMo Gym data set: ``responses_create_params`` and whatever its servers read besides.

:meth:`NemoGymImpl.step` also needs ``resources_server``, the name of the server that judges; :meth:`NemoGymImpl.run`
needs ``agent_ref``, ``{"name": agent}``, as NeMo Gym does.
"""

ResultT = TypeVar("ResultT")
ROW_KEY = "nemo_rl_row"


@dataclasses.dataclass(frozen=True)
class NemoGymConfig:
    """Which servers to start, and which model their agents ask.

    Attributes:
        config_paths: NeMo Gym's YAML files of servers, at least one.
        policy_base_url: an OpenAI-compatible endpoint of the policy; agents need it, judging alone does not.
        policy_model_name: name of the policy there.
        policy_api_key: for that endpoint.
        settings: further keys of NeMo Gym's configuration; they win over the files.

    Raises:
        ValueError: no file.
    """

    config_paths: tuple[str, ...]
    policy_base_url: str = ""
    policy_model_name: str = ""
    policy_api_key: str = ""
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.config_paths:
            raise ValueError("config_paths is empty; name at least one of NeMo Gym's YAML files")


class NemoGymImpl(EngineOwner["RunHelper"], EnvironmentInterface[GymTask]):
    """Owns the servers of NeMo Gym, as processes of their own. The plain class of the actor.

    Needs no GPU, but Python 3.12 or newer. NeMo Gym gives each server an environment of its own and installs it when
    it starts, so the first start needs a package index and takes minutes.
    """

    REQUIREMENTS = EngineRequirements(packages=("nemo_gym",), extras=("nemo_gym",), cuda_devices=0)
    DEFAULT_PY_EXECUTABLE: ClassVar[str] = PY_EXECUTABLES.NEMO_GYM

    def __init__(self, cfg: NemoGymConfig) -> None:
        super().__init__()
        self.cfg = cfg
        self._loop = asyncio.new_event_loop()

    def build_engine(self) -> "RunHelper":
        from nemo_gym.cli.env import RunHelper
        from nemo_gym.global_config import GlobalConfigDictParserConfig
        from omegaconf import DictConfig

        settings = {
            "config_paths": list(self.cfg.config_paths),
            "policy_base_url": self.cfg.policy_base_url,
            "policy_model_name": self.cfg.policy_model_name,
            "policy_api_key": self.cfg.policy_api_key,
            **cluster_settings(),
            **self.cfg.settings,
        }
        servers = RunHelper()
        servers.start(
            GlobalConfigDictParserConfig(
                initial_global_config_dict=DictConfig(settings), skip_load_from_cli=True, skip_load_from_dotenv=True
            )
        )
        return servers

    def release_engine(self, engine: "RunHelper") -> None:
        engine.shutdown()
        self._loop.close()

    def step(self, message_log_batch: list[MessageLog], metadata: list[GymTask]) -> EnvironmentReturn[GymTask]:
        """Let each conversation's resources server judge what the model wrote last; every episode ends with it.

        Args:
            message_log_batch: ``[B]`` conversations; each ends with the model's answer, which may be empty.
            metadata: ``[B]`` rows that name their ``resources_server``.

        Returns:
            ``[B]`` rewards as the servers give them; ``answers`` are the judged texts.

        Raises:
            ValueError: empty batch, unequal lengths, or a row that names no server.
            EngineError: the servers are not running.
        """
        check_batch(message_log_batch, metadata)
        for index, task in enumerate(metadata):
            if not task.get("resources_server"):
                raise ValueError(f"row {index} names no 'resources_server' to judge it; its keys are {sorted(task)}")
        servers = self.engine
        servers.poll()
        answers = [last_response(message_log) for message_log in message_log_batch]
        rewards = self._wait(verify_all(answers, metadata))
        return ended_episodes([""] * len(answers), rewards, list(answers))

    def run(self, tasks: Sequence[GymTask]) -> list[dict[str, Any]]:
        """Let NeMo Gym's agents run whole rollouts against the policy's endpoint, all at once.

        Args:
            tasks: ``[B]`` rows that name their ``agent_ref``, at least one.

        Returns:
            ``[B]`` results of the agents in the order of the rows: ``response``, ``reward`` and what else they give.

        Raises:
            ValueError: no row, or a row that names no agent.
            EngineError: the servers are not running.
        """
        if not tasks:
            raise ValueError("the batch is empty: run() needs at least one row")
        for index, task in enumerate(tasks):
            if not task.get("agent_ref"):
                raise ValueError(f"row {index} names no 'agent_ref' to run it; its keys are {sorted(task)}")
        servers = self.engine
        servers.poll()
        return self._wait(run_all(tasks))

    def _wait(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        return self._loop.run_until_complete(work)


def cluster_settings() -> dict[str, str]:
    """NeMo Gym's setting for the Ray cluster that this process is part of; without it each server starts its own."""
    return {"ray_head_node_address": ray.get_runtime_context().gcs_address} if ray.is_initialized() else {}


# Functions, not methods: a coroutine in its class would make Ray run every method inside an event loop.
async def verify_all(answers: Sequence[str], tasks: Sequence[GymTask]) -> list[float]:
    from nemo_gym.rollout_collection import RolloutCollectionHelper
    from nemo_gym.server_utils import get_response_json, raise_for_status

    client = RolloutCollectionHelper().setup_server_client()

    async def verify(answer: str, task: GymTask, number: int) -> float:
        request = {key: value for key, value in task.items() if key != "resources_server"}
        response = await client.post(
            server_name=task["resources_server"],
            url_path="/verify",
            json={**request, "response": response_of(answer, f"answer-{number}")},
        )
        await raise_for_status(response)
        return float((await get_response_json(response))["reward"])

    return list(await asyncio.gather(*map(verify, answers, tasks, itertools.count())))


async def run_all(tasks: Sequence[GymTask]) -> list[dict[str, Any]]:
    from nemo_gym.rollout_collection import RolloutCollectionHelper

    rows = [{**task, ROW_KEY: index} for index, task in enumerate(tasks)]
    results: dict[int, dict[str, Any]] = {}
    for future in RolloutCollectionHelper().run_examples(rows):
        row, result = await future
        results[row[ROW_KEY]] = result
    return [results[index] for index in range(len(tasks))]


def response_of(text: str, identifier: str) -> dict[str, Any]:
    """The text of a model as the body of an OpenAI response, which is what servers judge."""
    from nemo_gym.openai_utils import NeMoGymResponse, NeMoGymResponseOutputMessage, NeMoGymResponseOutputText

    message = NeMoGymResponseOutputMessage(
        id=f"{identifier}-message", content=[NeMoGymResponseOutputText(annotations=[], text=text)]
    )
    response = NeMoGymResponse(
        id=identifier,
        created_at=0.0,
        model="policy",
        object="response",
        output=[message],
        parallel_tool_calls=False,
        tool_choice="none",
        tools=[],
    )
    body: dict[str, Any] = response.model_dump(mode="json")
    return body


@ray.remote
class NemoGym(NemoGymImpl):
    """The Ray actor of :class:`NemoGymImpl`."""
