"""Faults of documentation that happened in systems of this kind, each made again on this project in two shapes."""

from __future__ import annotations

from tests.guards.faults.cases import FaultCase

LEAF = "nemo_rl/distributed/actor_environments.py"
ENVIRONMENTS, DEPENDENCIES, DOCKER, ENGINES = (
    f"docs/{page}.md" for page in ("environments", "dependency-management", "docker", "engines")
)
SCRIPT = "tools/generate_fingerprint.py"
GYM = '"nemo_rl.environments.nemo_gym.NemoGym": ["nemo_gym"]'
ROW = "nemo_rl.environments.nemo_gym.NemoGym deps --extra nemo_gym --extra vllm"
TABLE = "| actor | extras |\n|---|---|\n| `NemoGym` | `nemo_gym`, `vllm` |"

FAULTS = (
    FaultCase(
        "S21",
        "entry-in-a-block",
        ((DEPENDENCIES, GYM, GYM.replace('["nemo_gym"]', '["vllm", "nemo_gym"]')),),
        "docs-quote-table",
        DEPENDENCIES,
        '["vllm", "nemo_gym"]',
        'quotes NemoGym with ["vllm", "nemo_gym"], the table has ["nemo_gym"]',
    ),
    FaultCase(
        "S21",
        "row-of-the-script",
        ((DOCKER, "An actor that was left out is built", f"{ROW}\n\nAn actor that was left out is built"),),
        "docs-quote-table",
        DOCKER,
        ROW,
        "quotes NemoGym with deps --extra nemo_gym --extra vllm, the table has deps --extra nemo_gym",
    ),
    FaultCase(
        "S21",
        "column-of-extras",
        ((DOCKER, "An actor that was left out is built", f"{TABLE}\n\nAn actor that was left out is built"),),
        "docs-quote-table",
        DOCKER,
        "| `NemoGym` | `nemo_gym`, `vllm` |",
        "quotes NemoGym with nemo_gym vllm, the table has nemo_gym",
    ),
    FaultCase(
        "S22",
        "item-missing",
        ((DEPENDENCIES, f"- `{LEAF}`\n", ""),),
        "fingerprint-documented",
        DEPENDENCIES,
        "- `uv.lock`",
        f"lacks '{LEAF}'",
    ),
    FaultCase(
        "S22",
        "new-key",
        ((SCRIPT, '"uv.lock", LEAF)', '"uv.lock", LEAF, "README.md")'),),
        "fingerprint-documented",
        DEPENDENCIES,
        f"- `{LEAF}`",
        "lacks 'README.md'",
    ),
    FaultCase(
        "S22",
        "in-a-table",
        (
            (
                DEPENDENCIES,
                f"- `pyproject.toml`\n- `uv.lock`\n- `{LEAF}`\n",
                f"| key | of |\n|---|---|\n| `pyproject.toml` | all |\n| `{LEAF}` | actors |\n",
            ),
        ),
        "fingerprint-documented",
        DEPENDENCIES,
        f"| `{LEAF}` |",
        "lacks 'uv.lock'",
    ),
    FaultCase(
        "F15",
        "class-that-is-gone",
        ((ENGINES, "| `NemoGym` | the servers", "| `NemoGymWorker` | the servers"),),
        "docs-name-real-things",
        ENGINES,
        "`NemoGymWorker`",
        "no class NemoGymWorker is in the project",
    ),
    FaultCase(
        "F15",
        "class-renamed-in-the-code",
        (("nemo_rl/data/energon/sft_worker.py", "class SFTMegatronPolicyWorker(", "class FineTuning("),),
        "docs-name-real-things",
        ENGINES,
        "`SFTMegatronPolicyWorker`",
        "no class SFTMegatronPolicyWorker is in the project",
        ("actor-resolves", "actor-registered"),
    ),
    FaultCase(
        "F15",
        "module-in-a-command",
        (
            (
                DEPENDENCIES,
                "ahead of time | `python -m nemo_rl.utils.prefetch_venvs` |",
                "ahead of time | `python -m nemo_rl.utils.prefetch` |",
            ),
        ),
        "docs-name-real-things",
        DEPENDENCIES,
        "ahead of time",
        "did you mean 'nemo_rl.utils.prefetch_venvs'?",
    ),
    FaultCase(
        "F15",
        "module-by-path",
        ((DEPENDENCIES, "`nemo_rl/distributed/worker_groups.py`", "`nemo_rl/distributed/worker_group.py`"),),
        "docs-name-real-things",
        DEPENDENCIES,
        "worker_group.py",
        "did you mean 'nemo_rl/distributed/worker_groups.py'?",
    ),
    FaultCase(
        "F15",
        "script-of-no-actor",
        ((DOCKER, "python-NemoGym -c", "python-NeMoGym -c"),),
        "docs-name-real-things",
        DOCKER,
        "python-NeMoGym",
        "did you mean 'python-NemoGym'?",
    ),
    FaultCase(
        "F15",
        "script-of-an-actor-without-environment",
        ((ENVIRONMENTS, "python-NemoGym", "python-MathEnvironment"),),
        "docs-name-real-things",
        ENVIRONMENTS,
        "python-MathEnvironment",
        "MathEnvironment runs on the driver's interpreter",
    ),
)
