"""What a demo says about the expert: feature expectations, and its actions where they are asked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.errors import InvalidInput
from swarmdp.irl import expectations
from swarmdp.irl.pairs import pair_counts
from swarmdp.model import System, settings_of
from swarmdp.trajectory import Trajectory

Demo = Trajectory | NDArray[np.float64] | list[Any] | tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Expert:
    """The expert data of R experiments."""

    mu: NDArray[np.float64]  # (R, d): feature expectations
    error: NDArray[np.float64]  # (R, d): their standard errors; NaN where unknown
    steps: int | None  # after which the sums were cut; None: they are said to be whole
    pairs: NDArray[np.float64] | None = None  # (R, observations, actions), where asked for
    actions: str | None = None  # how these are known: "recorded" or "inferred"


def expert_of(
    system: System,
    demo: Demo,
    *,
    discount: float,
    estimator: expectations.Estimator,
    needs: Sequence[str],
    separate: bool,
) -> Expert:
    """What a demo says, or feature expectations in its place; refused where it is not enough.

    The runs are pooled, unless each is an experiment of its own.
    """
    actions = "pairs" in needs or "expert_kernel" in needs
    if isinstance(demo, np.ndarray | list | tuple):
        if actions:
            raise InvalidInput(
                "this reward update learns from the expert's actions, but feature expectations "
                "have none: give a demo that recorded them, or choose an update that needs no "
                "actions, such as max_margin"
            )
        given = expectations.check_expectations(system, demo, discount)
        return Expert(*_pooled(given, separate), None)
    expectations.check_demo(system, demo, discount, settings_of(system))
    estimates = expectations.feature_expectations(
        system, demo, discount=discount, estimator=estimator
    )
    mu, error = _pooled(estimates, separate)
    if not actions:
        return Expert(mu, error, demo.steps)
    counts, source = pair_counts(system, demo, estimator=estimator)
    pairs = counts if separate else counts.sum(axis=0, keepdims=True)
    return Expert(mu, error, demo.steps, pairs, source)


def _pooled(
    estimates: NDArray[np.float64], separate: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The feature expectations of each experiment, and their standard errors."""
    if separate:
        return estimates, np.full_like(estimates, math.nan)
    mean = estimates.mean(axis=0, keepdims=True)
    if len(estimates) == 1:
        return mean, np.full_like(mean, math.nan)
    return mean, expectations.standard_error(estimates)[None]
