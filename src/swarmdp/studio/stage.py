"""The two swarms that are watched side by side, from the same start."""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from swarmdp.model.pictures import Grid
from swarmdp.model.rewards import Reward
from swarmdp.model.system import System, check_is_system, name_of
from swarmdp.model.traits import measures_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller, LocalPolicy
from swarmdp.policies.replicas import as_policy
from swarmdp.report.colours import BLUE, SPINS, colours_of, heading_colours
from swarmdp.studio import frames
from swarmdp.studio.live import Live, Replay, WatchedSwarm, measure_now, picture_of, start_of
from swarmdp.support.errors import InvalidInput

_FASTEST_ARROWS = 60  # steps per second
_FASTEST_GRID = 5  # a grid that blinks then flashes less than three times per second
MOST_MEASUREMENTS = 600  # steps whose measures wait for a frame
_HEADING_COLOURS = 64
_MOST_AGENTS = 200_000


@dataclass(frozen=True, eq=False)
class Play:
    """What is shown: a system, what it is compared with, and the seed of both."""

    system: System
    left: Controller | Trajectory  # the expert, or a recording
    seed: int

    def __post_init__(self) -> None:
        check_is_system(self.system)
        if self.system.n_agents > _MOST_AGENTS:
            raise InvalidInput(
                f"the studio shows at most {_MOST_AGENTS} agents, got {self.system.n_agents}: "
                "choose fewer"
            )

    @property
    def started(self) -> System:
        """The system, started where the recording starts if there is one."""
        if isinstance(self.left, Trajectory):
            return start_of(self.system, self.left)
        return self.system


class StudioStage:
    """An expert or a recording on the left, a swarm with a policy on the right.

    Threads may call all methods at any time: one of them works, the others wait.
    """

    def __init__(self, play: Play, policy: Controller, scene: int) -> None:
        self.play, self.scene = play, scene
        self._system = play.started
        self._policy = as_policy(policy)
        self._reward: Reward | None = None
        self._lock = threading.RLock()
        self._number = 0
        self.restart(play.seed)
        first = picture_of(self._right)
        self.fastest = _FASTEST_GRID if isinstance(first, Grid) else _FASTEST_ARROWS
        self.usual = min(self.fastest, first.steps_per_second)
        self.first_picture = first

    def restart(self, seed: int) -> None:
        """Start both swarms again with this seed."""
        with self._lock:
            self.seed, left = seed, self.play.left
            self._left: WatchedSwarm
            if isinstance(left, Trajectory):
                self._left = Replay(self.play.system, left)
            else:
                self._left = Live(self._system, left, seed)
            self._right = Live(self._system, self._policy, seed)
            self._window = frames.Window()
            self._rows: list[list[float]] = []
            self._restarted = True
            self._measure()

    def follow(self, policy: LocalPolicy) -> None:
        """Let another policy move the right swarm from now on."""
        with self._lock:
            self._right.follow(policy)
            self._policy = policy

    def collect(self, reward: Reward | None) -> None:
        """Measure another reward from now on."""
        with self._lock:
            self._reward = reward

    @property
    def columns(self) -> int:
        """The number of measures in a step: of both swarms, with their rewards."""
        return 2 * (len(measures_of(self.play.system)) + 1)

    @property
    def step(self) -> int:
        """The number of steps so far."""
        return self._right.step

    @property
    def policy(self) -> LocalPolicy:
        """What moves the right swarm."""
        return self._policy

    def advance(self) -> bool:
        """Move both swarms on by one step; False at the end of a recording."""
        with self._lock:
            if not self._left.advance():
                return False
            self._right.advance()
            self._measure()
            return True

    def frame(self) -> bytes:
        """The swarms as they are now, with the measures of all steps since the frame before."""
        with self._lock:
            pictures = [picture_of(self._left), picture_of(self._right)]
            moved = self._window.show(pictures)
            jump, self._restarted = self._restarted or moved, False
            rows, self._rows = self._rows, []
            self._number += 1
            return frames.pack_frame(
                pictures,
                self._window,
                np.array(rows, np.float32).reshape(len(rows), self.columns),
                scene=self.scene,
                step=self.step,
                number=self._number,
                jump=jump,
            )

    @property
    def left_name(self) -> str:
        """What is on the left."""
        return "recording" if isinstance(self.play.left, Trajectory) else "expert"

    @property
    def frames_made(self) -> int:
        """The number of the newest frame."""
        return self._number

    def description(self) -> dict[str, Any]:
        """What a browser has to know before the first frame, as plain data."""
        first, system = self.first_picture, self.play.system
        shape = first.values.shape[1:] if isinstance(first, Grid) else (1, 1)
        if isinstance(first, Grid):
            shades = 2 if first.values.dtype == np.bool_ else frames.SHADES
            colours = colours_of(SPINS, shades)
        else:
            arrows = first.headings is not None
            colours = heading_colours(_HEADING_COLOURS) if arrows else [BLUE]
        return {
            "scene": self.scene,
            "name": name_of(system),
            "agents": system.n_agents,
            "rows": shape[0],
            "columns": shape[1],
            "periodic": not isinstance(first, Grid) and first.periodic,
            "colours": colours,
            "left": self.left_name,
            "measures": [
                {"name": name, "label": measure.label, "limits": list(measure.limits)}
                for name, measure in measures_of(system).items()
            ],
            "fastest": self.fastest,
            "usual": self.usual,
            "seed": self.seed,
        }

    def _measure(self) -> None:
        row = [*measure_now(self._left, self._reward), *measure_now(self._right, self._reward)]
        self._rows.append(row)
        del self._rows[:-MOST_MEASUREMENTS]
