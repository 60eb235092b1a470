"""Policies as tables and texts to look at."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from swarmdp.model.features import Axis
from swarmdp.model.system import System
from swarmdp.policies.blueprint import EXPORTED, interface_of
from swarmdp.policies.interface import Interface
from swarmdp.policies.local import LocalPolicy
from swarmdp.support import markup
from swarmdp.support.arguments import checked

if TYPE_CHECKING:
    import pandas
    import xarray


@checked
def to_xarray(policy: LocalPolicy, system: System | None = None) -> "xarray.Dataset":
    """The actions, with a coordinate for each component of an observation, angles in degrees.

    Of a soft policy the probabilities as well, and the likeliest actions.

    Parameters
    ----------
    policy
        A table, a soft or an interpolated policy: this is the method `to_xarray` of each.
    system
        The system that the policy was made for; a policy of a fit knows it.

    """
    import xarray

    arrays, interface = policy.to_arrays(), interface_of(policy, system)
    axes = [axis.shown for axis in _axes(policy, interface)]
    shape = (policy.replicas, *(len(axis.values) for axis in axes))
    dims = ("experiment", *(axis.name for axis in axes))
    coordinates: dict[str, Any] = {
        axis.name: (axis.name, axis.values, {"units": axis.units}) for axis in axes
    }
    data: dict[str, Any] = {}
    chances = arrays.get("probabilities")
    table = arrays.get("table") if chances is None else chances.argmax(axis=2)
    if table is not None:
        data["action_index"] = (dims, table.reshape(shape))
    actions = _actions(interface)
    for axis in actions:
        units = {"units": axis.units}
        if table is not None:
            data[axis.name] = (dims, axis.values[table].reshape(shape), units)
        if chances is not None:
            choice = "choice" if len(actions) == 1 else f"choice of {axis.name}"
            coordinates[choice] = ("choice", axis.values, units)
    if chances is not None:
        data["probability"] = ((*dims, "choice"), chances.reshape(*shape, -1))
    if "values" in arrays:
        scale = _scale(interface)
        data["action"] = (dims, arrays["values"].reshape(shape) * scale.values[0])
        data["action"] += ({"units": scale.units},)
    attributes = {} if interface is None else {"system": interface.system}
    return xarray.Dataset(data, coordinates, attributes)


@checked
def to_dataframe(policy: LocalPolicy, system: System | None = None) -> "pandas.DataFrame":
    """One row for each replica and class of observations, angles in degrees.

    Of a soft policy the likeliest action.

    Parameters
    ----------
    policy
        A table, a soft or an interpolated policy: this is the method `to_dataframe` of each.
    system
        The system that the policy was made for; a policy of a fit knows it.

    """
    dataset = to_xarray(policy, system)
    if "probability" in dataset:
        dataset["probability"] = dataset["probability"].max("choice")
        choices = [name for name in dataset.coords if str(name).startswith("choice")]
        dataset = dataset.drop_vars(choices)
    frame: pandas.DataFrame = dataset.to_dataframe().reset_index()
    frame.attrs["units"] = {
        name: array.attrs["units"]
        for name, array in dataset.variables.items()
        if "units" in array.attrs
    }
    return frame


def text(policy: LocalPolicy) -> str:
    """A policy in a few lines."""
    interface = policy.interface
    whose = "" if interface is None else f" for {interface.system}"
    lines = [f"{type(policy).__name__}{whose}: {policy.replicas} replica(s), {_extent(policy)}"]
    if interface is not None and interface.features is not None:
        axes = [axis.shown for axis in _axes(policy, interface)]
        counts = [f" ({len(axis.values)} classes)" if axis.values.size else "" for axis in axes]
        seen = [axis.label + count for axis, count in zip(axes, counts, strict=True)]
        lines.append(f"  sees   {', '.join(seen)}")
    if actions := _actions(interface):
        which = "between the" if policy.kind == "interpolated" else "one of"
        ranges = [
            ("" if len(actions) == 1 else f"{axis.name} ")
            + f"{axis.values.min():g} to {axis.values.max():g}"
            + ("" if axis.units == "1" else f" {axis.units}")
            for axis in actions
        ]
        lines.append(f"  does   {which} {len(actions[0].values)} actions, {', '.join(ranges)}")
    if interface is not None and interface.recalls:
        kept = ", ".join(recall.component for recall in interface.recalls)
        lines.append(f"  keeps  {kept}")
    return "\n".join(lines)


def html(policy: LocalPolicy) -> str:
    """A policy for a notebook, with the table of its first replica."""
    first, *others = text(policy).split("\n")
    parts = [markup.paragraph(line.strip()) for line in others]
    if policy.kind in EXPORTED:
        parts.append(_table(policy))
        if policy.replicas > 1:
            parts.append(markup.paragraph(f"replica 0 of {policy.replicas}"))
    return markup.card(first, *parts)


def _table(policy: LocalPolicy) -> str:
    """The first rows of the first replica, without the libraries that a whole table needs."""
    interface = policy.interface
    arrays = {name: array[0] for name, array in policy.to_arrays().items()}
    axes = [axis.shown for axis in _axes(policy, interface)]
    places = np.unravel_index(
        np.arange(math.prod(len(axis.values) for axis in axes)), [len(axis.values) for axis in axes]
    )
    columns: dict[str, list[Any]] = {
        axis.label: [_plain(value) for value in axis.values[place]]
        for axis, place in zip(axes, places, strict=True)
    }
    actions, chances = _actions(interface), arrays.get("probabilities")
    table = arrays.get("table") if chances is None else chances.argmax(axis=1)
    if table is not None:
        columns["action index"] = table.tolist()
    if "values" in arrays:
        scale = _scale(interface)
        label = Axis("action", units=scale.units).label
        columns[label] = list(markup.bars(arrays["values"] * scale.values[0]))
    elif table is not None:
        for axis in actions:
            columns[axis.label] = list(markup.bars(axis.values[table]))
    if chances is not None:
        columns["probability"] = list(markup.bars(chances.max(axis=1)))
    return markup.table(list(columns), list(zip(*columns.values(), strict=True)))


def _plain(value: Any) -> str | float:
    return value if isinstance(value, str) else float(value)


def _extent(policy: LocalPolicy) -> str:
    """How large the policy is, in words."""
    arrays = policy.to_arrays()
    if policy.kind == "mixed":
        return f"mixtures of {arrays['weights'].shape[1]} policies"
    if policy.kind == "linear":
        return f"{arrays['lead'].shape[2]} smooth features, {arrays['lead'].shape[1]} actions"
    if (chances := arrays.get("probabilities")) is not None:
        return f"{chances.shape[1]} classes of observations, {chances.shape[2]} actions"
    return f"{next(iter(arrays.values())).shape[1]} classes of observations"


def _axes(policy: LocalPolicy, interface: Interface | None) -> tuple[Axis, ...]:
    """The components of an observation; mere classes where they are not known."""
    size = next(iter(policy.to_arrays().values())).shape[1]
    if interface is not None and interface.features is not None:
        axes = interface.features.axes
        if policy.kind not in EXPORTED or math.prod(len(axis.values) for axis in axes) == size:
            return axes
    return (Axis("observation", np.arange(size)),)


def _actions(interface: Interface | None) -> tuple[Axis, ...]:
    """The components of actions as they are shown; none if not known, or no numbers."""
    if interface is None or interface.actions.dtype.kind not in "biuf":
        return ()
    axes = interface.action_axes
    return tuple(Axis(axis.name, axis.values + 0, axis.units).shown for axis in axes)


def _scale(interface: Interface | None) -> Axis:
    """One unit of action as it is shown."""
    units = "1" if interface is None else interface.action_axes[0].units
    return Axis("action", np.ones(1), units).shown
