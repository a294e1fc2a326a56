"""docs-name-real-things: what a page names exists."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from pytest_actor_envs.guards.docs.existence import last_hump

GUARD = "docs-name-real-things"
PAGE = "docs/page.md"
Sample = Callable[..., Any]


@pytest.fixture
def page(sample: Sample) -> Sample:
    """`page(text, more={}, path=PAGE)`: the sample project with a page of documentation, and other edits."""

    def made(text: str, more: dict[str, Any] | None = None, path: str = PAGE) -> Any:
        return sample({path: text, "pyproject.toml": ("docs = []", 'docs = ["docs"]'), **(more or {})})

    return made


def advice(guarded: Any) -> list[str]:
    return [line for finding in guarded.findings(GUARD) for line in finding.fix]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "Nothing to look at.",
        "`sample.workers.First`, sample.workers, `sample.workers.First.step()`, and sample.",
        "`python-First` and /usr/bin/python-Second, `python-<ClassName>`",
        "`sample/workers.py`, `sample/`, `./tools/generate_fingerprint.py`, `sample/*.py`, `sample/<name>.py`",
        "`First`, `PY_EXECUTABLES`, `ValueError`, `AsyncLLM`, `vllm.TpModelWorker`",
        "```python\nfrom sample.workers import First, Second as Other\nimport sample.py_executables\n```",
        "```python\nclass Firsts(First):\n    pass\n```\nThen `Firsts`.",
        "[the table](../sample/actor_environments.py#L3), [here](#part), [out](https://host/sample/none.py), [m](mailto:a@b)",
        "[page](page), [root](/sample/workers.py), [folder](../tools/), [elsewhere](../../other/page.md)",
        "`out/sample/none.py`, `/opt/sample/none.py`, `~/sample/none.py`, `$HOME/sample/none.py`, `../none.py`",
        "`sample.toml`, sample.md and other.module.Name, x.sample.none, sample.egg-info",
        "`s/none.py`",
    ],
)
def test_pages_that_hold(page: Sample, text: str) -> None:
    assert page(text).messages(GUARD) == []


@pytest.mark.parametrize(
    ("text", "place", "message", "fix"),
    [
        ("See sample.worker.First.", "1:5", "'sample.worker' does not exist", "did you mean 'sample.workers.First'?"),
        (
            "ä `sample.workers.Frist`",
            "1:4",
            "'sample.workers.Frist' does not exist",
            "did you mean 'sample.workers.First'?",
        ),
        (
            "\n\n- x\n  `sample.zebra`",
            "4:4",
            "'sample.zebra' does not exist",
            "name what is there, or leave it out",
        ),
        (
            "`sample.workers.command(1)`",
            "1:2",
            "'sample.workers.command' does not exist",
            "did you mean 'sample.py_executables.command'?",
        ),
        (
            "```py\nfrom sample.workers import (\n    First,\n    Secnd,\n)\n```",
            "4:5",
            "'sample.workers.Secnd' does not exist",
            "did you mean 'sample.workers.Second'?",
        ),
        (
            "> python-Frist\n",
            "1:3",
            "there is no script python-Frist: no actor with an environment is named so",
            "did you mean 'python-First'?",
        ),
        (
            "`python-Third -V`",
            "1:2",
            "there is no script python-Third: Third runs on the driver's interpreter",
            "write 'python'",
        ),
        (
            "python-Zebra",
            "1:1",
            "there is no script python-Zebra: no actor with an environment is named so",
            "scripts: python-First, python-Fourth, python-Second",
        ),
        (
            "| a |\n|---|\n| `sample/worker.py` |",
            "3:4",
            "there is no sample/worker.py",
            "did you mean 'sample/workers.py'?",
        ),
        ("    cat tools/workers.py\n", "1:9", "there is no tools/workers.py", "did you mean 'sample/workers.py'?"),
        (
            "sample.py_executable.nothing",
            "1:1",
            "'sample.py_executable' does not exist",
            "did you mean 'sample.py_executables'?",
        ),
        ("[x](../tols/)", "1:5", "there is no tols/", "did you mean 'tools/'?"),
        ("`sample/gone/*.py`", "1:2", "there is no sample/gone/", "did you mean 'sample/'?"),
        ("[a b](pages.md)", "1:7", "there is no docs/pages.md", "did you mean 'docs/page.md'?"),
        ("[a][1]\n\n[1]: ../tool/x.py 'T'", "3:6", "there is no tool/x.py", "paths begin at the project's root"),
    ],
)
def test_a_name_of_nothing(page: Sample, text: str, place: str, message: str, fix: str) -> None:
    broken = page(text)
    assert broken.messages(GUARD) == [f"{PAGE}:{place}: {message}"]
    assert advice(broken) == [fix]
    assert broken.not_green() == {GUARD: "broken"}


def test_the_suggested_names_are_right(page: Sample) -> None:
    wrong = "sample.worker.First `sample.workers.Frist` python-Frist `sample/worker.py` `tools/workers.py`"
    assert len(page(wrong).findings(GUARD)) == 5
    right = "sample.workers.First `sample.workers.First` python-First `sample/workers.py` `sample/workers.py`"
    assert page(right).not_green() == {}


def test_all_findings_at_once_and_in_order(page: Sample) -> None:
    assert [
        str(finding.location) for finding in page("python-Ab sample.cd `sample/e/f` python-Gh").findings(GUARD)
    ] == [f"{PAGE}:1:{column}" for column in (1, 11, 22, 34)]


WORKERS = "class GreatPolicyWorker:\n    pass\n\n\nclass OtherLoss:\n    pass\n"


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("`GreatPolicyWorkers`", "did you mean 'GreatPolicyWorker'?"),
        ("`GreatPolicieWorker.step()`", "did you mean 'GreatPolicyWorker'?"),
        ("`OtherLosses`", "did you mean 'OtherLoss'?"),
    ],
)
def test_a_class_that_is_called_nearly_as_one_of_the_projects(page: Sample, text: str, fix: str) -> None:
    broken = page(text, {"sample/more.py": WORKERS})
    name = text.strip("`").partition(".")[0]
    assert broken.messages(GUARD) == [f"{PAGE}:1:2: no class {name} is in the project"]
    assert advice(broken) == [f"{fix}   a class of another package is written with its package"]


LEAF, ENTRY = "sample/actor_environments.py", '    "sample.workers.Third": None,\n'
WITH_WORKER = {
    LEAF: (ENTRY, f'{ENTRY}    "sample.more.GreatPolicyWorker": None,\n'),
    "sample/more.py": f"import ray\nfrom engine import KernelWorker\nimport engine\n\n\n@ray.remote\n{WORKERS}",
}


def test_a_class_that_ends_like_an_actor(page: Sample) -> None:
    broken = page("`AllGatherWorker` and `AllGatherLoop`", WITH_WORKER)
    assert broken.messages(GUARD) == [f"{PAGE}:1:2: no class AllGatherWorker is in the project"]
    assert advice(broken) == ["a class of another package is written with its package"]
    assert advice(page("`AllPolicyWorker`", WITH_WORKER)) == [
        "did you mean 'GreatPolicyWorker'?   a class of another package is written with its package"
    ]


def test_classes_that_are_there(page: Sample) -> None:
    more = {
        "sample/more.py": f"{WORKERS}\n\nclass ValueErrors:\n    pass\n",
        "sample/notes.txt": "class GonePolicyWorker:",
    }
    text = "`GreatPolicyWorker`, `GreatPolicyWorker.step`, `ValueError`, `OtherLoss`"
    assert page(text, more).messages(GUARD) == []
    assert (
        len(
            page("`GonePolicyWorker`", {**WITH_WORKER, **{"sample/notes.txt": more["sample/notes.txt"]}}).findings(
                GUARD
            )
        )
        == 1
    )


@pytest.mark.parametrize(
    ("name", "hump"),
    [
        ("GreatPolicyWorker", "Worker"),
        ("VLMEnvironment", "Environment"),
        ("NemoGym", "Gym"),
        ("V2Loss", "Loss"),
        ("One", "One"),
    ],
)
def test_the_last_word_of_a_name(name: str, hump: str) -> None:
    assert last_hump(name) == hump


def test_scripts_where_no_actor_has_an_environment(page: Sample) -> None:
    table = "ACTOR_ENVIRONMENTS = {'sample.workers.Third': None}\n"
    assert advice(page("python-Zebra", {LEAF: table})) == ["scripts: none"]


def test_classes_of_other_packages_that_the_project_uses(page: Sample) -> None:
    used = dict(WITH_WORKER)
    used["sample/more.py"] += "\nNAME = 'MailedWorker'\n\n\ndef run():\n    return engine.core.RemoteWorker\n"
    assert page("`KernelWorker`, `RemoteWorker`, `MailedWorker`, `engine.NoneWorker`", used).messages(GUARD) == []


def test_a_class_that_code_still_imports_from_the_project_itself_is_no_other_packages(page: Sample) -> None:
    stale = dict(WITH_WORKER)
    stale["sample/more.py"] += "\nfrom sample.workers import GoneWorker\nx = sample.workers.GoneWorker\n"
    assert page("`GoneWorker`", stale).messages(GUARD) == [f"{PAGE}:1:2: no class GoneWorker is in the project"]


def test_a_distribution_may_be_called_like_a_script(page: Sample) -> None:
    declared = {"sample/x.py": ""}
    text = "`pip install python-Levenshtein`"
    assert len(page(text, declared).findings(GUARD)) == 1
    requirements = sample_pyproject().replace('"six"', '"python-levenshtein>=0.2"')
    assert page(text, {"pyproject.toml": requirements}).messages(GUARD) == []


def sample_pyproject() -> str:
    from tests.guards.conftest import PYPROJECT

    return PYPROJECT.replace("docs = []", 'docs = ["docs"]')


def test_names_that_only_running_the_module_would_tell(page: Sample) -> None:
    text = "sample.lazy.Anything sample.star.Anything sample.wrong.Anything sample.spread.inner sample.spread.later"
    more = {
        "sample/lazy.py": "def __getattr__(name):\n    return name\n",
        "sample/star.py": "from engine import *\n",
        "sample/wrong.py": "def (:\n",
        "sample/spread.py": "if True:\n    inner: int = 1\nfor later in ():\n    pass\n",
    }
    assert page(text, more).messages(GUARD) == []


def test_folders_without_init_are_packages(page: Sample) -> None:
    more = {"sample/deep/er/module.py": "import os.path as p\n"}
    guarded = page("sample.deep.er sample.deep.er.module.p sample.deep.err", more)
    assert guarded.messages(GUARD) == [f"{PAGE}:1:40: 'sample.deep.err' does not exist"]
    assert advice(guarded) == ["did you mean 'sample.deep.er'?"]


def test_what_git_ignores_or_takes_from_elsewhere_is_not_judged(page: Sample) -> None:
    text = "`sample/results/x.json`, `sample/deps/engine/x.py`, `sample/deep/made.txt`, `sample/deep/none.txt`"
    more = {
        ".gitignore": "results/\n",
        ".gitmodules": '[submodule "engine"]\n\tpath = sample/deps/engine\n',
        "sample/deep/.gitignore": "made.*\n",
    }
    assert page(text, more).messages(GUARD) == [f"{PAGE}:1:78: there is no sample/deep/none.txt"]


MARK = "<!-- actor-envs: example of an error -->"


@pytest.mark.parametrize(
    "text",
    [
        f"{MARK}\n```\nsample.none python-None\n```\n",
        f"{MARK}\n\n    sample.none\n",
        f"> {MARK}\n> ~~~text\n> `sample/none.py`\n> ~~~\n",
        f'{MARK}\n```python\n"sample.workers.First": ["alpha"]\n```\n',
    ],
)
def test_a_block_that_is_marked_as_an_example_of_an_error_is_free(page: Sample, text: str) -> None:
    assert page(text).not_green() == {}
    assert page(text.replace(MARK, "<!-- -->")).not_green() != {}


def test_a_mark_frees_one_block_alone(page: Sample) -> None:
    text = f"{MARK}\n```\nsample.none\n```\n\n```\nsample.gone\n```\n"
    assert page(text).messages(GUARD) == [f"{PAGE}:7:1: 'sample.gone' does not exist"]


@pytest.mark.parametrize("text", [f"{MARK}\n\nsample.workers\n\n    sample.none\n", f"text\n\n{MARK}\n"])
def test_a_mark_without_a_block_is_a_finding(page: Sample, text: str) -> None:
    line = text[: text.index(MARK)].count("\n") + 1
    broken = page(text)
    assert f"{PAGE}:{line}:1: this mark has no block of code below it" in broken.messages(GUARD)
    assert advice(broken)[-1] == "put it on the line above the block, or remove it"


def test_a_mark_above_a_block_where_all_is_right_is_a_finding(page: Sample) -> None:
    broken = page(f'{MARK}\n```\n"sample.workers.Second": ["alpha"] sample.workers python-First\n```\n')
    message = "this block is marked as an example of an error, and all that it names is right"
    assert broken.messages(GUARD) == [f"{PAGE}:1:1: {message}"]
    assert advice(broken) == ["remove the mark: it would hide the next error"]


@pytest.mark.parametrize("wrong", ["sample.none", '"sample.workers.Second": ["beta"]'])
def test_an_error_outside_a_marked_block_does_not_justify_the_mark(page: Sample, wrong: str) -> None:
    block = f"{MARK}\n```\nsample.workers\n```\n"
    assert len(page(f"{wrong}\n\n{block}").messages(GUARD)) == len(page(wrong).messages(GUARD)) + 1
    assert len(page(f"{block}\n{wrong}\n").messages(GUARD)) == len(page(wrong).messages(GUARD)) + 1


def test_a_package_that_lost_its_files(page: Sample) -> None:
    broken = page("samples.workers.First samples.part far.part")
    broken.project.config = dataclasses.replace(broken.project.config, packages=("sample", "samples", "far"))
    assert broken.reports(GUARD) == [
        (f"{PAGE}:1:1", "'samples' does not exist", ("did you mean 'sample.workers.First'?",)),
        (f"{PAGE}:1:23", "'samples' does not exist", ("did you mean 'sample'?",)),
        (f"{PAGE}:1:36", "'far' does not exist", ("name what is there, or leave it out",)),
    ]


def test_a_word_that_is_only_a_little_like_a_class_is_not_judged(page: Sample) -> None:
    assert page("`OtherLossFunction`", {"sample/more.py": WORKERS}).messages(GUARD) == []


def test_a_path_beside_the_page_or_of_no_folder_of_the_project(page: Sample) -> None:
    assert page("`sample/extra.md`", {"docs/sample/extra.md": ""}).messages(GUARD) == []
    outside = {"../other/there.py": ""}
    assert page("`./none.py`, `../other/none.py`, `../`, `./`, `nowhere/`", outside).messages(GUARD) == []


def test_a_file_that_was_moved_is_found_by_its_name(page: Sample) -> None:
    moved = "sample/engines/of/the/next/generation/k.py"
    assert advice(page("`sample/k.py`", {moved: "", "sample/kk.py": ""})) == [f"did you mean '{moved}'?"]


def test_a_folder_like_none_of_the_project(page: Sample) -> None:
    assert advice(page("`sample/qqqqqqqqqqqqqqqqqqqqqqqq/`")) == ["paths begin at the project's root"]


def test_lines_of_other_systems_keep_their_places(page: Sample) -> None:
    text = "# Title\r\n\r\n- item `x`\r\n  ü `sample.none`\r\n\r\n```\r\npython-None\r\n```\r\n"
    assert [str(finding.location) for finding in page(text).findings(GUARD)] == [f"{PAGE}:4:6", f"{PAGE}:7:1"]


def test_restructured_text(page: Sample) -> None:
    text = (
        "Title\n=====\n\n``sample.none`` and :py:class:`sample.workers.Frist` and ``sample/none.py``\n\n"
        ".. code-block:: python\n\n   python-None\n\n.. actor-envs: example of an error\n\n    python-Nobody\n\nEnd\n"
    )
    assert page(text, path="docs/page.rst").messages(GUARD) == [
        "docs/page.rst:4:3: 'sample.none' does not exist",
        "docs/page.rst:4:32: 'sample.workers.Frist' does not exist",
        "docs/page.rst:4:60: there is no sample/none.py",
        "docs/page.rst:8:4: there is no script python-None: no actor with an environment is named so",
    ]


def test_each_page_is_a_subject_and_folders_hold_pages(sample: Sample) -> None:
    guarded = sample(
        {
            "pyproject.toml": ("docs = []", 'docs = ["guide", "README.md"]'),
            "guide/a.md": "x",
            "guide/deep/b.rst": "x",
            "guide/picture.svg": "x",
            "README.md": "x",
        }
    )
    assert list(guarded.outcomes(GUARD)) == ["README.md", "guide/a.md", "guide/deep/b.rst"]


def test_a_table_that_cannot_be_read_blocks_nothing_here(page: Sample) -> None:
    broken = page("python-First sample.none", {LEAF: "ACTOR_ENVIRONMENTS = 1\n"})
    assert [finding.message for finding in broken.findings(GUARD)] == ["'sample.none' does not exist"]


@pytest.mark.parametrize(
    ("path", "comment"),
    [
        (PAGE, "<!-- actor-envs: ignore[docs-name-real-things] a made-up name -->\nsample.none"),
        (PAGE, "sample.none <!-- actor-envs: ignore[docs-name-real-things] a made-up name -->"),
        ("docs/page.rst", ".. actor-envs: ignore[docs-name-real-things] a made-up name\nsample.none"),
    ],
)
def test_an_exemption_in_a_page(page: Sample, path: str, comment: str) -> None:
    assert page(f"Title\n\n{comment}\n", path=path).not_green() == {}
    stale = page(f"Title\n\n{comment.replace('sample.none', 'sample')}\n", path=path)
    assert stale.messages("exemption-needed") == [
        f"{path}:3:{1 + comment.split(chr(10))[0].replace('sample.none', 'sample').index('.. ' if 'rst' in path else '<!')}: "
        "exempts nothing: docs-name-real-things has no finding there"
    ]


def test_a_page_that_explains_exemptions_makes_none(page: Sample) -> None:
    text = "Write `# actor-envs: ignore[guard] reason` or `<!-- actor-envs: ignore[guard] reason -->` there.\n"
    assert page(text).not_green() == {}


def test_its_mutants(page: Sample) -> None:
    guarded = page("`python-First` `sample.workers.First.step` `sample.none.x` `sample/workers.py`")
    changes = {shape: change for _, shape, change in page("Nothing.").mutants(GUARD)}
    assert changes == {
        "dotted-name": f"{PAGE}:3: +sample.no_such_module.Gone",
        "script": f"{PAGE}:3: +python-NoSuchActorHere",
        "link": f"{PAGE}:3: +[gone](no_such_page.md)",
        "path": f"{PAGE}:3: +``{LEAF}/no_such_file.py``",
        "mark-alone": f"{PAGE}:3: +.. actor-envs: example of an error",
    }
    assert [(shape, change.split("+")[-1]) for _, shape, change in guarded.mutants(GUARD)][5:] == [
        ("misspelt", "`python-First_gone` `sample.workers.First.step` `sample.none.x` `sample/workers.py`"),
        ("misspelt", "`python-First` `sample.workers_gone.First.step` `sample.none.x` `sample/workers.py`"),
    ]
    shapes = [shape for _, shape, _ in page(f"{MARK}\n```\nsample.workers sample.none\n```\n").mutants(GUARD)]
    assert "misspelt" not in shapes and len(shapes) == 5
    assert [shape for _, shape, _ in page("", path="docs/page.rst").mutants(GUARD)] == [
        "dotted-name",
        "script",
        "path",
        "mark-alone",
    ]


def test_its_mutants_misspell_what_an_import_names_apart_from_its_module(page: Sample) -> None:
    guarded = page("```\nfrom sample.workers import (Second as S,\n    First)\n```\n")
    misspelt = [change.split("\n")[-1] for _, shape, change in guarded.mutants(GUARD) if shape == "misspelt"]
    assert misspelt == [
        f"{PAGE}:2: +from sample.workers_gone import (Second as S,",
        f"{PAGE}:2: +from sample.workers import (Second_gone as S,",
        f"{PAGE}:3: +    First_gone)",
    ]
