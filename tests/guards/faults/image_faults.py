"""Faults of image builds that happened in systems of this kind, each made again on this project in two shapes."""

from __future__ import annotations

from tests.guards.faults.cases import FaultCase

FILE, INSTALL, ADD = "docker/Dockerfile", "docker/install_dependencies.sh", "docker/add_project.sh"
LEAF, STAMP = "nemo_rl/distributed/actor_environments.py", "nemo_rl/utils/environment_stamp.py"
LIST = "/opt/actor_environments.tsv"
MADE = f'python3 {LEAF} all "${{skipped[@]}}" > {LIST}\nif [[ ! -s {LIST} ]]; then\n'
MAPPED = 'mapfile -t rows <"$list"\n'
LOOP = 'for actor in "${actors[@]}"; do\n'
PROJECT = "docker/add_project.sh /opt/actor_environments.tsv hardlink\n"

FAULTS = (
    FaultCase(
        "S15",
        "where-the-list-is-made",
        (
            (
                FILE,
                MADE,
                f'mapfile -t rows < <(python3 {LEAF} all "${{skipped[@]}}")\nif [[ ${{#rows[@]}} -eq 0 ]]; then\n',
            ),
        ),
        "image-list-checked",
        FILE,
        "mapfile -t rows < <(",
        "goes through a process substitution, whose failure nobody notices",
    ),
    FaultCase(
        "S15",
        "in-a-script",
        ((ADD, MAPPED, f'while read -r row; do rows+=("$row"); done < <(python3 {LEAF} all)\n'),),
        "image-list-checked",
        ADD,
        "done < <(",
        "goes through a process substitution, whose failure nobody notices",
    ),
    FaultCase(
        "S16",
        "names-in-a-loop",
        ((ADD, LOOP, f"{LOOP}  if [[ $actor == *vllm* ]]; then continue; fi\n"),),
        "image-list-checked",
        ADD,
        "*vllm*",
        f"leaves rows of {LIST} out; other passes do not",
    ),
    FaultCase(
        "S16",
        "grep",
        ((ADD, MAPPED, 'mapfile -t rows < <(grep -v "${SKIPPED_NAME:-vllm}" "$list")\n'),),
        "image-list-checked",
        ADD,
        "grep -v",
        f"leaves rows of {LIST} out; other passes do not",
    ),
    FaultCase(
        "S16",
        "argument-read-again",
        ((FILE, PROJECT, f"if [[ -z ${{SKIP_VLLM_BUILD:-}} ]]; then {PROJECT.strip()}; fi\n"),),
        "image-list-checked",
        FILE,
        "if [[ -z ${SKIP_VLLM_BUILD:-} ]]; then docker/",
        "SKIP_VLLM_BUILD decides again what is left out",
    ),
    FaultCase(
        "S26",
        "file-left-out",
        ((FILE, f"COPY {STAMP} nemo_rl/utils/\n", ""),),
        "image-copies-before-run",
        FILE,
        f"{INSTALL} deps {LIST}",
        f"runs {STAMP}, which no COPY put at /opt/nemo-rl/{STAMP} before",
    ),
    FaultCase(
        "S26",
        "one-more-file",
        ((INSTALL, MAPPED, f"{MAPPED}python3 tools/generate_fingerprint.py >/opt/built_from\n"),),
        "image-copies-before-run",
        FILE,
        f"{INSTALL} deps {LIST}",
        "runs tools/generate_fingerprint.py, which no COPY put at /opt/nemo-rl/tools/generate_fingerprint.py before",
    ),
)
