"""The order parameter of a Vicsek swarm."""

import math

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.kernels.vicsek.sums import fixed_point_scale
from swarmdp.support import parallel
from swarmdp.support.arrays import Floats


def order_parameter(heading: Floats) -> Floats:
    """The order parameter: length of the mean heading vector of each run."""
    runs, agents = heading.shape
    parts = parallel.shares(agents)
    sums = np.empty((parts, runs, 2), np.int64)
    parallel.divide(
        agents, parts, lambda part, begin, end: add_headings(begin, end, heading, sums[part])
    )
    return _order_of_sums(sums.sum(axis=0), agents)


def _order_of_sums(sums: NDArray[np.int64], agents: int) -> Floats:
    """The order parameter (...) from fixed-point sums of all headings (..., 2)."""
    mean = sums / fixed_point_scale(agents) / agents
    length: Floats = np.sqrt(mean[..., 0] ** 2 + mean[..., 1] ** 2)
    return length


@kernel
def add_headings(begin, end, heading, sums):
    """Fixed-point sums of the heading vectors of agents begin..end of each run."""
    units = fixed_point_scale(heading.shape[1])
    for r in range(heading.shape[0]):
        row = heading[r]
        u = np.int64(0)
        v = np.int64(0)
        for i in range(np.uint64(begin), np.uint64(end)):
            sine, cosine = elementary.sincos(row[i])
            u += np.int64(cosine * units)
            v += np.int64(sine * units)
        sums[r, 0] = u
        sums[r, 1] = v


@kernel
def heading_sums(now):
    """The fixed-point sums of all headings."""
    units = fixed_point_scale(now.x.shape[0])
    u = np.int64(0)
    v = np.int64(0)
    for i in range(np.uint64(now.x.shape[0])):
        u += np.int64(now.cosine[i] * units)
        v += np.int64(now.sine[i] * units)
    return u, v


@kernel
def keep_order(u, v, agents, r, time, kept):
    """Keep the order parameter of a moment, if it is wanted."""
    if kept.size > 0:
        u_mean = float(u) / fixed_point_scale(agents) / agents
        v_mean = float(v) / fixed_point_scale(agents) / agents
        kept[r, time] = math.sqrt(u_mean * u_mean + v_mean * v_mean)
