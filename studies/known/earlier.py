"""Problems that were run once for an earlier rule, and have served to develop since."""

import numpy as np

from studies.known.problem import Cells, Problem, cells_with


def problems() -> list[Problem]:
    """A maze, holes that lead elsewhere, a river, two goals, a patrol between rewards."""
    maze = frozenset({(1, c) for c in range(6)} | {(4, c) for c in range(1, 7)})
    exit_ = frozenset({(6, 6)})
    river = {(r, 3): (1, 0) for r in range(7)} | {(r, 2): (1, 0) for r in range(7)}
    weir = {(r, 3): (1, 0) for r in range(7)}
    goals = frozenset({(0, 6), (6, 0)})
    rng = np.random.default_rng(8)
    patrol = np.where(rng.random(49) < 0.12, rng.uniform(0.3, 1, 49), 0)
    return [
        Problem(
            "maze",
            Cells(7, 0.1, walls=maze, resets=exit_),
            Cells(7, 0.3, walls=maze - {(4, 4)}, resets=exit_),
            cells_with(7, {(6, 6): 1}),
        ),
        Problem(
            "holes",
            Cells(7, 0.2, leaps={(1, 1): (6, 6), (5, 2): (0, 0)}, resets=frozenset({(3, 5)})),
            Cells(7, 0.2, leaps={(2, 4): (6, 0)}, resets=frozenset({(3, 5)})),
            cells_with(7, {(3, 5): 1, (2, 5): -0.5}),
        ),
        Problem(
            "river",
            Cells(7, 0.1, belts=river, resets=frozenset({(1, 6)})),
            Cells(7, 0.3, belts=weir, resets=frozenset({(1, 6)})),
            cells_with(7, {(1, 6): 1, (6, 3): -1}),
        ),
        Problem(
            "two goals",
            Cells(7, 0.1, resets=goals, mud=frozenset({(0, 5), (1, 6), (1, 5)})),
            Cells(7, 0.2, resets=goals, mud=frozenset({(5, 0), (6, 1)})),
            cells_with(7, {(0, 6): 1, (6, 0): 0.6}),
        ),
        Problem(
            "patrol",
            Cells(7, 0.3, mud=frozenset({(3, 3), (3, 4), (4, 3)})),
            Cells(7, 0.1, belts={(3, c): (0, 1) for c in range(7)}),
            patrol,
        ),
    ]
