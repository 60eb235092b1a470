"""What all tests share."""

import os
import shutil
import time
from pathlib import Path

import hypothesis
import pytest

from swarmdp.cli import main
from swarmdp.support import files
from tests.slow import is_left_out, reason

if "PYTEST_XDIST_WORKER" in os.environ:
    # All cores have a process: one thread for each, also of the commands that tests start.
    # Tests of threads ask for more.
    os.environ.setdefault("SWARMDP_THREADS", "1")

# The same examples in every run: a test that passed must not fail for another reason than a change.
hypothesis.settings.register_profile("same", derandomize=True)
hypothesis.settings.load_profile("same")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of which no test is chosen."""
    if collection_path.suffix != ".py":
        return None
    path = collection_path.relative_to(config.rootpath).as_posix()
    return is_left_out(path, config.option.markexpr) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow tests: `-m "not slow"` leaves them out."""
    for item in items:
        if why := reason(item.nodeid):
            item.add_marker(pytest.mark.slow(why))


@pytest.fixture(scope="session")
def reproduction(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole reproduction at the smallest scale, for all tests that look at it.

    Tests that run side by side make one together; each process has its own copy.
    """
    folder = tmp_path_factory.mktemp("copy") / "reproduction"
    together = "PYTEST_XDIST_WORKER" in os.environ
    base = tmp_path_factory.getbasetemp()
    made = (base.parent if together else base) / "reproduction"
    with files.appending(made.with_suffix(".lock")) as lock:
        while not files.locked(lock):
            time.sleep(0.1)
        if not (made / "report.html").exists():
            main(["reproduce", "--scale", "smoke", "-o", str(made)])
    shutil.copytree(made, folder)
    return folder
