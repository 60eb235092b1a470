"""Figures of an analysis, against turns that are known."""

import numpy as np
import pytest

from swarmdp.recordings.arena import Periodic
from swarmdp.recordings.decisions import Decisions
from swarmdp.report.analysis_figures import CELLS, LEAST_PAIRS, turns_by_place


def pairs(times: int, side: float = 0.0) -> Decisions:
    """The first heads up; the second is at random places around it. The first turns towards it."""
    rng = np.random.default_rng(1)
    away = rng.uniform(-0.9, 0.9, (times, 2))
    places = np.stack([np.full((times, 2), 0.05), 0.05 + away], axis=1)
    if side:
        places = places % side
    headings = np.full((times, 2), np.pi / 2)
    turns = np.full((times - 1, 2), np.nan)
    turns[:, 0] = np.where(away[:-1, 0] > 0, -0.3, 0.3)  # to the right if it is on the right
    speeds, known = np.ones((times, 2)), np.ones((times, 2), np.bool_)
    return Decisions(places, headings, speeds, known, turns, 1.0, "m", 0.0)


@pytest.mark.parametrize("side", [0.0, 2.0])
def test_turns_stand_where_the_other_one_is(side: float) -> None:
    decisions = pairs(30_000, side)
    arena = Periodic((side, side)) if side else None
    edges, turns, counts = turns_by_place(decisions, arena, 1.0)
    assert turns.shape == counts.shape == (CELLS, CELLS)
    assert counts.sum() == 29_999
    middles = (edges[1:] + edges[:-1]) / 2
    right = np.broadcast_to(middles > 0, turns.shape)  # columns are to the right
    seen = counts >= LEAST_PAIRS
    np.testing.assert_allclose(turns[seen & right], -0.3)
    np.testing.assert_allclose(turns[seen & ~right], 0.3)
    assert np.isnan(turns[~seen]).all()
    assert not counts[:, np.abs(middles) > 0.95].any()
