"""Folders that appear at their name only when they are complete, also when several ranks write into them."""

import contextlib
import os
import pathlib
import shutil
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def published_folder(path: str, rank: int, barrier: Callable[[], None]) -> Iterator[pathlib.Path]:
    """A folder to write into, moved to ``path`` when every rank has left the block without an error.

    Args:
        path: where it appears; must not exist. Its parents are made.
        rank: of this process; rank 0 makes and moves the folder.
        barrier: waits for all ranks.

    Yields:
        The folder beside ``path`` that all ranks write into. After an error rank 0 removes it.

    Raises:
        FileExistsError: ``path`` exists; nothing of it is touched.
    """
    target = pathlib.Path(path)
    if target.exists():
        raise FileExistsError(f"{target} exists; weights are published under a new name each time, so choose another")
    partial = target.with_name(target.name + ".partial")
    if rank == 0:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
    barrier()
    try:
        yield partial
    except BaseException:
        if rank == 0:
            shutil.rmtree(partial, ignore_errors=True)
        raise
    barrier()
    if rank == 0:
        os.replace(partial, target)
    barrier()
