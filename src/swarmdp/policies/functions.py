"""A plain function as a policy."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp.errors import InvalidInput
from swarmdp.policies import export
from swarmdp.policies.interface import Interface
from swarmdp.streams import Stream, Streams
from swarmdp.system import System


@dataclass(frozen=True, eq=False)
class FunctionPolicy:
    """A policy that is a plain function from observations to physical actions (runs, agents)."""

    function: Callable[[NDArray[Any]], NDArray[Any]]
    interface: Interface | None = None

    kind: ClassVar[str] = "function"
    replicas: ClassVar[int] = 1

    def check(self, system: System) -> None:
        """Nothing is known of a function before it is called."""

    def for_runs(
        self, runs: NDArray[np.int64], streams: Streams
    ) -> "tuple[FunctionPolicy, NDArray[np.int64]]":
        """The function itself."""
        return self, runs

    def act(
        self,
        system: System,
        observations: NDArray[Any],
        runs: NDArray[np.int64],
        rng: Stream | None = None,
    ) -> NDArray[Any]:
        """What the function says."""
        return self.function(observations)

    def export(
        self, path: str | os.PathLike[str], *, system: System | None = None, replica: int = 0
    ) -> Path:
        """Raise InvalidInput: only a table can be exported."""
        return export.write(self, path, system, replica)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Raise InvalidInput: a function cannot be written to a file."""
        raise InvalidInput(
            "a policy that is a function cannot be saved: make it a table with "
            "swarmdp.clone, or swarmdp.Policy"
        )

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], interface: Interface | None = None
    ) -> "FunctionPolicy":
        """Raise InvalidInput: a function cannot be read from a file."""
        raise InvalidInput("a policy that is a function cannot be read from a file")
