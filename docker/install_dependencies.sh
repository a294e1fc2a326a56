#!/usr/bin/env bash
# Installs the third-party packages of the driver and of every environment in a list, at the path where each stays.
#
#   install_dependencies.sh deps|trtllm LIST LINK_MODE
#
# LIST is what actor_environments.py printed: name, stage, uv's flags, separated by tabs. An environment that has its
# stamp is finished and left alone, so `trtllm` finds only those that `deps` left without the TensorRT-LLM wheel.
# Runs in the project's folder, which holds pyproject.toml, uv.lock, the stamp script and this folder.
# NEMO_RL_VENV_DIR and UV_CACHE_DIR are on one file system, and both in this layer of the image. The cache goes when all
# is done, since hard links and copies do without it; symlinks keep it.
set -euo pipefail
phase=$1 list=$2 link_mode=$3
python=$(command -v python3)
uv_version=$(uv --version)

if [[ ! -s uv.lock ]]; then
  echo "uv.lock is missing from the build context; it says what environments consist of. Write it with: make lock" >&2
  exit 1
fi

sync() { # ENVIRONMENT [FLAG...]
  UV_PROJECT_ENVIRONMENT=$1 uv sync --locked --no-default-groups --no-install-project \
    --link-mode "$link_mode" --python "$python" "${@:2}"
}

stamp() { # ENVIRONMENT [--extra E...]
  "$python" nemo_rl/utils/environment_stamp.py write "$1" --state dependencies \
    --lock uv.lock --python "$python" --uv "$uv_version" "${@:2}"
}

if [[ $phase == deps ]]; then sync /opt/nemo_rl_venv; fi

mapfile -t rows <"$list"
for row in "${rows[@]}"; do
  IFS=$'\t' read -r actor stage flags <<<"$row"
  environment=$NEMO_RL_VENV_DIR/$actor
  read -ra extras <<<"$flags"
  if "$python" nemo_rl/utils/environment_stamp.py show "$environment" >/dev/null 2>&1; then continue; fi
  echo "== $actor: $flags"
  if [[ $stage == trtllm ]]; then
    sync "$environment" "${extras[@]}" --no-install-package tensorrt-llm
    if [[ $phase != trtllm ]]; then continue; fi
    wheel=$(docker/trtllm_wheel.sh "$list")
    # By name and version: a wheel installed by its path is no locked package to uv, which would take it out again.
    version=$(basename "$wheel" | cut -d - -f 2)
    uv pip install --python "$environment/bin/python" --link-mode "$link_mode" \
      --no-deps --no-index --find-links "$(dirname "$wheel")" "tensorrt-llm==$version"
  else
    sync "$environment" "${extras[@]}"
  fi
  stamp "$environment" "${extras[@]}"
done

if [[ $link_mode != symlink ]]; then rm -rf "$UV_CACHE_DIR"; fi
