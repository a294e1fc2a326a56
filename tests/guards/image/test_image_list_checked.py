from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Image = Callable[..., Any]
GUARD = "image-list-checked"
FILE, SCRIPT = "docker/Dockerfile", "docker/install.sh"
MADE = "python3 sample/actor_environments.py all ${SKIP:-} > /list"
TEST = "if [[ ! -s /list ]]; then exit 1; fi"
LOOP = "while IFS=$'\\t' read -r actor stage flags; do\n"


def made(*code: str) -> dict[str, str]:
    """An image whose first RUN is these lines of a here-document."""
    lines = [
        "FROM debian AS deps",
        "ARG SKIP",
        "COPY sample sample",
        'RUN bash -euo pipefail <<"EOF"',
        *code,
        "EOF",
        "",
    ]
    return {FILE: "\n".join(lines)}


def test_each_stage_is_a_subject(image: Image) -> None:
    assert sorted(image().outcomes(GUARD)) == [f"{FILE}[deps]", f"{FILE}[release]"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("while read -r x; do echo; done < <(python3 sample/actor_environments.py all)", "a process substitution"),
        ("mapfile -t rows < <(python3 sample/actor_environments.py all)", "a process substitution"),
        ("for x in $(python3 sample/actor_environments.py all); do echo; done", "into a substitution"),
        ("rows=$(python3 sample/actor_environments.py all)", "into a substitution"),
        ("set +o pipefail; python3 sample/actor_environments.py all | sort > /list", "a pipe without pipefail"),
        (f"{MADE} || true", "passes over its failure"),
        (f"{MADE} || echo no", "passes over its failure"),
        (f"{MADE} || {{ echo no; exit 0; }}", "passes over its failure"),
        (f"if {MADE}; then echo yes; fi", "in a condition"),
        (f"{MADE} &", "from the background"),
        (f"until {MADE}; do sleep 1; done", "in a condition"),
        (f"if {MADE}; then exit 1; fi", "in a condition"),
        (f"if ! {MADE}; then echo no; fi", "in a condition"),
        (f"if true; then if {MADE}; then echo yes; fi; else exit 1; fi", "in a condition"),
        ("python3 sample/actor_environments.py all | { sort > /list; }", "goes to no file"),
        ("python3 sample/actor_environments.py all", "goes to no file"),
        ("python3 sample/actor_environments.py all 2> /list", "goes to no file"),
        ("cd /; python3 -m sample.actor_environments all", "goes to no file"),
        ("echo > >(python3 sample/actor_environments.py all > /list)", "a process substitution"),
        (MADE.replace(">", ">>"), "is appended to /list"),
    ],
)
def test_ways_in_which_the_list_or_its_failure_gets_lost(image: Image, code: str, words: str) -> None:
    messages = image(made(code)).messages(GUARD)
    assert len(messages) == 1 and words in messages[0]
    assert messages[0].startswith(f"{FILE}:5:{code.index('python3') + 1}: ")


@pytest.mark.parametrize(
    "code",
    [
        [MADE, TEST],
        [MADE, "[ -s /list ]"],
        [f"{MADE} && test -s /list"],
        [MADE, "[[ -s /list ]] || exit 1"],
        [MADE, "[[ -s /list ]] || { echo empty >&2; exit 3; }"],
        [MADE, "[[ ! -s /list ]] && exit 1"],
        [MADE, "if [ -s /list ]; then echo yes; else exit 1; fi"],
        [MADE, "cat /list", TEST],
        [MADE, "[[ -s /list ]] || exit"],
        [f"{MADE} || exit", TEST],
        [MADE, "filled() { [[ -s /list ]] || return 1; }", "filled"],
        [MADE, "filled() { [[ -s /list ]] || return; }", "filled"],
        [MADE, "bash -ec '[[ -s /list ]]'"],
        [MADE, "if ! (true; [ -s /list ]); then exit 1; fi"],
        [MADE, "if true; then if ! [ -s /list ]; then exit 1; fi; fi"],
        [MADE, "! true; [[ -s /list ]] && echo"],
        [MADE.replace(">", ">|"), TEST],
        [MADE.replace(">", "&>"), TEST],
        [f"{MADE} || exit 1", TEST],
        [f"if ! {MADE}; then exit 1; fi", TEST],
        [f"if {MADE}; then echo yes; else exit 1; fi", TEST],
        [f"if true; then {MADE}; fi", TEST],
        [f"if ! true; then echo; elif true; then echo; else {MADE}; fi", TEST],
        ["list=/list", MADE.replace("/list", '"$list"'), '[[ -s "$list" ]]'],
        [f"file=$(mktemp); {MADE.replace('/list', '$file')}", 'if ! [ -s "$file" ]; then false; fi'],
        ["python3 sample/actor_environments.py all | sort > /list", TEST],
        ["python3 sample/actor_environments.py all | tee /list", TEST],
        ["python3 sample/actor_environments.py all > /dev/null"],
        ["python3 sample/workers.py"],
    ],
)
def test_a_list_that_is_written_and_tested(image: Image, code: list[str]) -> None:
    assert image(made(*code)).messages(GUARD) == []


@pytest.mark.parametrize(
    "code",
    [
        [MADE],
        [MADE, "[[ -s /other ]]"],
        [MADE, "[[ -s /list ]] || exit 0"],
        [MADE, "[[ -s /list ]] || true"],
        [MADE, "if [[ ! -s /list ]]; then echo empty; fi"],
        [MADE, "if [[ -s /list ]]; then exit 1; fi"],
        [MADE, "[[ ! -s /list ]]"],
        [MADE, "! [[ -s /list ]]"],
        [MADE, "! ([[ -s /list ]])"],
        [MADE, "! bash -ec '[[ -s /list ]]'"],
        [MADE, "if bash -ec '[[ -s /list ]]'; then echo filled; fi"],
        [MADE, "cut -f 1 /list", TEST],
        [MADE, "while read -r x; do echo; done < /list", TEST],
        [MADE, "[[ -n /list ]]"],
        [MADE, "until [[ -s /list ]]; do sleep 1; done"],
        [MADE, "[[ -s /list ]] || (exit 0)"],
        [MADE, "[[ -s ]]"],
        [MADE, "echo -s /list"],
        [MADE, "if [[ ! -s /list ]]; then exit; fi"],
        [MADE, "[[ ! -s /list ]] && exit"],
        [MADE, "[[ ! -s /list ]] || exit 1"],
    ],
)
def test_a_list_that_nobody_tests(image: Image, code: list[str]) -> None:
    [finding] = image(made(*code)).findings(GUARD)
    assert str(finding.location) == f"{FILE}:5:1"
    assert finding.message == "nobody tests that /list is not empty before it is read"


def test_the_advice_mends(image: Image) -> None:
    [finding] = image(made(MADE)).findings(GUARD)
    assert image(made(MADE, finding.fix[0].partition(": ")[2])).findings(GUARD) == []
    [finding] = image(made("python3 sample/actor_environments.py all")).findings(GUARD)
    redirect = finding.fix[0].partition(": ")[2]
    file = redirect.removeprefix("> ")
    code = [f"python3 sample/actor_environments.py all {redirect}", f"[[ -s {file} ]]"]
    assert image(made(*code)).findings(GUARD) == []


def test_a_list_that_is_made_twice(image: Image) -> None:
    again = "python3 sample/actor_environments.py deps alpha > /other"
    [finding] = image(made(MADE, TEST, again)).findings(GUARD)
    assert str(finding.location) == f"{FILE}:7:1"
    assert finding.message == f"the list of environments is made again; {FILE}:5:1 made it first"
    assert finding.fix == ("read /list in place of making another one",)
    broken = image({FILE: ("COPY . ./\n", f"COPY . ./\nRUN {again}\n")})
    [finding] = broken.findings(GUARD)
    assert str(finding.location) == f"{FILE}:15:5"
    assert broken.outcomes(GUARD)[f"{FILE}[deps]"].verdict.value == "holds"


@pytest.mark.parametrize(
    ("code", "column"),
    [
        ("grep -v vllm /list > /rest", 1),
        ("cat /list | grep alpha > /rest", 13),
        ("sort < /list | head -n 3", 16),
        ("awk '$1 ~ /vllm/' /list", 1),
        ("sed /vllm/d /list", 1),
        ("for x in $(grep -v alpha /list); do echo; done", 12),
        ("while read -r name stage flags; do if [[ $name == *vllm* ]]; then continue; fi; done < /list", 39),
        ("while read -r name stage flags; do [[ $flags != *alpha* ]] && echo; done < /list", 36),
        ("while read -r name stage flags; do case $name in *vllm*) continue;; esac; done < /list", 36),
        ('mapfile -t rows < /list; for row in "${rows[@]}"; do if [[ $row =~ alpha ]]; then echo; fi; done', 57),
        ('while read -r row; do name=$(cut -f 1 <<<"$row"); [ "$name" = x ] && continue; done < /list', 51),
        ('while read -r row; do if grep -q alpha <<<"$row"; then continue; fi; done < /list', 26),
        ('while read -r row; do if echo "$row" | grep -q alpha; then continue; fi; done < /list', 40),
    ],
)
def test_a_pass_with_a_filter_of_its_own(image: Image, code: str, column: int) -> None:
    for place, edits in (("7", made(MADE, TEST, code)), ("16", None)):
        if edits is None:
            lines = f"COPY . ./\nRUN bash -euo pipefail <<'X'\n{code}\nX\n"
            edits = {FILE: ("COPY . ./\n", lines)}
        [finding] = image(edits).findings(GUARD)
        assert str(finding.location) == f"{FILE}:{place}:{column}"
        assert "leaves rows of /list out" in finding.message


def test_a_filter_in_a_script_that_was_copied(image: Image) -> None:
    [finding] = image({SCRIPT: (LOOP, f"{LOOP}  if [[ $actor == *vllm* ]]; then continue; fi\n")}).findings(GUARD)
    assert str(finding.location) == f"{SCRIPT}:4:6"
    assert finding.message == "`[[ $actor ==` leaves rows of /list out; other passes do not"
    assert finding.fix[0].startswith(f"leave them out where the list is made, {FILE}:6:1")


@pytest.mark.parametrize(
    "code",
    [
        "  if [[ $stage == trtllm ]]; then continue; fi\n",
        "  [[ $stage != deps ]] && continue\n",
        "  if [[ -d /envs/$actor ]]; then continue; fi\n",
        "  if [[ -z $actor ]]; then continue; fi\n",
        "  if python3 stamp.py show /envs/$actor; then continue; fi\n",
        "  [[ $actor == sample.* ]] || exit 1\n",
        "  if [[ $actor != sample.* ]]; then exit 1; fi\n",
        "  case $stage in trtllm) continue;; esac\n",
        "  grep -q . <<<x\n",
    ],
)
def test_what_is_no_filter(image: Image, code: str) -> None:
    assert image({SCRIPT: (LOOP, LOOP + code)}).messages(GUARD) == []


@pytest.mark.parametrize(
    "code",
    [
        "cut -f 2 /list | grep -qx trtllm",
        'stages=$(cut -f 2 /list); if grep -qx trtllm <<<"$stages"; then echo; fi',
        "awk '$2 == \"trtllm\"' /list",
        "grep -q . /list",
        "sort /list | cut -f 1 > /names",
        "grep alpha /elsewhere",
        "wc -l < /list",
    ],
)
def test_reading_the_whole_list_or_one_stage_of_it(image: Image, code: str) -> None:
    assert image(made(MADE, TEST, code)).messages(GUARD) == []


def test_a_build_argument_that_skips_again(image: Image) -> None:
    broken = image({FILE: ("COPY . ./\n", 'COPY . ./\nRUN if [ -n "$SKIP" ]; then echo; fi\n')})
    [finding] = broken.findings(GUARD)
    assert str(finding.location) == f"{FILE}:15:14"
    assert finding.message == f"SKIP decides again what is left out; {FILE}:6:1 did so for all passes"
    assert finding.fix == ("read /list, which is without what was skipped",)


def test_arguments_reach_the_list_by_way_of_variables(image: Image) -> None:
    code = ["left=()", 'read -ra left <<<"$MORE"', "if [[ -n $SKIP ]]; then left+=(alpha); fi"]
    made_so = 'python3 sample/actor_environments.py all "${left[@]}" > /list'
    edits = made(*code, made_so, TEST)
    text = edits[FILE].replace("ARG SKIP", "ARG SKIP MORE OTHER")
    again = 'RUN echo "$SKIP"\nRUN echo "$MORE"\nRUN echo "$OTHER"\n'
    assert [str(finding.location) for finding in image({FILE: text + again}).findings(GUARD)] == [
        f"{FILE}:11:11", f"{FILE}:12:11",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "code",
    [
        "[[ -n $SKIP ]] && left+=(alpha)",
        "case $SKIP in 1) left+=(alpha);; esac",
        "case 1 in $SKIP) left+=(alpha);; esac; left+=($SKIP)",
        "other=$SKIP; left=($other)",
        "if false; then echo; elif [[ -n $SKIP ]]; then left+=(alpha); fi",
        'mapfile -t left <<<"$SKIP"',
    ],
)
def test_ways_from_an_argument_to_the_list(image: Image, code: str) -> None:
    edits = made("left=()", code, 'python3 sample/actor_environments.py all "${left[@]}" > /list', TEST)
    again = 'RUN echo "$SKIP"\n'
    assert [finding.location.line for finding in image({FILE: edits[FILE] + again}).findings(GUARD)] == [10]


def test_an_argument_that_does_not_decide_what_is_listed(image: Image) -> None:
    edits = made("[[ -n $SKIP ]] && other=1", "python3 sample/actor_environments.py all > /list", TEST)
    assert image({FILE: edits[FILE] + 'RUN echo "$SKIP"\n'}).findings(GUARD) == []


def test_shell_that_cannot_be_parsed_is_undecided(image: Image) -> None:
    [outcome] = image(made("if x; then")).outcomes(GUARD).values()
    assert outcome.verdict.value == "undecided"


def test_what_cannot_be_parsed_hides_no_finding(image: Image) -> None:
    assert len(image({FILE: made(MADE)[FILE] + "RUN if x; then\n"}).findings(GUARD)) == 1


@pytest.mark.parametrize("reading", ["read left", "read -r left", "mapfile -t left", "readarray left"])
def test_arguments_reach_the_list_beside_those_that_stand_in_it(image: Image, reading: str) -> None:
    made_so = 'python3 sample/actor_environments.py all $SKIP "${left[@]}" > /list'
    text = made(f'{reading} <<<"$MORE"', made_so, TEST)[FILE].replace("ARG SKIP", "ARG SKIP MORE OTHER")
    again = 'RUN echo "$SKIP"\nRUN echo "$MORE"\nRUN echo "$OTHER"\n'
    messages = image({FILE: text + again}).messages(GUARD)
    assert [message.split(": ")[1].partition(" ")[0] for message in messages] == ["SKIP", "MORE"]


LEAF = "python3 sample/actor_environments.py all"
PLAIN = "write it with a plain redirect: > /opt/actor_environments.tsv"
LOST = (PLAIN, "and test it: [[ -s FILE ]]")
GOES = "the list of environments goes"


@pytest.mark.parametrize(
    ("code", "message", "fix"),
    [
        (f"cat < <({LEAF})", f"{GOES} through a process substitution, whose failure nobody notices", LOST),
        (f"rows=$({LEAF})", f"{GOES} into a substitution", LOST),
        (f"set +o pipefail; {LEAF} | sort > /list", f"{GOES} into a pipe without pipefail", LOST),
        (f"{MADE} &", f"{GOES} from the background, where its failure is lost", LOST),
        (f"{MADE} || true", f"{GOES} under ||, which passes over its failure", LOST),
        (f"if {MADE}; then echo; fi", f"{GOES} in a condition, which passes over its failure", LOST),
        (LEAF, f"{GOES} to no file, so no pass can read it", (PLAIN,)),
        (f"{LEAF} >> /list", "the list of environments is appended to /list", (PLAIN,)),
        (
            f"{LEAF} > /list",
            "nobody tests that /list is not empty before it is read",
            ("put behind it: if [[ ! -s /list ]]; then exit 1; fi",),
        ),
        (
            f'{LEAF} > "$NO/LINUX"',
            "nobody tests that $NO/LINUX is not empty before it is read",
            ("put behind it: if [[ ! -s $NO/LINUX ]]; then exit 1; fi",),
        ),
    ],
)
def test_what_is_said_and_what_to_do(image: Image, code: str, message: str, fix: tuple[str, ...]) -> None:
    place = f"{FILE}:5:{code.index('python3') + 1}"
    assert image(made(code)).reports(GUARD) == [(place, message, fix)]


def test_a_list_that_is_made_again(image: Image) -> None:
    assert image(made(MADE, TEST, f"{LEAF} > /other")).reports(GUARD) == [
        (
            f"{FILE}:7:1",
            f"the list of environments is made again; {FILE}:5:1 made it first",
            ("read /list in place of making another one",),
        )
    ]
    assert image(made(LEAF, f"{LEAF} > /other")).reports(GUARD)[1][2] == (
        "read its file in place of making another one",
    )


def test_the_list_behind_a_pipe_is_in_the_last_file(image: Image) -> None:
    assert image(made(f"{LEAF} | sort | tee -a /log /list", TEST)).messages(GUARD) == []
    assert image(made(f"{LEAF} | sort | uniq > /list", TEST)).messages(GUARD) == []
    for last in ("tee", "sort -u"):
        assert "goes to no file" in image(made(f"{LEAF} | {last}", TEST)).messages(GUARD)[0]


def test_filters_behind_the_list_and_in_later_runs_are_found(image: Image) -> None:
    grep = "grep -v vllm /list > /less"
    text = made("grep -v vllm /list > /before || true", MADE, grep, TEST)[FILE]
    found = image({FILE: f"{text}RUN {grep}\n"}).reports(GUARD)
    fix = (f"leave them out where the list is made, {FILE}:6:1: name the extras to skip",)
    assert [(place, advice) for place, message, advice in found if "leaves rows of /list out" in message] == [
        (f"{FILE}:7:1", fix),
        (f"{FILE}:10:5", fix),
    ]


def test_a_stage_without_a_list_gets_one_to_filter(image: Image) -> None:
    changes = image({FILE: "FROM debian\n"}).changes(GUARD)
    assert changes[-8:] == [
        f"{FILE}[0], filtered-by-grep",
        f"{FILE}:2: +COPY sample/actor_environments.py /mutant/list.py",
        f"{FILE}:3: +RUN python3 /mutant/list.py all > /mutant/list && test -s /mutant/list",
        f"{FILE}:4: +RUN bash -euo pipefail -c 'grep -v vllm /mutant/list > /mutant/list.2'",
        f"{FILE}[0], filtered-in-a-loop",
        f"{FILE}:2: +COPY sample/actor_environments.py /mutant/list.py",
        f"{FILE}:3: +RUN python3 /mutant/list.py all > /mutant/list && test -s /mutant/list",
        f"{FILE}:4: +RUN bash -euo pipefail -c 'while read -r name stage flags; do "
        "if [[ $name == *x* ]]; then continue; fi; done < /mutant/list'",
    ]


def test_a_test_in_another_run_behind_counts_and_one_before_does_not(image: Image) -> None:
    text = made(MADE)[FILE]
    assert image({FILE: f"{text}RUN test -s /list\n"}).messages(GUARD) == []
    assert "nobody tests" in image(made(TEST, MADE)).messages(GUARD)[0]
    assert "nobody tests" in image({FILE: f"{text}RUN if [[ ! -s /list ]]; then exit 0; fi\n"}).messages(GUARD)[0]


def test_what_stands_right_above_the_list_is_none_of_its_passes(image: Image) -> None:
    assert image(made("grep -v vllm /list > /before", MADE, TEST)).messages(GUARD) == []
    assert "nobody tests" in image(made("test -s /list", MADE)).messages(GUARD)[0]
