"""Ray's own way to give workers the driver's ``uv run`` environment, which has to stay off.

It would put one environment, the driver's, under every actor and copy the working directory to every node, while the
table gives each actor its own.
"""

import os

from ray._private import ray_constants

HOOK_VARIABLE = "RAY_ENABLE_UV_RUN_RUNTIME_ENV"


def switch_off_uv_run_hook() -> None:
    """Keep ``ray.init`` from copying a driver's ``uv run`` command line, in this process and those that it starts.

    Ray reads the variable once, when it is imported, which may have happened already; so its constant is set too.
    """
    os.environ[HOOK_VARIABLE] = "0"
    ray_constants.RAY_ENABLE_UV_RUN_RUNTIME_ENV = False
