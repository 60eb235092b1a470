"""Compiled code is cached, and a cache that fails costs time, not the result."""

import os
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
from numba.core import caching
def fail(*args, **kwargs):
    raise {failure}
caching.IndexDataCacheFile.save = fail
caching.IndexDataCacheFile.load = fail
"""
    assert run(broken + PROGRAM, NUMBA_CACHE_DIR=str(tmp_path))[1] == "0"


def test_a_damaged_cache(tmp_path: Path) -> None:
    run(NUMBA_CACHE_DIR=str(tmp_path))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        path.write_bytes(b"damaged")
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[1] == "0"
