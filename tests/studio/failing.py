"""A system of a user's own that goes wrong."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from swarmdp.model import Stream
from swarmdp.model.system import State
from tests.examples import Robots


@dataclass(frozen=True)
class Failing(Robots):
    """Robots whose world ends after three steps, if they are alone in it."""

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        if rng._step >= 3 and len(rng.runs) == 1:
            raise ZeroDivisionError("the world ended")
        return super().transition(state, actions, rng)
