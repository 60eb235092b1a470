"""The reward as curves: which distance to others, which alignment is sought.

The reward of an individual is a sum over a few things that it sees, each with a curve that is known
up to a constant. `curves_of_reward` are those of the reward that a fit returns. For rewards that
are searched (`reward_search.py`) curves are linear between knots at which about equally many
recorded individuals are. The features are hat functions, 1 at one knot and 0 at the others: feature
expectations tell how often individuals are near each knot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from swarmdp.irl.result import Result
from swarmdp.recordings.arena import Periodic
from swarmdp.recordings.components import COMPONENTS, surroundings
from swarmdp.support.arrays import Floats
from swarmdp.support.rounding import rounded, with_error

if TYPE_CHECKING:
    from swarmdp.recordings.swarm import Swarm

KNOTS = (0.02, 0.2, 0.4, 0.6, 0.8, 0.98)  # shares of recorded individuals that see less
NEIGHBOURS = 7  # nearest ones, whose mean heading and direction are seen
SURE = 3.0  # standard errors by which two knots of a curve must differ
NEAREST, CENTRE, WALL = "distance to the nearest", "distance to the group's centre", "wall distance"
MISALIGNMENT, BEARING = "misalignment", "bearing"
_ANGLES = (MISALIGNMENT, BEARING)
_ALONE = (WALL,)  # what is not of others


@dataclass(frozen=True, eq=False)
class RewardCurve:
    """What a reward says of one thing that individuals see.

    Parameters
    ----------
    component
        What is seen.
    unit
        Of its values; angles are in degrees.
    values
        (n,): the knots.
    reward
        (n,): the reward at the knots, whose mean over the recorded individuals is zero.
    draws
        (K, n): other rewards that explain the recording as well, or the same with blocks of time
        drawn again; none if errors were not asked for.
    shifted
        (S, n): the same of tracks that are shifted in time; none if it was not asked for.
    social
        Whether it tells of others.

    """

    component: str
    unit: str
    values: Floats
    reward: Floats
    draws: Floats
    shifted: Floats
    social: bool

    @property
    def error(self) -> Floats:
        """(n,): standard errors; NaN if they were not asked for."""
        if len(self.draws) < 2:
            return np.full(len(self.values), np.nan)
        return np.asarray(self.draws.std(axis=0, ddof=1))

    @property
    def best(self) -> int:
        """The knot with the highest reward."""
        return int(self.reward.argmax())

    @property
    def worst(self) -> int:
        """The knot with the lowest reward."""
        return int(self.reward.argmin())

    def _difference(self, rewards: Floats) -> Floats:
        return np.asarray(rewards[..., self.best] - rewards[..., self.worst])

    @property
    def difference(self) -> float:
        """By how much the best knot is rewarded more than the worst."""
        return float(self._difference(self.reward))

    @property
    def difference_error(self) -> float:
        """The standard error of this difference."""
        return float(self._difference(self.draws).std(ddof=1)) if len(self.draws) > 1 else np.nan

    @property
    def clear(self) -> bool:
        """Whether that is more than chance, and more than where none can react to another."""
        draws, error = self._difference(self.draws), self.difference_error
        if (draws <= 0).any() or not self.difference > SURE * error:
            return False
        if not self.social or not len(self.shifted):
            return True
        chance = self._difference(self.shifted)
        spread = float(chance.std(ddof=1)) if len(chance) > 1 else 0.0
        return self.difference > float(chance.mean()) + SURE * float(np.hypot(error, spread))

    @property
    def words(self) -> str:
        """What is sought rather than what, in words."""
        steps = np.gradient(self.values) / 2
        best, worst = (
            f"{rounded(float(self.values[k]), float(abs(steps[k])))} {self.unit}"
            for k in (self.best, self.worst)
        )
        difference = with_error(self.difference, self.difference_error)
        return f"{self.component} of {best} rather than {worst} ({difference})"

    def summary(self) -> dict[str, Any]:
        """The curve for readers: rewards with errors, and their mean in shifted tracks."""
        chance = self.shifted.mean(axis=0).tolist() if len(self.shifted) else None
        return {
            "component": self.component,
            "unit": self.unit,
            "values": self.values.tolist(),
            "reward": self.reward.tolist(),
            "error": self.error.tolist() if len(self.draws) > 1 else None,
            "shifted": chance,
            "clear": self.clear,
        }

    def to_plain(self) -> dict[str, Any]:
        """Plain data, from which `from_plain` makes it again."""
        arrays = ("values", "reward", "draws", "shifted")
        return vars(self) | {name: getattr(self, name).tolist() for name in arrays}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "RewardCurve":
        """What `to_plain` wrote."""
        count = len(plain["values"])
        arrays = {name: np.array(plain[name]) for name in ("values", "reward")}
        arrays |= {name: np.reshape(plain[name], (-1, count)) for name in ("draws", "shifted")}
        return cls(**dict(plain) | arrays)


def curves_of_reward(result: Result, shifted: Floats | None) -> tuple[RewardCurve, ...]:
    """The reward of a fit over its components, as far as it is a sum of them.

    Parameters
    ----------
    result
        Of a swarm made from a recording.
    shifted
        (S, d): the rewards of tracks that are shifted in time, or None.

    """
    weights, often = result.reward.weights[0], result.expert_mu[0]
    none = np.empty((0, len(weights)))
    draws = none if result.resamples is None else result.resamples[:, 0]
    moved = none if shifted is None else shifted
    curves, begin = [], 0
    for block in result.blocks:
        part = slice(begin, begin + int(np.prod([len(axis.values) for axis in block])))
        begin = part.stop
        if len(block) > 1:
            continue
        axis, component = block[0], COMPONENTS[block[0].name]
        if component.memory:
            continue  # what it tells is the noise
        share = often[part] / max(float(often[part].sum()), 1e-12)
        angle = axis.units == "rad"
        curves.append(
            RewardCurve(
                axis.name.replace("_", " "),
                "degrees" if angle else axis.units,
                np.degrees(axis.values) if angle else np.asarray(axis.values, np.float64),
                _centred(weights[part], share),
                _centred(draws[:, part], share),
                _centred(moved[:, part], share),
                component.social,
            )
        )
    return tuple(curves)


def _centred(rewards: Floats, share: Floats) -> Floats:
    """Rewards (..., n) whose mean over what was recorded, of these shares (n,), is zero."""
    return np.asarray(rewards - (rewards @ share)[..., None])


def sights(swarm: "Swarm", places: Floats, headings: Floats) -> dict[str, Floats]:
    """What individuals see (frames, agents), by name; angles in degrees, without their side."""
    seen = surroundings(places, headings, NEIGHBOURS, 0.0, swarm.arena)
    found = {
        NEAREST: seen[..., 2],
        MISALIGNMENT: np.degrees(np.abs(seen[..., 0])),
        BEARING: np.degrees(np.abs(seen[..., 1])),
    }
    if isinstance(swarm.arena, Periodic):
        return found
    others = (places.sum(axis=1, keepdims=True) - places) / max(places.shape[1] - 1, 1)
    found[CENTRE] = np.linalg.norm(places - others, axis=-1)
    if swarm.arena is not None:
        found[WALL] = seen[..., 3]
    return found


@dataclass(frozen=True, eq=False)
class CurveFeatures:
    """Hat functions of what individuals see, and how often the recorded ones are at each."""

    knots: Mapping[str, Floats]
    frames: Floats  # (frames, d): of each recorded frame, the mean over individuals
    unit: str

    @classmethod
    def of(cls, swarm: "Swarm") -> "CurveFeatures":
        """The knots of a recorded swarm; what hardly varies has none."""
        seen = sights(swarm, swarm.frames["position"], swarm.frames["heading"])
        knots = {}
        for name, values in seen.items():
            places = np.unique(np.quantile(values, KNOTS))
            if len(places) == len(KNOTS):
                knots[name] = places
        return cls(knots, _hats(seen, knots, values.shape[0]), swarm.unit)

    def expectations(self, seen: Mapping[str, Floats], count: int) -> Floats:
        """Feature expectations (count, d) of as many groups, from what their agents saw."""
        return _hats(seen, self.knots, count)

    @property
    def blocks(self) -> dict[str, slice]:
        """Where the features of each curve are."""
        begins = np.cumsum([0, *(len(places) for places in self.knots.values())])
        return {
            name: slice(int(begins[k]), int(begins[k + 1])) for k, name in enumerate(self.knots)
        }

    def curves(self, weights: Floats, draws: Floats, shifted: Floats) -> tuple[RewardCurve, ...]:
        """Weights (d,) as curves, with those of resampled (K, d) and shifted (S, d) tracks."""
        often = self.frames.mean(axis=0)
        return tuple(
            RewardCurve(
                name,
                "degrees" if name in _ANGLES else self.unit,
                self.knots[name],
                _centred(weights[part], often[part]),
                _centred(draws[:, part], often[part]),
                _centred(shifted[:, part], often[part]),
                name not in _ALONE,
            )
            for name, part in self.blocks.items()
        )


def _hats(seen: Mapping[str, Floats], knots: Mapping[str, Floats], count: int) -> Floats:
    """The mean of each hat function (count, d) over all that each of so many groups saw."""
    parts = []
    for name, places in knots.items():
        values = np.clip(seen[name].reshape(count, -1), places[0], places[-1])
        left = np.clip(np.searchsorted(places, values, side="right") - 1, 0, len(places) - 2)
        share = (values - places[left]) / np.diff(places)[left]
        cell = np.arange(count)[:, None] * len(places) + left
        size = count * len(places)
        total = np.bincount(cell.ravel(), 1 - share.ravel(), minlength=size)
        total += np.bincount(cell.ravel() + 1, share.ravel(), minlength=size)
        parts.append(total.reshape(count, -1) / values.shape[1])
    return np.concatenate(parts, axis=1)


def reward_at(curves: Sequence[RewardCurve], seen: Mapping[str, Floats]) -> Floats:
    """The reward of what individuals see: the sum over all curves."""
    return np.asarray(
        sum(np.interp(seen[curve.component], curve.values, curve.reward) for curve in curves)
    )
