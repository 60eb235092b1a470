"""The Vicsek model in three dimensions: `swarmdp.Vicsek(dimensions=3)`.

Headings are unit vectors. Space has no left or right that all agents share, so an agent observes
only how far it is out of line, and turns by an angle towards the mean heading of its neighbours or,
negative, away from it. Where there is no such direction (it is in line, or headings cancel out),
it turns in a random one. The perturbation has the von Mises-Fisher distribution on the sphere: two
normal components for small noise, and any direction for large noise.

Plain NumPy with a search tree. Headings are summed in whole numbers, which are exact in any order:
a permutation of the agents permutes the result.
"""

import math
import threading
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model import sphere
from swarmdp.model.pictures import Arrows
from swarmdp.model.streams import Stream
from swarmdp.model.system import Field, State, arrays_of, check_run
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput

if TYPE_CHECKING:
    from swarmdp.systems.vicsek import Vicsek

_UNITS = float(2**30)  # of a component in whole numbers: sums of 2^22 agents are exact
_CANCELLED = 1e-6  # headings whose sum is shorter than this have no mean
_NOT_UNIT = 1e-6  # by which the length of a heading may differ from 1


class _LastMeans(threading.local):
    """The mean headings that this thread found last: a step asks for them twice."""

    def __init__(self) -> None:
        self.of: tuple[Any, ...] = ()
        self.setting: tuple[Any, ...] = ()
        self.means: Floats | None = None


_last = _LastMeans()


def fields_in_space(vicsek: "Vicsek") -> dict[str, Field]:
    """Positions, periodic if the box is, and headings as unit vectors."""
    return {
        "position": Field(
            "position, in the unit of the box's side",
            axes=("axis",),
            kind="position",
            period=vicsek.box if vicsek.periodic else None,
        ),
        "heading": Field("heading, a unit vector", axes=("axis",), kind="direction"),
    }


def initial_in_space(vicsek: "Vicsek", rng: Stream) -> State:
    """Agents uniformly in the cube, headings uniform on the sphere."""
    position = rng.uniform(0.0, vicsek.box, size=(3,))
    height, angle = rng.uniform(-1.0, 1.0), rng.uniform(-math.pi, math.pi)
    flat = np.sqrt(np.maximum(1 - height**2, 0.0))
    heading = np.stack([flat * np.cos(angle), flat * np.sin(angle), height], axis=-1)
    return {"position": position, "heading": sphere.unit(heading)}


def misalignment_in_space(vicsek: "Vicsek", state: State) -> Floats:
    """The angle (runs, agents) from each heading to the mean of its neighbours, from 0 to pi."""
    position, heading = floats_in_space(vicsek, state)
    return sphere.angles_between(heading, _mean_headings(vicsek, position, heading))


def fly_in_space(vicsek: "Vicsek", state: State, turn: Floats, rng: Stream) -> State:
    """Move along the heading before the turn, then turn towards the mean heading, and by chance."""
    position, heading = floats_in_space(vicsek, state)
    mean = _mean_headings(vicsek, position, heading)
    to_mean = sphere.turns_between(heading, mean)
    size = np.hypot(to_mean[..., 0], to_mean[..., 1])
    anywhere = rng.uniform(-math.pi, math.pi)
    direction = np.where(
        (size > _CANCELLED)[..., None],
        to_mean / np.where(size > 0, size, 1.0)[..., None],
        np.stack([np.cos(anywhere), np.sin(anywhere)], axis=-1),
    )
    turned = sphere.turn_headings(heading, turn[..., None] * direction)
    if vicsek.noise:
        turned = sphere.turn_headings(turned, _perturbation(vicsek.noise, rng))
    moved = position + vicsek.speed * heading
    if vicsek.periodic:
        moved = np.mod(moved, vicsek.box)
        moved[moved >= vicsek.box] = 0.0  # rounding
    return {"position": moved, "heading": turned}


def _perturbation(noise: float, rng: Stream) -> Floats:
    """Turns (runs, agents, 2) to the left and upwards, with this standard deviation if it is small.

    The cosine of a von Mises-Fisher angle with concentration 1 / noise^2, from its inverse
    distribution function; its mean is coth(1 / noise^2) - noise^2.
    """
    share, around = rng.uniform(), rng.uniform(-math.pi, math.pi)
    least = math.exp(-2 / noise**2) if noise > 0.05 else 0.0
    # 1 - cosine is computed, not the cosine: small angles would lose half of their digits.
    off = np.minimum(-(noise**2) * np.log(np.maximum(share + (1 - share) * least, 1e-300)), 2.0)
    angle = 2 * np.arcsin(np.sqrt(off / 2))
    direction = np.stack([np.cos(around), np.sin(around)], axis=-1)
    turns: Floats = angle[..., None] * direction
    return turns


def turns_in_space(vicsek: "Vicsek", before: State, after: State) -> Floats:
    """By how much agents came nearer to the mean heading that they saw, (runs, agents)."""
    position, heading = floats_in_space(vicsek, before)
    _, then = floats_in_space(vicsek, after)
    if heading.shape != then.shape:
        raise InvalidInput(
            f"both states must have the same runs and agents, got {heading.shape} and {then.shape}"
        )
    to_mean = sphere.turns_between(heading, _mean_headings(vicsek, position, heading))
    size = np.hypot(to_mean[..., 0], to_mean[..., 1])
    turned = sphere.turns_between(heading, then)
    along: Floats = (turned * to_mean).sum(axis=-1) / np.where(size > _CANCELLED, size, 1.0)
    return np.where(size > _CANCELLED, along, 0.0)


def order_in_space(heading: Floats) -> Floats:
    """The length of the mean heading (...) of headings (..., agents, 3)."""
    if heading.ndim < 2 or heading.shape[-1] != 3 or not heading.shape[-2]:
        raise InvalidInput(f"'heading' must be unit vectors (..., agents, 3), got {heading.shape}")
    if not np.isfinite(heading).all():
        raise InvalidInput("'heading' must be unit vectors, got NaN or infinity")
    mean = np.rint(heading * _UNITS).sum(axis=-2) / _UNITS / heading.shape[-2]
    length: Floats = np.sqrt(np.einsum("...a,...a->...", mean, mean))
    return length


def hops_in_space(vicsek: "Vicsek", position: Floats, agent: int) -> NDArray[np.int32]:
    """The number of hops (runs, agents) from one agent to the others; -1 where there is no way."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    hops = np.full(position.shape[:2], -1, np.int32)
    for run, places in enumerate(position):
        one, other = _tree(vicsek, places).query_pairs(vicsek.radius, output_type="ndarray").T
        links = csr_array((np.ones(len(one), np.int8), (one, other)), shape=(len(places),) * 2)
        order, before = breadth_first_order(links, agent, directed=False)
        hops[run, agent] = 0
        for reached in order[1:]:
            hops[run, reached] = hops[run, before[reached]] + 1
    return hops


def picture_in_space(vicsek: "Vicsek", swarm: Mapping[str, NDArray[Any]], run: int) -> Arrows:
    """The agents of one run as arrows, seen from above; a player can turn them."""
    check_run(swarm, run, "position", "heading")
    place, heading = swarm["position"][run], swarm["heading"][run]
    return Arrows(
        place[..., :2],
        np.arctan2(heading[..., 1], heading[..., 0]),
        window=(0.0, 0.0, vicsek.box) if vicsek.periodic else None,
        periodic=vicsek.periodic,
        heights=place[..., 2],
        climbs=np.arcsin(np.clip(heading[..., 2], -1.0, 1.0)),
    )


def floats_in_space(vicsek: "Vicsek", state: State) -> tuple[Floats, Floats]:
    """Positions and headings (runs, agents, 3), checked."""
    position, heading = arrays_of(state, position=np.float64, heading=np.float64)
    shape = (vicsek.n_agents, 3)
    if position.shape[1:] != shape or heading.shape[1:] != shape:
        raise InvalidInput(
            f"positions and headings must have the shape (runs, {shape[0]}, 3), got "
            f"{position.shape} and {heading.shape}"
        )
    low, high = (0.0, vicsek.box) if vicsek.periodic else (-1e100, 1e100)
    if not ((position >= low) & (position <= high)).all():
        raise InvalidInput(
            f"positions must be from {low:g} to {high:g}, got {position.min():.4g} to "
            f"{position.max():.4g}"
        )
    length = np.einsum("...a,...a->...", heading, heading)
    if not (np.abs(length - 1) < _NOT_UNIT).all():
        raise InvalidInput(
            f"headings must be unit vectors, got lengths from {np.sqrt(length.min()):.4g} to "
            f"{np.sqrt(length.max()):.4g}: divide them by their lengths"
        )
    return position, heading


def _mean_headings(vicsek: "Vicsek", position: Floats, heading: Floats) -> Floats:
    """The direction of the mean heading around each agent, itself included (runs, agents, 3)."""
    setting = (vicsek.radius, vicsek.nearest, vicsek.box, vicsek.periodic)
    same = _last.setting == setting and len(_last.of) == 2
    if same and _last.of[0]() is position and _last.of[1]() is heading:
        assert _last.means is not None
        return _last.means
    whole = np.rint(heading * _UNITS)
    sums = np.stack([_sums_around(vicsek, *run) for run in zip(position, whole, strict=True)])
    cancelled = np.abs(sums).sum(axis=-1) < _CANCELLED * _UNITS
    means = sphere.unit(np.where(cancelled[..., None], heading, sums))
    _last.of = (weakref.ref(position), weakref.ref(heading))
    _last.setting, _last.means = setting, means
    return means


def _sums_around(vicsek: "Vicsek", position: Floats, whole: Floats) -> Floats:
    """Sums (agents, 3) of whole-numbered headings over each agent and its neighbours."""
    agents, tree = len(position), _tree(vicsek, position)
    if vicsek.nearest is None:
        one, other = tree.query_pairs(vicsek.radius, output_type="ndarray").T
        sums = whole.copy()
        for axis in range(3):
            column = whole[:, axis]
            sums[:, axis] += np.bincount(one, column[other], minlength=agents)
            sums[:, axis] += np.bincount(other, column[one], minlength=agents)
        return np.asarray(sums)
    count = min(vicsek.nearest, agents - 1)
    distance, index = tree.query(tree.data, np.arange(1, min(count + 2, agents) + 1))
    sums = whole[index[:, : count + 1]].sum(axis=1)
    if count + 1 < agents:
        # All that are equally near count, so that the order of the tree does not.
        for i in np.flatnonzero(distance[:, count] == distance[:, count + 1]):
            sums[i] = whole[tree.query_ball_point(tree.data[i], distance[i, count])].sum(axis=0)
    return np.asarray(sums)


def _tree(vicsek: "Vicsek", position: Floats) -> Any:
    """A search tree for places (agents, 3)."""
    from scipy.spatial import KDTree

    if not vicsek.periodic:
        return KDTree(position)
    return KDTree(np.where(position >= vicsek.box, 0.0, position), boxsize=vicsek.box)
