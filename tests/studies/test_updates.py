"""The study of the reward updates, on small sizes."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from studies import updates
from swarmdp.irl.updates.registry import UPDATES
from swarmdp.support.errors import InvalidInput


def test_the_study_of_updates_has_every_row_that_was_asked_for() -> None:
    rows = updates.settings()
    assert len(set(rows)) == len(rows)
    for system in ("vicsek", "ising"):
        of_system = [row for row in rows if row.system == system]
        assert {row.method for row in of_system} == {*UPDATES, updates.CLONING, updates.EXPERT}
        for method in ("max_margin", "projection", "ng_russell", "mwal", "maxent"):
            assert {r.estimator for r in of_system if r.method == method} == {"swarm", "single"}
        for method in ("policy_matching", "bayesian", updates.CLONING):
            assert "inferred" in {r.actions for r in of_system if r.method == method}


def test_the_study_of_updates_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [
        updates.Setting("vicsek", updates.EXPERT, None, None),
        updates.Setting("vicsek", "max_margin", "single", None),
        updates.Setting("vicsek", "policy_matching", None, "recorded"),
        updates.Setting("ising", updates.CLONING, None, "inferred"),
        updates.Setting("ising", "maxent", "swarm", None),
    ]
    monkeypatch.setattr(updates, "settings", lambda: few)
    updates.study(tmp_path, experiments=2, quick=True)
    rows = json.loads((tmp_path / "updates.json").read_text())
    assert [row["method"] for row in rows] == [setting.method for setting in few]
    for row in rows:
        assert len(row["true_distance"]) == 2
        assert len(row["measure_mean"]) == 101
        assert ("agreement" in row) == (row["method"] in UPDATES)
    table = (tmp_path / "updates.md").read_text()
    assert "| max_margin, single agent |" in table
    assert "| policy_matching, recorded actions |" in table
    assert "## Ising" in table
    for system in ("vicsek", "ising"):
        for figure in ("distances", "over-time", "rewards"):
            assert (tmp_path / f"updates-{system}-{figure}.png").stat().st_size > 1000
    with pytest.raises(InvalidInput, match="no system 'fish' in this study"):
        updates.study(tmp_path, only=["fish"])


def test_rewards_agree_up_to_offset_and_scale() -> None:
    rng = np.random.default_rng(0)
    reward = rng.normal(size=36)
    same = np.stack([reward, 3 * reward + 5, 0.1 * reward - 2])
    assert updates.agreement(updates.standardise(same)) == pytest.approx(1)
    opposite = np.stack([reward, -reward])
    assert updates.agreement(updates.standardise(opposite)) == pytest.approx(-1)
    unrelated = updates.standardise(rng.normal(size=(60, 1000)))
    # 1770 correlations of 1000 numbers each, of which 59 are independent of each other
    assert abs(updates.agreement(unrelated)) < 4 / math.sqrt(1000 * 59)
