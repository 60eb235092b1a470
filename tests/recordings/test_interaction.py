from dataclasses import replace

import numpy as np
import pytest

import swarmdp
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.interaction import _shift, interaction, social_gains
from swarmdp.recordings.swarm import Swarm
from swarmdp.recordings.turn_prediction import softmax_regression, symmetric_edges, time_folds
from swarmdp.support.errors import InvalidInput
from tests.recordings.test_swarm import ARENAS, walkers

CIRCLE = ARENAS["circle"]


def recorded(align: float, times: int = 400, seed: int = 0) -> Decisions:
    tracks = walkers(CIRCLE, times=times, agents=10, seed=seed, align=align)
    return swarmdp.Recording(tracks, fps=4, unit="cm").decisions(dt=0.25)


def calibrated(decisions: Decisions) -> Swarm:
    return Swarm.from_recording(
        decisions, swarmdp.recordings.Observation(neighbours=5), arena=CIRCLE
    )


def test_an_interaction_is_found_and_none_where_there_is_none() -> None:
    tested = calibrated(recorded(0.4)).interaction_test(seed=1)
    assert tested.answer == "interaction found"
    assert tested.gain > tested.shifted.max()
    assert tested.interval[0] < tested.gain < tested.interval[1]
    assert 0 < tested.excess_interval[0] < tested.excess < tested.excess_interval[1]
    assert tested.p == 1 / 21
    assert "interaction found" in repr(tested)
    assert "interaction found" in tested._repr_html_()
    none = calibrated(recorded(0.0)).interaction_test(seed=1)
    assert none.answer == "interaction not found"
    assert none.excess < 0.01


def test_a_short_recording_is_too_little() -> None:
    decisions = recorded(0.05, times=400)
    short = replace(
        decisions,
        positions=decisions.positions[:14],
        headings=decisions.headings[:14],
        speeds=decisions.speeds[:14],
        known=decisions.known[:14],
        turns=decisions.turns[:13],
    )
    swarm = calibrated(decisions)
    assert interaction(swarm.view, short, shifts=19, seed=0).answer == "too little data"


def test_it_is_rarely_found_where_individuals_are_shifted() -> None:
    decisions = recorded(0.4, times=300)
    few = swarmdp.recordings.Observation(misalignment=5, bearing=0, spacing=0, wall=0, neighbours=5)
    view = Swarm.from_recording(decisions, few, arena=CIRCLE).view
    rng = np.random.default_rng(0)
    hits = 0
    for k in range(12):
        nobody = _shift(decisions, rng.integers(decisions.times, size=decisions.individuals))
        hits += interaction(view, nobody, shifts=19, seed=k).answer == "interaction found"
    # At a level of 5 %, three or more of 12 are found in 2 % of all cases.
    assert hits <= 2


def test_shifts_keep_each_individual_and_break_the_swarm() -> None:
    decisions = recorded(0.4, times=200)
    offsets = np.arange(10) * 17
    moved = _shift(decisions, offsets)
    for n, offset in enumerate(offsets):
        np.testing.assert_array_equal(
            np.roll(decisions.headings[:, n], offset), moved.headings[:, n]
        )
    turns = np.angle(np.exp(1j * np.diff(moved.headings, axis=0)))
    complete = np.isfinite(moved.turns)
    np.testing.assert_allclose(moved.turns[complete], turns[complete], atol=1e-9)
    assert np.isnan(moved.turns).sum() >= np.isnan(decisions.turns).sum() + 9


def test_the_same_seed_gives_the_same_answer() -> None:
    few = swarmdp.recordings.Observation(bearing=0, spacing=0, neighbours=5)
    swarm = Swarm.from_recording(recorded(0.2, times=120), few, arena=CIRCLE)
    first, again = (swarm.interaction_test(shifts=19, seed=3) for _ in range(2))
    assert (first.gain, first.interval) == (again.gain, again.interval)
    assert np.array_equal(first.shifted, again.shifted)


def test_wrong_arguments() -> None:
    decisions = recorded(0.2, times=120)
    with pytest.raises(InvalidInput, match="at least 19"):
        calibrated(decisions).interaction_test(shifts=5)
    alone = swarmdp.recordings.Observation(misalignment=0, bearing=0, spacing=0)
    with pytest.raises(InvalidInput, match="nothing of others"):
        Swarm.from_recording(decisions, alone, arena=CIRCLE).interaction_test()


def test_softmax_regression_is_that_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    matrix = np.concatenate([np.ones((30, 1)), rng.normal(size=(30, 4))], axis=1)
    counts = rng.poisson(20 * np.exp(0.5 * matrix @ rng.normal(size=(5, 3)))).astype(float)
    actual = softmax_regression(matrix, counts, ridge=2.0)
    rows, bins = np.indices(counts.shape)
    model = LogisticRegression(C=1 / 2.0, tol=1e-10, max_iter=10000)
    model.fit(matrix[rows.ravel(), 1:], bins.ravel(), sample_weight=counts.ravel())
    np.testing.assert_allclose(actual, model.predict_proba(matrix[:, 1:]), atol=1e-5)


def test_folds_and_edges() -> None:
    for train, test in time_folds(30):
        gaps = np.abs(np.flatnonzero(train)[:, None] - np.flatnonzero(test))
        assert gaps.min() > 2
    edges = symmetric_edges(np.array([-3.0, -1.0, 1.0, 2.0, np.nan, 5.0]), 3)
    np.testing.assert_array_equal(edges, -edges[::-1])
    assert len(symmetric_edges(np.zeros(5), 7)) == 0


def test_gains_are_of_held_out_time() -> None:
    decisions = recorded(0.4, times=100)
    gains = social_gains([calibrated(decisions).view], decisions)
    assert gains.shape == decisions.turns.shape
    assert np.isfinite(gains).sum() > 900
