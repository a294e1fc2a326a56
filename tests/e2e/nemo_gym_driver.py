"""Launch NemoGym of this project from its real extra and let its servers judge: ``nemo_gym_driver.py FOLDER``.

Runs on the actors' Python, with base dependencies alone. Prints what it finds, as lines ``name: value``, the last of
which is ``rewards of a rollout``.
"""

import importlib.util
import json
import pathlib
import platform
import sys
import time
from typing import Any

import ray

from nemo_rl.distributed.worker_groups import launch
from nemo_rl.utils.actor_project import this_project

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from nemo_gym_servers import configuration, serve_policy, task

ACTOR = "nemo_rl.environments.nemo_gym.NemoGym"


def tell(name: str, value: object) -> None:
    print(f"{name}: {value if isinstance(value, str) else json.dumps(value)}", flush=True)


def main(folder: pathlib.Path) -> None:
    tell("driver", f"Python {platform.python_version()}, {len(installed())} distributions")
    tell("driver can import nemo_gym", importlib.util.find_spec("nemo_gym") is not None)
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    with serve_policy() as policy:
        began = time.monotonic()
        gym = launch(ACTOR, configuration(folder, policy, this_project().folder_of(ACTOR)), options={"num_cpus": 1})
        described = ray.get(gym.__ray_call__.remote(describe))
        tell("environment built and actor launched, seconds", round(time.monotonic() - began, 1))
        for name, value in described.items():
            tell(name, value)
        began = time.monotonic()
        ray.get(gym.start.remote())
        tell("servers started, seconds", round(time.monotonic() - began, 1))
        answers = ["\\boxed{B}", "\\boxed{A}", "no idea"]
        logs = [[{"role": "assistant", "content": answer}] for answer in answers]
        judged = ray.get(gym.step.remote(logs, [task("B", resources_server="mcqa") for _ in answers]))
        tell("rewards of judged answers", judged.rewards)
        agent = {"name": "mcqa_simple_agent"}
        results = ray.get(gym.run.remote([task(letter, agent_ref=agent) for letter in "ABA"]))
        tell("rewards of a rollout", [result["reward"] for result in results])
        ray.get(gym.shutdown.remote())
    ray.shutdown()


def installed() -> list[str]:
    """Names of the distributions that this interpreter has."""
    import importlib.metadata

    return sorted({str(distribution.metadata["Name"]).lower() for distribution in importlib.metadata.distributions()})


def describe(_: Any) -> dict[str, Any]:
    """What the actor's process is, asked from inside it."""
    import importlib.metadata
    import os
    import platform
    import sys

    import nemo_gym

    names = {str(distribution.metadata["Name"]).lower() for distribution in importlib.metadata.distributions()}
    return {
        "actor": f"Python {platform.python_version()}, {len(names)} distributions",
        "actor's interpreter is that of its environment": sys.prefix == os.environ["VIRTUAL_ENV"],
        "actor's environment": os.path.basename(sys.prefix),
        "nemo_gym comes from its environment": str(nemo_gym.__file__).startswith(sys.prefix),
        "nemo-gym": importlib.metadata.version("nemo-gym"),
        "UV_LINK_MODE": os.environ["UV_LINK_MODE"],
    }


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
