"""A policy whose Q-function is linear in smooth features of a real observation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.arguments import checked
from swarmdp.errors import InvalidInput
from swarmdp.harmonics import Harmonics, components
from swarmdp.policies import shown
from swarmdp.policies.export import write
from swarmdp.policies.interface import Interface
from swarmdp.policies.local import check_names, itself
from swarmdp.streams import Stream
from swarmdp.system import System, check_is_system, check_observed, name_of, null_action

TIE = 1e-9  # leads as near as this, relative to the largest, count as equal
DOUBT = 0.5  # share of the variance that may be left where the policy acts


@checked(but=("act", "check"))
@dataclass(frozen=True, eq=False)
class LinearPolicy:
    """The greedy policy of a Q-function that is linear in features of the observation.

    `lead[j, a] . psi(o)` is what action a is worth in observation o beyond what all actions are,
    for replica j. In doubt agents do nothing: where no action is better, and where the experience
    that it was learned from says little (`factor`).
    """

    harmonics: Harmonics  # psi
    lead: NDArray[np.float64]  # (R, actions, p)
    factor: NDArray[np.float64]  # (R, p, p): see `kernels.linear.doubt`
    interface: Interface | None = None

    kind: ClassVar[str] = "linear"

    for_runs = itself
    export = write
    __repr__ = shown.text
    _repr_html_ = shown.html

    def __post_init__(self) -> None:
        self.lead.setflags(write=False)
        self.factor.setflags(write=False)

    @property
    def replicas(self) -> int:
        """The number of independent policies R."""
        return len(self.lead)

    def check(self, system: System) -> None:
        """Raises InvalidInput unless the policy fits the system's observations and actions."""
        check_is_system(system)
        own = self.harmonics.periodic.shape[1], self.lead.shape[1]
        wanted = len(system.features.axes), len(system.actions)
        if own != wanted:
            raise InvalidInput(
                f"the policy is for {own[0]} components of an observation and {own[1]} actions, "
                f"but {name_of(system)} has {wanted[0]} and {wanted[1]}"
            )

    def act(
        self,
        system: System,
        observations: NDArray[Any],
        runs: NDArray[np.int64],
        rng: Stream | None = None,
    ) -> NDArray[Any]:
        """The physical actions of all agents in these runs; nothing is drawn from rng."""
        observations, runs = check_observed(system, observations, runs)
        self.check(system)
        rows, null = runs % self.replicas, null_action(system)
        psi = self.harmonics.of(components(system, observations), rows)
        best = kernels.linear.greedy(psi, self.lead, rows, null, TIE)
        best[kernels.linear.doubt(psi, self.factor, rows) > DOUBT] = null
        return np.take(np.asarray(system.actions), best)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The leads, the factor and what makes the features."""
        psi = self.harmonics
        return {
            "lead": self.lead,
            "factor": self.factor,
            "periodic": psi.periodic,
            "orders": psi.orders,
            "centre": psi.centre,
            "scale": psi.scale,
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], interface: Interface | None = None
    ) -> "LinearPolicy":
        """The policy that `to_arrays` told of."""
        check_names(arrays, "lead", "factor", "periodic", "orders", "centre", "scale")
        harmonics = Harmonics(
            np.asarray(arrays["periodic"], np.bool_),
            np.asarray(arrays["orders"], np.int64),
            np.array(arrays["centre"], np.float64),
            np.array(arrays["scale"], np.float64),
        )
        lead, factor = (np.array(arrays[name], np.float64) for name in ("lead", "factor"))
        return cls(harmonics, lead, factor, interface)
