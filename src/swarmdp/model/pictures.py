"""What a swarm looks like, as plain data: a system makes it, figures and players draw it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Arrows:
    """Agents in the plane, or in space seen from above, at every time of one run.

    Parameters
    ----------
    positions
        (times, agents, 2): where the agents are.
    headings
        (times, agents) in radians; None to draw dots.
    window
        The left and lower edge and the side of what is shown; None for as much as the agents need.
    periodic
        Whether an agent that leaves the window comes back on its other side.
    steps_per_second
        How fast to show it.
    heights
        (times, agents): the third coordinate, for players that can be turned; None in the plane.
    climbs
        (times, agents): the angle of headings above the plane, in radians.
    present
        (times, agents): who is drawn; None for all.
    marks
        (times, marks, 2): what is drawn besides agents, as dots, such as outsiders of a recording.
        NaN where one is absent; None for none.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> positions, headings = np.zeros((3, 10, 2)), np.zeros((3, 10))    # 3 times, 10 agents
    >>> swarmdp.model.Arrows(positions, headings, window=(-1.0, -1.0, 2.0)).steps_per_second
    10

    """

    positions: NDArray[np.float64]
    headings: NDArray[np.float64] | None = None
    window: tuple[float, float, float] | None = None
    periodic: bool = False
    steps_per_second: int = 10
    heights: NDArray[np.float64] | None = None
    climbs: NDArray[np.float64] | None = None
    present: NDArray[np.bool_] | None = None
    marks: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        place = np.asarray(self.positions, np.float64)
        if place.ndim != 3 or place.shape[2] != 2:
            raise InvalidInput(
                f"the positions of a picture must have the shape (times, agents, 2), got "
                f"{place.shape}"
            )
        for name in ("headings", "heights", "climbs", "present"):
            values = getattr(self, name)
            if values is not None and np.shape(values) != place.shape[:2]:
                raise InvalidInput(
                    f"the {name} of a picture must have the shape {place.shape[:2]}, got "
                    f"{np.shape(values)}"
                )
        if self.marks is not None and np.shape(self.marks)[::2] != place.shape[::2]:
            raise InvalidInput(
                f"the marks of a picture must have the shape ({len(place)}, marks, 2), got "
                f"{np.shape(self.marks)}"
            )


@checked
@dataclass(frozen=True, eq=False)
class Grid:
    """Cells in rows and columns, at every time of one run.

    Parameters
    ----------
    values
        (times, rows, columns): whole numbers, or yes and no.
    steps_per_second
        How fast to show it. At 5, a swarm that blinks in every step flashes less than three times a
        second, the limit for viewers with photosensitive epilepsy.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> swarmdp.model.Grid(np.zeros((3, 8, 8), bool)).values.shape    # 3 times
    (3, 8, 8)

    """

    values: NDArray[Any]
    steps_per_second: int = 5

    def __post_init__(self) -> None:
        if np.ndim(self.values) != 3:
            raise InvalidInput(
                f"a grid must have the shape (times, rows, columns), got {np.shape(self.values)}"
            )
