"""What becomes of the browser tests where there is no browser."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples import ROOT


@pytest.mark.parametrize(
    ("required", "code", "said"),
    [
        ("", 0, "no browser: install chromium and chromium-driver"),
        ("required", 1, "SWARMDP_BROWSER=required, but chromium and chromedriver are not"),
    ],
)
def test_they_are_skipped_by_name_unless_required(
    required: str, code: int, said: str, tmp_path: Path
) -> None:
    chosen = "tests/report/test_browser.py::test_the_claims_are_complete"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", chosen],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path), "SWARMDP_BROWSER": required},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout
    assert said in done.stdout
