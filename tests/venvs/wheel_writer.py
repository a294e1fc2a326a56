"""Write a wheel of many tiny modules; standard library only, because a build backend imports it too."""

import base64
import hashlib
import pathlib
import zipfile


def record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def write_wheel(folder: pathlib.Path, name: str, version: str, files: int) -> str:
    """Write a wheel of so many modules and one script into a folder; returns the name of its file."""
    information = f"{name}-{version}.dist-info"
    contents = {f"{name}/m{number:04}.py": f"value = {number}\n".encode() for number in range(files)}
    contents[f"{name}/__init__.py"] = b"def main():\n    print('started')\n"
    contents[f"{information}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    contents[f"{information}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    contents[f"{information}/entry_points.txt"] = f"[console_scripts]\n{name}-tool = {name}:main\n".encode()
    record = f"{information}/RECORD"
    lines = [record_line(file, content) for file, content in contents.items()]
    contents[record] = ("".join(lines) + f"{record},,\n").encode()
    file_name = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(folder / file_name, "w") as wheel:
        for file, content in contents.items():
            wheel.writestr(file, content)
    return file_name
