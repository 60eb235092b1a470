"""What a controller sees and does, in physical terms: what is needed to use it elsewhere."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.features import FeatureMap
from swarmdp.system import System, action_units_of, name_of, null_action


@dataclass(frozen=True, eq=False)
class Interface:
    """The observations and actions of the system that a policy was made for."""

    system: str
    features: FeatureMap
    actions: NDArray[Any]  # the physical value of each
    action_units: str = "1"
    null: int = 0  # index of the action that does nothing

    @classmethod
    def of(cls, system: System) -> "Interface":
        """The interface of a system."""
        return cls(
            name_of(system),
            system.features,
            np.asarray(system.actions),
            action_units_of(system),
            null_action(system),
        )
