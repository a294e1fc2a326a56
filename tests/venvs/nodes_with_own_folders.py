"""Nodes of a Ray cluster on one machine that do not share a folder, as nodes without a shared file system.

A thread leaves the mount namespace of the process, mounts an empty file system of its own over the folder, and starts
the node's processes, which inherit what it sees. Needs the right to mount.
"""

import concurrent.futures
import ctypes
import os
import pathlib
from typing import Any

from ray.cluster_utils import Cluster

# linux/sched.h and linux/mount.h
CLONE_NEWNS = 0x00020000
MS_REC = 0x4000
MS_PRIVATE = 1 << 18

LIBC = ctypes.CDLL(None, use_errno=True)


def succeeded(result: int) -> None:
    """Raise ``OSError`` where a call of the C library failed."""
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def hide(folder: pathlib.Path, size: str) -> None:
    """Let the calling thread, and what it starts, see an empty file system of this size in the folder."""
    succeeded(LIBC.unshare(CLONE_NEWNS))
    succeeded(LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    succeeded(LIBC.mount(b"tmpfs", str(folder).encode(), b"tmpfs", 0, f"size={size}".encode()))


def can_hide(folder: pathlib.Path) -> bool:
    """Whether this process has the right to mount; the folder is only looked away from for a moment."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as own_thread:
        return not isinstance(own_thread.submit(hide, folder, "1m").exception(), OSError)


def add_node(cluster: Cluster, folder: pathlib.Path, size: str, **settings: Any) -> Any:
    """Add a node that has the folder for itself, at most ``size`` (like ``1g``) in it."""

    def start() -> Any:
        hide(folder, size)
        return cluster.add_node(**settings)

    folder.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as own_thread:
        return own_thread.submit(start).result()
