"""Linear systems of Markov chains, solved exactly: small by symmetry, checked by their residual."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.errors import SolverError
from swarmdp.theory.lumping import indicator, representatives, stable_blocks

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DENSE = 2**11  # unknowns that a dense factorisation solves at once
LARGEST_DENSE = 2**13  # where there is no other way
MOST_DELICATE = 1e-9  # reciprocal condition number below which half of all digits are lost
ACCURACY = 1e-12  # of values, relative to the largest possible one

Floats = NDArray[np.float64]


def discounted(transitions: "csr_array", features: Floats, discount: float) -> Floats:
    """The sum over k of gamma^k P^k features (K, d): solves v = features + gamma P v.

    An error of v is at most its residual divided by 1 - gamma: this is checked, whatever the way.
    """
    blocks = stable_blocks(transitions, features)
    chosen = representatives(blocks)
    small = (transitions[chosen] @ indicator(blocks)).tocsr()
    right = features[chosen]
    if len(chosen) <= DENSE:
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
    if error > ACCURACY * float(np.abs(features).max(initial=0.0)):
        raise SolverError(
            f"values are only known to {error / (1 - discount):.1e}: the discount {discount} is "
            "too near to 1 for double precision"
        )
    return values


def solve_dense(system: NDArray[Any], right: NDArray[Any], what: str) -> NDArray[Any]:
    """Solve a square system by dense factorisation, or say that it is too large or too delicate."""
    from scipy import linalg

    size = len(system)
    if size > LARGEST_DENSE:
        raise SolverError(
            f"{what} needs a linear system of {size} unknowns, more than the {LARGEST_DENSE} that "
            "are possible: take fewer agents, or an initial distribution that treats them alike"
        )
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
