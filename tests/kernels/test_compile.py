"""Compiled code is cached, and a cache that fails costs time, not the result."""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import llvmlite
import numba
import numpy as np
import pytest

from swarmdp.kernels.runtime import compile as compiling
from swarmdp.kernels.runtime.compile import _described, _KernelFiles, _runs_portable_code
from swarmdp.support import notices
from tests.terminal import shown_on_terminal

NOTHING_SHIPPED = """
from pathlib import Path
import swarmdp.kernels.runtime.compile as c
c.COMPILED = Path("{}")
"""

PROGRAM = """
import numpy as np
from swarmdp.kernels.tables import counting
from swarmdp.kernels.runtime.compile import cache_directory
assert counting.total(np.ones((2, 5), np.uint8)).tolist() == [5, 5]
print(cache_directory(counting.total_rows))
print(sum(counting.total_rows.stats.cache_hits.values()))
"""

HERE = ("x86_64-unknown-linux-gnu", "znver3", ",".join(f"+{f}" for f in compiling._FEATURES))
OTHER_TARGETS = {
    "an older processor": (HERE[0], "nehalem", HERE[2].replace("+avx2", "-avx2")),
    "a processor asked for without features": (HERE[0], "nehalem", ""),
    "another architecture": ("arm64-apple-darwin24.0.0", "apple-m1", HERE[2]),
}


def run(program: str = PROGRAM, shipped: Path | str = "", **environment: str) -> list[str]:
    """What the program prints; kernels that came with the package are in `shipped`."""
    done = subprocess.run(
        [sys.executable, "-c", NOTHING_SHIPPED.format(shipped) + program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


def cached(folder: Path) -> Path:
    """The one file of the kernel."""
    (file,) = folder.rglob("tables.counting.total_rows-*.nbc")
    return file


@pytest.fixture(scope="module")
def portable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a kernel that was compiled for PORTABLE, as the package ships them."""
    folder = tmp_path_factory.mktemp("kept")
    target = {"NUMBA_CPU_NAME": compiling.PORTABLE, "NUMBA_CPU_FEATURES": ""}
    assert run(NUMBA_CACHE_DIR=str(folder), **target)[1] == "0"
    return cached(folder)


def test_machine_code_is_kept_and_used_again(tmp_path: Path) -> None:
    where, hits, *_ = run(NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert where.startswith(str(tmp_path))
    assert hits == "0"
    assert run(NUMBA_CACHE_DIR=str(tmp_path / "cache"))[1] == "1"
    # A damaged one is compiled again, and mended.
    path = cached(tmp_path)
    path.write_bytes(b"damaged")
    assert run(NUMBA_CACHE_DIR=str(tmp_path / "cache"))[1] == "0"
    assert len(path.read_bytes()) > 1000
    # What older sources left is removed.
    changed = "c._SOURCES = 'another'\n" + PROGRAM
    assert run(changed, NUMBA_CACHE_DIR=str(tmp_path / "cache"))[1] == "0"
    assert cached(tmp_path) != path
    assert not list(tmp_path.rglob("*.tmp.*"))


def test_without_a_directory_to_write_to_kernels_that_were_shipped_are_used(
    tmp_path: Path, portable: Path
) -> None:
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
    where, hits, *_ = run(hidden + PROGRAM, portable.parent, NUMBA_CACHE_DIR=str(blocked))
    assert where.startswith("nowhere")
    assert hits == "1"


@pytest.mark.parametrize("failure", ["OSError(28, 'No space left on device')", "EOFError()"])
def test_a_cache_that_cannot_be_written_or_read(tmp_path: Path, failure: str) -> None:
    broken = f"""
from swarmdp.kernels.runtime import compile
def fail(*args, **kwargs):
    raise {failure}
compile._KernelFiles.save = fail
compile._KernelFiles.load = fail
"""
    assert run(broken + PROGRAM, NUMBA_CACHE_DIR=str(tmp_path))[1] == "0"


def test_a_shipped_kernel_with_a_flipped_bit_is_compiled_again(
    tmp_path: Path, portable: Path
) -> None:
    assert run(shipped=portable.parent, NUMBA_CACHE_DIR=str(tmp_path))[1] == "1"
    damaged = bytearray(portable.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / portable.name).write_bytes(damaged)
    assert run(shipped=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))[1] == "0"


KEY = ("a signature", HERE, ("code", "closure"))


@pytest.fixture
def files(tmp_path: Path) -> _KernelFiles:
    """Holds 'machine code' under KEY."""
    kept = _KernelFiles(tmp_path, "kernel")
    kept.save(KEY, "machine code")
    assert kept.load(KEY) == "machine code"
    return kept


@pytest.mark.parametrize("place", range(0, 48, 5))
def test_no_flipped_bit_gets_as_far_as_the_unpickler(
    files: _KernelFiles, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = files._path(KEY)
    damaged = bytearray(path.read_bytes())
    damaged[min(place, len(damaged) - 1)] ^= 1
    path.write_bytes(damaged)
    monkeypatch.setattr(pickle, "loads", pytest.fail)
    assert files.load(KEY) is None


def nobodys(path: Path) -> None:
    os.chown(path, 65534, 65534)


def share(path: Path) -> None:
    os.chown(path, -1, 65534)
    path.chmod(0o770)


UNSAFE = {
    "a folder that all can write to": lambda folder, file: folder.chmod(0o777),
    "a folder that a group can write to": lambda folder, file: share(folder),
    "a folder of somebody else": lambda folder, file: nobodys(folder),
    "a file of somebody else": lambda folder, file: nobodys(file),
    "a file that all can write to": lambda folder, file: file.chmod(0o666),
}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files to another user")
@pytest.mark.parametrize("name", UNSAFE)
def test_nothing_is_loaded_that_another_user_could_have_written(
    files: _KernelFiles, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = files._path(KEY)
    said: list[str] = []
    monkeypatch.setattr(compiling, "tell_once", said.append)
    UNSAFE[name](path.parent, path)
    monkeypatch.setattr(pickle, "loads", pytest.fail)
    compiling._is_own.cache_clear()
    assert files.load(KEY) is None
    assert len(said) == 1
    assert said[0].startswith("swarmdp: kernels in ")
    assert "others could have written them" in said[0]


def test_the_group_of_a_user_alone_may_write(tmp_path: Path) -> None:
    """Many systems give every user such a group, and let it write by default."""
    os.chown(tmp_path, -1, os.getegid())
    tmp_path.chmod(0o770)
    assert compiling._is_own(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files to another user")
def test_a_cache_of_somebody_else_is_passed_over(tmp_path: Path) -> None:
    """Numba would use the folder that it is told of, whoever it belongs to."""
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": ""}
    shared = tmp_path / "shared"
    run(NUMBA_CACHE_DIR=str(shared), **home)
    assert Path(run(NUMBA_CACHE_DIR=str(shared), **home)[0]).is_relative_to(shared)
    cached(shared).parent.chmod(0o777)
    for expected in ("0", "1"):
        where, hits, _ = run(NUMBA_CACHE_DIR=str(shared), **home)
        assert not Path(where).is_relative_to(shared)
        assert hits == expected


def test_files_of_others_are_not_loaded(files: _KernelFiles) -> None:
    other = (*KEY[:2], ("other code", "closure"))
    path = files._path(KEY)
    files.save(other, "other machine code")
    path.write_bytes(files._path(other).read_bytes())
    assert files.load(KEY) is None
    path.write_bytes(path.read_bytes()[32:])  # without a digest, as Numba writes them
    assert files.load(KEY) is None
    path.unlink()
    path.mkdir()  # something that cannot be read
    assert files.load(KEY) is None


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        (compiling, "_SOURCES", "others"),
        (numba, "__version__", "0.60.0"),
        (llvmlite, "__version__", "0.43.0"),
        (np, "__version__", "3.0.0"),
        (sys.implementation, "cache_tag", "cpython-399"),
    ],
)
def test_whatever_differs_means_another_file(
    files: _KernelFiles, owner: object, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _described(KEY)
    monkeypatch.setattr(owner, name, value)
    assert _described(KEY) != before
    assert files.load(KEY) is None


def test_another_minor_version_of_numpy_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _described(KEY)
    monkeypatch.setattr(np, "__version__", np.__version__.partition(".")[0] + ".99.0")
    assert _described(KEY) == before


def test_shipped_kernels_are_for_processors_that_have_all_features() -> None:
    assert _runs_portable_code(HERE)
    assert _runs_portable_code((HERE[0], compiling.PORTABLE, ""))
    for target in OTHER_TARGETS.values():
        assert not _runs_portable_code(target)


def test_a_processor_that_lacks_a_feature_compiles_for_itself(
    tmp_path: Path, portable: Path
) -> None:
    older = {"NUMBA_CPU_NAME": "nehalem", "NUMBA_CPU_FEATURES": ""}
    asked = run(shipped=portable.parent, NUMBA_CACHE_DIR=str(tmp_path), **older)
    assert asked[1] == "0"


def test_compiling_is_announced_once_to_whom_looks(tmp_path: Path) -> None:
    twice = PROGRAM + "counting.total(np.ones((2, 5), np.uint16))\n"
    program = f"{NOTHING_SHIPPED.format('')}\nimport os\n{twice}"
    arguments = ["env", f"NUMBA_CACHE_DIR={tmp_path}", sys.executable, "-c", program]
    shown = shown_on_terminal(arguments).decode()
    assert re.findall(r"[^\r\n]+", shown) == [
        "swarmdp: compiling kernels for this machine; this happens once"
    ]
    assert shown_on_terminal(arguments) == b""


def test_who_wants_silence_is_told_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(notices, "somebody_looks", lambda: True)
    with notices.silence():
        notices.tell_once("a line")
    assert capsys.readouterr().err == ""
    notices.tell_once("a line")
    notices.tell_once("a line")
    assert capsys.readouterr().err == "a line\n"
