"""Which tests are slow, and why: `make test` leaves them to `make test-slow`.

They drive other programs, or repeat at length what a quick test sees in small. The rest sees most
failures in a few minutes. A row names a folder, a file or a test with all its parameters.
"""

from collections.abc import Mapping

SLOW: Mapping[str, str] = {
    "tests/test_package.py": "builds archives, installs them and runs tests in them",
    "tests/test_tutorials.py": "runs whole notebooks",
    "tests/benchmarks": "measures",
    "tests/studies": "small runs of the studies, which are no part of the package",
    "tests/campaigns": "samples of the attacks, many of them in processes that are killed",
    "tests/paper/test_cluster.py": "starts and kills schedulers and workers of Dask",
    "tests/report/test_browser.py": "drives a browser",
    "tests/report/test_no_browser.py": "starts pytest twice",
    "tests/studio/test_browser.py": "drives a browser",
}


def reason(nodeid: str) -> str | None:
    """Why the test with this name is slow; None if it is not."""
    path, _, test = nodeid.partition("::")
    name = f"{path}::{test.partition('[')[0]}"
    folders = (path[:end] for end, letter in enumerate(path) if letter == "/")
    return next((SLOW[row] for row in (name, path, *folders) if row in SLOW), None)
