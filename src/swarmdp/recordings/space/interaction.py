"""Is there an interaction, in three dimensions? See `swarmdp.recordings.interaction`.

How much better are turns to the left and upwards predicted by the nearest others, beyond the turn
before, the climb and the wall? By regression with blocks of time left out: the mean heading and the
mean direction of some nearest neighbours, and the direction of the nearest one. The number of
neighbours that predicts best is taken, for the recording and for each of the shifted data.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from swarmdp.recordings.interaction import Interaction, conclude, shifted_decisions
from swarmdp.recordings.neighbour_rows import neighbour_rows, own_columns
from swarmdp.recordings.rule_search import RuleSearch
from swarmdp.recordings.zone_models import ALIGNMENT, ATTRACTION, Zone, ZoneTable
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.support.threads import one_blas_thread

if TYPE_CHECKING:
    from swarmdp.recordings.decisions import Decisions
    from swarmdp.recordings.space.arena import SpaceArena

SHIFTS = 39
_TRIED = (3, 7, 12)  # numbers of neighbours, of which the best one is taken
_PAIRS = 400_000  # of a row and another individual that are looked at


@one_blas_thread()
def interaction_in_space(
    decisions: "Decisions",
    arena: "SpaceArena | None",
    *,
    seed: int,
    shifts: int = SHIFTS,
    progress: Callable[[int, int], None] | None = None,
) -> Interaction:
    """Whether individuals react to each other.

    Parameters
    ----------
    decisions
        In three dimensions.
    arena
        Where they were; None for open space.
    seed
        Same seed, same answer.
    shifts
        The number of data with individuals shifted in time.
    progress
        Called with the number of shifts that are done and of all.

    """
    gains, counts = social_gains_in_space(decisions, arena)
    if not counts.sum() > 0:
        raise InvalidInput("no decision is complete, so nothing can be tested: record longer")
    moved = shifted_decisions(decisions, shifts, seed)
    shifted = np.empty(shifts)
    for number, part in enumerate(moved):
        if progress is not None:
            progress(number, shifts)
        shifted[number] = _mean(*social_gains_in_space(part, arena))
    weights = counts / counts.sum()
    mean = _mean(gains, counts)
    blocks = int((counts > 0).sum())
    error = float(np.sqrt((weights**2) @ (gains - mean) ** 2 * blocks / max(blocks - 1, 1)))
    return conclude(mean, error, shifted, decisions.count, blocks)


def social_gains_in_space(
    decisions: "Decisions", arena: "SpaceArena | None"
) -> tuple[Floats, Floats]:
    """What the others are worth in each block of time, nats a decision, and its decisions."""
    rows = neighbour_rows(decisions, arena, _PAIRS)
    table = ZoneTable(rows)
    if not len(rows.turn) or not rows.distance.shape[1]:
        return np.zeros(1), np.zeros(1)
    search = RuleSearch(table, own_columns(rows, arena), ())
    nearest = table.mean_left(ATTRACTION, Zone(nearest=1))
    best: Floats | None = None
    for number in _TRIED:
        zone = Zone(nearest=number)
        parts = [table.mean_left(name, zone) for name in (ALIGNMENT, ATTRACTION)]
        products = search.products(np.column_stack([nearest, *parts]))
        error = products.held_out(np.arange(3)[None])[0]
        if best is None or error.sum() < best.sum():
            best = error
    assert best is not None
    full = np.maximum(search.counts, 1)
    variance = float(best.sum()) / float(search.counts.sum())
    return rows.parts * (search.alone - best) / (2 * variance * full), search.counts / rows.parts


def _mean(gains: Floats, counts: Floats) -> float:
    return float((gains * counts).sum() / max(float(counts.sum()), 1.0))
