"""Run a model's Python in a process of its own, within limits, and leave nothing behind."""

import dataclasses
import json
import secrets
import sys

from nemo_rl.environments import code_runner
from nemo_rl.utils.process_supervisor import Order
from nemo_rl.utils.supervised_process import run_supervised


@dataclasses.dataclass(frozen=True)
class CodeLimits:
    """What one run may use.

    Attributes:
        time: seconds of wall time.
        memory: bytes of address space of each process, and of resident memory of all together.
        output: bytes of standard output and of standard error, each.
        processes: at the same time.
        file_size: bytes of each file.
        state: bytes of what is kept for the next step, as base64.
    """

    time: float = 10.0
    memory: int = 2 * 2**30
    output: int = 2**16
    processes: int = 16
    file_size: int = 16 * 2**20
    state: int = 16 * 2**20

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if getattr(self, field.name) <= 0:
                raise ValueError(f"the limit {field.name} has to be positive, got {getattr(self, field.name)}")


@dataclasses.dataclass(frozen=True)
class CodeResult:
    """How a run ended.

    Attributes:
        reason: ``exited``, or the limit that ended it: ``time``, ``memory``, ``output`` (also a state that
            is too large) or ``processes``.
        code_ended: the code ran to its end, or to ``sys.exit(0)``, without an exception and within the limits.
        tests_passed: there were tests, and they too ran to their end without an exception.
        stdout: what it wrote, cut at the limit.
        stderr: the same.
        state: for the next run, opaque, where it was asked for and the code ended; else empty.
        not_kept: names of variables that the state cannot hold.
    """

    reason: str
    code_ended: bool
    tests_passed: bool
    stdout: str
    stderr: str
    state: str = ""
    not_kept: tuple[str, ...] = ()


def run_code(
    code: str, limits: CodeLimits, *, tests: str = "", state: str = "", keep_state: bool = False, isolated: bool = True
) -> CodeResult:
    """Run code, then tests in the same namespace, on this interpreter.

    It has an empty environment, an empty standard input and an empty working directory, which is removed. It sees the
    file system and the network as the caller does: limits protect from accidents, not from an attacker.

    Args:
        code: Python source.
        limits: what it may use; with tests included.
        tests: Python source; an exception, such as a failed ``assert``, is a failure.
        state: what an earlier run returned.
        keep_state: return the variables that the code leaves, before tests change them.
        isolated: try to use a PID namespace, see :mod:`nemo_rl.utils.process_supervisor`.
    """
    token = secrets.token_hex(16)
    order = Order(
        command=[sys.executable, "-I", "-B", code_runner.__file__],
        environment={},
        input=json.dumps({"code": code, "tests": tests, "state": state, "keep_state": keep_state, "token": token}),
        isolated=isolated,
        time_limit=limits.time,
        memory_limit=limits.memory,
        output_limit=limits.output,
        outcome_limit=limits.state,
        process_limit=limits.processes,
        file_size_limit=limits.file_size,
    )
    report = run_supervised(order)
    try:
        result = json.loads(report.outcome)
    except ValueError:
        result = {}
    if report.reason != "exited" or not isinstance(result, dict) or result.get("token") != token:
        return CodeResult(report.reason, False, False, report.stdout, report.stderr)
    return CodeResult(
        report.reason,
        result["code_ended"],
        result["tests_passed"],
        report.stdout,
        report.stderr,
        result["state"],
        tuple(result["not_kept"]),
    )
