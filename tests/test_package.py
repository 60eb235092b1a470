"""The built archives: the wheel installed away from the source tree, the sdist as a source tree."""

import fnmatch
import os
import platform
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

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
    files_kept = set()
    for folder, names, files in os.walk(ROOT):
        here = Path(folder).relative_to(ROOT)
        for some in (names, files):
            some[:] = [
                n
                for n in some
                if not any(fnmatch.fnmatch(n, i) or (here / n).as_posix() == i for i in ignored)
            ]
        files_kept |= {Path(folder, file).relative_to(ROOT) for file in files}
    return files_kept


def test_the_wheel_holds_the_whole_package(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "swarmdp").rglob("*")
        if path.suffix in {".py", ".typed", ".html", ".css", ".js", ".j2"}
    }
    assert {"swarmdp/py.typed", "swarmdp/report/assets/player.js"} <= sources
    assert "swarmdp/report/templates/page.html.j2" in sources
    assert sources <= names


def test_the_wheel_holds_nothing_but_the_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if "benchmarks" in name or "studies" in name]
    folders = {name.split("/")[0] for name in names}
    assert folders == {"swarmdp", "-".join(wheel.name.split("-")[:2]) + ".dist-info"}


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    """The executables of an environment that has the wheel and all that it says it depends on.

    What it depends on is linked from the environment of the tests, of which nothing else is seen.
    """
    environment = tmp_path / "environment"
    venv.create(environment)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", str(wheel)], check=True, cwd=tmp_path)
    (site,) = environment.glob("lib/python*/site-packages")
    (metadata,) = site.glob("swarmdp-*.dist-info")
    for needed in closure(Distribution.at(metadata)):
        for file in needed.files or ():
            top = file.parts[0]
            if top != ".." and not (site / top).exists():
                (site / top).symlink_to(Path(str(needed.locate_file(top))))
    return python.parent


def closure(root: Distribution) -> Iterator[Distribution]:
    """All distributions that this one requires, without extras, and those that they require."""
    seen: set[str] = set()
    todo = list(root.requires or ())
    while todo:
        requirement = Requirement(todo.pop())
        marker = requirement.marker
        if requirement.name in seen or (marker and not marker.evaluate({"extra": ""})):
            continue
        seen.add(requirement.name)
        package = distribution(requirement.name)
        yield package
        todo += package.requires or ()


COUNTED = """
import sys
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(str(event.data["dispatcher"].py_func))
    def on_end(self, event):
        pass
event.register("numba:compile", Listener())
{}
assert "swarmdp.kernels.runtime.compile" in sys.modules
sys.exit(f"compiled: {{compiled}}" if compiled else 0)
"""

FITS = """
import warnings
warnings.simplefilter("ignore")
import swarmdp
for system, measure in ((swarmdp.Vicsek(), "order"), (swarmdp.Ising(shape=(30, 30)), "energy")):
    demo = swarmdp.rollout(system, system.expert, steps=60, seed=1)
    for preset in (None, "paper"):
        result = swarmdp.fit(system, demo, seed=2, iterations=3, preset=preset)
    swarmdp.rollout(system, result.policy, steps=5, runs=100, seed=3, record=measure)
"""

COMMANDS = """
from swarmdp.cli import main
main(["simulate", "vicsek", "--runs", "3"])
main(["fit", "vicsek", "-o", "fit", "--iterations", "2"])
main(["evaluate", "fit", "--runs", "20"])
main(["reproduce", "--scale", "smoke", "--only", "energy"])
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="kernels are shipped for x86-64")
@pytest.mark.parametrize("program", [FITS, COMMANDS], ids=["fits", "commands"])
def test_a_first_use_of_the_wheel_compiles_nothing(
    wheel: Path, tmp_path: Path, program: str
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-c", COUNTED.format(program)],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(tmp_path / "site"),
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(platform.machine() != "x86_64", reason="kernels are shipped for x86-64")
def test_a_wheel_with_compiled_kernels_is_for_this_python_and_platform(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if name.endswith(".nbc")]
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert wheel.stem.split("-")[-3:-1] == [tag, tag]
    assert wheel.stem.endswith("_x86_64")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="kernels are shipped for x86-64")
def test_a_wheel_with_compiled_kernels_asks_for_the_numba_that_compiled_them(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        required = message_from_bytes(archive.read(name)).get_all("Requires-Dist", [])
    for compiler in ("numba", "llvmlite"):
        assert f"{compiler}=={distribution(compiler).version}" in required


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


def test_the_readme_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    program = tmp_path / "readme.py"
    # The simulators of others are no part of the wheel.
    shown = [snippet for snippet in snippets("README.md") if "mpe2" not in snippet]
    program.write_text("\n".join(shown))
    python = str(installed / "python")
    done = subprocess.run(
        [python, "-I", str(program)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "reproduces" in done.stdout
    command = [str(installed / "swarmdp"), "simulate", "vicsek", "--runs", "2"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "runs" / "vicsek" / "vicsek.png").exists()
    # Only what the wheel asks for is there: the tests' own tools are not.
    alone = subprocess.run([python, "-I", "-c", "import pytest"], capture_output=True, check=False)
    assert alone.returncode == 1
