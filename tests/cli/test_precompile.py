"""What is compiled before it is needed is noted, and done again only if the kernels changed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from swarmdp.cli import precompile
from swarmdp.kernels.runtime import compile as compiling
from swarmdp.kernels.runtime import sources


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The examples that are done instead of compiling, into an empty folder."""
    names: list[str] = []

    def note(examples: list[str], *rest: Any) -> None:
        names.extend(examples)

    monkeypatch.setattr(precompile, "COMPILED", tmp_path)
    monkeypatch.setattr(precompile, "_do_all", note)
    monkeypatch.setattr(compiling, "portable_here", lambda: True)
    return names


def test_what_was_done_is_not_done_again(done: list[str], tmp_path: Path) -> None:
    precompile.precompile("run", say=lambda line: None)
    assert done == ["fit", "reproduction"]
    precompile.precompile("run", say=pytest.fail)
    assert done == ["fit", "reproduction"]
    # For everything only what is missing is done.
    precompile.precompile(say=lambda line: None)
    assert done[2:] == ["vicsek", "ising", "recorded"]
    precompile.precompile("run", say=pytest.fail)
    noted = json.loads((tmp_path / precompile.STAMP).read_text())
    assert noted["done"] == sorted(precompile.EXAMPLES)


def test_other_kernels_are_compiled_into_an_empty_folder(
    done: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    precompile.precompile("run", say=lambda line: None)
    left_over = tmp_path / "older.nbc"
    left_over.touch()
    monkeypatch.setattr(precompile, "sources_digest", lambda: "others")
    precompile.precompile("run", say=lambda line: None)
    assert done == 2 * ["fit", "reproduction"]
    assert not left_over.exists()


def test_comments_do_not_change_the_digest_and_code_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "KERNELS", tmp_path)
    digests = []
    for text in ("x = 1\n", "# why\nx = 1\n", "x = 2\n"):
        (tmp_path / "kernel.py").write_text(text)
        digests.append(sources.sources_digest.__wrapped__())
    assert digests[0] == digests[1] != digests[2]


def test_asking_whether_anything_is_to_be_done_does_not_import_numba() -> None:
    program = (
        "import sys, swarmdp.cli.precompile as p; p._stamp(); sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
