"""Rewards with names: what a swarm does that collects them.

Each was planned and watched with the system's defaults, and is called by what was seen then
(`tests/studio/test_presets.py` measures it). Two groups that keep apart were looked for in the
Vicsek model and not found: a neighbourhood of six agents has no steady mean to be beside. Spins
that are rewarded for like and for unlike neighbours may rest or blink, and collect the same;
planning, which always has the same seed, finds the blinking ones.
"""

from dataclasses import dataclass

import numpy as np

from swarmdp.model.system import System
from swarmdp.support.arrays import Floats
from swarmdp.systems.ising import Ising
from swarmdp.systems.vicsek import Vicsek


@dataclass(frozen=True)
class Preset:
    """A reward with a name, and in words what its swarm does."""

    name: str
    words: str
    weights: tuple[float, ...]


def presets_of(system: System) -> list[Preset]:
    """The named rewards of a system; none of systems that are not known here."""
    if isinstance(system, Vicsek):
        return _of_angles(system)
    return _of_levels(system) if isinstance(system, Ising) else []


def _of_angles(system: Vicsek) -> list[Preset]:
    degrees = system.features.blocks[0][0].shown.values

    def peak(at: float, width: float) -> Floats:
        away = (degrees - at + 180) % 360 - 180
        height: Floats = np.exp(-0.5 * (away / width) ** 2)
        return height

    return [
        _preset("align", "all fly the same way", peak(0, 20)),
        _preset("turn away", "each turns away from its neighbours: no order", peak(180, 30)),
        _preset("circle", "the whole flock turns to the right, together", peak(10, 20)),
        _preset(
            "fan out",
            "all go one way, half of them to the left of it and half to the right",
            peak(45, 15) + peak(-45, 15),
        ),
    ]


def _of_levels(system: Ising) -> list[Preset]:
    shares = np.arange(system.n_neighbours + 1) / system.n_neighbours
    a_third = np.exp(-0.5 * (12 * (shares - 1 / 3)) ** 2)
    return [
        _preset("agree", "patches of one spin grow", 1 - 2 * shares),
        _preset("disagree", "fine lines: each spin has many unlike neighbours", 2 * shares - 1),
        _preset("spots", "restless spots come and go", a_third),
        _preset("blink", "patches flip in every step", (2 * shares - 1) ** 2),
    ]


def _preset(name: str, words: str, weights: Floats) -> Preset:
    scaled = weights / np.abs(weights).max()
    return Preset(name, words, tuple(round(float(weight), 3) for weight in scaled))
