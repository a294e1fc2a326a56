"""Faults against the table's evidence and its launches, each made again on this project in two shapes."""

from __future__ import annotations

from tests.guards.faults.cases import FaultCase

LEAF = "nemo_rl/distributed/actor_environments.py"
FSDP = "nemo_rl/models/policy/workers/dtensor_policy_worker.py"
SGLANG = "nemo_rl/models/generation/sglang/sglang_worker.py"
REMOTE = "nemo_rl/experience/remote.py"
EXECUTABLES = "nemo_rl/distributed/py_executables.py"
VENVS = "nemo_rl/utils/venvs.py"
OWNER, BATCH = "nemo_rl/models/engine_owner.py", "nemo_rl/models/policy/token_batch.py"
MATH, GRADING = "nemo_rl/environments/math_environment.py", "nemo_rl/environments/math_grading.py"
VALUE_WORKER = "nemo_rl/models/value/workers/megatron_value_worker.py"
VALUE = '    "nemo_rl.models.value.workers.megatron_value_worker.MegatronValueWorker": ["mcore"],\n'
GYM = '    "nemo_rl.environments.nemo_gym.NemoGym": ["nemo_gym"],\n'
SGLANG_ENTRY = '"nemo_rl.models.generation.sglang.sglang_worker.SGLangGenerationWorker": '
FSDP_CONSTANT = '    FSDP = py_executable_for(["fsdp"])\n'
IMPORT_SGLANG = "from nemo_rl.models.generation.sglang.sglang_worker import SGLangGenerationWorker"


def in_function(code: str) -> str:
    """A function that nobody calls, to be appended to a file."""
    return "\n\ndef _added():\n" + "".join(f"    {line}\n" for line in code.split("\n"))


FAULTS = (
    FaultCase(
        "S9",
        "removed",
        ((LEAF, VALUE, ""),),
        "actor-registered",
        VALUE_WORKER,
        "class MegatronValueWorker(",
        "the Ray actor class MegatronValueWorker is not in the table",
    ),
    FaultCase(
        "S9",
        "commented-out",
        ((LEAF, GYM, f"    # {GYM.strip()}\n"),),
        "actor-registered",
        "nemo_rl/environments/nemo_gym.py",
        "class NemoGym(",
        "the Ray actor class NemoGym is not in the table",
        ("docs-name-real-things", "docs-quote-table", "extra-evidenced"),
    ),
    FaultCase(
        "S10",
        "constant-of-other-extras",
        ((EXECUTABLES, FSDP_CONSTANT, FSDP_CONSTANT.replace('"fsdp"]', '"fsdp", "nemo_gym"]')),),
        "executable-constant-used",
        EXECUTABLES,
        "    FSDP = ",
        "no actor has the extras of FSDP: fsdp, nemo_gym",
        ("executable-matches-extras",),
    ),
    FaultCase(
        "S10",
        "new-constant",
        (
            (
                EXECUTABLES,
                FSDP_CONSTANT,
                f'{FSDP_CONSTANT}    FSDP_MODELOPT = py_executable_for(("modelopt", "fsdp"))\n',
            ),
        ),
        "executable-constant-used",
        EXECUTABLES,
        "FSDP_MODELOPT",
        "no actor has the extras of FSDP_MODELOPT: modelopt, fsdp",
    ),
    FaultCase(
        "F1",
        "import",
        ((FSDP, "", in_function("import vllm")),),
        "import-provided",
        FSDP,
        "import vllm",
        "DTensorPolicyWorker imports vllm, of the distribution vllm, which the extras fsdp do not bring",
    ),
    FaultCase(
        "F1",
        "from",
        ((FSDP, "", in_function("with open('x'):\n    from vllm.config import ModelConfig")),),
        "import-provided",
        FSDP,
        "from vllm.config",
        "add the extra 'vllm' to the entry",
    ),
    FaultCase(
        "F2",
        "assigned",
        ((VENVS, "", in_function('ACTOR_ENVIRONMENT_REGISTRY["nemo_rl.x.Y"] = "python"')),),
        "actor-registered",
        VENVS,
        '["nemo_rl.x.Y"]',
        "ACTOR_ENVIRONMENT_REGISTRY is changed outside",
    ),
    FaultCase(
        "F2",
        "updated",
        (
            (
                VENVS,
                "",
                in_function(
                    "from nemo_rl.distributed import ray_actor_environment_registry as r\nr.ACTOR_ENVIRONMENT_REGISTRY.update({})"
                ),
            ),
        ),
        "actor-registered",
        VENVS,
        ".update({})",
        "ACTOR_ENVIRONMENT_REGISTRY is changed outside",
    ),
    FaultCase(
        "F3",
        "bare",
        ((REMOTE, "", in_function(f"{IMPORT_SGLANG}\nreturn SGLangGenerationWorker.remote()")),),
        "actor-launched-by-registry",
        REMOTE,
        "SGLangGenerationWorker.remote()",
        "is launched without the registry, on the driver's interpreter",
    ),
    FaultCase(
        "F3",
        "under-another-name",
        (
            (
                REMOTE,
                "",
                in_function(
                    f"{IMPORT_SGLANG} as Worker\nreturn Worker.options(num_gpus=1, runtime_env={{'env_vars': {{}}}}).remote()"
                ),
            ),
        ),
        "actor-launched-by-registry",
        REMOTE,
        "Worker.options(num_gpus",
        "is launched without the registry, on the driver's interpreter",
    ),
    FaultCase(
        "F4",
        "try",
        ((SGLANG, "", "try:\n    import tensorrt_llm\nexcept ImportError:\n    pass\n"),),
        "guarded-import-provided",
        SGLANG,
        "import tensorrt_llm",
        "no actor that reaches this import of tensorrt_llm has tensorrt-llm",
    ),
    FaultCase(
        "F4",
        "suppress",
        (
            (
                SGLANG,
                "",
                in_function(
                    "import contextlib\nwith contextlib.suppress(ImportError):\n    from tensorrt_llm import LLM"
                ),
            ),
        ),
        "guarded-import-provided",
        SGLANG,
        "from tensorrt_llm",
        "no actor that reaches this import of tensorrt_llm.LLM has tensorrt-llm",
    ),
    FaultCase(
        "F5",
        "at-the-top-of-a-helper",
        ((OWNER, "", "import vllm\n"),),
        "import-provided",
        OWNER,
        "import vllm\n",
        "SGLangGenerationWorker imports vllm",
    ),
    FaultCase(
        "F5",
        "through-another-helper",
        (
            (BATCH, "", "from .sampling import limits\n"),
            ("nemo_rl/models/policy/sampling.py", "", "if True:\n    from sglang.srt import limits\n"),
        ),
        "import-provided",
        "nemo_rl/models/policy/sampling.py",
        "from sglang",
        "DTensorPolicyWorker imports sglang",
    ),
    FaultCase(
        "F6",
        "import",
        ((MATH, "", "import pytest\n"),),
        "import-provided",
        MATH,
        "import pytest",
        "MathEnvironment imports pytest",
    ),
    FaultCase(
        "F6",
        "raising",
        ((GRADING, "", "try:\n    from pytest import raises\nexcept ImportError:\n    raise\n"),),
        "import-provided",
        GRADING,
        "from pytest",
        "MathEnvironment imports pytest",
    ),
    FaultCase(
        "F12",
        "in-the-class",
        ((EXECUTABLES, FSDP_CONSTANT, f"{FSDP_CONSTANT}{FSDP_CONSTANT.rstrip()}  # the second one\n"),),
        "executable-constant-used",
        EXECUTABLES,
        "# the second one",
        "FSDP is defined a second time",
    ),
    FaultCase(
        "F12",
        "on-the-class",
        ((EXECUTABLES, "", "\n\nPY_EXECUTABLES.FSDP = py_executable_for(None)\n"),),
        "executable-constant-used",
        EXECUTABLES,
        "PY_EXECUTABLES.FSDP = ",
        "FSDP is defined a second time",
        ("executable-matches-extras",),
    ),
    FaultCase(
        "F14",
        "constant",
        ((FSDP, "= PY_EXECUTABLES.FSDP", "= PY_EXECUTABLES.MCORE"),),
        "executable-matches-extras",
        FSDP,
        "= PY_EXECUTABLES.MCORE",
        "write PY_EXECUTABLES.FSDP",
    ),
    FaultCase(
        "F14",
        "string",
        ((FSDP, "= PY_EXECUTABLES.FSDP", '= "uv run python"'),),
        "executable-matches-extras",
        FSDP,
        '= "uv run python"',
        "write PY_EXECUTABLES.FSDP",
    ),
)
