"""Memory in huge pages: what counts as memory of the process itself, and that moving it changes nothing in it."""

from __future__ import annotations

import ctypes
import mmap
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_actor_envs.gate.huge_pages import COLLAPSE, SIZE, gather_memory, whole_pages

SMAPS = Path("/proc/self/smaps_rollup")
SCRIPT = """
import os, re
from pathlib import Path
from pytest_actor_envs.gate.huge_pages import gather_memory

def huge():
    return int(re.search(r"AnonHugePages: +(\\d+) kB", Path("/proc/self/smaps_rollup").read_text())[1])

numbers = [str(number) for number in range(400_000)]
before, moved = huge(), gather_memory()
print(moved, huge() - before)
child = os.fork()
if child == 0:
    numbers.append("more")
    os._exit(0 if [int(number) for number in numbers[:-1]] == list(range(400_000)) else 1)
assert os.waitpid(child, 0)[1] == 0
assert numbers == [str(number) for number in range(400_000)]
"""


@pytest.mark.skipif(not SMAPS.exists(), reason="this system does not say what pages memory is in")
def test_memory_is_moved_and_stays_what_it_is_in_a_fork_as_well() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    moved, kilobytes = map(int, done.stdout.split())
    if moved == 0:
        pytest.skip("this system has no huge pages")
    assert kilobytes > 2048


def test_a_system_without_maps_has_nothing_to_move(tmp_path: Path) -> None:
    assert gather_memory(tmp_path / "maps") == 0


@pytest.mark.parametrize(
    ("line", "addresses"),
    [
        ("00201000-00801000 rw-p 00000000 00:00 0 ", [0x400000, 0x600000]),
        ("00200000-00600000 rw-p 00000000 00:00 0                          [heap]", [0x200000, 0x400000]),
        ("00200000-00a00000 r--p 00000000 00:00 0 ", []),
        ("00200000-00a00000 rw-s 00000000 00:00 0 ", []),
        ("00200000-00a00000 rw-p 00000000 fe:00 260368                     /lib/libc.so.6", []),
        ("00200000-00a00000 rw-p 00000000 00:00 0                          [stack]", []),
        ("00200000-003ff000 rw-p 00000000 00:00 0 ", []),
        ("00201000-005ff000 rw-p 00000000 00:00 0 ", []),
    ],
)
def test_whole_huge_pages_of_memory_that_is_its_own(line: str, addresses: list[int]) -> None:
    assert list(whole_pages(f"{line}\n")) == addresses


def test_as_many_pages_as_were_moved_are_counted(tmp_path: Path) -> None:
    """On a system that has none, and of memory that is not there, that is 0."""
    maps = tmp_path / "maps"
    with mmap.mmap(-1, 8 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory[:] = b"x" * (8 << 20)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        line = f"{address:x}-{address + (8 << 20):x} rw-p 00000000 00:00 0 \n"
        first, *others = whole_pages(line)
        refused = ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(SIZE), COLLAPSE)
        maps.write_text(line, encoding="ascii")
        assert gather_memory(maps) == (0 if refused else 1 + len(others))
        assert memory[:] == b"x" * (8 << 20)
    maps.write_text("00000000-00800000 rw-p 00000000 00:00 0 \n", encoding="ascii")
    assert gather_memory(maps) == 0
