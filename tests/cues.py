"""Agents that must remember a cue: what they see at the gate does not tell it."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

import swarmdp

CUE, WAIT, GATE, OUTCOME = range(4)


@dataclass(frozen=True)
class Cues:
    """Each agent sees a cue, waits, and must answer it at a gate; then it sees if it was right."""

    n_agents: int = 30
    cues: int = 4

    fields = {  # noqa: RUF012
        "phase": swarmdp.model.Field("phase of the task", kind="level"),
        "cue": swarmdp.model.Field("cue to be remembered", kind="level"),
        "right": swarmdp.model.Field("whether the last answer was right", kind="level"),
    }

    @cached_property
    def actions(self) -> Any:
        return np.arange(self.cues)

    @cached_property
    def features(self) -> Any:
        return swarmdp.Levels(self.cues + 4, "sign")

    def initial(self, rng: Any) -> Any:
        cue = rng.integers(self.cues)
        return {"phase": np.zeros_like(cue), "cue": cue, "right": np.zeros_like(cue)}

    def observe(self, state: Any) -> Any:
        phase, sign = state["phase"], self.cues + state["phase"] - 1
        outcome = self.cues + 3 - state["right"]
        return np.where(phase == CUE, state["cue"], np.where(phase == OUTCOME, outcome, sign))

    def transition(self, state: Any, actions: Any, rng: Any) -> Any:
        phase, cue = state["phase"], state["cue"]
        answered = np.where(phase == GATE, (actions == cue).astype(np.int64), state["right"])
        fresh = np.where(phase == OUTCOME, rng.integers(self.cues), cue)
        return {"phase": (phase + 1) % 4, "cue": fresh, "right": answered}

    def measure(self, state: Any) -> Any:
        return state["right"].mean(axis=1)


def remembering(cues: int) -> Any:
    """The expert of `with_memory(Cues(cues=...), cues)`: it remembers the cue, and answers it."""

    def act(observations: Any) -> Any:
        sign, memory = np.moveaxis(observations.astype(np.int64), -1, 0)
        kept = np.where(sign < cues, sign, memory)
        answer = np.where(sign == cues + 1, memory, 0)
        return np.stack([answer, kept], axis=-1)

    return act


def demo_of(
    cues: int, *, runs: int = 3, steps: int = 60, seed: int = 1, actions: bool = True
) -> Any:
    """What the expert did, without its memory."""
    system = swarmdp.with_memory(Cues(cues=cues), cues)
    record = ["states", "actions"] if actions else "states"
    full = swarmdp.rollout(system, remembering(cues), steps=60, runs=3, seed=1, record=record)
    variables = {name: v for name, v in full.variables.items() if name != "memory"}
    if actions:
        pairs = variables["actions"]
        variables["actions"] = replace(pairs, values=pairs.values[..., 0], axes=pairs.axes[:3])
    settings = {name: value for name, value in full.settings.items() if name != "layers"}
    return replace(full, variables=variables, settings=settings)
