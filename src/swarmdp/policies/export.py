"""Controllers as files: JSON to read again, CSV to look at, a C header for a robot."""

import csv
import io
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp._version import __version__
from swarmdp.model.features import Angles, Bins, Levels, Product
from swarmdp.model.system import System
from swarmdp.model.traits import Recall
from swarmdp.policies.blueprint import Blueprint, ExportedPart, edges_of
from swarmdp.policies.c_header import c_header
from swarmdp.policies.interface import Interface
from swarmdp.policies.local import LocalPolicy
from swarmdp.support import files
from swarmdp.support.arguments import checked
from swarmdp.support.errors import FileError, InvalidInput, SwarmdpError

_KIND = "swarmdp controller"
SCHEMA = 1


@runtime_checkable
class Exportable(Protocol):
    """A policy that can be taken away as a file.

    Examples
    --------
    >>> import swarmdp
    >>> isinstance(swarmdp.Policy([0, 1]), swarmdp.policies.Exportable)
    True

    """

    def export(
        self, path: str | os.PathLike[str], *, system: System | None = None, replica: int = 0
    ) -> Path:
        """Write the controller; see `write`."""


@checked
def write(
    policy: LocalPolicy,
    path: str | os.PathLike[str],
    *,
    system: System | None = None,
    replica: int = 0,
) -> Path:
    """Write the controller to a file for use elsewhere, atomically; return the path.

    Raises InvalidInput if the policy is not a table: only these can be exported.

    Parameters
    ----------
    policy
        Any policy: this is the method `export` of each.
    path
        Its ending chooses the format: .json (complete, `load_controller` reads it),
        .csv (a row for each class of observations) or .h (a C function).
    system
        The system that the policy was made for; a policy of a fit knows it.
    replica
        Which replica to write.

    """
    target = Path(path)
    writers: dict[str, Callable[[Blueprint], str]] = {
        ".json": to_json,
        ".csv": to_csv,
        ".h": c_header,
    }
    if target.suffix not in writers:
        raise InvalidInput(
            f"a controller's file must end in {', '.join(writers)}, got {str(path)!r}"
        )
    text = writers[target.suffix](Blueprint.of(policy, system, replica))
    files.write_text(target, text)
    return target


def to_json(blueprint: Blueprint) -> str:
    """Everything, as a text that `from_json` reads."""
    likeliest = {} if blueprint.kind == "interpolated" else {"table": blueprint.indices.tolist()}
    plain = {
        "kind": _KIND,
        "schema": SCHEMA,
        "swarmdp_version": __version__,
        "system": blueprint.system,
        "policy": blueprint.kind,
        "observation": {
            "product": blueprint.product,
            "classes": blueprint.size,
            "components": [_described(name, part) for name, part in blueprint.components],
        },
        "action": {
            **_described_actions(blueprint),
            "values": blueprint.actions.tolist(),
            "null": blueprint.null,
        },
        **({"recalls": list(map(astuple, blueprint.recalls))} if blueprint.recalls else {}),
        **likeliest,
        **{name: array.tolist() for name, array in blueprint.arrays.items()},
    }
    plain[files.DIGEST] = files.digest_of(plain)
    # One line for each entry: a person can read it, and a long table does not fill pages.
    lines = [f"  {json.dumps(key)}: {json.dumps(plain[key], allow_nan=False)}" for key in plain]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def from_json(plain: Any) -> tuple[str, dict[str, NDArray[Any]], Interface]:
    """The policy's kind, its arrays with an axis of one replica, and its interface."""
    if not isinstance(plain, Mapping) or plain.get("kind") != _KIND:
        raise InvalidInput("this is not a controller that swarmdp exported (entry 'kind')")
    if (schema := plain.get("schema")) != SCHEMA:
        raise InvalidInput(
            f"written by swarmdp {plain.get('swarmdp_version', '?')} in schema {schema}, this is "
            f"{__version__} and reads schema {SCHEMA}: export it again"
        )
    files.check_digest(plain)
    seen, done = plain["observation"], plain["action"]
    parts: dict[str, Any] = {part["name"]: _part(part) for part in seen["components"]}
    features = Product(**parts) if seen["product"] else next(iter(parts.values()))
    interface = Interface(
        plain["system"],
        features,
        np.array(done["values"]),
        done["units"] if isinstance(done["units"], str) else tuple(done["units"]),
        done["null"],
        tuple(done.get("names", ("action",))),
        tuple(Recall(*recall) for recall in plain.get("recalls", ())),
    )
    name = {"table": "table", "soft": "probabilities", "interpolated": "values"}[plain["policy"]]
    return plain["policy"], {name: np.array(plain[name])[None]}, interface


def to_csv(blueprint: Blueprint) -> str:
    """One row for each class of observations, with the units in the header."""
    rows = np.indices([part.size for _, part in blueprint.components])
    columns: list[tuple[str, list[Any]]] = [("class", list(range(blueprint.size)))]
    for place, (name, part) in zip(rows, blueprint.components, strict=True):
        where, edges = place.reshape(-1), edges_of(part)
        values = part.axes[0].values
        if edges is None:
            shown = {name: values[where]}
        else:
            shown = {
                f"{name} lower edge": edges[where],
                f"{name} centre": values[where],
                f"{name} upper edge": edges[where + 1],
            }
        columns += [(_headed(key, part.units), array.tolist()) for key, array in shown.items()]
    if blueprint.kind != "interpolated":
        columns.append(("action index", blueprint.indices.tolist()))
    axes, chances = blueprint.action_axes, blueprint.arrays.get("probabilities")
    values = blueprint.values
    for axis, column in zip(axes, values.T if values.ndim > 1 else values[None], strict=True):
        columns.append((_headed(axis.name, axis.units), _numbers(column)))
    if chances is not None:
        units = ", ".join(axis.units for axis in axes)
        for value, column in zip(_numbers(blueprint.actions), chances.T, strict=True):
            columns.append((_headed(f"probability of {value}", units), column.tolist()))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heading for heading, _ in columns)
    writer.writerows(zip(*(column for _, column in columns), strict=True))
    return text.getvalue()


def read(path: str | os.PathLike[str]) -> tuple[str, dict[str, NDArray[Any]], Interface, bool]:
    """What `from_json` tells of a file, and whether a digest vouches for it.

    Raises FileError if the file is not a controller's.
    """
    source = Path(path)
    text = files.read_text(source)
    try:
        plain = files.parse_json(text)
        return *from_json(plain), files.DIGEST in plain
    except (SwarmdpError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise FileError(5, f"cannot read {source}: {error}") from error


def _numbers(values: NDArray[Any]) -> list[Any]:
    """Plain numbers, also of booleans."""
    plain: list[Any] = (values + 0).tolist()
    return plain


def _described_actions(blueprint: Blueprint) -> dict[str, Any]:
    """The units of actions; of several components their names as well."""
    axes = blueprint.action_axes
    if blueprint.actions.ndim == 1:
        named = {} if axes[0].name == "action" else {"names": [axes[0].name]}
        return {"units": axes[0].units, **named}
    return {"units": [axis.units for axis in axes], "names": [axis.name for axis in axes]}


def _headed(name: str, units: str) -> str:
    return name if units == "1" else f"{name} [{units}]"


def _described(name: str, part: ExportedPart) -> dict[str, Any]:
    """One component as plain data; an open interval's edge is the text "inf" or "-inf"."""
    plain = {"name": name, "kind": type(part).__name__, "units": part.units, "size": part.size}
    edges = edges_of(part)
    if edges is not None:
        plain["edges"] = [edge if np.isfinite(edge) else str(edge) for edge in edges.tolist()]
    return {
        **plain,
        "centres" if edges is not None else "values": part.axes[0].values.tolist(),
        "periodic": part.axes[0].periodic,
    }


def _part(plain: Mapping[str, Any]) -> ExportedPart:
    """The component that `_described` described."""
    name, units = plain["name"], plain["units"]
    if plain["kind"] == "Bins":
        return Bins([float(edge) for edge in plain["edges"]], name, units)
    makers: dict[str, type[Angles] | type[Levels]] = {"Angles": Angles, "Levels": Levels}
    return makers[plain["kind"]](plain["size"], name, units)
