"""What headings in space do: how much they turn, and which way they point.

Unit vectors (runs, times, agents, 3); one number for each run and block of time, as in `motion.py`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.judging.motion import DIRECTION, mean_of, ratio, stayed
from swarmdp.model import sphere
from swarmdp.support.arrays import Bools, Floats


def turning_in_space(
    values: NDArray[Any], blocks: int, present: Bools | None = None
) -> dict[str, Floats]:
    """The size of turns, whether they go on, and where headings point on average.

    Where it is said who was present (runs, times, agents), only steps of these count.
    """
    turn = _turn_vectors(values)
    counted = stayed(present)
    square = np.einsum("rtna,rtna->rtn", turn, turn)
    statistics = {
        "size of turns": mean_of(np.sqrt(square), counted, blocks),
        "largest turns": np.sqrt(np.sqrt(mean_of(square * square, counted, blocks))),
    }
    if present is None:
        for axis, name in enumerate("xyz"):
            statistics[f"{DIRECTION}, {name}"] = mean_of(values[..., axis], None, blocks)
    if turn.shape[1] > blocks:
        product = np.einsum("rtna,rtna->rtn", turn[:, 1:], turn[:, :-1])
        lagged = mean_of(product, stayed(counted), blocks)
        statistics["memory of turns"] = ratio(lagged, mean_of(square, counted, blocks))
    return statistics


def _turn_vectors(values: NDArray[Any]) -> Floats:
    """Turns as rotation vectors: axes of turns times their angles (runs, steps, agents, 3)."""
    before, after = values[:, :-1], values[:, 1:]
    axis = sphere.cross(before, after)
    sine = np.sqrt(np.einsum("...a,...a->...", axis, axis))
    angle = np.arctan2(sine, np.einsum("...a,...a->...", before, after))
    turns: Floats = axis * np.where(sine > 0, angle / np.where(sine > 0, sine, 1.0), 1.0)[..., None]
    return turns
