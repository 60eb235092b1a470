"""What an observation means: a sentence for each class of an axis, and how it can be sketched."""

from typing import Any

from swarmdp.model.features import Axis
from swarmdp.model.system import System
from swarmdp.systems.ising import Ising

HEADINGS, NEIGHBOURS = "headings", "neighbours"


def meaning_of(system: System, axis: Axis) -> dict[str, Any]:
    """Sentences for all classes of an axis as it is shown, and the kind of sketch; plain data.

    An agent whose neighbours' mean heading is to its left flies to their right: that is where the
    circle of rewards has positive angles, with the neighbours' heading at its top.
    """
    if axis.name == "misalignment" and axis.units == "degrees":
        words = [_beside(float(value)) for value in axis.values]
        return {"sketch": HEADINGS, "words": words}
    if axis.name == "bearing" and axis.units == "degrees":
        return {"sketch": None, "words": [_towards(float(value)) for value in axis.values]}
    if isinstance(system, Ising):
        most = system.n_neighbours
        words = [f"{count} of {most} neighbours have the other spin" for count in range(most + 1)]
        return {"sketch": NEIGHBOURS, "words": words, "side": 2 * system.reach + 1}
    return {"sketch": None, "words": [axis.written(place) for place in range(len(axis.values))]}


def _beside(degrees: float) -> str:
    if abs(degrees) < 0.5:
        return "it flies as its neighbours do"
    if abs(degrees) > 179.5:
        return "it flies against its neighbours"
    side = "right" if degrees > 0 else "left"
    return f"it flies {abs(degrees):.3g}° to the {side} of its neighbours"


def _towards(degrees: float) -> str:
    if abs(degrees) < 0.5:
        return "its neighbours are ahead"
    if abs(degrees) > 179.5:
        return "its neighbours are behind"
    return f"its neighbours are {abs(degrees):.3g}° to the {'left' if degrees > 0 else 'right'}"
