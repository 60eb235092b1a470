"""Is a swarm local, or led? How often `swarmdp.locality_test` says which.

Swarms whose agents see only their neighbourhood, at several ranges, and swarms that follow a cue
which their observations do not show: a hidden field, a hidden leader, a central controller, a
synchronised clock. Each has 40 swarms with settings drawn at random; the first 20 of each kind were
developed with, and the others were run once.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

import swarmdp
from studies.command import main
from swarmdp.model.streams import Stream, derived_seed
from swarmdp.model.system import Field, State

SWARMS = 40  # of each kind, of which the second half is run once
STEPS = 80
CUES = ("field", "leader", "command", "clock")
LOCAL = ("short range", "middle range", "long range", "nearest")


@dataclass(frozen=True)
class Led(swarmdp.Vicsek):
    """Aligning agents that also follow something that they do not observe."""

    cue: str = "field"
    pull: float = 0.3  # radians a step, at most
    period: int = 15  # steps of a clock, and over which a command or a field changes

    @property
    def fields(self) -> Any:
        """The cue is bookkeeping."""
        return {**super().fields, "cue": Field("what is followed", axes=("part",), kind="hidden")}

    def initial(self, rng: Stream) -> State:
        """The cue begins anywhere."""
        state = super().initial(rng)
        drawn = np.stack([rng.shared() for _ in range(4)], axis=1)
        return {**state, "cue": np.repeat(drawn[:, None], self.n_agents, axis=1)}

    def transition(self, state: State, actions: Any, rng: Stream) -> State:
        """The agents turn by what they observe and by what they follow."""
        cue, heading = state["cue"], state["heading"]
        x, y, phase, walk = np.moveaxis(cue, 2, 0)
        towards = 2 * math.pi * walk
        more = np.zeros(heading.shape)
        if self.cue == "field":
            more = self.pull * np.sin(towards - heading)
        elif self.cue == "leader":
            dx, dy = np.moveaxis(state["position"], 2, 0)
            dx, dy = ((c - p + 0.5) % 1.0 - 0.5 for c, p in ((x, dx), (y, dy)))
            more = self.pull * np.sin(np.arctan2(dy, dx) - heading)
        elif self.cue == "command":
            more = self.pull * np.sign(np.sin(towards))
        elif self.cue == "clock":
            beat = (phase * self.period).astype(np.int64) % self.period == 0
            more = np.where(beat, 2 * self.pull, 0.0)
        after = super().transition(
            {n: state[n] for n in ("position", "heading")}, actions + more, rng
        )
        return {**after, "cue": self._moved(cue, rng)}

    def _moved(self, cue: Any, rng: Stream) -> Any:
        """The leader swims on, the field turns, the clock ticks."""
        x, y, phase, walk = np.moveaxis(cue, 2, 0)
        way = 2 * math.pi * walk
        step = (rng.shared() - 0.5)[:, None] / self.period * 2
        moved = [(x + 0.05 * np.cos(way)) % 1, (y + 0.05 * np.sin(way)) % 1]
        return np.stack([*moved, (phase + 1 / self.period) % 1, (walk + step) % 1], axis=2)


def swarm_of(kind: str, number: int) -> tuple[swarmdp.Trajectory, swarmdp.System]:
    """The demo of one swarm, and what its agents are taken to observe."""
    seed = derived_seed(2028, [*LOCAL, *CUES].index(kind), number)
    rng = np.random.default_rng(seed)
    given: dict[str, Any] = {
        "n_agents": int(rng.integers(20, 80)),
        "radius": float(rng.uniform(0.08, 0.25)),
        "speed": float(rng.uniform(0.01, 0.05)),
        "noise": math.radians(rng.uniform(5, 25)),
    }
    ranges = {"short range": (0.05, 0.08), "middle range": (0.1, 0.2), "long range": (0.3, 0.5)}
    if kind in ranges:
        given["radius"] = float(rng.uniform(*ranges[kind]))
    elif kind == "nearest":
        given["nearest"] = int(rng.integers(2, 8))
    local = swarmdp.Vicsek(**given)
    swarm: swarmdp.Vicsek = local
    if kind in CUES:
        pull, period = float(rng.uniform(0.15, 0.5)), int(rng.integers(6, 25))
        swarm = Led(**given, cue=kind, pull=pull, period=period)
    full = swarmdp.rollout(swarm, swarm.expert, steps=STEPS, runs=2, seed=seed)
    variables = {name: v for name, v in full.variables.items() if name != "cue"}
    settings = {f.name: getattr(local, f.name) for f in fields(local)}
    return swarmdp.Trajectory(variables, "Vicsek", settings, full.runs, full.steps), local


def row_of(kind: str, number: int) -> dict[str, Any]:
    """What the test says of one swarm."""
    demo, system = swarm_of(kind, number)
    test = swarmdp.locality_test(demo, system, seed=number)
    return {
        "kind": kind,
        "number": number,
        "led": kind in CUES,
        "answer": test.answer,
        "p": round(test.p, 4),
        "strength": round(test.strength, 3),
        "common": round(test.common, 4),
        "way": test.kind,
    }


def study(output: Path, *, quick: bool = False, only: Sequence[str] = ()) -> None:
    """Test all swarms of a part, and write a row for each and a summary."""
    output.mkdir(parents=True, exist_ok=True)
    half, part = SWARMS // 2, "once" if "once" in only else "developed"
    numbers = range(2) if quick else range(half) if part == "developed" else range(half, SWARMS)
    path = output / f"{'quick' if quick else part}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(row["kind"], row["number"]) for row in rows}
    with path.open("a") as file:
        for kind in (*LOCAL, *CUES):
            for number in numbers:
                if (kind, number) not in done:
                    rows.append(row_of(kind, number))
                    file.write(json.dumps(rows[-1]) + "\n")
                    file.flush()
    (output / f"{path.stem}.json").write_text(json.dumps(summary(rows), indent=1) + "\n")
    print(json.dumps(summary(rows), indent=1))


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Right answers of each kind, the area under the curve, and the false alarms."""
    strength = {
        led: np.array([r["strength"] for r in rows if r["led"] == led]) for led in (False, True)
    }
    above = (strength[True][:, None] > strength[False]).mean()
    ties = (strength[True][:, None] == strength[False]).mean()
    answers = {
        kind: {
            answer: sum(r["answer"] == answer for r in rows if r["kind"] == kind)
            for answer in sorted({r["answer"] for r in rows})
        }
        for kind in dict.fromkeys(r["kind"] for r in rows)
    }
    alarms = [r["answer"].startswith("a common") for r in rows if not r["led"]]
    return {
        "swarms": len(rows),
        "area under the curve": round(float(above + ties / 2), 4),
        "false alarms": round(float(np.mean(alarms)), 4),
        "answers": answers,
    }


if __name__ == "__main__":
    main(
        study,
        "locality",
        "How often the test of locality is right. About ten minutes for each part.",
        only="'once' for the swarms that were run once; otherwise those developed with",
    )
