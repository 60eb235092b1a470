"""Planning again for a reward: other swarms, other bodies."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
import swarmdp.fitting.replan as replanning
from swarmdp.fitting.replan import reward_for
from swarmdp.support.errors import InvalidInput

ISING = swarmdp.Ising(shape=(8, 8), reach=1)
ALIKE = swarmdp.Reward(range(9, 0, -1))  # few unlike neighbours are good
MAJORITY = [0, 0, 0, 0, 0, 1, 1, 1, 1]


@dataclass(frozen=True)
class Slow:
    """Spins that flip only if they wanted to in the step before, too; they see that."""

    n_agents: int = 64

    actions = np.array([0, 1])

    @property
    def features(self) -> swarmdp.Product:
        parts: dict[str, Any] = {"local energy": swarmdp.Levels(9), "ready": swarmdp.Levels(2)}
        return swarmdp.Product(**parts)

    def initial(self, rng: swarmdp.model.Stream) -> dict[str, NDArray[Any]]:
        state = ISING.initial(rng)
        return {**state, "ready": np.zeros(rng.shape, np.int64)}

    def observe(self, state: dict[str, NDArray[Any]]) -> NDArray[Any]:
        energy = ISING.observe(state).astype(np.float64)
        return np.stack([energy, state["ready"].astype(np.float64)], axis=2)

    def transition(
        self, state: dict[str, NDArray[Any]], actions: NDArray[Any], rng: swarmdp.model.Stream
    ) -> dict[str, NDArray[Any]]:
        flips = (actions == 1) & (state["ready"] == 1)
        spin = np.where(flips, -state["spin"], state["spin"]).astype(state["spin"].dtype)
        return {**state, "spin": spin, "ready": np.where(flips, 0, actions).astype(np.int64)}


def test_the_same_swarm_is_planned_as_the_reward_says() -> None:
    planned = swarmdp.replan(ALIKE, ISING, seed=1)
    assert planned.policy.table[0].tolist() == MAJORITY  # type: ignore[attr-defined]
    assert planned.verdict is not None
    assert planned.verdict.words == "reproduces the demo"
    assert len(planned.attempts) == 4
    assert planned.value >= planned.attempts.max()
    assert planned.spread >= 0
    assert "Replanned by" in repr(planned)


def test_a_result_is_planned_for_another_size() -> None:
    demo = swarmdp.rollout(ISING, ISING.expert, steps=50, runs=3, seed=1)
    result = swarmdp.fit(ISING, demo, seed=1, judge=False)
    larger = swarmdp.Ising(shape=(12, 12), reach=1)
    planned = swarmdp.replan(result, larger, seed=2)
    assert planned.policy.table[0].tolist() == MAJORITY  # type: ignore[attr-defined]
    assert planned.policy.interface is not None
    assert planned.policy.interface.system == "Ising"


def test_a_result_is_planned_as_its_reward_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A longer search would find what pays more under a reward that was never tried on it."""
    used = []
    original = replanning.planned_policies

    def watched(*arguments: Any, **options: Any) -> Any:
        used.append(options["search"])
        return original(*arguments, **options)

    demo = swarmdp.rollout(ISING, ISING.expert, steps=50, runs=3, seed=1)
    result = swarmdp.fit(ISING, demo, seed=1, judge=False)
    monkeypatch.setattr(replanning, "planned_policies", watched)
    given = swarmdp.learning.PolicySearch(candidates=8, budget=100)
    swarmdp.replan(result, ISING, seed=2, judge=False)
    swarmdp.replan(ALIKE, ISING, seed=2, judge=False)
    swarmdp.replan(result, ISING, seed=2, judge=False, search=given)
    assert used[0] == replanning.QUICK_SEARCH
    assert used[1].budget > 10 * used[0].budget
    assert used[2] is given


def test_another_body_that_observes_more() -> None:
    slow = Slow()
    reward = swarmdp.Reward(ALIKE.weights, ISING.features.blocks)
    planned = swarmdp.replan(reward, slow, seed=1)
    assert planned.verdict is None  # it has neither a demo nor an expert
    carried = planned.reward.weights.reshape(9, 2)
    assert (carried[:, 0] == carried[:, 1]).all()
    moved = swarmdp.rollout(slow, planned.policy, steps=30, runs=10, seed=3)
    still = swarmdp.rollout(slow, lambda o: np.zeros(o.shape[:2], int), steps=30, runs=10, seed=3)

    def energy(runs: swarmdp.Trajectory) -> float:
        last = {"spin": runs["spin"][:, -1], "site": runs["site"][:, -1]}
        return float(ISING.observe(last).mean())

    assert energy(moved) < 0.4 * energy(still)


def test_components_are_matched_by_name_whatever_their_order() -> None:
    @dataclass(frozen=True)
    class Both(Slow):
        @property
        def features(self) -> swarmdp.Product:
            parts: dict[str, Any] = {"ready": swarmdp.Levels(2), "local energy": swarmdp.Levels(9)}
            return swarmdp.Product(**parts)

    reward = swarmdp.Reward(np.arange(18.0), Slow().features.blocks)
    turned = reward_for(Both(), reward).weights.reshape(2, 9)
    np.testing.assert_array_equal(turned, np.arange(18.0).reshape(9, 2).T)


def test_what_is_not_observed_is_named() -> None:
    with pytest.raises(InvalidInput, match="counts misalignment, which Ising does not observe"):
        reward_for(ISING, swarmdp.Reward(np.ones(36), swarmdp.Vicsek().features.blocks))
    fewer = swarmdp.Ising(shape=(8, 8), reach=2)
    reward = swarmdp.Reward(np.ones(25), fewer.features.blocks)
    with pytest.raises(InvalidInput, match="25 classes of local energy, but Ising has 9"):
        reward_for(ISING, reward)
    with pytest.raises(InvalidInput, match="4 weights, but Ising has 9 features"):
        swarmdp.replan(swarmdp.Reward(np.ones(4)), ISING, seed=1)
    with pytest.raises(InvalidInput, match="experiment must be from 0 to 0, got 1"):
        swarmdp.replan(ALIKE, ISING, seed=1, experiment=1)
    with pytest.raises(InvalidInput, match="result of swarmdp.fit or a swarmdp.Reward, got str"):
        swarmdp.replan("reward", ISING, seed=1)  # type: ignore[arg-type]


def test_a_finite_mdp_is_planned_exactly() -> None:
    grid = swarmdp.Gridworld(rows=3, columns=3)
    planned = swarmdp.replan(swarmdp.Reward(range(9)), grid, seed=1)
    exact = swarmdp.learning.plan(grid, swarmdp.Reward(range(9)))
    assert planned.learner == "planning"
    np.testing.assert_array_equal(planned.policy.table, exact.policy.table)  # type: ignore[attr-defined]


def test_the_same_seed_plans_the_same_whatever_the_threads() -> None:
    one, two = (swarmdp.replan(ALIKE, ISING, seed=4, judge=False, threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.attempts, two.attempts)


def test_single_agents_get_a_verdict_from_a_demo() -> None:
    grid = swarmdp.Gridworld()
    expert = swarmdp.learning.plan(grid, grid.reward).policy
    demo = swarmdp.rollout(grid, expert, steps=60, runs=20, seed=1)
    made = swarmdp.replan(swarmdp.Reward(grid.reward.weights), grid, seed=1, demo=demo)
    assert made.verdict is not None
    assert not made.verdict.alarm
    assert swarmdp.replan(grid.reward, grid, seed=1).verdict is None  # nothing to compare with
