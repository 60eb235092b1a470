from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.kernels.space import graph
from swarmdp.paper import pairs
from swarmdp.paper.pairs import ABSENT, NOT_CONNECTED, PARTS, Pairs, in_parts, sample_pairs
from swarmdp.support.errors import InvalidInput
from tests import oracles

VICSEK = swarmdp.Vicsek(n_agents=40, radius=0.12)
TIMES = [0, 1, 4, 9]


def sample(**changes: Any) -> Pairs:
    given: dict[str, Any] = {"numbers": np.arange(30), "times": TIMES, "seed": 5, "max_hops": 4}
    return sample_pairs(VICSEK, VICSEK.expert, **{**given, **changes})


def assert_equal(one: Pairs, other: Pairs) -> None:
    for name in ("times", "reference", "partner"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_pairs_are_those_of_the_recorded_states() -> None:
    actual = sample()
    states = swarmdp.rollout(VICSEK, VICSEK.expert, steps=9, runs=30, seed=5)
    assert actual.hops.tolist() == [1, 2, 3, 4, NOT_CONNECTED]
    assert actual.runs == 30
    for run in range(30):
        for place, time in enumerate(TIMES):
            near = oracles.neighbours(states["position"][run, time], 0.12, 1.0)
            hops, parts = oracles.hops(near, 0), in_parts(states["heading"][run, time])
            assert actual.reference[run, place] == parts[0]
            for distance, partner in zip(actual.hops, actual.partner[run, place], strict=True):
                (members,) = np.nonzero(hops == distance)
                assert partner == (parts[members[0]] if len(members) else ABSENT)
    assert 0.1 < (actual.partner == ABSENT).mean() < 0.9


def test_runs_may_be_sampled_in_any_units_and_on_any_number_of_threads() -> None:
    whole = sample(threads=1)
    assert_equal(whole, sample(threads=2))
    halves = [sample(numbers=np.arange(17)), sample(numbers=np.arange(17, 30), threads=2)]
    assert_equal(whole, Pairs.join(halves))
    order = np.random.default_rng(0).permutation(30)
    mixed = sample(numbers=order)
    np.testing.assert_array_equal(mixed.partner, whole.partner[order])


def test_a_time_does_not_depend_on_the_others_that_are_sampled() -> None:
    np.testing.assert_array_equal(sample(times=[4]).partner[:, 0], sample().partner[:, 2])


def test_a_rearranged_swarm_gives_the_same_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = sample()
    monkeypatch.setattr("swarmdp.systems.vicsek.REARRANGE_FROM", 1)
    monkeypatch.setattr("swarmdp.systems.vicsek.REARRANGE_EVERY", 1)
    assert_equal(plain, sample())


def test_a_table_moves_the_swarm_too() -> None:
    still = swarmdp.Policy(np.full(36, 6))
    assert not np.array_equal(
        sample_pairs(VICSEK, still, numbers=[0, 1], times=[9], seed=5).reference,
        sample(numbers=[0, 1], times=[9]).reference,
    )


def test_parts_of_the_circle() -> None:
    around = np.array([-np.pi, -np.pi / 2, 0.0, np.pi - 1e-9, np.pi, 3 * np.pi])
    assert in_parts(around).tolist() == [0, PARTS // 4, PARTS // 2, PARTS - 1, 0, 0]
    assert graph.UNREACHABLE == pairs.NOT_CONNECTED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"numbers": []}, "numbers must be a list of integers"),
        ({"numbers": [0.5]}, "numbers must be a list of integers, got float64"),
        ({"numbers": [3, 3]}, "not two independent runs"),
        ({"numbers": [-1]}, "run numbers must be from 0"),
        ({"times": [2, 1]}, "times must increase from 0 or later, got \\[2, 1\\]"),
        ({"times": [-1, 1]}, "times must increase"),
        ({"times": 3}, "times must be a list of integers"),
        ({"max_hops": 0}, "max_hops must be an integer of at least 1, got 0"),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        sample(**change)


def test_what_has_no_interaction_graph_is_refused() -> None:
    ising: Any = swarmdp.Ising((5, 5))
    with pytest.raises(InvalidInput, match="sampled from a Vicsek swarm"):
        sample_pairs(ising, ising.expert, numbers=[0], times=[0], seed=1)
    nearest = swarmdp.Vicsek(n_agents=10, nearest=3)
    with pytest.raises(InvalidInput, match="the 3 nearest: set nearest=None"):
        sample_pairs(nearest, nearest.expert, numbers=[0], times=[0], seed=1)
    several = swarmdp.Policy(np.zeros((2, 36), int))
    with pytest.raises(InvalidInput, match="2 replicas: sample each of them by itself"):
        sample_pairs(VICSEK, several, numbers=[0, 1], times=[0], seed=1)
    state = {"position": np.zeros((1, 40, 2)), "heading": np.zeros((1, 40))}
    with pytest.raises(InvalidInput, match="agent must be from 0 to 39, got 40"):
        VICSEK.hops(state, agent=40)


def test_pairs_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no pairs to join"):
        Pairs.join([])
    with pytest.raises(InvalidInput, match="different times or distances"):
        Pairs.join([sample(), sample(times=[0, 1, 4, 8])])
    with pytest.raises(InvalidInput, match="different times or distances"):
        Pairs.join([sample(), sample(max_hops=5)])
    one = sample()
    with pytest.raises(InvalidInput, match="pairs need times"):
        Pairs(one.times, one.reference[:, :2], one.partner)
