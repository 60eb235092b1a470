"""A method of the benchmark: what it is called, what it needs, and what it can answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.system import System
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller, LocalPolicy
from swarmdp.recordings.arena import Arena
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.swarm import Swarm

Floats = NDArray[np.float64]
Acting = Callable[[System, Trajectory, int], Controller]
"""A policy for a system, from a demo and a seed."""
Rewarding = Callable[[System, Trajectory, int], Floats]
"""Weights of a reward on the system's features, from a demo and a seed."""
Reading = Callable[[Decisions, Arena, int], Mapping[str, float]]
"""The components of the rule behind decisions, with their reaches."""
Moving = Callable[[Swarm, Decisions, int], tuple[System, LocalPolicy]]
"""A group that moves as the recorded one, from the training part."""


@dataclass(frozen=True)
class Method:
    """A row of the table.

    Parameters
    ----------
    name
        As the table has it.
    needs
        What it is given besides recorded states: actions, a simulator, gradients.
    policy
        How it finds a policy for a swarm; None: it does not answer such questions.
    reward
        How it finds a reward.
    rule
        How it finds the rule behind a recording.
    group
        How it finds a group that moves as a recorded one.
    actions
        Whether its demos must have actions.

    """

    name: str
    needs: str
    policy: Acting | None = None
    reward: Rewarding | None = None
    rule: Reading | None = None
    group: Moving | None = None
    actions: bool = False
