"""The options of `swarmdp.analyse`: one field for each. A new option is a new field here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from swarmdp.irl.updates.evidence import RewardUpdate
from swarmdp.recordings.arena import Arena
from swarmdp.recordings.components import ZONE_COMPONENTS, Observation, check_zone_components
from swarmdp.recordings.space.arena import SpaceArena
from swarmdp.recordings.speed_rule import SPEED_COMPONENTS, check_speed_components
from swarmdp.support.arguments import checked
from swarmdp.support.checks import check_number
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Index, PositiveInteger


@checked(skip=("update", "discount"))
@dataclass(frozen=True, kw_only=True, eq=False)
class AnalysisSettings:
    """The options of an analysis; each can be given to `swarmdp.analyse` by its name.

    Parameters
    ----------
    dt
        Seconds from one decision to the next; see `Recording.decisions`.
    jump, max_gap, smooth, slow
        How the tracks are cleaned; see `Recording.decisions`.
    observation
        What individuals may react to; `Observation()` by default.
    arena
        As for `Swarm.from_recording`. In three dimensions a Sphere, a Cuboid or PeriodicSpace;
        "auto" is open space there.
    update, discount
        Of the fit; see `swarmdp.fit`.
    iterations
        Of Algorithm 1, in the fit of a policy to the reward's classes. The reward of a recording is
        that of its decisions, which does not depend on it.
    resamples
        The number of fits to the same decisions with blocks of time drawn again, for the errors of
        the reward; 0 for none. With them come as many, at most four, where every individual is
        shifted in time: what a reward says by chance.
    judge
        Whether simulated swarms are compared with the held-out time.
    components
        What others may make individuals do in the rule of turns: some of "repulsion", "alignment"
        and "attraction".
    speed_components
        What changes of speed may react to: some of "density ahead", "speed difference", "others
        ahead" and "time to collision"; "sidestep" is the turn before a collision.
    contact
        The distance at which two individuals collide, in the unit of the recording; "auto" is the
        one with which times to collision tell most.
    kinds
        How many kinds of individuals there are, each with a rule of its own: "auto" finds it out,
        a number is taken as it is, "given" are the kinds of the recording. None does not ask.
    baselines
        As for `swarmdp.judge`; by default all of them, Vicsek's and Couzin's models among them.

    Examples
    --------
    >>> import swarmdp
    >>> swarmdp.recordings.AnalysisSettings(arena=None, dt=0.1).resamples
    8

    """

    dt: float | Literal["auto"] = "auto"
    jump: float = 8.0
    max_gap: float = 0.3
    smooth: float | Literal["auto"] = "auto"
    slow: float = 0.15
    observation: Observation | None = None
    arena: Arena | SpaceArena | Literal["auto", "circle", "box"] | None = "auto"
    update: str | RewardUpdate = "max_margin"
    iterations: PositiveInteger = 1
    discount: float | Literal["auto"] = 0.9
    resamples: Index = 8
    judge: bool = True
    baselines: Sequence[str] | None = None
    components: Sequence[str] = tuple(ZONE_COMPONENTS)
    speed_components: Sequence[str] = tuple(SPEED_COMPONENTS)
    contact: float | Literal["auto"] = "auto"
    kinds: int | Literal["auto", "given"] | None = None

    def __post_init__(self) -> None:
        check_zone_components(self.components)
        check_speed_components(self.speed_components)
        if not isinstance(self.contact, str):
            check_number("contact", self.contact, positive=True)
        if isinstance(self.kinds, int) and self.kinds < 1:
            raise InvalidInput(f'kinds must be at least 1, or "auto", got {self.kinds}')
        if self.resamples == 1:
            raise InvalidInput("resamples must be 0 or at least 2: one has no spread, got 1")
