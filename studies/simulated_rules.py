"""Swarms whose rule is known, as a biologist would record them.

Thirty individuals in a round tank, ten frames a second for five minutes, 1 % of the points missing,
errors of positions. The rules are written here on their own, not with the package: zones as in
Couzin's model, weighted sums of components, leaders, walkers that ignore each other, and fish that
burst and coast.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.recording import Recording

Floats = NDArray[np.float64]

FPS = 10.0
SECONDS = 300.0
SETTLING = 60.0  # seconds before the recording begins
ERROR = 0.02  # cm, standard deviation of a coordinate
GAPS = 0.01  # share of points that are missing


@dataclass(frozen=True)
class KnownRule:
    """What individuals do; lengths in cm, angles in radians, gains as shares of a turn.

    Without `priority` an individual turns towards the weighted sum of its heading and of the mean
    direction of each component; with it repulsion excludes the others, as in Couzin's model.
    """

    kind: str
    tank: float  # radius
    repulsion: float = 0.0  # reach; 0 for none
    alignment: float = 0.0  # reach, or the number of nearest neighbours
    attraction: float = 0.0  # reach
    topological: bool = False  # alignment is with the nearest ones
    priority: bool = False
    weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    most_turn: float = 0.25  # in a frame
    noise: float = 0.12  # of turns, in a frame
    leaders: int = 0
    speed: float = 6.0  # cm/s
    bursts: bool = False
    individuals: int = 30
    wall: float = 4.0  # cm from which the wall is avoided
    seconds: float = SECONDS


def draw_rule(kind: str, rng: np.random.Generator) -> KnownRule:
    """A rule of this kind with numbers drawn at random."""
    return KINDS[kind](rng)


def _zones(density: str) -> Callable[[np.random.Generator], KnownRule]:
    tank = {"sparse": 45.0, "middle": 30.0, "dense": 20.0}[density]

    def draw(rng: np.random.Generator) -> KnownRule:
        near = rng.uniform(1.5, 3.0)
        along = near * rng.uniform(3.0, 5.0)
        return KnownRule(
            f"zones, {density}",
            tank * rng.uniform(0.9, 1.1),
            repulsion=near,
            alignment=along,
            attraction=along * rng.uniform(1.8, 2.6),
            priority=True,
            noise=rng.uniform(0.08, 0.16),
        )

    return draw


def _attraction(rng: np.random.Generator) -> KnownRule:
    return KnownRule(
        "attraction only",
        rng.uniform(25.0, 35.0),
        attraction=rng.uniform(8.0, 20.0),
        weights=(0.0, 0.0, rng.uniform(0.5, 1.0)),
        noise=rng.uniform(0.1, 0.2),
    )


def _aligned(topological: bool) -> Callable[[np.random.Generator], KnownRule]:
    def draw(rng: np.random.Generator) -> KnownRule:
        reach = float(rng.integers(3, 9)) if topological else rng.uniform(6.0, 12.0)
        return KnownRule(
            "alignment, nearest" if topological else "alignment, radius",
            rng.uniform(25.0, 40.0),
            repulsion=rng.uniform(2.0, 4.0),
            alignment=reach,
            topological=topological,
            weights=(rng.uniform(0.8, 1.5), rng.uniform(0.6, 1.2), 0.0),
            noise=rng.uniform(0.1, 0.25),
        )

    return draw


def _leaders(rng: np.random.Generator) -> KnownRule:
    rule = _aligned(False)(rng)
    return replace(rule, kind="leaders", leaders=int(rng.integers(1, 5)))


def _walkers(rng: np.random.Generator) -> KnownRule:
    return KnownRule("independent", rng.uniform(20.0, 40.0), noise=rng.uniform(0.1, 0.3))


def _bursts(rng: np.random.Generator) -> KnownRule:
    rule = _aligned(False)(rng)
    return replace(
        rule,
        kind="burst and coast",
        bursts=True,
        noise=rng.uniform(0.2, 0.35),
        attraction=rule.alignment * rng.uniform(1.8, 2.5),
        weights=(rule.weights[0], rule.weights[1], 0.6),
        most_turn=0.8,
    )


KINDS: dict[str, Callable[[np.random.Generator], KnownRule]] = {
    "zones, sparse": _zones("sparse"),
    "zones, middle": _zones("middle"),
    "zones, dense": _zones("dense"),
    "attraction only": _attraction,
    "alignment, nearest": _aligned(True),
    "alignment, radius": _aligned(False),
    "leaders": _leaders,
    "independent": _walkers,
    "burst and coast": _bursts,
}


def record_rule(rule: KnownRule, seed: int) -> Recording:
    """The tracks of individuals with this rule, with errors and gaps."""
    rng = np.random.default_rng(seed)
    places = simulate_rule(rule, rng)
    tracks = places + ERROR * rng.standard_normal(places.shape)
    times, individuals, _ = tracks.shape
    missing = 0
    while missing < GAPS * times * individuals:
        length = int(rng.integers(1, 8))
        begin, who = rng.integers(times), rng.integers(individuals)
        tracks[begin : begin + length, who] = np.nan
        missing += length
    return Recording(tracks, fps=FPS, unit="cm")


def simulate_rule(rule: KnownRule, rng: np.random.Generator) -> Floats:
    """Places (times, individuals, 2) without errors; the first `leaders` ignore the others."""
    count = rule.individuals
    away = rule.tank * 0.5 * np.sqrt(rng.random(count))
    angle = rng.uniform(-math.pi, math.pi, count)
    place = np.stack([away * np.cos(angle), away * np.sin(angle)], axis=-1)
    heading = rng.uniform(-math.pi, math.pi, count)
    pace = np.zeros(count)
    phase = rng.integers(0, 8, count)
    kept = []
    settling = round(SETTLING * FPS)
    for step in range(settling + round(rule.seconds * FPS)):
        turn = _turns(rule, place, heading)
        turn[: rule.leaders] = _wall_turns(rule, place, heading)[: rule.leaders]
        noise = rule.noise * rng.standard_normal(count)
        pace = 0.9 * pace + math.sqrt(1 - 0.9**2) * rng.standard_normal(count)
        speed = rule.speed * np.exp(0.15 * pace)
        if rule.bursts:
            # A burst every eight frames or so: only then an individual turns.
            due = phase == 0
            phase = np.where(due, rng.integers(4, 10, count), phase - 1)
            heading = heading + np.where(due, turn + noise, 0.03 * noise)
            speed = speed * np.where(due, 1.5, 0.4 + 0.12 * phase)
        else:
            heading = heading + turn + noise
        place = place + (speed / FPS)[:, None] * np.stack([np.cos(heading), np.sin(heading)], -1)
        place, heading = _keep_inside(rule.tank, place, heading)
        if step >= settling:
            kept.append(place)
    return np.stack(kept)


def _keep_inside(tank: float, place: Floats, heading: Floats) -> tuple[Floats, Floats]:
    """Who is beyond the wall slides along it."""
    away = np.linalg.norm(place, axis=1)
    out = away > tank
    place = np.where(out[:, None], place * (tank / np.maximum(away, 1e-9))[:, None], place)
    angle = np.arctan2(place[:, 1], place[:, 0])
    off = _wrap(heading - angle)
    along = angle + np.where(off >= 0, math.pi / 2, -math.pi / 2)
    return place, np.where(out & (np.abs(off) < math.pi / 2), along, heading)


def _wall_turns(rule: KnownRule, place: Floats, heading: Floats) -> Floats:
    away = np.linalg.norm(place, axis=1)
    near = np.clip(1 - (rule.tank - away) / rule.wall, 0, 1)
    off = _wrap(np.arctan2(place[:, 1], place[:, 0]) - heading)
    facing = np.cos(off) > -0.2
    return np.where(facing, -0.4 * near * np.sign(off), 0.0)


def _turns(rule: KnownRule, place: Floats, heading: Floats) -> Floats:
    gap = place[None] - place[:, None]
    distance = np.hypot(gap[..., 0], gap[..., 1])
    np.fill_diagonal(distance, np.inf)
    # Of an individual to itself there is no direction.
    unit = gap / np.where(np.isfinite(distance), np.maximum(distance, 1e-9), 1.0)[..., None]
    own = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    near = distance < rule.repulsion
    if rule.topological:
        rank = np.argsort(np.argsort(distance, axis=1), axis=1)
        along = rank < rule.alignment
    else:
        along = (distance < rule.alignment) & ~near
    inner = rule.alignment if rule.priority else rule.repulsion
    far = (distance < rule.attraction) & (distance >= inner)
    away = -_mean(near, unit)
    same = _mean(along, np.broadcast_to(own[None], unit.shape))
    to = _mean(far, unit)
    if rule.priority:
        crowded = near.any(axis=1, keepdims=True)
        social = np.where(crowded, _unit(away), _unit(_sum(along, own, far, unit)))
        wanted = np.where(np.abs(social).sum(axis=1, keepdims=True) > 0, social, own)
    else:
        first, second, third = rule.weights
        wanted = own + first * away + second * same + third * to
    off = _wrap(np.arctan2(wanted[:, 1], wanted[:, 0]) - heading)
    return np.clip(off, -rule.most_turn, rule.most_turn) + _wall_turns(rule, place, heading)


def _sum(along: NDArray[np.bool_], own: Floats, far: NDArray[np.bool_], unit: Floats) -> Floats:
    total: Floats = along.astype(float) @ own + (far[..., None] * unit).sum(axis=1)
    return total


def _mean(zone: NDArray[np.bool_], vectors: Floats) -> Floats:
    total = (zone[..., None] * vectors).sum(axis=1)
    mean: Floats = total / np.maximum(zone.sum(axis=1), 1)[:, None]
    return mean


def _unit(vectors: Floats) -> Floats:
    size = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(size > 0, vectors / np.where(size > 0, size, 1.0), 0.0)


def _wrap(angle: Floats) -> Floats:
    return np.remainder(angle + math.pi, 2 * math.pi) - math.pi
