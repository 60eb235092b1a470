"""Actions of one or several components: names, units, and which listed one is the nearest."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features import Axis
from swarmdp.model.system import System
from swarmdp.model.traits import HasActionNames, HasActionUnits
from swarmdp.support.errors import InvalidInput


def action_axes(system: System) -> tuple[Axis, ...]:
    """One axis for each component of the actions: its name, the value of each action, its unit.

    Raises InvalidInput if there are more or fewer names or units than components.
    """
    units = system.action_units if isinstance(system, HasActionUnits) else "1"
    names = system.action_names if isinstance(system, HasActionNames) else None
    return axes_of_actions(np.asarray(system.actions), names, units)


def axes_of_actions(
    actions: NDArray[Any], names: tuple[str, ...] | None, units: str | tuple[str, ...]
) -> tuple[Axis, ...]:
    """The axes of actions (n_actions,) or (n_actions, k), by names and units of components."""
    columns = actions[:, None] if actions.ndim == 1 else actions
    count = columns.shape[1]
    default = ("action",) if count == 1 else tuple(f"action_{i}" for i in range(count))
    named = default if names is None else (names,) if isinstance(names, str) else tuple(names)
    measured = (units,) * count if isinstance(units, str) else tuple(units)
    if len(named) != count or len(measured) != count or len(set(named)) != count:
        raise InvalidInput(
            f"actions of {count} components need as many names, all different, and units, got "
            f"{', '.join(named)} and {', '.join(measured)}"
        )
    return tuple(
        Axis(name, values, unit)
        for name, values, unit in zip(named, columns.T, measured, strict=True)
    )


_DIFFERENT = 256  # integers that are looked for one by one


def nearest_index(system: System, physical: NDArray[Any]) -> NDArray[np.int64]:
    """The index of the listed action nearest to each physical one, of equally near ones the first.

    Physical actions are (...) for one component and (..., k) for k. Angles are compared on the
    circle, and several components each in units of its own range.
    """
    axes, several = action_axes(system), np.ndim(system.actions) > 1
    if not several and physical.dtype.kind in "iu" and physical.size > _DIFFERENT:
        low, high = int(physical.min()), int(physical.max())
        if high - low < _DIFFERENT:  # each of them is looked for once
            known = nearest_index(system, np.arange(low, high + 1))
            return np.asarray(known[physical - low], np.int64)
    columns = np.moveaxis(physical, -1, 0) if several else physical[None]
    nearest = np.zeros(columns.shape[1:], np.int64)
    least = np.full(nearest.shape, np.inf)
    scales = [float(np.ptp(axis.values.astype(np.float64))) or 1.0 for axis in axes]
    for index in range(len(axes[0].values)):
        gap = np.zeros(nearest.shape)
        for column, axis, scale in zip(columns, axes, scales, strict=True):
            off = np.abs(column.astype(np.float64) - float(axis.values[index]))
            if axis.units == "rad":
                off = np.abs(np.remainder(off + math.pi, 2 * math.pi) - math.pi)
            gap = gap + (off / scale) ** 2 if several else off
        nearer = gap < least
        nearest[nearer] = index
        least[nearer] = gap[nearer]
    return nearest
