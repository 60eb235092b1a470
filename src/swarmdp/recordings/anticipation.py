"""Whether individuals avoid others by distance, or by the time until they would collide.

Pairs that were recorded at the same time are compared with pairs of the same individuals at times
drawn at random, where none can have reacted to the other. How much rarer a situation is among the
recorded pairs is its interaction energy, E = -ln g (Karamouzas, Skinner and Guy, Phys. Rev. Lett.
113, 238701, 2014). If E is a function of the distance, the distance tells recorded pairs from drawn
ones better than the time to collision does, and the reverse. This is measured in nats on blocks of
time that were left out, for all pairs that move against each other: companions,
who keep beside each other, would only show that they like each other. To it is added by how many
nats turns and changes of speed are predicted better with the one than with the other.

Members of a group that keeps together are near each other whenever they are seen. Compared with
places at other times, every distance would show that, and nothing of whom they avoid. There places
and velocities are those in the frame of the group: its centre is at rest at the origin, and it
moves along the x axis.

The time to collision is that of two discs that go on as they move now. Their diameter, the contact
distance, is the one with which times to collision tell most.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from swarmdp.recordings.arena import Arena, Periodic
from swarmdp.recordings.decisions import Decisions
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Bools, Floats, Ints
from swarmdp.support.checks import check_number
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Seed
from swarmdp.support.rounding import with_error

MOST_PAIRS = 300_000  # recorded pairs; above, fewer times are looked at
DRAWN = 10  # pairs drawn at random for each recorded one, between these numbers
FEWEST_DRAWN, MOST_DRAWN = 300_000, 600_000
AGAINST = 0.3  # share of the mean speed with which a pair must move against each other
TOGETHER = 0.65  # median distance of recorded pairs over that of drawn ones, in a group, at most
APART = 0.9  # and at least, where an answer 'distance' cannot be due to what keeps them together
BLOCKS = 20  # of time
NEAREST = 0.001  # share of pairs that are nearer than the length by which all others are chosen
CONTACTS = np.geomspace(0.4, 1.6, 15)  # contact distances that are tried, in this length
FAR, NEAR = 24.0, 9.0  # lengths over mean speeds: longest time, and below which E is a power law
CLASSES = 18  # of times and of distances
SMOOTHING = 20.0  # pairs that are added to each estimate, as they were drawn
LEAST_MEETINGS = 100  # pairs on collision course, below which nothing is said
LEAST_SURE = 2.0  # standard errors by which one must be better
EXPONENTS = np.arange(0.2, 5.001, 0.05)
STRENGTHS = np.geomspace(0.02, 20.0, 80)
BOOTSTRAPS = 200

_CURVE = ("time", "energy", "energy_error")
_NUMBERS = (
    *("contact", "by_time", "by_distance", "difference", "difference_error"),
    *("reactions", "reactions_error", "exponent", "exponent_error", "near", "collisions"),
)
Answer = Literal["time to collision", "distance", "not told", "no encounters"]


@dataclass(frozen=True, eq=False)
class Anticipation:
    """Whether the time to collision or the distance decides where others are met.

    Parameters
    ----------
    answer
        "time to collision" or "distance", if one is better by two standard errors; "not told"
        otherwise, and where distances may tell no more than that individuals partly keep together;
        "no encounters" where hardly a pair is ever on collision course.
    pairs, meetings
        The number of pairs that move against each other, and of those on collision course.
    contact
        The contact distance in the unit of the recording: diameter of the discs that collide.
    by_time, by_distance
        How well each tells recorded pairs from drawn ones, in nats a pair on collision course.
    difference, difference_error
        By how much the time to collision is better in all, in the same unit.
    reactions, reactions_error
        The part of it that turns and changes of speed tell: by how much the time to collision
        predicts them better than the distance does.
    exponent, exponent_error
        E falls like tau ** -exponent, from one decision to `near` seconds.
    near
        See `exponent`; beyond it E is taken as zero.
    time, energy, energy_error
        What is drawn: E (n,) against the time to collision in seconds.
    collisions
        The share of all pairs, companions among them, that are nearer than `contact`.
    unit
        Of length.
    together
        Whether the individuals keep together, so that pairs are compared within the group.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> rng = np.random.default_rng(1)
    >>> steps = rng.normal(size=(2, 12, 2)).repeat(200, axis=0) * 0.02
    >>> tracks = np.cumsum(steps, axis=0)  # they never meet again
    >>> decisions = swarmdp.Recording(tracks, fps=2, unit="m").decisions(dt=0.5)
    >>> swarmdp.recordings.anticipation(decisions, seed=1).answer
    'no encounters'

    """

    answer: Answer
    pairs: int
    meetings: int
    contact: float
    by_time: float
    by_distance: float
    difference: float
    difference_error: float
    reactions: float
    reactions_error: float
    exponent: float
    exponent_error: float
    near: float
    time: Floats
    energy: Floats
    energy_error: Floats
    collisions: float
    unit: str
    together: bool = False

    @property
    def sentence(self) -> str:
        """The answer, with its numbers."""
        if self.answer == "no encounters":
            return (
                f"Whether individuals look ahead cannot be asked: {self.meetings} pairs are on "
                f"collision course, at least {LEAST_MEETINGS} are needed."
            )
        told = (
            f"{with_error(abs(self.difference), self.difference_error)} nats a pair on collision "
            f"course, {self.meetings} of them; contact at {self.contact:.2g} {self.unit}"
            f"{'; compared within the group, which keeps together' if self.together else ''}"
        )
        if self.answer == "distance":
            return (
                "Individuals react to the distance of others rather than to the time to collision "
                f"(better by {told})."
            )
        if self.answer == "not told":
            return (
                "Whether individuals react to the distance of others or to the time to collision "
                f"cannot be told (they differ by {told})."
            )
        said = (
            "Individuals avoid others by the time to collision rather than by distance (better by "
            f"{told})"
        )
        if math.isnan(self.exponent):
            return f"{said}."
        return (
            f"{said}; the interaction energy falls like tau^-p, p = "
            f"{with_error(self.exponent, self.exponent_error)}, below {self.near:.2g} s."
        )

    def __repr__(self) -> str:
        return self.sentence

    def to_plain(self) -> dict[str, Any]:
        """Plain data, from which `from_plain` makes it again."""
        plain = dict(vars(self))
        for name in _CURVE:
            plain[name] = plain[name].tolist()
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in plain.items()
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Anticipation":
        """What `to_plain` wrote."""
        known: dict[str, Any] = {
            name: math.nan if value is None else value for name, value in plain.items()
        }
        for name in _CURVE:
            known[name] = np.array(known[name], np.float64)
        return cls(**known)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Gaps (n, 2) and relative velocities (n, 2) of pairs, and the block of time of each (n,)."""

    gap: Floats
    velocity: Floats
    block: Ints

    @property
    def distance(self) -> Floats:
        """From one to the other (n,)."""
        return np.hypot(self.gap[:, 0], self.gap[:, 1])

    def among(self, kept: Bools) -> "Pairs":
        """Some of them."""
        return Pairs(self.gap[kept], self.velocity[kept], self.block[kept])


def time_to_collision(gap: Floats, velocity: Floats, contact: float) -> Floats:
    """Seconds until two discs with this distance at contact touch, if both go on (n,).

    Parameters
    ----------
    gap
        (n, 2): from one to the other.
    velocity
        (n, 2): of the other, as one sees it.
    contact
        The distance at which they touch.

    Returns
    -------
    Infinite where they never touch, 0 where they overlap.

    """
    square = (velocity**2).sum(axis=-1)
    closing = -(gap * velocity).sum(axis=-1)
    apart = (gap**2).sum(axis=-1) - contact**2
    root = closing**2 - square * apart
    hits = (root > 0) & (closing > 0) & (square > 0)
    safe = np.where(hits, square, 1.0)
    time = np.where(hits, (closing - np.sqrt(np.where(hits, root, 0.0))) / safe, np.inf)
    return np.where(apart < 0, 0.0, time)


@checked(skip=("decisions", "arena"))
def anticipation(
    decisions: Decisions,
    arena: Arena | None = None,
    *,
    contact: float | Literal["auto"] = "auto",
    seed: Seed = 0,
) -> Anticipation:
    """Whether individuals avoid others by distance or by the time to collision.

    Parameters
    ----------
    decisions
        Of `recording.decisions(dt=...)`: velocities are from the time before to the time after, so
        half the usual time between decisions is best.
    arena
        Where they were; only a periodic one matters.
    contact
        The distance at which two individuals touch, in the unit of the recording; "auto" takes the
        one with which times to collision tell most.
    seed
        Of the pairs that are drawn at random: same seed, same answer.

    Returns
    -------
    Anticipation
        The answer, its numbers, and the interaction energy as a curve.

    Raises
    ------
    InvalidInput
        If the contact distance is not positive.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=20, radius=0.3, noise=0.3)
    >>> tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=120, seed=1)["position"][0]
    >>> decisions = swarmdp.Recording(tracks, fps=1, unit="1").decisions(dt=1)
    >>> arena = swarmdp.recordings.Periodic((1.0, 1.0))
    >>> swarmdp.recordings.anticipation(decisions, arena).answer == "time to collision"
    False

    """
    if not isinstance(contact, str):
        check_number("contact", contact, positive=True)
    elif contact != "auto":
        raise InvalidInput(f'contact must be a positive number or "auto", got {contact!r}')
    pairs = _pairs(decisions, arena, seed)
    recorded, drawn, speed = pairs.recorded, pairs.drawn, pairs.speed
    scale = pairs.scale if isinstance(contact, str) else contact
    # Who is never seen for as long as an encounter takes has none.
    if not speed > 0 or not 0 < NEAR * scale / speed <= _usual_stay(decisions):
        return _no_encounters(decisions.unit, len(recorded.block), 0)
    times = decisions.dt, FAR * scale / speed
    if isinstance(contact, str):
        tried = scale * CONTACTS
        told = [_told(recorded, drawn, float(one), times) for one in tried]
        contact = float(tried[int(np.argmax([part.sum() for part in told]))])
    tau, other = (time_to_collision(part.gap, part.velocity, contact) for part in (recorded, drawn))
    meetings = int((tau < times[1]).sum())
    if meetings < LEAST_MEETINGS or times[1] < 3 * times[0] or not len(drawn.block):
        return _no_encounters(decisions.unit, len(recorded.block), meetings)
    by_time = _told(recorded, drawn, contact, times)
    edges = np.geomspace(scale / 2, times[1] * speed, CLASSES)
    by_distance = _cross_validated(recorded.distance, drawn.distance, edges, recorded.block)
    apart = by_time - by_distance
    from swarmdp.recordings.speed_rule import nats_of_looking_ahead

    reactions, reactions_error = nats_of_looking_ahead(decisions, arena, contact)
    # Both are logarithms of likelihoods: what pairs and what reactions tell is added up.
    difference = (float(apart.sum()) + reactions) / meetings
    error = math.hypot(float(np.sqrt(BLOCKS * apart.var(ddof=1))), reactions_error) / meetings
    answer: Answer = "not told"
    if difference > LEAST_SURE * error:
        answer = "time to collision"
    elif difference < -LEAST_SURE * error and (pairs.together or pairs.nearness >= APART):
        answer = "distance"
    near = NEAR / FAR * times[1]
    curve = _energies(tau, other, recorded.block, (times[0], near, times[1]), seed)
    return Anticipation(
        answer,
        len(recorded.block),
        meetings,
        contact,
        float(by_time.sum()) / meetings,
        float(by_distance.sum()) / meetings,
        difference,
        error,
        reactions / meetings,
        reactions_error / meetings,
        *curve[:2],
        near,
        *curve[2:],
        float((pairs.distances < contact).mean()),
        decisions.unit,
        pairs.together,
    )


def _usual_stay(decisions: Decisions) -> float:
    """How long an individual is usually seen, in seconds."""
    times = np.isfinite(decisions.headings).sum(axis=0)
    return float(np.median(times[times > 0])) * decisions.dt if times.any() else 0.0


def _no_encounters(unit: str, pairs: int, meetings: int) -> Anticipation:
    none = np.zeros(0)
    numbers: dict[str, Any] = dict.fromkeys(_NUMBERS, math.nan)
    curve: dict[str, Any] = dict.fromkeys(_CURVE, none)
    return Anticipation(
        answer="no encounters", pairs=pairs, meetings=meetings, unit=unit, **numbers, **curve
    )


@dataclass(frozen=True, eq=False)
class _Compared:
    """Pairs that move against each other, as recorded and as drawn."""

    recorded: Pairs
    drawn: Pairs
    speed: float  # mean, of one individual; of a group that keeps together as seen from within
    scale: float  # a distance that few pairs are nearer than
    distances: Floats  # of all recorded pairs
    nearness: float  # their median over that of drawn pairs

    @property
    def together(self) -> bool:
        """Whether the individuals are a group that keeps together."""
        return self.nearness < TOGETHER


def _pairs(decisions: Decisions, arena: Arena | None, seed: int) -> _Compared:
    """Recorded and drawn pairs that move against each other, in space or within a group."""
    sides = np.asarray(arena.sides) if isinstance(arena, Periodic) else None

    def shortest(gap: Floats) -> Floats:
        return gap if sides is None else gap - sides * np.round(gap / sides)

    places = decisions.positions
    step = shortest(places[2:] - places[:-2])
    joined = decisions.bouts[2:] == decisions.bouts[:-2]
    known = np.isfinite(step).all(axis=2) & np.isfinite(places[1:-1]).all(axis=2)
    time, individual = np.nonzero(known & joined[:, None])
    place, velocity = places[1:-1][time, individual], step[time, individual] / (2 * decisions.dt)
    rng = np.random.default_rng(seed)
    one, other = _at_same_time(time)
    numbers = decisions.recording_numbers[1:-1][time]
    count = int(np.clip(DRAWN * len(one), FEWEST_DRAWN, MOST_DRAWN))
    first, second = _at_any_time(individual, numbers, count, rng)
    seen = np.unique(time)
    block = np.searchsorted(seen, time) * BLOCKS // max(len(seen), 1)

    here, there = shortest(place[other] - place[one]), shortest(place[second] - place[first])
    recorded = Pairs(here, velocity[other] - velocity[one], block[one])
    drawn = Pairs(there, velocity[second] - velocity[first], block[first])
    near = recorded.distance
    usual = float(np.median(drawn.distance)) if len(first) and len(one) else 0.0
    nearness = float(np.median(near)) / usual if usual > 0 else 1.0
    if nearness < TOGETHER:
        place, velocity = _within_group(time, place, velocity, shortest)
        recorded, drawn = (
            Pairs(place[b] - place[a], velocity[b] - velocity[a], block[a])
            for a, b in ((one, other), (first, second))
        )
    speed = float(np.hypot(velocity[:, 0], velocity[:, 1]).mean()) if len(velocity) else 0.0
    against = [
        part.among(np.hypot(part.velocity[:, 0], part.velocity[:, 1]) > AGAINST * speed)
        for part in (recorded, drawn)
    ]
    left = against[0].distance
    scale = float(np.quantile(left, NEAREST)) if len(left) else 0.0
    return _Compared(against[0], against[1], speed, scale, near, nearness)


def _within_group(
    time: Ints, place: Floats, velocity: Floats, shortest: Callable[[Floats], Floats]
) -> tuple[Floats, Floats]:
    """Places and velocities (n, 2) as seen from the centre of the group, which moves along x."""
    begins = np.flatnonzero(np.diff(time, prepend=-1))
    sizes = np.diff(np.append(begins, len(time)))
    of_group = np.repeat(np.arange(len(begins)), sizes)
    # From its first member on, so that a group across the rim of a periodic arena is one group.
    away = shortest(place - place[begins][of_group])
    centre = np.add.reduceat(away, begins, axis=0) / sizes[:, None]
    mean = np.add.reduceat(velocity, begins, axis=0) / sizes[:, None]
    angle = np.arctan2(mean[:, 1], mean[:, 0])[of_group]
    cosine, sine = np.cos(angle), np.sin(angle)

    def turned(vector: Floats) -> Floats:
        x, y = vector.T
        return np.stack([x * cosine + y * sine, y * cosine - x * sine], axis=1)

    return turned(shortest(away - centre[of_group])), turned(velocity - mean[of_group])


def _at_same_time(time: Ints) -> tuple[Ints, Ints]:
    """All pairs of rows with the same time, of evenly fewer times where there are too many."""
    begins = np.flatnonzero(np.diff(time, prepend=-1))
    sizes = np.diff(np.append(begins, len(time)))
    every = max(1, math.ceil(float((sizes * (sizes - 1) / 2).sum()) / MOST_PAIRS))
    ones, others = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for begin, size in zip(begins[::every], sizes[::every], strict=True):
        one, other = np.triu_indices(size, 1)
        ones.append(begin + one)
        others.append(begin + other)
    return np.concatenate(ones), np.concatenate(others)


def _at_any_time(
    individual: Ints, recording: Ints, count: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Pairs of rows of different individuals of the same pooled recording."""
    ones, others = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number in np.unique(recording):
        rows = np.flatnonzero(recording == number)
        drawn = rows[rng.integers(len(rows), size=(2, max(1, count * len(rows) // len(recording))))]
        apart = individual[drawn[0]] != individual[drawn[1]]
        ones.append(drawn[0, apart])
        others.append(drawn[1, apart])
    return np.concatenate(ones), np.concatenate(others)


def _told(recorded: Pairs, drawn: Pairs, contact: float, times: tuple[float, float]) -> Floats:
    """What times to collision tell, in nats in each block of time that was left out."""
    edges = np.concatenate([[1e-9], np.geomspace(*times, CLASSES - 1)])
    tau, other = (time_to_collision(part.gap, part.velocity, contact) for part in (recorded, drawn))
    return _cross_validated(tau, other, edges, recorded.block)


def _cross_validated(values: Floats, drawn: Floats, edges: Floats, block: Ints) -> Floats:
    """The logarithm of how much likelier the values are than among drawn ones, in each block.

    Likelihoods are shares of classes in the other blocks.
    """
    classes = len(edges) + 1
    share = np.bincount(np.digitize(drawn, edges), minlength=classes) / max(len(drawn), 1)
    places = block * classes + np.digitize(values, edges)
    counts = np.bincount(places, minlength=BLOCKS * classes).reshape(BLOCKS, classes)
    rest = counts.sum(axis=0) - counts
    likely = (rest + SMOOTHING * share) / (rest.sum(axis=1, keepdims=True) + SMOOTHING)
    # A class without a drawn pair tells nothing.
    some = share > 0
    ratio = np.log(np.maximum(likely[:, some], 1e-12) / share[some])
    return np.asarray((counts[:, some] * ratio).sum(axis=1))


def _energies(
    tau: Floats, drawn: Floats, block: Ints, times: tuple[float, float, float], seed: int
) -> tuple[float, float, Floats, Floats, Floats]:
    """The exponent of the energy with its error, and the energy with errors against time.

    Energies are those of pairs on collision course, relative to those beyond the middle time. The
    exponent maximises the likelihood of the counts of classes below it.
    """
    first, near, far = times
    edges = np.append(np.geomspace(first, near, CLASSES // 2 + 1), far)
    middle = np.sqrt(edges[1:-1] * edges[:-2])
    expected = np.histogram(drawn, edges)[0].astype(np.float64)
    inside = (tau >= first) & (tau < far)
    places = block[inside] * (len(edges) - 1) + np.digitize(tau[inside], edges) - 1
    counts = np.bincount(places, minlength=BLOCKS * (len(edges) - 1))
    blocks = counts.reshape(BLOCKS, len(edges) - 1).astype(np.float64)
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(BLOCKS, np.full(BLOCKS, 1 / BLOCKS), size=BOOTSTRAPS)
    total, resampled = blocks.sum(axis=0), weights @ blocks
    if not expected.all() or not total[-1]:
        none = np.full(len(middle), np.nan)
        return math.nan, math.nan, middle, none, none
    energy, again = (_energy(part, expected) for part in (total[None], resampled))
    exponent, others = (
        _exponents(part, expected, middle, near) for part in (total[None], resampled)
    )
    return (
        float(exponent[0]),
        float(others.std()),
        middle,
        energy[0],
        np.asarray(again.std(axis=0)),
    )


def _energy(counts: Floats, expected: Floats) -> Floats:
    """-ln g of all classes but the last, whose energy is zero; half a pair where there is none."""
    level = np.maximum(counts[:, -1:], 0.5) / expected[-1]
    return np.asarray(-np.log(np.maximum(counts[:, :-1], 0.5) / expected[:-1] / level))


def _exponents(counts: Floats, expected: Floats, middle: Floats, near: float) -> Floats:
    """The likeliest exponent for each row of counts (rows, classes)."""
    # Strengths at a third of the last time, so that they hardly depend on the exponent.
    powers = (3 * middle / near) ** -EXPONENTS[:, None]
    energy = (STRENGTHS[:, None] * powers[:, None]).reshape(-1, len(middle))
    level = np.maximum(counts[:, -1], 0.5) / expected[-1]
    rates = (np.exp(-energy) @ expected[:-1])[None] * level[:, None]
    fit = -counts[:, :-1] @ energy.T - rates
    return np.asarray(EXPONENTS[fit.argmax(axis=1) // len(STRENGTHS)])


def half_interval(decisions: Decisions, fps: float) -> float:
    """Seconds between the times at which pairs are looked at: half a decision, or a frame."""
    return max(1, round(decisions.dt * fps / 2)) / fps
