"""An environment that runs the Python of a response."""

import concurrent.futures
import dataclasses
from typing import NotRequired, TypedDict

import ray

from nemo_rl.environments.answer_tags import last_code
from nemo_rl.environments.code_sandbox import CodeLimits, CodeResult, run_code
from nemo_rl.environments.interfaces import (
    EnvironmentInterface,
    EnvironmentReturn,
    MessageLog,
    check_batch,
    last_response,
)


@dataclasses.dataclass(frozen=True)
class CodeEnvironmentConfig:
    """Configuration of :class:`CodeEnvironmentImpl`.

    Attributes:
        num_workers: pieces of code that run at the same time.
        limits: of each piece, tests included.
        keep_state: keep variables between the steps of an episode.
    """

    num_workers: int = 2
    limits: CodeLimits = dataclasses.field(default_factory=CodeLimits)
    keep_state: bool = False

    def __post_init__(self) -> None:
        if self.num_workers < 1:
            raise ValueError(f"num_workers has to be positive, got {self.num_workers}")


class CodeMetadata(TypedDict):
    """How to judge the code; at least one of ``tests`` and ``expected_output`` for a reward other than 0.

    ``tests`` is Python that runs after the code in its namespace and raises an exception on a failure.
    ``expected_output`` is what the code has to print, blanks at the end of lines and of the whole aside.
    ``state`` is the environment's own: what the episode's earlier steps left.
    """

    tests: NotRequired[str]
    expected_output: NotRequired[str]
    state: NotRequired[str]


class CodeEnvironmentImpl(EnvironmentInterface[CodeMetadata]):
    """Runs the last block of code of a response and rewards it with 1 when it passes, else with 0.

    The block is the last ``<code>`` tag, else the last fenced block; a response without one, or with one of more than
    100,000 characters, has reward 0. Code passes when it runs to its end within the limits, its tests pass and its
    output is the expected one, as far as there are tests and an expected output. The observation shows the output.

    Without ``keep_state`` an episode is one response. With it, it goes on until the code passes or a response has none;
    variables are kept, files and what cannot be pickled are not, and the observation names the latter. Code that fails
    or passes a limit leaves the state as it was.
    """

    def __init__(self, cfg: CodeEnvironmentConfig | None = None) -> None:
        self.cfg = cfg or CodeEnvironmentConfig()
        self._threads = concurrent.futures.ThreadPoolExecutor(self.cfg.num_workers)

    def step(
        self, message_log_batch: list[MessageLog], metadata: list[CodeMetadata]
    ) -> EnvironmentReturn[CodeMetadata]:
        """See :meth:`EnvironmentInterface.step`; ``answers`` are the blocks of code."""
        check_batch(message_log_batch, metadata)
        blocks = [last_code(last_response(log)) for log in message_log_batch]
        results = list(self._threads.map(self._run, blocks, metadata))
        rewards = [float(_passes(result, item)) for result, item in zip(results, metadata, strict=True)]
        ended = [
            not self.cfg.keep_state or reward == 1.0 or result is None
            for reward, result in zip(rewards, results, strict=True)
        ]
        return EnvironmentReturn(
            observations=[{"role": "environment", "content": self._observation(result)} for result in results],
            metadata=[
                None if end else _with_state(item, result)
                for end, item, result in zip(ended, metadata, results, strict=True)
            ],
            rewards=rewards,
            terminateds=ended,
            next_stop_strings=[None] * len(blocks),
            answers=blocks,
        )

    def shutdown(self) -> None:
        """Wait for the code that runs, which its limits end soon."""
        self._threads.shutdown()

    def _run(self, code: str | None, item: CodeMetadata) -> CodeResult | None:
        if code is None:
            return None
        return run_code(
            code,
            self.cfg.limits,
            tests=item.get("tests", ""),
            state=item.get("state", "") if self.cfg.keep_state else "",
            keep_state=self.cfg.keep_state,
        )

    def _observation(self, result: CodeResult | None) -> str:
        if result is None:
            return "Environment: no code found; write it between <code> and </code>"
        text = f"<result>\n{result.stdout}{result.stderr}\n</result>"
        if result.reason != "exited":
            text += f"\nEnvironment: ended by its limit of {result.reason}"
        if result.not_kept:
            text += f"\nEnvironment: not kept for the next step: {', '.join(sorted(result.not_kept))}"
        return text


def _passes(result: CodeResult | None, item: CodeMetadata) -> bool:
    if result is None or not result.code_ended:
        return False
    tests, expected = item.get("tests"), item.get("expected_output")
    if not tests and expected is None:
        return False
    return (not tests or result.tests_passed) and (expected is None or _lines(result.stdout) == _lines(expected))


def _lines(output: str) -> list[str]:
    return [line.rstrip() for line in output.rstrip().split("\n")]


def _with_state(item: CodeMetadata, result: CodeResult | None) -> CodeMetadata:
    return {**item, "state": result.state} if result is not None and result.state and result.code_ended else item


@ray.remote
class CodeEnvironment(CodeEnvironmentImpl):
    """:class:`CodeEnvironmentImpl` as a Ray actor."""
