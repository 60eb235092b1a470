"""Is a swarm local, or led? How often `swarmdp.locality_test` says which.

Swarms whose agents see only their neighbourhood, at several ranges, and swarms that follow a cue
which their observations do not show: a hidden field, a hidden leader, a central controller, a
synchronised clock. Each has 40 swarms with settings drawn at random; the first 20 of each kind were
developed with, and the others were run once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import swarmdp
from studies.command import main
from studies.rows import Job, Row, collect, conditions
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


def measured(kind: str, number: int) -> Row:
    """What the test says of one swarm."""
    demo, system = swarm_of(kind, number)
    test = swarmdp.locality_test(demo, system, seed=number)
    return {
        "led": kind in CUES,
        "answer": test.answer,
        "p": round(test.p, 4),
        "strength": round(test.strength, 3),
        "common": round(test.common, 4),
        "way": test.kind,
    }


def study(output: Path, *, quick: bool = False, only: Sequence[str] = ()) -> None:
    """Test all swarms of a part, and write a row for each and the table of all."""
    half, part = SWARMS // 2, "run once" if "once" in only else "developed with"
    numbers = range(2) if quick else range(half) if part != "run once" else range(half, SWARMS)
    jobs = [
        Job({"kind": kind, "number": number, "part": part}, partial(measured, kind, number))
        for kind in (*LOCAL, *CUES)
        for number in numbers
    ]
    rows = collect(
        output / "locality.json",
        jobs,
        conditions(quick=quick),
        lambda row: f"{row['kind']} {row['number']}: {row['answer']} (p = {row['p']})",
    )
    (output / "table.md").write_text(table(rows), encoding="utf-8")
    print(table(rows))


def table(rows: Sequence[Row]) -> str:
    """How often the answer is 'a common cue', of each kind and part, and what it is worth."""
    parts = list(dict.fromkeys(row["part"] for row in rows))
    lines = [
        f"| swarms said to follow a cue | {' | '.join(parts)} |",
        f"| --- |{' --- |' * len(parts)}",
    ]
    for kind in (*LOCAL, *CUES):
        cells = []
        for part in parts:
            some = [r for r in rows if r["kind"] == kind and r["part"] == part]
            cells.append(f"{sum(r['answer'].startswith('a common') for r in some)} of {len(some)}")
        name = f"local, {kind}" if kind in LOCAL else f"led by a {kind}"
        lines.append(f"| {name} | {' | '.join(cells)} |")
    areas = [f"{_area([r for r in rows if r['part'] == part]):.3f}" for part in parts]
    lines.append(f"| area under the curve | {' | '.join(areas)} |")
    return "\n".join(lines) + "\n"


def _area(rows: Sequence[Row]) -> float:
    """How often a led swarm has more in common than a local one."""
    led, local = (
        np.array([row["strength"] for row in rows if row["led"] is which])
        for which in (True, False)
    )
    gaps = led[:, None] - local
    return float((gaps > 0).mean() + (gaps == 0).mean() / 2)


if __name__ == "__main__":
    main(
        study,
        "locality",
        "How often the test of locality is right. About ten minutes for each part.",
        only="'once' for the swarms that were run once; otherwise those developed with",
    )
