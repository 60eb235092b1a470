"""Setting up a clone: once, whole, also if interrupted, and with what the locks pin."""

import ast
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.examples import ROOT

pytest.importorskip("fcntl", reason="the Makefile is for systems that have it")
from tools import set_up

PACKAGE = re.compile(r"^(\S+==\S+)[^\n]*\\\n((?:    --hash=\S+(?: \\)?\n)+)", re.MULTILINE)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two locks; installing writes a line to its file `log`."""
    for name in (set_up.ALL, set_up.RUN, "pyproject.toml"):
        (tmp_path / name).write_text(f"# {name}\n")

    def install(root: Path, lock: str) -> None:
        with open(root / "log", "a") as log:
            log.write(f"{lock}\n")

    monkeypatch.setattr(set_up, "_install", install)
    return tmp_path


def installs(clone: Path) -> list[str]:
    return (clone / "log").read_text().split()


def test_it_is_done_once(clone: Path) -> None:
    assert set_up.set_up(clone, set_up.ALL)
    command = [str(clone / ".venv" / "bin" / "python"), "-c", "import sys; print(sys.prefix)"]
    prefix = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert Path(prefix.strip()) == clone / ".venv"
    assert not set_up.set_up(clone, set_up.ALL)
    assert not set_up.set_up(clone, set_up.RUN)  # everything holds what a run needs
    assert installs(clone) == [set_up.ALL]


def test_what_a_run_needs_is_not_everything(clone: Path) -> None:
    set_up.set_up(clone, set_up.RUN)
    set_up.set_up(clone, set_up.RUN)
    set_up.set_up(clone, set_up.ALL)
    set_up.set_up(clone, set_up.RUN)
    assert installs(clone) == [set_up.RUN, set_up.ALL]


@pytest.mark.parametrize("name", [set_up.ALL, "pyproject.toml"])
def test_a_change_is_installed_into_the_same_environment(clone: Path, name: str) -> None:
    set_up.set_up(clone, set_up.ALL)
    (clone / ".venv" / "kept").touch()
    (clone / name).write_text("# changed\n")
    assert set_up.set_up(clone, set_up.ALL)
    assert (clone / ".venv" / "kept").exists()


def test_an_interrupted_installation_begins_again(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(root: Path, lock: str) -> None:
        (root / ".venv" / "half").touch()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(set_up, "_install", stop)
        with pytest.raises(KeyboardInterrupt):
            set_up.set_up(clone, set_up.ALL)
    assert set_up.set_up(clone, set_up.ALL)
    assert not (clone / ".venv" / "half").exists()
    assert not set_up.set_up(clone, set_up.ALL)


@pytest.mark.parametrize("damage", ["no Python", "its Python is gone", "a file"])
def test_a_damaged_environment_is_made_again(clone: Path, damage: str) -> None:
    set_up.set_up(clone, set_up.ALL)
    python = clone / ".venv" / "bin" / "python"
    if damage == "a file":
        (clone / ".venv").rename(clone / "away")
        (clone / ".venv").touch()
    else:
        python.unlink()
        if damage == "its Python is gone":
            python.symlink_to(clone / "gone")
    assert set_up.set_up(clone, set_up.ALL)
    subprocess.run([python, "-c", ""], check=True)


def test_a_moved_folder_is_installed_again(clone: Path) -> None:
    set_up.set_up(clone, set_up.ALL)
    moved = clone.rename(clone.with_name("moved"))
    assert set_up.set_up(moved, set_up.ALL)


def test_two_at_the_same_time_install_once(clone: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda lock: set_up.set_up(clone, lock), [set_up.ALL] * 4))
    assert sorted(done) == [False, False, False, True]
    assert len(installs(clone)) == 1


# Both note their arguments; uv answers which version it is, and fails or not at what it is for.
UV = 'echo uv "$@" >> {log}; test "$1" = --version || exit {code}'
PYTHON = 'echo python "$@" >> {log}; case "$*" in *uv.lock*) exit 1;; esac'


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("code", "commands"),
    [
        (0, ["uv pip", "uv pip"]),
        (1, ["uv pip", "python -m pip", "python -m pip"]),
        (None, ["python -m pip"] * 3),  # the first one, for uv, fails
    ],
    ids=["uv", "uv fails", "no uv"],
)
def test_pip_installs_what_uv_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int | None, commands: list[str]
) -> None:
    log, path = tmp_path / "log", tmp_path / "path"
    (tmp_path / set_up.RUN).write_text(set_up.pinned_lines(ROOT / set_up.RUN, "uv"))
    script(tmp_path / ".venv" / "bin" / "python", PYTHON.format(log=log))
    path.mkdir()
    if code is not None:
        script(path / "uv", UV.format(log=log, code=code))
    monkeypatch.setenv("PATH", str(path))
    set_up._install(tmp_path, set_up.RUN)
    lines = [line for line in log.read_text().splitlines() if " install " in line]
    assert [re.split(" install| --", line)[0] for line in lines] == commands
    assert all("--require-hashes" in line for line in lines if " -e " not in line)


def test_older_versions_can_read_it_far_enough_to_say_so() -> None:
    source = (ROOT / "tools" / "set_up.py").read_text()
    ast.parse(source, feature_version=(3, 7))
    assert source.index("sys.exit") < source.index("import argparse")


def locked(name: str) -> dict[str, str]:
    text = (ROOT / name).read_text()
    packages = dict(PACKAGE.findall(text))
    lines = [line for line in text.splitlines() if not line.startswith("    --hash=sha256:")]
    assert len(lines) == len(PACKAGE.findall(text))  # nothing but packages and their hashes
    return packages


def test_locks_agree_and_name_no_package_host() -> None:
    everything, run = locked(set_up.ALL), locked(set_up.RUN)
    assert run.items() <= everything.items()
    assert not any(name.startswith(("pytest", "sphinx", "mypy")) for name in run)
    for name in (set_up.ALL, set_up.RUN):
        assert re.match(r"uv==\S+ \\\n    --hash=sha256:", set_up.pinned_lines(ROOT / name, "uv"))
        assert len(re.findall("==", set_up.pinned_lines(ROOT / name, "uv"))) == 1


def test_a_python_that_is_too_old_or_missing_gets_one_line() -> None:
    done = subprocess.run(
        ["make", "-s", "setup", "PYTHON="], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode
    assert "needs Python 3.11 or newer" in done.stderr
