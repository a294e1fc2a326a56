"""The steps that make one environment, whose lock is held: third-party packages, stamp, the project, stamp."""

import os
import pathlib
import shutil
import sys
from collections.abc import Callable, Sequence

from nemo_rl.utils import environment_stamp, uv_command
from nemo_rl.utils.actor_project import ActorProject
from nemo_rl.utils.doubtful_extras import doubtful_extras
from nemo_rl.utils.environment_clone import PACKAGES, CannotCloneError, Clone, metadata_folders
from nemo_rl.utils.environment_errors import EnvironmentBuildError
from nemo_rl.utils.environment_lock import HeldLock, lock_file_of, locked, locked_if_free
from nemo_rl.utils.environment_lookup import Action, is_complete
from nemo_rl.utils.environment_stamp import COMPLETE, DEPENDENCIES, Stamp
from nemo_rl.utils.project_metadata import project_metadata

DOWNLOADS_LOCK = "nemo-rl-downloads.lock"


def metadata_in(folder: pathlib.Path, name: str) -> list[str]:
    """The ``.dist-info`` folders of a distribution in an environment."""
    return [found for packages in folder.glob(PACKAGES) for found in metadata_folders(str(packages), name)]


def untouched_since_stamped(folder: pathlib.Path) -> bool:
    """Whether nothing was added to, or taken out of, the packages and programs of an environment since its stamp."""
    stamped = (folder / environment_stamp.STAMP_NAME).stat().st_mtime_ns
    places = [folder / "bin", *folder.glob(PACKAGES)]
    return all(place.stat().st_mtime_ns <= stamped for place in places)


class EnvironmentBuilder:
    """Builds one environment; the lock is held by the caller."""

    def __init__(
        self,
        project: ActorProject,
        actor: str,
        wanted: Stamp,
        lock: HeldLock,
        report: Callable[[str], None],
        built: Sequence[str],
    ):
        self.project = project
        # Without symbolic links above it, which its scripts would outlive; it may be none itself.
        self.folder = pathlib.Path(os.path.realpath(project.environments)) / actor
        self.extras = project.extras_of(actor) or ()
        self.wanted = wanted
        self.lock = lock
        self.report = report
        self.built = built
        self.name: str = project_metadata(project.root)["name"]
        self.uv = uv_command.find_uv()
        self.notes: list[str] = []

    def build(self, found: Stamp | None) -> Action:
        """Make the environment complete, from its dependencies if a stamp says that they are there, else from nothing.

        On failure nothing stays but an environment that its stamp describes. Raises what uv, files and extras raise.
        """
        doubtful = doubtful_extras(self.project.root, self.extras)
        if doubtful:
            # Imported here, because it is seldom needed and takes long.
            from nemo_rl.utils.excluded_extras import reject_excluded_extras

            reject_excluded_extras(self.project.root, doubtful, self.wanted.interpreter)
        try:
            if found is not None and not self.project_is_half_installed():
                self.add_project()
                return Action.COMPLETED
            self.remove()
            self.install_dependencies()
            self.add_project()
            return Action.BUILT
        except BaseException:
            if environment_stamp.read_stamp(self.folder) is None:
                shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def project_is_half_installed(self) -> bool:
        """Whether an environment of third-party packages has traces of the project itself.

        uv takes a package for installed as soon as its ``.dist-info`` folder exists, however little is in it.
        """
        return bool(metadata_in(self.folder, self.name))

    def phase(self, text: str) -> None:
        self.lock.note(text)
        self.report(text)

    def remove(self) -> None:
        """Take the old environment away, its stamp first."""
        if not os.path.lexists(self.folder):
            return
        self.phase("removing what was there")
        if self.folder.is_symlink() or not self.folder.is_dir():
            raise EnvironmentBuildError(f"{self.folder} is in the way: it is no folder; remove it")
        environment_stamp.remove_stamp(self.folder)
        shutil.rmtree(self.folder)

    def install_dependencies(self) -> None:
        """Install third-party packages: links to those of an equal environment, or by uv."""
        self.phase("installing third-party packages")
        twins = [
            actor for actor in list(self.built) if set(self.project.extras_of(actor) or ()) == set(self.wanted.extras)
        ]
        if not self.cloned(twins[:1], Clone.packages_cloned):
            shutil.rmtree(self.folder, ignore_errors=True)
            self.install_by_uv()
        self.stamp(DEPENDENCIES)

    def install_by_uv(self) -> None:
        """Let uv install third-party packages; what the cache lacks is downloaded by one builder at a time.

        One uv uses the whole network; two would download what both need twice. While another one downloads, the cache
        may well have what this one needs, and only uv can tell.
        """
        downloads = uv_command.cache_of(self.uv) / DOWNLOADS_LOCK
        with locked_if_free(downloads) as free:
            if free is not None:
                free.note("downloading packages")
                self.sync(with_project=False)
                return
        try:
            self.sync(with_project=False, offline=True)
        except uv_command.UvError:
            # uv would trust what the failed attempt may have left.
            shutil.rmtree(self.folder, ignore_errors=True)
            with locked(downloads, self.report) as waited_for:
                waited_for.note("downloading packages")
                self.phase("downloading and installing third-party packages")
                self.sync(with_project=False)

    def add_project(self) -> None:
        """Install the project itself: links to what another environment has of it, or by uv."""
        self.phase("adding the project")
        if not self.cloned(list(self.built)[:1], Clone.project_cloned):
            for metadata in metadata_in(self.folder, self.name):  # uv would take it for installed
                shutil.rmtree(metadata)
            self.sync(with_project=True)
        self.stamp(COMPLETE)

    def cloned(self, actors: Sequence[str], step: Callable[[Clone], None]) -> bool:
        """Whether a step was done from an environment, still as this run has built it, of one of these actors."""
        return any(self.cloned_from(pathlib.Path(os.path.realpath(self.project.folder_of(a))), step) for a in actors)

    def cloned_from(self, source: pathlib.Path, step: Callable[[Clone], None]) -> bool:
        """Whether a step was done from this environment; after a failure uv says better what is wrong, or does it."""
        with locked_if_free(lock_file_of(source), shared=True) as lock:
            if lock is None or not self.was_built_by_this_run(source):
                return False
            try:
                step(Clone(str(source), str(self.folder), self.name))
            except (CannotCloneError, OSError):
                return False
        return True

    def was_built_by_this_run(self, source: pathlib.Path) -> bool:
        """Whether an environment is what this run has built, for the same lock and interpreter."""
        found = environment_stamp.read_stamp(source)
        if found is None or not is_complete(found) or found.run != self.wanted.run:
            return False
        wanted = self.wanted._replace(folder=str(source), extras=found.extras)
        return not environment_stamp.differences(found, wanted) and untouched_since_stamped(source)

    def sync(self, with_project: bool, offline: bool = False) -> None:
        python = self.project.python or sys.executable
        arguments = uv_command.sync_arguments(self.project.root, python, self.extras, with_project, offline)
        uv_command.run_uv(self.uv, arguments, self.folder, self.lock.descriptor, self.notes.append)
        if environment_stamp.hash_of(self.project.root / "uv.lock") != self.wanted.lock:
            raise EnvironmentBuildError("uv.lock was changed while the environment was built; build it again")

    def stamp(self, state: str) -> None:
        project = self.wanted.project if state == COMPLETE else ""
        version = uv_command.version_in(self.folder)
        stamp = self.wanted._replace(state=state, project=project, uv=version)
        environment_stamp.write_stamp(self.folder, stamp)
