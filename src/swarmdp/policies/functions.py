"""A plain function as a policy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.streams import Stream
from swarmdp.model.system import System, check_is_system, check_observed
from swarmdp.policies.export import write
from swarmdp.policies.interface import Interface
from swarmdp.policies.local import itself
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput


@checked(but=("act", "check"))
@dataclass(frozen=True, eq=False)
class FunctionPolicy:
    """A policy that is a plain function from observations to physical actions (runs, agents).

    Parameters
    ----------
    function
        From observations (runs, agents, ...) to physical actions (runs, agents).
    interface
        What the controller observes and does, in physical units; needed for export.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=20)
    >>> half = swarmdp.policies.FunctionPolicy(lambda seen: seen / 2)    # half of the misalignment
    >>> swarmdp.rollout(vicsek, half, steps=5, seed=1).steps
    5

    """

    function: Callable[[NDArray[Any]], NDArray[Any]]
    interface: Interface | None = None

    kind: ClassVar[str] = "function"
    replicas: ClassVar[int] = 1

    for_runs = itself
    export = write

    def check(self, system: System) -> None:
        """Nothing is known of a function before it is called."""
        check_is_system(system)

    def act(
        self,
        system: System,
        observations: NDArray[Any],
        runs: NDArray[np.int64],
        rng: Stream | None = None,
    ) -> NDArray[Any]:
        """What the function says."""
        check_observed(system, observations, runs)
        return self.function(observations)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Raise InvalidInput: a function cannot be written to a file."""
        raise InvalidInput(
            "a policy that is a function cannot be saved: make it a table with "
            "swarmdp.irl.clone, or swarmdp.Policy"
        )

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], interface: Interface | None = None
    ) -> "FunctionPolicy":
        """Raise InvalidInput: a function cannot be read from a file."""
        raise InvalidInput("a policy that is a function cannot be read from a file")
