"""What a controller sees and does, in physical terms: what is needed to use it elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features import FeatureMap
from swarmdp.model.features.plain import describe_features, features_from
from swarmdp.model.system import System, name_of
from swarmdp.model.traits import action_units_of, null_action
from swarmdp.support.arguments import checked
from swarmdp.support.checks import is_integer
from swarmdp.support.errors import InvalidInput


@checked
@dataclass(frozen=True, eq=False)
class Interface:
    """The observations and actions of the system that a policy was made for.

    Parameters
    ----------
    system
        What the system is called.
    features
        What the policy sees; None where a file could not keep it.
    actions
        (n_actions,): the physical value of each action.
    action_units
        Their unit.
    null
        The index of the action that does nothing.

    Examples
    --------
    >>> import swarmdp
    >>> interface = swarmdp.policies.Interface.of(swarmdp.Vicsek())
    >>> interface.system, len(interface.actions), interface.action_units
    ('Vicsek', 13, 'rad')

    """

    system: str
    features: FeatureMap | None
    actions: NDArray[Any]
    action_units: str = "1"
    null: int = 0

    def __post_init__(self) -> None:
        if not is_integer(self.null) or not 0 <= self.null < len(self.actions):
            raise InvalidInput(
                f"the action that does nothing must be from 0 to {len(self.actions) - 1}, got "
                f"{self.null!r}"
            )

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

    def to_json(self) -> dict[str, Any]:
        """Plain data from which `from_json` makes the interface again."""
        return {
            "system": self.system,
            "features": None if self.features is None else describe_features(self.features),
            "actions": self.actions.tolist(),
            "action_units": self.action_units,
            "null": self.null,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Interface":
        """The interface that `to_json` wrote."""
        features = plain["features"]
        return cls(
            plain["system"],
            None if features is None else features_from(features),
            np.array(plain["actions"]),
            plain["action_units"],
            plain["null"],
        )
