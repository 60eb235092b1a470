"""Make .venv and install what a lock pins, every archive checked by its hash: `make setup`.

uv installs in seconds what takes pip minutes. One on the path is used; else the one that the lock
pins is put into .venv with pip; where that fails, pip installs everything. Calls at the same time
wait for each other, one after an interrupted one begins again, and one with nothing to do is quick.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036, whoever calls this may have an older one
    sys.exit("swarmdp needs Python 3.11 or newer; this is " + sys.version.split()[0])

import argparse
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALL, RUN = "requirements.lock", "requirements-run.lock"


class SetupError(Exception):
    """The environment could not be made; says what to do."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Set up from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--run", action="store_true", help="only what using the package needs, no tests and docs"
    )
    options = parser.parse_args(arguments)
    try:
        set_up(ROOT, RUN if options.run else ALL)
    except (SetupError, subprocess.CalledProcessError) as error:
        sys.exit(f"make setup: {error}")


def set_up(root: Path, lock: str) -> bool:
    """Whether anything was to be done so that root/.venv has what the lock pins."""
    venv = root / ".venv"
    with _alone(root):
        if _is_current(root, lock):
            return False
        begun = venv / "installing"
        if begun.exists() or not _works(venv):
            shutil.rmtree(venv, ignore_errors=True)
            venv.unlink(missing_ok=True)  # a link, or a file
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        begun.touch()
        (venv / "installed").unlink(missing_ok=True)
        _install(root, lock)
        (venv / "installed").write_text(json.dumps(_stamp(root, lock)), encoding="utf-8")
        begun.unlink()
    return True


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    with open(root / "pyproject.toml", "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("make setup: waiting for another one in this folder", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _stamp(root: Path, lock: str) -> dict[str, str]:
    """What an installation depends on; scripts in .venv/bin hold the folder's name."""
    stamp = {"folder": str(root)}
    for name in (lock, "pyproject.toml"):
        stamp[name] = hashlib.sha256((root / name).read_bytes()).hexdigest()
    return stamp


def _is_current(root: Path, lock: str) -> bool:
    """Whether this lock, or the one of everything, is installed."""
    try:
        stamp = json.loads((root / ".venv" / "installed").read_bytes())
    except (OSError, ValueError):
        return False
    return stamp in (_stamp(root, lock), _stamp(root, ALL)) and _works(root / ".venv")


def _works(venv: Path) -> bool:
    """Whether there is a Python in it that is new enough."""
    code = "import sys; sys.exit(sys.version_info < (3, 11) or sys.prefix == sys.base_prefix)"
    try:
        return subprocess.run([_python(venv), "-c", code], capture_output=True).returncode == 0
    except OSError:
        return False


def _python(venv: Path) -> Path:
    return venv / "bin" / "python"


def _install(root: Path, lock: str) -> None:
    """Install what the lock pins, and the package as it stands in this folder."""
    python = _python(root / ".venv")
    print(f"make setup: installing what {lock} pins", flush=True)
    locked = ["--quiet", "--require-hashes", "-r", str(root / lock)]
    itself = ["--quiet", "--no-deps", "--no-build-isolation", "-e", str(root)]
    uv = _uv(root, lock)
    if uv is not None:
        command = [uv, "pip", "install", "--python", str(python)]
        try:
            for arguments in (locked, itself):
                subprocess.run([*command, *arguments], check=True)
            return
        except subprocess.CalledProcessError:
            print("make setup: uv could not do it; pip tries, which takes minutes", flush=True)
    _need_pip(python)
    for arguments in (locked, itself):
        subprocess.run([*_pip(python), *arguments], check=True)


def _uv(root: Path, lock: str) -> str | None:
    """The uv on the path, or one installed into .venv; None if none can be had."""
    python = _python(root / ".venv")
    path = shutil.which("uv")
    if path is not None and _runs([path, "--version"]):
        return path
    inside = str(python.with_name("uv"))
    if _runs([inside, "--version"]):
        return inside
    _need_pip(python)
    with tempfile.TemporaryDirectory() as folder:
        pinned = Path(folder) / "uv.lock"
        pinned.write_text(pinned_lines(root / lock, "uv"), encoding="utf-8")
        options = ["--quiet", "--require-hashes", "--only-binary", ":all:", "-r", str(pinned)]
        installed = _runs([*_pip(python), *options]) and _runs([inside, "--version"])
    return inside if installed else None


def pinned_lines(lock: Path, name: str) -> str:
    """The lines of a lock that pin one package, with its hashes."""
    text = lock.read_text(encoding="utf-8")
    match = re.search(rf"^{re.escape(name)}==(?:.*\\\n)*.*\n", text, flags=re.MULTILINE)
    if match is None:
        raise SetupError(f"{lock.name} does not pin {name}: make lock")
    return match[0]


def _pip(python: Path) -> list[str]:
    return [str(python), "-m", "pip", "--disable-pip-version-check", "install"]


def _need_pip(python: Path) -> None:
    """Give .venv a pip, the one that came with Python."""
    if _runs([str(python), "-m", "pip", "--version"]):
        return
    if not _runs([str(python), "-m", "ensurepip", "--default-pip"]):
        raise SetupError(
            "this Python comes without ensurepip; install its venv package (on Debian and Ubuntu: "
            "apt install python3-venv), or uv"
        )


def _runs(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
