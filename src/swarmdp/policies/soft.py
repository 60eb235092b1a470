"""A policy that draws its actions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp import kernels
from swarmdp.model.streams import Stream
from swarmdp.model.system import (
    System,
    check_is_system,
    check_observed,
    check_stream,
    class_map,
    classes,
    name_of,
)
from swarmdp.policies import shown
from swarmdp.policies.asking import answer
from swarmdp.policies.export import write
from swarmdp.policies.interface import Interface
from swarmdp.policies.local import LocalPolicy, check_names, itself
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput

SUM_TOLERANCE = 1e-9  # how far from one a sum of probabilities may be


@checked(but=("act", "check"))
@dataclass(frozen=True, eq=False)
class SoftPolicy:
    """A local policy that draws its actions, the same for all agents of a run.

    `probabilities[j, o, a]` is how likely replica j takes the action of index a in the observation
    class o. Run i follows replica i % R; every agent draws for itself in every step.

    Parameters
    ----------
    probabilities
        (R, observations, actions): the chance of each action; (observations, actions) is one
        replica.
    interface
        What the controller observes and does, in physical units; needed for export.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> even = swarmdp.policies.SoftPolicy(np.full((9, 2), 0.5))    # flip half of the time
    >>> swarmdp.rollout(swarmdp.Ising(shape=(6, 6), reach=1), even, steps=3, seed=1).steps
    3

    """

    probabilities: NDArray[np.float64]
    interface: Interface | None = None

    kind: ClassVar[str] = "soft"

    for_runs = itself
    export = write
    __call__ = answer
    to_xarray = shown.to_xarray
    to_dataframe = shown.to_dataframe
    __repr__ = shown.text
    _repr_html_ = shown.html

    def __init__(self, probabilities: ArrayLike, interface: Interface | None = None) -> None:
        array = np.array(probabilities, dtype=np.float64)
        if array.ndim == 2:
            array = array[None]
        if array.ndim != 3 or array.size == 0:
            raise InvalidInput(
                "a soft policy's probabilities must have the shape (observations, actions) or "
                f"(replicas, observations, actions), got {np.shape(probabilities)}"
            )
        wrong = ~((array >= 0).all(axis=2) & (np.abs(array.sum(axis=2) - 1) <= SUM_TOLERANCE))
        if wrong.any():
            j, o = np.argwhere(wrong)[0]
            raise InvalidInput(
                "a soft policy's probabilities must not be negative and sum to 1 for each "
                f"observation, got {array[j, o]} for observation {o} of replica {j}"
            )
        array.setflags(write=False)
        object.__setattr__(self, "probabilities", array)
        object.__setattr__(self, "interface", interface)

    @property
    def replicas(self) -> int:
        """The number of independent policies R."""
        return int(self.probabilities.shape[0])

    def check(self, system: System) -> None:
        """Raise InvalidInput unless the probabilities fit the system."""
        check_is_system(system)
        expected = class_map(system).size, len(system.actions)
        if self.probabilities.shape[1:] != expected:
            raise InvalidInput(
                f"the soft policy has (observations, actions) = {self.probabilities.shape[1:]}, "
                f"but {name_of(system)} has {expected}"
            )

    def act(
        self, system: System, observations: NDArray[Any], runs: NDArray[np.int64], rng: Stream
    ) -> NDArray[Any]:
        """The physical actions of all agents in these runs, drawn from rng."""
        observations, runs = check_observed(system, observations, runs)
        self.check(system)
        check_stream(rng, observations.shape[:2])
        index = classes(system, observations)
        rows = runs % self.replicas
        drawn = kernels.tables.draw(index, self._cumulative, rng.uniform(), rows)
        return np.take(np.asarray(system.actions), drawn, axis=0)

    @cached_property
    def table(self) -> NDArray[np.integer]:
        """The index of the likeliest action, the first of equally likely ones (R, observations).

        `Policy(soft.table)` is the policy that always takes it.
        """
        table: NDArray[np.integer] = self.probabilities.argmax(axis=2)
        return table

    def chances(self, n_actions: int) -> NDArray[np.float64]:
        """The probabilities themselves."""
        return self.probabilities

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The probabilities."""
        return {"probabilities": self.probabilities}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], interface: Interface | None = None
    ) -> "SoftPolicy":
        """The policy that `to_arrays` described."""
        check_names(arrays, "probabilities")
        return cls(arrays["probabilities"], interface)

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        return np.cumsum(self.probabilities, axis=2)


@runtime_checkable
class Anchoring(Protocol):
    """A system that can mix what was recorded into a policy."""

    def anchored(self, policy: LocalPolicy, weight: float | Literal["auto"] = "auto") -> SoftPolicy:
        """The mixture; see `Swarm.anchored`."""
