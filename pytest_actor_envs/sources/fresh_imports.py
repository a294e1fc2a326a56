"""Imports the guarded project's code anew, from its folder and an overlay in memory, and leaves the process as it was.

Standard library only, since it runs in the child processes of behavioural guards too.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, ModuleType

IN_MEMORY = "/in-memory"
CLEANED_PREFIXES = ("NEMO_RL_", "NRL_", "UV_")
CLEANED_NAMES = ("VIRTUAL_ENV", "PYTHONPATH")

Overlay = Mapping[str, str | None]
Source = str | bytes
Compiled = Mapping[tuple[str, Source], CodeType]
"""(file name, its whole text) -> the code of files that were compiled before."""


def cleaned(environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` without the variables that would change what the project does."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(CLEANED_PREFIXES) and name not in CLEANED_NAMES
    }


class KnownFileLoader(importlib.machinery.SourceFileLoader):
    """Loads a file; does not compile it where the code of just this text is known."""

    def __init__(self, fullname: str, path: str, compiled: Compiled) -> None:
        super().__init__(fullname, path)
        self._compiled = compiled

    def get_code(self, fullname: str) -> CodeType | None:
        known = self._compiled.get((self.path, self.get_data(self.path)))
        return super().get_code(fullname) if known is None else known


def _with_known_code(
    spec: importlib.machinery.ModuleSpec | None, compiled: Compiled
) -> importlib.machinery.ModuleSpec | None:
    if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
        spec.loader = KnownFileLoader(spec.loader.name, spec.loader.path, compiled)
    return spec


class OverlayFinder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports modules whose files are in the overlay from there, under the names and paths that they would have.

    What it compiles, and any file of `packages`, is taken from `compiled` where that has it.
    """

    def __init__(
        self, root: str | None, overlay: Overlay, packages: Sequence[str] = (), compiled: Compiled | None = None
    ) -> None:
        self.root = root or IN_MEMORY
        self.overlay = overlay
        self.packages = frozenset(packages)
        self.compiled = compiled or {}
        self.asked: set[str] = set()

    def _path(self, name: str) -> str | None:
        base = name.replace(".", "/")
        return next((path for path in (f"{base}/__init__.py", f"{base}.py") if path in self.overlay), None)

    def _file(self, path: str) -> str:
        return os.path.join(self.root, path)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        self.asked.add(fullname)
        found = self._path(fullname)
        if found is None:
            return self._namespace(fullname) or self._of_file(fullname, path)
        if self.overlay[found] is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        origin = self._file(found)
        is_package = self.is_package(fullname)
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=origin, is_package=is_package)
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(origin)]
        spec.has_location = True
        return spec

    def _namespace(self, name: str) -> importlib.machinery.ModuleSpec | None:
        """A package without `__init__.py` that only the overlay has."""
        prefix = f"{name.replace('.', '/')}/"
        folder = self._file(prefix.rstrip("/"))
        if not any(file.startswith(prefix) for file in self.overlay) or os.path.isdir(folder):
            return None
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [folder]
        return spec

    def _of_file(self, name: str, path: Sequence[str] | None) -> importlib.machinery.ModuleSpec | None:
        """A module of the project's own that no overlay has, where it may be compiled already."""
        if not self.compiled or name.partition(".")[0] not in self.packages:
            return None
        return _with_known_code(importlib.machinery.PathFinder.find_spec(name, path), self.compiled)

    def spec_alone(self, name: str, path: str) -> importlib.machinery.ModuleSpec | None:
        """The module that one file is under a dotted name, whatever the packages above it are."""
        if path in self.overlay:
            file = {path: self.overlay[path]}
            return OverlayFinder(self.root, file, (), self.compiled).find_spec(name, None)
        return _with_known_code(importlib.util.spec_from_file_location(name, self._file(path)), self.compiled)

    def paths_asked(self) -> list[str]:
        """The files that the modules asked for would come from, whether they exist or not."""
        names = sorted(name.replace(".", "/") for name in self.asked)
        return [path for name in names for path in (f"{name}/__init__.py", f"{name}.py")]

    def is_package(self, fullname: str) -> bool:
        return (self._path(fullname) or "").endswith("__init__.py")

    def get_source(self, fullname: str) -> str | None:
        path = self._path(fullname)
        text = None if path is None else self.overlay[path]
        return None if text is None else text.removeprefix("\ufeff")  # as a file is read, whose mark is no code

    def get_code(self, fullname: str) -> CodeType | None:
        source = self.get_source(fullname)
        if source is None:
            return None
        filename = self._file(str(self._path(fullname)))
        known = self.compiled.get((filename, source))
        return compile(source, filename, "exec", dont_inherit=True) if known is None else known


@contextlib.contextmanager
def fresh_imports(
    root: str | None, overlay: Overlay, packages: Sequence[str], variables: Mapping[str, str]
) -> Iterator[OverlayFinder]:
    """Imports of `packages` start anew inside, in a cleaned environment; afterwards everything is as before.

    Gives the finder, see `import_from`.
    """
    saved_modules = {name: module for name, module in sys.modules.items() if name.split(".")[0] in packages}
    saved_path, saved_meta, saved_environment = list(sys.path), list(sys.meta_path), dict(os.environ)
    saved_bytecode, saved_folder = sys.dont_write_bytecode, os.getcwd()
    for name in saved_modules:
        del sys.modules[name]
    _change_environment({**cleaned(saved_environment), **variables})
    if root:
        _look_again_below(root)
    try:
        yield import_from(root, overlay, packages)
    finally:
        sys.dont_write_bytecode = saved_bytecode
        sys.path[:], sys.meta_path[:] = saved_path, saved_meta
        for name in [name for name in sys.modules if name.split(".")[0] in packages]:
            del sys.modules[name]
        sys.modules.update(saved_modules)
        _change_environment(saved_environment)
        os.chdir(saved_folder)


def import_from(
    root: str | None, overlay: Overlay, packages: Sequence[str], compiled: Compiled | None = None
) -> OverlayFinder:
    """From here on modules of the project come from `overlay` and `root`, and no bytecode is written.

    For a process that has imported nothing of the project; see `fresh_imports` for another one.

    Gives the finder, which every import of a module that is not there yet goes through.
    """
    sys.dont_write_bytecode = True
    if root:
        sys.path.insert(0, root)
    finder = OverlayFinder(root, overlay, packages, compiled)
    sys.meta_path.insert(0, finder)
    return finder


def _change_environment(wanted: Mapping[str, str]) -> None:
    """Makes the environment equal to another one; setting a variable anew costs more than comparing it."""
    for name in list(os.environ):
        if name not in wanted:
            del os.environ[name]
    os.environ.update({name: value for name, value in wanted.items() if os.environ.get(name) != value})


def _look_again_below(root: str) -> None:
    """Forgets which files the folders of a project have; those of the interpreter's own folders stay as they are."""
    folder = os.path.join(root, "")
    for path in [path for path in sys.path_importer_cache if path == root or path.startswith(folder)]:
        del sys.path_importer_cache[path]


def import_alone(name: str, path: str, finder: OverlayFinder) -> ModuleType:
    """Executes one file under its dotted name without running the packages above it, and gives the module."""
    spec = finder.spec_alone(name, path)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"{path} cannot be executed as a module", name=name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        sys.modules.pop(name, None)
    return module


def places(error: BaseException, root: str | None) -> list[tuple[str, int]]:
    """(path, line) of the project's own frames that `error` came through, the deepest last."""
    prefixes = [f"{folder.rstrip('/')}/" for folder in (root, IN_MEMORY) if folder]
    frames = [(frame.filename, frame.lineno or 1) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append((error.filename, error.lineno or 1))
    return [
        (filename.removeprefix(prefix), line)
        for filename, line in frames
        for prefix in prefixes
        if filename.startswith(prefix)
    ]
