"""A policy whose Q-function is linear in smooth features of a real observation."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.errors import InvalidInput
from swarmdp.harmonics import Harmonics, components
from swarmdp.policies import export, shown
from swarmdp.policies.interface import Interface
from swarmdp.streams import Stream, Streams
from swarmdp.system import System, name_of, null_action

TIE = 1e-9  # leads as near as this, relative to the largest, count as equal
DOUBT = 0.5  # share of the variance that may be left where the policy acts


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

    def __post_init__(self) -> None:
        self.lead.setflags(write=False)
        self.factor.setflags(write=False)

    @property
    def replicas(self) -> int:
        """The number of independent policies R."""
        return len(self.lead)

    def check(self, system: System) -> None:
        """Raises InvalidInput unless the policy fits the system's observations and actions."""
        own = self.harmonics.periodic.shape[1], self.lead.shape[1]
        wanted = len(system.features.axes), len(system.actions)
        if own != wanted:
            raise InvalidInput(
                f"the policy is for {own[0]} components of an observation and {own[1]} actions, "
                f"but {name_of(system)} has {wanted[0]} and {wanted[1]}"
            )

    def for_runs(
        self, runs: NDArray[np.int64], streams: Streams
    ) -> "tuple[LinearPolicy, NDArray[np.int64]]":
        """The policy itself: run i follows replica i % R."""
        return self, runs

    def act(
        self,
        system: System,
        observations: NDArray[Any],
        runs: NDArray[np.int64],
        rng: Stream | None = None,
    ) -> NDArray[Any]:
        """The physical actions of all agents in these runs; nothing is drawn from rng."""
        rows, null = runs % self.replicas, null_action(system)
        psi = self.harmonics.of(components(system, observations), rows)
        best = kernels.linear.greedy(psi, self.lead, rows, null, TIE)
        best[kernels.linear.doubt(psi, self.factor, rows) > DOUBT] = null
        return np.take(np.asarray(system.actions), best)

    def export(
        self, path: str | os.PathLike[str], *, system: System | None = None, replica: int = 0
    ) -> Path:
        """Raise InvalidInput: only a table can be exported."""
        return export.write(self, path, system, replica)

    def __repr__(self) -> str:
        return shown.text(self)

    def _repr_html_(self) -> str:
        return shown.html(self)

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
        harmonics = Harmonics(
            np.asarray(arrays["periodic"], np.bool_),
            np.asarray(arrays["orders"], np.int64),
            np.array(arrays["centre"], np.float64),
            np.array(arrays["scale"], np.float64),
        )
        lead, factor = (np.array(arrays[name], np.float64) for name in ("lead", "factor"))
        return cls(harmonics, lead, factor, interface)
