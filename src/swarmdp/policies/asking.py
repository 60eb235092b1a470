"""Asking a policy for an action, as a robot's program would: `policy(observation)`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features import FeatureMap
from swarmdp.model.streams import Purpose, Stream, Streams
from swarmdp.model.system import State
from swarmdp.policies.interface import Interface
from swarmdp.policies.local import LocalPolicy
from swarmdp.support.arguments import numbers
from swarmdp.support.checks import check_integer
from swarmdp.support.errors import InvalidInput


def answer(
    policy: LocalPolicy, observations: Any, *, replica: int = 0, seed: int = 0
) -> NDArray[Any]:
    """The physical action for an observation, or one for each of several.

    Parameters
    ----------
    policy
        A policy whose interface is known, such as that of a fit or one that was read from a file.
    observations
        One observation, or an array of them whose last axes are those of an observation.
    replica
        Which of the policy's replicas is asked.
    seed
        Of actions that are drawn: the same seed, the same actions.

    """
    interface = policy.interface
    if interface is None or interface.features is None:
        raise InvalidInput(
            "what the policy observes is not known, so that it cannot be asked: give it an "
            "interface, swarmdp.policies.Interface.of(system)"
        )
    check_integer("replica", replica, least=0)
    if replica >= policy.replicas:
        raise InvalidInput(f"replica must be from 0 to {policy.replicas - 1}, got {replica}")
    inner = interface.features.shape
    seen = numbers("the observations", observations)
    outer = seen.shape[: seen.ndim - len(inner)]
    if seen.ndim < len(inner) or seen.shape[len(outer) :] != inner:
        raise InvalidInput(
            f"an observation must have the shape {inner}, got an array of shape {seen.shape}"
        )
    count = int(np.prod(outer))
    streams = Streams.of(seed, [replica], max(1, count))
    asked, rows = policy.for_runs(np.array([replica]), streams)
    rng = streams.at(0, Purpose.POLICY)
    flat = seen.reshape(1, count, *inner)
    actions = asked.act(_Interfaced(interface, interface.features, count), flat, rows, rng)
    return np.asarray(actions).reshape((*outer, *interface.actions.shape[1:]))


@dataclass(frozen=True, eq=False)
class _Interfaced:
    """As much of a system as a policy looks at when it acts."""

    interface: Interface
    features: FeatureMap
    n_agents: int

    @property
    def actions(self) -> NDArray[Any]:
        return self.interface.actions

    @property
    def null(self) -> int:
        return self.interface.null

    @property
    def action_units(self) -> str | tuple[str, ...]:
        return self.interface.action_units

    @property
    def action_names(self) -> tuple[str, ...]:
        return self.interface.action_names

    @property
    def system_name(self) -> str:
        return self.interface.system

    def initial(self, rng: Stream) -> State:
        raise InvalidInput("a policy's interface has no states")

    def observe(self, state: State) -> NDArray[Any]:
        raise InvalidInput("a policy's interface has no states")

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        raise InvalidInput("a policy's interface has no states")
