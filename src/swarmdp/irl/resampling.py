"""Demos that might have been recorded instead: what a reward's uncertainty is measured by.

With enough runs, demos are drawn from them. A single run, or a few, cannot be resampled that way,
and blocks of its time are no substitute: a swarm that settles is at no two times the same. There
the learned swarm, from the demo's own starts and for as long, takes the expert's place. A recording
is taken to be the same at all times, so blocks of its time are drawn.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl import expectations, search
from swarmdp.irl.demos import ExpertData, expert_of
from swarmdp.irl.expectations import Estimator
from swarmdp.irl.frames import recorded_states, started_as
from swarmdp.model.features import Block, Classes, FeatureMap
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.system import System, feature_count
from swarmdp.model.trajectory import ACTING, Trajectory
from swarmdp.policies import LocalPolicy
from swarmdp.policies.learner import Wants
from swarmdp.simulation.recorders import FeaturesOverTime
from swarmdp.simulation.rollout import simulate
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput

if TYPE_CHECKING:
    import pandas

Even = Callable[[Floats], Floats]

_BLOCK, _LEAST_BLOCKS = 8, 4  # decisions in a block of time; blocks of a short recording
ENOUGH_RUNS = 5  # of a demo, so that others can be drawn from them
_LEVEL = 0.05  # share of differences called significant that may not be
_ROUNDING = 1e-9  # of the largest weight: a smaller difference is none
_MOST_CLASSES = 500  # whose differences are listed


def other_demos(
    system: System,
    demo: Trajectory,
    policy: LocalPolicy,
    *,
    copies: int,
    separate: bool,
    discount: float,
    estimator: Estimator,
    wants: Wants,
    even: Even,
    seed: int,
    threads: int | None,
) -> tuple[ExpertData, Floats | None]:
    """The expert data, and the features over time, of as many resampled demos.

    Parameters
    ----------
    system
        The swarm that was recorded.
    demo
        What was recorded: one experiment, or one for each run.
    policy
        The one learned in each experiment.
    copies
        The number of demos for each experiment; experiment e of R has the rows e, R + e, ...
    separate
        Whether each run is an experiment of its own.
    discount, estimator, wants, even
        As for `swarmdp.irl.demos.expert_of`.
    seed
        Same seed, same demos.
    threads
        All cores by default.

    """

    def expert_data(by: Trajectory) -> tuple[ExpertData, Floats | None]:
        return experts_of(
            system, [by], discount=discount, estimator=estimator, wants=wants, even=even
        )

    if demo.of_recording:
        blocks = blocks_of_time(demo.steps + 1, copies, np.random.default_rng(seed))
        return _joined([expert_data(at_times(demo, rows)) for rows in blocks])
    if not separate and demo.runs >= ENOUGH_RUNS:
        rng = np.random.default_rng(derived_seed(seed, Part.RESAMPLED_RUNS))
        drawn = rng.integers(demo.runs, size=(copies, demo.runs))
        return _pooled(*expert_data(demo), drawn)
    names = recorded_states(system, demo)
    started = started_as(system, demo, names)
    record = [
        *(["states"] if names else ["observations"]),
        *(["actions"] if "actions" in demo else []),
    ]
    made = []
    for copy in range(copies):
        runs = simulate(
            started,
            policy,
            numbers=np.arange(copy * demo.runs, (copy + 1) * demo.runs),
            steps=demo.steps,
            seed=derived_seed(seed, Part.SIMULATED_RUNS),
            record=record,
            threads=threads,
        )
        renamed = replace(runs, system_name=demo.system_name, settings=demo.settings)
        made.append(
            expert_data(renamed)
            if separate
            else _pooled(*expert_data(renamed), np.arange(demo.runs)[None])
        )
    return _joined(made)


def experts_of(
    system: System,
    demos: Sequence[Trajectory],
    *,
    discount: float,
    estimator: Estimator,
    wants: Wants,
    even: Even,
) -> tuple[ExpertData, Floats | None]:
    """The expert data and the features over time of several demos, each run an experiment."""
    return _joined(
        [
            (
                expert_of(
                    system,
                    demo,
                    discount=discount,
                    estimator=estimator,
                    wants=wants,
                    separate=True,
                    even=even,
                ),
                profile_of(system, demo, estimator, even, discount),
            )
            for demo in demos
        ]
    )


def blocks_of_time(times: int, copies: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Times of a recording drawn again, in blocks: what is near in time is similar."""
    length = max(1, min(_BLOCK, times // _LEAST_BLOCKS))
    starts = np.arange(0, times - length + 1, length)
    drawn = rng.choice(starts, size=(copies, len(starts)))
    return [(begins[:, None] + np.arange(length)).ravel() for begins in drawn]


def at_times(demo: Trajectory, rows: NDArray[np.int64]) -> Trajectory:
    """A recording made of these times of another, in this order; of the last one no action."""
    steps = np.minimum(rows[:-1], demo.steps - 1)
    cut = {}
    for name, v in demo.variables.items():
        moment = v.axes[1] if len(v.axes) > 1 else ""
        values = v.values
        if moment in ("time", "step"):
            values = values[:, rows if moment == "time" else steps]
        if name == ACTING:
            values = values & (rows[:-1] < demo.steps)[None, :, None]
        cut[name] = replace(v, values=values)
    return replace(demo, variables=cut, steps=len(rows) - 1)


def profile_of(
    system: System, demo: Trajectory, estimator: Estimator, even: Even, discount: float
) -> Floats | None:
    """The features of each run over time (runs, spans * d); None if of single agents.

    Those of a recording are the same at all times: its average.
    """
    if estimator == "single":
        return None
    if demo.of_recording:
        average = even(expectations.feature_expectations(system, demo, discount=0.0))
        steps = expectations.steps_for(discount, expectations.SHORT_TAIL)
        return np.tile(average, FeaturesOverTime(steps).spans)
    profiles = search.time_profile(system, demo)
    spans = even(profiles.reshape(len(profiles), -1, feature_count(system)))
    return spans.reshape(len(profiles), -1)


def _pooled(
    expert: ExpertData, profile: Floats | None, runs: NDArray[np.int64]
) -> tuple[ExpertData, Floats | None]:
    """Demos each made of some runs (demos, runs in each)."""
    pairs = expert.pairs
    pooled = replace(
        expert,
        mu=np.stack([expert.mu[chosen].mean(axis=0) for chosen in runs]),
        error=np.full((len(runs), expert.mu.shape[1]), np.nan),
        pairs=None if pairs is None else np.stack([pairs[chosen].sum(axis=0) for chosen in runs]),
    )
    if profile is None:
        return pooled, None
    return pooled, np.stack([profile[chosen].mean(axis=0) for chosen in runs])


def _joined(parts: list[tuple[ExpertData, Floats | None]]) -> tuple[ExpertData, Floats | None]:
    """All demos of several parts, one after another."""
    pairs = [expert.pairs for expert, _ in parts if expert.pairs is not None]
    profiles = [profile for _, profile in parts if profile is not None]
    whole = replace(
        parts[0][0],
        mu=np.concatenate([expert.mu for expert, _ in parts]),
        error=np.concatenate([expert.error for expert, _ in parts]),
        pairs=np.concatenate(pairs) if pairs else None,
    )
    return whole, np.concatenate(profiles) if profiles else None


def scaled_like(
    weights: Floats, reference: Floats, blocks: tuple[Block, ...], shifts: bool
) -> Floats:
    """Rewards (K, R, d) scaled, and shifted where that means nothing, as the reference is (R, d).

    A reward times a positive number asks for the same. So does a reward plus a number, where
    exactly one feature of each block is present at any time.
    """
    moved, target = weights.copy(), reference.copy()
    begin = 0
    for block in blocks if shifts else ():
        end = begin + math.prod(len(axis.values) for axis in block)
        for rows in (moved, target):
            rows[..., begin:end] -= rows[..., begin:end].mean(axis=-1, keepdims=True)
        begin = end
    size = np.linalg.norm(moved, axis=-1, keepdims=True)
    length = np.linalg.norm(target, axis=-1, keepdims=True)
    scaled = moved * np.divide(length, size, out=np.ones_like(size), where=size > 0)
    shifted: Floats = scaled + (reference - target)
    return shifted


def differences(weights: Floats, others: Floats, blocks: tuple[Block, ...]) -> "pandas.DataFrame":
    """The differences between the weights (d,) of each block, tested by those of others (K, d)."""
    import pandas
    from scipy import stats

    rows, begin = [], 0
    for block in blocks:
        shape = [len(axis.values) for axis in block]
        size = math.prod(shape)
        if size > _MOST_CLASSES:
            raise InvalidInput(
                f"{size} observations have {size * (size - 1) // 2} differences, too many for a "
                f"table: at most {_MOST_CLASSES} observations are compared"
            )
        names = [
            ", ".join(axis.shown.written(i) for axis, i in zip(block, place, strict=True))
            for place in np.ndindex(*shape)
        ]
        block_weights, spread = weights[begin : begin + size], others[:, begin : begin + size]
        for i, j in itertools.combinations(range(size), 2):
            gap, gaps = block_weights[i] - block_weights[j], spread[:, i] - spread[:, j]
            agreement = (np.sign(gaps) == np.sign(gap)).mean()
            rows.append((names[i], names[j], gap, gaps.std(ddof=1), agreement))
        begin += size
    columns = ["one", "other", "difference", "error", "agreement"]
    table = pandas.DataFrame(rows, columns=columns)
    away = np.abs(table["difference"].to_numpy())
    error = table["error"].to_numpy()
    # Weights that are mirror images of each other are the same, but for rounding.
    away = np.where(away > _ROUNDING * np.abs(weights).max(initial=0), away, 0.0)
    table["agreement"] = np.where(away > 0, table["agreement"], 0.0)
    # Where all agree there is no error, and no difference is one for certain.
    scaled = np.divide(away, error, out=np.where(away > 0, np.inf, 0.0), where=error > 0)
    p = 2 * stats.t.sf(scaled, len(others) - 1)
    table["p"] = stats.false_discovery_control(p) if len(p) else p
    table["significant"] = table["p"] <= _LEVEL
    return table


def one_in_each_block(features: FeatureMap) -> bool:
    """Whether exactly one feature of each block is present in any observation."""
    if not isinstance(features, Classes):
        return False
    if features.matrix is None:
        return True
    if not np.isin(features.matrix, (0, 1)).all():
        return False
    begin = 0
    for block in features.blocks:
        end = begin + math.prod(len(axis.values) for axis in block)
        if not (features.matrix[:, begin:end].sum(axis=1) == 1).all():
            return False
        begin = end
    return True
