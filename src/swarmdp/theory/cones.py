"""Polyhedral cones of rewards: all rewards r with rows . r >= 0."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from swarmdp.model.rewards import Reward
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput, SolverError
from swarmdp.support.ranges import NotNegative
from swarmdp.theory.vectors import numbers_of

SAME_ROW = 9  # rows of length one that agree in as many decimals are the same
INSIDE = 1e-9  # how far outside a reward of length one may be and still count as inside
PROVED = 1e-9  # the largest error of a certificate of containment
INEXACT = 1e-5  # the most by which a row of length one may be wrong
FLAT = 1e-6  # a cone whose largest margin is smaller has no interior: rows may be as inexact


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
    error: float  # by how much outer rows differ from multipliers times inner rows, at most
    witness: Floats | None  # a reward of the inner cone that is not in the outer one


@checked(skip=("reward", "direction"))
@dataclass(frozen=True, eq=False)
class Cone:
    """Rewards (d,) that satisfy all inequalities row . reward >= 0; rows have length one.

    Parameters
    ----------
    rows
        (inequalities, d): each of length one.
    error
        By how much a row may be wrong, at most.

    Examples
    --------
    >>> import numpy as np
    >>> from swarmdp import theory
    >>> theory.Cone(np.array([[1.0, 0.0]])).contains([2.0, -1.0])
    True

    """

    rows: Floats
    error: NotNegative = 0.0

    def __post_init__(self) -> None:
        _check_rows(self.rows)

    @classmethod
    def of(cls, rows: Floats, rounding: ArrayLike) -> "Cone":
        """From rows of any length, each known up to `rounding` (one number, or one for each row).

        Shorter ones are no inequality. A row that is longer, but of which too few digits are known,
        could point anywhere: this is refused.
        """
        _check_rows(rows)
        length = np.linalg.norm(rows, axis=1)
        rounded = np.asarray(rounding, np.float64)
        if rounded.shape not in ((), length.shape) or not (rounded >= 0).all():
            raise InvalidInput(
                f"rounding must be one number or {len(rows)}, not negative, got shape "
                f"{rounded.shape}"
            )
        rounding = np.broadcast_to(rounded, length.shape)
        kept = length > rounding
        error = float((rounding[kept] / length[kept]).max(initial=0.0))
        if error > INEXACT:
            raise SolverError(
                f"an inequality of the cone is only known to a relative error of {error:.0e}: what "
                "an action changes is hardly more than rounding, as near pure chance; take less "
                "noise, or actions that differ more"
            )
        return cls(_distinct(rows[kept] / length[kept, None]), error)

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
        return np.asarray(directions[sizes > max(1e-9, 8 * self.error) * sizes[0]])

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
        return self.margin(reward) >= -max(INSIDE, self.error)

    @cached_property
    def central(self) -> Central:
        """The reward with the largest margin; it is unique, so no solver has a say in it.

        Its direction is that of the shortest vector in the convex hull of the rows.
        """
        if not len(self.rows):
            return Central(np.zeros(self.dimension), 0.0)
        system = np.vstack([self.rows.T, np.ones(len(self.rows))])
        right = np.zeros(self.dimension + 1)
        right[-1] = 1.0
        weights = _nearest(system, right)
        shortest = weights @ self.rows / weights.sum()
        margin = float(np.linalg.norm(shortest))
        if margin <= max(FLAT, 4 * self.error):
            return Central(np.zeros(self.dimension), 0.0)
        return Central(shortest / margin, margin)

    def extreme(self, direction: ArrayLike) -> Floats:
        """The reward with entries from -1 to 1 that goes farthest in a direction.

        By a linear program; zero when the cone has nothing in that direction.
        """
        target = self.vector(direction)
        bounds = [(-1.0, 1.0)] * self.dimension
        return np.asarray(_linear_program(-target, -self.rows, np.zeros(len(self.rows)), bounds).x)

    def inside(self, outer: "Cone") -> Containment:
        """Prove by duality that this cone lies in another, or show a reward that does not.

        By Farkas' lemma (the duality of linear programming) it does if and only if every row of the
        outer cone is a combination of rows of this one with multipliers that are not negative. They
        are found one row at a time, as the nearest such combination: a solver of linear programs
        stops at an error of 1e-7, too much for a proof. The proof is checked by multiplying it out.
        If there is no such combination, the way from the row to the nearest one is a reward of this
        cone that is not in the other, and this is checked, too.
        """
        if outer.dimension != self.dimension:
            raise InvalidInput(
                f"cones of rewards with {self.dimension} and {outer.dimension} entries"
            )
        multipliers = np.zeros((len(outer.rows), len(self.rows)))
        largest = 0.0
        for row, target in enumerate(outer.rows):
            multipliers[row] = _nearest(self.rows.T, target)
            rest = multipliers[row] @ self.rows - target
            error = float(np.abs(rest).max())
            largest = max(largest, error)
            # Rows are known to their own errors, and the proof cannot be more exact than they are.
            if error > max(PROVED, outer.error + self.error * float(multipliers[row].sum())):
                witness = _along(self.rows[multipliers[row] > 0], rest / np.linalg.norm(rest))
                if outer.contains(witness) or not self.contains(witness):
                    raise SolverError(
                        f"the containment of one cone in another was neither proved nor refuted: "
                        f"an inequality is met up to {error:.1e}, more than the {PROVED:.0e} of a "
                        "proof; stay away from pure chance and from discounts near 1"
                    )
                return Containment(False, multipliers, largest, witness)
        return Containment(True, multipliers, largest, None)

    def equals(self, other: "Cone") -> bool:
        """Whether both cones are the same set, proved in both directions."""
        return self.inside(other).holds and other.inside(self).holds

    def vector(self, reward: "Reward | ArrayLike") -> Floats:
        """A reward as a plain vector (d,), checked."""
        return numbers_of(reward, self.dimension)


def _check_rows(rows: Floats) -> None:
    if rows.ndim != 2 or not rows.shape[1] or not np.isfinite(rows).all():
        raise InvalidInput(
            f"the rows of a cone must be finite numbers (inequalities, d), got shape {rows.shape}"
        )


def _distinct(rows: Floats) -> Floats:
    """Rows without repetitions up to rounding, in a fixed order."""
    if len(rows) < 2:
        return rows
    rounded = np.round(rows, SAME_ROW)
    order = np.lexsort(rounded.T[::-1])
    new = (np.diff(rounded[order], axis=0) != 0).any(axis=1)
    distinct: Floats = rows[order[np.concatenate([[True], new])]]
    return distinct


def _along(faces: Floats, reward: Floats) -> Floats:
    """A reward that should lie on all of these faces, put there exactly."""
    if not len(faces):
        return reward
    moved: Floats = reward - np.linalg.lstsq(faces, faces @ reward)[0]
    return moved


def _nearest(columns: Floats, target: Floats) -> Floats:
    """The weights, not negative, of the combination of columns that is nearest to a vector."""
    from scipy.optimize import nnls

    if not columns.shape[1]:
        return np.zeros(0)
    try:
        return np.asarray(nnls(columns, target, maxiter=30 * max(columns.shape))[0])
    except RuntimeError as reason:
        raise SolverError(f"a nearest point of a cone was not found: {reason}") from reason


def _linear_program(cost: Floats, limits: Floats, right: Floats, bounds: Any) -> Any:
    from scipy.optimize import linprog

    solved = linprog(cost, A_ub=limits, b_ub=right, bounds=bounds, method="highs-ds")
    if solved.status != 0:
        raise SolverError(f"a linear program was not solved: {solved.message}")
    return solved
