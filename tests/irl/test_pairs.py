import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.irl.frames import observations_over
from swarmdp.irl.pairs import actions_of, nearest_actions, pair_counts
from swarmdp.model.trajectory import Trajectory, Variable
from swarmdp.support.errors import InvalidInput

VICSEK = swarmdp.Vicsek(n_agents=30)
ISING = swarmdp.Ising((9, 7))


def demo(system: Any, record: Any, steps: int = 12, runs: int = 3) -> Trajectory:
    return swarmdp.rollout(system, system.expert, steps=steps, runs=runs, seed=1, record=record)


def test_recorded_actions_are_counted_with_the_observation_they_were_taken_on() -> None:
    both = demo(VICSEK, ["observations", "actions"])
    counts, source = pair_counts(VICSEK, both)
    assert source == "recorded"
    expected = np.zeros((3, 36, 13))
    for run in range(3):
        for time in range(12):
            for agent in range(30):
                seen = both["observations"][run, time, agent]
                o = round(seen / math.radians(10)) % 36
                turn = both["actions"][run, time, agent]
                a = np.abs(np.angle(np.exp(1j * (VICSEK.actions - turn)))).argmin()
                expected[run, (o + 18) % 36, a] += 1
    np.testing.assert_array_equal(counts, expected)
    assert counts.sum() == 3 * 12 * 30


def test_spins_show_their_flips() -> None:
    recorded = demo(ISING, ["states", "actions"])
    states = Trajectory(
        {name: recorded.variables[name] for name in ("site", "spin")},
        recorded.system_name,
        recorded.settings,
        recorded.runs,
        recorded.steps,
    )
    first, source = actions_of(ISING, recorded)
    second, other = actions_of(ISING, states)
    assert (source, other) == ("recorded", "inferred")
    np.testing.assert_array_equal(first, second)
    counts, _ = pair_counts(ISING, states)
    # the expert is deterministic: it flips where more than half of its neighbours are unlike it
    assert not counts[:, :13, 1].any()
    assert not counts[:, 13:, 0].any()


def test_turns_show_up_to_the_noise() -> None:
    still = swarmdp.Vicsek(n_agents=30, noise=0.0)
    recorded = demo(still, ["states", "actions"])
    inferred = demo(still, "states")
    np.testing.assert_array_equal(actions_of(still, recorded)[0], actions_of(still, inferred)[0])
    noisy = swarmdp.Vicsek(n_agents=200)
    both = demo(noisy, ["states", "actions"], steps=40)
    meant = actions_of(noisy, both)[0]
    states = Trajectory(
        {name: both.variables[name] for name in ("position", "heading")}, *vars_of(both)
    )
    seen = actions_of(noisy, states)[0]
    inner = (meant > 2) & (meant < 10)
    # a turn and noise of one step: the difference of two roundings of numbers 10 degrees apart
    difference = (seen - meant)[inner]
    size = inner.sum()
    assert abs(difference.mean()) < 5 * difference.std() / np.sqrt(size)
    assert difference.std() == pytest.approx(math.sqrt(1 + 2 / 12), rel=0.1)


def vars_of(trajectory: Trajectory) -> tuple[Any, ...]:
    return trajectory.system_name, trajectory.settings, trajectory.runs, trajectory.steps


def test_the_nearest_action_is_nearest_on_the_circle() -> None:
    degrees = np.array([0.0, 4.0, 6.0, 61.0, 179.0, -179.0, 356.0, -130.0])
    actual = nearest_actions(VICSEK, np.radians(degrees))
    np.testing.assert_allclose(
        np.degrees(VICSEK.actions[actual]), [0, 0, 10, 60, 60, -60, 0, -60], atol=1e-9
    )
    np.testing.assert_array_equal(nearest_actions(ISING, np.array([True, False])), [1, 0])
    with pytest.raises(InvalidInput, match="must be finite"):
        nearest_actions(VICSEK, np.array([np.nan]))


def test_numbers_of_actions_that_a_system_does_not_have_are_refused() -> None:
    """Of the moves of a gridworld none is near to another: their numbers are names."""
    grid = swarmdp.Gridworld()
    np.testing.assert_array_equal(nearest_actions(grid, np.array([3.0, 0.0])), [3, 0])
    with pytest.raises(InvalidInput, match=r"does not have: -1, 4, 7. Its actions are 0, 1, 2, 3"):
        nearest_actions(grid, np.array([0, 4, 7, 7, -1]))
    with pytest.raises(InvalidInput, match=r"does not have: 0.5"):
        nearest_actions(grid, np.array([0.5, 1.0]))
    with pytest.raises(InvalidInput, match="does not have: 2. Its actions are False, True"):
        nearest_actions(ISING, np.array([0, 2]))
    with pytest.raises(InvalidInput, match="does not have: 5"):
        nearest_actions(Ring(), np.array([5]))
    moves = swarmdp.rollout(
        grid, swarmdp.Policy(np.zeros(25, int)), steps=60, seed=1, record=["states", "actions"]
    )
    wrong = Variable(moves["actions"] + 4, moves.variables["actions"].axes)
    demo = Trajectory({**moves.variables, "actions": wrong}, *vars_of(moves))
    with pytest.raises(InvalidInput, match="does not have: 4"):
        swarmdp.fit(grid, demo, seed=1, update="policy_matching", judge=False)


def test_a_single_agent_s_pairs() -> None:
    both = demo(VICSEK, ["observations", "actions"])
    counts, _ = pair_counts(VICSEK, both, estimator="single", agent=3)
    assert counts.sum() == 3 * 12
    seen = [VICSEK.features.index(now)[0, 3] for now in observations_over(VICSEK, both)]
    index = np.array(seen[:-1])
    np.testing.assert_array_equal(counts[0].sum(axis=1), np.bincount(index, minlength=36))


def test_demos_without_actions_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"without the states \(position, heading\).*max_margin"):
        pair_counts(VICSEK, demo(VICSEK, "observations"))

    class Silent(swarmdp.Vicsek):
        inferred_actions = None  # type: ignore[assignment]

    silent = Silent(n_agents=30)
    with pytest.raises(InvalidInput, match="Silent cannot infer them from states. Record them"):
        pair_counts(silent, demo(silent, "states"))
    with pytest.raises(InvalidInput, match="at least one step"):
        pair_counts(VICSEK, demo(VICSEK, "states", steps=0))
    nameless = Trajectory(
        {"actions": Variable(np.full((1, 2, 30), np.inf), ("run", "step", "agent"))},
        "Vicsek",
        {},
        1,
        2,
    )
    with pytest.raises(InvalidInput, match="must be finite"):
        pair_counts(VICSEK, nameless)


@dataclass(frozen=True)
class Ring:
    """Agents on a ring of cells; it does not describe its fields."""

    n_agents: int = 5
    actions: ClassVar[NDArray[np.int64]] = np.array([-1, 0, 1])
    features: ClassVar[swarmdp.Levels] = swarmdp.Levels(10)

    def initial(self, rng: swarmdp.model.Stream) -> dict[str, Any]:
        return {"cell": rng.integers(10)}

    def observe(self, state: dict[str, Any]) -> Any:
        return state["cell"]

    def transition(self, state: dict[str, Any], actions: Any, rng: swarmdp.model.Stream) -> Any:
        return {"cell": (state["cell"] + actions) % 10}

    def expert(self, observations: Any) -> Any:
        return np.where(observations < 5, 1, -1)

    def inferred_actions(self, before: dict[str, Any], after: dict[str, Any]) -> Any:
        return (after["cell"] - before["cell"] + 1) % 10 - 1


def test_a_system_without_described_fields_can_infer() -> None:
    ring = Ring()
    counts, source = pair_counts(ring, demo(ring, "states"))
    assert source == "inferred"
    assert not counts[:, :, 1].any()
    assert not counts[:, :5, 0].any()
    assert not counts[:, 5:, 2].any()
    with pytest.raises(InvalidInput, match="without the states. Record them"):
        pair_counts(ring, demo(ring, "observations"))
