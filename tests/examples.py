"""Systems of a user's own, and the code of the documentation."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from swarmdp import Angles, Levels, Product
from swarmdp.model import Arrows, Grid, Measure, Stream
from swarmdp.model.features import Basis
from swarmdp.model.system import State

ROOT = Path(__file__).parent.parent


def snippets(page: str) -> list[str]:
    """The Python code blocks of a page of the documentation, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    cells = re.findall(
        r"^```(?:\{code-cell\} )?python\n(---\n.*?---\n)?(.*?)```", text, re.S | re.M
    )
    return [code for _, code in cells]


@dataclass(frozen=True)
class Robots:
    """Robots that see from where the light comes and how many others are near; turn to steer."""

    n_agents: int = field(default=12, metadata={"help": "number of robots"})
    noise: float = field(
        default=math.radians(5), metadata={"help": "of the wheels", "degrees": True}
    )
    reach: float = 0.3
    additive: bool = False
    lamp: tuple[float, float] = (0.5, 0.5)
    steps: int = 1  # of the wheels in one time step; the command line has --steps as well
    label: str | None = "red"

    actions = np.radians([-40.0, 0.0, 40.0])
    action_units = "rad"

    @property
    def features(self) -> Product:
        return Product(light=Angles(8), neighbours=Levels(4), additive=self.additive)

    def initial(self, rng: Stream) -> State:
        return {"place": rng.uniform(size=(2,)), "heading": rng.uniform(-math.pi, math.pi)}

    def observe(self, state: State) -> NDArray[np.float64]:
        place = state["place"]
        away = np.array(self.lamp) - place
        bearing = np.arctan2(away[..., 1], away[..., 0]) - state["heading"]
        gaps = np.linalg.norm(place[:, :, None] - place[:, None], axis=3)
        near = (gaps < self.reach).sum(axis=2) - 1
        return np.stack([np.angle(np.exp(1j * bearing)), np.minimum(near, 3)], axis=2)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        heading = state["heading"] + actions + rng.normal(scale=self.noise)
        way = 0.03 * self.steps * np.stack([np.cos(heading), np.sin(heading)], axis=2)
        return {"place": state["place"] + way, "heading": heading}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        turns = np.round(observations[..., 0] / np.radians(40)).clip(-1, 1)
        return np.asarray(np.radians(40) * turns)

    def to_lamp(self, state: State) -> NDArray[np.float64]:
        gap: NDArray[np.float64] = np.linalg.norm(state["place"] - self.lamp, axis=2).mean(axis=1)
        return gap

    def lit(self, state: State) -> NDArray[np.int64]:
        near: NDArray[np.int64] = (np.linalg.norm(state["place"] - self.lamp, axis=2) < 0.2).sum(1)
        return near

    @property
    def measures(self) -> Mapping[str, Measure]:
        return {
            "to_lamp": Measure(self.to_lamp, "mean distance to the lamp", "m", (0.0, None)),
            "lit": Measure(self.lit, "robots in the light", limits=(0, self.n_agents)),
        }

    def picture(self, swarm: Mapping[str, NDArray[Any]], run: int = 0) -> Arrows:
        return Arrows(swarm["place"][run], swarm["heading"][run])


@dataclass(frozen=True)
class Sand:
    """Agents on a ring of cells that topple to a neighbour; a grid of whole numbers."""

    n_agents: int = 20
    cells: int = 30

    actions = np.array([-1, 0, 1])
    features = Levels(3, name="height")

    def initial(self, rng: Stream) -> State:
        return {"cell": rng.integers(self.cells)}

    def _heights(self, cell: NDArray[Any]) -> NDArray[np.int64]:
        return np.stack([np.bincount(row, minlength=self.cells) for row in cell])

    def observe(self, state: State) -> NDArray[Any]:
        heights = np.take_along_axis(self._heights(state["cell"]), state["cell"], axis=1)
        return np.minimum(heights, 3) - 1

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        return {"cell": (state["cell"] + actions) % self.cells}

    def picture(self, swarm: Mapping[str, NDArray[Any]], run: int = 0) -> Grid:
        return Grid(self._heights(swarm["cell"][run]).reshape(-1, 5, self.cells // 5))


def result_of(features: Any, experiments: int = 1, **options: Any) -> swarmdp.Result:
    """A quick fit of robots with these features."""
    system = swarmdp.model.with_features(Robots(), features)
    demo = swarmdp.rollout(Robots(), Robots().expert, steps=50, runs=experiments, seed=1)
    options = {
        "iterations": 2,
        "learner": swarmdp.learning.HeterogeneousLearning(steps=5),
        **options,
    }
    return swarmdp.fit(system, demo, seed=2, separate=True, progress=False, **options, judge=False)


NAMED = Basis(
    lambda seen: np.cos(seen),
    ("ahead", "few others"),
    (swarmdp.features.Axis("light", units="rad"), swarmdp.features.Axis("neighbours")),
)
