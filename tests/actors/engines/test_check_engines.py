"""The check of imported names: finds what is there in every shape, and cannot pass where something is missing."""

import pathlib
import sys
import zipfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))

import check_engines
from check_engines import ImportedName, Row, exit_code, imported_names, requirements
from wheel_names import Wheel

FILES = {
    "lib/__init__.py": """
import typing
from .core import Engine as PublicEngine
from .stars import *
from other_distribution import Foreign
from .missing_file import Nothing
from lib import helper
try:
    from .fast import quick
except ImportError:
    quick = None
if typing.TYPE_CHECKING:
    from .core import OnlyTyped, Invented
VALUE: int = 3
left, right = 1, 2
""",
    "lib/core.py": "class Engine: ...\nclass OnlyTyped: ...\nasync def run(): ...\n",
    "lib/stars.py": "def star(): ...\n",
    "lib/helper.py": "",
    "lib/deep/native.cpython-312-x86_64-linux-gnu.so": "",
    "lazy/__init__.py": """
from typing import TYPE_CHECKING
TABLE = {"Tabled": ".engine:Tabled"}
if TYPE_CHECKING:
    from .engine import Typed, Gone
def __getattr__(name): ...
""",
    "lazy/engine.py": "class Typed: ...\n",
    "call/__init__.py": "Engine = LazyImport('call.engine', 'Engine')\n",
    "ring/__init__.py": "from ring.one import lost\n",
    "ring/one.py": "from ring import lost\n",
}


@pytest.fixture
def wheel(tmp_path: pathlib.Path) -> Wheel:
    path = tmp_path / "lib-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    return Wheel(path)


@pytest.mark.parametrize(
    ("module", "name", "how"),
    [
        ("lib", "", "module"),
        ("lib", "PublicEngine", "re-exported from lib.core"),
        ("lib", "star", "re-exported from lib.stars"),
        ("lib", "Foreign", "re-exported from other_distribution, another distribution's"),
        ("lib", "helper", "submodule"),
        ("lib", "core", "submodule"),
        ("lib", "quick", "defined"),
        ("lib", "VALUE", "defined"),
        ("lib", "right", "defined"),
        ("lib.core", "run", "defined"),
        ("lib.deep.native", "", "module"),
        ("lazy", "Tabled", "lazy: a table of the module names it"),
        ("lazy", "Typed", "lazy: re-exported from lazy.engine for type checkers"),
        ("call", "Engine", "lazy: Engine = LazyImport('call.engine', 'Engine')"),
    ],
)
def test_a_name_that_exists_is_found_and_the_table_says_how(wheel: Wheel, module: str, name: str, how: str) -> None:
    assert (wheel.resolve(module, name).found, wheel.resolve(module, name).how) == (True, how)


@pytest.mark.parametrize(
    ("module", "name", "how"),
    [
        ("lib", "Engine", "lib has no Engine"),
        ("lib", "OnlyTyped", "lib has no OnlyTyped"),
        ("lib", "Nothing", "there is no module lib.missing_file"),
        ("lib.nowhere", "x", "there is no module lib.nowhere"),
        ("lazy", "Gone", "lazy.engine has no Gone"),
        ("lazy", "Never", "lazy has no Never"),
        ("ring", "lost", "only import lost from each other"),
    ],
)
def test_a_name_that_does_not_exist_is_not_found(wheel: Wheel, module: str, name: str, how: str) -> None:
    resolution = wheel.resolve(module, name)
    assert not resolution.found
    assert how in resolution.how


def test_imports_are_read_wherever_they_stand_but_for_first_party_and_standard_ones(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "worker.py"
    source.write_text(
        "import os\nfrom nemo_rl.models import interfaces\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from lib import Typed\n"
        "def build():\n    from lib import Engine\n    import lib.core as core\n"
    )
    assert imported_names([source], tmp_path) == [
        ImportedName("lib", "Engine", ("worker.py:7",)),
        ImportedName("lib", "Typed", ("worker.py:5",)),
        ImportedName("lib.core", "", ("worker.py:8",)),
    ]


def test_pins_are_taken_from_the_extras(tmp_path: pathlib.Path) -> None:
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text(
        '[project.optional-dependencies]\na = ["vllm==0.33.0", "Nemo_Gym[x,y] >=0.4,<0.5 ; python_version>=\'3.12\'"]\n'
    )
    assert requirements(pyproject) == {"vllm": "vllm==0.33.0", "nemo-gym": "Nemo_Gym>=0.4,<0.5"}


def rows(*found: bool | None) -> list[Row]:
    return [Row("lib", "1.0", ImportedName("lib", "x", ("a.py:1",)), item, "") for item in found]


def test_exit_codes() -> None:
    assert exit_code(rows(True, True)) == 0
    assert exit_code(rows(True, False, None)) == 1
    assert exit_code(rows(True, None)) == 3
    assert exit_code([]) == 1, "a check that looked at nothing has not passed"


def test_a_misspelt_import_of_the_package_is_reported_with_its_place(
    tmp_path: pathlib.Path, wheel: Wheel, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nemo_rl").mkdir()
    (tmp_path / "nemo_rl" / "worker.py").write_text("def build():\n    from lib import PublicEngin\n")
    (tmp_path / "pyproject.toml").write_text("[project.optional-dependencies]\na = []\n")
    monkeypatch.setattr(check_engines, "DISTRIBUTIONS", {"lib": "lib"})
    (row,) = check_engines.report(tmp_path, tmp_path)
    assert (row.found, row.how, row.item.places) == (False, "lib has no PublicEngin", ("nemo_rl/worker.py:2",))
    table = check_engines.as_markdown([row])
    assert "| `lib.PublicEngin` | **no** | lib has no PublicEngin | nemo_rl/worker.py |" in table


def test_the_table_goes_between_the_markers_and_nowhere_else(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- check-engines -->\nold\n<!-- end check-engines -->\nafter\n")
    check_engines.write_between_markers(page, "new\n")
    assert page.read_text() == "before\n<!-- check-engines -->\nnew\n<!-- end check-engines -->\nafter\n"
    page.write_text("no markers")
    with pytest.raises(ValueError, match="needs the lines"):
        check_engines.write_between_markers(page, "new\n")
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]
