"""A mixture of policies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp.model.streams import Purpose, Stream, Streams
from swarmdp.model.system import System, check_is_system
from swarmdp.policies import shown
from swarmdp.policies.export import write
from swarmdp.policies.interface import Interface
from swarmdp.policies.local import LocalPolicy
from swarmdp.policies.replicas import remade
from swarmdp.policies.soft import SUM_TOLERANCE
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput


@checked(but=("act", "check"))
@dataclass(frozen=True, eq=False)
class MixedPolicy:
    """Several policies, of which every run draws one for all its agents and its whole length.

    `weights[j, k]` is how likely a run of replica j follows `policies[k]`, each of which has R
    replicas. Its feature expectations are the weighted mean of theirs.

    Parameters
    ----------
    policies
        The policies, each of R replicas.
    weights
        (R, policies): how likely each of them is; a row sums to 1.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> keep, flip = swarmdp.Policy(np.zeros(9, int)), swarmdp.Policy(np.ones(9, int))
    >>> mixed = swarmdp.policies.MixedPolicy([keep, flip], [0.75, 0.25])    # drawn for each run
    >>> swarmdp.rollout(swarmdp.Ising(shape=(6, 6), reach=1), mixed, steps=2, runs=4, seed=1).runs
    4

    """

    policies: tuple[LocalPolicy, ...]
    weights: NDArray[np.float64]

    kind: ClassVar[str] = "mixed"

    export = write
    __repr__ = shown.text
    _repr_html_ = shown.html

    def __init__(self, policies: Sequence[LocalPolicy], weights: ArrayLike) -> None:
        parts = tuple(policies)
        array = np.atleast_2d(np.array(weights, dtype=np.float64))
        replicas = {policy.replicas for policy in parts}
        kinds = {type(policy) for policy in parts}
        if len(kinds) != 1 or array.shape != (min(replicas), len(parts)):
            raise InvalidInput(
                f"a mixture needs policies of one kind and weights of the shape (replicas, "
                f"policies), got {len(parts)} policies and weights {array.shape}"
            )
        if len(replicas) != 1 or not (array >= 0).all():
            raise InvalidInput(
                "the policies of a mixture must have equally many replicas, and weights must not "
                "be negative"
            )
        if (np.abs(array.sum(axis=1) - 1) > SUM_TOLERANCE).any():
            raise InvalidInput(f"the weights of a mixture must sum to 1, got {array.sum(axis=1)}")
        array.setflags(write=False)
        object.__setattr__(self, "policies", parts)
        object.__setattr__(self, "weights", array)

    @property
    def replicas(self) -> int:
        """The number of independent mixtures R."""
        return len(self.weights)

    @property
    def interface(self) -> Interface | None:
        """That of the policies."""
        return self.policies[0].interface

    def check(self, system: System) -> None:
        """Raise InvalidInput unless all policies fit the system."""
        check_is_system(system)
        for policy in self.policies:
            policy.check(system)

    def drawn(self, runs: NDArray[np.int64], streams: Streams) -> NDArray[np.int64]:
        """The number of the policy that each of these runs follows."""
        if runs.shape != streams.runs.shape or (runs.size and runs.min() < 0):
            raise InvalidInput(
                f"runs must be the numbers of the {len(streams.runs)} runs of the streams, got "
                f"shape {runs.shape}"
            )
        once = Streams.of(streams.seed, streams.runs, 1)
        chance = once.at(0, Purpose.MIXTURE).uniform()[:, 0]
        below = np.cumsum(self.weights, axis=1)[runs % self.replicas] <= chance[:, None]
        # Rounding may leave the sum of all weights below the chance: the last one that counts.
        last = self.weights.shape[1] - 1 - np.argmax(self.weights[:, ::-1] > 0, axis=1)
        chosen: NDArray[np.int64] = np.minimum(below.sum(axis=1), last[runs % self.replicas])
        return chosen

    def for_runs(
        self, runs: NDArray[np.int64], streams: Streams
    ) -> tuple[LocalPolicy, NDArray[np.int64]]:
        """The drawn policies as one with a replica for each run, and the numbers of these."""
        choice, rows = self.drawn(runs, streams), runs % self.replicas
        parts = [policy.to_arrays() for policy in self.policies]
        arrays = {
            name: np.stack([parts[k][name][j] for k, j in zip(choice, rows, strict=True)])
            for name in parts[0]
        }
        return remade(self.policies[0], arrays, None), np.arange(len(runs))

    def act(
        self, system: System, observations: NDArray[Any], runs: NDArray[np.int64], rng: Stream
    ) -> NDArray[Any]:
        """Raise InvalidInput: which policy a run follows is drawn once, by `for_runs`."""
        raise InvalidInput("a mixture does not act itself: roll it out, or use for_runs")

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The weights, and the arrays of all policies side by side."""
        parts = [policy.to_arrays() for policy in self.policies]
        sides = {name: np.stack([part[name] for part in parts], axis=1) for name in parts[0]}
        return {"weights": self.weights, **sides}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], interface: Interface | None = None
    ) -> "MixedPolicy":
        """Raise InvalidInput: what kind of policies was mixed is not known."""
        raise InvalidInput("a mixture is made again from its policies, not from arrays")
