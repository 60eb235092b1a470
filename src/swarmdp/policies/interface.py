"""What a controller sees and does, in physical terms: what is needed to use it elsewhere."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.actions import action_axes, axes_of_actions
from swarmdp.model.features import Axis, FeatureMap
from swarmdp.model.features.plain import describe_features, features_from
from swarmdp.model.system import System, name_of
from swarmdp.model.traits import Recall, Remembering, null_action
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
        (n_actions,): the physical value of each action; (n_actions, k) for k components.
    action_units
        Their unit; of several components a unit for each.
    null
        The index of the action that does nothing.
    action_names
        What the components of an action are called.
    recalls
        What of an observation the controller remembers itself.

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
    action_units: str | tuple[str, ...] = "1"
    null: int = 0
    action_names: tuple[str, ...] = ("action",)
    recalls: tuple[Recall, ...] = ()

    def __post_init__(self) -> None:
        if not is_integer(self.null) or not 0 <= self.null < len(self.actions):
            raise InvalidInput(
                f"the action that does nothing must be from 0 to {len(self.actions) - 1}, got "
                f"{self.null!r}"
            )
        if self.action_names == ("action",) and self.actions.ndim > 1:
            default = axes_of_actions(self.actions, None, self.action_units)
            object.__setattr__(self, "action_names", tuple(axis.name for axis in default))
        axes_of_actions(self.actions, self.action_names, self.action_units)

    @property
    def action_axes(self) -> tuple[Axis, ...]:
        """One for each component of an action: name, the value of each action, unit."""
        return axes_of_actions(self.actions, self.action_names, self.action_units)

    @classmethod
    def of(cls, system: System) -> "Interface":
        """The interface of a system."""
        return cls(
            name_of(system),
            system.features,
            np.asarray(system.actions),
            _units(action_axes(system)),
            null_action(system),
            tuple(axis.name for axis in action_axes(system)),
            system.recalls if isinstance(system, Remembering) else (),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data from which `from_json` makes the interface again."""
        return {
            "system": self.system,
            "features": None if self.features is None else describe_features(self.features),
            "actions": self.actions.tolist(),
            "action_units": self.action_units,
            "null": self.null,
            **({} if self.action_names == ("action",) else {"action_names": self.action_names}),
            **({"recalls": [astuple(recall) for recall in self.recalls]} if self.recalls else {}),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Interface":
        """The interface that `to_json` wrote."""
        features = plain["features"]
        return cls(
            plain["system"],
            None if features is None else features_from(features),
            np.array(plain["actions"]),
            units if isinstance(units := plain["action_units"], str) else tuple(units),
            plain["null"],
            tuple(plain.get("action_names", ("action",))),
            tuple(Recall(*recall) for recall in plain.get("recalls", ())),
        )


def _units(axes: tuple[Axis, ...]) -> str | tuple[str, ...]:
    units = tuple(axis.units for axis in axes)
    return units if len(units) > 1 else units[0]
