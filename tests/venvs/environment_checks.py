"""What an environment is asked from outside, by its own interpreter."""

import json
import os
import pathlib
import subprocess

INTACT = """
import base64, hashlib, importlib.metadata, json
found, broken = {}, []
for distribution in importlib.metadata.distributions():
    name = (distribution.metadata["Name"] or "?").lower().replace("_", "-")
    found[name] = distribution.version
    files = distribution.files
    if not files:
        broken.append(f"{name} has no RECORD")
    for file in files or ():
        path = file.locate()
        if not path.exists():
            broken.append(f"{name}: {file} is missing")
        elif file.hash and file.hash.mode == "sha256":
            digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
            if digest != file.hash.value:
                broken.append(f"{name}: {file} has another content")
print(json.dumps({"found": found, "broken": broken}))
"""


def distributions_of(python: pathlib.Path) -> dict[str, str]:
    """Normalized name -> version of what is installed; fails where a recorded file is missing or differs."""
    run = subprocess.run([str(python), "-I", "-c", INTACT], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert answer["broken"] == []
    found: dict[str, str] = answer["found"]
    return found


def imports(python: pathlib.Path, module: str) -> bool:
    """Whether an interpreter can import a module."""
    return subprocess.run([str(python), "-I", "-c", f"import {module}"], capture_output=True).returncode == 0


def programs_of(folder: pathlib.Path) -> list[pathlib.Path]:
    """The files in an environment's ``bin`` that a person can start."""
    return sorted(path for path in (folder / "bin").iterdir() if path.is_file() and os.access(path, os.X_OK))
