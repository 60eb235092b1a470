"""The built archives: the wheel installed away from the source tree, the sdist as a source tree."""

import fnmatch
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.examples import ROOT, snippets


def built(kind: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir"]
    subprocess.run([*command, str(folder), str(ROOT)], check=True, capture_output=True)
    (archive,) = folder.glob("swarmdp-*")
    return archive


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked sdist."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(built("sdist", folder)) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


def kept_files() -> set[Path]:
    """All files of the source tree but those that .gitignore names."""
    lines = (ROOT / ".gitignore").read_text().split()
    ignored = [".git", *(line.strip("/") for line in lines)]
    found = set()
    for folder, names, files in os.walk(ROOT):
        for some in (names, files):
            some[:] = [n for n in some if not any(fnmatch.fnmatch(n, i) for i in ignored)]
        found |= {Path(folder, file).relative_to(ROOT) for file in files}
    return found


def test_the_wheel_holds_the_whole_package(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "swarmdp").rglob("*")
        if path.suffix in {".py", ".typed", ".html", ".css", ".js"}
    }
    assert {"swarmdp/py.typed", "swarmdp/report/assets/player.js"} <= sources
    assert sources <= names


def test_the_wheel_holds_nothing_but_the_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if "benchmarks" in name or "studies" in name]
    folders = {name.split("/")[0] for name in names}
    assert folders == {"swarmdp", wheel.name.split("-py3")[0] + ".dist-info"}


def test_the_sdist_holds_all_that_tests_read(sdist: Path) -> None:
    files = {path.relative_to(sdist) for path in sdist.rglob("*") if path.is_file()}
    needed = {"studies/rows.py", "benchmarks/vicsek.c", "tests/oracles.py", "requirements.lock"}
    needed |= {"docs/theory.json"}
    assert {Path(name) for name in needed} <= kept_files() <= files


def test_tests_that_read_files_pass_in_the_sdist(sdist: Path) -> None:
    tests = ["tests/test_documentation.py", "tests/studies/test_small_swarm_figures.py"]
    chosen = "links or versions or short or show"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, "-k", chosen],
        cwd=sdist,
        env={**os.environ, "PYTHONPATH": f"{sdist / 'src'}{os.pathsep}{sdist}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"\b6 passed", done.stdout)


def test_the_readme_runs_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    python = str(environment / "bin" / "python")
    pins = re.sub(r" \\\n( +--hash=\S+( \\)?\n)+", "\n", (ROOT / "requirements.lock").read_text())
    constraints = tmp_path / "constraints.txt"
    constraints.write_text(pins)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "-c", str(constraints), str(wheel)], check=True, cwd=tmp_path)
    program = tmp_path / "readme.py"
    program.write_text("\n".join(snippets("README.md")))
    done = subprocess.run(
        [python, "-I", str(program)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Trajectory of Vicsek" in done.stdout
    command = [str(environment / "bin" / "swarmdp"), "simulate", "vicsek", "--runs", "2"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "runs" / "vicsek" / "vicsek.png").exists()
