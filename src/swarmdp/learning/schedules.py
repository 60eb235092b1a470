"""How temperature and learning rate fall to zero while a swarm learns."""

from typing import Literal

from swarmdp.support.errors import InvalidInput

Decay = Literal["quadratic", "late"]


def decayed(decay: Decay, iteration: int, iterations: int) -> float:
    """The share of its initial value that a quantity has in an iteration, from 1 to 0.

    Parameters
    ----------
    decay
        "quadratic" is (1 - i/T)^2, the paper's quadratic decay as it is read here; "late" is
        1 - (i/T)^2, which stays high for longer.
    iteration
        The iteration i, from 0.
    iterations
        The number of iterations T.

    """
    progress = iteration / iterations
    if decay == "quadratic":
        return (1 - progress) ** 2
    if decay == "late":
        return 1 - progress**2
    raise InvalidInput(f'decay must be "quadratic" or "late", got {decay!r}')
