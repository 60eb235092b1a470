"""Swarms of several kinds of individuals, whose members are known.

Thirty individuals as in `simulated_rules.py`, ten frames a second for five minutes, with errors of
positions and gaps: leaders, individuals that react to nobody, fast and slow ones, two species,
three kinds at once, and groups of one kind in which individuals vary a little.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from studies.simulated_rules import (
    ERROR,
    FPS,
    GAPS,
    SETTLING,
    Floats,
    KnownRule,
    _keep_inside,
    _turns,
    _wall_turns,
    draw_rule,
)
from swarmdp.recordings.recording import Recording

MIXTURES = ("leaders", "deaf", "fast and slow", "two species", "three kinds")
SAME = ("alignment, radius", "alignment, nearest", "attraction only", "zones, middle")


@dataclass(frozen=True)
class Mixed:
    """Rules, each with its number of members, and how much individuals of a kind vary."""

    name: str
    rules: tuple[KnownRule, ...]
    members: tuple[int, ...]
    vary: float = 0.03  # standard deviation of the logarithm of speed and of reactions

    @property
    def kinds(self) -> int:
        """The number of kinds."""
        return len(self.rules)


def _deaf(rule: KnownRule) -> KnownRule:
    """The same without any reaction to others."""
    return replace(rule, repulsion=0.0, alignment=0.0, attraction=0.0, topological=False)


def _leaders(rng: np.random.Generator) -> Mixed:
    rule = draw_rule("alignment, radius", rng)
    count = int(rng.integers(3, 7))
    lead = replace(_deaf(rule), noise=0.6 * rule.noise)
    return Mixed("leaders", (rule, lead), (30 - count, count))


def _some_deaf(rng: np.random.Generator) -> Mixed:
    rule = draw_rule("alignment, nearest", rng)
    count = int(rng.integers(6, 13))
    return Mixed("deaf", (rule, _deaf(rule)), (30 - count, count))


def _fast(rng: np.random.Generator) -> Mixed:
    rule = draw_rule("alignment, radius", rng)
    count = int(rng.integers(8, 16))
    fast = replace(rule, speed=rule.speed * rng.uniform(1.3, 1.8))
    return Mixed("fast and slow", (rule, fast), (30 - count, count))


def _species(rng: np.random.Generator) -> Mixed:
    rule = draw_rule("alignment, radius", rng)
    count = int(rng.integers(10, 16))
    strong = rng.uniform(0.5, 1.0)
    other = replace(
        rule, alignment=rule.repulsion, attraction=rng.uniform(10, 20), weights=(1.0, 0.0, strong)
    )
    return Mixed("two species", (rule, other), (30 - count, count))


def _three(rng: np.random.Generator) -> Mixed:
    rule = draw_rule("alignment, radius", rng)
    fast = replace(rule, speed=rule.speed * rng.uniform(1.35, 1.8))
    some, few = int(rng.integers(8, 12)), int(rng.integers(5, 9))
    return Mixed("three kinds", (rule, fast, _deaf(rule)), (30 - some - few, some, few))


DRAWS: dict[str, Callable[[np.random.Generator], Mixed]] = {
    "leaders": _leaders,
    "deaf": _some_deaf,
    "fast and slow": _fast,
    "two species": _species,
    "three kinds": _three,
}


def draw_mixture(name: str, rng: np.random.Generator) -> Mixed:
    """A mixture of this name, or one kind with a rule of this name, drawn at random."""
    if name in DRAWS:
        return DRAWS[name](rng)
    return Mixed(name, (draw_rule(name, rng),), (30,))


def record_mixture(mixed: Mixed, seed: int) -> tuple[Recording, NDArray[np.int64]]:
    """The tracks of a mixture in random order, and the kind of each individual."""
    rng = np.random.default_rng(seed)
    kind = rng.permutation(np.repeat(np.arange(mixed.kinds), mixed.members))
    places = _simulate(mixed, kind, rng)
    tracks = places + ERROR * rng.standard_normal(places.shape)
    times, individuals, _ = tracks.shape
    missing = 0
    while missing < GAPS * times * individuals:
        length = int(rng.integers(1, 8))
        begin, who = rng.integers(times), rng.integers(individuals)
        tracks[begin : begin + length, who] = np.nan
        missing += length
    return Recording(tracks, fps=FPS, unit="cm"), kind


def _simulate(mixed: Mixed, kind: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """Places (times, individuals, 2) without errors."""
    count = len(kind)
    rule = mixed.rules[0]
    away = rule.tank * 0.5 * np.sqrt(rng.random(count))
    angle = rng.uniform(-math.pi, math.pi, count)
    place = np.stack([away * np.cos(angle), away * np.sin(angle)], axis=-1)
    heading = rng.uniform(-math.pi, math.pi, count)
    pace = np.zeros(count)
    faster, keener = np.exp(mixed.vary * rng.standard_normal((2, count)))
    speeds = np.array([one.speed for one in mixed.rules])[kind] * faster
    noises = np.array([one.noise for one in mixed.rules])[kind]
    settling = round(SETTLING * FPS)
    kept = []
    for step in range(settling + round(rule.seconds * FPS)):
        turn = np.zeros(count)
        for number, one in enumerate(mixed.rules):
            walls = _wall_turns(one, place, heading)
            wanted = walls + keener * (_turns(one, place, heading) - walls)
            turn = np.where(kind == number, wanted, turn)
        pace = 0.9 * pace + math.sqrt(1 - 0.9**2) * rng.standard_normal(count)
        heading = heading + turn + noises * rng.standard_normal(count)
        way = (speeds * np.exp(0.15 * pace) / FPS)[:, None]
        place = place + way * np.stack([np.cos(heading), np.sin(heading)], -1)
        place, heading = _keep_inside(rule.tank, place, heading)
        if step >= settling:
            kept.append(place)
    return np.stack(kept)
