"""Smooth features of real observations: products of sines and cosines of their components."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.model.system import System, name_of
from swarmdp.support.errors import InvalidInput

SMOOTHING = 2.5  # the size of the wildest feature is 1 / (1 + SMOOTHING^2) of the constant's
SPREAD = 2.0  # standard deviations of a component that are in the middle of its interval


@dataclass(frozen=True, eq=False)
class Harmonics:
    """The features psi of an observation, for R replicas that each have a scale of their own.

    An angle enters by the sines and cosines of its multiples. Any other component x is drawn into
    (0, 1) by (1 + t / sqrt(1 + t^2)) / 2 with t = (x - centre) / scale, so that nothing lies
    outside, and enters by half-waves. A feature is a product of these, one for each component
    (`orders`); wilder ones are smaller, so that a ridge prefers smooth functions.
    """

    periodic: NDArray[np.bool_]  # (R, k): which components are angles, in radians
    orders: NDArray[np.int64]  # (R, p, k): as `kernels.tables.features` reads them
    centre: NDArray[np.float64]  # (R, k)
    scale: NDArray[np.float64]  # (R, k)

    def of(self, observations: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The features (runs, agents, p) of observations (runs, agents, k).

        Run r takes the scale of replica rows[r].
        """
        orders, periodic = self.orders[0], self.periodic[0]
        return kernels.tables.features(
            observations, periodic, self.centre, self.scale, orders, self._sizes, rows
        )

    @cached_property
    def _sizes(self) -> NDArray[np.float64]:
        """The size of each feature (p,): root two for each wave, less for the wilder ones."""
        orders = self.orders[0]
        costs = np.where(self.periodic[0], 4 * ((orders + 1) // 2) ** 2, orders**2).sum(axis=1)
        height = math.sqrt(2.0) ** (orders > 0).sum(axis=1)
        sizes: NDArray[np.float64] = height / (1 + SMOOTHING**2 * costs / max(1, costs.max()))
        return sizes


@cache
def lowest_orders(periodic: tuple[bool, ...], most: int) -> NDArray[np.int64]:
    """The orders (p, k) of the smoothest products, at most `most` of them.

    A wave costs the square of its number of periods over the circle, or over the interval of a
    component. Products of equal cost are taken together or not at all, so that no direction is
    preferred.
    """
    taken, quarters = _orders_within(periodic, 0), 1
    while len(wider := _orders_within(periodic, quarters)) <= most:
        taken, quarters = wider, quarters + 1
    orders = np.array(taken, np.int64)
    orders.setflags(write=False)
    return orders


def _orders_within(periodic: tuple[bool, ...], quarters: int) -> list[tuple[int, ...]]:
    """All orders that cost at most this number of quarters of a squared period, cheapest first."""
    orders_by_cost: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    for angle in periodic:
        longer = []
        for cost, orders in orders_by_cost:
            order = 0
            while (more := cost + (4 * ((order + 1) // 2) ** 2 if angle else order**2)) <= quarters:
                longer.append((more, (*orders, order)))
                order += 1
        orders_by_cost = longer
    return [orders for _, orders in sorted(orders_by_cost)]


def scales_of(
    observations: NDArray[np.float64], periodic: Sequence[bool], names: Sequence[str], replicas: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centre and scale (R, k) of each component, from observations (runs, agents, k).

    Run r belongs to replica r % R. Angles need neither.
    """
    # Each replica on its own, in the same layout for every batch: sums depend on it.
    by_run = [
        np.ascontiguousarray(observations[j::replicas]).reshape(-1, len(periodic))
        for j in range(replicas)
    ]
    centre = np.where(periodic, 0.0, [seen.mean(axis=0) for seen in by_run])
    scale = np.where(periodic, 1.0, [SPREAD * seen.std(axis=0) for seen in by_run])
    flat = np.flatnonzero((scale <= 1e-9 * np.maximum(1.0, np.abs(centre))).any(axis=0))
    if flat.size:
        raise InvalidInput(
            f"{names[flat[0]]!r} is the same for all agents at the start, so its scale is unknown: "
            "give LinearQ(centre=..., scale=...) for each component"
        )
    return centre, scale


def components(system: System, observations: NDArray[Any]) -> NDArray[np.float64]:
    """Observations as finite numbers (runs, agents, k), k = 1 where each is a single number."""
    numbers = np.ascontiguousarray(observations, np.float64)
    if not system.features.shape:
        numbers = numbers[..., None]
    if numbers.ndim != 3 or numbers.shape[2] != len(system.features.axes):
        raise InvalidInput(
            f"an observation of {name_of(system)} must have the shape {system.features.shape}, "
            f"got an array of shape {observations.shape}"
        )
    if not np.isfinite(numbers).all():
        raise InvalidInput(f"observations of {name_of(system)} must be finite, got NaN or infinity")
    return numbers
