"""The same models with the libraries that a Python user would otherwise take."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import swarmdp
from benchmarks.contest import Disagreement, Unavailable
from benchmarks.swarms import SEED, Floats, in_grid_order, states_at, vicsek

NeighbourSums = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]
"""From positions (N, 2) and unit vectors (N,), (N,) to their sums over each neighbourhood."""

LocalEnergies = Callable[[NDArray[np.int8]], NDArray[Any]]
"""From spins (runs, rows, columns) to the local energy of each."""


class Simulator(Protocol):
    """A Vicsek swarm in a periodic unit square whose agents follow the expert."""

    def misalignment(self, position: Floats, heading: Floats) -> Floats:
        """What the agents of one swarm observe, for positions (N, 2) and headings (N,)."""

    def simulate(self, position: Floats, heading: Floats, steps: int) -> Floats:
        """The order parameter (runs, steps + 1) of swarms that start from these states."""


def optional(module: str) -> Any:
    """Import a library that may not be there."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Unavailable(f"{module.split('.')[0]} is not installed") from None


@dataclass(frozen=True)
class StepByStep:
    """One run after the other in NumPy, with someone else's sums over the neighbours."""

    model: swarmdp.Vicsek
    sums: NeighbourSums

    def misalignment(self, position: Floats, heading: Floats) -> Floats:
        """What the agents observe."""
        return self._observe(position, np.cos(heading), np.sin(heading))

    def simulate(self, position: Floats, heading: Floats, steps: int) -> Floats:
        """Whole steps: observe, turn, move, and the order parameter."""
        rng = np.random.default_rng(SEED)
        order = np.empty((len(heading), steps + 1))
        for run, (place, angle) in enumerate(zip(position, heading, strict=True)):
            for step in range(steps + 1):
                u, v = np.cos(angle), np.sin(angle)
                order[run, step] = np.hypot(u.mean(), v.mean())
                if step == steps:
                    break
                turn = self._observe(place, u, v)
                noise = rng.normal(0.0, self.model.noise, angle.size)
                place = (place + self.model.speed * np.column_stack((u, v))) % 1.0
                angle = angle + turn + noise
        return order

    def _observe(self, position: Floats, u: Floats, v: Floats) -> Floats:
        sum_u, sum_v = self.sums(position, u, v)
        return np.arctan2(u * sum_v - v * sum_u, u * sum_u + v * sum_v)


def ckdtree(model: swarmdp.Vicsek) -> Simulator:
    """SciPy's k-d tree, with the options that were quickest for this."""
    from scipy.spatial import cKDTree

    def sums(position: Floats, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        tree = cKDTree(position, boxsize=1.0, balanced_tree=False, compact_nodes=False)
        i, j = tree.query_pairs(model.radius, output_type="ndarray").T
        n = len(position)
        return (
            u + np.bincount(i, u[j], n) + np.bincount(j, u[i], n),
            v + np.bincount(i, v[j], n) + np.bincount(j, v[i], n),
        )

    return StepByStep(model, sums)


def freud(model: swarmdp.Vicsek) -> Simulator:
    """Freud's tree of bounding boxes, on one thread; positions are 32-bit floats there."""
    library = optional("freud")
    library.parallel.set_num_threads(1)
    box = library.box.Box.square(1.0)  # its centre is the origin
    query = {"r_max": model.radius, "exclude_ii": False}

    def sums(position: Floats, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        points = np.zeros((len(position), 3), np.float32)
        points[:, :2] = position - 0.5
        near = library.locality.AABBQuery(box, points).query(points, query).toNeighborList()
        j, first = near.point_indices, near.segments
        return np.add.reduceat(u[j], first), np.add.reduceat(v[j], first)

    return StepByStep(model, sums)


def numpy_all_pairs(model: swarmdp.Vicsek) -> Simulator:
    """All pairs in 64-bit floats, in buffers that are used again and fit the cache."""
    n = model.n_agents
    dx, dy, near = np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    within = np.empty((n, n), np.bool_)

    def sums(position: Floats, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        for difference, axis in ((dx, 0), (dy, 1)):
            x = position[:, axis]
            np.subtract(x[:, None], x, out=difference)
            np.subtract(difference, np.rint(difference, out=near), out=difference)
            np.multiply(difference, difference, out=difference)
        np.less_equal(np.add(dx, dy, out=dx), model.radius**2, out=within)
        near[...] = within
        return near @ u, near @ v

    return StepByStep(model, sums)


def numpy_fixed_point(model: swarmdp.Vicsek) -> Simulator:
    """All pairs, positions as 32-bit integers: their differences wrap around as the box does.

    This is the quickest that we know in NumPy; it moves every agent by up to 2e-10.
    """
    n = model.n_agents
    gap_x, gap_y = np.empty((n, n), np.int32), np.empty((n, n), np.int32)
    dx, dy, within = np.empty((n, n)), np.empty((n, n)), np.empty((n, n), np.bool_)

    def sums(position: Floats, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        places = (position * 2.0**32).astype(np.uint32).view(np.int32)
        for gap, difference, axis in ((gap_x, dx, 0), (gap_y, dy, 1)):
            x = places[:, axis]
            difference[...] = np.subtract(x[:, None], x, out=gap)
            np.multiply(difference, difference, out=difference)
        np.less_equal(np.add(dx, dy, out=dx), model.radius**2 * 2.0**64, out=within)
        dx[...] = within
        return dx @ u, dx @ v

    return StepByStep(model, sums)


@dataclass(frozen=True)
class UniformFilter:
    """The Ising model with SciPy's `uniform_filter`, on a torus."""

    model: swarmdp.Ising

    def energies(self, spin: NDArray[np.int8]) -> NDArray[np.int8]:
        """The local energies of spins (runs, rows, columns)."""
        from scipy.ndimage import uniform_filter

        size = 2 * self.model.reach + 1
        # The mean of size**2 times a spin is the exact sum of the spins, and fits 8 bits.
        sums = uniform_filter(spin * np.int8(size**2), size, mode="wrap", axes=(1, 2))
        return (np.int8(size**2) - spin * sums) >> np.int8(1)  # type: ignore[no-any-return]

    def simulate(self, spin: NDArray[np.int8], steps: int) -> NDArray[np.int64]:
        """The global energies (runs, steps + 1) of grids that start from these spins."""
        majority = np.int8(self.model.n_neighbours // 2)
        energy = np.empty((len(spin), steps + 1), np.int64)
        for step in range(steps + 1):
            local = self.energies(spin)
            energy[:, step] = local.sum(axis=(1, 2), dtype=np.int64)
            if step < steps:
                spin = np.where(local > majority, -spin, spin)
        return energy


def check_vicsek(peer: Callable[[swarmdp.Vicsek], Simulator], tolerance: float) -> None:
    """Refuse a peer whose agents observe something else than ours, at the start or later."""
    model = vicsek(500)
    simulator = peer(model)
    for state in states_at(model, 1, (0, 20)):
        theirs = simulator.misalignment(state["position"][0], state["heading"][0])
        difference = np.abs(np.angle(np.exp(1j * (theirs - model.observe(state)[0]))))
        # In 32-bit arithmetic an agent at the very edge of a neighbourhood may be in or out.
        allowed = 2 if tolerance > 1e-9 else 0
        wrong = int((difference > tolerance).sum())
        if wrong > allowed:
            raise Disagreement(f"{wrong} of {model.n_agents} agents observe something else")


def check_ising(peer: Callable[[swarmdp.Ising], LocalEnergies]) -> None:
    """Refuse a peer whose local energies are not exactly ours, at the start or later."""
    model = swarmdp.Ising(shape=(30, 40))
    for state in states_at(model, 2, (0, 5)):
        arranged = in_grid_order(model, state)
        theirs = peer(model)(model.grid(arranged))
        if not np.array_equal(theirs.reshape(2, -1), model.observe(arranged)):
            raise Disagreement("the local energies are not the same")
