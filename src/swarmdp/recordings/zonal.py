"""Zonal controllers: agents that turn for others in zones, for the wall and for their last turn.

A controller is a rule (`rule.py`) that acts: its mean turn is the sum over the components, each
with a gain and a zone of its own, or with priority of repulsion; to it comes a noise with the
distribution that was recorded. Turns are continuous. Walls are avoided as recorded individuals
avoid them; reflection is the last resort.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from swarmdp import kernels
from swarmdp.kernels.recorded.zonal import (
    ABSENT,
    ALONG_GAIN,
    ALONG_NEAREST,
    ALONG_RADIUS,
    AWAY_GAIN,
    AWAY_RADIUS,
    CONTACT,
    CUE_ALONG_GAIN,
    CUE_ALONG_REACH,
    CUE_GAIN,
    CUE_MIDDLE,
    CUE_NUMBERS,
    CUE_PACE,
    CUE_REACH,
    HURRY,
    LAST_TURN,
    MATCH_GAIN,
    MATCH_REACH,
    NEAR_GAIN,
    NEAR_REACH,
    NO_HEADING,
    PACE_MEMORY,
    PACE_NOISE,
    PACE_REST,
    PRIORITY,
    PULL_GAIN,
    PULL_REACH,
    SIDESTEP_GAIN,
    SIDESTEP_REACH,
    SOON_GAIN,
    SOON_REACH,
    TO_GAIN,
    TO_INNER,
    TO_NEAREST,
    TO_RADIUS,
    WALL_GAIN,
    WALL_REACH,
    ZONAL_NUMBERS,
)
from swarmdp.model.features import Angles
from swarmdp.model.pictures import Arrows
from swarmdp.model.streams import Stream
from swarmdp.model.system import Field, Measure, State
from swarmdp.recordings.calibration import LARGEST_SCORE
from swarmdp.recordings.outsider_rules import Way
from swarmdp.recordings.outsiders import Outsiders
from swarmdp.recordings.speed_rule import SPEED_COMPONENTS
from swarmdp.recordings.zone_models import ALIGNMENT, ATTRACTION, REPULSION, ZoneModel
from swarmdp.support.arrays import Floats
from swarmdp.support.rounding import rounded

if TYPE_CHECKING:
    from swarmdp.recordings.swarm import Swarm

_ALL = 1e9  # radius of a zone without end
_CUES = {"towards": (CUE_REACH, CUE_GAIN), "along": (CUE_ALONG_REACH, CUE_ALONG_GAIN)}
_CUES |= {"pace": (CUE_MIDDLE, CUE_PACE)}
_COLUMNS = {
    ALIGNMENT: (ALONG_RADIUS, ALONG_NEAREST, ALONG_GAIN),
    ATTRACTION: (TO_RADIUS, TO_NEAREST, TO_GAIN),
}
_RESPONSES = {
    "density ahead": (NEAR_REACH, NEAR_GAIN),
    "speed difference": (MATCH_REACH, MATCH_GAIN),
    "others ahead": (PULL_REACH, PULL_GAIN),
    "time to collision": (SOON_REACH, SOON_GAIN),
    "sidestep": (SIDESTEP_REACH, SIDESTEP_GAIN),
}


@dataclass(frozen=True)
class Response:
    """How the speed of a controller reacts to others, or its turn to a coming collision.

    Parameters
    ----------
    component
        Its name in `speed_rule.SPEED_COMPONENTS`.
    reach
        A length, or seconds before a collision.
    gain
        The change of speed in units a second, the share of a difference, or the turn in radians.

    """

    component: str
    reach: float
    gain: float

    def words(self, unit: str) -> str:
        """Such as 'speed difference within 1.7 m (0.52 of the difference)'."""
        row = SPEED_COMPONENTS[self.component]
        reach = f"within {self.reach:.2g} {unit}" if row.kind == "length" else f"{self.reach:.2g} s"
        gain = f"{self.gain:+.2g} {row.unit.format(unit=unit)}"
        return f"{self.component} {reach} ({gain})"


@dataclass(frozen=True)
class Reaction:
    """How a controller turns for one kind of outsider.

    Parameters
    ----------
    kind
        Of the outsider.
    way
        "towards": the direction in which it is; "along": the direction in which it moves; "pace":
        individuals get faster where it is near and slower where it is far.
    reach
        From how far, infinite for everywhere; of "pace" the distance between near and far.
    gain
        The turn in radians for an outsider at a right angle, negative for away, or against; of
        "pace" what is added to the normal score of the speed where it is at the same place.

    """

    kind: str
    way: Way
    reach: float
    gain: float

    def words(self, unit: str) -> str:
        """Such as 'away from dog within 9 m (0.3 rad)'."""
        if self.way == "pace":
            words = ("faster", "slower")[self.gain < 0]
            return f"{words} within {self.reach:.3g} {unit} of {self.kind} ({abs(self.gain):.2g})"
        near = f" within {self.reach:.3g} {unit}" if self.reach < _ALL else ""
        ways = {
            "towards": ("towards", "away from"),
            "along": ("along with", "against the heading of"),
        }[self.way]
        return f"{ways[self.gain < 0]} {self.kind}{near} ({abs(self.gain):.2g} rad)"


@dataclass(frozen=True)
class ZonalController:
    """The numbers of a zonal controller.

    Parameters
    ----------
    model
        Structure and zones.
    gains
        In radians, for each column of the model.
    previous
        The share of the last turn that is turned again.
    wall, wall_reach
        The turn away from the wall at the wall, and from how far it is avoided.
    noise
        Times the recorded noise of turns.
    together
        The correlation of the speeds of different individuals at a time: they hurry and rest
        together.
    hurry
        What is added to the normal score of the speed, in every decision, where all others are
        ahead; as much is taken away where all are behind.
    responses
        How speeds react to others, and turns to coming collisions.
    contact
        The distance at which two individuals collide.
    speed_spread
        The standard deviation of speeds: a change of speed by it is one of the normal score by 1.
    speed_memory, speed_noise, speed_rest
        Where speeds react: the share of the normal score that is kept, its noise, and what is added
        to it in every decision, so that speeds have the recorded mean. With a noise of 0, as
        without responses, they wander as the swarm's.
    reactions
        To outsiders.

    """

    model: ZoneModel
    gains: tuple[float, ...]
    previous: float
    wall: float
    wall_reach: float
    noise: float
    together: float = 0.0
    hurry: float = 0.0
    responses: tuple[Response, ...] = ()
    contact: float = 0.0
    speed_spread: float = 1.0
    speed_memory: float = 0.0
    speed_noise: float = 0.0
    speed_rest: float = 0.0
    reactions: tuple[Reaction, ...] = ()

    def row_for(self, kinds: Sequence[str]) -> Floats:
        """The controller as the kernel takes it, with numbers for these kinds of outsiders."""
        cues = np.zeros((len(kinds), CUE_NUMBERS))
        for reaction in self.reactions:
            if reaction.kind in kinds:
                reach, gain = _CUES[reaction.way]
                cues[kinds.index(reaction.kind), reach] = min(reaction.reach, _ALL)
                cues[kinds.index(reaction.kind), gain] = reaction.gain
        return np.concatenate([self.row, cues.ravel()])

    @property
    def row(self) -> Floats:
        """The controller as the kernel takes it, without outsiders (ZONAL_NUMBERS,)."""
        row = np.zeros(ZONAL_NUMBERS)
        row[[LAST_TURN, WALL_GAIN, WALL_REACH]] = self.previous, self.wall, self.wall_reach
        row[HURRY] = self.hurry
        row[PRIORITY] = float(self.model.structure == "priority")
        for name, zone in self.model.zones.items():
            gain = self.gains[self.model.column_of(name)]
            if name == REPULSION:
                row[AWAY_RADIUS], row[AWAY_GAIN] = zone.outer, gain
            elif name in _COLUMNS:
                radius, nearest, place = _COLUMNS[name]
                row[radius] = 0.0 if zone.nearest else min(zone.outer, _ALL)
                row[nearest], row[place] = zone.nearest, gain
        if ATTRACTION in self.model.zones:
            row[TO_INNER] = self.model.zones[ATTRACTION].inner
        row[CONTACT] = self.contact
        row[[PACE_MEMORY, PACE_NOISE, PACE_REST]] = (
            self.speed_memory,
            self.speed_noise,
            self.speed_rest,
        )
        for response in self.responses:
            reach, gain = _RESPONSES[response.component]
            turns = SPEED_COMPONENTS[response.component].action == "turn"
            row[reach] = min(response.reach, _ALL)
            row[gain] = response.gain if turns else response.gain / self.speed_spread
        if row[PRIORITY]:
            row[ALONG_GAIN] = row[ALONG_GAIN] or row[TO_GAIN]
        return row

    def words(self, unit: str) -> str:
        """The controller in one sentence."""
        parts = [
            f"{name} {zone.words(unit)} ({self.gains[self.model.column_of(name)]:.2g} rad)"
            for name, zone in self.model.zones.items()
        ]
        others = ", ".join(parts) if parts else "no reaction to others"
        words = f"{others}; {rounded(self.previous, 0.01)} of the last turn again"
        words += "".join(f"; {reaction.words(unit)}" for reaction in self.reactions)
        if self.hurry:
            words += f"; faster where others are ahead ({rounded(self.hurry, 0.01)})"
        if self.responses:
            words += f"; speed: {', '.join(part.words(unit) for part in self.responses)}"
        return words

    def to_plain(self) -> dict[str, Any]:
        """Plain data, from which `from_plain` makes it again."""
        return {
            "model": self.model.to_plain(),
            "gains": list(self.gains),
            "previous": self.previous,
            "wall": self.wall,
            "wall_reach": self.wall_reach,
            "noise": self.noise,
            "together": self.together,
            "hurry": self.hurry,
            "responses": [vars(part) for part in self.responses],
            "contact": self.contact,
            "speed_spread": self.speed_spread,
            "speed_memory": self.speed_memory,
            "speed_noise": self.speed_noise,
            "speed_rest": self.speed_rest,
            "reactions": [
                vars(reaction) | {"reach": min(reaction.reach, _ALL)} for reaction in self.reactions
            ],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "ZonalController":
        """The controller that `to_plain` wrote."""
        return cls(
            **dict(plain)
            | {
                "model": ZoneModel.from_plain(plain["model"]),
                "gains": tuple(plain["gains"]),
                "responses": tuple(Response(**part) for part in plain.get("responses", ())),
                "reactions": tuple(Reaction(**part) for part in plain.get("reactions", ())),
            }
        )


@dataclass(frozen=True, eq=False)
class Zonal:
    """A zonal controller in the place of a swarm's agents: a system with the swarm's states.

    What an agent observes is the turn that it wants; its expert turns by it.
    """

    swarm: "Swarm"
    controller: ZonalController
    more: tuple[ZonalController, ...] = ()  # of other kinds of agents
    members: tuple[int, ...] = ()  # the kind of each agent, 0 for `controller`; all 0 if empty
    paces: tuple[float, ...] = ()  # the speed of each kind, as a share of the swarm's

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
    def measures(self) -> Mapping[str, Measure]:
        """Those of the swarm."""
        return self.swarm.measures

    def picture(self, swarm: Mapping[str, NDArray[Any]], run: int = 0) -> Arrows:
        """As that of the swarm."""
        return self.swarm.picture(swarm, run)

    def check_state(self, state: State) -> None:
        """Raise InvalidInput for states that are not the swarm's."""
        self.swarm.check_state(state)

    @property
    def settings(self) -> dict[str, Any]:
        """The controller, and the swarm's own settings."""
        settings: dict[str, Any] = {"controller": self.controller.to_plain()}
        settings["swarm"] = self.swarm.settings
        if self.more:
            settings |= {
                "more": [one.to_plain() for one in self.more],
                "members": list(self.members),
                "paces": list(self.paces),
            }
        return settings

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write the controller to a file for use elsewhere, atomically; return the path.

        Parameters
        ----------
        path
            Its ending chooses the format: .json, .csv (a row for each number) or .h (a C function
            from what an individual sees to its mean turn).

        """
        from swarmdp.recordings.zonal_files import write_zonal

        return write_zonal(self.controller, path, self.swarm.unit, self.swarm.wobble.spread)

    def initial(self, rng: Stream) -> State:
        """As the swarm."""
        return self.swarm.initial(rng)

    def observe(self, state: State) -> Floats:
        """The turn that each agent wants (runs, agents)."""
        self.swarm.check_state(state)
        return self._looks(state)[0]

    def _looks(self, state: State) -> tuple[Floats, Floats, Floats]:
        speeds = self.swarm.speeds
        return kernels.recorded.zonal_turns(
            np.ascontiguousarray(state["position"]),
            np.ascontiguousarray(state["heading"]),
            np.ascontiguousarray(state["turn"]),
            np.tile(self._rows, (len(state["heading"]), 1, 1)),
            *self._walls,
            kernels.recorded.interpolate(state["pace"], speeds.table, LARGEST_SCORE)
            if any(one.responses for one in self.kinds)
            else None,
            self.who,
            self._cues(state),
        )

    @property
    def kinds(self) -> tuple[ZonalController, ...]:
        """The controllers of all kinds of agents, that of the first kind first."""
        return (self.controller, *self.more)

    @cached_property
    def who(self) -> NDArray[np.int64]:
        """The kind of each agent (agents,)."""
        return np.array(self.members or (0,) * self.n_agents, np.int64)

    @cached_property
    def _rows(self) -> Floats:
        names = () if self.swarm.outsiders is None else self.swarm.outsiders.names
        return np.stack([one.row_for(names) for one in self.kinds])

    def _cues(self, state: State) -> "kernels.recorded.ZonalCues | None":
        """Where outsiders are at the time of a state."""
        others = self.swarm.outsiders
        if others is None:
            return None
        return cues_at(others, state["clock"][:, 0], state["position"])

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """As it wants."""
        return observations

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Turn by the action and the noise, then move; walls reflect."""
        self.swarm.check_state(state)
        score = rng.normal()
        fresh = common_scores(self.controller.together, ndtri(rng.shared()), rng.normal())
        speeds = self.swarm.speeds
        memory, size = self._wandering
        pace = memory * state["pace"] + size * fresh
        if any(one.hurry or one.reactions or one.responses for one in self.kinds):
            hurry = np.array([one.hurry for one in self.kinds])[self.who]
            _, ahead, faster = self._looks(state)
            pace = pace + hurry * ahead + faster
        step = kernels.recorded.interpolate(pace, speeds.table, LARGEST_SCORE) * self.swarm.dt
        if self.paces:
            step = step * np.array(self.paces)[self.who]
        sizes = np.array([one.noise for one in self.kinds])[self.who]
        noise = sizes * self.swarm.wobble.values(score, state["turn"])
        place, heading, turned = kernels.recorded.turn_and_move(
            np.ascontiguousarray(state["position"]),
            np.ascontiguousarray(state["heading"]),
            np.ascontiguousarray(actions, np.float64) + noise,
            step,
            *self._walls,
        )
        return {
            "position": place,
            "heading": heading,
            "turn": turned,
            "noise": score,
            "pace": pace,
            **self.swarm.later(state),
        }

    @cached_property
    def _wandering(self) -> tuple[Floats, Floats]:
        """Memory and noise of the speed scores of each agent (agents,)."""
        memory = self.swarm.speeds.memory
        kept = [one.speed_memory if one.speed_noise else memory for one in self.kinds]
        noise = [one.speed_noise or math.sqrt(1 - memory**2) for one in self.kinds]
        return np.array(kept)[self.who], np.array(noise)[self.who]

    @property
    def _walls(self) -> tuple[int, Floats]:
        arena = self.swarm.arena
        return (
            (kernels.space.OPEN, np.zeros((1, 2))) if arena is None else (arena.kind, arena.walls)
        )


def cues_at(
    others: Outsiders, clock: Floats, position: Floats | None = None
) -> "kernels.recorded.ZonalCues":
    """Where outsiders are at some times (...,), as the kernel takes it.

    For agents at `position` (..., agents, 2); without it, the places of outsiders that follow are
    from the centre of the agents, which the kernel knows.
    """
    times = others.frames_at(clock)
    places = others.places_at(clock, position)
    follows = others.following if position is None else np.zeros(len(others.kinds), bool)
    places = np.nan_to_num(places, nan=ABSENT)
    return kernels.recorded.ZonalCues(
        np.ascontiguousarray(places[..., 0]),
        np.ascontiguousarray(places[..., 1]),
        np.nan_to_num(others.known_headings[times], nan=NO_HEADING),
        others.which,
        follows.astype(np.int64),
    )


def common_scores(together: float, common: Floats, own: Floats) -> Floats:
    """Normal numbers (..., agents) with this correlation, from a common one (...,) and own ones."""
    return math.sqrt(together) * common[..., None] + math.sqrt(1 - together) * own
