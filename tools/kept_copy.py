"""The copy of the project that `make gate-full` keeps, so that what one run found need not be found again.

mutmut's own folder in it, `mutants/`, holds each verdict from the moment that it is known. Those that hold in a later
state of the project (kept_state.py says which) are taken over; with another interpreter, or other versions of what is
installed, it begins anew.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from pathlib import Path

from pytest_actor_envs.gate.kept_session import STATISTICS
from pytest_actor_envs.gate.kill_recorder import KILLS_FILE
from pytest_actor_envs.gate.mutmut_process import MutmutFailed, left_out, run_to_end
from pytest_actor_envs.gate.mutmut_results import read_results, status_noted
from pytest_actor_envs.gate.store import versions
from pytest_actor_envs.sources.kept_files import write_into_place
from tools.kept_state import Asking, State, lasting, read_state, write_state

STATE = "state.json"
GENERATOR = str(Path(__file__).with_name("generate_mutants.py"))
"""Started as a file of its own, since mutmut reads its configuration from the folder that it is imported in."""


class CopyInUse(Exception):
    """Another run works in the copy; the argument says what to do."""


class FolderInProject(Exception):
    """The copy would be part of the project that is copied; the argument says what to do."""


@contextlib.contextmanager
def kept_copy(
    root: Path, folder: Path, changed: Callable[[str, bytes], bytes], asking: Asking
) -> Generator[Path, None, None]:
    """Brings the copy in `folder` to the state of the project at `root`, its mutants made, and holds it for this run.

    `changed(path, content)` is what a file has in the copy, `asking` how mutants will be asked. Raises
    FolderInProject, CopyInUse, MutmutFailed.
    """
    if root.is_relative_to(folder / "project") or _is_copied(root, folder):
        raise FolderInProject(
            f"{folder} is part of the project, whose copy would have itself in it\n"
            "    name a folder outside, or a hidden one: --folder PATH"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CopyInUse(
                f"another run works in {folder}\n    wait for it, or give this one a folder of its own: --folder PATH"
            ) from None
        project = folder / "project"
        before = read_state(folder / STATE)
        after = State(_copied(root, project, changed), versions(), asking)
        if before is None or before.versions != after.versions:
            _remove(project / "mutants")
        elif before != after:
            _bring_forward(project, before, after)
        _generate(project)
        if not asking.every_killer:
            _take_over_what_is_noted(project / "mutants")
        write_state(folder / STATE, after)
        yield project


def _is_copied(root: Path, folder: Path) -> bool:
    """Whether a copy of the project would have this folder in it."""
    if not folder.is_relative_to(root):
        return False
    outer = [at for at in (folder, *folder.parents) if at.is_relative_to(root) and at != root]
    return not any(left_out(root, str(at.parent), [at.name]) for at in outer)


def _copied(root: Path, project: Path, changed: Callable[[str, bytes], bytes]) -> Mapping[str, str]:
    """Writes each file whose content differs; path -> hash of all of them."""
    hashes = {}
    for at, folders, names in os.walk(root):
        not_copied = left_out(root, at, [*folders, *names])
        folders[:] = sorted(set(folders) - not_copied)
        for name in sorted(set(names) - not_copied):
            path = (Path(at) / name).relative_to(root).as_posix()
            if not (root / path).is_file():  # a pipe, which nobody writes to, or a link to nothing
                continue
            content = changed(path, (root / path).read_bytes())
            hashes[path] = hashlib.sha256(content).hexdigest()
            copy = project / path
            if not copy.exists() or copy.read_bytes() != content:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)
                copy.chmod((root / path).stat().st_mode)
    return hashes


def _remove(mutants: Path) -> None:
    if mutants.exists():
        shutil.rmtree(mutants)


def _bring_forward(project: Path, before: State, after: State) -> None:
    """Removes what mutmut made of other files than those that there are now, and takes back verdicts that do not last."""
    mutants = project / "mutants"
    differing = before.differing(after)
    for path in differing - after.files.keys():
        (project / path).unlink(missing_ok=True)
    if differing:
        (mutants / STATISTICS).unlink(missing_ok=True)
    if mutants.exists():
        _forget(mutants, lasting(read_results(mutants).mutants, before, after))
        _remove_copies(mutants, differing, after.files)


def _forget(mutants: Path, but: Collection[str]) -> None:
    """Takes back every verdict but those of the mutants with the names `but`."""
    _write_statuses(mutants, lambda name, status: status if name in but else None)
    if (mutants / KILLS_FILE).exists():
        lines = (mutants / KILLS_FILE).read_text(encoding="utf-8").splitlines(keepends=True)
        write_into_place(mutants / KILLS_FILE, "".join(line for line in lines if json.loads(line)[0] in but))


def _write_statuses(mutants: Path, status_of: Callable[[str, int | None], int | None]) -> None:
    """Gives each mutant the status that `status_of(name, status)` says; a record that is half written is left."""
    for meta in mutants.rglob("*.meta"):
        with contextlib.suppress(json.JSONDecodeError):  # its mutants are made anew
            record = json.loads(meta.read_bytes())
            before = record["exit_code_by_key"]
            after = {name: status_of(name, status) for name, status in before.items()}
            if after != before:
                write_into_place(meta, json.dumps({**record, "exit_code_by_key": after}))


def _remove_copies(mutants: Path, differing: Iterable[str], present: Collection[str]) -> None:
    """Removes what mutmut made of files that are gone, and its copies of those that it does not mutate.

    mutmut never copies a file of a package again that is no code.
    """
    for path in differing:
        if path not in present or not (mutants / f"{path}.meta").exists():
            for suffix in ("", ".meta", ".spans"):
                (mutants / f"{path}{suffix}").unlink(missing_ok=True)


def _generate(project: Path) -> None:
    """Makes the mutants; when interrupted, all its processes are ended. Raises MutmutFailed."""
    generator = run_to_end([sys.executable, GENERATOR], project)
    if generator.returncode != 0:
        said = (generator.stdout + generator.stderr).decode(errors="replace")
        raise MutmutFailed(f"mutmut could not make the mutants:\n{said[-4000:]}")


def _take_over_what_is_noted(mutants: Path) -> None:
    """Counts what tests said of mutants when mutmut was ended before it had written that down itself."""
    noted = {mutant.name: status_noted(mutant.failures) for mutant in read_results(mutants).mutants}
    _write_statuses(mutants, lambda name, status: noted[name] if status is None else status)
