"""The units of a reproduction put together: what the figures show and the claims ask."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.paper.pairs import Pairs
from swarmdp.paper.plan import Plan
from swarmdp.paper.store import Store
from swarmdp.paper.tasks import Arrays, Unit, case_of, tasks_of
from swarmdp.paper.uncertainty import Uncertainty, uncertainty
from swarmdp.policies import Policy
from swarmdp.support.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Band:
    """A measure over time: mean and 10 % and 90 % quantiles, as arrays over time.

    For the expert these are over all runs; otherwise each experiment has its own, over its runs,
    and they are averaged over the experiments.
    """

    mean: Floats
    low: Floats
    high: Floats
    curves: Floats  # (experiments, times): the means; of the expert, the runs
    runs: int  # in all

    def over(self, times: slice) -> tuple[float, float]:
        """The mean over a span of time, and its standard error."""
        values = self.curves[:, times].mean(axis=1)
        return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


@dataclass(frozen=True, eq=False)
class Fits:
    """What the experiments of one learner found."""

    weights: Floats  # (experiments, features)
    table: Ints  # (experiments, observations)
    distance: Floats  # (experiments,)
    visited: NDArray[np.uint8]  # (experiments, features): whether the demo visited it

    @property
    def policy(self) -> Policy:
        """The policies of all experiments."""
        return Policy(self.table)


def task_arrays(store: Store, task: str) -> Arrays:
    """The arrays of all units of a task, one after the other."""
    count = tasks_of(store.plan)[task].count
    units = [store.read(Unit(task, index)) for index in range(count)]
    return {name: np.concatenate([unit[name] for unit in units]) for name in units[0]}


def bands(store: Store, system: str, which: str) -> dict[str, Band]:
    """The measure of a system over time: expert, learned, hand-crafted and random policies."""
    names = {
        "expert": f"{system}-expert",
        "swarm": f"{system}-swarm-{which}",
        "single": f"{system}-single-{which}",
        "hand": f"{system}-hand-{which}",
        "random": f"{system}-random",
    }
    return {curve: _band(store.plan, task_arrays(store, task)) for curve, task in names.items()}


def _band(plan: Plan, arrays: Arrays) -> Band:
    if "measure" in arrays:
        values = arrays["measure"].astype(np.float64)
        low, high = np.quantile(values, [0.1, 0.9], axis=0)
        return Band(values.mean(axis=0), low, high, values, len(values))
    mean, low, high = (arrays[name].mean(axis=0) for name in ("mean", "low", "high"))
    return Band(mean, low, high, arrays["mean"], plan.runs_each * len(arrays["mean"]))


def fits_of(store: Store, system: str, which: str) -> Fits:
    """The fits_of from the whole swarm."""
    arrays = task_arrays(store, f"{system}-swarm-{which}")
    return Fits(*(arrays[name] for name in ("weights", "table", "distance", "visited")))


def solutions(plan: Plan, fits: Fits) -> dict[str, int]:
    """Which solution the experiments on the Ising model found, and how often.

    One with exceptions is counted apart: flipping at a tie changes the energy by a quarter.
    """
    system: Any = case_of(plan, "ising").system
    parts = [
        name.partition(" but for ")
        for name in system.solutions(fits.table, fits.visited.astype(bool))
    ]
    names = [f"{name}{but}{'some energies' if odd else ''}" for name, but, odd in parts]
    return {name: names.count(name) for name in dict.fromkeys(names)}


def uncertainties(store: Store) -> dict[float, Uncertainty]:
    """The uncertainty coefficient for each radius."""
    times = np.array(store.plan.uncertainty_times)
    by_radius = {}
    for radius in store.plan.radii:
        arrays = task_arrays(store, f"uncertainty-{radius:g}")
        by_radius[radius] = uncertainty(Pairs(times, arrays["reference"], arrays["partner"]))
    return by_radius
