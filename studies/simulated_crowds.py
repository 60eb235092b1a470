"""Crowds whose law is known: people who avoid others by distance, or by the time to collision.

Everybody walks to a goal of their own through a periodic square, with a preferred speed of their
own, and is pushed away from others: either by how near they are (an exponential of the distance,
as in the social force model) or by how soon they would collide if both went on as they do
(the energy k tau^-p exp(-tau / tau0) of Karamouzas, Skinner and Guy, Phys. Rev. Lett. 113, 2014).
The same people may travel as a flock (`record_flock`): in open space, in a common direction that
wanders, each drawn to the middle of all.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

import swarmdp
from swarmdp.recordings.arena import Periodic
from swarmdp.support.arrays import Floats

STEP = 0.05  # seconds of the simulation
SECONDS = 150.0
RELAXATION = 0.5  # seconds in which people return to the velocity that they prefer
STRONGEST = 5.0  # m/s^2 that a push may be
CONTACT_PUSH = 20.0  # m/s^2 for a metre of overlap
SETTLING = 20.0  # seconds before the recording begins
PULL = 0.1  # m/s for a metre from the middle of a flock
SWERVING = 0.3  # radians a second^0.5 by which the way of a flock wanders, and ways within it
KEEPING = 0.05  # share of the angle to the flock's way that is lost in a second
FLOCK_DENSITY = 0.25  # people in a square metre, at the start

Law = Literal["distance", "time to collision"]


@dataclass(frozen=True)
class Crowd:
    """The numbers of a crowd; lengths in metres, times in seconds."""

    law: Law
    people: int
    side: float
    contact: float  # diameter of a person
    strength: float  # m/s^2 at contact, or the energy k in m^2/s^2
    range: float  # metres over which pushes fall by e, or tau0 in seconds
    exponent: float  # p of the energy
    speed: float
    speed_spread: float
    wandering: float  # radians a second^0.5 by which goals turn
    rate: float  # recorded frames a second
    error: float  # of recorded positions


def draw_crowd(law: Law, rng: np.random.Generator) -> Crowd:
    """A crowd with random numbers."""
    people = int(rng.integers(15, 41))
    by_distance = law == "distance"
    return Crowd(
        law,
        people,
        side=float(np.sqrt(people / rng.uniform(0.1, 0.4))),
        contact=float(rng.uniform(0.3, 0.6)),
        strength=float(rng.uniform(2.0, 6.0) if by_distance else rng.uniform(1.0, 2.5)),
        range=float(rng.uniform(0.3, 0.8) if by_distance else rng.uniform(2.0, 4.0)),
        exponent=2.0,
        speed=float(rng.uniform(1.0, 1.5)),
        speed_spread=float(rng.uniform(0.15, 0.35)),
        wandering=float(rng.uniform(0.02, 0.1)),
        rate=float(rng.choice([2.5, 5.0, 10.0])),
        error=float(rng.uniform(0.005, 0.03)),
    )


def arena_of(crowd: Crowd) -> Periodic:
    """The square in which it walks."""
    return Periodic((crowd.side, crowd.side))


def record_crowd(crowd: Crowd, seed: int, seconds: float = SECONDS) -> swarmdp.Recording:
    """Minutes of a crowd as they might be tracked, with errors of positions."""
    rng = np.random.default_rng(seed)
    count = crowd.people
    place = rng.uniform(0, crowd.side, (count, 2))
    goal = rng.uniform(-np.pi, np.pi, count)
    paces = np.maximum(rng.normal(crowd.speed, crowd.speed_spread, count), 0.3)
    velocity = paces[:, None] * np.stack([np.cos(goal), np.sin(goal)], axis=1)
    every = round(1 / (crowd.rate * STEP))
    frames = []
    for step in range(round((seconds + SETTLING) / STEP)):
        goal = goal + crowd.wandering * np.sqrt(STEP) * rng.standard_normal(count)
        wanted = paces[:, None] * np.stack([np.cos(goal), np.sin(goal)], axis=1)
        push = pushes(crowd, place, velocity)
        velocity = velocity + STEP * ((wanted - velocity) / RELAXATION + push)
        velocity = velocity + 0.2 * np.sqrt(STEP) * rng.standard_normal((count, 2))
        place = (place + STEP * velocity) % crowd.side
        if step * STEP >= SETTLING and step % every == 0:
            frames.append(place)
    tracks = np.array(frames) + crowd.error * rng.standard_normal((len(frames), count, 2))
    return swarmdp.Recording(tracks % crowd.side, fps=crowd.rate, unit="m")


def record_flock(crowd: Crowd, seed: int, seconds: float = SECONDS) -> swarmdp.Recording:
    """The same people travelling together, with errors of positions."""
    rng = np.random.default_rng(seed)
    count, anywhere = crowd.people, replace(crowd, side=1e7)
    place = rng.uniform(0, np.sqrt(count / FLOCK_DENSITY), (count, 2))
    goal, common = rng.normal(0, 0.5, count), 0.0
    paces = np.maximum(rng.normal(crowd.speed, crowd.speed_spread, count), 0.3)
    velocity = paces[:, None] * np.stack([np.cos(goal), np.sin(goal)], axis=1)
    every = round(1 / (crowd.rate * STEP))
    frames = []
    for step in range(round((seconds + SETTLING) / STEP)):
        common += SWERVING * np.sqrt(STEP) * rng.standard_normal()
        goal = (1 - KEEPING * STEP) * goal + SWERVING * np.sqrt(STEP) * rng.standard_normal(count)
        way = np.stack([np.cos(goal + common), np.sin(goal + common)], axis=1)
        wanted = paces[:, None] * way - PULL * (place - place.mean(axis=0))
        push = pushes(anywhere, place, velocity)
        velocity = velocity + STEP * ((wanted - velocity) / RELAXATION + push)
        velocity = velocity + 0.2 * np.sqrt(STEP) * rng.standard_normal((count, 2))
        place = place + STEP * velocity
        if step * STEP >= SETTLING and step % every == 0:
            frames.append(place)
    tracks = np.array(frames) + crowd.error * rng.standard_normal((len(frames), count, 2))
    return swarmdp.Recording(tracks, fps=crowd.rate, unit="m")


def pushes(crowd: Crowd, place: Floats, velocity: Floats) -> Floats:
    """The acceleration of each person because of the others (people, 2)."""
    gap = place[None] - place[:, None]  # from a row's person to a column's
    gap -= crowd.side * np.round(gap / crowd.side)
    square = (gap**2).sum(axis=2)
    np.fill_diagonal(square, np.inf)
    distance = np.sqrt(square)
    away = -gap / np.maximum(distance, 1e-9)[..., None]
    overlap = np.clip(crowd.contact - distance, 0.0, None)
    total = (CONTACT_PUSH * overlap[..., None] * away).sum(axis=1)
    if crowd.law == "distance":
        size = crowd.strength * np.exp((crowd.contact - distance) / crowd.range)
        total += (np.minimum(size, STRONGEST)[..., None] * away).sum(axis=1)
    else:
        total += _anticipated(crowd, gap, square, velocity).sum(axis=1)
    size = np.linalg.norm(total, axis=1, keepdims=True)
    return np.asarray(total * np.minimum(1.0, STRONGEST / np.maximum(size, 1e-9)))


def _anticipated(crowd: Crowd, gap: Floats, square: Floats, velocity: Floats) -> Floats:
    """Minus the gradient of the energy of each pair (people, people, 2)."""
    closing = velocity[:, None] - velocity[None]
    a = (closing**2).sum(axis=2)
    b = (gap * closing).sum(axis=2)
    c = square - crowd.contact**2
    root = b**2 - a * np.where(np.isfinite(c), c, 0.0)
    hits = (a > 1e-9) & (b > 0) & (c > 0) & np.isfinite(c) & (root > 1e-9)
    a, root = np.where(hits, a, 1.0), np.sqrt(np.where(hits, root, 1.0))
    tau = np.maximum(np.where(hits, (b - root) / a, 1.0), 0.05)
    slope = closing - (b[..., None] * closing - a[..., None] * gap) / root[..., None]
    energy = crowd.strength * tau**-crowd.exponent * np.exp(-tau / crowd.range)
    size = energy * (crowd.exponent / tau + 1 / crowd.range) / a
    return np.where(hits[..., None], -size[..., None] * slope, 0.0)
