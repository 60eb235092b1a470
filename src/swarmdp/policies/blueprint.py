"""One controller in physical terms, ready to be written for use elsewhere."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features import Angles, Axis, Bins, FeatureMap, Levels, Product, Vectors
from swarmdp.model.system import System
from swarmdp.model.traits import Recall
from swarmdp.policies.interface import Interface
from swarmdp.policies.local import LocalPolicy
from swarmdp.support.checks import is_integer
from swarmdp.support.errors import InvalidInput

ExportedPart = Angles | Bins | Levels

EXPORTED = ("table", "soft", "interpolated")  # kinds of policies
INSTEAD = {
    "function": "make a table of it with swarmdp.irl.clone, and export that",
    "linear": "roll it out with its actions recorded, and clone that on classes of observations",
    "mixed": "export one of its `policies`",
}


@dataclass(frozen=True, eq=False)
class Blueprint:
    """One replica of a policy, with what it sees and does."""

    kind: str  # of the policy, one of EXPORTED
    system: str
    components: tuple[tuple[str, ExportedPart], ...]  # of an observation, by name
    product: bool  # an observation is a vector of components, not a number
    actions: NDArray[Any]  # the physical value of each
    action_axes: tuple[Axis, ...]  # the components of an action
    null: int  # index of the action that does nothing
    arrays: Mapping[str, NDArray[Any]]  # what the policy's `to_arrays` tells of this replica
    recalls: tuple[Recall, ...] = ()  # components that the controller remembers itself

    @classmethod
    def of(cls, policy: LocalPolicy, system: System | None, replica: int) -> "Blueprint":
        """The blueprint of one replica; raises InvalidInput for what cannot be exported."""
        if policy.kind not in EXPORTED:
            raise InvalidInput(
                f"a policy of kind {policy.kind!r} cannot be exported, because it is not a table: "
                f"{INSTEAD.get(policy.kind, 'fit one that is')}"
            )
        if not is_integer(replica) or not 0 <= replica < policy.replicas:
            raise InvalidInput(
                f"replica must be an integer from 0 to {policy.replicas - 1}, got {replica!r}"
            )
        interface = interface_of(policy, system)
        if interface is None or interface.features is None:
            raise InvalidInput(
                "what the policy observes is not known: give its system, as in "
                "policy.export(path, system=vicsek)"
            )
        actions = interface.actions
        if actions.dtype.kind not in "biuf" or not np.isfinite(actions).all():
            raise InvalidInput(
                f"actions must be finite numbers to be exported, got {actions.dtype} of shape "
                f"{actions.shape}"
            )
        arrays = {name: array[replica] for name, array in policy.to_arrays().items()}
        made = cls(
            policy.kind,
            interface.system,
            _components(interface.features),
            isinstance(interface.features, Product),
            actions,
            interface.action_axes,
            interface.null,
            arrays,
            interface.recalls,
        )
        made._check()
        return made

    @property
    def size(self) -> int:
        """The number of classes of observations."""
        return math.prod(part.size for _, part in self.components)

    @property
    def indices(self) -> NDArray[np.integer]:
        """The action index of each class, the likeliest one of a soft policy."""
        if "probabilities" in self.arrays:
            likeliest: NDArray[np.integer] = self.arrays["probabilities"].argmax(axis=1)
            return likeliest
        return self.arrays["table"]

    @property
    def values(self) -> NDArray[Any]:
        """The physical action of each class, the likeliest one of a soft policy."""
        return self.arrays["values"] if "values" in self.arrays else self.actions[self.indices]

    def _check(self) -> None:
        """Raise InvalidInput if the arrays do not fit the interface."""
        for name, array in self.arrays.items():
            if len(array) != self.size:
                raise InvalidInput(
                    f"the policy has {name} for {len(array)} classes of observations, but "
                    f"{self.system} has {self.size}"
                )
        count = len(self.actions)
        table, chances = self.arrays.get("table"), self.arrays.get("probabilities")
        if table is not None and not 0 <= table.min() <= table.max() < count:
            raise InvalidInput(
                f"the policy's table must hold action indices from 0 to {count - 1}, got "
                f"{table.min()} to {table.max()}"
            )
        if chances is not None and chances.shape[1] != count:
            raise InvalidInput(
                f"the policy has probabilities of {chances.shape[1]} actions, but {self.system} "
                f"has {count}"
            )


def interface_of(policy: LocalPolicy, system: System | None) -> Interface | None:
    """What a policy sees and does: on the given system, or on the one that it was made for."""
    if system is None:
        return policy.interface
    policy.check(system)
    return Interface.of(system)


def edges_of(part: ExportedPart) -> NDArray[np.float64] | None:
    """The edges of a component's classes (size + 1,); None for levels, which have none.

    Those of angles rise from below -pi and are meant modulo a full turn.
    """
    if isinstance(part, Bins):
        return np.array(part.edges)
    if isinstance(part, Angles):
        places = np.arange(part.size + 1, dtype=np.float64) - (part.size // 2 + 0.5)
        return places * (2 * math.pi / part.size)
    return None


def _components(features: FeatureMap) -> tuple[tuple[str, ExportedPart], ...]:
    if isinstance(features, Product):
        named: list[tuple[str, Any]] = list(features.components.items())
    elif isinstance(features, Vectors):  # a controller needs the classes, not their features
        named = [(features.name, Levels(features.size, features.name, features.units))]
    else:
        named = [(axis.name, features) for axis in features.axes]
    for _, part in named:
        if not isinstance(part, Angles | Bins | Levels):
            raise InvalidInput(
                "a controller can be exported whose observations are Angles, Bins, Levels, Vectors "
                f"or a Product of them, got {type(part).__name__}"
            )
    return tuple(named)
