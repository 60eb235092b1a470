"""Couzin's zone model, fitted to a recording: what a learned swarm has to be compared with.

Agents turn away from those too near to them. If there are none, they turn to the sum of the
headings of those in a second zone and of the directions to those in a third one, seen in 270
degrees (Couzin, Krause, James, Ruxton and Franks, J. theor. Biol. 218, 2002). They turn by so much
at most, with a normal noise, and are pushed away from a wall nearby. Speeds wander as the recorded
ones do.

Its seven numbers are those whose swarm has the recorded distributions of polarisation, distances
and so on: they are fitted to what the group does, which single turns hardly tell.
"""

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.model.features import Angles
from swarmdp.model.streams import Purpose, Stream, Streams
from swarmdp.model.system import Field, State
from swarmdp.recordings.calibration import LARGEST_SCORE
from swarmdp.recordings.decisions import Decisions
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.ranges import NotNegative

if TYPE_CHECKING:
    from swarmdp.recordings.swarm import Swarm


FIRST, AGAIN, ROUNDS, PARENTS = 64, 32, 2, 6  # models tried at first and then, near the best ones
NEARBY = 0.12  # standard deviation of a number tried near a good one, as a share of its range
LAST = 6  # models of which the best is chosen by other random numbers
_RUNS = 2  # of each model
MOST_VISITS = 1e8  # of pairs of agents in all, unless a run would be shorter than this
LEAST_STEPS = 60
MOST_TIMES = 200  # of a run at which the swarm is measured
SETTLING = 4  # the first of as many parts of a run is not compared
TRYING, CHOOSING = 1, 2  # parts with random numbers of their own


@checked
@dataclass(frozen=True)
class Zones:
    """The numbers of a zone model: lengths in the unit of the recording, angles in radians.

    Parameters
    ----------
    repulsion, orientation, attraction
        Radii: nearer than the first others are avoided, up to the second followed, up to the third
        approached.
    most_turn
        The largest turn in a decision, before the noise.
    noise
        The standard deviation of a normal noise of turns.
    wall_distance, wall_weight
        From how far the wall is avoided, and how strongly at the wall, where others together have
        the weight one.

    """

    repulsion: NotNegative
    orientation: NotNegative
    attraction: NotNegative
    most_turn: NotNegative
    noise: NotNegative
    wall_distance: NotNegative
    wall_weight: NotNegative

    @property
    def row(self) -> Floats:
        """All of them, in this order (7,)."""
        return np.array(astuple(self))


@checked(but=("initial", "observe", "transition", "expert"))
@dataclass(frozen=True, eq=False)
class Couzin:
    """A zone model in the place of a swarm's agents: a system with the states of the swarm.

    What an agent observes is the turn that it wants; its expert turns by it, as far as it can.
    """

    swarm: "Swarm"
    zones: Zones

    @property
    def n_agents(self) -> int:
        """Those of the swarm."""
        return self.swarm.n_agents

    @property
    def actions(self) -> Floats:
        """Those of the swarm."""
        return self.swarm.actions

    @cached_property
    def features(self) -> Angles:
        """Of the turn that an agent wants."""
        return Angles(36, "wanted turn")

    @property
    def fields(self) -> Mapping[str, Field]:
        """Those of the swarm."""
        return self.swarm.fields

    @property
    def settings(self) -> dict[str, Any]:
        """The zones, and the swarm's own settings."""
        return {"zones": dict(vars(self.zones)), "swarm": self.swarm.settings}

    def initial(self, rng: Stream) -> State:
        """As the swarm."""
        return self.swarm.initial(rng)

    def observe(self, state: State) -> Floats:
        """The turn that each agent wants (runs, agents)."""
        self.swarm.check_state(state)
        return _intended_turns(self.swarm, self.zones.row[None], state)

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """As far as an agent can turn."""
        most = self.zones.most_turn
        turns: NDArray[Any] = np.clip(observations, -most, most)
        return turns

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Turn by the action and a normal noise, then move; walls reflect."""
        self.swarm.check_state(state)
        turns = np.ascontiguousarray(actions, np.float64)
        return _next_state(self.swarm, np.array([self.zones.noise]), state, turns, rng)


def _intended_turns(swarm: "Swarm", zones: Floats, state: State) -> Floats:
    """The turns that agents of models (models, 7) want; run i is of model i % models."""
    runs = len(state["heading"])
    zones_of_runs = np.tile(zones, (runs // len(zones), 1))
    kind = kernels.space.OPEN if swarm.arena is None else swarm.arena.kind
    walls = np.zeros((1, 2)) if swarm.arena is None else swarm.arena.walls
    return kernels.recorded.zone_turns(
        np.ascontiguousarray(state["position"]),
        np.ascontiguousarray(state["heading"]),
        np.ascontiguousarray(zones_of_runs[:, :3]),
        np.ascontiguousarray(zones_of_runs[:, 5:]),
        kind,
        walls,
    )


def _next_state(swarm: "Swarm", noise: Floats, state: State, turns: Floats, rng: Stream) -> State:
    """The next state, with a noise for each model (models,)."""
    score, fresh = rng.normal(), rng.normal()
    memory = swarm.speeds.memory
    pace = memory * state["pace"] + math.sqrt(1 - memory**2) * fresh
    step = kernels.recorded.interpolate(pace, swarm.speeds.table, LARGEST_SCORE) * swarm.dt
    kind = kernels.space.OPEN if swarm.arena is None else swarm.arena.kind
    walls = np.zeros((1, 2)) if swarm.arena is None else swarm.arena.walls
    noise_of_runs = np.tile(noise, len(turns) // len(noise))[:, None]
    place, heading, turned = kernels.recorded.turn_and_move(
        np.ascontiguousarray(state["position"]),
        np.ascontiguousarray(state["heading"]),
        turns + noise_of_runs * score,
        step,
        kind,
        walls,
    )
    after = {"position": place, "heading": heading, "turn": turned, "noise": score, "pace": pace}
    return after | swarm.later(state)


def fit_couzin(swarm: "Swarm", decisions: Decisions, seed: int = 0) -> Couzin:
    """The zone model whose swarm is most like the recorded one, as a group.

    Models are drawn from wide ranges, then near the best of them; the last few are compared once
    more with other random numbers. Same seed, same model.
    """
    from scipy.stats import qmc

    demo = swarm.demo(decisions)
    recorded = _measures(swarm, {name: demo[name][0] for name in swarm.frames})
    low, high = _ranges(swarm, decisions, float(np.median(recorded["nearest_neighbour"])))
    every = _RUNS * (FIRST + ROUNDS * AGAIN + LAST) * swarm.n_agents**2
    steps = max(2 * SETTLING, min(demo.steps, max(LEAST_STEPS, int(MOST_VISITS / every))))
    places = qmc.Sobol(len(low), seed=seed).random(FIRST)
    scores = _scores(swarm, low + (high - low) * places, recorded, steps, seed, TRYING)
    rng = np.random.default_rng(seed)
    for _ in range(ROUNDS):
        best = places[np.argsort(scores, kind="stable")[:PARENTS]]
        near = best[rng.integers(PARENTS, size=AGAIN)]
        near = np.clip(near + NEARBY * rng.standard_normal(near.shape), 0.0, 1.0)
        near_scores = _scores(swarm, low + (high - low) * near, recorded, steps, seed, TRYING)
        places, scores = np.concatenate([places, near]), np.concatenate([scores, near_scores])
    last = low + (high - low) * places[np.argsort(scores, kind="stable")[:LAST]]
    chosen = last[_scores(swarm, last, recorded, steps, seed, CHOOSING).argmin()]
    return Couzin(swarm, Zones(*map(float, chosen)))


def _ranges(swarm: "Swarm", decisions: Decisions, gap: float) -> tuple[Floats, Floats]:
    """The least and the largest of each number that is tried (7,)."""
    turn = float(np.sqrt(np.nanmean(np.minimum(np.abs(decisions.turns), 1.0) ** 2)))
    room = 0.0 if swarm.arena is None else swarm.arena.window[2] / 2
    low = np.array([0.1 * gap, 0.3 * gap, gap, 0.1 * turn, 0.2 * turn, 0.03 * room, 0.0])
    high = np.array([gap, 6 * gap, 15 * gap, 2.5 * turn, turn, 0.5 * room, 2.0])
    return low, high


def _scores(
    swarm: "Swarm",
    models: Floats,
    recorded: Mapping[str, Floats],
    steps: int,
    seed: int,
    part: int,
) -> Floats:
    """How far the swarm of each model (models, 7) is from the recorded one: less is better.

    The mean energy distance over the swarm's measures, in standard deviations. All models have the
    same starts and random numbers.
    """
    from scipy.stats import energy_distance

    count = len(models)
    numbers = np.repeat(np.arange(_RUNS) + _RUNS * part, count)
    streams = Streams.of(seed, numbers, swarm.n_agents)
    state = swarm.initial(streams.at(0, Purpose.INITIAL))
    times = set(np.linspace(steps // SETTLING, steps, MOST_TIMES).astype(int).tolist())
    kept: dict[str, list[Floats]] = {name: [] for name in state}
    for step in range(steps):
        turns = _intended_turns(swarm, models, state)
        most = np.tile(models[:, 3], _RUNS)[:, None]
        stream = streams.at(step, Purpose.TRANSITION)
        state = _next_state(swarm, models[:, 4], state, np.clip(turns, -most, most), stream)
        if step + 1 in times:
            for name, states in kept.items():
                states.append(state[name])
    # All times at once: what individuals see is looked at once for all measures.
    seen = swarm.measures_over({name: np.stack(states, axis=1) for name, states in kept.items()})
    scores = np.zeros(count)
    for name, values in recorded.items():
        every = seen[name].T.reshape(-1, _RUNS, count)
        for k in range(count):
            simulated = every[..., k].ravel()
            spread = float(np.concatenate([simulated, values]).std())
            if spread > 0:
                scores[k] += float(energy_distance(simulated, values)) ** 2 / spread / len(recorded)
    return scores


def _measures(swarm: "Swarm", state: State) -> dict[str, Floats]:
    """What the swarm as a whole does, by the swarm's measures (runs,)."""
    return {name: measure.function(state) for name, measure in swarm.measures.items()}
