"""Where chains end up; what is said when they do not settle, or settle in several ways."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from swarmdp import theory
from swarmdp.support.errors import SolverError
from swarmdp.theory import solvers
from swarmdp.theory.limits import limit_of, recurrent_classes
from swarmdp.theory.solvers import stationary
from tests.theory import oracles

Floats = NDArray[np.float64]


def limit(matrix: Floats, initial: Floats) -> theory.Limit:
    names = np.arange(len(initial))[:, None]
    return limit_of(sparse.csr_array(matrix), initial, names)


def random_chain(rng: np.random.Generator, states: int, successors: int) -> Floats:
    law = rng.exponential(size=(states, states))
    order = rng.permuted(np.tile(np.arange(states), (states, 1)), axis=1)
    law[order >= successors] = 0
    return np.asarray(law / law.sum(axis=1, keepdims=True))


def test_irreducible_chains_against_elimination_without_subtraction() -> None:
    rng = np.random.default_rng(0)
    for states in (2, 5, 30, 80):
        matrix = random_chain(rng, states, states)
        # Rare transitions make rare states: they have to be exact relative to their own size.
        matrix[:, states // 2 :] *= 1e-7
        matrix /= matrix.sum(axis=1, keepdims=True)
        limiting = limit(matrix, rng.dirichlet(np.ones(states)))
        assert limiting.unique
        np.testing.assert_allclose(limiting.law, oracles.stationary(matrix), rtol=1e-9)


def test_any_chain_against_its_powers() -> None:
    """Two successors for each state: transient states, several classes, now and then a period."""
    rng = np.random.default_rng(1)
    periodic = several = 0
    for _ in range(200):
        matrix = random_chain(rng, 12, int(rng.integers(1, 3)))
        initial = rng.dirichlet(np.ones(12))
        limiting = limit(matrix, initial)
        # All periods of classes of 12 states divide this; lazy chains of such many steps settle.
        late = initial @ np.linalg.matrix_power(matrix, 27720 * 2**6)
        laws = [late]
        for _ in range(int(np.lcm.reduce(limiting.classes.period)) - 1):
            laws.append(laws[-1] @ matrix)
        np.testing.assert_allclose(limiting.average, np.mean(laws, axis=0), atol=1e-9)
        settles = np.abs(np.array(laws) - laws[0]).max() < 1e-8
        assert limiting.exists == settles
        periodic += not settles
        several += len(limiting.classes.period) > 1
        np.testing.assert_allclose(limiting.weight.sum(), 1)
    assert periodic > 20
    assert several > 20


def test_periods_and_parts() -> None:
    cycle = np.roll(np.eye(6), 1, axis=1)
    classes = recurrent_classes(sparse.csr_array(cycle))
    assert classes.period.tolist() == [6]
    np.testing.assert_array_equal((classes.phase[[1, 2, 3, 4, 5, 0]] - classes.phase) % 6, 1)
    short = cycle.copy()
    short[3] = [0.5, 0, 0, 0, 0.5, 0]  # ways round of 4 and 6
    assert recurrent_classes(sparse.csr_array(short)).period.tolist() == [2]
    short[1] = [0.5, 0, 0.5, 0, 0, 0]  # and of 2: still even
    assert recurrent_classes(sparse.csr_array(short)).period.tolist() == [2]
    short[2] = [0.5, 0, 0, 0.5, 0, 0]  # and of 3
    assert recurrent_classes(sparse.csr_array(short)).period.tolist() == [1]


def test_a_periodic_chain_has_a_limit_only_in_balance() -> None:
    turning = np.array([[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]])
    even = limit(turning, np.array([0.5, 0.3, 0.2]))
    assert even.exists
    assert not even.unique
    np.testing.assert_allclose(even.law, [0.5, 0.25, 0.25])
    odd = limit(turning, np.array([1.0, 0.0, 0.0]))
    assert not odd.exists
    np.testing.assert_allclose(odd.average, [0.5, 0.25, 0.25])
    with pytest.raises(theory.NoLimit, match=r"does not converge: 1 recurrent class; class 0 of 3"):
        odd.law  # noqa: B018


def test_balance_counts_the_time_of_entry() -> None:
    """From state 0 the circle 1, 2 is entered at its first state at once or a step later."""
    for late, exists in ((0.5, True), (0.4, False)):
        matrix = np.array(
            [[0, 1 - late, 0, late], [0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 0, 0]], dtype=float
        )
        assert limit(matrix, np.array([1.0, 0, 0, 0])).exists == exists
        # The same with a transient state that is left slowly, so that a linear system is solved.
        slow = np.array(
            [
                [0.999, 0.001 * (1 - late), 0, 0.001 * late],
                [0, 0, 1, 0],
                [0, 1, 0, 0],
                [0, 1, 0, 0],
            ]
        )
        moments = limit(slow, np.array([1.0, 0, 0, 0]))
        # Phases of entry from a state that is kept with 0.999: 1 - 0.999 z at z = -1.
        part = 0.001 * (-(1 - late) + late) / (1 + 0.999)
        assert moments.exists == (abs(part) < 1e-10)


def test_several_classes_are_named() -> None:
    two = np.array([[1, 0, 0], [0.25, 0.25, 0.5], [0, 0, 1]])
    limiting = limit(two, np.array([0.0, 1.0, 0.0]))
    assert limiting.exists
    assert not limiting.unique
    np.testing.assert_allclose(limiting.law, [1 / 3, 0, 2 / 3])
    assert limiting.law[1] == 0
    text = str(limiting)
    assert "2 recurrent classes" in text
    assert "states such as [2], period 1, reached with probability 0.667" in text
    assert "depends on the initial distribution" in text


def test_rare_transitions_between_parts_decide_and_are_exact() -> None:
    near = np.array([[1 - 1e-13, 1e-13, 0], [0.0, 0.5, 0.5], [3e-13, 0.5, 0.5 - 3e-13]])
    # As much leaves the first state as comes from the last; the others are almost in balance.
    np.testing.assert_allclose(limit(near, np.array([0.2, 0.3, 0.5])).law, [0.6, 0.2, 0.2])


@pytest.mark.parametrize(
    "system",
    [
        theory.FiniteIsing((9,), 2, noise=1e-4, acting="one"),
        theory.FiniteIsing((8,), 2, noise=1e-3),
        theory.FiniteIsing((6,), 1, noise=1e-3),
    ],
    ids=str,
)
def test_swarms_that_hardly_ever_leave_a_state(system: theory.FiniteIsing) -> None:
    """Every probability is exact relative to its size, and so are Q-values."""
    chain = theory.chain(system, system.expert)
    expected = oracles.stationary(chain.transitions.toarray())
    np.testing.assert_allclose(chain.law(), expected, rtol=1e-11)
    seen = chain.swarm.observations[:, 0]
    reward = np.linspace(1, 0, system.features.size)
    private = chain.private_q(reward, 0.9)
    local = [oracles.conditional(expected, seen, o) @ private for o in range(len(reward))]
    np.testing.assert_allclose(chain.local_q(reward, 0.9), local, rtol=1e-11)


def test_panels_make_no_difference() -> None:
    rng = np.random.default_rng(4)
    for states in (2, 3, 64, 65, 66, 129, 200):
        matrix = random_chain(rng, states, states)
        matrix[:, states // 2 :] *= 1e-9
        expected = oracles.stationary(matrix / matrix.sum(axis=1, keepdims=True))
        actual = stationary(matrix / matrix.sum(axis=1, keepdims=True))
        np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_what_depends_on_rounding_is_refused() -> None:
    """Which of two classes is reached from states that are all but a class of their own."""
    near = np.zeros((4, 4))
    near[0, 0] = near[1, 1] = 1.0
    near[2] = [1e-13, 0, 0.5, 0.5 - 1e-13]
    near[3] = [0, 3e-13, 0.5, 0.5 - 3e-13]
    with pytest.raises(SolverError, match="too much on rounding"):
        limit(near, np.array([0.0, 0.0, 0.5, 0.5]))


def test_a_class_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "LARGEST_DENSE", 8)
    rng = np.random.default_rng(6)
    assert limit(random_chain(rng, 8, 8), np.eye(8)[0]).unique
    with pytest.raises(SolverError, match="9 unknowns, more than the 8 .* take fewer agents"):
        limit(random_chain(rng, 9, 9), np.eye(9)[0])


def test_the_expert_of_the_ring_ends_in_many_ways() -> None:
    """Majority vote without noise: aligned and striped rings stay, the chequered one blinks."""
    system = theory.FiniteIsing((6,))
    chain = theory.chain(system, system.expert)
    assert chain.limit.exists  # both chequered rings are equally likely from the start
    assert not chain.limit.unique
    assert sorted(chain.limit.classes.period.tolist()) == [1] * 20 + [2]
    uneven = np.zeros(64)
    uneven[0b010101] = 1
    blinking = theory.chain(theory.enumerate_swarm(system, initial=uneven), system.expert)
    with pytest.raises(theory.NoLimit, match=r"period 2, reached with probability 1"):
        blinking.local_value([1.0, 0.0, 0.0], 0.9)
    # Before the limit there are values at every time: the chequered agent sees two unlike.
    np.testing.assert_allclose(blinking.local_value([1, 0, 2], 0.9, time=3)[2], 20)


def test_a_large_deterministic_chain_without_symmetry() -> None:
    """No two states are alike, so nothing can be put together; it still takes no time."""
    rng = np.random.default_rng(5)
    states = 2**14
    after = rng.integers(states, size=states)
    matrix = sparse.csr_array((np.ones(states), (np.arange(states), after)), (states, states))
    initial = rng.dirichlet(np.ones(states))
    actual = limit_of(matrix, initial, np.arange(states)[:, None])
    law = initial
    for _ in range(1000):
        law = law @ matrix
    ends = law > 0
    np.testing.assert_array_equal(ends, actual.classes.label >= 0)
    assert not actual.exists
    np.testing.assert_allclose(
        np.bincount(actual.classes.label[ends], law[ends]), actual.weight, atol=1e-12
    )
