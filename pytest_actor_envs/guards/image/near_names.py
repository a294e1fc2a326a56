"""Which known variable an unknown one may be a misspelling of, and which variables an image has by itself."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable

from pytest_actor_envs.project import Project

PLATFORM = frozenset(f"{side}{part}" for side in ("TARGET", "BUILD") for part in ("PLATFORM", "OS", "ARCH", "VARIANT"))
"""Arguments that the builder sets, and a stage has once it declares them."""

PROXIES = frozenset(
    {"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY", "SOURCE_DATE_EPOCH"}
    | {"http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy"}
)
"""Arguments that every stage has without declaring them."""

READ_BY_ALL = PROXIES | {"DEBIAN_FRONTEND", "TZ", "LANG", "LANGUAGE", "LC_ALL", "TERM", "PATH", "HOME"}
"""Variables that programs of all kinds read."""

OF_BASE_IMAGES = (
    *(
        "PATH",
        "HOME",
        "PWD",
        "OLDPWD",
        "USER",
        "LOGNAME",
        "HOSTNAME",
        "LANG",
        "LANGUAGE",
        "LC_*",
        "TERM",
        "SHELL",
        "TZ",
    ),
    *(
        "UID",
        "EUID",
        "GID",
        "PPID",
        "IFS",
        "RANDOM",
        "SECONDS",
        "LINENO",
        "BASH_*",
        "BASHPID",
        "FUNCNAME",
        "PIPESTATUS",
    ),
    *("OPTARG", "OPTIND", "REPLY", "SHLVL", "OSTYPE", "MACHTYPE", "TMPDIR", "DEBIAN_FRONTEND", "ID", "VERSION_*"),
    *("CUDA_*", "CUDNN_*", "NVIDIA_*", "NV_*", "NCCL_*", "TENSORRT_*", "TRT_VERSION", "PYTORCH_*", "LD_LIBRARY_PATH"),
    *("LIBRARY_PATH", "CPATH", "PKG_CONFIG_PATH", "MANPATH", "PYTHON_VERSION", "PYTHONPATH", "PYTHON_*", "GPG_KEY"),
    *("NODE_VERSION", "GOPATH", "GOLANG_VERSION", "JAVA_HOME", "CARGO_HOME", "RUSTUP_HOME", "CONDA_*", "VIRTUAL_ENV"),
)
"""Patterns of what base images and shells set."""

VARIABLE_IN_QUOTES = re.compile(rb"""["']([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)["']""")


def is_of_base_image(name: str) -> bool:
    """Whether a base image, a shell or the builder may be what sets a variable."""
    return name in PROXIES or any(fnmatch.fnmatchcase(name, pattern) for pattern in OF_BASE_IMAGES)


def project_variables(project: Project) -> frozenset[str]:
    """Names in capitals that stand in quotes in the project's packages: what its code reads from its environment."""
    return project.settled(_project_variables)


def _project_variables(project: Project) -> frozenset[str]:
    paths = [path for package in project.config.packages for path in project.tree.files(package, ".py")]
    return frozenset().union(*(project.settled(_variables_in, path) for path in paths))


def _variables_in(project: Project, path: str) -> frozenset[str]:
    return frozenset(name.decode() for name in VARIABLE_IN_QUOTES.findall(project.tree.read_bytes(path)))


def near(name: str, known: Iterable[str]) -> str | None:
    """The known name that differs by one slip of a hand, or only in how its prefix is written; `None` without one.

    Names that differ in digits alone are two names.
    """
    others = sorted(other for other in known if other != name and min(len(other), len(name)) >= 5)
    slips = (other for other in others if is_one_slip(name, other))
    return next(slips, None) or next((other for other in others if has_other_prefix(name, other)), None)


def is_one_slip(one: str, other: str) -> bool:
    """Whether a letter was added, lost, changed, or two neighbours swapped; digits do not count."""
    if re.sub(r"\d", "", one) == re.sub(r"\d", "", other):
        return False
    start = len(posixpath.commonprefix([one, other]))
    a, b = one[start:], other[start:]
    swapped = a[:2] == b[1::-1] and a[2:] == b[2:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or swapped


def has_other_prefix(one: str, other: str) -> bool:
    """Whether the last two words at least are the same and one beginning is the other's letters with some left out."""
    first, second = one.split("_"), other.split("_")
    same = len(posixpath.commonprefix([first[::-1], second[::-1]]))
    if same < 2:
        return False
    short, long = sorted(("".join(first[:-same]), "".join(second[:-same])), key=len)
    letters = iter(long)
    return len(short) > 1 and short[0] == long[0] and all(letter in letters for letter in short)
