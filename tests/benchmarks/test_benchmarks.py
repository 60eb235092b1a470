"""The benchmarks run, on small sizes; how fast anything is, is not a test's business."""

import json
from pathlib import Path

import pytest

from swarmdp import InvalidInput
from swarmdp.benchmarks.run import run
from swarmdp.cli import main


def test_the_suite_runs_and_writes_its_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["bench", "--quick", "--rounds", "2", "-o", str(tmp_path)])
    written = json.loads((tmp_path / "bench.json").read_text())
    assert written["complete"]
    names = {workload["name"] for workload in written["workloads"]}
    assert any("Vicsek" in name for name in names)
    assert any("Ising" in name for name in names)
    assert "cKDTree" in capsys.readouterr().out


def test_unknown_workloads_are_refused() -> None:
    with pytest.raises(InvalidInput, match="flying"):
        run(None, ["flying"])
