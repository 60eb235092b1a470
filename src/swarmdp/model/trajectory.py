"""What was recorded of a swarm, in memory and as a NetCDF file."""

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp._version import __version__
from swarmdp.support import markup
from swarmdp.support.arguments import checked
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput
from swarmdp.support.netcdf import integer_of, settings_of, text_of, write_dataset
from swarmdp.support.ranges import Index, Seed
from swarmdp.support.saved import TRAJECTORY

if TYPE_CHECKING:
    import pandas
    import xarray

PRESENT, ACTING = "present", "acting"  # whose observations, and whose actions, count
_MOST_ROWS = 5_000_000  # of a data frame, unless asked for more


@checked(nan=True, skip=("values",))
@dataclass(frozen=True, eq=False)
class Variable:
    """One recorded array with the names of its axes and its unit."""

    values: NDArray[Any]
    axes: tuple[str, ...]
    units: str = "1"
    description: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.values, np.ndarray) or isinstance(self.values, np.ma.MaskedArray):
            raise InvalidInput(
                f"a variable's values must be a plain array, got {type(self.values).__name__}: "
                "give numpy.asarray(values), masked values filled in or removed"
            )
        if self.values.dtype.kind not in "biufcSU":
            raise InvalidInput(f"a variable's values must be numbers, got {self.values.dtype}")
        if self.values.ndim != len(self.axes):
            raise InvalidInput(f"axes {self.axes} do not fit an array of shape {self.values.shape}")


@checked(nan=True, skip=("variables",))
@dataclass(frozen=True, eq=False)
class Trajectory(Mapping[str, NDArray[Any]]):
    """Recorded arrays by name, each with a leading axis of runs.

    The states of a roll-out have the shape (runs, steps + 1, agents, ...):
    `trajectory["heading"][r, t, n]` is the heading of agent n at time t of run r.

    Parameters
    ----------
    variables
        The recorded arrays, with their axes and units, by name.
    system_name
        The class of the system.
    settings
        What made the system.
    runs
        The number of runs.
    steps
        The number of time steps.
    seed
        The seed of the roll-out, if it was one.
    version
        The version of swarmdp that made it.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> run = swarmdp.rollout(ising, ising.expert, steps=4, runs=2, seed=1)
    >>> run.runs, run.steps, list(run.variables)
    (2, 4, ['site', 'spin'])

    """

    variables: Mapping[str, Variable]
    system_name: str
    settings: Mapping[str, Any]
    runs: Index
    steps: Index
    seed: Seed | None = None
    version: str = __version__

    def __post_init__(self) -> None:
        if not isinstance(self.variables, Mapping) or not all(
            isinstance(variable, Variable) for variable in self.variables.values()
        ):
            raise InvalidInput(
                "the variables of a trajectory must be a dictionary of Variable(array, axes), such "
                'as {"heading": Variable(array, ("run", "time", "agent"))}'
            )
        sizes = {"run": self.runs, "time": self.steps + 1, "step": self.steps}
        for name, variable in self.variables.items():
            if variable.axes[:1] != ("run",):
                raise InvalidInput(f"the first axis of {name!r} must be 'run': {variable.axes}")
            for axis, size in zip(variable.axes, variable.values.shape, strict=True):
                if sizes.setdefault(axis, size) != size:
                    raise InvalidInput(
                        f"axis {axis!r} of {name!r} has length {size}, expected {sizes[axis]}"
                    )

    def __getitem__(self, name: str) -> NDArray[Any]:
        try:
            return self.variables[name].values
        except (KeyError, TypeError, ValueError):
            raise KeyError(
                f"{brief(name)} was not recorded; there is: "
                f"{', '.join(self.variables) or 'nothing'}"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def __repr__(self) -> str:
        arrays = "".join(
            f"\n  {name}: {dict(zip(v.axes, v.values.shape, strict=True))} "
            f"{v.values.dtype} [{v.units}]"
            for name, v in self.variables.items()
        )
        return (
            f"Trajectory of {self.system_name}, {self.runs} run{'s' * (self.runs != 1)} of "
            f"{self.steps} steps, seed {self.seed}{arrays}"
        )

    def _repr_html_(self) -> str:
        rows = [
            (
                name,
                " × ".join(f"{a} {n}" for a, n in zip(v.axes, v.values.shape, strict=True)),
                str(v.values.dtype),
                v.units,
                v.description,
            )
            for name, v in self.variables.items()
        ]
        return markup.card(
            repr(self).split("\n")[0],
            markup.table(("variable", "shape", "type", "units", "description"), rows),
        )

    @property
    def of_recording(self) -> bool:
        """Whether it was recorded and not simulated: some agents are absent, no time is the first.

        Its variable `present` says whose observation counts at each time.
        """
        return PRESENT in self.variables

    def to_dataframe(
        self, variables: Sequence[str] | None = None, *, most_rows: int = _MOST_ROWS
    ) -> "pandas.DataFrame":
        """One row for each run, time and agent, as far as the variables have them.

        What belongs to a step (actions) is in the row of the time at which it begins, and missing
        at the last time. A variable with further axes has a column for each entry, such as
        position_0 and position_1.

        Parameters
        ----------
        variables
            The names of the variables; all of them if not given.
        most_rows
            Raises InvalidInput if there would be more rows than this.

        """
        import pandas

        right = variables is None or isinstance(variables, tuple | list)
        if not right or not all(isinstance(name, str) for name in variables or ()):
            raise InvalidInput(f"variables must be a list of names, got {brief(variables)}")
        chosen = {}
        for name in self.variables if variables is None else variables:
            self[name]
            chosen[name] = self.variables[name]
        moment = "time" if any("time" in v.axes for v in chosen.values()) else "step"
        sizes: dict[str, int] = {}
        for axis in ("run", moment, "agent"):
            for v in chosen.values():
                if axis in v.axes:
                    sizes[axis] = v.values.shape[v.axes.index(axis)]
        shape = tuple(sizes.values())
        if (rows := math.prod(shape)) > most_rows:
            raise InvalidInput(
                f"a data frame of {', '.join(chosen)} would have {rows} rows, more than "
                f"{most_rows}: choose variables, take to_xarray() and select from it, or give "
                f"most_rows={rows}"
            )
        columns = {
            axis: place.reshape(-1) for axis, place in zip(sizes, np.indices(shape), strict=True)
        }
        for name, v in chosen.items():
            columns |= _columns(name, v, sizes)
        frame = pandas.DataFrame(columns)
        frame.attrs["units"] = {name: v.units for name, v in chosen.items()}
        return frame

    def only(self, run: int) -> "Trajectory":
        """Just one of the runs."""
        if not 0 <= run < self.runs:
            raise InvalidInput(f"run must be from 0 to {self.runs - 1}, got {run}")
        cut = {
            name: replace(v, values=v.values[run : run + 1]) for name, v in self.variables.items()
        }
        return replace(self, variables=cut, runs=1)

    def until(self, steps: int) -> "Trajectory":
        """The first steps of every run: all that was recorded up to this time."""
        if not 0 <= steps <= self.steps:
            raise InvalidInput(f"steps must be from 0 to {self.steps}, got {steps}")
        lengths = {"time": steps + 1, "step": steps}
        cut = {
            name: replace(v, values=v.values[:, : lengths[v.axes[1]]])
            if v.axes[1:2] and v.axes[1] in lengths
            else v
            for name, v in self.variables.items()
        }
        return replace(self, variables=cut, steps=steps)

    def to_xarray(self) -> "xarray.Dataset":
        """A dataset with named dimensions, units and everything needed to repeat the roll-out."""
        import xarray

        data = {
            name: (
                v.axes,
                v.values,
                {"units": v.units, "long_name": v.description or name.replace("_", " ")},
            )
            for name, v in self.variables.items()
        }
        used = {axis for v in self.variables.values() for axis in v.axes}
        coordinates = {
            axis: np.arange(size)
            for axis, size in (("run", self.runs), ("time", self.steps + 1), ("step", self.steps))
            if axis in used
        }
        attributes = TRAJECTORY.attributes(self.version) | {
            "system": self.system_name,
            "settings": json.dumps(dict(self.settings)),
            "seed": "" if self.seed is None else str(self.seed),
            "runs": self.runs,
            "steps": self.steps,
        }
        return xarray.Dataset(data, coordinates, attributes)

    @classmethod
    def from_xarray(cls, dataset: "xarray.Dataset") -> "Trajectory":
        """The trajectory that `to_xarray` wrote."""
        attributes = TRAJECTORY.check(dataset)
        variables = {
            str(name): Variable(
                np.ascontiguousarray(array.values),
                tuple(str(axis) for axis in array.dims),
                text_of(array.attrs, "units"),
                text_of(array.attrs, "long_name"),
            )
            for name, array in dataset.data_vars.items()
        }
        return cls(
            variables,
            system_name=text_of(attributes, "system"),
            settings=settings_of(attributes, "settings"),
            runs=integer_of(attributes, "runs"),
            steps=integer_of(attributes, "steps"),
            seed=None if attributes.get("seed") == "" else integer_of(attributes, "seed"),
            version=text_of(attributes, "swarmdp_version"),
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a NetCDF file atomically."""
        write_dataset(path, self.to_xarray())
        return Path(path)


def _columns(name: str, v: Variable, sizes: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    """The columns of a variable in a table whose rows are over axes of these sizes."""
    values, axes = v.values, list(v.axes)
    if "step" in axes and "time" in sizes:
        place = axes.index("step")
        axes[place] = "time"
        missing = [(0, int(i == place)) for i in range(values.ndim)]
        values = np.pad(values.astype(np.float64), missing, constant_values=np.nan)
    inner = [i for i, axis in enumerate(axes) if axis not in sizes]
    outer = [axes.index(axis) for axis in sizes if axis in axes]
    values = values.transpose(*outer, *inner)
    entries = values.shape[len(outer) :]
    beside = tuple(size if axis in axes else 1 for axis, size in sizes.items())
    whole = np.broadcast_to(values.reshape(*beside, *entries), (*sizes.values(), *entries))
    flat = whole.reshape(math.prod(sizes.values()), -1)
    if not entries:
        return {name: flat[:, 0]}
    names = ["_".join(map(str, (name, *place))) for place in np.ndindex(*entries)]
    return {column: flat[:, i] for i, column in enumerate(names)}
