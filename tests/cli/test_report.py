"""`swarmdp report`."""

import json
import shutil
from pathlib import Path

import pytest

from swarmdp.cli import main


def test_a_report_is_drawn_again_from_what_is_finished(
    reproduction: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    folder.mkdir()
    shutil.copy(reproduction / "plan.json", folder)
    with pytest.raises(SystemExit):
        main(["report", str(folder)])
    assert "no figure of" in capsys.readouterr().err
    for task in ("snapshots-paper", "snapshots-default", "vicsek-expert"):
        shutil.copytree(reproduction / "units" / task, folder / "units" / task)
    main(["report", str(folder)])
    assert capsys.readouterr().out == f"look at {(folder / 'report.html').as_uri()}\n"
    assert json.loads((folder / "summary.json").read_text())["figures"] == ["snapshots"]
    with pytest.raises(SystemExit):
        main(["report", str(tmp_path)])
    assert "not the folder of a reproduction" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["report", str(tmp_path / "none")])
    assert "none: there is no such folder" in capsys.readouterr().err
