"""Tables of numbers without a line of names: which column is the frame, which the individual.

The same four numbers are 'id frame x y' for PedPy and 'frame id x y' for others. With the right
order individuals move in small steps.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.long_tables import ChosenColumns, choose_columns
from swarmdp.support.errors import InvalidInput

_CLEARLY = 2.0  # the factor by which steps are smaller in the right order


def name_columns(rows: Any, columns: Mapping[str, str] | None) -> ChosenColumns:
    """Which column is what, by numbers as names; raises InvalidInput if nobody can tell."""
    names = [str(name) for name in rows.columns]
    if columns:
        return choose_columns(names, columns)
    if len(names) < 4:
        raise InvalidInput(
            f"its {len(names)} columns have no names: name them in the first line, or give "
            'columns={"frame": "1", "individual": "2", "x": "3", "y": "4"}'
        )
    values = rows.iloc[:, : min(len(names), 8)].to_numpy(dtype=np.float64, na_value=np.nan)
    axes = ("3", "4")
    notes = []
    if len(names) >= 8 and (values[:, 3] == 0).all():
        axes = ("3", "5")
        notes.append("column 4 is 0 in all rows, and is taken for the height")
    place = values[:, [int(axis) - 1 for axis in axes]]
    first = _step(values[:, 0], values[:, 1], place)
    second = _step(values[:, 1], values[:, 0], place)
    if not (first * _CLEARLY < second or second * _CLEARLY < first):
        raise InvalidInput(
            "its columns have no names, and nobody can tell whether the first is the frame or the "
            'individual: give columns={"frame": "1", "individual": "2", "x": "3", "y": "4"}'
        )
    frame, individual = ("1", "2") if first < second else ("2", "1")
    roles = {"frame": frame, "individual": individual, "x": axes[0], "y": axes[1]}
    listed = ", ".join(f"{role} is column {name}" for role, name in roles.items())
    notes.append(f"no column has a name; guessed by the steps that individuals make: {listed}")
    return ChosenColumns(roles, None, None, tuple(notes))


def _step(
    frames: NDArray[np.float64], who: NDArray[np.float64], places: NDArray[np.float64]
) -> float:
    """The mean way of an individual from one of its rows to the next."""
    order = np.lexsort((frames, who))
    same = np.diff(who[order]) == 0
    steps = np.linalg.norm(np.diff(places[order], axis=0), axis=1)[same]
    steps = steps[np.isfinite(steps)]
    return float(steps.mean()) if len(steps) else np.inf
