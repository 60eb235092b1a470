"""Finite swarms are swarms, and what they say about their laws is what their simulation does."""

import numpy as np
import pytest

import swarmdp
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.system import State
from swarmdp.model.testing import check_system
from swarmdp.support.errors import InvalidInput
from swarmdp.theory.finite_ising import FiniteIsing
from swarmdp.theory.finite_swarm import FiniteSwarm
from swarmdp.theory.random_swarm import RandomSwarm
from swarmdp.theory.vicsek_ring import VicsekRing
from tests.theory import oracles

SYSTEMS: list[FiniteSwarm] = [
    FiniteIsing(),
    FiniteIsing((3, 3), reach=1, sees="majority", noise=0.1, acting="one"),
    FiniteIsing((3, 4), reach=1, sees="spins", noise=0.2, magnetisation=0.4),
    VicsekRing(noise=0.1),
    VicsekRing(4, 5, headings=4, radius=2, noise=0.3, acting="one"),
    VicsekRing(radius=None),
    RandomSwarm(),
    RandomSwarm(4, 2, None, 3, successors=1, acting="one", seed=5),
]


@pytest.mark.parametrize("system", SYSTEMS, ids=range(len(SYSTEMS)))
def test_they_keep_the_contract(system: FiniteSwarm) -> None:
    assert isinstance(system, FiniteSwarm)
    check_system(system)


@pytest.mark.parametrize("system", SYSTEMS, ids=range(len(SYSTEMS)))
def test_states_have_numbers(system: FiniteSwarm) -> None:
    local = np.random.default_rng(0).integers(system.n_local, size=(50, system.n_agents))
    np.testing.assert_array_equal(system.local(system.place(local)), local)


@pytest.mark.parametrize(
    "system",
    [
        FiniteIsing((3,), noise=0.2, acting="one"),
        FiniteIsing((4,), noise=0.1, magnetisation=0.5),
        VicsekRing(2, 3, noise=0.4),
        RandomSwarm(3, 2, seed=3),
    ],
    ids=str,
)
def test_simulation_draws_from_the_laws(system: FiniteSwarm) -> None:
    """Frequencies of initial states and of successors, within 5 standard deviations."""
    runs = 40_000
    states = oracles.joint_states(system)
    streams = Streams.of(7, np.arange(runs), system.n_agents)
    radix = system.n_local ** np.arange(system.n_agents)

    def frequency(state: State) -> np.ndarray:
        return np.bincount(system.local(state) @ radix, minlength=len(states)) / runs

    def agree(actual: np.ndarray, law: np.ndarray) -> None:
        assert (np.abs(actual - law) <= 5 * np.sqrt(law * (1 - law) / runs)).all()

    initial = np.array([np.prod(system.initial_local[list(s)]) for s in states])
    agree(frequency(system.initial(streams.at(0, Purpose.INITIAL))), initial)
    rng = np.random.default_rng(1)
    for number in rng.integers(len(states), size=3):
        actions = rng.integers(len(system.actions), size=system.n_agents)
        here = system.place(np.tile(np.array(states[number]), (runs, 1)))
        physical = np.tile(np.asarray(system.actions)[actions], (runs, 1))
        after = system.transition(here, physical, streams.at(1, Purpose.TRANSITION))
        agree(
            frequency(after), oracles.transition(system, dict(enumerate(actions)), states[number])
        )


def test_neighbours_on_a_ring_and_a_torus() -> None:
    rng = np.random.default_rng(2)
    for shape, reach in (((7,), 2), ((4,), 3), ((3, 4), 1), ((5, 3), 2)):
        energy = FiniteIsing(shape, reach)
        local = rng.integers(2, size=(1, energy.n_agents))
        places = list(np.ndindex(*shape))
        for n, here in enumerate(places):
            unlike = 0
            for m, there in enumerate(places):
                gaps = [
                    min((a - b) % size, (b - a) % size)
                    for a, b, size in zip(here, there, shape, strict=True)
                ]
                unlike += m != n and max(gaps) <= reach and local[0, n] != local[0, m]
            assert energy.observe(energy.place(local))[0, n] == unlike


def test_all_sights_follow_the_same_majority() -> None:
    for shape, reach in (((6,), 1), ((5,), 2), ((3, 3), 1)):
        systems = [FiniteIsing(shape, reach, sees) for sees in ("majority", "energy", "spins")]
        local = np.random.default_rng(3).integers(2, size=(200, systems[0].n_agents))
        acts = [s.expert(s.observe(s.place(local))) for s in systems]
        np.testing.assert_array_equal(acts[0], acts[1])
        np.testing.assert_array_equal(acts[0], acts[2])


def test_the_spins_in_sight_are_the_whole_state_when_the_reach_is_large() -> None:
    system = FiniteIsing((5,), 2, "spins")
    seen = oracles.observations(system)
    assert all(len(set(column)) == 32 for column in seen.T)


def test_the_order_of_a_vicsek_ring() -> None:
    system = VicsekRing(4, headings=4)
    state = system.place(np.array([[0, 0, 4, 8], [0, 1, 2, 3], [0, 1, 0, 1]]))
    np.testing.assert_allclose(system.order(state), [1, 0, np.sqrt(0.5)])
    two = VicsekRing(2, cells=5, radius=1)
    # Cells 0 and 4 meet across the end of the ring; cells 0 and 2 do not.
    near, far = two.place(np.array([[0, 9], [0, 5]]))["cell"]
    assert near.tolist() == [0, 4]
    assert far.tolist() == [0, 2]
    np.testing.assert_array_equal(
        two.observe(two.place(np.array([[0, 9], [0, 5]]))), [[1, 1], [2, 2]]
    )


def test_experts_bring_order() -> None:
    ring = VicsekRing(5, cells=5, radius=2, noise=0.0)
    ordered = swarmdp.rollout(ring, ring.expert, steps=30, runs=200, seed=1, record=ring.order)
    assert ordered["order"][:, -1].mean() > ordered["order"][:, 0].mean() + 0.3
    quarters = VicsekRing(5, cells=5, headings=4, radius=2, noise=0.0)
    ordered = swarmdp.rollout(
        quarters, quarters.expert, steps=30, runs=200, seed=1, record=quarters.order
    )
    assert ordered["order"][:, -1].mean() > ordered["order"][:, 0].mean() + 0.3
    spins = FiniteIsing((4, 4), acting="one")
    energy = swarmdp.rollout(spins, spins.expert, steps=200, runs=100, seed=1, record=spins.energy)
    assert (np.diff(energy["energy"], axis=1) <= 0).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FiniteIsing((2, 2, 2)), "one number"),
        (lambda: FiniteIsing(noise=0.6), "from 0 to 0.5"),
        (lambda: FiniteIsing(sees="all"), "majority"),  # type: ignore[arg-type]
        (lambda: FiniteIsing((20,), 10, "spins"), "at most 16 spins"),
        (lambda: FiniteIsing(magnetisation=2.0), "magnetisation"),
        (lambda: FiniteIsing(acting="two"), '"all" or "one"'),  # type: ignore[arg-type]
        (lambda: VicsekRing(headings=3), "2 or 4"),  # type: ignore[arg-type]
        (lambda: VicsekRing(noise=-0.1), "from 0 to 1"),
        (lambda: VicsekRing(radius=-1), "radius"),
        (lambda: RandomSwarm(n_local=2, successors=3), "at most n_local"),
        (lambda: RandomSwarm(seed=-1), "seed"),
    ],
)
def test_bad_settings_are_refused(make: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        make()  # type: ignore[operator]


def test_unknown_actions_are_refused() -> None:
    system = VicsekRing()
    streams = Streams.of(1, [0], 3)
    state = system.initial(streams.at(0, Purpose.INITIAL))
    with pytest.raises(InvalidInput, match="an action must be one of"):
        system.transition(state, np.array([[0, 1, 2]]), streams.at(0, Purpose.TRANSITION))
