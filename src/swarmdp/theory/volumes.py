"""The share of all rewards that lies in a cone, for rewards uniform on the sphere.

A direction drawn uniformly on the sphere is that of a vector of independent normal numbers, and
only the directions that matter count. In one or two of them the share is an angle, and exact. In
more it is estimated: by counting while enough draws hit the cone, and by splitting when it is so
narrow that hardly any do.

Splitting: a sequence of wider domains rows . x >= -level leads from everywhere to the cone, each
holding about half of the one before. Particles that are in the next domain are multiplied and moved
about in it by elliptical slice sampling, whose steps are exact for linear domains: no step is ever
rejected. The product of the surviving shares is an unbiased estimate for domains fixed beforehand
(a pilot run fixes them); independent repetitions give its error.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.streams import Part, derived_seed
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput, SolverError
from swarmdp.support.memory import check_memory
from swarmdp.support.ranges import Seed, at_least
from swarmdp.theory.cones import Cone

ENOUGH_HITS = 400  # for counting: a relative error of five per cent
BATCH = 2**22  # numbers that are drawn at a time
NORMAL = 1.959964  # 95 % of a normal distribution
MOST_LEVELS = 2000
AtLeastTwo = Annotated[int, at_least(2)]
_MOVES = 6  # steps of elliptical slice sampling at each level


@checked(nan=True)
@dataclass(frozen=True)
class Share:
    """A share of the sphere, as a logarithm, with an interval that covers it with 95 %.

    Parameters
    ----------
    log
        The natural logarithm of the share; -inf for nothing.
    error
        The standard error of the logarithm.
    log_low
        The lower end of the interval, as a logarithm.
    log_high
        Its upper end.
    method
        "exact", "counting" or "splitting".

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> cone = theory.characterize(ring, ring.expert).local_cone
    >>> found = theory.share(cone, seed=1, draws=1000)
    >>> found.log_low <= found.log <= found.log_high
    True

    """

    log: float
    error: float
    log_low: float
    log_high: float
    method: str

    @property
    def value(self) -> float:
        """The share itself; zero where it is too small for a number."""
        return math.exp(self.log)

    def __truediv__(self, other: "Share") -> "Share":
        """The ratio of two shares that were measured independently."""
        log, error = self.log - other.log, math.hypot(self.error, other.error)
        reach = NORMAL * error
        method = "exact" if error == 0 else "ratio"
        return Share(log, error, log - reach, log + reach, method)


@checked
def share(
    cone: Cone,
    *,
    seed: Seed,
    draws: AtLeastTwo = 200_000,
    particles: AtLeastTwo = 400,
    repetitions: AtLeastTwo = 16,
) -> Share:
    """The share of rewards, uniform on the sphere, that lie in a cone.

    Parameters
    ----------
    cone
        Of rewards (d,).
    seed
        Same seed, same estimate.
    draws
        The number of rewards that are counted, where counting will do.
    particles
        Of the splitting, where it will not.
    repetitions
        Of the splitting, for its error.

    Returns
    -------
    Share
        The share with an interval that covers it with 95 %.

    Raises
    ------
    InvalidInput
        If an argument is not of the kind, shape or range that is named above.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> cone = theory.characterize(ring, ring.expert).local_cone
    >>> 0 < theory.share(cone, seed=1, draws=1000).value < 1
    True

    """
    if not len(cone.rows):
        return _exact(1.0)
    if cone.central.margin == 0:
        return _exact(0.0)
    rows = cone.rows @ cone.basis.T
    if rows.shape[1] == 1:
        return _exact(0.5)
    if rows.shape[1] == 2:
        return _exact(_angle(rows) / (2 * math.pi))
    hits = _count(rows, draws, np.random.default_rng(derived_seed(seed, Part.COUNTING)))
    if hits >= ENOUGH_HITS:
        return _wilson_share(hits, draws)
    return _split(rows, seed, particles, repetitions)


@checked
def draw_rewards(cone: Cone, count: AtLeastTwo, *, seed: Seed) -> Floats:
    """Rewards (count, d) of length one, uniform among those in a cone.

    Particles that were led into the cone by splitting, and moved about in it once more: not quite
    independent of each other. They are uniform in all d directions, also in those that do not
    matter to this cone: they may matter to another (those that matter to R_G need not to R_L).

    Parameters
    ----------
    cone
        Of rewards (d,).
    count
        How many rewards to draw.
    seed
        Same seed, same rewards.

    Returns
    -------
    array
        Rewards (count, d) of length one.

    Raises
    ------
    InvalidInput
        If the cone is empty, or too narrow to be found.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> cone = theory.characterize(ring, ring.expert).local_cone
    >>> theory.draw_rewards(cone, 2, seed=1).shape
    (2, 3)

    """
    if len(cone.rows) and cone.central.margin == 0:
        raise InvalidInput("the cone has no interior: no reward in it can be drawn")
    needed = 16 * count * (cone.dimension + len(cone.rows))
    check_memory(needed, f"drawing {count} rewards", "Draw fewer of them")
    rng = np.random.default_rng(derived_seed(seed, Part.DRAWING))
    rewards = rng.normal(size=(count, cone.dimension))
    if len(cone.rows):
        rows = cone.rows @ cone.basis.T
        points = rng.normal(size=(count, rows.shape[1]))
        for level in _levels(
            rows, count, np.random.default_rng(derived_seed(seed, Part.DRAWING_LEVELS))
        ):
            score = (points @ rows.T).min(axis=1)
            while not (score >= -level).any():  # few points: by way of the best one
                between = -float(score.max())
                points = _move_points(rows, _resample(points, score >= -between, rng), between, rng)
                score = (points @ rows.T).min(axis=1)
            points = _move_points(rows, _resample(points, score >= -level, rng), level, rng)
        for _ in range(3):
            points = _move_points(rows, points, 0.0, rng)
        rewards += (points - rewards @ cone.basis.T) @ cone.basis
    drawn: Floats = rewards / np.linalg.norm(rewards, axis=1, keepdims=True)
    return drawn


def _exact(value: float) -> Share:
    log = math.log(value) if value > 0 else -math.inf
    return Share(log, 0.0, log, log, "exact")


def _angle(rows: Floats) -> float:
    """The angle of a plane cone with interior: half a turn less the spread of its normals."""
    middle = rows.sum(axis=0)  # the normals lie within half a turn, so their sum is between them
    turn = np.arctan2(rows[:, 1], rows[:, 0]) - math.atan2(middle[1], middle[0])
    turn = (turn + math.pi) % (2 * math.pi) - math.pi
    return math.pi - float(np.ptp(turn))


def _count(rows: Floats, draws: int, rng: np.random.Generator) -> int:
    hits, batch = 0, max(1, BATCH // len(rows))
    for begin in range(0, draws, batch):
        points = rng.normal(size=(min(batch, draws - begin), rows.shape[1]))
        hits += int((points @ rows.T >= 0).all(axis=1).sum())
    return hits


def _wilson_share(hits: int, draws: int) -> Share:
    """Wilson's interval of a share of draws."""
    share, z2 = hits / draws, NORMAL**2
    middle = (share + z2 / (2 * draws)) / (1 + z2 / draws)
    spread = math.sqrt(share * (1 - share) / draws + z2 / (4 * draws**2))
    reach = NORMAL * spread / (1 + z2 / draws)
    error = math.sqrt((1 - share) / hits)
    high = min(middle + reach, 1.0)
    return Share(math.log(share), error, math.log(middle - reach), math.log(high), "counting")


def _split(rows: Floats, seed: int, particles: int, repetitions: int) -> Share:
    rng = np.random.default_rng(derived_seed(seed, Part.SPLITTING))
    levels = _levels(rows, particles, rng)
    logs = _estimates(rows, levels, particles, repetitions, rng)
    top = logs.max()
    if not np.isfinite(top):
        raise SolverError(
            f"all {particles} particles were lost in all repetitions: take more particles"
        )
    scaled = np.exp(logs - top)
    mean = scaled.mean()
    log = float(top + np.log(mean))
    error = float(scaled.std(ddof=1) / math.sqrt(repetitions) / mean)
    from scipy.stats import t

    reach = float(t.ppf(0.975, repetitions - 1)) * error
    return Share(log, error, log - reach, log + reach, "splitting")


def _levels(rows: Floats, particles: int, rng: np.random.Generator) -> list[float]:
    """Levels such that about half of the particles in each domain are in the next."""
    points = rng.normal(size=(particles, rows.shape[1]))
    levels: list[float] = []
    while len(levels) < MOST_LEVELS:
        score = (points @ rows.T).min(axis=1)
        level = max(0.0, -float(np.median(score)))
        levels.append(level)
        if level == 0:
            return levels
        points = _move_points(rows, _resample(points, score >= -level, rng), level, rng)
    raise SolverError(f"the cone is too narrow: not reached after {MOST_LEVELS} halvings")


def _estimates(
    rows: Floats, levels: list[float], particles: int, repetitions: int, rng: np.random.Generator
) -> Floats:
    """The logarithms of independent unbiased estimates (repetitions,), all moved on together."""
    points = rng.normal(size=(repetitions, particles, rows.shape[1]))
    logs = np.zeros(repetitions)
    for level in levels:
        inside = (points @ rows.T).min(axis=2) >= -level
        survivors = inside.sum(axis=1)
        with np.errstate(divide="ignore"):
            logs += np.log(survivors / particles)
        # A repetition without survivors has estimated zero; its particles only keep the shape.
        inside[survivors == 0] = True
        alive = survivors > 0
        points = np.stack([_resample(p, i, rng) for p, i in zip(points, inside, strict=True)])
        flat = points[alive].reshape(-1, rows.shape[1])
        points[alive] = _move_points(rows, flat, level, rng).reshape(-1, *points.shape[1:])
    return logs


def _resample(points: Floats, inside: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    """As many points as before, drawn from those inside."""
    survivors = points[inside]
    return survivors[rng.integers(len(survivors), size=len(points))]


def _move_points(rows: Floats, points: Floats, level: float, rng: np.random.Generator) -> Floats:
    """Points (n, d) moved about within rows . x >= -level, leaving the normal law in it unchanged.

    A step goes to a uniformly random point of the ellipse through the point x and a fresh draw y,
    x cos(angle) + y sin(angle), among those in the domain. Each inequality forbids one arc of
    angles, and never the angle zero.
    """
    for _ in range(_MOVES):
        fresh = rng.normal(size=points.shape)
        along, across = points @ rows.T, fresh @ rows.T
        radius = np.hypot(along, across)
        half = np.arccos(np.minimum(level / radius, 1.0))  # half of the forbidden arc
        start = (np.arctan2(across, along) + math.pi - half) % (2 * math.pi)
        order = np.argsort(start, axis=1)
        start = np.take_along_axis(start, order, axis=1)
        end = np.minimum(start + 2 * np.take_along_axis(half, order, axis=1), 2 * math.pi)
        reached = np.maximum.accumulate(end, axis=1)
        edge = np.zeros((len(points), 1))
        free_from = np.concatenate([edge, reached], axis=1)
        free_to = np.concatenate([start, edge + 2 * math.pi], axis=1)
        free = np.cumsum(np.maximum(free_to - free_from, 0.0), axis=1)
        length = rng.uniform(size=(len(points), 1)) * free[:, -1:]
        arc = (free <= length).sum(axis=1, keepdims=True).clip(max=free.shape[1] - 1)
        rest = np.take_along_axis(free, arc, axis=1) - length
        angle = np.take_along_axis(free_to, arc, axis=1) - rest
        moved = points * np.cos(angle) + fresh * np.sin(angle)
        # Rounding may put a point just outside: it stays where it was.
        legal = ((moved @ rows.T).min(axis=1) >= -level)[:, None]
        points = np.where(legal, moved, points)
    return points
