"""A policy that is a table from classes of observations to actions."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp import kernels
from swarmdp.errors import InvalidInput
from swarmdp.policies import export, shown
from swarmdp.policies.interface import Interface
from swarmdp.streams import Stream, Streams
from swarmdp.system import System, class_map, classes, name_of

if TYPE_CHECKING:
    import pandas
    import xarray


@dataclass(frozen=True, eq=False)
class Policy:
    """A local policy pi: O -> A as a table, the same for all agents of a run.

    `table[j, o]` is the index of the action that replica j takes in the observation class o.
    Run i follows replica i % R.
    """

    table: NDArray[np.integer]  # (R, n_observations)
    interface: Interface | None = None

    kind: ClassVar[str] = "table"

    def __init__(self, table: ArrayLike, interface: Interface | None = None) -> None:
        array = np.array(table)
        if array.ndim == 1:
            array = array[None]
        if array.ndim != 2 or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
            raise InvalidInput(
                "a policy's table must be integers of shape (observations,) or "
                f"(replicas, observations), got {array.dtype} of shape {np.shape(table)}"
            )
        array.setflags(write=False)
        object.__setattr__(self, "table", array)
        object.__setattr__(self, "interface", interface)

    @property
    def replicas(self) -> int:
        """The number of independent policies R."""
        return int(self.table.shape[0])

    def check(self, system: System) -> None:
        """Raise InvalidInput unless the table fits the system."""
        observations, actions = class_map(system).size, len(system.actions)
        if self.table.shape[1] != observations:
            raise InvalidInput(
                f"the policy's table has {self.table.shape[1]} observations, but "
                f"{name_of(system)} has {observations}"
            )
        if self.table.min() < 0 or self.table.max() >= actions:
            raise InvalidInput(
                f"the policy's table must hold action indices from 0 to {actions - 1}, "
                f"got {self.table.min()} to {self.table.max()}"
            )

    def for_runs(
        self, runs: NDArray[np.int64], streams: Streams
    ) -> "tuple[Policy, NDArray[np.int64]]":
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
        values = np.asarray(system.actions)[self.table]
        index = classes(system, observations)
        return kernels.tabular.look_up(index, values, runs % self.replicas)

    def chances(self, n_actions: int) -> NDArray[np.float64]:
        """The probability of each action, 0 or 1: (R, observations, actions)."""
        certain: NDArray[np.float64] = np.eye(n_actions)[self.table]
        return certain

    def export(
        self, path: str | os.PathLike[str], *, system: System | None = None, replica: int = 0
    ) -> Path:
        """Write the controller to a file for use elsewhere, atomically; return the path.

        Parameters
        ----------
        path
            Its ending chooses the format: .json (complete, `swarmdp.load_controller` reads it),
            .csv (a row for each class of observations) or .h (a C function).
        system
            The system that the policy was made for; a policy of a fit knows it.
        replica
            Which replica to write.

        """
        return export.write(self, path, system, replica)

    def to_xarray(self, system: System | None = None) -> "xarray.Dataset":
        """The table, with a coordinate for each component, angles in degrees.

        Parameters
        ----------
        system
            The system that the policy was made for; a policy of a fit knows it.

        """
        return shown.to_xarray(self, system)

    def to_dataframe(self, system: System | None = None) -> "pandas.DataFrame":
        """One row for each replica and class of observations, angles in degrees.

        Parameters
        ----------
        system
            The system that the policy was made for; a policy of a fit knows it.

        """
        return shown.to_dataframe(self, system)

    def __repr__(self) -> str:
        return shown.text(self)

    def _repr_html_(self) -> str:
        return shown.html(self)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The table."""
        return {"table": self.table}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], interface: Interface | None = None
    ) -> "Policy":
        """The policy that `to_arrays` told of."""
        return cls(arrays["table"], interface)
