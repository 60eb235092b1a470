"""The order parameter of a Vicsek swarm: the length of its mean direction, from 0 to 1.

Directions are summed in fixed point, (runs, 2) of int64, so that threads and agents in another
order give the same bits. Twin in the tests: `oracles.order`.
"""

import math

import numpy as np

from swarmdp.kernels.numerics import elementary, fixed_point
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.support import parallel
from swarmdp.support.arrays import Floats, Ints


def order_parameter(heading: Floats) -> Floats:
    """The order parameter: length of the mean heading vector of each run."""
    runs, agents = heading.shape
    # Each thread adds up its own agents of all runs; integers can be added in any order.
    parts = parallel.shares(agents)
    sums = np.empty((parts, runs, 2), np.int64)
    parallel.divide(
        agents, parts, lambda part, begin, end: add_headings(begin, end, heading, sums[part])
    )
    return _order_of_sums(sums.sum(axis=0), agents)


def _order_of_sums(sums: Ints, agents: int) -> Floats:
    """The order parameter (...) from fixed-point sums of all headings (..., 2)."""
    mean = sums / fixed_point.units_for(agents) / agents
    length: Floats = np.sqrt(mean[..., 0] ** 2 + mean[..., 1] ** 2)
    return length


@kernel
def add_headings(begin, end, heading, sums):
    """Fixed-point sums of the heading vectors of agents begin..end of each run."""
    units = fixed_point.units_for(heading.shape[1])
    for r in range(heading.shape[0]):
        row = heading[r]
        u = np.int64(0)
        v = np.int64(0)
        for i in range(np.uint64(begin), np.uint64(end)):
            sine, cosine = elementary.sincos(row[i])
            u += np.int64(cosine * units)
            v += np.int64(sine * units)
        # Written once: threads that add to neighbouring numbers slow each other down.
        sums[r, 0] = u
        sums[r, 1] = v


@kernel
def heading_sums(now):
    """The fixed-point sums of all headings."""
    units = fixed_point.units_for(now.x.shape[0])
    u = np.int64(0)
    v = np.int64(0)
    # Sines and cosines are there already: no trigonometry.
    for i in range(np.uint64(now.x.shape[0])):
        u += np.int64(now.cosine[i] * units)
        v += np.int64(now.sine[i] * units)
    return u, v


@kernel
def keep_order(u, v, agents, at, kept):
    """Keep the order parameter of a moment, if it is wanted."""
    if kept.size > 0:
        # The arithmetic of `order_parameter`, rounding for rounding.
        u_mean = float(u) / fixed_point.units_for(agents) / agents
        v_mean = float(v) / fixed_point.units_for(agents) / agents
        kept[at.run, at.time] = math.sqrt(u_mean * u_mean + v_mean * v_mean)
