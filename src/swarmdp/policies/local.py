"""What every local policy can do."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp.model.streams import Stream, Streams
from swarmdp.model.system import System
from swarmdp.policies.interface import Interface
from swarmdp.support.arguments import checked
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput


@runtime_checkable
class LocalPolicy(Protocol):
    """R independent policies (replicas); run i follows replica i % R.

    Examples
    --------
    >>> import swarmdp
    >>> isinstance(swarmdp.Policy([0, 1]), swarmdp.policies.LocalPolicy)
    True

    """

    kind: ClassVar[str]  # what it is called in files

    @property
    def replicas(self) -> int:
        """The number of independent policies R."""

    @property
    def interface(self) -> Interface | None:
        """The system that it was made for, in physical terms, where that is known."""

    def check(self, system: System) -> None:
        """Raise InvalidInput unless the policy fits the system."""

    def for_runs(
        self, runs: NDArray[np.int64], streams: Streams
    ) -> "tuple[LocalPolicy, NDArray[np.int64]]":
        """The policy that acts in these runs, and the run numbers by which it knows them."""

    def act(
        self, system: System, observations: NDArray[Any], runs: NDArray[np.int64], rng: Stream
    ) -> NDArray[Any]:
        """The physical actions (runs, agents) for these observations."""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All that makes the policy, as arrays whose leading axis is the replica."""

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], interface: Interface | None = None
    ) -> Self:
        """The policy whose arrays `to_arrays` returned."""


@runtime_checkable
class TablePolicy(Protocol):
    """A policy that is a table over the classes of observations.

    Examples
    --------
    >>> import swarmdp
    >>> isinstance(swarmdp.Policy([0, 1]), swarmdp.policies.TablePolicy)
    True

    """

    @property
    def table(self) -> NDArray[np.integer]:
        """The action index, or the likeliest one, of each class (R, observations)."""

    def chances(self, n_actions: int) -> NDArray[np.float64]:
        """The probability of each action in each class (R, observations, actions)."""


def check_names(arrays: Mapping[str, NDArray[Any]], *names: str) -> None:
    """Raise InvalidInput unless all arrays that make a policy are there."""
    if not isinstance(arrays, Mapping):
        raise InvalidInput(f"arrays must be a dictionary of arrays by name, got {brief(arrays)}")
    missing = [name for name in names if name not in arrays]
    if missing:
        raise InvalidInput(
            f"the arrays of the policy lack {', '.join(missing)}, there is: "
            f"{', '.join(map(str, arrays)) or 'nothing'}"
        )


@checked
def itself(
    policy: LocalPolicy, runs: NDArray[np.int64], streams: Streams
) -> tuple[LocalPolicy, NDArray[np.int64]]:
    """The policy itself, the `for_runs` of those that draw nothing: run i follows replica i % R."""
    return policy, runs


Controller = LocalPolicy | Callable[[NDArray[Any]], NDArray[Any]]
"""What moves a swarm: a policy, or a plain function from observations to physical actions."""
