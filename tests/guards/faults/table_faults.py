"""Faults of the table and its readers that happened in systems of this kind, each made again on this project."""

from __future__ import annotations

from tests.guards.faults.cases import FaultCase

LEAF = "nemo_rl/distributed/actor_environments.py"
REGISTRY = "nemo_rl/distributed/ray_actor_environment_registry.py"
FINGERPRINT = "tools/generate_fingerprint.py"
VALUE_WORKER = "nemo_rl/models/value/workers/megatron_value_worker.py"
SFT_WORKER = "nemo_rl/data/energon/sft_worker.py"
VALUE = '"nemo_rl.models.value.workers.megatron_value_worker.MegatronValueWorker": '
GYM = '"nemo_rl.environments.nemo_gym.NemoGym": '
TWIN = '"nemo_rl.data.energon.sft_worker.MegatronValueWorker": '
BUILT = "name: py_executable_for(extras) for"
FRESH = "f\"uv run --locked {' '.join('--extra ' + extra for extra in extras)} --directory {PROJECT_ROOT}\""
FLAG = "NEMO_RL_PY_EXECUTABLES_SYSTEM=1"
FILTER = "left_out.isdisjoint(extras)"
FIRST_LINE = '"""Which interpreter starts which Ray ac'


def in_table(number: str, shape: str, key: str, old: str, new: str, guard: str, words: str, *besides: str) -> FaultCase:
    """A fault that changes the extras of one entry, reported at that entry's line."""
    return FaultCase(number, shape, ((LEAF, key + old, key + new),), guard, LEAF, key + new, words, besides)


FAULTS = (
    in_table("S1", "misspelt", VALUE, '["mcore"]', '["mcore2"]', "extra-declared", "did you mean 'mcore'"),
    in_table(
        "S1",
        "other-spelling",
        GYM,
        '["nemo_gym"]',
        '["nemo-gym"]',
        "extra-declared",
        "write 'nemo_gym'",
        "docs-quote-table",
    ),
    FaultCase(
        "S2",
        "first-extra-only",
        ((LEAF, '" ".join("--extra " + extra for extra in extras)', '"--extra " + extras[0]'),),
        "script-mirrors-registry",
        LEAF,
        "def main(",
        "prints `deps --extra vllm` instead of `deps --extra vllm --extra nemo_gym`",
    ),
    FaultCase(
        "S3",
        "one-stage",
        ((LEAF, 'return TRTLLM_STAGE if "trtllm" in extras else DEPS_STAGE', "return DEPS_STAGE"),),
        "script-mirrors-registry",
        LEAF,
        "def main(",
        "instead of `trtllm --extra trtllm`",
        ("script-stages-partition",),
    ),
    FaultCase(
        "S4",
        "hashes-the-lock",
        (
            (
                FINGERPRINT,
                "file_value(root / path) for path in COVERED_FILES",
                'file_value(root / ("uv.lock" if path == LEAF else path)) for path in COVERED_FILES',
            ),
        ),
        "fingerprint-covers-file",
        FINGERPRINT,
        "def fingerprint(",
        f"the entry {LEAF} is not the hash of that file",
    ),
    FaultCase(
        "S5",
        "exits-with-0",
        ((LEAF, "    if wrong:\n        return 2\n", "    if wrong:\n        return 0\n"),),
        "script-rejects-unknown-argument",
        LEAF,
        "def main(",
        "`no-such-stage` exits with 0, not with 2",
    ),
    FaultCase(
        "S6",
        "not-looked-at",
        ((LEAF, '("extra", skipped, known_extras())', '("extra", [], known_extras())'),),
        "script-rejects-unknown-argument",
        LEAF,
        "def main(",
        "`all no-such-extra` exits with 0",
    ),
    FaultCase(
        "S7",
        "not-called",
        ((REGISTRY, "\nreject_undeclared_extras(", "\n_ = (lambda *_: None)("),),
        "registry-rejects-undeclared-extra",
        REGISTRY,
        FIRST_LINE,
        "accepts an extra that pyproject.toml does not declare",
    ),
    FaultCase(
        "S8",
        "extra-in-the-name",
        ((LEAF, FILTER, "not any(extra in name for extra in left_out)"),),
        "script-skips-by-extra",
        LEAF,
        "def main(",
        "`all vllm` still prints nemo_rl.algorithms.async_utils.AsyncTrajectoryCollector",
    ),
    FaultCase(
        "S11",
        "not-covered",
        ((FINGERPRINT, '"uv.lock", LEAF)', '"uv.lock")'),),
        "fingerprint-covers-file",
        FINGERPRINT,
        "def fingerprint(",
        f"the fingerprint has no key {LEAF}",
        ("fingerprint-documented",),
    ),
    FaultCase(
        "S12",
        "at-the-top",
        ((LEAF, "import sys\n", "import sys\nimport nemo_rl\n"),),
        "leaf-stdlib-only",
        LEAF,
        "import nemo_rl\n",
        "imports its own package 'nemo_rl'",
        ("leaf-runs-alone",),
    ),
    FaultCase(
        "S13",
        "in-a-function",
        ((LEAF, "    left_out = set(skipped)\n", "    import packaging\n\n    left_out = set(skipped)\n"),),
        "leaf-stdlib-only",
        LEAF,
        "import packaging",
        "imports a third-party module 'packaging'",
        ("leaf-runs-alone",),
    ),
    FaultCase(
        "S14",
        "renamed",
        ((VALUE_WORKER, "class MegatronValueWorker(", "class MegatronValueActor("),),
        "actor-resolves",
        LEAF,
        VALUE,
        "defines no class MegatronValueWorker",
        ("actor-registered", "docs-name-real-things"),
    ),
    FaultCase(
        "S16",
        "other-rule-in-the-script",
        ((LEAF, FILTER, "(left_out.isdisjoint(extras) or 'sglang' in left_out)"),),
        "script-skips-by-extra",
        LEAF,
        "def main(",
        "`all sglang` still prints nemo_rl.models.generation.sglang.sglang_worker.SGLangGenerationWorker",
    ),
    in_table("S23", "tuple", VALUE, '["mcore"]', '("mcore",)', "leaf-table-literal", "is a tuple"),
    FaultCase(
        "S24",
        "built-fresh",
        ((REGISTRY, BUILT, f"name: {FRESH} if extras else py_executable_for(extras) for"),),
        "system-flag-honoured",
        REGISTRY,
        "ACTOR_ENVIRONMENT_REGISTRY: ",
        f"ignores {FLAG}",
    ),
    FaultCase(
        "F9",
        "seven-entries",
        ((REGISTRY, BUILT, f'name: {FRESH} if extras and extras[0] == "vllm" else py_executable_for(extras) for'),),
        "system-flag-honoured",
        REGISTRY,
        "ACTOR_ENVIRONMENT_REGISTRY: ",
        f"ignores {FLAG}",
    ),
    in_table("S25", "misspelt", VALUE, '["mcore"]', '["nosuch"]', "extra-declared", "does not declare"),
    FaultCase(
        "F13",
        "same-value",
        ((LEAF, f'{GYM}["nemo_gym"]', f'{GYM}["nemo_gym"],\n    {GYM}  ["nemo_gym"]'),),
        "leaf-table-literal",
        LEAF,
        f"{GYM}  [",
        "nemo_rl.environments.nemo_gym.NemoGym is written twice; the first one, at line",
    ),
    FaultCase(
        "F16",
        "same-class-name",
        (
            (LEAF, f'{GYM}["nemo_gym"]', f'{GYM}["nemo_gym"],\n    {TWIN}["mcore"]'),
            (SFT_WORKER, "", "\n\n@ray.remote\nclass MegatronValueWorker:\n    pass\n"),
        ),
        "actor-name-unique",
        LEAF,
        TWIN,
        "has the class name of nemo_rl.models.value.workers.megatron_value_worker.MegatronValueWorker, at line",
    ),
    in_table(
        "F21",
        "two-of-a-set",
        GYM,
        '["nemo_gym"]',
        '["nemo_gym", "trtllm"]',
        "extra-compatible",
        "which conflict",
        "docs-quote-table",
        "executable-constant-used",
        "executable-matches-extras",
        "extra-evidenced",
    ),
)
