"""What rooms below `recordings` know of it: some protocols."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp.model.system import Field, System
from swarmdp.model.trajectory import Trajectory


@runtime_checkable
class RecordedDemo(Protocol):
    """Recorded data from which a system makes a demo, such as the decisions of a recording."""

    def as_demo(self, system: System) -> Trajectory:
        """The demo; raises InvalidInput if these are not data of this system."""


@runtime_checkable
class KnowsItsRecording(Protocol):
    """A system that was made from a recording, and knows what the swarm did in it."""

    @property
    def fields(self) -> Mapping[str, Field]:
        """What the arrays of a state mean."""

    def recorded_means(self) -> Mapping[str, float]:
        """The mean of each measure over the time it was made from; empty where unknown."""


@runtime_checkable
class MeasuresTimes(Protocol):
    """A system whose measures of many times are quicker together."""

    def measures_over(
        self, states: Mapping[str, NDArray[np.float64]]
    ) -> Mapping[str, NDArray[np.float64]]:
        """All measures (runs, times) of states (runs, times, agents, ...)."""


@runtime_checkable
class TellsDecisions(Protocol):
    """A system that was made from a recording, and knows what individuals decided in it."""

    def decided(self, demo: Trajectory) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The class (M,) in which each decision of a demo was made, and the likelihood (M, A).

        It is that of the recorded turn under each action, up to a factor in each row.
        """

    def reward_prior(self) -> NDArray[np.float64]:
        """A root (d, d) of the prior covariance of a reward's weights, as far as it is known."""
