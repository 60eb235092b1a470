"""The study of what the default fit does on swarms that nobody has seen, on small sizes."""

import json
from pathlib import Path

import pytest

from studies import trust


def test_every_cell_of_the_grids_is_there() -> None:
    rows = trust.settings()
    assert len(set(rows)) == len(rows)
    cells = [row for row in rows if row.part == trust.GRID]
    assert sum(row.system == "Vicsek" for row in cells) == 2 * 54
    assert sum(row.system == "Ising" for row in cells) == 6


def test_the_study_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [
        trust.Setting(trust.FLOCK, "Vicsek"),
        trust.Setting(trust.FLOCK, "Ising"),
        trust.Setting(trust.GRID, "Vicsek", (("noise", 20), ("radius", 0.2)), "auto"),
        trust.Setting(trust.APART, "Vicsek", judged="rounded"),
        trust.Setting(trust.LOOP, "Vicsek", judged="max_margin", start="random"),
        trust.Setting(trust.LOOP, "Vicsek", judged=trust.REPEATED, start="random"),
    ]
    monkeypatch.setattr(trust, "settings", lambda: few)
    trust.study(tmp_path, experiments=2, quick=True)
    rows = json.loads((tmp_path / "trust.json").read_text())
    assert [row["part"] for row in rows] == [setting.part for setting in few]
    assert len(rows[0]["true_distance"]) == 2
    assert len(rows[2]["missed"]) == trust.CELL
    assert 0.5 <= rows[3]["auc"]["all"][0] <= 1
    text = (tmp_path / "trust.md").read_text()
    assert "the expert's table, with the tie" in text
    assert "| noise 20, radius 0.2 |" in text
    assert "| the paper's | random |" in text
