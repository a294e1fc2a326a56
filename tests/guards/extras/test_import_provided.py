from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.model import Verdict

Sample = Callable[..., Any]
GUARD = "import-provided"
WORKERS = "sample/workers.py"
THIRD = "sample.workers.Third"


def with_top(statement: str) -> dict[str, Any]:
    return {WORKERS: ("import ray\n", f"import ray\n{statement}\n")}


def test_the_sample_holds(sample: Sample) -> None:
    assert sample().not_green() == {}


@pytest.mark.parametrize(
    "statement", ["import six", "from six import moves", "import six as s", "from six.moves import urllib"]
)
def test_an_import_at_the_top_is_a_finding_for_each_entry_that_lacks_it(sample: Sample, statement: str) -> None:
    broken = sample(with_top(statement))
    outcomes = broken.outcomes(GUARD)
    assert {name.rpartition(".")[2] for name, outcome in outcomes.items() if outcome.findings} == {"Third", "Fourth"}
    (finding,) = outcomes[THIRD].findings
    assert str(finding.location) == f"{WORKERS}:2:{statement.index('six') + 1 if statement.startswith('import') else 1}"
    assert (
        "of the distribution six, which the driver's interpreter, with base dependencies alone, does not have"
        in finding.message
    )
    assert finding.fix[1] == "add the extra 'alpha' to the entry at sample/actor_environments.py:10:5"


@pytest.mark.parametrize(
    "body", ["import six", "from six import moves", 'importlib.import_module("six")', '__import__("six")']
)
def test_an_import_inside_a_method_is_a_finding(sample: Sample, body: str) -> None:
    method = f"class Third:\n    def work(self):\n        {body}\n"
    broken = sample({WORKERS: ("class Third:\n", method)})
    assert broken.outcomes(GUARD)[THIRD].verdict is Verdict.BROKEN


def test_the_whole_chain_is_shown(sample: Sample) -> None:
    broken = sample(
        {
            **with_top("from sample import first"),
            "sample/first.py": "import os\nfrom . import second\n",
            "sample/second.py": "if True:\n    import six.moves\n",
        }
    )
    (finding,) = broken.outcomes(GUARD)[THIRD].findings
    assert finding.fix[0] == "imported by way of sample/workers.py:2:1 -> sample/first.py:2:1 -> sample/second.py:2:12"


def test_the_suggested_extra_makes_it_green(sample: Sample) -> None:
    method = "class Third:\n    def work(self):\n        import six\n"
    leaf = ('    "sample.workers.Third": None', '    "sample.workers.Third": ["alpha"]')
    mended = sample({WORKERS: ("class Third:\n", method), "sample/actor_environments.py": leaf})
    assert mended.outcomes(GUARD)[THIRD].verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    "text",
    [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import six",
        "import typing as t\nif not t.TYPE_CHECKING:\n    pass\nelse:\n    import six",
        "import sys\nif sys.version_info < (3, 9):\n    import six",
        "import os.path, sys",
        "from __future__ import annotations",
    ],
)
def test_what_needs_nothing(sample: Sample, text: str) -> None:
    assert {outcome.verdict for outcome in sample(with_top(text)).outcomes(GUARD).values()} == {Verdict.HOLDS}


def test_an_import_that_goes_on_without_the_package_needs_nothing_and_one_that_raises_does(sample: Sample) -> None:
    attempt = "try:\n    import six\nexcept {}:\n    {}"
    for caught in ("ImportError", "(OSError, ModuleNotFoundError)", "Exception"):
        tolerant = sample(with_top(attempt.format(caught, "six = None")))
        assert tolerant.outcomes(GUARD)[THIRD].verdict is Verdict.HOLDS
    raising = sample(with_top(attempt.format("ImportError as error", "raise RuntimeError('install it') from error")))
    assert raising.outcomes(GUARD)[THIRD].verdict is Verdict.BROKEN
    other = sample(with_top(attempt.format("ValueError", "six = None")))
    assert other.outcomes(GUARD)[THIRD].verdict is Verdict.BROKEN


def test_a_helper_of_another_module_is_followed_at_its_top_level_only(sample: Sample) -> None:
    files = {**with_top("from sample import helper"), "sample/helper.py": "def helps():\n    import six\n"}
    assert sample(files).outcomes(GUARD)[THIRD].verdict is Verdict.HOLDS


def test_functions_of_a_base_class_in_another_module_count(sample: Sample) -> None:
    files = {
        WORKERS: ("class Third:\n", "class Third(helper.Base):\n"),
        "sample/helper.py": "class Base:\n    def helps(self):\n        import six\n",
    }
    edits = dict(files)
    assert sample(edits).outcomes(GUARD)[THIRD].verdict is Verdict.HOLDS, "not imported, so no base class is known"
    text = "from sample import helper\n"
    workers = sample().project.tree.read_text(WORKERS).replace("class Third:\n", "class Third(helper.Base):\n")
    edits[WORKERS] = text + workers
    assert sample(edits).outcomes(GUARD)[THIRD].verdict is Verdict.BROKEN


def test_a_package_that_nothing_knows_is_undecided_once_with_the_line_to_add(sample: Sample) -> None:
    broken = sample(with_top("import nobody_knows_this"))
    undecided = {
        name: outcome for name, outcome in broken.outcomes(GUARD).items() if outcome.verdict is Verdict.UNDECIDED
    }
    assert list(undecided) == ["sample.workers.First"]
    reason = undecided["sample.workers.First"].reason
    assert reason.startswith(f"{WORKERS}:2:8: nothing knows the distribution that provides nobody_knows_this\n")
    line = 'nobody_knows_this = "the distribution"'
    assert line in reason
    mended = sample(
        {
            **with_top("import nobody_knows_this"),
            "pyproject.toml": (
                "[tool.pytest-actor-envs.stand",
                '[tool.pytest-actor-envs.modules]\nnobody_knows_this = "ray"\n\n[tool.pytest-actor-envs.stand',
            ),
        }
    )
    assert mended.not_green() == {}


def test_a_known_package_that_no_requirement_names_is_undecided_and_brings_decides_it(sample: Sample) -> None:
    imports = with_top("import yaml")
    reasons = [outcome.reason for outcome in sample(imports).outcomes(GUARD).values() if outcome.reason]
    assert len(reasons) == 1
    assert '[tool.pytest-actor-envs.brings]: alpha = ["pyyaml"]' in reasons[0]
    brings = (
        "[tool.pytest-actor-envs.stand",
        '[tool.pytest-actor-envs.brings]\nalpha = ["PyYAML"]\n\n[tool.pytest-actor-envs.stand',
    )
    outcomes = sample({**imports, "pyproject.toml": brings}).outcomes(GUARD)
    assert {name.rpartition(".")[2] for name, outcome in outcomes.items() if outcome.findings} == {"Third", "Fourth"}


def test_a_reached_file_that_does_not_parse_is_a_finding_at_its_line(sample: Sample) -> None:
    broken = sample({**with_top("import sample.helper"), "sample/helper.py": "x = 1\nimport (\n"})
    assert broken.findings(GUARD)[0].location.path == "sample/helper.py"
    assert broken.findings(GUARD)[0].location.line == 2


def test_undeclared_extras_and_unresolved_names_are_left_to_their_guards(sample: Sample) -> None:
    leaf = "sample/actor_environments.py"
    misspelt = sample({leaf: ('["trtllm"]', '["trtlm"]')}).outcomes(GUARD)["sample.workers.Fourth"]
    assert (misspelt.verdict, misspelt.reason) == (Verdict.BLOCKED, "extra-declared")
    gone = sample({leaf: ("workers.Third", "workers.Thirt")}).outcomes(GUARD)["sample.workers.Thirt"]
    assert (gone.verdict, gone.reason) == (Verdict.BLOCKED, "actor-resolves")


def missing(
    place: str, name: str, distribution: str, chain: str, advice: str, lacks: str = "", actor: str = "Third"
) -> str:
    lacking = lacks or "the driver's interpreter, with base dependencies alone, does not have"
    return (
        f"{place}: {actor} imports {name}, of the distribution {distribution}, which {lacking}\n"
        f"    imported by way of {chain}\n    {advice}"
    )


SMALL_WORKERS = "import ray\n{}\n@ray.remote\nclass A: pass\n\n\n@ray.remote\nclass B: pass\n"
FILE = "pkg/workers.py"
AT = "pkg/actor_environments.py:2:5"


def one(small: Sample, body: str, extras: str = "None", more: str = "", **files: str) -> Any:
    named = {f"pkg/{name}.py": text for name, text in files.items()}
    table = f'    "pkg.workers.A": {extras},\n'
    return small(table, {FILE: SMALL_WORKERS.format(body), **named}, more)


def of_a(place: str, name: str, distribution: str, advice: str, lacks: str = "", chain: str = "") -> str:
    return missing(f"{FILE}:{place}", name, distribution, chain or f"{FILE}:{place}", advice, lacks, "A")


def test_a_finding_names_the_import_its_distribution_and_the_extra_to_add(small: Sample) -> None:
    assert one(small, "'ä'; import six.moves").report(GUARD) == [
        of_a("2:13", "six.moves", "six", f"add the extra 'alpha' to the entry at {AT}")
    ]
    assert one(small, "from six import moves, PY3", '["beta", "alpha"]').report(GUARD) == []


def test_extras_that_do_not_bring_it_are_named(small: Sample) -> None:
    more = '\n[tool.pytest-actor-envs.brings]\nbeta = ["tool"]\nalpha = ["tool"]\n'
    found = one(small, "import six\nimport iniconfig", '["beta"]', "").report(GUARD)
    assert found == [
        of_a("2:8", "six", "six", f"add the extra 'alpha' to the entry at {AT}", "the extras beta do not bring")
    ]
    assert one(small, "import tool", more=more).report(GUARD) == [
        of_a("2:8", "tool", "tool", f"add one of the extras alpha, beta to the entry at {AT}")
    ]
    pulled = one(small, "import pluggy", '["alpha", "beta"]', '\n[dependency-groups]\ndocs = ["pluggy"]\n')
    assert pulled.report(GUARD) == [
        of_a(
            "2:8",
            "pluggy",
            "pluggy",
            "no extra brings pluggy: add it to one that the entry has",
            "the extras alpha, beta do not bring",
        )
    ]


def test_each_suggestion_makes_it_green_again(small: Sample) -> None:
    assert one(small, "import six", '["alpha"]').report(GUARD) == []
    brings = '\n[tool.pytest-actor-envs.brings]\nalpha = ["pluggy"]\n'
    assert (
        one(small, "import pluggy", '["alpha"]', "\n[dependency-groups]\ndocs = ['pluggy']\n" + brings).report(GUARD)
        == []
    )


def test_an_extra_is_named_as_it_is_declared(guarded: Callable[..., Any]) -> None:
    pyproject = (
        '[project]\nname = "p"\n[project.optional-dependencies]\nNice_Name = ["six"]\n'
        '[tool.pytest-actor-envs]\nleaf = "leaf.py"\ndocs = []\n'
    )
    leaf = 'import six\nACTOR_ENVIRONMENTS = {"leaf.A": None}\nclass A: pass\n'
    [line] = guarded({"pyproject.toml": pyproject, "leaf.py": leaf}).report(GUARD)
    assert line.endswith("\n    add the extra 'Nice_Name' to the entry at leaf.py:2:23")


def test_every_missing_import_and_every_file_that_cannot_be_read_is_reported_at_once(small: Sample) -> None:
    body = "from . import helper, other\nimport six\nimport nobody\nimport iniconfig"
    broken = one(small, body, helper="'ä'; x = = 1\nimport (\n", other="import six\n")
    mend = "\n    mend the syntax"
    assert broken.report(GUARD) == [
        f"pkg/helper.py:1:10: what A imports from here cannot be read: invalid syntax{mend}",
        of_a("3:8", "six", "six", f"add the extra 'alpha' to the entry at {AT}"),
        of_a("5:8", "iniconfig", "iniconfig", f"add the extra 'beta' to the entry at {AT}"),
        missing(
            "pkg/other.py:1:8",
            "six",
            "six",
            f"{FILE}:2:1 -> pkg/other.py:1:8",
            f"add the extra 'alpha' to the entry at {AT}",
            actor="A",
        ),
        f"{FILE}:4:8: nothing knows the distribution that provides nobody\n"
        '    add to [tool.pytest-actor-envs.modules]: nobody = "the distribution"',
    ]
    assert broken.reasons(GUARD) == {}


def test_what_the_first_entry_cannot_judge_is_said_although_it_is_broken(small: Sample) -> None:
    table = '    "pkg.workers.A": None,\n    "pkg.workers.B": ["alpha"],\n'
    text = SMALL_WORKERS.format("import six\nimport nobody") + "\n\n@ray.remote\nclass B: pass\n"
    found = small(table, {FILE: text})
    said = [line for line in found.report(GUARD) if "nothing knows the distribution that provides nobody" in line]
    assert len(said) == 1
    assert found.reasons(GUARD) == {}


def test_what_cannot_be_judged_is_said_by_the_first_entry_alone(small: Sample) -> None:
    table = '    "pkg.workers.B": None,\n    "pkg.workers.A": ["alpha"],\n    "pkg.z.Z": None,\n'
    body = "import six\nimport unknown.one, unknown\nimport yaml\nimport unknown.two"
    tried = "try:\n    import stranger\nexcept ImportError: pass\n"
    files = {
        FILE: SMALL_WORKERS.format(body),
        "pkg/z.py": f"{tried}import unknown\nimport other_one\nimport yaml.x\nimport ray\nclass Z: pass\n",
    }
    found = small(table, files)
    fix = '    add to [tool.pytest-actor-envs.modules]: {0} = "the distribution"'
    nothing = "nothing knows the distribution that provides {0}\n" + fix
    brings = (
        "no requirement names pyyaml, which provides yaml, and there is no lock\n"
        '    require it, or add to [tool.pytest-actor-envs.brings]: alpha = ["pyyaml"]'
    )
    assert found.reasons(GUARD) == {
        "pkg.workers.A": f"undecided: {FILE}:3:8: {nothing.format('unknown')}\n{FILE}:4:8: {brings}",
        "pkg.z.Z": f"undecided: pkg/z.py:5:8: {nothing.format('other_one')}",
    }
    assert len(found.report(GUARD)) == 1
    decided = (
        '\n[tool.pytest-actor-envs.modules]\nunknown = "ray"\nother_one = "ray"\n'
        '[tool.pytest-actor-envs.brings]\nalpha = ["PyYAML"]\n'
    )
    assert small(table, files, decided).reasons(GUARD) == {}


def test_a_project_without_extras_is_told_to_write_one(guarded: Callable[..., Any]) -> None:
    pyproject = '[project]\nname = "p"\n[tool.pytest-actor-envs]\nleaf = "leaf.py"\ndocs = []\n'
    leaf = 'import yaml\nACTOR_ENVIRONMENTS = {"leaf.A": None}\nclass A: pass\n'
    found = guarded({"pyproject.toml": pyproject, "leaf.py": leaf}).reasons(GUARD)
    assert found["leaf.A"].endswith('[tool.pytest-actor-envs.brings]: extra = ["pyyaml"]')


def test_of_several_distributions_that_may_provide_it_those_that_are_known_are_named(
    guarded: Callable[..., Any],
) -> None:
    pyproject = '[project]\nname = "p"\n[dependency-groups]\ndocs = ["six"]\n[tool.pytest-actor-envs]\nleaf = "leaf.py"\ndocs = []\n'
    leaf = 'import shared\nimport half\nACTOR_ENVIRONMENTS = {"leaf.A": None}\nclass A: pass\n'
    project = guarded({"pyproject.toml": pyproject, "leaf.py": leaf})
    project.project.distributions.of = lambda dotted: frozenset({"shared": ["b", "a"], "half": ["z", "six"]}[dotted])
    project.project.provision.known = frozenset({"six", "a", "b"})
    assert project.report(GUARD) == [
        "leaf.py:1:8: A imports shared, of the distribution a or b, which the driver's interpreter, "
        "with base dependencies alone, does not have\n"
        "    imported by way of leaf.py:1:8\n    no extra brings a: add it to one that the entry has",
        "leaf.py:2:8: A imports half, of the distribution six, which the driver's interpreter, "
        "with base dependencies alone, does not have\n"
        "    imported by way of leaf.py:2:8\n    no extra brings six: add it to one that the entry has",
    ]


def test_an_entry_that_is_no_literal_is_left_to_its_guard(small: Sample) -> None:
    assert one(small, "", '("alpha",)').reasons(GUARD) == {"pkg.workers.A": "blocked: leaf-table-literal"}


def test_its_mutants_import_what_the_entry_lacks_and_drop_what_it_needs(small: Sample) -> None:
    table = '    "pkg.gone.G": None,\n    "pkg.workers.A": ["alpha", "beta"],\n    "pkg.other.B": ["beta"],\n'
    more = '\n[dependency-groups]\ndocs = ["pluggy"]\n'
    files = {FILE: SMALL_WORKERS.format("import six\nimport iniconfig"), "pkg/other.py": "class B: pass\n"}
    leaf = "pkg/actor_environments.py"
    function = "def _added_by_a_mutant():"
    both = f'{leaf}:3: -    "pkg.workers.A": ["alpha", "beta"],\n{leaf}:3: +    "pkg.workers.A": '
    found = small(table, files, more).mutants(GUARD)
    # A has every extra, so that one more is declared: test_spare_extra.py.
    assert [shape for _, shape, _ in found[:3]] == ["import-at-top", "import-in-method", "import-by-name"]
    assert found[3:] == [
        ("pkg.workers.A", "extra-dropped", f'{both}["beta"],'),
        ("pkg.workers.A", "extra-dropped", f'{both}["alpha"],'),
        ("pkg.other.B", "import-at-top", "pkg/other.py:1: +import six"),
        (
            "pkg.other.B",
            "import-in-method",
            f"pkg/other.py:4: +{function}\npkg/other.py:5: +    from six import anything",
        ),
        (
            "pkg.other.B",
            "import-by-name",
            f'pkg/other.py:4: +{function}\npkg/other.py:5: +    import importlib; importlib.import_module("six")',
        ),
    ]
    alone = small('    "pkg.workers.A": ["alpha"],\n', {FILE: SMALL_WORKERS.format("import six")}).mutants(GUARD)
    assert alone[-1] == (
        "pkg.workers.A",
        "extra-dropped",
        f'{leaf}:2: -    "pkg.workers.A": ["alpha"],\n{leaf}:2: +    "pkg.workers.A": None,',
    )


def test_its_mutants_import_only_what_has_a_name_and_is_known(guarded: Callable[..., Any]) -> None:
    pyproject = (
        '[project]\nname = "p"\ndependencies = ["attrs"]\n[project.optional-dependencies]\n'
        'one = ["7zip", "attrs", "six; python_version < \'3\'"]\ntwo = ["zope.interface-x"]\n'
        '[tool.pytest-actor-envs]\nleaf = "leaf.py"\ndocs = []\n'
    )
    leaf = 'ACTOR_ENVIRONMENTS = {"leaf.A": None}\nclass A: pass\n'
    [first, *_] = guarded({"pyproject.toml": pyproject, "leaf.py": leaf}).mutants(GUARD)
    assert first == ("leaf.A", "import-at-top", "leaf.py:1: +import zope_interface_x")
