"""The problems with which the choice of the reward was developed."""

import numpy as np

from studies.known.problem import Cells, Problem, cells_with


def problems() -> list[Problem]:
    """A conveyor, mud, hazards, a goal that holds, many small rewards."""
    corner, mud = frozenset({(0, 0)}), frozenset({(r, c) for r in range(1, 5) for c in (2, 3)})
    rng = np.random.default_rng(3)
    scattered = np.where(rng.random(36) < 0.25, rng.uniform(-1, 1, 36), 0)
    return [
        Problem(
            "conveyor",
            Cells(belts={(3, c): (0, 1) for c in range(6)}, resets=corner),
            Cells(belts={(3, c): (0, -1) for c in range(6)}, resets=corner, slip=0.3),
            cells_with(6, {(0, 0): 1}),
        ),
        Problem(
            "mud",
            Cells(mud=mud, resets=frozenset({(2, 5)})),
            Cells(mud=frozenset({(0, 3), (1, 3), (5, 4)}), resets=frozenset({(2, 5)}), slip=0.3),
            cells_with(6, {(2, 5): 1}),
        ),
        Problem(
            "hazards",
            Cells(resets=frozenset({(5, 5)}), slip=0.3),
            Cells(resets=frozenset({(5, 5)}), slip=0.3, belts={(r, 4): (-1, 0) for r in range(6)}),
            cells_with(6, {(5, 5): 1, (2, 2): -1, (3, 2): -1, (3, 4): -1}),
        ),
        Problem(
            "goal that holds",
            Cells(holds=frozenset({(5, 0)}), slip=0.2),
            Cells(holds=frozenset({(5, 0)}), slip=0.2, mud=frozenset({(3, 1), (4, 2), (5, 3)})),
            cells_with(6, {(5, 0): 1, (4, 0): -0.5, (5, 1): -0.5}),
        ),
        Problem(
            "many small rewards",
            Cells(resets=frozenset({(4, 4), (1, 1)}), slip=0.2),
            Cells(resets=frozenset({(4, 4)}), slip=0.5),
            scattered,
        ),
    ]
