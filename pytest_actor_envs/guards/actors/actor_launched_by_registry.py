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
import itertools
from collections.abc import Iterable, Iterator, Sequence

from pytest_actor_envs.guards.actors.added_code import look_up, with_function
from pytest_actor_envs.guards.actors.resolution import Key, definition_of, key_of
from pytest_actor_envs.guards.edits import Files
from pytest_actor_envs.model import Blocked, Finding, Guard, Location, Mutant, Undecided
from pytest_actor_envs.project import Project
from pytest_actor_envs.sources.launches import FOLDER_VARIABLES, Flow, Launch, launched_names, launches
from pytest_actor_envs.sources.lookups import first_argument, literal_text
from pytest_actor_envs.sources.modules import Module
from pytest_actor_envs.sources.names import Bindings
from pytest_actor_envs.sources.table import Entry


def subjects(project: Project) -> Iterable[Entry]:
    return project.entries


def check(project: Project, entry: Entry) -> Iterator[Finding]:
    project.extras_of(entry)
    key = key_of(project, entry.name)
    if key is None:
        raise Blocked("actor-resolves")
    judged = [
        verdict
        for module, launch in project.part(_launches_by_class, key) or ()
        for verdict in _judged(project, entry, key, module, launch)
    ]
    findings = [verdict for verdict in judged if isinstance(verdict, Finding)]
    yield from findings
    unclear = [str(verdict) for verdict in judged if isinstance(verdict, Location)]
    if unclear and not findings:
        raise Undecided(
            f"{', '.join(unclear)}: where the interpreter of {entry.class_name} comes from cannot be read\n"
            f"    {_advice(project, entry)}"
        )


def _judged(project: Project, entry: Entry, key: Key, module: Module, launch: Launch) -> Iterator[Finding | Location]:
    """What is wrong with one launch, or its place where that cannot be known."""
    flow = Flow(module, launch.scope)
    environments = [launch.runtime_env] if launch.runtime_env is not None else []
    environments.extend(value for options in launch.unpacked for value in flow.under_key(options, "runtime_env"))
    executables = [value for environment in environments for value in flow.under_key(environment, "py_executable")]
    yield from _folder_variables(environments, executables, flow, module)
    looked_up = [name for value in executables or environments for name in _looked_up(project, module, flow, value)]
    others = [name for name in looked_up if name is not None]
    if any(key_of(project, name) == key for name in others):
        return
    if others:
        message = f"{entry.class_name} is launched with the interpreter of {others[0]}"
        yield Finding(launch.location, message, (_advice(project, entry),))
    elif entry.extras is not None:
        if looked_up or (not executables and _is_opaque(flow, environments or launch.unpacked)):
            yield launch.location
        else:
            message = (
                f"{entry.class_name} is launched without the registry, on the driver's interpreter, "
                f"which lacks {', '.join(entry.extras)}"
            )
            yield Finding(launch.location, message, (_advice(project, entry),))


def _advice(project: Project, entry: Entry) -> str:
    return f'give its runtime_env: "py_executable": {look_up(project, entry.name)}'


def _launches_by_class(project: Project) -> dict[Key | None, list[tuple[Module, Launch]]]:
    """The launches in all modules, under the class that each launches; `None` for what is no class of the project."""
    found: dict[Key | None, list[tuple[Module, Launch]]] = {}
    for name, path in project.imports.paths.items():
        for module, launch in project.settled(_launches_in, name, path):
            found.setdefault(key_of(project, launch.actor), []).append((module, launch))
    return found


def _launches_in(project: Project, name: str, path: str) -> list[tuple[Module, Launch]]:
    """The launches in a module that can be parsed, if one of them is of a class of the project."""
    if b".remote" not in project.tree.read_bytes(path):
        return []
    try:
        if not any(key_of(project, actor) for actor in project.fact(launched_names, name)):
            return []
        module = project.modules.find(name)
    except SyntaxError:
        return []
    assert module is not None  # its file was just read
    return [(module, launch) for launch in project.of_module(launches, module)]


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
                texts = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
                yield from (text for text in texts if isinstance(text, str) and definition_of(project, text))
        elif isinstance(node, ast.Subscript) and bindings.is_named(node.value, (project.config.registry_name,)):
            yield literal_text(project.modules, module, node.slice)


def _is_opaque(flow: Flow, values: Sequence[ast.expr]) -> bool:
    return any(not isinstance(found, ast.Dict | ast.Constant) for value in values for found in flow.values(value))


def _folder_variables(
    environments: Sequence[ast.expr], executables: Sequence[ast.expr], flow: Flow, module: Module
) -> Iterator[Finding]:
    interpreters = {"sys.executable", *map(ast.unparse, executables)}
    for variable in FOLDER_VARIABLES:
        for value in (value for environment in environments for value in flow.under_key(environment, variable)):
            text = ast.unparse(value)
            if text in interpreters or text.endswith("/python'"):
                yield Finding(
                    module.at(value),
                    f"{variable} gets {text}, the path of an interpreter; it names the folder of an environment",
                    ("give it the folder that the interpreter's bin/ is in",),
                )


def mutants(project: Project) -> Iterator[Mutant]:
    for entry in project.entries:
        found = definition_of(project, entry.name)
        if found is None:
            continue
        path, name = found.location.path, found.name
        if entry.extras is not None:
            yield Mutant(entry.name, "bare", _launched(project, path, f"{name}.remote()"))
            yield Mutant(
                entry.name, "options-without", _launched(project, path, f"{name}.options(num_cpus=1).remote()")
            )
        others = (other.name for other in project.entries if key_of(project, other.name) != (found.module, name))
        for other in itertools.islice(others, 1):
            code = f'{name}.options(runtime_env={{"py_executable": {look_up(project, other)}}}).remote()'
            yield Mutant(entry.name, "interpreter-of-another", _launched(project, path, code))
        own = look_up(project, entry.name)
        code = f'{name}.options(runtime_env={{"py_executable": {own}, "env_vars": {{"VIRTUAL_ENV": {own}}}}}).remote()'
        yield Mutant(entry.name, "folder-is-interpreter", _launched(project, path, code))


def _launched(project: Project, path: str, expression: str) -> Files:
    return with_function(project, path, f"return {expression}")


GUARD = Guard("actor-launched-by-registry", subjects, check, mutants)
