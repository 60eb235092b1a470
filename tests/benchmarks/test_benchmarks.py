"""Benchmarks are chosen by name; how fast anything is, is not a test's business."""

import pytest

from benchmarks.run import run
from swarmdp import InvalidInput


def test_unknown_workloads_are_refused() -> None:
    with pytest.raises(InvalidInput, match="flying"):
        run(None, ["flying"])
