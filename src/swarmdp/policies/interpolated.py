"""A policy whose actions lie between the listed ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp.model.features import Interpolating
from swarmdp.model.streams import Stream
from swarmdp.model.system import System, check_is_system, check_observed, class_map, name_of
from swarmdp.model.traits import null_action
from swarmdp.policies import shown
from swarmdp.policies.asking import answer
from swarmdp.policies.export import write
from swarmdp.policies.interface import Interface
from swarmdp.policies.local import check_names, itself
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput


@checked(but=("act", "check"))
@dataclass(frozen=True, eq=False)
class InterpolatedPolicy:
    """A continuous function of the observation, drawn through one action for each class.

    `values[j, o]` is the physical action of replica j at the centre of class o; between centres it
    is interpolated (around the circle for angles, not at all between levels).

    Parameters
    ----------
    values
        (R, observations): the physical action at the centre of each class; (observations,) is one
        replica.
    interface
        What the controller observes and does, in physical units; needed for export.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=20)
    >>> turns = np.clip(vicsek.features.values, -0.5, 0.5)    # at the centre of each class
    >>> policy = swarmdp.policies.InterpolatedPolicy(turns)
    >>> swarmdp.rollout(vicsek, policy, steps=5, seed=1).steps
    5

    """

    values: NDArray[np.float64]
    interface: Interface | None = None

    kind: ClassVar[str] = "interpolated"

    for_runs = itself
    export = write
    __call__ = answer
    to_xarray = shown.to_xarray
    to_dataframe = shown.to_dataframe
    __repr__ = shown.text
    _repr_html_ = shown.html

    def __init__(self, values: ArrayLike, interface: Interface | None = None) -> None:
        array = np.atleast_2d(np.array(values, dtype=np.float64))
        if array.ndim != 2 or array.size == 0 or not np.isfinite(array).all():
            raise InvalidInput(
                "an interpolated policy needs finite actions of shape (observations,) or "
                f"(replicas, observations), got shape {np.shape(values)}"
            )
        array.setflags(write=False)
        object.__setattr__(self, "values", array)
        object.__setattr__(self, "interface", interface)

    @classmethod
    def of(
        cls,
        system: System,
        q: NDArray[np.float64],
        table: NDArray[np.integer],
        seen: NDArray[np.bool_] | None = None,
    ) -> "InterpolatedPolicy":
        """The policy of a Q-function (R, observations, actions).

        In each class the action is the top of the parabola through the Q-values of the best action
        (`table`) and its two neighbours. Where no agent was (not `seen`) it does nothing.
        """
        check_interpolates(system)
        actions = np.asarray(system.actions, np.float64)
        shape = (*q.shape[:1], class_map(system).size, len(actions))
        right = q.shape == shape and table.shape == shape[:2]
        if not right or (seen is not None and seen.shape != shape[:2]):
            raise InvalidInput(
                f"q must have the shape {('replicas', *shape[1:])}, table and seen the first two "
                f"axes of it, got {q.shape}, {table.shape} and "
                f"{'nothing' if seen is None else seen.shape}"
            )
        if not np.isfinite(q).all() or not 0 <= table.min() <= table.max() < len(actions):
            raise InvalidInput(
                f"q must be finite and table action indices from 0 to {len(actions) - 1}, got "
                "others"
            )
        table = table.astype(np.int64)
        best = np.clip(table, 1, len(actions) - 2)
        below, top, above = (
            np.take_along_axis(q, (best + shift)[..., None], axis=2)[..., 0] for shift in (-1, 0, 1)
        )
        bend = below - 2 * top + above
        inner = (table == best) & (bend < 0) & (top >= below) & (top >= above)
        shift = np.where(inner, 0.5 * (below - above) / np.where(inner, bend, 1.0), 0.0)
        step = np.where(
            shift < 0, actions[best] - actions[best - 1], actions[best + 1] - actions[best]
        )
        values = np.where(inner, actions[best] + shift * step, actions[table])
        if seen is not None:
            values = np.where(seen, values, actions[null_action(system)])
        return cls(values)

    @property
    def replicas(self) -> int:
        """The number of independent policies R."""
        return int(self.values.shape[0])

    def check(self, system: System) -> None:
        """Raise InvalidInput unless the actions fit the system."""
        check_interpolates(system)
        observations = class_map(system).size
        if self.values.shape[1] != observations:
            raise InvalidInput(
                f"the policy has actions for {self.values.shape[1]} observations, but "
                f"{name_of(system)} has {observations}"
            )

    def act(
        self,
        system: System,
        observations: NDArray[Any],
        runs: NDArray[np.int64],
        rng: Stream | None = None,
    ) -> NDArray[np.float64]:
        """The physical actions of all agents in these runs; nothing is drawn from rng."""
        observations, runs = check_observed(system, observations, runs)
        self.check(system)
        features = class_map(system)
        assert isinstance(features, Interpolating)
        index, weight = features.between(observations)
        rows = (runs % self.replicas)[:, None, None]
        total: NDArray[np.float64] = (self.values[rows, index] * weight).sum(axis=2)
        return total

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The actions."""
        return {"values": self.values}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], interface: Interface | None = None
    ) -> "InterpolatedPolicy":
        """The policy that `to_arrays` described."""
        check_names(arrays, "values")
        return cls(arrays["values"], interface)


def check_interpolates(system: System) -> None:
    """Raise InvalidInput unless there are actions between the listed ones of this system."""
    check_is_system(system)
    actions = np.asarray(system.actions)
    one = actions.ndim == 1 and actions.dtype.kind == "f" and len(actions) >= 3
    if not one or not (np.diff(actions) > 0).all():
        raise InvalidInput(
            f"interpolation needs at least three actions that are rising floating-point numbers, "
            f"of one component, but {name_of(system)} has {actions.tolist()}"
        )
    if not isinstance(class_map(system), Interpolating):
        raise InvalidInput(
            f"interpolation needs Angles, Bins, Levels or a Product of them, but "
            f"{name_of(system)} has {type(system.features).__name__}"
        )
