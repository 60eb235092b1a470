"""The study of swarms in which the same actions mean something else, on small sizes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from studies import other_actions, transfer
from studies.changed_swarms import ChangedVicsek
from studies.learners import STEPS
from studies.rows import read
from swarmdp.support.errors import InvalidInput
from tests.examples import ROOT


def test_the_study_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "ATTEMPTS", 1)
    monkeypatch.setattr(other_actions, "JUDGES", 2)
    few = ("turns to one side", "seen a step late")
    rows = other_actions.study(tmp_path, experiments=2, only=few, quick=True)
    assert len(rows) == 8 + 10  # the delayed swarm also with agents that remember
    for row in rows:
        for measure in ("order_20", "order_50", "order_100", "circling", "wobbling"):
            assert len(row[measure]) == 2
        assert len(row["order_mean"]) == 101
    table = (tmp_path / "other_actions.md").read_text()
    assert "| seen a step late | re-planned, remembering, max_margin | 0." in table
    assert table.count("| turns to one side | re-planned, first reward |") == 2  # alone, in pairs
    assert (tmp_path / "other-actions-over-time.png").stat().st_size > 1000
    with pytest.raises(InvalidInput, match="'under water' .*'as learned', 'bias of 20°'"):
        other_actions.study(tmp_path, only=["under water"])


def test_both_rewards_are_planned_for() -> None:
    """The one that comes with the policy, and the one from which Algorithm 1 started."""
    vicsek = swarmdp.Vicsek(n_agents=20)
    learned = transfer.learn(vicsek, 2, True, sources=("max_margin",), demo_seed=1, fit_seed=2)
    assert set(learned.rewards) == set(learned.policies) == {"max_margin"}
    seen = swarmdp.rollout(
        vicsek,
        vicsek.expert,
        steps=STEPS,
        runs=2,
        seed=1,
        record=swarmdp.simulation.DiscountedFeatures(0.9),
    )["discounted_features"]
    even = seen + seen[:, (36 - np.arange(36)) % 36]
    even /= np.linalg.norm(even, axis=1, keepdims=True)
    np.testing.assert_allclose(learned.first.weights, even, atol=1e-12)


def test_every_swarm_has_its_rows_and_references() -> None:
    usual = {"expert", "re-planned", "policy re-used", "clone", "nothing", "random"}
    names = list(other_actions.circumstances(swarmdp.Vicsek()))
    assert len(names) == 6
    for name in names:
        controllers = {s.controller for s in other_actions.settings() if s.circumstance == name}
        assert controllers >= usual
        assert controllers <= usual | {"re-planned, remembering"}


@pytest.mark.parametrize("turn", [0.0, 20.0, -130.0])
def test_circling_is_told_from_zigzag(turn: float) -> None:
    """Heading as the sum of equal turns, plus a zigzag of 170 degrees that has no mean."""
    times = np.arange(STEPS + 1)
    circle, zigzag = np.radians(turn * times), np.radians(170.0 * (times % 2))
    turns = other_actions.heading_turns(np.cos(circle)[None], np.sin(circle)[None])
    np.testing.assert_allclose(turns, turn, atol=1e-9)
    turns = other_actions.heading_turns(np.cos(zigzag)[None], np.sin(zigzag)[None])
    assert abs(turns.mean()) < 1e-9
    np.testing.assert_allclose(np.abs(turns), 170)


def test_a_swarm_that_flies_in_circles_is_seen_to() -> None:
    """Its order parameter is that of the swarm that flies straight."""
    vicsek = swarmdp.Vicsek(n_agents=50)
    straight, circling = (
        other_actions.measure_controller(ChangedVicsek(vicsek, bias=bias), vicsek.expert, 2)
        for bias in (0.0, other_actions.BIAS)
    )
    assert np.mean(straight["circling"]) < 1
    np.testing.assert_allclose(circling["circling"], 20, atol=1)
    np.testing.assert_allclose(circling["order_100"], straight["order_100"], atol=0.1)


def test_a_reward_counts_only_what_it_was_learned_from() -> None:
    system = ChangedVicsek(remembers=5)
    reward = swarmdp.Reward(np.arange(72.0).reshape(2, 36))
    actual = other_actions.reward_in(system, reward)
    values = actual.weights @ np.asarray(system.features.matrix).T
    np.testing.assert_array_equal(values.reshape(2, 36, 5), reward.weights[:, :, None].repeat(5, 2))
    same = other_actions.reward_in(ChangedVicsek(), reward)
    np.testing.assert_array_equal(same.weights, reward.weights)


@pytest.mark.parametrize(
    ("system", "mirrored"),
    [(ChangedVicsek(delayed=True), True), (ChangedVicsek(bias=0.3), False)],
)
def test_planning_again_uses_the_mirror_where_there_is_one(
    system: ChangedVicsek, mirrored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "STEPS", 2)
    asked = []

    def learner(*_: Any, wants: swarmdp.updates.Wants, **__: Any) -> Any:
        asked.append(wants.mirror)
        return type("Outcome", (), {"policy": swarmdp.Policy(np.zeros(36, np.int64))})

    reward = swarmdp.Reward(np.ones((1, 36)))
    transfer.replan(system, reward, 0.0, learner)  # type: ignore[arg-type]
    assert asked == [mirrored] * transfer.ATTEMPTS


def test_the_tables_in_the_documentation_are_those_of_its_rows() -> None:
    rows = read(ROOT / "docs" / other_actions.ROWS)
    assert {row["circumstance"] for row in rows} == set(
        other_actions.circumstances(swarmdp.Vicsek())
    )
    text = (ROOT / "docs" / "updates.md").read_text(encoding="utf-8")
    for line in other_actions.table(rows).splitlines():
        if line.startswith("| "):
            assert line in text
