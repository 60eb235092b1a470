"""`swarmdp bench`, on small sizes."""

import json
from pathlib import Path

import pytest

from swarmdp.cli import main
from tests.terminal import fails


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench", "--only", "flying"], "flying"),
        (["bench", "--rounds", "0"], "rounds must be at least 1"),
        (["bench", "--study", "updates"], "unrecognized arguments: --study updates"),
    ],
)
def test_bad_input_gets_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in fails(arguments, capsys)
