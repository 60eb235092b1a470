"""Compiled code is cached, and a cache that fails costs time, not the result."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
from swarmdp.kernels import tabular
from swarmdp.kernels.compile import cache_directory
assert tabular.total(np.ones((2, 5), np.uint8)).tolist() == [5, 5]
print(cache_directory(tabular.total_rows))
print(sum(tabular.total_rows.stats.cache_hits.values()))
"""


def run(program: str = PROGRAM, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


def test_machine_code_is_kept_and_used_again(tmp_path: Path) -> None:
    where, hits, *_ = run(NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert where.startswith(str(tmp_path))
    assert hits == "0"
    assert run(NUMBA_CACHE_DIR=str(tmp_path / "cache"))[1] == "1"


def test_a_changed_kernel_file_is_compiled_again(tmp_path: Path) -> None:
    run(NUMBA_CACHE_DIR=str(tmp_path))
    changed = "import swarmdp.kernels.compile as c; c._SOURCES = 'another'\n" + PROGRAM
    assert run(changed, NUMBA_CACHE_DIR=str(tmp_path))[1] == "0"


def test_no_cache_directory_at_all(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    # Numba's fall-backs must not be found either: the directory of the source and the user's own.
    hidden = """
from numba.core import caching
for locator in caching.CacheImpl._locator_classes:
    locator.from_function = classmethod(lambda cls, *args: None)
"""
    where, hits, *_ = run(hidden + PROGRAM, NUMBA_CACHE_DIR=str(blocked))
    assert where.startswith("nowhere")
    assert hits == "0"


@pytest.mark.parametrize("failure", ["OSError(28, 'No space left on device')", "EOFError()"])
def test_a_cache_that_cannot_be_written_or_read(tmp_path: Path, failure: str) -> None:
    broken = f"""
from swarmdp.kernels import compile
def fail(*args, **kwargs):
    raise {failure}
compile._KernelFiles.save = fail
compile._KernelFiles.load = fail
"""
    assert run(broken + PROGRAM, NUMBA_CACHE_DIR=str(tmp_path))[1] == "0"


def cached(folder: Path) -> Path:
    """The one file of the kernel."""
    (found,) = folder.rglob("tabular.total_rows-*.nbc")
    return found


def test_a_damaged_cache_is_compiled_again_and_mended(tmp_path: Path) -> None:
    run(NUMBA_CACHE_DIR=str(tmp_path))
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        path.write_bytes(b"damaged")
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[1] == "0"
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[1] == "1"


@pytest.mark.parametrize("place", [0, 31, 32, 0.3, 0.5, 0.7, -1])
def test_a_flipped_bit_is_noticed_before_machine_code_is_run(
    tmp_path: Path, place: float, kept: Path
) -> None:
    path = tmp_path / kept.relative_to(kept.parents[1])
    shutil.copytree(kept.parent, path.parent)
    damaged = bytearray(path.read_bytes())
    damaged[place if isinstance(place, int) else int(place * len(damaged))] ^= 1
    path.write_bytes(damaged)
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[1] == "0"


def test_the_file_of_another_kernel_and_one_of_numba_are_not_loaded(
    tmp_path: Path, kept: Path
) -> None:
    path = tmp_path / kept.relative_to(kept.parents[1])
    shutil.copytree(kept.parent, path.parent)
    other = PROGRAM.replace("uint8", "int64")
    run(other, NUMBA_CACHE_DIR=str(tmp_path))
    (foreign,) = set(path.parent.glob("*.nbc")) - {path}
    path.write_bytes(foreign.read_bytes())
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[1] == "0"
    path.write_bytes(path.read_bytes()[32:])  # without a digest, as Numba writes them
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[1] == "0"


def test_what_older_sources_left_is_removed(tmp_path: Path) -> None:
    run(NUMBA_CACHE_DIR=str(tmp_path))
    old = cached(tmp_path)
    changed = "import swarmdp.kernels.compile as c; c._SOURCES = 'another'\n" + PROGRAM
    run(changed, NUMBA_CACHE_DIR=str(tmp_path))
    assert cached(tmp_path) != old
    assert not list(tmp_path.rglob("*.tmp.*"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that is whole: the kernel's file in it."""
    folder = tmp_path_factory.mktemp("kept")
    run(NUMBA_CACHE_DIR=str(folder))
    return cached(folder)
