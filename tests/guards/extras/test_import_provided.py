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
