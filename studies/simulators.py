"""Three simulators of other projects, each with a scripted expert, as systems.

- simple_spread of mpe2: agents that push themselves about, one for each landmark
- pursuit of PettingZoo: pursuers on a grid, two of them catch an evader
- the Boid flockers of Mesa, steered from outside
"""

import math
import sys
import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from swarmdp.envs import BlackBox, from_pettingzoo, from_step

Floats = NDArray[np.float64]

# simple_spread: a push moves an agent by 0.2 before it has come to rest.
REST = 0.4  # how far an agent goes on, for each unit of its velocity
NEAR = 0.1


def spread_env(agents: int = 5, cycles: int = 60) -> Any:
    """A new environment of simple_spread."""
    from mpe2 import simple_spread_v3

    return simple_spread_v3.parallel_env(N=agents, max_cycles=cycles)


def spread_observed(raw: Floats) -> NDArray[np.int64]:
    """Where an agent's landmark is: here, left, right, below or above (0 to 4).

    Every agent sees all landmarks and all others, so all can agree who goes where: of the pairs of
    agent and landmark the nearest is matched first.
    """
    agents = raw.shape[1] // 6  # 4 + 2 N + 4 (N - 1) numbers
    classes = np.zeros(len(raw), np.int64)
    for n, row in enumerate(raw.astype(np.float64)):
        landmarks = row[4 : 4 + 2 * agents].reshape(agents, 2)
        others = row[4 + 2 * agents : 4 + 2 * agents + 2 * (agents - 1)].reshape(agents - 1, 2)
        places = np.vstack([np.zeros(2), others])
        gaps = np.linalg.norm(places[:, None] - landmarks, axis=2)
        landmark = 0
        for _ in range(agents):
            agent, landmark = divmod(int(np.argmin(gaps)), agents)
            if agent == 0:
                break
            gaps[agent], gaps[:, landmark] = np.inf, np.inf
        x, y = landmarks[landmark] - REST * row[:2]
        if max(abs(x), abs(y)) > NEAR:
            classes[n] = (2 if x > 0 else 1) if abs(x) >= abs(y) else (4 if y > 0 else 3)
    return classes


def spread_positions(env: Any) -> Floats:
    """Where the agents are."""
    return np.array([agent.state.p_pos for agent in env.unwrapped.world.agents])


def spread(agents: int = 5, **more: Any) -> BlackBox:
    """simple_spread with an expert that goes to its landmark."""
    return from_pettingzoo(
        partial(spread_env, agents),
        observe=spread_observed,
        features=swarmdp.Levels(5, name="landmark"),
        expert=lambda seen: seen,
        mirror=swarmdp.model.Mirror(_left_and_right, _left_and_right),
        positions=spread_positions,
        name="simple_spread",
        settings={"agents": agents},
        horizon=60,
        **more,
    )


def _left_and_right(side: NDArray[Any]) -> NDArray[Any]:
    other: NDArray[Any] = np.array([0, 2, 1, 3, 4])[side]
    return other


# pursuit: 0 left, 1 right, 2 up, 3 down, 4 stay; an observation is walls, allies, evaders.


def pursuit_env(agents: int = 8, cycles: int = 60) -> Any:
    """A new environment of pursuit; two pursuers on an evader's cell catch it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from pettingzoo.sisl import pursuit_v5
    return pursuit_v5.parallel_env(
        n_pursuers=agents, n_evaders=8, x_size=10, y_size=10, surround=False, max_cycles=cycles
    )


def pursuit_observed(raw: Floats) -> NDArray[np.int64]:
    """Where the nearest evader is.

    From 0 to 3: farther than one cell, to the left, right, above or below; from 4 to 7: in the next
    cell there; 8: here; 9: out of sight.
    """
    evaders = raw[..., 2]
    reach = evaders.shape[1] // 2
    x, y = np.meshgrid(*(np.arange(-reach, reach + 1),) * 2)  # rows are y, columns x
    far = np.where(evaders > 0, np.abs(x) + np.abs(y), 99).reshape(len(raw), -1)
    nearest, gap = far.argmin(axis=1), far.min(axis=1)
    dx, dy = x.ravel()[nearest], y.ravel()[nearest]
    # Quarters of the plane, each with one of its edges: no direction is favoured.
    right, left, up = (dx > dy) & (dx >= -dy), (dx < dy) & (dx <= -dy), (dy >= dx) & (dy > -dx)
    side = np.select([left, right, up], [0, 1, 2], 3)
    return np.select([gap == 0, gap == 1, gap == 99], [8, side + 4, 9], side)


def pursuit(agents: int = 8, **more: Any) -> BlackBox:
    """Pursuit with an expert that goes to the nearest evader that it sees."""
    return from_pettingzoo(
        partial(pursuit_env, agents),
        observe=pursuit_observed,
        features=swarmdp.Levels(10, name="nearest evader"),
        expert=lambda seen: np.where(seen < 8, seen % 4, 4),
        null=4,
        # Half a turn: nearly a symmetry. `check_system` refuses it (docs/environments.md).
        mirror=swarmdp.model.Mirror(_opposite_class, _opposite_move),
        name="pursuit",
        settings={"agents": agents},
        horizon=60,
        **more,
    )


def _opposite_class(seen: NDArray[Any]) -> NDArray[Any]:
    other: NDArray[Any] = np.array([1, 0, 3, 2, 5, 4, 7, 6, 8, 9])[seen]
    return other


def _opposite_move(move: NDArray[Any]) -> NDArray[Any]:
    other: NDArray[Any] = np.array([1, 0, 3, 2, 4])[move]
    return other


# Boids of Mesa, in a periodic box
WIDTH = 20.0
TURNS = 17  # classes of turns; an odd number, so that none is on both sides
TURN = 2 * math.pi / TURNS


def _flockers(agents: int, seed: int) -> Any:
    """Mesa's model; importing it adds a folder to the path, which is taken away again."""
    before = list(sys.path)
    try:
        from mesa.examples.basic.boid_flockers import model
    finally:
        sys.path[:] = before
    blind = {"population_size": agents, "width": WIDTH, "height": WIDTH, "vision": 0}
    if hasattr(model, "BoidsScenario"):  # as in Mesa 3.5, which needs Python 3.12
        return model.BoidFlockers(model.BoidsScenario(**blind, rng=seed))
    return model.BoidFlockers(**blind, seed=seed)


class Flock:
    """The Boid flockers of Mesa, steered from outside: blind, they only fly.

    An agent observes by how much the rule of Mesa would turn it, in radians.
    """

    COHERE, SEPARATE, MATCH = 0.03, 0.015, 0.05  # as in Mesa

    def __init__(self, agents: int = 12, vision: float = 6.0) -> None:
        self.agents, self.vision = agents, vision

    def reset(self, seed: int) -> Floats:
        """Begin with boids at random places, flying in random directions."""
        self.model = _flockers(self.agents, seed)
        self.boids = list(self.model.agents)
        for boid in self.boids:
            boid.direction = boid.direction / np.linalg.norm(boid.direction)
        return self.turns()

    def step(self, turns: Floats) -> tuple[Floats, Floats]:
        """Turn all boids, let Mesa move them; they are rewarded for flying in one direction."""
        for boid, turn in zip(self.boids, turns, strict=True):
            cosine, sine = math.cos(turn), math.sin(turn)
            x, y = boid.direction
            boid.direction = np.array([cosine * x - sine * y, sine * x + cosine * y])
        self.model.step()
        mean = np.linalg.norm(np.mean([boid.direction for boid in self.boids], axis=0))
        return self.turns(), np.full(len(self.boids), mean)

    def turns(self) -> Floats:
        """By how much Mesa's rule would turn each boid, counterclockwise."""
        places, ways = self.positions(), np.array([boid.direction for boid in self.boids])
        gaps = places[None] - places[:, None]
        gaps -= WIDTH * np.round(gaps / WIDTH)
        far = np.linalg.norm(gaps, axis=2)
        seen = (far <= self.vision).astype(np.float64)
        close = (far < 2.0).astype(np.float64)
        pull = self.COHERE * np.einsum("ij,ijk->ik", seen, gaps)
        push = -self.SEPARATE * np.einsum("ij,ijk->ik", close, gaps)
        match = self.MATCH * np.einsum("ij,jk->ik", seen, ways)
        goal = (pull + push + match) / seen.sum(axis=1, keepdims=True)
        across = ways[:, 0] * goal[:, 1] - ways[:, 1] * goal[:, 0]
        along = (ways * goal).sum(axis=1)
        angle: Floats = np.arctan2(across, along)
        return angle

    def positions(self) -> Floats:
        """Where the boids are."""
        return np.array([boid.position for boid in self.boids])


def flock(agents: int = 12, **more: Any) -> BlackBox:
    """Mesa's boids with an expert that turns as their rule says, by at most 64 degrees."""
    return from_step(
        partial(Flock, agents),
        features=swarmdp.Angles(TURNS, name="turn of the rule"),
        actions=TURN * np.arange(-3, 4),
        expert=_rounded_turn,
        mirror=swarmdp.model.Mirror(np.negative, np.negative),
        positions=Flock.positions,
        period=WIDTH,
        name="boids",
        settings={"agents": agents},
        horizon=60,
        **more,
    )


def _rounded_turn(angle: Floats) -> Floats:
    nearest: Floats = TURN * np.floor(angle / TURN + 0.5).clip(-3, 3)
    return nearest
