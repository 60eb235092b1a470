"""The studies of the reward updates and of transfer, on small sizes."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import InvalidInput, Policy, SoftPolicy
from swarmdp.benchmarks import transfer, updates
from swarmdp.benchmarks.rows import collect
from swarmdp.cli import main
from swarmdp.irl.updates import UPDATES


def test_rows_are_measured_once(tmp_path: Path) -> None:
    settings = transfer.settings()[:3]
    measured: list[Any] = []

    def measure(setting: transfer.Setting) -> dict[str, Any]:
        measured.append(setting)
        return {"value": len(measured)}

    first = collect(tmp_path / "rows.json", settings[1:], measure, str)
    assert [row["value"] for row in first] == [1, 2]
    both = collect(tmp_path / "rows.json", settings, measure, str)
    assert measured == [*settings[1:], settings[0]]
    assert [row["value"] for row in both] == [3, 1, 2]  # in the order of the settings
    assert both == json.loads((tmp_path / "rows.json").read_text())


def test_the_study_of_updates_has_every_row_that_was_asked_for() -> None:
    rows = updates.settings()
    assert len(set(rows)) == len(rows)
    for system in ("vicsek", "ising"):
        own = [row for row in rows if row.system == system]
        assert {row.method for row in own} == {*UPDATES, updates.CLONING, updates.EXPERT}
        for method in ("max_margin", "projection", "ng_russell", "mwal", "maxent"):
            assert {r.estimator for r in own if r.method == method} == {"swarm", "single"}
        for method in ("policy_matching", "bayesian", updates.CLONING):
            assert "inferred" in {r.actions for r in own if r.method == method}


def test_the_study_of_updates_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [
        updates.Setting("vicsek", updates.EXPERT, None, None),
        updates.Setting("vicsek", "max_margin", "single", None),
        updates.Setting("vicsek", "policy_matching", None, "recorded"),
        updates.Setting("ising", updates.CLONING, None, "inferred"),
        updates.Setting("ising", "maxent", "swarm", None),
    ]
    monkeypatch.setattr(updates, "settings", lambda: few)
    command = ["bench", "--study", "updates", "--quick", "--experiments", "2"]
    main([*command, "-o", str(tmp_path)])
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
    with pytest.raises(InvalidInput, match="vicsek and ising"):
        updates.study(tmp_path, only=["fish"])


def test_rewards_agree_up_to_offset_and_scale() -> None:
    rng = np.random.default_rng(0)
    reward = rng.normal(size=36)
    same = np.stack([reward, 3 * reward + 5, 0.1 * reward - 2])
    assert updates.agreement(updates.standardised(same)) == pytest.approx(1)
    opposite = np.stack([reward, -reward])
    assert updates.agreement(updates.standardised(opposite)) == pytest.approx(-1)
    unrelated = updates.standardised(rng.normal(size=(60, 1000)))
    # 1770 correlations of 1000 numbers each, of which 59 are independent of each other
    assert abs(updates.agreement(unrelated)) < 4 / math.sqrt(1000 * 59)


def test_the_study_of_transfer_has_every_circumstance() -> None:
    changes = transfer.circumstances()
    assert len(changes) == 9
    systems = {name: swarmdp.Vicsek(**change) for name, change in changes.items()}
    assert systems["as learned"] == swarmdp.Vicsek()
    assert math.degrees(systems["noise 30°"].noise) == pytest.approx(30)
    assert len(systems["turns up to 20°"].actions) == 5
    for name in changes:
        controllers = {r.controller for r in transfer.settings() if r.circumstance == name}
        assert controllers == {"expert", "re-planned", "policy re-used", "clone"}


def test_the_study_of_transfer_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "SOURCES", ("max_margin", "maxent"))
    monkeypatch.setattr(transfer, "ATTEMPTS", 2)
    few = ("as learned", "turns up to 20°")
    rows = transfer.study(tmp_path, experiments=2, only=few, quick=True)
    assert len(rows) == 2 * 6
    table = (tmp_path / "transfer.md").read_text()
    assert "| turns up to 20° |" in table
    assert "clone, recorded actions" in table
    assert table.count("**") == 4  # the nearest of each swarm
    for name in ("transfer-over-time", "transfer-distances"):
        assert (tmp_path / f"{name}.png").stat().st_size > 1000
    with pytest.raises(InvalidInput, match="the circumstances are as learned, N = 50"):
        transfer.study(tmp_path, only=["under water"])


def test_planning_anew_keeps_the_policy_of_the_highest_value() -> None:
    """A learner of known policies: the reward decides, for each experiment on its own."""
    system = swarmdp.Vicsek(n_agents=50)
    align = np.abs(system.features.values[:, None] - system.actions).argmin(axis=1)
    away = np.abs(-system.features.values[:, None] - system.actions).argmin(axis=1)
    tables = iter([align, away] * 3)

    def learner(*_: Any, **__: Any) -> Any:
        table = next(tables)
        return type("Outcome", (), {"policy": Policy(np.stack([table, table]))})

    likes = np.cos(system.features.values)
    found = transfer.replanned(
        system,
        swarmdp.Reward(np.stack([likes, -likes])),
        0.0,
        learner,  # type: ignore[arg-type]
    )
    np.testing.assert_array_equal(found.table, np.stack([align, away]))


def test_actions_that_are_gone_become_the_nearest() -> None:
    old = swarmdp.Vicsek()
    new = swarmdp.Vicsek(**transfer.circumstances()["turns up to 20°"])
    table = np.arange(13)[np.arange(36) % 13]
    moved = transfer.with_actions_of(Policy(table), old, new)
    expected = np.clip(np.degrees(old.actions[table]), -20, 20)
    np.testing.assert_allclose(np.degrees(new.actions[moved.table[0]]), expected, atol=1e-9)
    spread = SoftPolicy(np.full((36, 13), 1 / 13))
    soft = transfer.with_actions_of(spread, old, new)
    assert isinstance(soft, SoftPolicy)
    np.testing.assert_allclose(soft.probabilities[0, 0], np.array([5, 1, 1, 1, 5]) / 13)


def test_the_expert_turns_no_farther_than_the_agents() -> None:
    new = swarmdp.Vicsek(**transfer.circumstances()["turns up to 20°"])
    turns = transfer.limited_expert(new)(np.radians([[-90.0, -5.0, 30.0]]))
    np.testing.assert_allclose(np.degrees(turns), [[-20, -5, 20]])
    usual = swarmdp.Vicsek()
    np.testing.assert_allclose(transfer.limited_expert(usual)(np.array([[2.0]])), [[2.0]])
