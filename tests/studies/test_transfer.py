"""The study of transfer, on small sizes."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from studies import transfer
from swarmdp import Policy
from swarmdp.policies import SoftPolicy
from swarmdp.policies.replicas import table_of
from swarmdp.support.errors import InvalidInput


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
    with pytest.raises(InvalidInput, match="'under water' .*'as learned', 'N = 50'"):
        transfer.study(tmp_path, only=["under water"])


def test_planning_again_keeps_the_policy_of_the_highest_value() -> None:
    """A learner of known policies: the reward decides, for each experiment on its own."""
    system = swarmdp.Vicsek(n_agents=50)
    align = np.abs(system.features.axes[0].values[:, None] - system.actions).argmin(axis=1)
    away = np.abs(-system.features.axes[0].values[:, None] - system.actions).argmin(axis=1)
    tables = iter([align, away] * 3)

    def learner(*_: Any, **__: Any) -> Any:
        table = next(tables)
        return type("Outcome", (), {"policy": Policy(np.stack([table, table]))})

    likes = np.cos(system.features.axes[0].values)
    actual = transfer.replan(
        system,
        swarmdp.Reward(np.stack([likes, -likes])),
        0.0,
        learner,  # type: ignore[arg-type]
    )
    np.testing.assert_array_equal(table_of(actual), np.stack([align, away]))


def test_actions_that_are_gone_become_the_nearest() -> None:
    old = swarmdp.Vicsek()
    new = swarmdp.Vicsek(**transfer.circumstances()["turns up to 20°"])
    table = np.arange(13)[np.arange(36) % 13]
    moved = transfer.with_actions_of(Policy(table), old, new)
    expected = np.clip(np.degrees(old.actions[table]), -20, 20)
    np.testing.assert_allclose(np.degrees(new.actions[table_of(moved)[0]]), expected, atol=1e-9)
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
