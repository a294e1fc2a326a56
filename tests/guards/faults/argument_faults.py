"""Faults of build arguments and of lists in an image, each made again on this project in two shapes at least."""

from __future__ import annotations

from tests.guards.faults.cases import FaultCase

FILE = "docker/Dockerfile"
SGLANG = "if [[ -n ${SKIP_SGLANG_BUILD:-} ]]; then skipped+=(sglang); fi\n"
READ = 'read -ra skipped <<<"${SKIP_EXTRAS:-}"\n'
TRTLLM, RELEASE = "FROM deps AS trtllm\n", "FROM trtllm AS release\n"
VENVS = "    NEMO_RL_VENV_DIR=/opt/ray_venvs \\\n"

ARGUMENT, ENV, SKIP = "image-arg-in-scope", "image-env-set-once", "image-skip-known"

FAULTS = (
    FaultCase(
        "S18",
        "last-use-removed",
        ((FILE, SGLANG, ""),),
        ARGUMENT,
        FILE,
        "ARG SKIP_SGLANG_BUILD",
        "nothing reads the build argument SKIP_SGLANG_BUILD in the stage 'deps'",
    ),
    FaultCase(
        "S18",
        "last-use-in-a-comment",
        ((FILE, READ, "skipped=() # was: ${SKIP_EXTRAS}\n"),),
        ARGUMENT,
        FILE,
        "ARG SKIP_EXTRAS",
        "nothing reads the build argument SKIP_EXTRAS in the stage 'deps'",
    ),
    FaultCase(
        "S19",
        "declared-again",
        ((FILE, RELEASE, f"{RELEASE}ARG SKIP_VLLM_BUILD\n"),),
        ARGUMENT,
        FILE,
        f"{RELEASE}ARG SKIP_VLLM_BUILD".splitlines()[1] + "\nENV PATH",
        "nothing reads the build argument SKIP_VLLM_BUILD in the stage 'release'",
    ),
    FaultCase(
        "S19",
        "declared-again-with-a-default",
        ((FILE, TRTLLM, f'{TRTLLM}ARG SKIP_EXTRAS="" PIP_INDEX\n'),),
        ARGUMENT,
        FILE,
        'ARG SKIP_EXTRAS=""',
        "nothing reads the build argument SKIP_EXTRAS in the stage 'trtllm'",
    ),
    FaultCase(
        "S20",
        "set-again-in-a-stage-built-on-it",
        ((FILE, RELEASE, f"{RELEASE}ENV NEMO_RL_VENV_DIR=/opt/ray_venvs\n"),),
        ENV,
        FILE,
        "ENV NEMO_RL_VENV_DIR",
        "NEMO_RL_VENV_DIR is set again; it is set at docker/Dockerfile:13:5",
    ),
    FaultCase(
        "S20",
        "set-behind-the-command-that-reads-it",
        ((FILE, VENVS, ""), (FILE, RELEASE, f"{RELEASE}ENV NEMO_RL_VENV_DIR /opt/ray_venvs\n")),
        ENV,
        FILE,
        "ENV NEMO_RL_VENV_DIR",
        "NEMO_RL_VENV_DIR is set behind a RUN that reads it, at docker/install_dependencies.sh:",
    ),
    FaultCase(
        "F17",
        "two-loops",
        (
            (
                FILE,
                SGLANG,
                f"{SGLANG}for extra in mcore modelopt; do if [[ -n ${{SKIP_EXTRAS:-}} ]]; then skipped+=($extra); fi; done\n",
            ),
            (
                FILE,
                "ENV PATH=",
                "RUN set -e; for extra in mcore; do uv lock --extra $extra; done\nENV PATH=",
            ),
        ),
        SKIP,
        FILE,
        "RUN set -e; for extra in mcore",
        "this list of extras is a copy of the one at docker/Dockerfile:39:1, and lacks modelopt",
    ),
    FaultCase(
        "F17",
        "two-command-lines",
        (
            (
                FILE,
                "docker/install_dependencies.sh deps",
                "uv lock --extra mcore --extra modelopt --extra nvrx\ndocker/install_dependencies.sh deps",
            ),
            (
                FILE,
                "docker/install_dependencies.sh trtllm",
                "uv lock --extra=mcore --extra=modelopt\ndocker/install_dependencies.sh trtllm",
            ),
        ),
        SKIP,
        FILE,
        "uv lock --extra=mcore",
        "and lacks nvrx",
    ),
    FaultCase(
        "F18",
        "env-prefix",
        ((FILE, VENVS, VENVS.replace("NEMO_RL_", "NEMORL_")),),
        ARGUMENT,
        FILE,
        "NEMORL_VENV_DIR",
        "did you mean 'NEMO_RL_VENV_DIR'?",
    ),
    FaultCase(
        "F18",
        "env-other-prefix",
        ((FILE, VENVS, VENVS.replace("NEMO_RL_", "NRL_")),),
        ARGUMENT,
        FILE,
        "NRL_VENV_DIR",
        "did you mean 'NEMO_RL_VENV_DIR'?",
    ),
    FaultCase(
        "F18",
        "letters-swapped-where-it-is-read",
        ((FILE, "${SKIP_TRTLLM_BUILD:-}", "${SIKP_TRTLLM_BUILD:-}"),),
        ARGUMENT,
        FILE,
        "SIKP_TRTLLM_BUILD",
        "did you mean 'SKIP_TRTLLM_BUILD'?",
    ),
    FaultCase(
        "F18",
        "base-image",
        ((FILE, "FROM ${BASE_IMAGE} AS base", "FROM ${BASE_IMAG} AS base"),),
        ARGUMENT,
        FILE,
        "FROM ${BASE_IMAG} ",
        "did you mean 'BASE_IMAGE'?",
    ),
)
