"""Step 1 of Algorithm 2: who explores and who is greedy."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.model.streams import Purpose, Stream, Streams
from swarmdp.support.errors import InvalidInput

Exploration = Literal["redrawn", "fixed"]
_KINDS = ("redrawn", "fixed")


def check_exploration(exploration: str) -> None:
    """Raise InvalidInput unless it is a known way to choose the exploring agents."""
    if exploration not in _KINDS:
        raise InvalidInput(f'exploration must be "redrawn" or "fixed", got {exploration!r}')


@dataclass(frozen=True, eq=False)
class Explorers:
    """The agents that explore: a set drawn in every iteration, or a fixed set that shrinks."""

    place: NDArray[np.float64] | None  # of each agent in a fixed order (runs, agents), 0 to 1

    @classmethod
    def of(cls, exploration: Exploration, streams: Streams) -> "Explorers":
        """The exploring agents of the runs of these streams."""
        if exploration == "redrawn":
            return cls(None)
        chance = streams.at(0, Purpose.POLICY).uniform()
        rank = chance.argsort(axis=1).argsort(axis=1)
        return cls((rank + 0.5) / chance.shape[1])

    def chances(self, stream: Stream, temperature: float) -> NDArray[np.float64]:
        """A number for each agent (runs, agents); agents below the temperature explore.

        Among these the number is uniform, so it also determines the action that they try.
        """
        chance = stream.coarse()
        if self.place is None:
            return chance
        return kernels.tables.among_first(chance, self.place, temperature)
