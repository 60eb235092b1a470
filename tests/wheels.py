"""Robots with two wheels: a system whose actions have two components."""

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import swarmdp

SPEEDS = (-0.5, 0.0, 0.5, 1.0)


@dataclass(frozen=True)
class Wheels:
    """Robots that drive to a lamp by setting the speeds of a left and a right wheel."""

    n_agents: int = 20
    noise: float = 0.1

    actions = np.array(list(itertools.product(SPEEDS, repeat=2)))
    action_names: ClassVar[Any] = ("left wheel", "right wheel")
    action_units = ("m/s", "m/s")
    features = swarmdp.Product(light=swarmdp.Angles(9), near=swarmdp.Bins([0.0, 0.2, np.inf]))
    mirror = swarmdp.model.Mirror(lambda seen: seen * [-1, 1], lambda speeds: speeds[..., ::-1])
    fields = {  # noqa: RUF012
        "position": swarmdp.model.Field("position", "m", ("axis",), kind="position"),
        "heading": swarmdp.model.Field("heading", "rad", kind="angle"),
    }

    def initial(self, rng: Any) -> Any:
        return {"position": rng.uniform(-1, 1, size=(2,)), "heading": rng.uniform(-np.pi, np.pi)}

    def observe(self, state: Any) -> Any:
        x, y = np.moveaxis(state["position"], 2, 0)
        light = np.arctan2(-y, -x) - state["heading"]
        return np.stack([light, np.hypot(x, y)], axis=2)

    def transition(self, state: Any, actions: Any, rng: Any) -> Any:
        left, right = np.moveaxis(actions, 2, 0)
        heading = state["heading"] + (right - left) + rng.normal(scale=self.noise)
        ahead = 0.1 * (left + right) / 2
        step = ahead[..., None] * np.stack([np.cos(heading), np.sin(heading)], axis=2)
        return {"position": state["position"] + step, "heading": heading}

    def expert(self, observations: Any) -> Any:
        light = np.remainder(observations[..., 0] + np.pi, 2 * np.pi) - np.pi
        ahead = np.abs(light) < np.pi / 9
        speeds = np.stack([np.where(light < 0, 1.0, 0.0), np.where(light < 0, 0.0, 1.0)], axis=-1)
        return np.where(ahead[..., None], 1.0, speeds)

    def picture(self, swarm: Any, run: int) -> Any:
        return swarmdp.model.Arrows(swarm["position"][run], swarm["heading"][run], (-1, -1, 2))
