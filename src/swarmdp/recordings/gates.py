"""Where individuals come into the field of view and leave it: a corridor is not a box.

A track that begins or ends while others are there either crosses the rim of what was recorded, or
was lost by the tracking tool. At a wall nobody crosses.
"""

from dataclasses import dataclass

import numpy as np

from swarmdp.recordings.decisions import Decisions
from swarmdp.support.arrays import Bools, Floats

LEAST_GROUP = 3  # individuals, whose centre is that of a group
LEAST_ENDS = 10  # of tracks, by which an open rim is known
OPEN_SHARE = 0.25  # of all ends of tracks that cross the rim of an open field of view, at least
TRAVEL = 10.0  # times its own size that a group must go within a stretch to be in open space
OPEN_FACTOR = 3.0  # and this many times the share of all points that are about to cross it
_AHEAD = 2.0  # decisions: a track has its first heading at the second, and may end before the next
_NEAR = 0.06  # of half the size of the field: this near to its rim an end counts as at it


@dataclass(frozen=True, eq=False)
class Crossings:
    """Where tracks begin and end while others are there; outwards in time for both."""

    places: Floats  # (n, 2)
    ways: Floats  # (n, 2): the way of one decision out of the field, backwards in time if it begins

    def across(self, field: Floats) -> Bools:
        """Which of them (n,) are about to leave the convex field of these places (m, 2)."""
        from scipy.spatial import ConvexHull

        hull = ConvexHull(field)
        normals, offsets = hull.equations[:, :2], hull.equations[:, 2]
        margin = _NEAR * float(np.ptp(field, axis=0).max()) / 2
        length = np.maximum(np.linalg.norm(self.ways, axis=1, keepdims=True), 1e-300)
        beyond = self.places + _AHEAD * self.ways + margin * self.ways / length
        out: Bools = (beyond @ normals.T + offsets > 0).any(axis=1)
        return out


def crossings(decisions: Decisions) -> Crossings:
    """Where tracks begin and end, other than with the recording or at a pause."""
    there, bouts = np.isfinite(decisions.headings), decisions.bouts
    places, ways = [], []
    way = _ways(decisions)
    rows = np.arange(decisions.times)
    first = np.array([rows[bouts == number][0] for number in range(bouts[-1] + 1)])
    last = np.array([rows[bouts == number][-1] for number in range(bouts[-1] + 1)])
    for column in range(decisions.individuals):
        here = there[:, column]
        begins = np.flatnonzero(here & ~np.append(False, here[:-1]))
        ends = np.flatnonzero(here & ~np.append(here[1:], False))
        for t in begins[begins > first[bouts[begins]] + 1]:
            places.append(decisions.positions[t, column])
            ways.append(-way[t, column])
        for t in ends[ends < last[bouts[ends]]]:
            places.append(decisions.positions[t, column])
            ways.append(way[t, column])
    return Crossings(np.array(places).reshape(-1, 2), np.array(ways).reshape(-1, 2))


def _ways(decisions: Decisions) -> Floats:
    """The way of one decision (time, individual, 2)."""
    unit = np.stack([np.cos(decisions.headings), np.sin(decisions.headings)], axis=-1)
    way: Floats = unit * (decisions.speeds * decisions.dt)[..., None]
    return way


def has_open_rim(decisions: Decisions) -> bool:
    """Whether tracks that begin or end do so across the rim of what was recorded.

    Compared with all points: also at a wall some individuals head for it at any time.
    """
    ends = crossings(decisions)
    if len(ends.places) < LEAST_ENDS:
        return False
    places = decisions.positions[decisions.known]
    if len(places) < LEAST_ENDS or not np.ptp(places, axis=0).min() > 0:
        return False
    usual = float(Crossings(places, _ways(decisions)[decisions.known]).across(places).mean())
    return float(ends.across(places).mean()) >= max(OPEN_SHARE, OPEN_FACTOR * usual)


def travel(decisions: Decisions) -> tuple[float, float]:
    """How far the centre of the group goes within a stretch of time, and the size of the group.

    Returns
    -------
    distance
        The largest distance of the centre from where it was when the stretch began.
    size
        The median distance of individuals from the centre.

    """
    places = np.where(decisions.known[..., None], decisions.positions, 0.0)
    count = decisions.known.sum(axis=1)
    centre = places.sum(axis=1) / np.maximum(count, 1)[:, None]
    away = np.linalg.norm(decisions.positions - centre[:, None], axis=2)[decisions.known]
    furthest, several = 0.0, count >= LEAST_GROUP
    for number in range(decisions.bouts[-1] + 1):
        way = centre[several & (decisions.bouts == number)]
        if len(way):
            furthest = max(furthest, float(np.linalg.norm(way - way[0], axis=1).max()))
    return furthest, float(np.median(away)) if len(away) else 0.0


def why_open(decisions: Decisions) -> str:
    """Why a recording is taken as open space, in words; empty if nothing shows it."""
    if has_open_rim(decisions):
        return "individuals come and go across the rim of what was recorded"
    far, size = travel(decisions)
    if size > 0 and far >= TRAVEL * size:
        return (
            f"the group goes {far:.3g} {decisions.unit} within a stretch, {far / size:.0f} times "
            "its own size"
        )
    return ""
