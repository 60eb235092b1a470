"""Swarms that show what a difference means: random policies, doing nothing, a clone."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.cloning import clone
from swarmdp.model.features import Classes
from swarmdp.model.system import System, class_map
from swarmdp.model.traits import models_of, null_action, rules_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import FunctionPolicy, LocalPolicy, Policy
from swarmdp.support.errors import InvalidInput

RANDOM, NOTHING, CLONE = "random", "nothing", "clone"
BASELINES = (RANDOM, NOTHING, CLONE)
IGNORANT = (RANDOM, NOTHING)  # those that know nothing of the demo


def all_baselines(system: System) -> tuple[str, ...]:
    """The names of all that a swarm of this system can be compared with."""
    return (*BASELINES, *rules_of(system), *models_of(system))


def check_baselines(names: Sequence[str], system: System) -> tuple[str, ...]:
    """The names as a tuple; raises InvalidInput if one is not known."""
    possible = all_baselines(system)
    wrong = [name for name in names if name not in possible]
    if isinstance(names, str) or wrong:
        names_there = ", ".join(f'"{name}"' for name in possible)
        raise InvalidInput(f"baselines must be some of {names_there}, got {names!r}")
    return tuple(dict.fromkeys(names))


def random_policies(system: System, count: int, rng: np.random.Generator) -> list[LocalPolicy]:
    """Policies drawn at random, as replicas of one or one by one.

    Each is a fresh table; where there are no classes of observations, one action for ever.
    """
    actions = np.asarray(system.actions)
    if isinstance(system.features, Classes):
        return [Policy(rng.integers(len(actions), size=(count, class_map(system).size)))]
    return [always(actions[k]) for k in rng.integers(len(actions), size=count)]


def doing_nothing(system: System) -> LocalPolicy:
    """Always the action that does nothing."""
    if isinstance(system.features, Classes):
        return Policy(np.full(class_map(system).size, null_action(system)))
    return always(np.asarray(system.actions)[null_action(system)])


def always(action: Any) -> LocalPolicy:
    """The policy that takes one action, whatever it observes."""
    return FunctionPolicy(_constant(action))


def cloned_policy(system: System, demo: Trajectory) -> LocalPolicy | None:
    """The demo's clone; None if its actions are not known, or there are no classes."""
    try:
        return clone(system, demo)
    except InvalidInput:
        return None


def _constant(action: Any) -> Callable[[NDArray[Any]], NDArray[Any]]:
    def act(observations: NDArray[Any]) -> NDArray[Any]:
        return np.full((*observations.shape[:2], *np.shape(action)), action)

    return act
