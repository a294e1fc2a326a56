"""Whether what a page names exists in the project; where it does not, what is wrong with it and what may be meant."""

from __future__ import annotations

import builtins
import difflib
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.bound_names import bound_names, defined_classes, foreign_names
from pytest_actor_envs.sources.documented_names import Name
from pytest_actor_envs.sources.ignored import is_made_elsewhere
from pytest_actor_envs.sources.pyproject import normalized

Wrong = tuple[str, str]
"""What is wrong with a name, and the way out."""


class Existence:
    """What exists for one page of a project; `folder` is the page's own."""

    def __init__(self, project: Project, page: str) -> None:
        self.project = project
        self.tree = project.tree
        self.folder = posixpath.dirname(page)

    def wrong(self, name: Name) -> Wrong | None:
        """What is wrong with a name; `None` where it exists, or is not the project's to have."""
        judges: dict[str, Callable[[str], Wrong | None]] = {
            "dotted": self._dotted,
            "class": self._class,
            "script": self._script,
            "path": self._path,
            "link": self._link,
        }
        return judges[name.kind](name.text)

    def _dotted(self, name: str) -> Wrong | None:
        """A module, or a name that its module binds, or part of one."""
        parts = name.split(".")
        counts = range(len(parts), 0, -1)
        known = next((count for count in counts if self._is_module(".".join(parts[:count]))), 0)
        if known == len(parts):
            return None
        module = ".".join(parts[:known])
        bound = self._bound(module)
        if bound is None or parts[known] in bound:
            return None
        message = f"'{'.'.join(parts[: known + 1])}' does not exist"
        elsewhere = self._modules_binding(parts[-1])
        if elsewhere:
            return message, f"did you mean '{elsewhere[0]}.{parts[-1]}'?"
        close = difflib.get_close_matches(parts[known], [*bound, *self._submodules(module)])
        if not close:
            return message, "name what is there, or leave it out"
        return message, f"did you mean '{'.'.join([*parts[:known], close[0]])}'?"

    def _is_module(self, module: str) -> bool:
        return self.project.modules.path_of(module) is not None or self.tree.is_folder(module.replace(".", "/"))

    def _bound(self, module: str) -> frozenset[str] | None:
        """The names that a module binds, none for a mere folder; `None` where they cannot be known."""
        try:
            found = self.project.modules.find(module)
        except SyntaxError:
            return None
        return self.project.of_module(bound_names, found) if found else frozenset()

    def _modules_binding(self, name: str) -> list[str]:
        """Modules that define a class or a function of that name."""
        modules = self.project.modules
        if name[:1].isupper():
            return modules.modules_defining(name)
        wanted = re.compile(rf"^(?:async )?def {name}\(".encode(), re.MULTILINE)
        paths = {module: modules.path_of(module) for module in modules.names()}
        return [module for module, path in paths.items() if path and wanted.search(self.tree.read_bytes(path))]

    def _submodules(self, module: str) -> set[str]:
        siblings = self.tree.siblings(module.replace(".", "/"))
        return {posixpath.basename(path).removesuffix(".py") for path in siblings}

    def _class(self, name: str) -> Wrong | None:
        """A class of the project, or one from elsewhere that it uses; words that are like neither are not judged."""
        if name in self._classes or hasattr(builtins, name):
            return None
        close = difflib.get_close_matches(name, self._classes, cutoff=0.8)
        if not close and last_hump(name) not in self._actor_humps:
            return None
        if name in self._foreign:
            return None
        nearest = close or difflib.get_close_matches(name, self._classes)
        mend = f"did you mean '{nearest[0]}'?   " if nearest else ""
        return f"no class {name} is in the project", f"{mend}a class of another package is written with its package"

    @property
    def _classes(self) -> list[str]:
        return self.project.settled(_classes_defined)

    @property
    def _foreign(self) -> frozenset[str]:
        return self.project.settled(_names_from_outside)

    @property
    def _actor_humps(self) -> frozenset[str]:
        return self.project.settled(_humps)

    def _script(self, name: str) -> Wrong | None:
        """The wrapper script of an actor that has an environment; a distribution may be called so as well.

        Where the table cannot be read nobody knows which scripts there are.
        """
        class_name = name.removeprefix("python-")
        if self.project.part(_environments, class_name) or normalized(name) in self._distributions:
            return None
        if not self.project.table.readable:
            return None
        actors = self.project.once(_environments)
        if class_name in actors:
            return f"there is no script {name}: {class_name} runs on the driver's interpreter", "write 'python'"
        owners = sorted(actor for actor, has_environment in actors.items() if has_environment)
        close = difflib.get_close_matches(class_name, owners)
        scripts = ", ".join(f"python-{actor}" for actor in owners) or "none"
        mend = f"did you mean 'python-{close[0]}'?" if close else f"scripts: {scripts}"
        return f"there is no script {name}: no actor with an environment is named so", mend

    @cached_property
    def _distributions(self) -> set[str]:
        pyproject = self.project.pyproject
        listed = [*pyproject.base_requirements, *(one for extra in pyproject.extras for one in extra.requirements)]
        return {normalized(requirement.name) for requirement in listed}

    def _path(self, path: str) -> Wrong | None:
        """A file or folder below one that the project has at its root; also beside the page."""
        first = path.split("/")[0]
        if first == ".." or not self._exists(first):
            return None
        return self._missing(path, (path, posixpath.join(self.folder, path)))

    def _link(self, target: str) -> Wrong | None:
        """A file or folder beside the page, or from the root where the target begins with `/`."""
        path = target[1:] if target.startswith("/") else posixpath.join(self.folder, target)
        path = posixpath.normpath(path) + ("/" if target.endswith("/") else "")
        if path.startswith("../"):
            return None
        return self._missing(path, (path, f"{path}.md", f"{path}.rst"))

    def _missing(self, path: str, places: Iterable[str]) -> Wrong | None:
        if any(self._exists(place) for place in places) or is_made_elsewhere(self.tree, path):
            return None
        known = list(self.tree.files())
        if path.endswith("/"):
            known = sorted({f"{posixpath.dirname(file)}/" for file in known})
        same_name = [other for other in known if posixpath.basename(other) == posixpath.basename(path) != ""]
        close = difflib.get_close_matches(path, same_name or known, cutoff=0.0 if same_name else 0.6)
        return f"there is no {path}", f"did you mean '{close[0]}'?" if close else "paths begin at the project's root"

    def _exists(self, path: str) -> bool:
        path = posixpath.normpath(path)
        return self.tree.exists(path) or self.tree.is_folder(path)


def last_hump(name: str) -> str:
    """The last word of a name in capitals and small letters: `Worker` of `VllmGenerationWorker`."""
    return re.split(r"(?<=[a-z0-9])(?=[A-Z])|(?=[A-Z][a-z])", name)[-1]


def _classes_defined(project: Project) -> list[str]:
    return sorted(frozenset().union(*(project.settled(_classes_in, path) for path in _code(project))))


def _classes_in(project: Project, path: str) -> frozenset[str]:
    return project.of_text(defined_classes, path)


def _names_from_outside(project: Project) -> frozenset[str]:
    return frozenset().union(*(project.settled(_foreign_in, path) for path in _code(project)))


def _foreign_in(project: Project, path: str) -> frozenset[str]:
    return project.of_text(foreign_names, path, project.config.packages)


def _humps(project: Project) -> frozenset[str]:
    return frozenset(last_hump(entry.class_name) for entry in project.table.entries)


def _environments(project: Project) -> dict[str, bool]:
    """Whether the actor of each class name has an environment, as far as that can be read."""
    return {entry.class_name: not entry.readable or entry.extras is not None for entry in project.table.entries}


def _code(project: Project) -> Iterator[str]:
    """The paths of all modules of the project."""
    for package in project.config.packages:
        yield from project.tree.files(package, ".py")
