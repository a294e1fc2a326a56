"""A training system whose Ray actors each run in a Python environment of their own; see `nemo_rl.distributed`."""

import os as _os

if _os.environ.get("NRL_CONTAINER") == "1":
    import pathlib as _pathlib

    from nemo_rl.container_check import check_container as _check_container

    _check_container(_os.environ, _pathlib.Path(__file__).resolve().parents[1])
