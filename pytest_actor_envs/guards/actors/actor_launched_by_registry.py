"""Every launch of an actor's class in the package gives it the interpreter that the registry has for that very actor.

A launch is `.remote(...)` on the class, on `Class.options(...)` or on `ray.remote(Class)`; calls on handles are none. It
is right when its `runtime_env` takes `py_executable` from a look-up of that actor, or when the actor runs on the
driver's interpreter anyway. Configured launchers do it themselves. The variables that name an environment's folder
(`VIRTUAL_ENV`, `UV_PROJECT_ENVIRONMENT`) never get the path of an interpreter.

Why it matters: an actor that is launched without the registry runs on the driver's interpreter. It imports other
versions than the ones it was tested with, or fails at its first import, on a cluster.

How to fix it: launch it through a launcher of the project, or look its interpreter up:
`Class.options(runtime_env={"py_executable": get_actor_python_env("package.module.Class")}).remote(...)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from pytest_actor_envs.guards.edits import appended
from pytest_actor_envs.model import Blocked, Finding, Guard, Location, Mutant, Undecided
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.launches import FOLDER_VARIABLES, Flow, Launch, launches
from pytest_actor_envs.sources.lookups import first_argument, literal_text
from pytest_actor_envs.sources.modules import Module
from pytest_actor_envs.sources.names import Bindings
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    extras = project.extras_of(entry)
    definition = _definition(project, entry.name)
    if definition is None:
        raise Blocked("actor-resolves")
    unclear: list[Location] = []
    launches_of = project.once("launches by definition", lambda: _by_definition(project))
    for module, launch in launches_of.get(definition, ()):
        flow = Flow(module, launch.scope)
        environments = [launch.runtime_env] if launch.runtime_env is not None else []
        environments.extend(value for options in launch.unpacked for value in flow.under_key(options, "runtime_env"))
        yield from _folder_variables(environments, flow, module)
        executables = [value for environment in environments for value in flow.under_key(environment, "py_executable")]
        looked_up = [name for value in executables or environments for name in _looked_up(project, module, flow, value)]
        others = [name for name in looked_up if name is not None]
        if any(_definition(project, name) == definition for name in others):
            continue
        if others:
            yield Finding(
                launch.location,
                f"{entry.class_name} is launched with the interpreter of {others[0]}",
                (_advice(project, entry),),
            )
        elif extras is None:
            continue
        elif None in looked_up or (not executables and _is_opaque(flow, environments or launch.unpacked)):
            unclear.append(launch.location)
        else:
            yield _bare(project, entry, launch.location)
    if unclear:
        raise Undecided(
            f"{', '.join(map(str, unclear))}: where the interpreter of {entry.class_name} comes from cannot be read\n"
            f"    {_advice(project, entry)}"
        )


def _bare(project: Project, entry: Entry, place: Location) -> Finding:
    return Finding(
        place,
        f"{entry.class_name} is launched without the registry, on the driver's interpreter, which lacks {', '.join(entry.extras or ())}",
        (_advice(project, entry),),
    )


def _advice(project: Project, entry: Entry) -> str:
    function = project.config.lookups[0] if project.config.lookups else "a look-up"
    return f'give its runtime_env: "py_executable": {function}("{entry.name}")'


def _definition(project: Project, name: str) -> tuple[str, str] | None:
    module, _, class_name = name.rpartition(".")
    try:
        found = project.modules.definition(module, class_name)
    except SyntaxError:
        return None
    return None if found is None else (found.module, found.name)


def _by_definition(project: Project) -> dict[tuple[str, str], list[tuple[Module, Launch]]]:
    """The launches in the package, by what their actors' names resolve to."""
    found: dict[tuple[str, str], list[tuple[Module, Launch]]] = {}
    for name, path in project.imports.paths.items():
        if b".remote" not in project.tree.read_bytes(path):
            continue
        try:
            for launch in _launches(project, name, path):
                definition = _definition(project, launch.actor)
                module = project.modules.find(name)
                if definition is not None and module is not None:
                    found.setdefault(definition, []).append((module, launch))
        except SyntaxError:
            continue
    return found


def _launches(project: Project, name: str, path: str) -> Iterable[Launch]:
    """The launches in a module, if what one of them launches is defined in the project. Raises SyntaxError."""

    def found() -> tuple[Launch, ...]:
        module = project.modules.find(name)
        return tuple(launches(module)) if module is not None else ()

    def all_of_them() -> tuple[Launch, ...]:
        return project.of_file("launches", path, found)

    actors = project.fact(f"launched {path}", path, lambda: sorted({launch.actor for launch in all_of_them()}))
    return all_of_them() if any(_definition(project, actor) for actor in actors) else ()


def _looked_up(project: Project, module: Module, flow: Flow, value: ast.expr) -> Iterator[str | None]:
    """The actors that an expression looks up, through names; `None` for a look-up of a variable."""
    bindings = Bindings(module)
    wanted = (*project.config.lookups, *project.config.launchers)
    for node in flow.everything_in(value):
        if isinstance(node, ast.Call):
            first = first_argument(node)
            if first is not None and bindings.is_named(node.func, wanted):
                yield literal_text(project.modules, module, first)
            else:
                texts = [
                    literal_text(project.modules, module, argument)
                    for argument in node.args
                    if isinstance(argument, ast.Constant)
                ]
                yield from (text for text in texts if text and _definition(project, text))
        elif isinstance(node, ast.Subscript) and bindings.is_named(node.value, (project.config.registry_name,)):
            yield literal_text(project.modules, module, node.slice)


def _is_opaque(flow: Flow, values: Sequence[ast.expr]) -> bool:
    return any(not isinstance(found, ast.Dict | ast.Constant) for value in values for found in flow.values(value))


def _folder_variables(environments: Sequence[ast.expr], flow: Flow, module: Module) -> Iterator[Finding]:
    executables = {
        ast.unparse(value) for environment in environments for value in flow.under_key(environment, "py_executable")
    }
    for variable in FOLDER_VARIABLES:
        for value in (value for environment in environments for value in flow.under_key(environment, variable)):
            text = ast.unparse(value)
            if (
                text in executables
                or text == "sys.executable"
                or (isinstance(value, ast.Constant) and str(value.value).endswith("/python"))
            ):
                yield Finding(
                    module.at(value),
                    f"{variable} gets {text}, the path of an interpreter; it names the folder of an environment",
                    ("give it the folder that the interpreter's bin/ is in",),
                )


def mutants(project: Project) -> Iterator[Mutant]:
    function = project.config.lookups[0].rpartition(".")[2] if project.config.lookups else "get_actor_python_env"
    for entry in project.entries:
        definition = _definition(project, entry.name)
        path = project.modules.path_of(definition[0]) if definition else None
        if definition is None or path is None:
            continue

        def launched(expression: str, path: str = path) -> dict[str, str | None]:
            return {**appended(project, path, f"\ndef _added_by_a_mutant():\n    return {expression}")}

        name = definition[1]
        other = next((found.name for found in project.entries if found.name != entry.name), None)
        if entry.extras is not None:
            yield Mutant(entry.name, "bare", launched(f"{name}.remote()"))
            yield Mutant(entry.name, "options-without", launched(f"{name}.options(num_cpus=1).remote()"))
        if other is not None:
            expression = f'{name}.options(runtime_env={{"py_executable": {function}("{other}")}}).remote()'
            yield Mutant(entry.name, "interpreter-of-another", launched(expression))
        variables = (
            f'"py_executable": {function}("{entry.name}"), "env_vars": {{"VIRTUAL_ENV": {function}("{entry.name}")}}'
        )
        yield Mutant(
            entry.name, "folder-is-interpreter", launched(f"{name}.options(runtime_env={{{variables}}}).remote()")
        )


GUARD = Guard("actor-launched-by-registry", subjects, check, mutants)
