"""What builds and runs images: a Docker engine where one answers, else the program that IMAGE_BUILDER names."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence

HOW_TO = (
    "no Docker engine answers, and IMAGE_BUILDER does not name a program that builds images without one:\n"
    "    make test-image IMAGE_BUILDER=PATH    (its commands: docs/docker.md, 'Without an engine')"
)


@dataclasses.dataclass(frozen=True)
class Engine:
    """One way to build and run images.

    Attributes:
        build_command: words before the options of a build.
        run_command: words before the tag and the command that run in a fresh container.
        base_image: base to build on; empty for the program's own.
    """

    build_command: Sequence[str]
    run_command: Sequence[str]
    base_image: str = ""

    def build(
        self, context: pathlib.Path, tag: str, arguments: Mapping[str, str], target: str = "release"
    ) -> subprocess.CompletedProcess[str]:
        """Build a stage of the context's Dockerfile; returns exit code and everything printed, as ``stdout``."""
        given = {**arguments, **({"BASE_IMAGE": self.base_image} if self.base_image else {})}
        options = [word for name, value in given.items() for word in ("--build-arg", f"{name}={value}")]
        file = str(context / "docker" / "Dockerfile")
        command = [*self.build_command, *options, "--target", target, "--file", file, "--tag", tag, str(context)]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, tag: str, script: str) -> subprocess.CompletedProcess[str]:
        """Run a bash script in a fresh container."""
        command = [*self.run_command, tag, "bash", "-euo", "pipefail", "-c", script]
        return subprocess.run(command, capture_output=True, text=True)


def docker_answers() -> bool:
    """Whether there is a Docker client and an engine behind it."""
    return (
        shutil.which("docker") is not None and subprocess.run(["docker", "info"], capture_output=True).returncode == 0
    )


def find_engine() -> Engine:
    """The engine at hand. Raises ``RuntimeError``, which says what to do, where there is none."""
    builder = os.environ.get("IMAGE_BUILDER")
    if builder:
        return Engine([builder, "build"], [builder, "run"])
    if docker_answers():
        return Engine(["docker", "buildx", "build", "--load"], ["docker", "run", "--rm"], "debian:trixie")
    raise RuntimeError(HOW_TO)
