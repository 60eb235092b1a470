import math
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import Ising
from swarmdp.model.streams import Purpose, Streams
from swarmdp.support.errors import InvalidInput
from tests import oracles

# Means of 20 runs of an independent prototype at an open boundary, whose expert flips if more than
# 12 of the neighbours that are there are unlike: at the edge less often than the majority.
REFERENCE = {0: 117053, 1: 73317, 2: 48891, 5: 32830, 10: 25750, 20: 20982, 59: 17841}
REFERENCE_RUNS = 20


def test_energy_agrees_with_the_reference() -> None:
    ising, runs = Ising(periodic=False), 100
    streams = Streams.of(8, np.arange(runs), ising.n_agents)
    state = ising.initial(streams.at(0, Purpose.INITIAL))
    half = np.ceil(oracles.missing_neighbours(ising.shape, 2) / 2).ravel()
    for time in range(60):
        if time in REFERENCE:
            energy = ising.energy(state)
            error = energy.std(ddof=1) * math.sqrt(1 / runs + 1 / REFERENCE_RUNS)
            assert abs(energy.mean() - REFERENCE[time]) < 3 * error, f"t = {time}"
        flips = ising.observe(state) - half[state["site"]] > 12
        state = ising.transition(state, flips, streams.at(time, Purpose.TRANSITION))


@pytest.mark.parametrize(("periodic", "expected"), [(False, 117018), (True, 120000)])
def test_energy_of_random_spins(periodic: bool, expected: int) -> None:
    ising, runs = Ising(periodic=periodic), 400
    energy = swarmdp.rollout(ising, ising.expert, steps=0, runs=runs, seed=3, record=ising.energy)[
        "energy"
    ][:, 0]
    assert abs(energy.mean() - expected) < 4 * energy.std(ddof=1) / math.sqrt(runs)


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("reach", [1, 2, 3])
def test_the_expert_follows_the_majority_of_the_neighbours_that_are_there(
    reach: int, periodic: bool
) -> None:
    ising = Ising((13, 17), reach, periodic)
    trajectory = swarmdp.rollout(ising, ising.expert, steps=3, runs=2, seed=1)
    grid = ising.grid(trajectory)
    there = ising.n_neighbours - (0 if periodic else oracles.missing_neighbours(ising.shape, reach))
    for r in range(2):
        for t in range(3):
            unlike = oracles.local_energy(grid[r, t], reach, periodic)
            expected = np.where(2 * unlike > there, -grid[r, t], grid[r, t])  # a tie keeps
            np.testing.assert_array_equal(grid[r, t + 1], expected)


def test_a_tie_keeps_the_spin() -> None:
    ising = Ising()
    np.testing.assert_array_equal(
        ising.expert(np.array([[0, 11, 12, 13, 24]], np.uint8)),
        [[False, False, False, True, True]],
    )


@pytest.mark.parametrize("periodic", [True, False])
def test_observations_of_agents_in_any_order(periodic: bool) -> None:
    ising = Ising((9, 14), periodic=periodic)
    state = ising.initial(Streams.of(1, np.arange(3), ising.n_agents).at(0, Purpose.INITIAL))
    observed = ising.observe(state)
    for r in range(3):
        grid = ising.grid(state)[r]
        energy = oracles.observed_energy(grid, 2, periodic).ravel()
        np.testing.assert_array_equal(observed[r], energy[state["site"][r]])


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("reach", [1, 2])
def test_the_energy_counts_unlike_neighbours_that_are_there(reach: int, periodic: bool) -> None:
    """Of states, of trajectories, and as it is recorded: from the observations."""
    ising = Ising((11, 14), reach, periodic)
    trajectory = swarmdp.rollout(
        ising, ising.expert, steps=4, runs=3, seed=1, record=["states", ising.energy]
    )
    np.testing.assert_array_equal(ising.energy(trajectory), trajectory["energy"])
    direct = [
        [oracles.local_energy(grid, reach, periodic).sum() for grid in run]
        for run in ising.grid(trajectory)
    ]
    np.testing.assert_array_equal(trajectory["energy"], direct)


def test_every_agent_sits_on_every_site_equally_often() -> None:
    from scipy import stats

    ising = Ising((3, 4), periodic=False)
    site = ising.initial(Streams.of(5, np.arange(6000), 12).at(0, Purpose.INITIAL))["site"]
    assert (np.sort(site, axis=1) == np.arange(12)).all()
    for agent in range(12):
        assert stats.chisquare(np.bincount(site[:, agent], minlength=12)).pvalue > 1e-4


@pytest.mark.parametrize("magnetisation", [-1.0, -0.4, 0.0, 0.8, 1.0])
def test_magnetisation(magnetisation: float) -> None:
    ising = Ising((100, 100), magnetisation=magnetisation)
    spin = ising.initial(Streams.of(1, np.arange(20), 10_000).at(0, Purpose.INITIAL))["spin"]
    assert set(np.unique(spin)) <= {-1, 1}
    error = math.sqrt((1 - magnetisation**2) / spin.size)
    assert abs(spin.mean(dtype=float) - magnetisation) <= 4 * error


def test_paper_values_are_the_defaults() -> None:
    ising = Ising()
    assert (ising.n_agents, ising.n_neighbours, ising.features.size) == (10_000, 24, 25)
    assert ising.periodic
    np.testing.assert_array_equal(ising.actions, [False, True])


def test_actions_are_keep_and_flip() -> None:
    ising = Ising((4, 4), reach=1)
    streams = Streams.of(1, [0], 16)
    state = ising.initial(streams.at(0, Purpose.INITIAL))
    rng = streams.at(0, Purpose.TRANSITION)
    for dtype in (bool, int, float):
        flipped = ising.transition(state, np.ones((1, 16), dtype), rng)
        np.testing.assert_array_equal(flipped["spin"], -state["spin"])
        assert flipped["spin"].dtype == np.int8
    with pytest.raises(InvalidInput, match="0 .keep. or 1 .flip."):
        ising.transition(state, np.full((1, 16), 2), rng)
    with pytest.raises(InvalidInput, match="0 .keep. or 1 .flip."):
        ising.transition(state, np.full((1, 16), np.nan), rng)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": (0, 5)}, "shape: rows must be an integer of at least 1, got 0"),
        ({"shape": (5, 2.0)}, "shape: columns must be an integer"),
        ({"shape": 100}, "shape must be two numbers"),
        ({"shape": (3, 3, 3)}, "shape must be two numbers"),
        ({"reach": 0}, "reach must be an integer of at least 1"),
        ({"shape": (4, 50)}, r"at least 5 rows and columns.*\(4, 50\).*or periodic=False"),
        ({"shape": (6, 50), "reach": 3}, "at least 7 rows and columns"),
        ({"magnetisation": 1.5}, "magnetisation must be a number from -1 to 1"),
        ({"magnetisation": math.nan}, "magnetisation must be a number from -1 to 1"),
    ],
)
def test_bad_settings_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Ising(**change)


def test_many_runs_have_the_energies_of_few() -> None:
    system = swarmdp.Ising((9, 8))
    many = swarmdp.rollout(system, system.expert, steps=5, runs=70, seed=3, record="energy")
    few = swarmdp.rollout(system, system.expert, steps=5, runs=4, seed=3, record="energy")
    plain = swarmdp.rollout(system, system.expert, steps=5, runs=70, seed=3)
    np.testing.assert_array_equal(many["energy"][:4], few["energy"])
    np.testing.assert_array_equal(many["energy"], system.energy(plain))
