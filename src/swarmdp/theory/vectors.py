"""Rewards as plain vectors, checked once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp.model.rewards import Reward
from swarmdp.support.arguments import numbers
from swarmdp.support.errors import InvalidInput


def numbers_of(reward: "Reward | ArrayLike", size: int, owner: str = "") -> NDArray[np.float64]:
    """A reward as one finite number for each of `size` observations (size,)."""
    given = reward.weights if isinstance(reward, Reward) else reward
    values: NDArray[np.float64] = numbers("a reward", given, np.float64)
    if values.ndim == 2 and len(values) == 1:
        values = values[0]
    if values.shape != (size,) or not np.isfinite(values).all():
        raise InvalidInput(
            f"a reward{owner} is {size} finite numbers, one for each observation, "
            f"got shape {values.shape}"
        )
    return values
