"""Polyhedral cones of rewards: all rewards r with rows . r >= 0."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp.errors import InvalidInput, SolverError
from swarmdp.model import Reward

SAME_ROW = 1e-9  # rows of length one that are as near as this are the same
INSIDE = 1e-9  # how far outside a reward of length one may be and still count as inside
PROVED = 1e-9  # the largest error of a certificate of containment
FLAT = 1e-6  # a cone whose largest margin is smaller has no interior: rows may be as inexact

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Central:
    """The reward that is farthest from all faces of a cone."""

    reward: Floats  # (d,), of length one; zero when the cone has no interior
    margin: float


@dataclass(frozen=True, eq=False)
class Containment:
    """Whether one cone lies in another, with the proof."""

    holds: bool
    multipliers: Floats  # (rows of the outer, rows of the inner), not negative: Farkas' certificate
    error: float  # by how much outer rows differ from multipliers times inner rows
    witness: Floats | None  # a reward of the inner cone that is not in the outer one


@dataclass(frozen=True, eq=False)
class Cone:
    """Rewards (d,) that satisfy all inequalities row . reward >= 0; rows have length one."""

    rows: Floats  # (inequalities, d)

    @classmethod
    def of(cls, rows: Floats, rounding: float) -> "Cone":
        """From rows of any length; those shorter than `rounding` are no inequality."""
        length = np.linalg.norm(rows, axis=1)
        kept = rows[length > rounding] / length[length > rounding, None]
        return cls(_distinct(kept))

    @property
    def dimension(self) -> int:
        """The number of entries of a reward."""
        return int(self.rows.shape[1])

    @cached_property
    def basis(self) -> Floats:
        """An orthonormal basis (rank, d) of the directions that matter.

        Adding a constant to a reward never matters, and there may be more such directions.
        """
        if not len(self.rows):
            return np.zeros((0, self.dimension))
        _, sizes, directions = np.linalg.svd(self.rows, full_matrices=False)
        return np.asarray(directions[sizes > 1e-9 * sizes[0]])

    def margin(self, reward: "Reward | ArrayLike") -> float:
        """How far inside a reward is: the sine of its angle to the nearest face, negative outside.

        Directions that do not matter are left out first. A reward that is constant in all that
        matters lies on every face: its margin is zero.
        """
        r = self.vector(reward)
        relevant = self.basis.T @ (self.basis @ r)
        length = float(np.linalg.norm(relevant))
        if length <= INSIDE * float(np.linalg.norm(r)):
            return 0.0
        return float((self.rows @ relevant).min()) / length

    def contains(self, reward: "Reward | ArrayLike") -> bool:
        """Whether a reward is in the cone, up to rounding."""
        return self.margin(reward) >= -INSIDE

    @cached_property
    def central(self) -> Central:
        """The reward with the largest margin; it is unique, so no solver has a say in it.

        Its direction is that of the shortest vector in the convex hull of the rows.
        """
        from scipy.optimize import nnls

        if not len(self.rows):
            return Central(np.zeros(self.dimension), 0.0)
        system = np.vstack([self.rows.T, np.ones(len(self.rows))])
        right = np.zeros(self.dimension + 1)
        right[-1] = 1.0
        weights = nnls(system, right, maxiter=30 * max(system.shape))[0]
        shortest = weights @ self.rows / weights.sum()
        margin = float(np.linalg.norm(shortest))
        if margin <= FLAT:
            return Central(np.zeros(self.dimension), 0.0)
        return Central(shortest / margin, margin)

    def extreme(self, direction: ArrayLike) -> Floats:
        """The reward with entries from -1 to 1 that goes farthest in a direction.

        By a linear program; zero when the cone has nothing in that direction.
        """
        wanted = self.vector(direction)
        bounds = [(-1.0, 1.0)] * self.dimension
        return np.asarray(_linear_program(-wanted, -self.rows, np.zeros(len(self.rows)), bounds).x)

    def inside(self, outer: "Cone") -> Containment:
        """Prove by linear programming that this cone lies in another, or show where it does not.

        By Farkas' lemma it does if and only if every row of the outer cone is a combination of rows
        of this one with multipliers that are not negative. They are found one row at a time, and
        the proof is checked by multiplying it out.
        """
        if outer.dimension != self.dimension:
            raise InvalidInput(
                f"cones of rewards with {self.dimension} and {outer.dimension} entries"
            )
        count, size = self.rows.shape
        multipliers = np.zeros((len(outer.rows), count))
        for row, wanted in enumerate(outer.rows):
            # Minimise t with |multipliers . rows - wanted| <= t in every entry.
            cost = np.append(np.zeros(count), 1.0)
            ones = np.ones((size, 1))
            limits = np.block([[self.rows.T, -ones], [-self.rows.T, -ones]])
            right = np.concatenate([wanted, -wanted])
            found = _linear_program(cost, limits, right, [(0.0, None)] * (count + 1)).x
            multipliers[row] = np.clip(found[:count], 0.0, None)
            error = float(np.abs(multipliers[row] @ self.rows - wanted).max())
            if error > PROVED:
                witness = self.extreme(-wanted)
                return Containment(False, multipliers, error, witness)
        gap = np.abs(multipliers @ self.rows - outer.rows)
        return Containment(True, multipliers, float(gap.max(initial=0.0)), None)

    def equals(self, other: "Cone") -> bool:
        """Whether both cones are the same set, proved by linear programming."""
        return self.inside(other).holds and other.inside(self).holds

    def vector(self, reward: "Reward | ArrayLike") -> Floats:
        """A reward as a plain vector (d,), checked."""
        values = reward.weights if isinstance(reward, Reward) else np.asarray(reward, np.float64)
        if values.ndim == 2 and len(values) == 1:
            values = values[0]
        if values.shape != (self.dimension,) or not np.isfinite(values).all():
            raise InvalidInput(
                f"a reward is {self.dimension} finite numbers, one for each observation, "
                f"got shape {values.shape}"
            )
        return values


def _distinct(rows: Floats) -> Floats:
    """Rows without repetitions up to rounding, in a fixed order."""
    if len(rows) < 2:
        return rows
    order = np.lexsort(np.round(rows, 6).T[::-1])
    rows = rows[order]
    kept: list[Floats] = []
    for row in rows:
        if not kept or (np.abs(np.array(kept) - row).max(axis=1) > SAME_ROW).all():
            kept.append(row)
    return np.array(kept)


def _linear_program(cost: Floats, limits: Floats, right: Floats, bounds: Any) -> Any:
    from scipy.optimize import linprog

    solved = linprog(cost, A_ub=limits, b_ub=right, bounds=bounds, method="highs-ds")
    if solved.status != 0:
        raise SolverError(f"a linear program was not solved: {solved.message}")
    return solved
