"""Runs code of the guarded project and says what it did; also a script, run by the child process.

Standard library only, since it runs under whatever interpreter a child has. A request is a JSON object:
`root` (folder that goes first on sys.path, or null), `overlay` (path -> text or null), `observer`, `arguments`.
The answer is `{"value": ...}`, or `{"error": {"type", "message", "path", "line"}}` when project code raised.
"""

import _thread
import contextlib
import hashlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import traceback

IN_MEMORY = "/in-memory"
CLEANED_PREFIXES = ("NEMO_RL_", "NRL_", "UV_")
CLEANED_NAMES = ("VIRTUAL_ENV", "PYTHONPATH")


def cleaned(environment):
    """`environment` without the variables that would change what the project does."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(CLEANED_PREFIXES) and name not in CLEANED_NAMES
    }


class OverlayFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports modules whose files are in the overlay from there, under their real names and paths."""

    def __init__(self, root, overlay):
        self.root = root or IN_MEMORY
        self.overlay = overlay

    def _path(self, name):
        base = name.replace(".", "/")
        for path in (base + "/__init__.py", base + ".py"):
            if path in self.overlay:
                return path
        return None

    def find_spec(self, name, path=None, target=None):
        found = self._path(name)
        if found is None:
            prefix = name.replace(".", "/") + "/"
            if path is None and any(file.startswith(prefix) for file in self.overlay) and not (pathlib.Path(self.root) / prefix).is_dir():
                spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations = [str(pathlib.Path(self.root) / prefix)]
                return spec
            return None
        if self.overlay[found] is None:
            raise ModuleNotFoundError("No module named %r" % name, name=name)
        package = found.endswith("__init__.py")
        origin = str(pathlib.Path(self.root) / found)
        spec = importlib.machinery.ModuleSpec(name, self, origin=origin, is_package=package)
        if package:
            spec.submodule_search_locations = [os.path.dirname(origin)]
        spec.has_location = True
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        path = self._path(module.__name__)
        exec(compile(self.overlay[path], module.__spec__.origin, "exec"), module.__dict__)


@contextlib.contextmanager
def fresh_imports(root, overlay, packages, variables):
    """Imports of `packages` start anew inside, from the overlay and `root`; afterwards everything is as before."""
    saved_modules = {name: module for name, module in sys.modules.items() if name.split(".")[0] in packages}
    saved_path, saved_meta, saved_environment = list(sys.path), list(sys.meta_path), dict(os.environ)
    saved_bytecode = sys.dont_write_bytecode
    for name in saved_modules:
        del sys.modules[name]
    os.environ.clear()
    os.environ.update(cleaned(saved_environment))
    os.environ.update(variables)
    sys.dont_write_bytecode = True
    if root:
        sys.path.insert(0, root)
    sys.meta_path.insert(0, OverlayFinder(root, overlay))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.dont_write_bytecode = saved_bytecode
        sys.path[:], sys.meta_path[:] = saved_path, saved_meta
        for name in [name for name in sys.modules if name.split(".")[0] in packages]:
            del sys.modules[name]
        sys.modules.update(saved_modules)
        os.environ.clear()
        os.environ.update(saved_environment)


def import_alone(name, path, overlay):
    """Executes one file under its dotted name without running the packages above it, and gives the module."""
    finder = OverlayFinder(None, overlay)
    if path in overlay:
        spec = importlib.machinery.ModuleSpec(name, finder, origin=path)
    else:
        found = next((pathlib.Path(folder) / path for folder in sys.path if (pathlib.Path(folder) / path).is_file()), path)
        spec = importlib.util.spec_from_file_location(name, found)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        sys.modules.pop(name, None)
    return module


def called(function, argument):
    """Output, error output and exit status of `function(argument)`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = function(argument)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) or stop.code is None else 1
    return {"stdout": out.getvalue(), "stderr": err.getvalue(), "code": code or 0}


def observe_script(request):
    """`{argument list as JSON: {stdout, stderr, code}}` of the leaf's `main` for each of `calls`."""
    arguments = request["arguments"]
    module = import_alone(arguments["module"], arguments["path"], request["overlay"])
    return {json.dumps(call): called(module.main, list(call)) for call in arguments["calls"]}


def observe_registry(request):
    """The imported registry: `registry`, the `constants` of the executables, and the table as imported."""
    arguments = request["arguments"]
    registry = importlib.import_module(arguments["registry"])
    mapping = getattr(registry, arguments["registry_name"])
    value = {"registry": dict(mapping), "system": sys.executable, "constants": {}}
    if arguments.get("executables"):
        holder = getattr(importlib.import_module(arguments["executables"]), arguments["executables_name"])
        value["constants"] = {
            name: text for name, text in vars(holder).items() if not name.startswith("_") and isinstance(text, str)
        }
    leaf = sys.modules.get(arguments["leaf"])
    if leaf is None:
        leaf = importlib.import_module(arguments["leaf"])
    value["table"] = dict(getattr(leaf, arguments["table"]))
    return value


def observe_rejection(request):
    """Imports the registry over a table in which one extra of `entry` is `replacement`: None, or what it raised."""
    arguments = request["arguments"]
    leaf = importlib.import_module(arguments["leaf"])
    getattr(leaf, arguments["table"])[arguments["entry"]] = list(arguments["extras"])
    try:
        importlib.import_module(arguments["registry"])
    except Exception as error:
        return {"type": type(error).__name__, "message": str(error)}
    return None


def observe_fingerprint(request):
    """`fingerprint(root)` of a small copy of the covered files: once intact, then with one byte changed in each."""
    arguments = request["arguments"]
    module = import_alone(arguments["module"], arguments["path"], request["overlay"])
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        hashes = {}
        for path, text in arguments["files"].items():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_bytes(text.encode())
            hashes[path] = [getattr(hashlib, kind)(text.encode()).hexdigest() for kind in ("md5", "sha1", "sha256")]
        intact = dict(module.fingerprint(copy))
        changed = {}
        for path, text in arguments["files"].items():
            (copy / path).write_bytes(text.encode() + b"\n")
            changed[path] = dict(module.fingerprint(copy))
            (copy / path).write_bytes(text.encode())
    return {"hashes": hashes, "intact": intact, "changed": changed}


def observe_main_block(request):
    """Runs the file as a script in place, once for each argument list of `calls`: stdout, stderr and code of each."""
    arguments = request["arguments"]
    path = arguments["path"]
    origin = str(pathlib.Path(request["root"] or IN_MEMORY) / path)
    text = request["overlay"].get(path)
    if text is None:
        text = pathlib.Path(origin).read_text(encoding="utf-8")
    code = compile(text, origin, "exec")

    def run(argv):
        module = type(sys)("__main__")
        module.__file__ = origin
        sys.modules["__main__"] = module
        sys.argv = [origin] + argv
        sys.path.insert(0, os.path.dirname(origin))
        exec(code, module.__dict__)

    results = []
    for argv in arguments["calls"]:
        saved_argv, saved_path, saved_main = sys.argv, list(sys.path), sys.modules["__main__"]
        try:
            results.append(called(run, argv))
        finally:
            sys.argv, sys.path[:], sys.modules["__main__"] = saved_argv, saved_path, saved_main
    return results


ALONE = """
import importlib.util, json, sys, traceback
spec = importlib.util.spec_from_file_location("alone", sys.argv[1])
try:
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
except BaseException as error:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == sys.argv[1]]
    line = lines[-1] if lines else getattr(error, "lineno", None)
    print("\\0" + json.dumps({"code": 1, "line": line, "error": "%s: %s" % (type(error).__name__, error)}))
else:
    print("\\0" + json.dumps({"code": 0, "line": None, "error": ""}))
"""


def observe_alone(request):
    """`text` as the only file of a folder, under `python -I -S`: whether it imports, and what each of `calls` gives."""
    arguments = request["arguments"]
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, os.path.basename(arguments["path"]))
        with open(script, "w", encoding="utf-8") as file:
            file.write(arguments["text"])

        def run(command):
            python = [sys.executable, "-I", "-S", "-B"]
            environment = cleaned(os.environ)
            return subprocess.run(python + command, cwd=folder, env=environment, capture_output=True, text=True)

        imported = run(["-c", ALONE, script])
        _, found, text = imported.stdout.rpartition("\0")
        if not found:
            return {"import": {"code": 1, "line": None, "error": imported.stderr.strip()[-300:]}, "runs": []}
        runs = []
        for argv in arguments["calls"]:
            done = run([script] + argv)
            runs.append({"stdout": done.stdout, "stderr": done.stderr, "code": done.returncode})
        return {"import": json.loads(text), "runs": runs}


FORBIDDEN_EVENTS = {
    "socket.connect": "opens a socket",
    "socket.bind": "opens a socket",
    "socket.__new__": "opens a socket",
    "socket.getaddrinfo": "asks the network",
    "subprocess.Popen": "starts a process",
    "os.system": "starts a process",
    "os.exec": "starts a process",
    "os.fork": "starts a process",
    "os.forkpty": "starts a process",
    "os.posix_spawn": "starts a process",
    "os.spawn": "starts a process",
    "os.mkdir": "writes files",
    "os.rename": "writes files",
    "os.remove": "writes files",
    "os.rmdir": "writes files",
    "os.link": "writes files",
    "os.symlink": "writes files",
    "os.truncate": "writes files",
    "os.chmod": "writes files",
    "shutil.rmtree": "writes files",
    "shutil.copyfile": "writes files",
    "tempfile.mkstemp": "writes files",
    "tempfile.mkdtemp": "writes files",
}


THREAD_STARTERS = ("start_new_thread", "_start_new_thread", "start_joinable_thread", "_start_joinable_thread")


def observe_import_effects(request):
    """What executing one file does besides defining things: a list of {effect, line}; needs a process of its own."""
    arguments = request["arguments"]
    path = arguments["path"]
    effects = []
    watching = [False]

    def line_in_file():
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename.endswith(path):
                return frame.f_lineno
            frame = frame.f_back
        return 1

    def hook(event, details):
        if not watching[0]:
            return
        effect = FORBIDDEN_EVENTS.get(event)
        if event == "open":
            mode, flags = details[1], details[2] if len(details) > 2 else 0
            writes = any(letter in (mode or "") for letter in "wax+") or bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            effect = "writes the file %r" % (details[0],) if writes else None
        if effect:
            watching[0] = False
            effects.append({"effect": effect, "line": line_in_file()})
            watching[0] = True

    def watched_threads(start):
        def watching_start(*details, **named):
            if watching[0]:
                effects.append({"effect": "starts a thread", "line": line_in_file()})
            return start(*details, **named)

        return watching_start

    # No audit event tells of a thread on every Python, so the functions that start one are wrapped.
    for holder in (threading, _thread):
        for name in THREAD_STARTERS:
            if hasattr(holder, name):
                setattr(holder, name, watched_threads(getattr(holder, name)))
    sys.addaudithook(hook)
    tables = []
    for _ in range(2):
        before = (dict(os.environ), os.getcwd(), list(sys.path))
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            watching[0] = True
            try:
                module = import_alone(arguments["module"], path, request["overlay"])
            finally:
                watching[0] = False
        if out.getvalue() or err.getvalue():
            effects.append({"effect": "prints %r" % (out.getvalue() or err.getvalue())[:60], "line": 1})
        after = (dict(os.environ), os.getcwd(), list(sys.path))
        for name, old, new in zip(("the environment", "the working directory", "sys.path"), before, after):
            if old != new:
                effects.append({"effect": "changes %s" % name, "line": 1})
        tables.append(getattr(module, arguments["table"], None) if arguments.get("table") else None)
    if tables[0] != tables[1]:
        effects.append({"effect": "gives another table when executed again", "line": 1})
    return effects


OBSERVERS = {
    "script": observe_script,
    "registry": observe_registry,
    "rejection": observe_rejection,
    "fingerprint": observe_fingerprint,
    "main-block": observe_main_block,
    "alone": observe_alone,
    "import-effects": observe_import_effects,
}


def error_place(error, root, overlay):
    """(path, line) of the deepest frame in the project, else None: what a reader should look at."""
    place = None
    for frame in traceback.extract_tb(error.__traceback__):
        for prefix in ((root.rstrip("/") + "/") if root else "", IN_MEMORY + "/"):
            if prefix and frame.filename.startswith(prefix):
                place = (frame.filename[len(prefix):], frame.lineno)
        if frame.filename in overlay:
            place = (frame.filename, frame.lineno)
    if isinstance(error, SyntaxError) and error.filename:
        for prefix in ((root.rstrip("/") + "/") if root else "", IN_MEMORY + "/"):
            if prefix and error.filename.startswith(prefix):
                place = (error.filename[len(prefix):], error.lineno or 1)
    return place


def answer(request):
    """The answer to one request; what project code raises is part of the answer, also SystemExit."""
    with fresh_imports(request["root"], request["overlay"], request["packages"], request["variables"]):
        try:
            return {"value": OBSERVERS[request["observer"]](request)}
        except (Exception, SystemExit) as error:
            place = error_place(error, request["root"], request["overlay"])
            return {
                "error": {
                    "type": type(error).__name__,
                    "message": str(error),
                    "path": place[0] if place else None,
                    "line": place[1] if place else None,
                }
            }


if __name__ == "__main__":
    sys.stdout.write("\0" + json.dumps(answer(json.load(sys.stdin))))
