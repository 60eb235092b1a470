"""Headings that a log tells: in which unit they are, and from where they are counted.

Tables seldom say it, but individuals mostly move where they head. So the way of counting is the one
that agrees best with the movement, and headings that agree with none are not used.
"""

import numpy as np

from swarmdp.support.arrays import Floats

AGREES = 0.5  # mean cosine of the angle between heading and movement, at least
LEAST_STEPS = 20  # of individuals that move, by which it is known
_FULL_TURN = 2 * np.pi + 0.1
_DEGREES = ("deg", "degree", "degrees", "°")
_RADIANS = ("rad", "radian", "radians")
_COUNTED = {
    "counted from the x axis towards the y axis": (0.0, 1),
    "counted from the x axis away from the y axis": (0.0, -1),
    "counted from the y axis towards the x axis, as of a compass": (np.pi / 2, -1),
    "counted from the y axis away from the x axis": (np.pi / 2, 1),
}  # where zero is, and the sign


def logged_headings(name: str, values: Floats, positions: Floats) -> tuple[Floats | None, str]:
    """Headings in radians from the x axis towards the y axis (time, individual), and what to say.

    Parameters
    ----------
    name
        Of the column, which may tell the unit.
    values
        (time, individual): what the column holds; NaN where there is nothing.
    positions
        (time, individual, 2): where they were.

    Returns
    -------
    headings
        None if they do not agree with the movement however they are counted, or nobody moves.
    note
        What was found.

    """
    unit, angles = _in_radians(name, values)
    steps = np.diff(positions, axis=0)
    length = np.linalg.norm(steps, axis=2)
    moved = np.isfinite(length) & (length > 0) & np.isfinite(angles[1:])
    if moved.sum() < LEAST_STEPS:
        return None, f"column {name!r} may be the heading, but too few move to tell: not used"
    far = moved & (length >= np.median(length[moved]))
    ways = np.arctan2(steps[..., 1], steps[..., 0])[far]
    agreement = {
        how: float(np.cos(zero + sign * angles[1:][far] - ways).mean())
        for how, (zero, sign) in _COUNTED.items()
    }
    best = max(agreement, key=agreement.__getitem__)
    if agreement[best] < AGREES:
        return None, (
            f"column {name!r} may be the heading, but does not agree with the movement (mean "
            f"cosine {agreement[best]:.2f}): not used"
        )
    zero, sign = _COUNTED[best]
    return zero + sign * angles, (
        f"headings are column {name!r}, in {unit}, {best} (mean cosine with the movement "
        f"{agreement[best]:.2f})"
    )


def _in_radians(name: str, values: Floats) -> tuple[str, Floats]:
    """The unit that the name tells, or that the range of the values does, and the angles."""
    words = name.lower().replace("[", " ").replace("]", " ").replace("(", " ").replace(")", " ")
    told = words.replace("_", " ").replace("/", " ").split()
    known = values[np.isfinite(values)]
    degrees = any(word in told for word in _DEGREES)
    if not degrees and not any(word in told for word in _RADIANS):
        degrees = bool(len(known)) and float(np.abs(known).max()) > _FULL_TURN
    return ("degrees", np.radians(values)) if degrees else ("radians", values)
