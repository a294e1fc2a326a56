"""A small project with a Dockerfile that every guard of images holds on, to be broken by one edit at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

DOCKERFILE = """\
FROM debian AS deps
WORKDIR /project
ARG SKIP
COPY sample/actor_environments.py sample/
RUN bash -euo pipefail <<"EOF"
python3 sample/actor_environments.py all ${SKIP:-} > /list
if [[ ! -s /list ]]; then exit 1; fi
EOF
COPY pyproject.toml ./
COPY docker/install.sh docker/
RUN docker/install.sh /list

FROM deps AS release
COPY . ./
RUN python3 tools/generate_fingerprint.py > /fingerprint
"""

INSTALL = """\
#!/usr/bin/env bash
set -euo pipefail
while IFS=$'\\t' read -r actor stage flags; do
  read -ra extras <<<"$flags"
  UV_PROJECT_ENVIRONMENT=/envs/$actor uv sync --locked --link-mode hardlink "${extras[@]}"
done < "$1"
"""

FILES = {"docker/Dockerfile": DOCKERFILE, "docker/install.sh": INSTALL}

Image = Callable[..., Any]


@pytest.fixture
def image(sample: Callable[..., Any]) -> Image:
    """`image({path: (old, new) or whole text or None})`: the sample project with an image, and these edits."""

    def made(edits: Mapping[str, tuple[str, str] | str | None] | None = None) -> Any:
        files: dict[str, Any] = dict(FILES)
        others: dict[str, Any] = {}
        for path, edit in (edits or {}).items():
            if path not in files:
                others[path] = edit
            elif isinstance(edit, tuple):
                old, new = edit
                assert old in files[path], f"{old!r} does not stand in {path}"
                files[path] = files[path].replace(old, new)
            else:
                files[path] = edit
        return sample({**files, **others})

    return made
