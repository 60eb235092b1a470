"""A policy that is a table from classes of observations to actions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp import kernels
from swarmdp.model.streams import Stream
from swarmdp.model.system import (
    System,
    check_is_system,
    check_observed,
    class_map,
    classes,
    name_of,
)
from swarmdp.policies import shown
from swarmdp.policies.asking import answer
from swarmdp.policies.export import write
from swarmdp.policies.interface import Interface
from swarmdp.policies.local import check_names, itself
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory


@checked(but=("act", "check"))
@dataclass(frozen=True, eq=False)
class Policy:
    """A local policy pi: O -> A as a table, the same for all agents of a run.

    `table[j, o]` is the index of the action that replica j takes in the observation class o.
    Run i follows replica i % R.

    Parameters
    ----------
    table
        (R, observations): the index of the action of each replica in each class; (observations,) is
        one replica.
    interface
        What the controller observes and does, in physical units; needed for export.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> table = (np.arange(9) > 4).astype(int)    # flip if more than 4 of 8 neighbours are unlike
    >>> majority = swarmdp.Policy(table)
    >>> swarmdp.rollout(ising, majority, steps=3, seed=1).steps
    3

    """

    table: NDArray[np.integer]
    interface: Interface | None = None

    kind: ClassVar[str] = "table"

    for_runs = itself
    export = write
    __call__ = answer
    to_xarray = shown.to_xarray
    to_dataframe = shown.to_dataframe
    __repr__ = shown.text
    _repr_html_ = shown.html

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
        check_is_system(system)
        observations, actions = class_map(system).size, len(system.actions)
        if self.table.shape[1] != observations:
            raise InvalidInput(
                f"the policy's table has {self.table.shape[1]} observations, but "
                f"{name_of(system)} has {observations}"
            )
        lowest, highest = self._extremes
        if lowest < 0 or highest >= actions:
            raise InvalidInput(
                f"the policy's table must hold action indices from 0 to {actions - 1}, "
                f"got {lowest} to {highest}"
            )

    @cached_property
    def _extremes(self) -> tuple[int, int]:
        return int(self.table.min()), int(self.table.max())

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
        values = np.asarray(system.actions)[self.table]
        index = classes(system, observations)
        return kernels.tables.look_up(index, values, runs % self.replicas)

    def chances(self, n_actions: int) -> NDArray[np.float64]:
        """The probability of each action, 0 or 1: (R, observations, actions)."""
        lowest, highest = self._extremes
        if lowest < 0 or highest >= n_actions:
            raise InvalidInput(
                f"n_actions must be above all action indices of the table, {lowest} to {highest}, "
                f"got {n_actions}"
            )
        check_memory(
            8 * n_actions * (n_actions + self.table.size),
            f"a table of probabilities of {n_actions} actions",
            "Take the number of actions that the system has",
        )
        certain: NDArray[np.float64] = np.eye(n_actions)[self.table]
        return certain

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The table."""
        return {"table": self.table}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], interface: Interface | None = None
    ) -> "Policy":
        """The policy that `to_arrays` described."""
        check_names(arrays, "table")
        return cls(arrays["table"], interface)
