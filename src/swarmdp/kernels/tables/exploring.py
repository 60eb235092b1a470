"""Random actions of exploring agents, greedy ones of the others: step 1 of Algorithm 2.

Arrays (runs, agents), flat inside. The same arithmetic is in `vicsek.exploring` and, with integers,
in `ising.exploring`, whose bits have to agree. Twin in the tests: NumPy's indexing.
"""

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.runtime.compile import kernel


def explore(
    chosen: NDArray[np.integer],
    chance: NDArray[np.float64],
    temperature: float,
    n_actions: int,
) -> NDArray[np.integer]:
    """Actions (runs, agents): random where chance < temperature, else the chosen one.

    Given that it is below the temperature, chance / temperature is uniform, so it also says which
    random action.
    """
    out = np.empty(chosen.shape, np.uint8 if n_actions <= 256 else np.int32)
    explore_flat(chosen.reshape(-1), chance.reshape(-1), temperature, n_actions, out.reshape(-1))
    return out


@kernel
def explore_flat(chosen, chance, temperature, n_actions, out):
    """For flat arrays."""
    scale = n_actions / temperature if temperature > 0.0 else 0.0
    last = float(n_actions - 1)
    # A product instead of a choice: with the types as they are, only this vectorises.
    for i in range(np.uint64(chosen.shape[0])):
        # Rounding may reach the number of actions, which is one too far.
        drawn = chance[i] * scale
        explored = np.int32(drawn if drawn < last else last)
        exploited = np.int32(chosen[i])
        out[i] = exploited + np.int32(chance[i] < temperature) * (explored - exploited)


def among_first(
    chance: NDArray[np.float64], place: NDArray[np.float64], temperature: float
) -> NDArray[np.float64]:
    """Chances below the temperature for exactly the agents whose place is; 1 for the others."""
    out = np.empty(chance.shape)
    among_first_flat(chance.reshape(-1), place.reshape(-1), temperature, out.reshape(-1))
    return out


@kernel
def among_first_flat(chance, place, temperature, out):
    """For flat arrays."""
    for i in range(np.uint64(chance.shape[0])):
        # Places say who explores; the chance, drawn below the temperature, still says what is done.
        out[i] = temperature * chance[i] if place[i] < temperature else 1.0
