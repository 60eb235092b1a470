"""Linear systems of Markov chains, solved exactly: small by symmetry, checked by their residual."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.support.arrays import Floats
from swarmdp.support.errors import SolverError
from swarmdp.support.threads import one_blas_thread
from swarmdp.theory.lumping import indicator, representatives, stable_blocks

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_DENSE = 2**11  # unknowns that a dense factorisation solves at once
LARGEST_DENSE = 2**13  # where there is no other way
PANEL = 64  # states that are left out at a time
MOST_DELICATE = 1e-9  # reciprocal condition number below which half of all digits are lost
ACCURACY = 1e-12  # of values, relative to the largest possible one
_ROUNDING = 16 * np.finfo(np.float64).eps  # of a residual, relative to the largest value


@one_blas_thread()
def discounted(transitions: "csr_array", features: Floats, discount: float) -> Floats:
    """The sum over k of gamma^k P^k features (K, d): solves v = features + gamma P v.

    An error of v is at most its residual divided by 1 - gamma: this is checked, whatever the way.
    The residual itself is rounded, by an amount that grows with v: it is not held against v.
    """
    blocks = stable_blocks(transitions, features)
    chosen = representatives(blocks)
    small = (transitions[chosen] @ indicator(blocks)).tocsr()
    right = features[chosen]
    if len(chosen) <= _DENSE:
        system = np.eye(len(chosen)) - discount * small.toarray()
        solution = np.linalg.solve(system, right)
    else:
        solution = right.copy()
        for _ in range(math.ceil(math.log(ACCURACY / 10) / math.log(discount)) if discount else 0):
            solution = right + discount * (small @ solution)
    values: Floats = solution[blocks]
    residual = features + discount * (transitions @ values) - values
    # One step of the iteration takes away what rounding and lumping may have left.
    values += residual
    error = discount * float(np.abs(residual).max(initial=0.0))
    allowed = ACCURACY * float(np.abs(features).max(initial=0.0))
    if error > allowed + _ROUNDING * float(np.abs(values).max(initial=0.0)):
        raise SolverError(
            f"values are only known to {error / (1 - discount):.1e}: the discount {discount} is "
            "too near to 1 for double precision"
        )
    return values


def stationary(chances: Floats) -> Floats:
    """The stationary distribution (n,) of an irreducible chain (n, n), which is overwritten.

    By the elimination of Grassmann, Taksar and Heyman: one state after the other, the last first,
    is left out and the ways through it are added to those between the others. Nothing is ever
    subtracted, so every probability is exact relative to its own size, however rarely the chain
    goes from one part to another. States are left out in panels, so that most of the work is in
    products of matrices.
    """
    size = len(chances)
    for end in range(size, 1, -PANEL):
        begin = max(end - PANEL, 1)
        for k in range(end - 1, begin - 1, -1):
            later = slice(k + 1, end)  # of this panel: left out already, but not yet added here
            chances[k, :k] += chances[k, later] @ chances[later, :k]
            chances[:k, k] += chances[:k, later] @ chances[later, k]
            chances[:k, k] /= chances[k, :k].sum()
        chances[:begin, :begin] += chances[:begin, begin:end] @ chances[begin:end, :begin]
    law = np.zeros(size)
    law[0] = 1.0
    for k in range(1, size):
        law[k] = law[:k] @ chances[:k, k]
    result: Floats = law / law.sum()
    return result


def check_dense(size: int, what: str) -> None:
    """Raise SolverError for what is too large for a dense factorisation."""
    if size > LARGEST_DENSE:
        raise SolverError(
            f"{what} needs a linear system of {size} unknowns, more than the {LARGEST_DENSE} that "
            "are possible: take fewer agents, or an initial distribution that treats them alike"
        )


def solve_dense(system: NDArray[Any], right: NDArray[Any], what: str) -> NDArray[Any]:
    """Solve a square system by dense factorisation, or say that it is too large or too delicate."""
    from scipy import linalg

    check_dense(len(system), what)
    norm = np.abs(system).sum(axis=0).max()
    factors = linalg.lu_factor(system)
    (estimate,) = linalg.get_lapack_funcs(("gecon",), (system,))
    reciprocal = estimate(factors[0], norm)[0]
    if not reciprocal > MOST_DELICATE:
        raise SolverError(
            f"{what} depends too much on rounding (reciprocal condition number {reciprocal:.0e}): "
            "some transitions are all but impossible; make them impossible or more likely"
        )
    solution: NDArray[Any] = linalg.lu_solve(factors, right)
    return solution
