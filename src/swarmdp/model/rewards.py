"""A local reward R(o) = w·phi(o)."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp import kernels
from swarmdp.model.features import Axis, Block, Classes, Smooth
from swarmdp.model.system import (
    System,
    by_rows,
    check_is_system,
    check_observed,
    classes,
    feature_count,
    name_of,
)
from swarmdp.support import markup
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput

if TYPE_CHECKING:
    import pandas
    import xarray


@checked(but=("of", "of_classes"))
@dataclass(frozen=True, eq=False)
class Reward:
    """A local reward R(o) = w·phi(o), the same for all agents of a run.

    `weights[j]` are those of replica j; run i is rewarded by replica i % R.

    Parameters
    ----------
    weights
        (R, d): the weights of R replicas; (d,) is one replica.
    blocks
        The axes of each block of weights (see `swarmdp.features`); not needed for planning.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> reward = swarmdp.Reward([0.0, 1.0, 0.5])
    >>> reward.weights.shape
    (1, 3)
    >>> reward.replicas
    1

    """

    weights: NDArray[np.float64]
    blocks: tuple[Block, ...]

    def __init__(self, weights: ArrayLike, blocks: tuple[Block, ...] = ()) -> None:
        array = np.array(weights, dtype=np.float64)
        if array.ndim == 1:
            array = array[None]
        if array.ndim != 2 or array.size == 0 or not np.isfinite(array).all():
            raise InvalidInput(
                "a reward's weights must be finite numbers of shape (features,) or "
                f"(replicas, features), got shape {np.shape(weights)}"
            )
        grids = blocks or ((Axis("feature", np.arange(array.shape[1])),),)
        if sum(map(_size, grids)) != array.shape[1]:
            raise InvalidInput(
                f"the blocks of a reward must describe its {array.shape[1]} weights, got blocks of "
                f"{' + '.join(str(_size(block)) for block in grids)}"
            )
        array.setflags(write=False)
        object.__setattr__(self, "weights", array)
        object.__setattr__(self, "blocks", grids)

    @property
    def replicas(self) -> int:
        """The number of independent rewards R."""
        return int(self.weights.shape[0])

    def tables(self, values: NDArray[np.float64] | None = None) -> list["xarray.DataArray"]:
        """The weights, or other numbers (R, d) of theirs, as a grid for each block."""
        import xarray

        array = self.weights if values is None else values
        if array.ndim != 2 or array.shape[1] != self.weights.shape[1]:
            raise InvalidInput(
                f"values must be numbers (replicas, {self.weights.shape[1]}), one for each weight, "
                f"got shape {array.shape}"
            )
        tables, begin = [], 0
        for block in self.blocks:
            shown = [axis.shown for axis in block]
            end = begin + _size(block)
            shape = (len(array), *(len(axis.values) for axis in shown))
            coordinates = {
                axis.name: (axis.name, axis.values, {"units": axis.units}) for axis in shown
            }
            dimensions = ("experiment", *coordinates)
            name = "reward" if len(self.blocks) == 1 else f"reward_{shown[0].name}"
            tables.append(
                xarray.DataArray(array[:, begin:end].reshape(shape), coordinates, dimensions, name)
            )
            begin = end
        return tables

    def table(self) -> "xarray.DataArray | xarray.Dataset":
        """The reward of each observation, in physical units, with one coordinate a component.

        An additive reward is a dataset with one array for each component.
        """
        import xarray

        tables = self.tables()
        return tables[0] if len(tables) == 1 else xarray.Dataset({t.name: t for t in tables})

    def to_dataframe(self) -> "pandas.DataFrame":
        """One row for each experiment and weight, with the components' values as columns."""
        import pandas

        frames = [table.rename("reward").to_dataframe().reset_index() for table in self.tables()]
        if len(frames) == 1:
            return frames[0]
        for i, (frame, block) in enumerate(zip(frames, self.blocks, strict=True)):
            frames[i] = frame.rename(columns={block[0].name: "value"})
            frames[i].insert(1, "component", block[0].name)
        return pandas.concat(frames, ignore_index=True)

    def __repr__(self) -> str:
        lines = [f"Reward: {self.replicas} replica(s), {self.weights.shape[1]} weights"]
        for block in self.blocks:
            axes = [axis.shown for axis in block]
            lines.append("  " + ", ".join(f"{axis.label} ({len(axis.values)})" for axis in axes))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.card()

    def card(self, clear: NDArray[np.bool_] | None = None) -> str:
        """The reward as a table for notebooks.

        Parameters
        ----------
        clear
            (d,): which weights all rewards agree on that do as well; the others are marked.

        """
        first, *others = repr(self).split("\n")
        mean, spread = self.weights.mean(axis=0), self.weights.std(axis=0)
        longest = markup.bars(mean)
        parts, begin = [], 0
        for block, line in zip(self.blocks, others, strict=True):
            axes, size = [axis.shown for axis in block], _size(block)
            places = np.unravel_index(np.arange(size), [len(axis.values) for axis in axes])
            columns: dict[str, Any] = {
                axis.label: axis.values[place].tolist()
                for axis, place in zip(axes, places, strict=True)
            }
            columns["reward"] = longest[begin : begin + size]
            if clear is not None:
                marks = clear[begin : begin + size]
                columns["identified"] = ["yes" if mark else "no" for mark in marks]
            if self.replicas > 1:
                columns["standard deviation"] = spread[begin : begin + size].tolist()
            rows = list(zip(*columns.values(), strict=True))
            parts += [markup.paragraph(line.strip()), markup.table(list(columns), rows)]
            begin += size
        if self.replicas > 1:
            parts.append(markup.paragraph(f"mean of {self.replicas} replicas"))
        return markup.card(first, *parts)

    def of(
        self, system: System, observations: NDArray[Any], runs: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The reward of every agent (runs, agents) for its observation."""
        observations, runs = check_observed(system, observations, runs)
        rows = runs % self.replicas
        if isinstance(system.features, Smooth):
            self._check(system)
            features = system.features.of(observations)
            return np.stack(
                [phi @ self.weights[row] for phi, row in zip(features, rows, strict=True)]
            )
        index = classes(system, observations)
        return kernels.tables.look_up(index, self.of_classes(system), rows)

    def of_classes(self, system: System) -> NDArray[np.float64]:
        """The reward w . phi(o) of every class of observations (R, observations)."""
        self._check(system)
        features = system.features
        if not isinstance(features, Classes):
            raise InvalidInput(f"{name_of(system)} has no classes of observations")
        matrix = features.matrix
        return self.weights if matrix is None else by_rows(self.weights, matrix.T)

    def _check(self, system: System) -> None:
        check_is_system(system)
        if self.weights.shape[1] != feature_count(system):
            raise InvalidInput(
                f"the reward has {self.weights.shape[1]} weights, but "
                f"{name_of(system)} has {feature_count(system)} features"
            )


def _size(block: Block) -> int:
    return math.prod(len(axis.values) for axis in block)
