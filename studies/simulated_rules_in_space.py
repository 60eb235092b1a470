"""Swarms in three dimensions whose rule is known, as a biologist would record them.

The rules of `studies/simulated_rules.py` in a spherical tank: thirty individuals, ten frames a
second for five minutes, 1 % of the points missing, errors of positions. They climb less than they
turn to the sides: each decision takes back a part of the climb.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from studies.simulated_rules import ERROR, FPS, GAPS, SETTLING, KnownRule, draw_rule
from swarmdp.recordings.recording import Recording

Floats = NDArray[np.float64]

KINDS = (
    "zones, sparse",
    "zones, middle",
    "zones, dense",
    "attraction only",
    "alignment, nearest",
    "alignment, radius",
    "leaders",
    "independent",
)
_NARROWER = 0.6  # radius of the tank, as a share of that in the plane: space has more room
# Groups that attract each other stay together in any tank, and need one wider than their zones.


@dataclass(frozen=True)
class SpaceRule:
    """A rule of the plane, and how much of the climb is taken back in each frame."""

    rule: KnownRule
    level: float


def draw_space_rule(kind: str, rng: np.random.Generator) -> SpaceRule:
    """A rule of this kind with numbers drawn at random."""
    rule = draw_rule(kind, rng)
    share = 1.0 if rule.attraction else _NARROWER
    return SpaceRule(replace(rule, tank=share * rule.tank), rng.uniform(0.03, 0.1))


def record_space_rule(known: SpaceRule, seed: int) -> Recording:
    """The tracks of individuals with this rule, with errors and gaps."""
    rng = np.random.default_rng(seed)
    places = simulate_space_rule(known, rng)
    tracks = places + ERROR * rng.standard_normal(places.shape)
    times, individuals, _ = tracks.shape
    missing = 0
    while missing < GAPS * times * individuals:
        length = int(rng.integers(1, 8))
        begin, who = rng.integers(times), rng.integers(individuals)
        tracks[begin : begin + length, who] = np.nan
        missing += length
    return Recording(tracks, fps=FPS, unit="cm")


def simulate_space_rule(known: SpaceRule, rng: np.random.Generator) -> Floats:
    """Places (times, individuals, 3) without errors; the first `leaders` ignore the others."""
    rule = known.rule
    count = rule.individuals
    place = _unit(rng.standard_normal((count, 3))) * rule.tank * 0.5
    place *= np.cbrt(rng.random(count))[:, None]
    heading = _unit(rng.standard_normal((count, 3)))
    pace = np.zeros(count)
    kept = []
    settling = round(SETTLING * FPS)
    for step in range(settling + round(rule.seconds * FPS)):
        wanted = _wanted(rule, place, heading)
        wanted[: rule.leaders] = heading[: rule.leaders]
        turned = _turn_towards(heading, wanted, rule.most_turn)
        turned = _from_the_wall(rule, place, turned)
        turned = _unit(turned - known.level * np.array([0.0, 0.0, 1.0]) * turned[:, 2:])
        # Noise has two parts across the heading.
        noise = rule.noise * rng.standard_normal((count, 3))
        noise -= (noise * turned).sum(axis=1, keepdims=True) * turned
        heading = _unit(turned + noise)
        pace = 0.9 * pace + math.sqrt(1 - 0.9**2) * rng.standard_normal(count)
        place = place + (rule.speed * np.exp(0.15 * pace) / FPS)[:, None] * heading
        place, heading = _keep_inside(rule.tank, place, heading)
        if step >= settling:
            kept.append(place)
    return np.stack(kept)


def _wanted(rule: KnownRule, place: Floats, heading: Floats) -> Floats:
    gap = place[None] - place[:, None]
    distance = np.linalg.norm(gap, axis=2)
    np.fill_diagonal(distance, np.inf)
    unit = gap / np.where(np.isfinite(distance), np.maximum(distance, 1e-9), 1.0)[..., None]
    near = distance < rule.repulsion
    if rule.topological:
        along = np.argsort(np.argsort(distance, axis=1), axis=1) < rule.alignment
    else:
        along = (distance < rule.alignment) & ~near
    inner = rule.alignment if rule.priority else rule.repulsion
    far = (distance < rule.attraction) & (distance >= inner)
    away = -_mean(near, unit)
    if rule.priority:
        crowded = near.any(axis=1, keepdims=True)
        total = along.astype(float) @ heading + (far[..., None] * unit).sum(axis=1)
        social = np.where(crowded, _unit(away), _unit(total))
        return np.where(np.abs(social).sum(axis=1, keepdims=True) > 0, social, heading)
    same = _mean(along, np.broadcast_to(heading[None], unit.shape))
    first, second, third = rule.weights
    wanted: Floats = heading + first * away + second * same + third * _mean(far, unit)
    return wanted


def _turn_towards(heading: Floats, wanted: Floats, most: float) -> Floats:
    """Headings after turning towards other directions, by no more than an angle."""
    wanted = _unit(wanted)
    cosine = np.clip((heading * wanted).sum(axis=1), -1.0, 1.0)
    angle = np.minimum(np.arccos(cosine), most)[:, None]
    across = _unit(wanted - cosine[:, None] * heading)
    return _unit(np.cos(angle) * heading + np.sin(angle) * across)


def _from_the_wall(rule: KnownRule, place: Floats, heading: Floats) -> Floats:
    away = np.linalg.norm(place, axis=1, keepdims=True)
    outwards = place / np.maximum(away, 1e-9)
    near = np.clip(1 - (rule.tank - away) / rule.wall, 0, 1)
    cosine = (heading * outwards).sum(axis=1, keepdims=True)
    across = _unit(outwards - cosine * heading)
    angle = np.where(cosine > -0.2, 0.4 * near, 0.0)
    return _unit(np.cos(angle) * heading - np.sin(angle) * across)


def _keep_inside(tank: float, place: Floats, heading: Floats) -> tuple[Floats, Floats]:
    """Who is beyond the wall slides along it."""
    away = np.linalg.norm(place, axis=1, keepdims=True)
    outwards = place / np.maximum(away, 1e-9)
    out = away > tank
    place = np.where(out, outwards * tank, place)
    towards = (heading * outwards).sum(axis=1, keepdims=True)
    along = _unit(heading - towards * outwards)
    return place, np.where(out & (towards > 0), along, heading)


def _mean(zone: NDArray[np.bool_], vectors: Floats) -> Floats:
    total = (zone[..., None] * vectors).sum(axis=1)
    mean: Floats = total / np.maximum(zone.sum(axis=1), 1)[:, None]
    return mean


def _unit(vectors: Floats) -> Floats:
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(size > 0, vectors / np.where(size > 0, size, 1.0), 0.0)
