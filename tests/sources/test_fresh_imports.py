"""Modules of a project in memory and in a folder, imported anew, and this process as it was before."""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

from pytest_actor_envs.sources.fresh_imports import (
    KnownFileLoader,
    OverlayFinder,
    cleaned,
    fresh_imports,
    import_alone,
    import_from,
    places,
)

OVERLAY = {
    "pkg/__init__.py": "A = 1\n",
    "pkg/sub/deep.py": "from pkg import A\npath = __file__\n",
    "pkg/gone.py": None,
    "pkg/both.py": "WHERE = 'overlay'\n",
    "spaces/a/b.py": "",
    "lone.py": "NAME = __name__\n",
}


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Nothing that these tests import stays."""
    modules, path, meta = dict(sys.modules), list(sys.path), list(sys.meta_path)
    written, cache = sys.dont_write_bytecode, dict(sys.path_importer_cache)
    yield
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]
    sys.path[:], sys.meta_path[:], sys.dont_write_bytecode = path, meta, written
    sys.path_importer_cache.clear()
    sys.path_importer_cache.update(cache)


def code_of(text: str, name: str = "known") -> CodeType:
    return compile(text, name, "exec")


def test_variables_that_would_change_the_project_are_left_out() -> None:
    kept = {"PATH": "1", "MY_UV_X": "2", "NEMO": "3", "PYTHONPATHS": "4"}
    names = ["NEMO_RL_X", "NRL_", "UV_CACHE_DIR", "VIRTUAL_ENV", "PYTHONPATH"]
    assert cleaned({**kept, **dict.fromkeys(names, "x")}) == kept


def test_modules_of_the_overlay_are_found_with_their_names_and_places() -> None:
    finder = OverlayFinder("/home/project", OVERLAY)
    package = finder.find_spec("pkg", None)
    assert package is not None and package.loader is finder
    assert (package.name, package.origin, package.has_location) == ("pkg", "/home/project/pkg/__init__.py", True)
    assert package.submodule_search_locations == ["/home/project/pkg"]
    module = finder.find_spec("pkg.sub.deep", ["/home/project/pkg/sub"])
    assert module is not None and module.loader is finder
    assert (module.name, module.origin, module.has_location) == ("pkg.sub.deep", "/home/project/pkg/sub/deep.py", True)
    assert module.submodule_search_locations is None
    space = finder.find_spec("spaces.a", None)
    assert space is not None and space.loader is None
    assert (space.name, list(space.submodule_search_locations or ())) == ("spaces.a", ["/home/project/spaces/a"])
    assert finder.find_spec("space", None) is None
    assert finder.find_spec("json", None) is None
    with pytest.raises(ModuleNotFoundError) as error:
        finder.find_spec("pkg.gone", ["/home/project/pkg"])
    assert (str(error.value), error.value.name) == ("No module named 'pkg.gone'", "pkg.gone")
    assert finder.paths_asked() == [
        path
        for name in ("json", "pkg", "pkg/gone", "pkg/sub/deep", "space", "spaces/a")
        for path in (f"{name}/__init__.py", f"{name}.py")
    ]
    assert OverlayFinder(None, OVERLAY).root == OverlayFinder("", OVERLAY).root == "/in-memory"


def test_a_folder_that_is_there_is_no_package_of_the_overlay_alone(tmp_path: Path) -> None:
    (tmp_path / "spaces/a").mkdir(parents=True)
    assert OverlayFinder(str(tmp_path), OVERLAY).find_spec("spaces.a", None) is None


def test_sources_and_code_of_modules() -> None:
    known = code_of("A = 2\n")
    finder = OverlayFinder(None, OVERLAY, (), {("/in-memory/pkg/__init__.py", "A = 1\n"): known})
    assert [finder.is_package(name) for name in ("pkg", "pkg.both", "none")] == [True, False, False]
    assert [finder.get_source(name) for name in ("pkg", "pkg.gone", "none")] == ["A = 1\n", None, None]
    assert finder.get_code("pkg") is known
    assert finder.get_code("none") is finder.get_code("pkg.gone") is None
    code = finder.get_code("pkg.sub.deep")
    assert code is not None and code.co_filename == "/in-memory/pkg/sub/deep.py"
    assert not code.co_flags & 0x1000000  # of `from __future__ import annotations`, which is this test's


def test_a_byte_order_mark_is_no_part_of_the_source() -> None:
    finder = OverlayFinder("/home/project", {"marked.py": "\ufeffA = 1\n"})
    assert finder.get_source("marked") == "A = 1\n"
    code = finder.get_code("marked")
    assert code is not None and code.co_names == ("A",)


def test_a_known_file_is_not_compiled_again(tmp_path: Path) -> None:
    file = tmp_path / "pkg.py"
    file.write_text("A = 1\n")
    known = code_of("A = 2\n")
    for text, expected in ((b"A = 1\n", known), (b"A = 3\n", None)):
        loader = KnownFileLoader("pkg", str(file), {(str(file), text): known})
        code = loader.get_code("pkg")
        assert code is known if expected else (code is not None and code.co_filename == str(file))


def test_files_of_packages_are_found_with_what_is_known_of_them(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    for name in ("pkg/__init__.py", "pkg/disk.py", "other.py"):
        (tmp_path / name).write_text("A = 1\n")
    compiled = {(str(tmp_path / "pkg/disk.py"), b"A = 1\n"): code_of("A = 2\n")}
    sys.path.insert(0, str(tmp_path))
    importlib.invalidate_caches()
    finder = OverlayFinder(str(tmp_path), {}, ["pkg"], compiled)
    spec = finder.find_spec("pkg.disk", [str(tmp_path / "pkg")])
    assert spec is not None and isinstance(spec.loader, KnownFileLoader)
    assert (spec.name, spec.origin, spec.loader.name) == ("pkg.disk", str(tmp_path / "pkg/disk.py"), "pkg.disk")
    assert spec.loader.get_code("pkg.disk") is next(iter(compiled.values()))
    assert finder.find_spec("pkg.none", [str(tmp_path / "pkg")]) is None
    (tmp_path / "pkg/sub").mkdir()
    (tmp_path / "pkg/sub/deep.py").write_text("")
    deep = finder.find_spec("pkg.sub.deep", [str(tmp_path / "pkg/sub")])
    assert deep is not None and deep.origin == str(tmp_path / "pkg/sub/deep.py")
    in_overlay = OverlayFinder("/home/project", OVERLAY).spec_alone("lone", "lone.py")
    assert in_overlay is not None and in_overlay.origin == "/home/project/lone.py"
    assert finder.find_spec("other", None) is None
    assert OverlayFinder(str(tmp_path), {}, ["pkg"]).find_spec("pkg", None) is None
    alone = finder.spec_alone("pkg.disk", "pkg/disk.py")
    assert alone is not None and isinstance(alone.loader, KnownFileLoader) and alone.name == "pkg.disk"
    assert alone.origin == str(tmp_path / "pkg/disk.py")
    assert import_alone("pkg.disk", "pkg/disk.py", finder).A == 2


def test_one_file_is_executed_under_its_name_without_the_packages_above() -> None:
    finder = OverlayFinder(None, {**OVERLAY, "pkg/sub/deep.py": "import sys\nSELF = sys.modules[__name__]\n"})
    module = import_alone("pkg.sub.deep", "pkg/sub/deep.py", finder)
    assert module.SELF is module and module.__name__ == "pkg.sub.deep"
    assert not {"pkg", "pkg.sub", "pkg.sub.deep"} & set(sys.modules)
    known = {("/in-memory/lone.py", "NAME = __name__\n"): code_of("NAME = 'known'\n")}
    assert import_alone("lone", "lone.py", OverlayFinder(None, OVERLAY, (), known)).NAME == "known"
    for overlay, kind in (("1 / 0\n", ZeroDivisionError), ("(\n", SyntaxError)):
        with pytest.raises(kind):
            import_alone("lone", "lone.py", OverlayFinder(None, {"lone.py": overlay}))
        assert "lone" not in sys.modules
    with pytest.raises(ModuleNotFoundError) as error:
        import_alone("lone", "lone.txt", OverlayFinder(None, {}))
    assert (str(error.value), error.value.name) == ("lone.txt cannot be executed as a module", "lone")
    removes = "import sys\ndel sys.modules[__name__]\n"
    assert import_alone("lone", "lone.py", OverlayFinder(None, {"lone.py": removes})).sys is sys


def test_from_here_on_the_project_is_imported_first_and_no_bytecode_is_written(tmp_path: Path) -> None:
    sys.dont_write_bytecode = False
    known = {("x", "y"): code_of("")}
    before = list(sys.path)
    finder = import_from(str(tmp_path), OVERLAY, ["pkg"], known)
    assert sys.dont_write_bytecode is True
    assert sys.path == [str(tmp_path), *before]
    assert sys.meta_path[0] is finder
    assert (finder.root, finder.overlay, finder.packages, finder.compiled) == (str(tmp_path), OVERLAY, {"pkg"}, known)
    in_memory = import_from(None, OVERLAY, ["pkg"])
    assert sys.path == [str(tmp_path), *before] and sys.meta_path[:2] == [in_memory, finder]
    assert in_memory.compiled == {}


def test_what_is_imported_anew_is_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/both.py").write_text("WHERE = 'disk'\n")
    (tmp_path / "pkg/disk.py").write_text("WHERE = 'disk'\n")
    old = importlib.util.module_from_spec(importlib.machinery.ModuleSpec("pkg", None))
    below = importlib.util.module_from_spec(importlib.machinery.ModuleSpec("pkg.old", None))
    monkeypatch.setitem(sys.modules, "pkg", old)
    monkeypatch.setitem(sys.modules, "pkg.old", below)
    for name, value in {"UV_X": "1", "KEPT": "1", "CHANGED": "1"}.items():
        monkeypatch.setenv(name, value)
    root = str(tmp_path)
    neighbour = f"{root}-more"
    sys.path_importer_cache.update(dict.fromkeys([root, f"{root}/pkg", neighbour]))
    sys.dont_write_bytecode = False
    before = (list(sys.path), list(sys.meta_path), dict(os.environ), os.getcwd())
    with (
        pytest.raises(ZeroDivisionError),
        fresh_imports(root, OVERLAY, ["pkg"], {"CHANGED": "2", "NEW": "3"}) as finder,
    ):
        assert finder is sys.meta_path[0] and sys.path[0] == root
        assert "pkg" not in sys.modules and "pkg.old" not in sys.modules
        assert root not in sys.path_importer_cache and f"{root}/pkg" not in sys.path_importer_cache
        assert neighbour in sys.path_importer_cache
        assert dict(os.environ) == {
            **{name: value for name, value in cleaned(before[2]).items()},
            "CHANGED": "2",
            "NEW": "3",
        }
        assert importlib.import_module("pkg.both").WHERE == "overlay"
        assert importlib.import_module("pkg.disk").WHERE == "disk"
        deep = importlib.import_module("pkg.sub.deep")
        assert deep.path == f"{root}/pkg/sub/deep.py"
        os.chdir(tmp_path)
        os.environ["LATE"] = "1"
        raise ZeroDivisionError
    assert (list(sys.path), list(sys.meta_path), dict(os.environ), os.getcwd()) == before
    assert sys.dont_write_bytecode is False
    assert {name: module for name, module in sys.modules.items() if name.split(".")[0] == "pkg"} == {
        "pkg": old,
        "pkg.old": below,
    }


def test_places_are_the_projects_own_frames(tmp_path: Path) -> None:
    def raised(text: str, filename: str) -> BaseException:
        try:
            exec(compile(text, filename, "exec"))
        except Exception as error:
            return error
        raise AssertionError("it did not raise")

    code = "def f():\n    raise ValueError\n\nf()\n"
    assert places(raised(code, "/home/project/a/b.py"), "/home/project") == [("a/b.py", 4), ("a/b.py", 2)]
    assert places(raised(code, "/home/project/a/b.py"), "/home/project/") == [("a/b.py", 4), ("a/b.py", 2)]
    assert places(raised(code, "/in-memory/b.py"), None) == places(raised(code, "/in-memory/b.py"), "/home/project")
    assert places(raised(code, "/in-memory/b.py"), "") == [("b.py", 4), ("b.py", 2)]
    assert places(raised(code, "/home/projects/b.py"), "/home/project") == []
    assert places(raised("\n\n(\n", "/home/project/c.py"), "/home/project") == [("c.py", 3)]
    unplaced = SyntaxError("no", ("/home/project/c.py", None, None, None))
    assert places(unplaced, "/home/project") == [("c.py", 1)]
    assert places(SyntaxError("no"), "/home/project") == places(ValueError(), "/home/project") == []
