"""The built wheel, installed into an empty environment away from the source tree."""

import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.examples import ROOT, snippets


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
    (built,) = folder.glob("swarmdp-*.whl")
    return built


def test_the_wheel_holds_the_whole_package(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "swarmdp").rglob("*")
        if path.suffix in {".py", ".c", ".typed", ".html", ".css", ".js"}
    }
    assert {"swarmdp/py.typed", "swarmdp/report/assets/player.js"} <= sources
    assert sources <= names


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
