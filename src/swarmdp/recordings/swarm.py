"""A swarm calibrated from a recording: a system as any other."""

import hashlib
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.model.features import Product
from swarmdp.model.features.plain import describe_features
from swarmdp.model.features.similarity import covariances, falling_similarity, side_by_side
from swarmdp.model.pictures import Arrows
from swarmdp.model.streams import Stream, Streams, is_in_order
from swarmdp.model.system import (
    Field,
    Measure,
    Mirror,
    Rule,
    State,
    arrays_of,
    check_run,
    check_stream,
    name_of,
)
from swarmdp.model.traits import settings_of
from swarmdp.model.trajectory import Trajectory, Variable
from swarmdp.policies import LocalPolicy, SoftPolicy
from swarmdp.recordings import arena as arenas
from swarmdp.recordings.arena import Arena, Periodic
from swarmdp.recordings.calibration import (
    LARGEST_SCORE,
    Noise,
    Wandering,
    mean_turns,
    noise_of,
    pace_of,
    turns_to_choose,
    within_classes,
    without_memory,
)
from swarmdp.recordings.components import COMPONENTS, Observation, surroundings
from swarmdp.recordings.decisions import Decisions, wrap_angles
from swarmdp.recordings.gates import has_open_rim, why_open
from swarmdp.recordings.outsiders import Outsiders
from swarmdp.recordings.view import View
from swarmdp.recordings.view_calibration import calibrate_view
from swarmdp.recordings.whole_steps import SwarmSteps
from swarmdp.support.arguments import checked, numbers
from swarmdp.support.arrays import Bools, Floats
from swarmdp.support.checks import brief, check_integer
from swarmdp.support.errors import InvalidInput
from swarmdp.support.files import as_path
from swarmdp.support.netcdf import write_dataset
from swarmdp.support.saved import SWARM

if TYPE_CHECKING:
    from swarmdp.recordings.couzin import Couzin
    from swarmdp.recordings.interaction import Interaction

_TWO_PI = 2 * math.pi

STATE = ("position", "heading", "turn", "noise", "pace")
CLOCK = "clock"  # the time of the recording at which outsiders are played back
CROWD = 1.25  # individuals for each one present, above which their number changes
LEAST_STARTS = 20  # times at which swarms may start, even if not all agents are there
LEAST_SURE = 0.2  # share of decisions whose neighbours were all recorded, for only these to count
_SURPRISE = 1e-3  # likelihood of a turn that no choice explains, so that one does not decide
_SIMILAR = 2.0  # classes away: there similarity has fallen to 1/e
_FARTHEST = 1e9  # coordinate that a place may have


@checked(but=("initial", "observe", "transition", "check_state"))
@dataclass(frozen=True, eq=False)
class Swarm:
    """Individuals that move as recorded ones did, and turn as their policy says.

    In each decision an agent turns by its action and by a noise with the recorded distribution and
    memory, then moves on for `dt` seconds with a speed that wanders as the recorded speeds do.
    Walls reflect. Swarms start from recorded frames, agents permuted, turned and reflected as far
    as the arena allows it. Made by `Swarm.from_recording`.

    Parameters
    ----------
    view
        What an agent observes.
    choices
        The turns that an agent may choose, in radians.
    wobble
        The noise of turns.
    speeds
        How speeds wander.
    frames
        (frames, agents, ...) by field: the recorded states in which swarms start.
    habits
        (classes,): the mean turn that was recorded in each class, in radians.
    dt
        Seconds from one decision to the next.
    unit
        The unit of length.
    touched
        The share of the arena's rim to which somebody came near; None if the arena was given.
    tried
        What was tried for neighbours and walls, in nats a decision.
    decisions
        From which it was made.
    measures_speed
        Whether the mean speed is among its measures; analyses in which speeds react judge by it.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=20, radius=0.3, noise=0.3)
    >>> tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=120, seed=1)["position"][0]
    >>> recording = swarmdp.Recording(tracks, fps=1, unit="1")
    >>> decisions = recording.decisions(dt=1)
    >>> arena = swarmdp.recordings.Periodic((1.0, 1.0))
    >>> few = swarmdp.recordings.Observation(5, bearing=0, spacing=0, previous_turn=0, neighbours=5)
    >>> swarm = swarmdp.recordings.Swarm.from_recording(decisions.train, few, arena=arena)
    >>> swarm.n_agents, swarm.features.size
    (20, 5)

    """

    view: View
    choices: tuple[float, ...]
    wobble: Noise
    speeds: Wandering
    frames: Mapping[str, Floats]
    habits: Floats
    dt: float
    unit: str
    touched: float | None
    tried: Mapping[str, float]
    decisions: Decisions | None = None
    measures_speed: bool = False

    action_units: ClassVar[str] = "rad"
    fused_measures: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def from_recording(
        cls,
        decisions: Decisions,
        observation: Observation | None = None,
        *,
        arena: Arena | Literal["auto", "circle", "box"] | None = "auto",
        speed: Literal["wandering", "constant"] = "wandering",
        turns: tuple[float, ...] | None = None,
        n_agents: int | None = None,
    ) -> "Swarm":
        """Calibrate a swarm from decisions, usually the training part of them.

        Parameters
        ----------
        decisions
            From which all is estimated, such as `recording.decisions().train`.
        observation
            What individuals may react to; `Observation()` by default, and the nearest outsider
            where there are some.
        arena
            A `Circle`, `Box`, `Polygon` or `Periodic`, None for open space; "circle" or "box" to
            fit it, "auto" to fit the better one and to be asked if it is not to be believed. "auto"
            is open space where individuals come and go across the rim of what was recorded, or no
            arena is to be believed and the group goes many times as far as it is wide.
        speed
            "wandering": with the recorded distribution and autocorrelation, or "constant".
        turns
            What agents may choose from, in radians; by default 0 and quantiles of the turns seen,
            to both sides.
        n_agents
            The number of agents; by default as many as were recorded at a time.

        Examples
        --------
        >>> import swarmdp
        >>> vicsek = swarmdp.Vicsek(n_agents=30, noise=0.3)
        >>> tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=200, seed=1)["position"][0]
        >>> decisions = swarmdp.Recording(tracks, fps=1, unit="1").decisions(dt=1)
        >>> arena = swarmdp.recordings.Periodic((1.0, 1.0))
        >>> observation = swarmdp.recordings.Observation(neighbours=5)
        >>> Swarm = swarmdp.recordings.Swarm
        >>> Swarm.from_recording(decisions.train, observation, arena=arena).n_agents
        30

        """
        if decisions.in_space:
            raise InvalidInput(
                "calibrated swarms are in the plane, these decisions are in three dimensions: use "
                "swarmdp.analyse, which knows them, or project the recording, "
                "recording.projected(axes=(0, 1)).decisions()"
            )
        observation = observation or Observation.usual(decisions.outsiders is not None)
        touch = None
        if arena == "auto" and has_open_rim(decisions):
            arena = None
        if isinstance(arena, str):
            try:
                arena, touch = arenas.fit_arena(decisions.positions[decisions.known], arena)
            except arenas.UnclearArena:
                if not why_open(decisions):
                    raise
                arena = None
        view, tried = calibrate_view(observation, decisions, arena)
        return cls.seeing(
            view, decisions, speed=speed, turns=turns, n_agents=n_agents, touched=touch, tried=tried
        )

    @classmethod
    def seeing(
        cls,
        view: View,
        decisions: Decisions,
        *,
        speed: Literal["wandering", "constant"] = "wandering",
        turns: tuple[float, ...] | None = None,
        n_agents: int | None = None,
        touched: float | None = None,
        tried: Mapping[str, float] | None = None,
    ) -> "Swarm":
        """Calibrate a swarm whose classes of observations are known; see `from_recording`."""
        classes = view.classes(decisions)[:-1]
        complete = (classes >= 0) & np.isfinite(decisions.turns)
        if not complete.any():
            raise InvalidInput(
                "no decision is complete: nobody was seen at three times one after another; "
                "choose a smaller dt, or fill in the gaps"
            )
        seen, turned = classes[complete], decisions.turns[complete]
        # Mean turns do not know the turn before: what it tells is the memory of the noise.
        smaller, group = without_memory(view)
        habits = mean_turns(smaller, group[seen], turned)[group]
        residuals = np.full(decisions.turns.shape, np.nan)
        residuals[complete] = turned - habits[seen]
        if turns is None:
            choices = turns_to_choose(decisions.turns)
        else:
            choices = np.array(turns, np.float64)
            if not len(choices) or not (np.abs(choices) <= math.pi).all():
                raise InvalidInput(f"turns must be angles from -pi to pi in radians, got {turns!r}")
        from swarmdp.recordings.controllers import fit_noise_memory

        agents = n_agents or _usual_number(decisions)
        check_integer("n_agents", agents, least=1)
        # An individual that was not tracked leaves a gap among the neighbours, and turns made
        # because of it look like noise: only decisions with all neighbours recorded count.
        sure = view.complete(decisions)[:-1][complete]
        if sure.sum() < LEAST_SURE * len(sure):
            sure[:] = True
        variance = within_classes(smaller, group[seen][sure], turned[sure])
        wobble = noise_of(decisions, residuals, variance)
        speeds = pace_of(decisions, speed == "constant")
        made = cls(
            view,
            tuple(choices.tolist()),
            wobble,
            speeds,
            {},
            habits,
            decisions.dt,
            decisions.unit,
            touched,
            tried or {},
            decisions,
        )
        states, _, slots = _states(made, decisions, agents)
        starts = _starts(slots)
        object.__setattr__(made, "frames", {name: array[starts] for name, array in states.items()})
        object.__setattr__(made, "wobble", fit_noise_memory(made, decisions))
        return made

    @property
    def arena(self) -> Arena | None:
        """Where the agents are; None for open space."""
        return self.view.arena

    @cached_property
    def outsiders(self) -> Outsiders | None:
        """Those that are played back, at all times of the recording; None if there are none.

        In open space those that move go with the group; within walls they are where they were.
        """
        others = None if self.decisions is None else self.decisions.outsiders
        if others is None or self.arena is None:
            return others
        return replace(others, centres=None)

    @property
    def state_names(self) -> tuple[str, ...]:
        """The arrays of a state; where there are outsiders, the time of the recording, too."""
        return STATE if self.outsiders is None else (*STATE, CLOCK)

    def later(self, state: State) -> dict[str, Floats]:
        """The next time of the recording, if outsiders are played back by it."""
        return {} if self.outsiders is None else {CLOCK: state[CLOCK] + 1.0}

    @cached_property
    def n_agents(self) -> int:
        """The number of agents."""
        return int(self.frames["heading"].shape[1])

    @cached_property
    def actions(self) -> Floats:
        """The turns that an agent may choose."""
        return np.array(self.choices)

    @property
    def features(self) -> Product:
        """The classes of what is observed."""
        return self.view.features

    @cached_property
    def settings(self) -> dict[str, Any]:
        """All that tells this swarm from others, as plain data."""
        digest = hashlib.sha256()
        for array in (self.wobble.tables, self.speeds.table, self.habits, *self.frames.values()):
            digest.update(np.ascontiguousarray(array).tobytes())
        return {
            "n_agents": self.n_agents,
            "dt": float(self.dt),
            "unit": self.unit,
            "arena": arenas.describe_arena(self.arena),
            "observation": describe_features(self.features),
            "nearest": self.view.nearest,
            "radius": float(self.view.radius),
            "wall_distance": float(self.view.wall_distance),
            "turns": list(self.choices),
            "noise": self.wobble.spread,
            "noise_memory": self.wobble.memory,
            "speed": float(self.speeds.table[len(self.speeds.table) // 2]),
            "speed_memory": self.speeds.memory,
            "calibration": digest.hexdigest()[:16],
        }

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """What the arrays of a state mean."""
        sides = self.arena.sides if isinstance(self.arena, Periodic) else (0.0, 1.0)
        lower = self.arena.lower if isinstance(self.arena, Periodic) else (0.0, 0.0)
        period = sides[0] if sides[0] == sides[1] and lower == (0.0, 0.0) else None
        return {
            "position": Field(
                "position", units=self.unit, axes=("axis",), kind="position", period=period
            ),
            "heading": Field("heading, from the x axis", units="rad", kind="angle"),
            "turn": Field("turn that led to this heading", units="rad", kind="hidden"),
            "noise": Field("normal score of the noise in this turn", kind="hidden"),
            "pace": Field("normal score of the speed", kind="hidden"),
            **({} if self.outsiders is None else {CLOCK: Field("time", kind="hidden")}),
        }

    def initial(self, rng: Stream) -> State:
        """A recorded frame for each run, agents permuted, turned as the arena allows it."""
        check_stream(rng)
        count = len(self.frames["heading"])
        chosen = np.minimum((rng.shared() * count).astype(np.int64), count - 1)[:, None]
        slots = rng.permutation()
        state = {name: array[chosen, slots] for name, array in self.frames.items()}
        angle, sign = self._symmetry(rng.shared(), rng.shared())
        if self.outsiders is not None:  # they stay where they were
            return state
        return self._turn_state(state, angle, sign)

    def _symmetry(self, one: Floats, other: Floats) -> tuple[Floats, Floats]:
        """A rotation and a reflection of the arena for each run, from uniform numbers."""
        symmetries = None if self.arena is None else self.arena.symmetries
        if symmetries is None:
            return (2 * one - 1) * math.pi, np.where(other < 0.5, 1.0, -1.0)
        place = np.minimum((one * len(symmetries)).astype(np.int64), len(symmetries) - 1)
        angles, signs = (np.array(column, np.float64) for column in zip(*symmetries, strict=True))
        return angles[place], signs[place]

    def _turn_state(self, state: State, angle: Floats, sign: Floats) -> State:
        """The state reflected where the sign is -1, then turned, about the arena's middle."""
        middle = np.zeros(2) if self.arena is None else self.arena.middle
        # One by one: the library's loops over arrays need not give the same bits.
        c = np.array([math.cos(turn) for turn in angle])[:, None]
        s = np.array([math.sin(turn) for turn in angle])[:, None]
        flip = sign[:, None]
        x = state["position"][..., 0] - middle[0]
        y = (state["position"][..., 1] - middle[1]) * flip
        position = np.stack([c * x - s * y + middle[0], s * x + c * y + middle[1]], axis=-1)
        if isinstance(self.arena, Periodic):
            low, sides = self.arena.walls
            position = low + np.remainder(position - low, sides)
        return {
            "position": position,
            "heading": wrap_angles(flip * state["heading"] + angle[:, None]),
            "turn": flip * state["turn"],
            "noise": flip * state["noise"],
            "pace": state["pace"],
        }

    def observe(self, state: State) -> Floats:
        """What each agent sees of its neighbours, of the wall and of its last turn."""
        position, heading, turn = self._checked_state(state, "position", "heading", "turn")
        return self.view.of(
            position, heading, turn, lambda: self._speed(state), self._outside(state)
        )

    def _outside(self, state: State) -> Floats | None:
        """Where outsiders are at the time of a state (runs, outsiders, 2)."""
        if self.outsiders is None:
            return None
        return self.outsiders.places_at(state[CLOCK][..., 0], np.asarray(state["position"]))

    def _speed(self, state: State) -> Floats:
        """The speed at which each agent came here, in units a second."""
        (pace,) = self._checked_state(state, "pace")
        return kernels.recorded.interpolate(pace, self.speeds.table, LARGEST_SCORE)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Turn by the action and the noise, then move; walls reflect."""
        position, heading, last, noise, pace = self._checked_state(state, *STATE)
        action = np.ascontiguousarray(numbers("turns", actions, np.float64))
        if action.shape != heading.shape or not np.isfinite(action).all():
            raise InvalidInput(
                f"turns must be finite angles of shape (runs, agents) = {heading.shape}, got "
                f"{brief(actions)}"
            )
        check_stream(rng, heading.shape)
        noise = _wander(noise, self.wobble.memory, rng.normal())
        pace = _wander(pace, self.speeds.memory, rng.normal())
        turn = action + self.wobble.values(noise, last)
        step = kernels.recorded.interpolate(pace, self.speeds.table, LARGEST_SCORE) * self.dt
        kind = kernels.space.OPEN if self.arena is None else self.arena.kind
        walls = np.zeros((1, 2)) if self.arena is None else self.arena.walls
        position, heading, turned = kernels.recorded.turn_and_move(
            position, heading, turn, step, kind, walls
        )
        return {
            "position": position,
            "heading": heading,
            "turn": turned,
            "noise": noise,
            "pace": pace,
            **self.later(state),
        }

    def whole_steps(
        self,
        state: Callable[[], State],
        rule: Rule,
        rows: NDArray[np.int64],
        streams: Streams,
        steps: int,
    ) -> SwarmSteps | None:
        """Whole steps of a table of turns.

        None for functions, for classes that end where an observation may be, and for subclasses,
        which may have changed what a step is.
        """
        if type(self) is not Swarm or callable(rule) or not is_in_order(streams):
            return None
        if self.outsiders is not None:  # the kernel does not know them
            return None
        arrays = dict(zip(STATE, self._checked_state(state(), *STATE), strict=True))
        turns = np.ascontiguousarray(rule, np.float64)
        return SwarmSteps.of(self, arrays, turns, rows, streams, steps)

    def _checked_state(self, state: State, *names: str) -> list[Floats]:
        arrays = list(
            map(np.ascontiguousarray, arrays_of(state, **dict.fromkeys(names, np.float64)))
        )
        for name, array in zip(names, arrays, strict=True):
            shape = (self.n_agents, 2) if name == "position" else (self.n_agents,)
            if array.shape[1:] != shape:
                raise InvalidInput(
                    f"{name!r} of a state must have the shape (runs, "
                    f"{', '.join(map(str, shape))}), got {array.shape}"
                )
            if not kernels.tables.all_between(array, -_FARTHEST, _FARTHEST):
                raise InvalidInput(f"{name!r} of a state must be finite, got NaN or others")
        return arrays

    def check_state(self, state: State) -> None:
        """Raise InvalidInput for states that are not this swarm's."""
        self._checked_state(state, *self.state_names)

    @property
    def mirror(self) -> Mirror | None:
        """Left and right, if the arena has a mirror image and turns are the same to both sides."""
        symmetries = None if self.arena is None else self.arena.symmetries
        both = np.array_equal(np.sort(-self.actions), np.sort(self.actions))
        if not both or (symmetries is not None and not any(sign < 0 for _, sign in symmetries)):
            return None
        signs = self.view.signs
        return Mirror(lambda seen: seen * signs, np.negative)

    def demo(self, decisions: Decisions) -> Trajectory:
        """Recorded decisions as a demo for `swarmdp.fit` and `swarmdp.judge`.

        Absent individuals are filled in by interpolation, so that states are complete, and marked:
        `present` says whose observation counts, `acting` whose turn does.

        Parameters
        ----------
        decisions
            Of the same kind as those from which this swarm was made: the same dt and unit.

        """
        if not isinstance(decisions, Decisions):
            raise InvalidInput(
                f"a swarm made from a recording learns from decisions, such as "
                f"recording.decisions().train, got {brief(decisions)}"
            )
        if (decisions.dt, decisions.unit) != (self.dt, self.unit):
            raise InvalidInput(
                f"the decisions are every {decisions.dt:g} s in {decisions.unit!r}, the swarm was "
                f"made from decisions every {self.dt:g} s in {self.unit!r}: give it the same"
            )
        decisions = _from_first_start(decisions, self.n_agents)
        states, taken, slots = _states(self, decisions, self.n_agents)
        classes = _in_slots(self.view.classes(decisions), slots, -1)
        observed = _in_slots(self.view.of_decisions(decisions), slots, np.nan)
        # Whose observation is not known is given that of its filled-in state, which does not count.
        present = classes >= 0
        filled = self.view.of(
            states["position"],
            states["heading"],
            states["turn"],
            lambda: self._speed(states),
            self._outside(states),
        )
        acting = present[:-1] & taken
        intended = self.habits[np.maximum(classes[:-1], 0)]
        axes = ("run", "time", "agent")
        variables = {
            name: Variable(
                states[name][None],
                (*axes, *field.axes),
                field.units,
                field.description,
            )
            for name, field in self.fields.items()
        }
        variables |= {
            "observations": Variable(
                np.where(present[..., None], observed, filled)[None],
                (*axes, "component"),
                description="what each agent saw",
            ),
            "actions": Variable(
                self._round_turns(np.where(acting, intended, 0.0))[None],
                ("run", "step", "agent"),
                "rad",
                "mean turn for what was seen, rounded at random to a turn that can be chosen",
            ),
            "turned": Variable(
                np.where(acting, _known_turns(decisions, slots), 0.0)[None],
                ("run", "step", "agent"),
                "rad",
                "recorded turn",
            ),
            "present": Variable(present[None], axes, description="whose observation counts"),
            "acting": Variable(
                acting[None], ("run", "step", "agent"), description="whose turn counts"
            ),
        }
        if not (slots >= 0).all():
            variables |= self._measures_of_those_present(states, slots >= 0)
        return Trajectory(
            variables,
            name_of(self),
            settings_of(self),
            runs=1,
            steps=decisions.times - 1,
        )

    def decided(self, demo: Trajectory) -> tuple[NDArray[np.int64], Floats]:
        """The class (M,) of each decision in a demo, and the likelihood (M, A) of its turn.

        Likelihoods are those of the recorded turn under each choice, if noise is normal.

        Parameters
        ----------
        demo
            What `Swarm.demo` made of decisions.

        """
        if "turned" not in demo or "acting" not in demo:
            raise InvalidInput("the demo has no recorded turns: make it by Swarm.demo")
        acting = demo["acting"]
        seen = np.asarray(self.features.index(demo["observations"][:, :-1]), np.int64)
        away = wrap_angles(demo["turned"][acting][:, None] - self.actions) / self.wobble.spread
        likelihood: Floats = np.exp(-0.5 * away**2) + _SURPRISE
        return seen[acting], likelihood

    def reward_prior(self) -> Floats:
        """A root (d, d) of the prior covariance of a reward's weights.

        Neighbouring classes of a component are rewarded similarly. The turn before is not rewarded:
        what it tells is the memory of the noise.
        """
        blocks, parts = self.features.blocks, []
        similar = partial(falling_similarity, length=_SIMILAR)
        for block, covariance in zip(blocks, covariances(blocks, similar), strict=True):
            rewarded = not all(COMPONENTS[axis.name].memory for axis in block)
            values, vectors = np.linalg.eigh(covariance * rewarded)
            parts.append(vectors * np.sqrt(np.maximum(values, 0.0)))
        return side_by_side(parts)

    def _measures_of_those_present(
        self, states: Mapping[str, Floats], there: Bools
    ) -> dict[str, Variable]:
        """What the recorded swarm did at each time; where nobody was, as before and after."""
        enough = np.flatnonzero(there.sum(axis=1) > 1)
        if not len(enough):
            return {}
        whole = there[enough].all(axis=1)
        # Most times have all of them, and are measured together.
        together = self.measures_over({key: a[None, enough[whole]] for key, a in states.items()})
        variables = {}
        for name, measure in self.measures.items():
            values = np.empty(len(enough))
            values[whole] = together[name][0]
            for n in np.flatnonzero(~whole):
                t = enough[n]
                present = {key: a[t, there[t]][None] for key, a in states.items()}
                values[n] = float(measure.function(present)[0])
            course = np.interp(np.arange(len(there)), enough, values)
            variables[name] = Variable(course[None], ("run", "time"), measure.units)
        return variables

    def _round_turns(self, turns: Floats) -> Floats:
        """Turns as one of the two choices around each, at random, so that means are kept."""
        order = np.sort(self.actions)
        above = np.clip(np.searchsorted(order, turns), 1, len(order) - 1)
        low, high = order[above - 1], order[above]
        share = np.clip((turns - low) / (high - low), 0, 1)
        chance = np.random.default_rng(0).random(turns.shape)
        return np.where(chance < share, high, low)

    @cached_property
    def measures(self) -> Mapping[str, Measure]:
        """What the swarm as a whole does; distances in the unit of the recording."""
        whole = {
            "polarisation": Measure(_polarisation, "polarisation", limits=(0.0, 1.0)),
            "nearest_neighbour": Measure(
                self._nearest, "distance to the nearest neighbour", self.unit, (0.0, None)
            ),
        }
        if self.outsiders is not None:
            whole |= {
                f"distance_to_{kind}": Measure(
                    partial(self._outsider_distance, kind),
                    f"distance to {kind}",
                    self.unit,
                    (0.0, None),
                )
                for kind in self.outsiders.fixed
            }
            whole |= {
                f"away_from_{kind}": Measure(
                    partial(self._headed_away, kind), f"moving away from {kind}", limits=(-1.0, 1.0)
                )
                for kind in self.outsiders.followers
            }
        if self.measures_speed:
            whole["speed"] = Measure(self._mean_speed, "mean speed", f"{self.unit}/s", (0.0, None))
        if isinstance(self.arena, Periodic):
            return whole
        about = "the centre of the swarm" if self.arena is None else "the middle of the arena"
        whole["rotation"] = Measure(self._rotation, f"circling about {about}", limits=(0.0, 1.0))
        if self.arena is not None:
            whole["wall_distance"] = Measure(
                self._wall_distance, "distance to the wall", self.unit, (0.0, None)
            )
        whole["dispersion"] = Measure(
            _dispersion, "distance from the centre of the swarm", self.unit, (0.0, None)
        )
        return whole

    def recorded_means(self) -> dict[str, float]:
        """The mean of each measure over the time it was made from; empty where unknown."""
        if self.decisions is None:
            return {}
        return {
            name: float(np.mean(measure.function(dict(self.frames))))
            for name, measure in self.measures.items()
        }

    def measure_frames(
        self,
        position: Floats,
        heading: Floats,
        seen: Floats,
        pace: Floats | None = None,
        clock: Floats | None = None,
    ) -> dict[str, Floats]:
        """All measures of frames (frames,), from states (frames, agents, ...) and what is seen.

        `clock` (frames,) is needed where there are outsiders.
        """
        state = {"position": position, "heading": heading}
        if pace is not None:
            state["pace"] = pace
        if clock is not None:
            state[CLOCK] = np.broadcast_to(clock[:, None], heading.shape)
        by_sight = {"nearest_neighbour": _median_nearest, "wall_distance": _mean_wall_distance}
        return {
            name: by_sight[name](seen) if name in by_sight else measure.function(state)
            for name, measure in self.measures.items()
        }

    def _mean_speed(self, state: State) -> Floats:
        pace = np.ascontiguousarray(state["pace"], np.float64)
        speeds = kernels.recorded.interpolate(pace, self.speeds.table, LARGEST_SCORE)
        return np.asarray(speeds.mean(axis=-1))

    def measures_over(self, states: Mapping[str, Floats]) -> dict[str, Floats]:
        """All measures (runs, times) of states (runs, times, agents, ...)."""
        places, headings = (
            states[name].reshape(-1, *states[name].shape[2:]) for name in ("position", "heading")
        )
        seen = surroundings(places, headings, 1, 0.0, self.arena)
        pace = states["pace"].reshape(places.shape[:-1]) if self.measures_speed else None
        clock = None if self.outsiders is None else states[CLOCK][..., 0].ravel()
        measures = self.measure_frames(places, headings, seen, pace, clock)
        shape = states["heading"].shape[:2]
        return {name: values.reshape(shape) for name, values in measures.items()}

    def _nearest(self, state: State) -> Floats:
        return _median_nearest(
            surroundings(state["position"], state["heading"], 1, 0.0, self.arena)
        )

    def _wall_distance(self, state: State) -> Floats:
        return _mean_wall_distance(
            surroundings(state["position"], state["heading"], 1, 0.0, self.arena)
        )

    def _outsider_distance(self, kind: str, state: State) -> Floats:
        """The mean distance to the nearest outsider of a kind, by the straight way."""
        assert self.outsiders is not None
        away = self.outsiders.distances(kind, state["position"], state[CLOCK][..., 0])
        return np.asarray(away.mean(axis=-1))

    def _headed_away(self, kind: str, state: State) -> Floats:
        """The mean cosine of the angle between headings and the direction from an outsider."""
        assert self.outsiders is not None
        cosine = self.outsiders.headed_away(
            kind, state["position"], state["heading"], state[CLOCK][..., 0]
        )
        return np.asarray(cosine.mean(axis=-1))

    def _rotation(self, state: State) -> Floats:
        """How much the agents circle, all in one direction, about the arena's middle."""
        place = state["position"]
        centre = place.mean(axis=1, keepdims=True)
        middle = centre if self.arena is None else self.arena.middle
        away = place - middle
        size = np.maximum(np.linalg.norm(away, axis=-1), 1e-12)
        across = away[..., 0] * np.sin(state["heading"]) - away[..., 1] * np.cos(state["heading"])
        return np.asarray(np.abs((across / size).mean(axis=1)))

    def picture(self, swarm: Mapping[str, NDArray[Any]], run: int = 0) -> Arrows:
        """The agents of one run as arrows."""
        check_run(swarm, run, "position", "heading")
        return Arrows(
            swarm["position"][run],
            swarm["heading"][run],
            window=None if self.arena is None else self.arena.window,
            periodic=isinstance(self.arena, Periodic),
            steps_per_second=int(np.clip(round(1 / self.dt), 1, 30)),
            marks=self._marks(swarm, run),
        )

    def _marks(self, swarm: Mapping[str, NDArray[Any]], run: int) -> Floats | None:
        """Where outsiders are, as marks of a picture; fields are nowhere."""
        if self.outsiders is None or CLOCK not in swarm:
            return None
        there = self.outsiders.places_at(swarm[CLOCK][run, :, 0], swarm["position"][run])
        places = [kind in self.outsiders.places for kind in self.outsiders.kinds]
        return there[:, places] if any(places) else None

    @cached_property
    def rules(self) -> Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]]:
        """Vicsek's rule, with the share of the misalignment by which recorded individuals turn."""
        from swarmdp.recordings.controllers import aligning_rule

        if self.decisions is None or "misalignment" not in self.view.components:
            return {}
        return {"vicsek": aligning_rule(self, self.decisions)}

    @cached_property
    def models(self) -> Mapping[str, "Callable[[], Couzin]"]:
        """Couzin's zone model, fitted when it is first asked for."""
        return {} if self.decisions is None else {"couzin": lambda: self._couzin}

    @cached_property
    def _couzin(self) -> "Couzin":
        from swarmdp.recordings.couzin import fit_couzin

        assert self.decisions is not None
        return fit_couzin(self, self.decisions)

    def interaction_test(
        self, *, shifts: int = 20, seed: int = 0, progress: Callable[[int, int], None] | None = None
    ) -> "Interaction":
        """Whether the recorded individuals react to each other; see `Interaction`.

        Parameters
        ----------
        shifts
            The number of times that all individuals are shifted in time against each other, at
            least 19 for a level of 5 %.
        seed
            Same seed, same answer.
        progress
            Called as progress(done, total) before each shift.

        """
        from swarmdp.recordings.interaction import interaction

        if self.decisions is None:
            raise InvalidInput(
                "this swarm was not made from a recording, so there is nothing to test: use "
                "Swarm.from_recording"
            )
        chosen = any(name.endswith(" nearest") for name in self.tried)
        return interaction(
            self.view,
            self.decisions,
            shifts=shifts,
            seed=seed,
            any_number=chosen,
            progress=progress,
        )

    def anchored(self, policy: LocalPolicy, weight: float | Literal["auto"] = "auto") -> SoftPolicy:
        """A policy mixed with the recorded habits, so that single turns stay plausible.

        It is the geometric mixture of what the policy and the recorded individuals do: with the
        same noise on both sides, its mean turn is the weighted mean of both.

        Parameters
        ----------
        policy
            A table of one replica, such as `result.policy`, or a mixture of tables, such as
            `result.mixture`, whose mean turns count.
        weight
            Of the policy; 0 is a clone of the recording, 1 the policy itself. "auto" is the largest
            weight, up to a half, that keeps half of what habits tell of single turns, in the
            decisions from which the swarm was made.

        """
        from swarmdp.recordings.controllers import anchor_policy

        return anchor_policy(self, policy, weight)

    def turn_gain(self, policy: LocalPolicy, decisions: Decisions) -> float:
        """How much better a policy predicts single turns than their distribution does, in nats.

        Parameters
        ----------
        policy
            A table of one replica, such as `result.policy` or an anchored one.
        decisions
            Whose turns are predicted, usually held-out ones.

        """
        from swarmdp.recordings.controllers import turn_gain

        return turn_gain(self, policy, decisions)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write `swarm.nc` into a folder, atomically; return the file's path.

        It holds the decisions from which the swarm was made, too. In the folder of a fit of this
        swarm, the commands `swarmdp evaluate` and `swarmdp animate` find it.

        Parameters
        ----------
        folder
            Made if it is not there. `swarmdp.load` reads the swarm again.

        """
        from swarmdp.recordings.swarm_files import swarm_dataset

        path = as_path(folder) / SWARM.file
        write_dataset(path, swarm_dataset(self))
        return path

    def __repr__(self) -> str:
        where = "open space" if self.arena is None else type(self.arena).__name__.lower()
        near = (
            f"{self.view.nearest} nearest"
            if self.view.nearest
            else f"all within {self.view.radius:.4g} {self.unit}"
        )
        rim = "" if self.touched is None else f", {self.touched:.0%} of its rim touched"
        return (
            f"Swarm of {self.n_agents} agents, {where}{rim}, neighbours: {near}, "
            f"{self.features.size} classes, {len(self.actions)} turns, decisions every "
            f"{self.dt:.4g} s, noise {math.degrees(self.wobble.spread):.3g} deg with memory "
            f"{self.wobble.memory:.2f}"
        )


def _known_turns(decisions: Decisions, slots: NDArray[np.int64]) -> Floats:
    """The turns of agents (time - 1, agents); 0 where unknown."""
    return np.asarray(np.nan_to_num(_in_slots(decisions.turns, slots[:-1], np.nan)))


def _wander(score: Floats, memory: float, fresh: Floats) -> Floats:
    """The next normal score."""
    return memory * score + math.sqrt(1 - memory**2) * fresh


def _polarisation(state: State) -> Floats:
    heading = state["heading"]
    length: Floats = np.hypot(np.cos(heading).mean(axis=-1), np.sin(heading).mean(axis=-1))
    return length


def _median_nearest(seen: Floats) -> Floats:
    return np.asarray(np.median(seen[..., 2], axis=1))


def _mean_wall_distance(seen: Floats) -> Floats:
    return np.asarray(seen[..., 3].mean(axis=1))


def _dispersion(state: State) -> Floats:
    away = state["position"] - state["position"].mean(axis=1, keepdims=True)
    return np.asarray(np.median(np.linalg.norm(away, axis=-1), axis=1))


def _usual_number(decisions: Decisions) -> int:
    """How many individuals a swarm has: all of them, unless their number changes."""
    usual = int(np.median(decisions.present[decisions.present > 0]))
    return decisions.individuals if decisions.individuals <= CROWD * usual else max(usual, 1)


def _states(
    swarm: Swarm, decisions: Decisions, agents: int
) -> tuple[dict[str, Floats], Bools, NDArray[np.int64]]:
    """Complete states (time, agents, ...), which turns are known (time - 1, agents), and slots.

    Individuals are put into the slots of agents, absent ones are interpolated.
    """
    slots = _slots(np.isfinite(decisions.headings), agents)
    heading = _in_slots(decisions.headings, slots, np.nan)
    there = np.isfinite(heading)
    if not there.any(axis=0).all():
        raise InvalidInput(
            f"{agents} agents are more than were ever seen at a time: choose fewer (n_agents=...)"
        )
    position = _in_slots(decisions.positions, slots, np.nan)
    turn = _in_slots(decisions.previous, slots, np.nan)
    classes = swarm.view.classes(decisions)
    expected = np.where(classes >= 0, swarm.habits[np.maximum(classes, 0)], 0.0)[:-1]
    left = np.concatenate([np.full((1, decisions.individuals), np.nan), decisions.turns - expected])
    before = np.concatenate([np.zeros((1, decisions.individuals)), decisions.previous[:-1]])
    states = {
        "position": _fill_places(position, swarm.arena),
        "heading": wrap_angles(_interpolate(heading, _TWO_PI)),
        "turn": np.where(np.isnan(turn), 0.0, turn),
        "noise": swarm.wobble.scores(
            _in_slots(left, slots, np.nan), _in_slots(before, slots, np.nan)
        ),
        "pace": swarm.speeds.scores(
            np.where(there, _in_slots(decisions.speeds, slots, np.nan), np.nan)
        ),
    }
    if decisions.clock is not None:
        states[CLOCK] = np.repeat(decisions.clock[:, None].astype(np.float64), agents, axis=1)
    same = slots[1:] == slots[:-1]
    return states, np.isfinite(_in_slots(decisions.turns, slots[:-1], np.nan)) & same, slots


def _from_first_start(decisions: Decisions, agents: int) -> Decisions:
    """The same from the first time on at which as many are present as a swarm has agents.

    Only where individuals come and go, and at most half of the time is left out.
    """
    if decisions.individuals == agents:
        return decisions
    count = decisions.present[: (decisions.times + 1) // 2]
    first = int(np.argmax(count >= min(agents, int(count.max()))))
    return decisions if first == 0 else decisions.at_times(np.arange(decisions.times) >= first)


def _starts(slots: NDArray[np.int64]) -> Bools:
    """The times (time,) at which all agents are recorded ones, or as many as ever are."""
    count = (slots >= 0).sum(axis=1)
    enough = np.sort(count)[-min(LEAST_STARTS, len(count))]
    starts: Bools = (count == slots.shape[1]) | (count >= max(enough, 1))
    return starts


def _slots(there: Bools, agents: int) -> NDArray[np.int64]:
    """The individual in each agent's slot (time, agents), -1 for none; it stays while present.

    Between two individuals a slot is empty for a time, so that nobody seems to jump.
    """
    times, individuals = there.shape
    if individuals == agents:
        return np.where(there, np.arange(individuals), -1)
    slots = np.full((times, agents), -1, np.int64)
    held = np.full(agents, -1, np.int64)
    for t in range(times):
        free = np.flatnonzero(held < 0)
        held[(held >= 0) & ~there[t, held]] = -1
        waiting = np.setdiff1d(np.flatnonzero(there[t]), held)[: len(free)]
        held[free[: len(waiting)]] = waiting
        slots[t] = held
    return slots


def _in_slots(values: NDArray[Any], slots: NDArray[np.int64], nothing: float) -> NDArray[Any]:
    """Values of individuals (time, individual, ...) as those of agents."""
    rows = np.arange(len(slots))[:, None]
    chosen = values[: len(slots)][rows, np.maximum(slots, 0)]
    empty = (slots < 0).reshape(*slots.shape, *(1,) * (chosen.ndim - 2))
    return np.where(empty, nothing, chosen)


def _fill_places(position: Floats, arena: Arena | None) -> Floats:
    """Positions (time, agents, 2) without gaps; in a periodic arena by the shorter way around."""
    if not isinstance(arena, Periodic):
        return np.stack([_interpolate(axis) for axis in np.moveaxis(position, -1, 0)], -1)
    lower, sides = arena.walls
    axes = zip(np.moveaxis(position - lower, -1, 0), sides, strict=True)
    placed: Floats = np.stack([_interpolate(axis, side) % side for axis, side in axes], -1)
    return np.asarray(placed + lower)


def _interpolate(values: Floats, period: float | None = None) -> Floats:
    """Values (time, agents) without gaps."""
    times, filled = np.arange(len(values)), np.empty_like(values)
    for n, column in enumerate(values.T):
        there = np.flatnonzero(np.isfinite(column))
        given = column[there] if period is None else np.unwrap(column[there], period=period)
        filled[:, n] = np.interp(times, there, given)
    return filled
