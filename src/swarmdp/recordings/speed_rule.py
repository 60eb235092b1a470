"""The rule of speeds: what makes individuals brake, accelerate, and step aside before a collision.

An action has two components, a turn and a change of speed. The rule of turns is in `rule.py`; here
is what changes of speed react to, in a table of its own (`SPEED_COMPONENTS`), and the one turn that
distances do not explain: the sidestep before a collision. As there, reaches are chosen by
cross-validation over blocks of time, errors are from the same blocks, and a component belongs to
the rule only if it predicts other blocks better by three standard errors and its gain is larger
than in tracks shifted in time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from swarmdp.recordings.anticipation import time_to_collision
from swarmdp.recordings.arena import Arena, Periodic
from swarmdp.recordings.components import surroundings
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.interaction import shifted_decisions
from swarmdp.recordings.rule_search import Products
from swarmdp.support.arrays import Floats, Ints
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput
from swarmdp.support.rounding import with_error
from swarmdp.support.threads import one_blas_thread

if TYPE_CHECKING:
    import pandas

AHEAD = 0.5  # cosine of the angle from which on another is ahead
BLOCKS = 20  # of time
REACHES = 16  # that are tried for each component
SURE = 3.0  # standard errors by which a component must predict other blocks better
MATTERS = 0.03  # share of all that others tell of changes of speed that a component must tell
SHIFTS = 19  # of tracks shifted in time
MOST_PAIRS, SHIFTED_PAIRS = 1_000_000, 150_000  # of a row and another individual
VARYING = 0.05  # standard deviation of speeds over their mean, below which they are constant
LEAST_ROWS = 200
LONGEST = 24.0  # times the contact distance over the mean speed: longest time to collision
ROBUST = 4.0  # standard deviations at which changes are cut off, so that single ones do not decide
SWEEPS = 3
_TINY = 1e-9

Action = Literal["speed", "turn"]
Kind = Literal["length", "time"]
ACTIONS: tuple[Action, ...] = ("speed", "turn")


@dataclass(frozen=True, eq=False)
class SpeedRows:
    """One row for each decision; others (rows, others) by distance, infinite where absent."""

    time: Ints
    individual: Ints
    change: Floats  # of speed until the next decision
    turn: Floats
    speed: Floats
    usual: Floats  # mean speed of the individual
    previous: Floats  # change of speed before
    previous_turn: Floats
    wall: Floats  # 1 at the wall ahead, 0 where none is near
    distance: Floats
    ahead: Floats  # cosine of the direction of the other
    left: Floats  # and its sine
    faster: Floats  # speed of the other minus the own one
    tau: Floats  # time to collision
    side: Floats  # +1 if the turn to the left avoids the collision, -1 to the right


@dataclass(frozen=True)
class SpeedComponent:
    """A row of the table: one thing that changes of speed, or turns, may react to.

    Parameters
    ----------
    action
        What reacts: the speed or the turn.
    kind
        Whether its reach is a length or a time.
    column
        What the gain multiplies (rows,), for a reach.
    words
        What individuals do for a positive and for a negative gain; {reach} stands for the reach.
    unit
        Of the gain; {unit} stands for the unit of length.

    """

    action: Action
    kind: Kind
    column: Callable[[SpeedRows, float], Floats]
    words: tuple[str, str]
    unit: str


def _near_ahead(rows: SpeedRows, reach: float) -> Floats:
    near = np.clip(1 - rows.distance / reach, 0.0, None)
    return np.asarray(np.where(rows.ahead > AHEAD, near, 0.0).max(axis=1, initial=0.0))


def _faster(rows: SpeedRows, reach: float) -> Floats:
    inside = rows.distance < reach
    total = np.where(inside, rows.faster, 0.0).sum(axis=1)
    return np.asarray(total / np.maximum(inside.sum(axis=1), 1))


def _mean_ahead(rows: SpeedRows, reach: float) -> Floats:
    inside = rows.distance < reach
    total = np.where(inside, rows.ahead, 0.0).sum(axis=1)
    return np.asarray(total / np.maximum(inside.sum(axis=1), 1))


def _away(rows: SpeedRows, reach: float) -> Floats:
    inside = rows.distance < reach
    total = np.where(inside, -rows.left, 0.0).sum(axis=1)
    return np.asarray(total / np.maximum(inside.sum(axis=1), 1))


def _soon(rows: SpeedRows, reach: float) -> Floats:
    first: Floats = rows.tau.min(axis=1, initial=np.inf)
    return np.clip(1 - first / reach, 0.0, None)


def _sidestep(rows: SpeedRows, reach: float) -> Floats:
    if not rows.tau.shape[1]:
        return np.zeros(len(rows.tau))
    first = rows.tau.argmin(axis=1)
    side = np.take_along_axis(rows.side, first[:, None], axis=1)[:, 0]
    return np.asarray(_soon(rows, reach) * side)


SPEED_COMPONENTS = {
    "density ahead": SpeedComponent(
        "speed",
        "length",
        _near_ahead,
        ("speed up when others are {reach} ahead", "slow down when others are {reach} ahead"),
        "{unit}/s",
    ),
    "speed difference": SpeedComponent(
        "speed",
        "length",
        _faster,
        ("adopt the speed of others {reach}", "move faster where others {reach} are slower"),
        "of the difference",
    ),
    "others ahead": SpeedComponent(
        "speed",
        "length",
        _mean_ahead,
        (
            "speed up where most others {reach} are ahead",
            "slow down where most others {reach} are ahead",
        ),
        "{unit}/s",
    ),
    "time to collision": SpeedComponent(
        "speed",
        "time",
        _soon,
        ("speed up {reach} before a collision", "slow down {reach} before a collision"),
        "{unit}/s",
    ),
    "sidestep": SpeedComponent(
        "turn",
        "time",
        _sidestep,
        ("step aside {reach} before a collision", "turn into a collision {reach} before it"),
        "rad",
    ),
}


# By distance: what is compared with the time to collision, not a part of the rule of speeds, since
# the rule of turns has it.
TURN_AWAY = "turn away"
_BY_DISTANCE = {
    TURN_AWAY: SpeedComponent("turn", "length", _away, ("turn away", "turn towards"), "rad")
}


def check_speed_components(names: Sequence[str]) -> tuple[str, ...]:
    """The names in the order of the table; raises InvalidInput for one that is not there."""
    if isinstance(names, str) or any(name not in SPEED_COMPONENTS for name in names):
        raise InvalidInput(
            f"speed_components must be some of {', '.join(map(repr, SPEED_COMPONENTS))}, got "
            f"{brief(names)}"
        )
    return tuple(name for name in SPEED_COMPONENTS if name in names)


@dataclass(frozen=True)
class SpeedPart:
    """One component of a rule of speeds.

    Parameters
    ----------
    component
        Its name in `SPEED_COMPONENTS`.
    reach, reach_error
        From how far, or how long before, and its standard error.
    gain, gain_error
        The change that it makes at most in one decision, and its standard error.
    worth, worth_error
        How much better other blocks of time are predicted with it, in nats a decision.
    shifted
        The largest size of the gain in tracks shifted in time.

    """

    component: str
    reach: float
    reach_error: float
    gain: float
    gain_error: float
    worth: float
    worth_error: float
    shifted: float

    @property
    def action(self) -> Action:
        """What reacts: the speed or the turn."""
        return SPEED_COMPONENTS[self.component].action

    def sentence(self, unit: str) -> str:
        """What individuals do, with numbers."""
        row = SPEED_COMPONENTS[self.component]
        length = with_error(self.reach, self.reach_error)
        reach = f"within {length} {unit}" if row.kind == "length" else f"up to {length} s"
        words = row.words[0 if self.gain > 0 else 1].format(reach=reach)
        size = with_error(abs(self.gain), self.gain_error)
        return f"Individuals {words} ({size} {row.unit.format(unit=unit)})."


@dataclass(frozen=True, eq=False)
class SpeedRule:
    """What changes of speed react to: `analysis.speed_rule`.

    Parameters
    ----------
    parts
        One entry for each component that was found.
    varying
        The standard deviation of speeds over their mean.
    returning
        The share of the deviation from its usual speed that an individual makes up for in one
        decision.
    explained, explained_alone
        The share of the variance of changes of speed that the whole rule and that what individuals
        do by themselves explain in blocks of time that were left out.
    contact
        The distance at which two individuals collide.
    unit, dt, decisions
        The unit of length, seconds from one decision to the next, and the number of decisions.

    """

    parts: tuple[SpeedPart, ...]
    varying: float
    returning: float
    explained: float
    explained_alone: float
    contact: float
    unit: str
    dt: float
    decisions: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """The rule in sentences; what is not significant is not said."""
        if self.varying < VARYING:
            return (
                f"Speeds hardly vary (by {self.varying:.1%} of their mean): individuals only turn.",
            )
        if self.decisions < LEAST_ROWS:
            return (
                f"Too few changes of speed are known to read a rule from them ({self.decisions}; "
                f"at least {LEAST_ROWS} are needed).",
            )
        said = [part.sentence(self.unit) for part in self.parts]
        if not any(part.action == "speed" for part in self.parts):
            said.append(
                "No rule of speeds: nothing that others do predicts changes of speed better than "
                f"in tracks shifted in time ({self.decisions} decisions)."
            )
        else:
            social = self.explained - self.explained_alone
            said.append(
                f"Others explain {social:.1%} of the variance of changes of speed on time that was "
                "left out."
            )
        return tuple(said)

    def part(self, name: str) -> SpeedPart | None:
        """The part with this name, if it was found."""
        return next((part for part in self.parts if part.component == name), None)

    @property
    def table(self) -> "pandas.DataFrame":
        """One row for each component."""
        import pandas

        rows = [asdict(part) for part in self.parts]
        columns = [name for name in SpeedPart.__dataclass_fields__ if name != "component"]
        index = pandas.Index([part.component for part in self.parts], name="component")
        return pandas.DataFrame(rows, columns=columns, index=index)

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    def to_plain(self) -> dict[str, Any]:
        """Plain data, from which `from_plain` makes it again."""
        return vars(self) | {"parts": [asdict(part) for part in self.parts]}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "SpeedRule":
        """What `to_plain` wrote."""
        return cls(**dict(plain) | {"parts": tuple(SpeedPart(**part) for part in plain["parts"])})


def speed_rows(
    decisions: Decisions, arena: Arena | None, contact: float, most_pairs: int = MOST_PAIRS
) -> SpeedRows:
    """The decisions whose next speed is known, with the others who are present."""
    speeds = np.where(decisions.known, decisions.speeds, np.nan)
    joined = decisions.bouts[1:] == decisions.bouts[:-1]
    whole = np.isfinite(speeds[:-1]) & np.isfinite(speeds[1:]) & joined[:, None]
    whole &= np.isfinite(decisions.turns)
    most = max(int(decisions.present.max(initial=1)) - 1, 0)
    every = max(1, -(-int(whole.sum()) * max(most, 1) // most_pairs))
    whole[np.arange(len(whole)) % every > 0] = False
    time, individual = np.nonzero(whole)
    here = np.arange(len(time))
    gap = decisions.positions[time] - decisions.positions[time, individual][:, None]
    if isinstance(arena, Periodic):
        sides = np.asarray(arena.sides)
        gap -= sides * np.round(gap / sides)
    heading, speed = decisions.headings[time, individual], speeds[time, individual]
    distance = np.hypot(gap[..., 0], gap[..., 1])
    distance[here, individual] = np.inf
    angle, theirs = decisions.headings[time] - heading[:, None], decisions.speeds[time]
    distance[~(np.isfinite(distance) & np.isfinite(angle) & np.isfinite(theirs))] = np.inf
    order = np.argsort(distance, axis=1, kind="stable")[:, :most]
    distance, angle, theirs = (
        np.take_along_axis(values, order, axis=1) for values in (distance, angle, theirs)
    )
    there = np.isfinite(distance)
    gap = np.where(there[..., None], np.take_along_axis(gap, order[..., None], axis=1), 1.0)
    cosine, sine = np.cos(heading)[:, None], np.sin(heading)[:, None]
    ahead = gap[..., 0] * cosine + gap[..., 1] * sine
    left = gap[..., 1] * cosine - gap[..., 0] * sine
    angle, theirs = np.where(there, angle, 0.0), np.where(there, theirs, 0.0)
    moving = np.stack([theirs * np.cos(angle) - speed[:, None], theirs * np.sin(angle)], axis=-1)
    tau = time_to_collision(np.stack([ahead, left], axis=-1), moving, contact)
    usual, count = np.nanmean(speeds), np.isfinite(speeds).sum(axis=0)
    means = np.where(count > 0, np.nansum(speeds, axis=0) / np.maximum(count, 1), usual)
    before = np.concatenate([np.full((1, speeds.shape[1]), np.nan), np.diff(speeds, axis=0)])
    seen = surroundings(decisions.positions, decisions.headings, 1, 0.0, arena)[time, individual]
    scale = 0.2 * arena.window[2] if arena is not None else 1.0
    near = np.clip(1 - seen[:, 3] / scale, 0.0, None) * np.clip(np.cos(seen[:, 4]), 0.0, None)
    change = speeds[1:][time, individual] - speed
    limit = ROBUST * change.std() if len(change) else 0.0
    return SpeedRows(
        time=np.asarray(time),
        individual=np.asarray(individual),
        change=np.clip(change, -limit, limit),
        turn=np.clip(decisions.turns[time, individual], -1.0, 1.0),
        speed=speed,
        usual=means[individual],
        previous=np.nan_to_num(before[time, individual]),
        previous_turn=np.nan_to_num(decisions.previous[time, individual]),
        wall=np.nan_to_num(near) if arena is not None else np.zeros(len(time)),
        distance=distance,
        ahead=np.where(there, ahead / np.maximum(distance, _TINY), 0.0),
        left=np.where(there, left / np.maximum(distance, _TINY), 0.0),
        faster=np.where(there, theirs - speed[:, None], 0.0),
        tau=np.where(there, tau, np.inf),
        side=np.where(there, _avoiding_side(ahead, left, moving), 0.0),
    )


def _avoiding_side(ahead: Floats, left: Floats, moving: Floats) -> Floats:
    """To which side a turn avoids a collision: away from where the other passes."""
    # Relative to its own way the other passes on the left where this is positive.
    passing = left * moving[..., 0] - ahead * moving[..., 1]
    return np.where(passing > 0, 1.0, -1.0)


@one_blas_thread()
def fit_speed_rule(
    decisions: Decisions,
    arena: Arena | None,
    *,
    contact: float,
    components: Sequence[str] = tuple(SPEED_COMPONENTS),
    seed: int = 0,
) -> SpeedRule:
    """What makes recorded individuals change their speed.

    Parameters
    ----------
    decisions
        Usually the training part.
    arena
        Where they were; None for open space.
    contact
        The distance at which two individuals collide, as `Anticipation.contact`; where it is not
        known (NaN), a distance that few pairs are nearer than.
    components
        Names of `SPEED_COMPONENTS` that are tried.
    seed
        Same seed, same rule.

    """
    chosen_names = check_speed_components(components)
    speeds = decisions.speeds[decisions.known]
    mean = float(np.nanmean(speeds)) if len(speeds) else 0.0
    varying = float(np.nanstd(speeds)) / mean if mean > 0 else 0.0
    if not np.isfinite(contact):
        near = surroundings(decisions.positions, decisions.headings, 1, 0.0, arena)[..., 2]
        near = near[np.isfinite(near) & (near > 0)]
        contact = float(np.quantile(near, 0.01)) if len(near) else 1.0
    rows = speed_rows(decisions, arena, contact)
    count = len(rows.change)
    if varying < VARYING or count < LEAST_ROWS:
        return SpeedRule((), varying, 0.0, 0.0, 0.0, contact, decisions.unit, decisions.dt, count)
    moved = [
        speed_rows(part, arena, contact, SHIFTED_PAIRS)
        for part in shifted_decisions(decisions, SHIFTS, seed)
    ]
    rng = np.random.default_rng(seed)
    parts: list[SpeedPart] = []
    for action in ACTIONS:
        names = [name for name in chosen_names if SPEED_COMPONENTS[name].action == action]
        parts += SpeedFit(rows, action, contact, mean).parts(names, moved, rng)
    fit = SpeedFit(rows, "speed", contact, mean)
    chosen = {part.component: part.reach for part in parts if part.action == "speed"}
    variance = float((rows.change**2).sum())
    return SpeedRule(
        tuple(parts),
        varying,
        fit.returning,
        1 - float(fit.error(chosen).sum()) / variance,
        1 - float(fit.error({}).sum()) / variance,
        contact,
        decisions.unit,
        decisions.dt,
        count,
    )


@one_blas_thread()
def nats_of_looking_ahead(
    decisions: Decisions, arena: Arena | None, contact: float
) -> tuple[float, float]:
    """By how many nats times to collision predict turns and changes of speed better than distances.

    In blocks of time that were left out, over all decisions, with its standard error. Distances are
    those to others ahead, for speeds, and to all others, for turns.
    """
    rows = speed_rows(decisions, arena, contact)
    if len(rows.change) < LEAST_ROWS:
        return 0.0, 0.0
    total, variance = 0.0, 0.0
    mean = float(rows.speed.mean())
    rivals: dict[Action, tuple[str, str]] = {
        "speed": ("density ahead", "time to collision"),
        "turn": (TURN_AWAY, "sidestep"),
    }
    for action, names in rivals.items():
        fit = SpeedFit(rows, action, contact, mean)
        if not float(fit.target.std()) > _TINY:
            continue
        by_distance, by_time = (fit.error(fit.best([name])) for name in names)
        worth, spread = fit.worth(by_distance, by_time)
        total += worth * len(rows.change)
        variance += (spread * len(rows.change)) ** 2
    return total, float(np.sqrt(variance))


@dataclass(frozen=True, eq=False)
class SpeedFit:
    """Regressions of one action on components with reaches, in blocks of time."""

    rows: SpeedRows
    action: Action
    contact: float
    mean: float  # speed

    @cached_property
    def target(self) -> Floats:
        """What is predicted, without what individuals do by themselves (rows,)."""
        values = self.rows.change if self.action == "speed" else self.rows.turn
        return self._beyond_own(values)

    @cached_property
    def own(self) -> Floats:
        """What the action depends on without the others (rows, q)."""
        rows = self.rows
        if self.action == "turn":
            return np.stack([rows.previous_turn, rows.previous_turn**3], axis=1)
        gap = rows.speed - rows.usual
        columns = [np.ones(len(gap)), gap, gap**2, rows.usual, rows.previous, rows.wall]
        return np.stack(columns, axis=1)

    @cached_property
    def _basis(self) -> Floats:
        left, sizes, _ = np.linalg.svd(self.own, full_matrices=False)
        return np.asarray(left[:, sizes > 1e-6 * sizes.max(initial=0.0)])

    def _beyond_own(self, columns: Floats) -> Floats:
        return np.asarray(columns - self._basis @ (self._basis.T @ columns))

    @property
    def returning(self) -> float:
        """How fast individuals return to their usual speed, as a share in one decision."""
        solved = np.linalg.lstsq(self.own, self.rows.change, rcond=None)[0]
        return float(np.clip(-solved[1], 0.0, 1.0))

    @cached_property
    def reaches(self) -> dict[Kind, Floats]:
        """Lengths and times that are tried."""
        near = self.rows.distance[np.isfinite(self.rows.distance)]
        far = float(np.quantile(near, 0.9)) if len(near) else self.contact
        low = 1.2 * self.contact
        longest = LONGEST * self.contact / max(self.mean, _TINY)
        return {
            "length": np.geomspace(low, max(far, 2 * low), REACHES),
            "time": np.geomspace(longest / 40, longest / 2, REACHES),
        }

    @cached_property
    def edges(self) -> Ints:
        """Where blocks of time begin among the rows, and where the last one ends."""
        seen = np.unique(self.rows.time)
        blocks = max(2, min(BLOCKS, len(seen) // 2))
        begins = [int(part[0]) for part in np.array_split(seen, blocks) if len(part)]
        return np.append(np.searchsorted(self.rows.time, begins), len(self.rows.time))

    @cached_property
    def _columns(self) -> dict[tuple[str, float], Floats]:
        return {}

    def column(self, name: str, reach: float) -> Floats:
        """What a gain multiplies, beyond what individuals do by themselves (rows,)."""
        if (name, reach) not in self._columns:
            values = (SPEED_COMPONENTS | _BY_DISTANCE)[name].column(self.rows, reach)
            self._columns[name, reach] = self._beyond_own(values)
        return self._columns[name, reach]

    def products(self, chosen: Mapping[str, float]) -> Products:
        """Sums of products of the columns of components with these reaches."""
        columns = np.stack([self.column(*part) for part in chosen.items()], axis=1)
        spread = np.maximum(columns.std(axis=0), _TINY)
        begins = self.edges[:-1]
        scaled = columns / spread
        return Products(
            np.add.reduceat(scaled[:, :, None] * scaled[:, None, :], begins, axis=0),
            np.add.reduceat(scaled * self.target[:, None], begins, axis=0),
            np.add.reduceat(self.target**2, begins),
        )

    def error(self, chosen: Mapping[str, float]) -> Floats:
        """The squared error in each block of a regression on the others."""
        if not chosen:
            return np.asarray(np.add.reduceat(self.target**2, self.edges[:-1]))
        return np.asarray(self.products(chosen).held_out(np.arange(len(chosen))[None])[0])

    def gains(self, chosen: Mapping[str, float]) -> tuple[Floats, Floats]:
        """The coefficients of components with these reaches, and their standard errors."""
        spread = np.array([max(float(self.column(*part).std()), _TINY) for part in chosen.items()])
        products, every = self.products(chosen), range(len(chosen))
        return products.gains(every) / spread, products.errors(every) / spread

    def best(self, names: list[str]) -> dict[str, float]:
        """The reaches with which components predict other blocks best."""
        chosen: dict[str, float] = {}
        for _ in range(SWEEPS):
            before = dict(chosen)
            for name in names:
                tried = self.reaches[(SPEED_COMPONENTS | _BY_DISTANCE)[name].kind]
                errors = [self.error({**chosen, name: float(reach)}).sum() for reach in tried]
                chosen[name] = float(tried[int(np.argmin(errors))])
            if chosen == before:
                break
        return chosen

    def worth(self, without: Floats, error: Floats) -> tuple[float, float]:
        """How much better a model is, from errors in blocks: nats a decision and error."""
        counts = np.diff(self.edges)
        variance = max(float(error.sum()) / float(counts.sum()), _TINY**2)
        gains = (without - error) / (2 * variance * counts)
        weights = counts / counts.sum()
        mean = float(weights @ gains)
        return mean, float(np.sqrt((weights**2) @ (gains - mean) ** 2))

    def parts(
        self, names: list[str], moved: list[SpeedRows], rng: np.random.Generator
    ) -> list[SpeedPart]:
        """The components that are worth it and stronger than in shifted tracks."""
        chosen = self.best(names)
        shifted = [SpeedFit(rows, self.action, self.contact, self.mean) for rows in moved]
        while chosen:
            error = self.error(chosen)
            whole, _ = self.worth(self.error({}), error)
            worths = {
                name: self.worth(self.error(_without(chosen, name)), error) for name in chosen
            }
            weak = [
                name
                for name, (worth, spread) in worths.items()
                if worth <= SURE * spread or worth <= MATTERS * whole
            ]
            gains, errors = self.gains(chosen)
            chance = np.array([np.abs(other.gains(chosen)[0]) for other in shifted]).max(axis=0)
            for n, name in enumerate(chosen):
                if abs(gains[n]) <= chance[n] and name not in weak:
                    weak.append(name)
            if not weak:
                break
            least = min(weak, key=lambda name: worths[name][0])
            chosen = self.best([name for name in chosen if name != least])
        if not chosen:
            return []
        return [
            SpeedPart(
                name,
                reach,
                self._reach_error(chosen, name, rng),
                float(gains[n]),
                float(errors[n]),
                *worths[name],
                float(chance[n]),
            )
            for n, (name, reach) in enumerate(chosen.items())
        ]

    def _reach_error(
        self, chosen: Mapping[str, float], name: str, rng: np.random.Generator
    ) -> float:
        """The standard error of a reach: where it is best when blocks of time are drawn again."""
        tried = self.reaches[SPEED_COMPONENTS[name].kind]
        errors = np.stack([self.error({**chosen, name: float(reach)}) for reach in tried])
        blocks = errors.shape[1]
        weights = rng.multinomial(blocks, np.full(blocks, 1 / blocks), size=400)
        best = tried[(weights @ errors.T).argmin(axis=1)]
        step = float(np.gradient(tried)[int(np.argmin(errors.sum(axis=1)))])
        return float(np.sqrt(best.var() + step**2 / 12))


def _without(chosen: Mapping[str, float], name: str) -> dict[str, float]:
    return {other: reach for other, reach in chosen.items() if other != name}
