"""Run one piece of a model's code in this process; a script that :mod:`nemo_rl.environments.code_sandbox` starts.

Standard input is one JSON object ``{"code", "tests", "state", "keep_state", "token"}``. The result is one JSON object
on descriptor 3: ``{"token", "code_ended", "tests_passed", "state", "not_kept"}``. It is missing where the code ended
the process; the token says that it comes from here and not from the code.
"""

import base64
import io
import json
import sys
import traceback
from typing import Any

RESULT_DESCRIPTOR = 3


def run(source: str, name: str, namespace: dict[str, object]) -> bool:
    """Execute source in a namespace; print the traceback of an exception. ``sys.exit`` is a normal end with code 0."""
    try:
        exec(compile(source, name, "exec"), namespace)
    except SystemExit as end:
        return end.code in (None, 0)
    except BaseException as error:
        # Without the frame of this function.
        traceback.print_exception(error.with_traceback(error.__traceback__ and error.__traceback__.tb_next))
        return False
    return True


def new_namespace() -> dict[str, object]:
    """A namespace as of a fresh program, with a function of its own that later tells it from others."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    exec("def __anchor__(): pass", namespace)
    return namespace


def load_state(state: str) -> dict[str, object]:
    """The namespace that an earlier step left.

    cloudpickle gives all functions of one pickle one dictionary of globals. That one becomes the namespace, so that a
    function sees what later steps assign.
    """
    import cloudpickle  # type: ignore[import-untyped]

    values: dict[str, Any] = cloudpickle.loads(base64.b64decode(state))
    namespace: dict[str, object] = values["__anchor__"].__globals__
    namespace.update(values)
    namespace["__name__"] = "__main__"
    return namespace


def save_state(namespace: dict[str, object]) -> tuple[str, list[str]]:
    """What of a namespace can be kept, and the names of what cannot, such as open files and generators."""
    import cloudpickle

    kept, not_kept = {"__anchor__": namespace["__anchor__"]}, []
    for name, value in namespace.items():
        if name.startswith("__"):
            continue
        try:
            cloudpickle.dumps(value)
        except BaseException:
            # Whatever code of the model runs here, and however it fails: the value cannot be kept.
            not_kept.append(name)
        else:
            kept[name] = value
    return base64.b64encode(cloudpickle.dumps(kept)).decode(), not_kept


def main() -> int:
    """Read the order, run code and then tests in one namespace, write the result."""
    order = json.load(sys.stdin)
    sys.stdin = io.StringIO()
    namespace: dict[str, object] = load_state(order["state"]) if order["state"] else new_namespace()
    code_ended = run(order["code"], "<code>", namespace)
    state, not_kept = save_state(namespace) if order["keep_state"] else ("", [])
    sys.stdout.flush()
    tests_passed = code_ended and bool(order["tests"]) and run(order["tests"], "<tests>", namespace)
    result = {
        "token": order["token"],
        "code_ended": code_ended,
        "tests_passed": tests_passed,
        "state": state,
        "not_kept": not_kept,
    }
    with open(RESULT_DESCRIPTOR, "w", encoding="utf-8") as file:
        json.dump(result, file)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
