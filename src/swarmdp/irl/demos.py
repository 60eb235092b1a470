"""What a demo says about the expert: observations, feature expectations, and actions if asked."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp.irl import expectations
from swarmdp.irl.lifting import lifted, without_layers
from swarmdp.irl.pairs import pair_counts
from swarmdp.model.adapted import REPLACED
from swarmdp.model.features import Classes
from swarmdp.model.recorded import RecordedDemo
from swarmdp.model.system import System, feature_count, name_of
from swarmdp.model.traits import field_of, fields_of, settings_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies.learner import Wants
from swarmdp.simulation.recorders import check_recorded
from swarmdp.support.arguments import numbers
from swarmdp.support.errors import InvalidInput

Demo = Trajectory | RecordedDemo | NDArray[np.float64] | list[Any] | tuple[Any, ...]

ReadDemo = Trajectory | NDArray[np.float64] | list[Any] | tuple[Any, ...]

LONGEST_TAIL = 0.01  # the share of a discounted sum that a demo may leave out


@dataclass(frozen=True, eq=False)
class ExpertData:
    """The expert data of R experiments."""

    mu: NDArray[np.float64]  # (R, d): feature expectations
    error: NDArray[np.float64]  # (R, d): their standard errors; NaN where unknown
    steps: int | None  # after which the sums were cut; None: they are taken as complete
    pairs: NDArray[np.float64] | None = None  # (R, observations, actions), where asked for
    actions: str | None = None  # how these are known: "recorded" or "inferred"


@overload
def read_demo(system: System, demo: Trajectory | RecordedDemo) -> Trajectory: ...
@overload
def read_demo(system: System, demo: Demo) -> "ReadDemo": ...
@overload
def read_demo(system: System, demo: Any) -> Any: ...
def read_demo(system: System, demo: Any) -> Any:
    """Recorded data as the trajectory that the system makes of them; others as they are.

    A demo of a system is read as one of the system with augmented agents.
    """
    if isinstance(demo, RecordedDemo):
        demo = demo.as_demo(without_layers(system))
    return lifted(system, demo) if isinstance(demo, Trajectory) else demo


def expert_of(
    system: System,
    demo: ReadDemo,
    *,
    discount: float,
    estimator: expectations.Estimator,
    wants: Wants,
    separate: bool,
    even: Callable[[NDArray[np.float64]], NDArray[np.float64]] = np.asarray,
) -> ExpertData:
    """The expert data in a demo, or in feature expectations given in its place.

    Raises InvalidInput if the demo cannot teach the system.

    Parameters
    ----------
    system
        The swarm that was recorded.
    demo
        A trajectory, or feature expectations (d,) or (runs, d).
    discount
        The discount factor gamma.
    estimator
        Feature expectations from the whole "swarm" or from a "single" agent.
    wants
        What the reward update asks for; it says whether actions are needed.
    separate
        If True each run is an experiment of its own. If False the runs are pooled.
    even
        What the mirror of the system makes of feature expectations; nothing by default.

    """
    if isinstance(demo, np.ndarray | list | tuple):
        if wants.actions:
            raise InvalidInput(
                "this reward update learns from the expert's actions, but feature expectations "
                "have none: give a demo that recorded them, or choose an update that needs no "
                "actions, such as max_margin"
            )
        given = even(check_expectations(system, demo, discount))
        return ExpertData(*_pooled(given, separate), None)
    check_demo(system, demo, discount)
    estimates = expectations.feature_expectations(
        system, demo, discount=discount, estimator=estimator
    )
    mu, error = _pooled(even(estimates), separate)
    # No time of a recording is the first: its sums are those of all times on average.
    steps = None if demo.of_recording else demo.steps
    if not wants.actions:
        return ExpertData(mu, error, steps)
    counts, source = pair_counts(system, demo, estimator=estimator)
    pairs = counts if separate else counts.sum(axis=0, keepdims=True)
    return ExpertData(mu, error, steps, pairs, source)


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


def check_expectations(system: System, given: ArrayLike, discount: float) -> NDArray[np.float64]:
    """Feature expectations (R, d) given in place of a demo; raises InvalidInput if impossible."""
    size = feature_count(system)
    try:
        mu = np.atleast_2d(np.array(numbers("feature expectations", given, np.float64)))
    except InvalidInput:
        raise InvalidInput(
            f"feature expectations must be numbers of shape ({size},) or (experiments, {size}), "
            "got rows of different lengths or something that is no number"
        ) from None
    if mu.ndim != 2 or mu.shape[1] != size or not len(mu) or not np.isfinite(mu).all():
        raise InvalidInput(
            f"feature expectations must be finite numbers of shape ({size},) or (experiments, "
            f"{size}), got shape {np.shape(given)}"
        )
    if isinstance(system.features, Classes) and system.features.matrix is None:
        whole = 1 / (1 - discount)
        if mu.min() < 0 or (np.abs(mu.sum(axis=1) / whole - 1) > LONGEST_TAIL).any():
            raise InvalidInput(
                f"feature expectations of indicators must not be negative and sum to "
                f"1 / (1 - discount) = {whole:.4g}, got sums from {mu.sum(axis=1).min():.4g} to "
                f"{mu.sum(axis=1).max():.4g}: they are discounted sums over time, not averages"
            )
    return mu


def check_demo(
    system: System,
    demo: Trajectory,
    discount: float,
) -> None:
    """Raise InvalidInput if a demo cannot teach this system, before any long work starts."""
    if not isinstance(demo, Trajectory):
        raise InvalidInput(
            f"the demo must be a Trajectory, or an array of feature expectations, got "
            f"{type(demo).__name__}"
        )
    name = name_of(system)
    if demo.system_name != name:
        raise InvalidInput(f"the demo was recorded from {demo.system_name}, not from {name}")
    for key, value in settings_of(system).items():
        if key in REPLACED:
            continue  # a demo may start elsewhere, and be seen with other features
        if key in demo.settings and plain(demo.settings[key]) != plain(value):
            raise InvalidInput(
                f"the demo was recorded with {key} = {demo.settings[key]}, but the system has "
                f"{value}: fit the system that was recorded"
            )
    if demo.runs < 1 or not len(demo):
        raise InvalidInput("the demo is empty: it has no runs or nothing was recorded")
    for key, variable in demo.variables.items():
        array, units = variable.values, field_of(system, key).units
        if key in fields_of(system) and variable.units != units:
            raise InvalidInput(
                f"the demo's {key!r} is in {variable.units!r}, the system's in {units!r}"
            )
        if not np.issubdtype(array.dtype, np.number) and array.dtype != np.bool_:
            raise InvalidInput(f"the demo's {key!r} must be numbers, got {array.dtype}")
        if "agent" in variable.axes:
            agents = array.shape[variable.axes.index("agent")]
            if agents != system.n_agents:
                raise InvalidInput(
                    f"the demo's {key!r} has {agents} agents, but the system has {system.n_agents}"
                )
        if np.issubdtype(array.dtype, np.inexact) and not np.isfinite(array).all():
            raise InvalidInput(f"the demo's {key!r} has NaN or infinite values: remove these runs")
    check_recorded(system, demo, "the demo")
    tail = 0.0 if demo.of_recording else expectations.truncation(discount, demo.steps)
    if tail > LONGEST_TAIL:
        needed = expectations.steps_for(discount, LONGEST_TAIL)
        raise InvalidInput(
            f"the demo is too short for a discount of {discount}: its {demo.steps} steps leave "
            f"{tail:.0%} of the weight out; at least {needed} steps are needed, or a smaller "
            "discount"
        )


def plain(value: Any) -> Any:
    """The value as it is after writing it to a file and reading it back."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value
