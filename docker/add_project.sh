#!/usr/bin/env bash
# Installs the project into the driver's environment and into every environment in a list, and writes the wrapper scripts.
#
#   add_project.sh LIST LINK_MODE
#
# LIST is what actor_environments.py printed. Each environment has the stamp of finished dependencies: without one, the
# prefetch would install everything anew, in the wrong layer.
set -euo pipefail
list=$1 link_mode=$2

UV_PROJECT_ENVIRONMENT=/opt/nemo_rl_venv uv sync --locked --no-default-groups \
  --link-mode "$link_mode" --python "$(command -v python3)"

mapfile -t rows <"$list"
actors=("${rows[@]%%$'\t'*}")
for actor in "${actors[@]}"; do
  python nemo_rl/utils/environment_stamp.py show "$NEMO_RL_VENV_DIR/$actor" >/dev/null
done
python -m nemo_rl.utils.prefetch_venvs "${actors[@]}"
