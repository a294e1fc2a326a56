#!/usr/bin/env bash
# Prints the path of the TensorRT-LLM wheel of the locked version, which it makes where it is missing.
#
#   trtllm_wheel.sh LIST
#
# Does nothing where no environment in LIST is of the stage trtllm. The index has a source distribution alone, which
# fetches the real wheel from somewhere else; PIP_FIND_LINKS or PIP_EXTRA_INDEX_URL name a better place.
# With TRTLLM_REQUIRE_CACHED_WHEEL=1 a missing wheel is an error, at once, in place of a build that nobody expects.
set -euo pipefail
list=$1
folder=/opt/trtllm_wheels

# In two steps: as the condition of an if, an unreadable list would be one without TensorRT-LLM.
stages=$(cut -f 2 "$list")
if ! grep -qx trtllm <<<"$stages"; then exit 0; fi

requirement=$(uv export --quiet --locked --no-default-groups --no-emit-project --no-hashes --no-annotate --no-header \
  --extra trtllm | sed -n 's/^\(tensorrt-llm==[^ ;]*\).*/\1/p')
if [[ -z $requirement ]]; then
  echo "uv.lock has no tensorrt-llm, which the extra trtllm needs" >&2
  exit 1
fi

find_wheel() {
  find "$folder" -name "tensorrt_llm-${requirement#*==}[-+]*.whl" 2>/dev/null | sort | tail -n 1
}

wheel=$(find_wheel || true)
if [[ -z $wheel ]]; then
  if [[ ${TRTLLM_REQUIRE_CACHED_WHEEL:-0} == 1 ]]; then
    echo "$folder has no wheel of $requirement; the stage trtllm makes it, before this step" >&2
    exit 1
  fi
  /opt/uv/bin/python -m pip wheel --no-cache-dir --no-deps --wheel-dir "$folder" "$requirement" >&2
  wheel=$(find_wheel)
fi
echo "$wheel"
