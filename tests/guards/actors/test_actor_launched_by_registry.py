from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Small = Callable[..., Any]
GUARD = "actor-launched-by-registry"
LEAF, WORKERS, USER = "pkg/actor_environments.py", "pkg/workers.py", "pkg/user.py"
ENTRIES = '    "pkg.workers.A": ["alpha", "beta"],\n    "pkg.workers.B": ["beta"],\n    "pkg.workers.N": None,\n'
BASE = {WORKERS: "import ray\n\n\n" + "".join(f"@ray.remote\nclass {name}: pass\n\n\n" for name in "ABN")}
IMPORT = "from pkg.workers import A, B, N\n"
ADVICE = 'give its runtime_env: "py_executable": get_actor_python_env("pkg.workers.A")'
OWN = 'get_actor_python_env("pkg.workers.A")'
OTHER = 'get_actor_python_env("pkg.workers.B")'


def bare(place: str) -> str:
    return (
        f"{USER}:{place}: A is launched without the registry, on the driver's interpreter, "
        f"which lacks alpha, beta\n    {ADVICE}"
    )


def unclear(*places: str) -> dict[str, str]:
    listed = ", ".join(f"{USER}:{place}" for place in places)
    said = f"undecided: {listed}: where the interpreter of A comes from cannot be read\n    {ADVICE}"
    return {"pkg.workers.A": said}


def using(small: Small, text: str, configuration: str = "") -> Any:
    return small(ENTRIES, {**BASE, USER: text}, configuration)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"{IMPORT}A.remote()\n", "2:1"),
        (f"{IMPORT}'äö'; A.options(num_cpus=1).remote(1, x=2)\n", "2:7"),
        ("import pkg.workers\r\nif True:\r\n    pkg.workers.A.remote()\r\n", "3:5"),
        ("import pkg.workers as w\ndef f():\n    return w.A.options().remote()\n", "3:12"),
        ("from .workers import A as Renamed\nRenamed.remote()\n", "2:1"),
        ("from pkg.again import Again\nAgain.remote()\n", "2:1"),
        ('from pkg.workers import A\nA.options(runtime_env={"env_vars": {}}).remote()\n', "2:1"),
        ('from pkg.workers import A\nA.options(runtime_env={"py_executable": "python3"}).remote()\n', "2:1"),
        ("import ray\nfrom pkg.workers import A\nray.remote(A).remote()\n", "3:1"),
        ("import ray as r\nfrom pkg.workers import A\nr.remote(num_cpus=1)(A).remote()\n", "3:1"),
        ("from pkg.workers import A\nO = {'num_cpus': 1}\nA.options(**O).remote()\n", "3:1"),
        ("from pkg.workers import A\nA.options(runtime_env=None).remote()\n", "2:1"),
        ("from pkg.workers import A\nA.options(num_cpus=1).options(name=x).remote()\n", "2:1"),
        ("from pkg.workers import A\ndef f():\n    a = A.options(num_cpus=1)\n    return a.remote()\n", "4:12"),
        ("from pkg.workers import A\nB = A.options(num_cpus=1)\nB.options(name=x).remote()\n", "3:1"),
    ],
)
def test_a_launch_without_the_registry(small: Small, text: str, place: str) -> None:
    again = "from .workers import A as Again\n"
    broken = small(ENTRIES, {**BASE, USER: text, "pkg/again.py": again})
    assert (broken.report(GUARD), broken.reasons(GUARD)) == ([bare(place)], {})


@pytest.mark.parametrize(
    "launch",
    [
        f'A.options(runtime_env={{"py_executable": {OWN}}}).remote()',
        f"A.options(runtime_env=dict(py_executable={OWN})).remote()",
        'A.options(runtime_env={"py_executable": ACTOR_ENVIRONMENT_REGISTRY["pkg.workers.A"]}).remote()',
        'A.options(runtime_env={"py_executable": get_actor_python_env(fqn="pkg.workers.A")}).remote()',
        f'python = {OWN}\nenv = {{"py_executable": python}}\nA.options(runtime_env=env).remote()',
        f'env = {{}}\nenv["py_executable"] = {OWN}\nA.options(runtime_env=env).remote()',
        f'O = {{"runtime_env": {{"py_executable": {OWN}}}}}\nA.options(num_cpus=1, **O).remote()',
        f'O: dict = {{"runtime_env": {{"py_executable": {OWN}}}}}\nA.options(**O, **{{}}).remote()',
        'A.options(runtime_env=make_env("pkg.workers.A")).remote()',
        'A.options(runtime_env=make_env(1, "x", "pkg.workers.A")).remote()',
        'A.options(runtime_env=launch("pkg.workers.A")).remote()',
        f'a = A.options(runtime_env={{"py_executable": {OWN}}})\na.options(name="x").remote()',
        "a = A.options()\na = other\na.remote()",
        "a = start(A.options())\na.remote()",
        "N.remote()",
        "N.options(runtime_env=whatever()).remote()",
        'N.options(runtime_env={"py_executable": x}).remote()',
        "handle.method.remote()",
        "self.A.remote()",
        "ray.remote(f).remote()",
        "A.remote",
        "A.method()",
        'NAME = "pkg.workers.A"\nA.options(runtime_env={"py_executable": get_actor_python_env(NAME)}).remote()',
    ],
)
def test_what_is_launched_rightly(small: Small, launch: str) -> None:
    good = using(small, f"import ray\n{IMPORT}{launch}\n")
    assert (good.report(GUARD), good.reasons(GUARD)) == ([], {})
    assert list(good.outcomes(GUARD)) == ["pkg.workers.A", "pkg.workers.B", "pkg.workers.N"]


@pytest.mark.parametrize("lookup", ["get_actor_python_env(NAME)", "ACTOR_ENVIRONMENT_REGISTRY[NAME]"])
def test_a_name_that_another_module_holds_is_followed(small: Small, lookup: str) -> None:
    launch = f'from pkg.names import NAME\n{IMPORT}A.options(runtime_env={{"py_executable": {lookup}}}).remote()\n'
    good = small(ENTRIES, {**BASE, USER: launch, "pkg/names.py": 'NAME = "pkg.workers.A"\n'})
    assert (good.report(GUARD), good.reasons(GUARD)) == ([], {})


@pytest.mark.parametrize(
    "environment",
    [
        f'{{"py_executable": {OTHER}}}',
        f'{{"py_executable": choose({OTHER}, get_actor_python_env(x))}}',
        '{"py_executable": ACTOR_ENVIRONMENT_REGISTRY["pkg.workers.B"]}',
        'make_env(1, "pkg.workers.B")',
    ],
)
def test_the_interpreter_of_another_actor(small: Small, environment: str) -> None:
    broken = using(small, f"{IMPORT}A.options(runtime_env={environment}).remote()\n")
    assert broken.report(GUARD) == [f"{USER}:2:1: A is launched with the interpreter of pkg.workers.B\n    {ADVICE}"]


def test_an_actor_of_the_drivers_interpreter_in_an_environment_of_another(small: Small) -> None:
    broken = using(small, f'{IMPORT}N.options(runtime_env={{"py_executable": {OTHER}}}).remote()\n')
    assert broken.report(GUARD) == [
        f"{USER}:2:1: N is launched with the interpreter of pkg.workers.B\n    {ADVICE.replace('.A', '.N')}"
    ]


@pytest.mark.parametrize(
    "options",
    [
        "runtime_env=environment",
        "runtime_env=make_env(1)",
        "**options",
        "num_cpus=1, **options()",
        "**{'num_cpus': 1}, **options",
        "runtime_env={'py_executable': get_actor_python_env(name)}",
        "runtime_env={'py_executable': ACTOR_ENVIRONMENT_REGISTRY[name]}",
        "runtime_env=make(get_actor_python_env(name))",
    ],
)
def test_where_the_interpreter_comes_from_cannot_be_read(small: Small, options: str) -> None:
    text = f"{IMPORT}def f(environment, options, name):\n    A.options({options}).remote()\n"
    assert (using(small, text).report(GUARD), using(small, text).reasons(GUARD)) == ([], unclear("3:5"))


def test_every_unclear_launch_is_named_unless_another_is_wrong(small: Small) -> None:
    text = f"{IMPORT}def f(x, y):\n    A.options(**x).remote()\n    A.options(**y).remote()\n"
    assert using(small, text).reasons(GUARD) == unclear("3:5", "4:5")
    broken = using(small, text + "A.remote()\nA.options().remote()\n")
    assert (broken.report(GUARD), broken.reasons(GUARD)) == ([bare("5:1"), bare("6:1")], {})


def test_a_configured_look_up_counts(small: Small) -> None:
    text = f'{IMPORT}from pkg.reg import env_of\nA.options(runtime_env={{"py_executable": env_of(x)}}).remote()\n'
    assert using(small, text).report(GUARD) == [bare("3:1")]
    configured = using(small, text, 'lookups = ["pkg.reg.env_of"]\n')
    assert configured.reasons(GUARD) == {
        "pkg.workers.A": unclear("3:1")["pkg.workers.A"].replace("get_actor_python_env", "env_of")
    }
    without = using(small, text, "lookups = []\nlaunchers = []\n")
    assert without.report(GUARD) == [
        bare("3:1").replace('get_actor_python_env("pkg.workers.A")', 'ACTOR_ENVIRONMENT_REGISTRY["pkg.workers.A"]')
    ]


def test_following_the_advice_makes_it_green(small: Small) -> None:
    _, _, pair = ADVICE.partition(": ")
    for options in (f"runtime_env={{{pair}}}", f"num_cpus=1, runtime_env={{{pair}, 'env_vars': {{}}}}"):
        good = using(small, f"{IMPORT}A.options({options}).remote()\n")
        assert (good.report(GUARD), good.reasons(GUARD)) == ([], {})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("sys.executable", "sys.executable"),
        ("PY", "PY"),
        ('"/venv/bin/python"', "'/venv/bin/python'"),
        ('f"{folder}/bin/python"', "f'{folder}/bin/python'"),
    ],
)
@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT"])
def test_a_variable_of_a_folder_that_gets_an_interpreter(small: Small, variable: str, value: str, shown: str) -> None:
    text = (
        f'{IMPORT}PY = {OWN}\nA.options(runtime_env={{"py_executable": PY,\n'
        f'  "ä": 1, "env_vars": {{"{variable}": {value}}}}}).remote()\n'
    )
    column = text.split("\n")[3].index(value) + 1
    assert using(small, text).report(GUARD) == [
        f"{USER}:4:{column}: {variable} gets {shown}, the path of an interpreter; "
        "it names the folder of an environment\n    give it the folder that the interpreter's bin/ is in"
    ]
    mended = text.replace(f": {value}}}", ': "/venv"}')
    assert mended != text
    assert using(small, mended).report(GUARD) == []


def test_variables_of_folders_count_for_actors_of_the_drivers_interpreter_and_through_names(small: Small) -> None:
    text = f'{IMPORT}V = {{"VIRTUAL_ENV": sys.executable}}\nN.options(runtime_env={{"env_vars": V}}).remote()\n'
    assert [line.partition(",")[0] for line in using(small, text).report(GUARD)] == [
        f"{USER}:2:21: VIRTUAL_ENV gets sys.executable"
    ]


def test_files_that_do_not_parse_are_passed_over_and_entries_left_to_their_guards(small: Small) -> None:
    files = {
        **BASE,
        "pkg/a_broken.py": "A.remote(\n",
        "pkg/b_unrelated.py": "x.remote()\n",
        USER: f"{IMPORT}A.remote()\n",
        "pkg/bad.py": "class C(:\n",
    }
    entries = f'{ENTRIES}    "pkg.workers.Gone": None,\n    "pkg.bad.C": None,\n    "pkg.workers.T": ("x",),\n'
    found = small(entries, files)
    assert found.reasons(GUARD) == {
        "pkg.bad.C": "blocked: actor-resolves",
        "pkg.workers.Gone": "blocked: actor-resolves",
        "pkg.workers.T": "blocked: leaf-table-literal",
    }
    assert found.report(GUARD) == [bare("2:1")]


def test_a_class_of_the_same_name_elsewhere_is_another_one(small: Small) -> None:
    files = {**BASE, USER: "import ray\n@ray.remote\nclass A: pass\nA.remote()\n"}
    assert small(ENTRIES, files).report(GUARD) == []


def test_its_mutants_launch_each_class_wrongly_beside_it(small: Small) -> None:
    entries = '    "pkg.gone.G": None,\n    "pkg.workers.A": ["alpha"],\n    "pkg.N": None,\n'
    files = {"pkg/__init__.py": "from .workers import N\n", WORKERS: BASE[WORKERS].rstrip() + "\n"}
    own, other = OWN, 'get_actor_python_env("pkg.gone.G")'

    def change(code: str) -> str:
        return f"{WORKERS}:16: +def _added_by_a_mutant():\n{WORKERS}:17: +    return {code}"

    none = own.replace(".workers.A", ".N")
    assert small(entries, files).mutants(GUARD) == [
        ("pkg.workers.A", "bare", change("A.remote()")),
        ("pkg.workers.A", "options-without", change("A.options(num_cpus=1).remote()")),
        (
            "pkg.workers.A",
            "interpreter-of-another",
            change(f'A.options(runtime_env={{"py_executable": {other}}}).remote()'),
        ),
        (
            "pkg.workers.A",
            "folder-is-interpreter",
            change(f'A.options(runtime_env={{"py_executable": {own}, "env_vars": {{"VIRTUAL_ENV": {own}}}}}).remote()'),
        ),
        (
            "pkg.N",
            "interpreter-of-another",
            change(f'N.options(runtime_env={{"py_executable": {other}}}).remote()'),
        ),
        (
            "pkg.N",
            "folder-is-interpreter",
            change(
                f'N.options(runtime_env={{"py_executable": {none}, "env_vars": {{"VIRTUAL_ENV": {none}}}}}).remote()'
            ),
        ),
    ]


def test_the_interpreter_of_another_is_that_of_another_class(small: Small) -> None:
    entries = '    "pkg.workers.A": ["alpha"],\n    "pkg.A": ["alpha"],\n    "pkg.workers.B": ["beta"],\n'
    files = {**BASE, "pkg/__init__.py": "from .workers import A\n"}
    mutants = small(entries, files).mutants(GUARD)
    assert ["workers.B" in change for _, shape, change in mutants if shape == "interpreter-of-another"] == [
        True,
        True,
        False,
    ]
