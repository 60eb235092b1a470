"""What comes out of a policy update, learned or planned."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.model import LocalPolicy


@dataclass(frozen=True, eq=False)
class Learned:
    """A policy for each of R rewards, and what was found on the way."""

    policy: LocalPolicy
    q: NDArray[np.float64]  # (R, observations, actions)
    seen: NDArray[np.bool_]  # (R, observations); elsewhere the policy does nothing
    kernel: NDArray[np.float64] | None = None  # (R, observations, actions, observations), if asked
