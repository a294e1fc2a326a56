"""The images that a project configures: each Dockerfile read once, and what it carries out, shared with overlays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pytest_actor_envs.model import Blocked, Location
from pytest_actor_envs.sources.answers import Read
from pytest_actor_envs.sources.dockerfile import Dockerfile, DockerfileError
from pytest_actor_envs.sources.dockerfile_parser import read_dockerfile
from pytest_actor_envs.sources.image import CarriedOut, Image
from pytest_actor_envs.sources.memory import Memory
from pytest_actor_envs.sources.tree import Tree

Answer = TypeVar("Answer")


class Images:
    """The images over one state of a project's files; `memory` keeps what is found in a text alone.

    `base` has the images of the state below an overlay: those that the overlay cannot touch are the same here.
    """

    def __init__(self, tree: Tree, memory: Memory, base: Images | None = None) -> None:
        self._tree = tree
        self._memory = memory
        of_base = {} if base is None else base._images
        self._images: dict[str, Image] = {
            path: image for path, image in of_base.items() if tree.answers.keeps(_reads(image))
        }
        self._base_images: dict[str, Image] = {} if base is None else base._base_images or base._images

    def dockerfile(self, path: str) -> Dockerfile:
        """A configured Dockerfile. Raises Blocked where it cannot be read: image-copies-before-run says why."""
        found = self.dockerfile_or_error(path)
        if isinstance(found, DockerfileError):
            raise Blocked("image-copies-before-run")
        return found

    def dockerfile_or_error(self, path: str) -> Dockerfile | DockerfileError:
        """A configured Dockerfile, or what keeps it from being read."""
        content = self._tree.read_bytes(path)

        def answer() -> Dockerfile | DockerfileError:
            try:
                base = self._base_images.get(path)
                known = {item: item for _, item in base.dockerfile.instructions()} if base else {}
                return read_dockerfile(path, content.decode("utf-8"), known)
            except UnicodeDecodeError as error:
                line = content[: error.start].count(b"\n") + 1
                return DockerfileError(f"not UTF-8: {error.reason}", Location(path, line))
            except DockerfileError as error:
                return error

        return self._memory.of(("dockerfile", path, content), answer)

    def image(self, path: str) -> Image:
        """What a configured Dockerfile carries out. Raises Blocked as `dockerfile` does."""
        if path not in self._images:
            image = Image(self.dockerfile(path), self._tree, self._base_images.get(path))
            # All that it reads is read now, since overlays share it by what it has read.
            for stage in image.dockerfile.stages:
                image.own_runs(stage)
            self._images[path] = image
        self._tree.answers.note_all(_reads(self._images[path]))
        return self._images[path]

    def of_run(self, read: Callable[[CarriedOut], Answer], run: CarriedOut) -> Answer:
        """What `read(run)` finds in what a RUN does, computed once for all images that share it."""
        return self._memory.of((read, run), lambda: read(run))


def _reads(image: Image) -> frozenset[Read]:
    """What a Dockerfile's reading was made from; of Python's files, only whether they are there."""
    files: list[Read] = [("exists" if path.endswith(".py") else "bytes", path) for path in image.read]
    return frozenset([("files",), *files])
