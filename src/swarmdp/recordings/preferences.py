"""What a learned reward prefers: for each component the best and the worst class, with errors."""

from dataclasses import dataclass

import numpy as np

from swarmdp.irl.result import Result
from swarmdp.recordings.components import COMPONENTS
from swarmdp.support.arrays import Floats
from swarmdp.support.rounding import rounded, with_error

_BEYOND = 2.0  # standard errors by which a reward must differ from that of shifted tracks
_LEVEL = 0.05  # share of differences of rewards that are called clear and are not


@dataclass(frozen=True)
class Preference:
    """The two classes of one component whose rewards differ most."""

    component: str
    best: str
    worst: str
    difference: float
    error: float | None  # standard error of this difference; None without resamples
    p: float | None  # as in `Result.differences`, where all pairs of classes are tested together
    shifted: float | None = None  # the same difference where individuals are shifted in time, mean
    shifted_spread: float | None = None  # and its standard deviation
    identified: bool = False  # all rewards that do as well agree on its sign
    social: bool = False  # it tells of others

    @property
    def clear(self) -> bool:
        """Whether the difference is significant and identified, and not so in shifted tracks.

        Of those called significant about 5 % are not. What a reward says of others must be more
        than where none can react to another.
        """
        if self.p is None or self.p > _LEVEL or not self.identified:
            return False
        if not self.social or self.shifted is None or self.shifted_spread is None:
            return True
        error = float(np.hypot(self.error or 0.0, self.shifted_spread))
        return self.difference > self.shifted + _BEYOND * error

    def __str__(self) -> str:
        chance = ""
        if self.shifted is not None:
            chance = f", {rounded(self.shifted, self.error)} when shifted in time"
        difference = with_error(self.difference, self.error)
        return f"{self.best} rather than {self.worst} ({difference}{chance})"


def preferences_of(result: Result, shifted_rewards: Floats | None) -> tuple[Preference, ...]:
    """What a reward asks for, one entry for each component of an additive reward.

    Parameters
    ----------
    result
        With the reward, and resamples for its errors.
    shifted_rewards
        (K, d): those of tracks that are shifted in time, or None.

    """
    preferences, begin, done = [], 0, 0
    mirrored = bool(result.settings["mirror"])
    weights, others = result.reward.weights[0], result.alternatives
    # The pair that differs most was chosen among all, so it is tested among all.
    tested = agreed = None
    if others is not None:
        tested = result.differences()
        agreed = result.identified()["identified"].to_numpy()
    for block in result.blocks:
        shape = [len(axis.values) for axis in block]
        size = int(np.prod(shape))
        block_weights = weights[begin : begin + size]
        high, low = int(block_weights.argmax()), int(block_weights.argmin())
        gaps = None
        if shifted_rewards is not None:
            gaps = shifted_rewards[:, begin + high] - shifted_rewards[:, begin + low]
        begin += size
        pairs = size * (size - 1) // 2
        rows = None if tested is None else tested[done : done + pairs]
        done += pairs
        if not pairs:
            continue
        error = p = None
        identified = False
        if rows is not None and agreed is not None:
            one, other = sorted((high, low))
            place = one * size - one * (one + 1) // 2 + other - one - 1
            error, p = float(rows["error"].iloc[place]), float(rows["p"].iloc[place])
            identified = bool(agreed[done - pairs + place])
        best, worst = (
            ", ".join(
                COMPONENTS[axis.name].words(axis.shown, int(place), mirrored)
                for axis, place in zip(block, np.unravel_index(index, shape), strict=True)
            )
            for index in (high, low)
        )
        title = " and ".join(axis.name for axis in block)
        chance = None if gaps is None else float(gaps.mean())
        spread = None if gaps is None else float(gaps.std(ddof=1))
        gap = float(block_weights[high] - block_weights[low])
        social = any(COMPONENTS[axis.name].social for axis in block)
        preferences.append(
            Preference(title, best, worst, gap, error, p, chance, spread, identified, social)
        )
    return tuple(preferences)
