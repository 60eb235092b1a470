"""What a reproduction of the paper consists of: systems, numbers of runs, seed."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from swarmdp._version import __version__
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Ints
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Discount, PositiveInteger, Seed
from swarmdp.systems.ising import Ising
from swarmdp.systems.vicsek import Vicsek


@checked
@dataclass(frozen=True)
class Plan:
    """Everything that the numbers of a reproduction depend on."""

    scale: str
    seed: Seed
    vicsek: Vicsek = dataclasses.field(default_factory=Vicsek)
    ising: Ising = dataclasses.field(default_factory=Ising)
    discount: Discount = 0.9
    expert_runs: PositiveInteger = 10_000
    experiments: PositiveInteger = 100  # each learns from one trajectory of its own
    runs_each: PositiveInteger = 100  # roll-outs of each experiment's policy
    vicsek_steps: PositiveInteger = 100
    ising_steps: PositiveInteger = 60
    demo_steps: PositiveInteger = 100
    irl_iterations: PositiveInteger = 20  # of Algorithm 1
    learning_iterations: PositiveInteger | None = None  # of Algorithm 2; None: the learner's own
    radii: tuple[float, ...] = (0.125, 0.05)  # for the uncertainty coefficient
    uncertainty_runs: PositiveInteger = 10_000
    uncertainty_times: tuple[int, ...] = (*range(0, 20, 2), *range(20, 51, 5))
    runs_block: PositiveInteger = 500  # runs in a unit of work
    experiments_block: PositiveInteger = 10  # experiments in a unit of work

    def to_plain(self) -> dict[str, Any]:
        """The plan as plain data, with the version that computes it."""
        return {"version": __version__, **dataclasses.asdict(self, dict_factory=_with_lists)}


def _with_lists(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dictionary as JSON has it, with lists in place of tuples."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in items}


def make_plan(scale: str = "quick", seed: int = 1) -> Plan:
    """The plan of a scale: "smoke" (seconds), "quick" (minutes), "paper" (the paper's numbers)."""
    if scale == "paper":
        return Plan(scale, seed)
    if scale == "quick":
        return Plan(
            scale,
            seed,
            expert_runs=1000,
            experiments=10,
            runs_each=50,
            uncertainty_runs=2000,
            runs_block=250,
            experiments_block=5,
        )
    if scale == "smoke":
        return Plan(
            scale,
            seed,
            vicsek=Vicsek(n_agents=40, radius=0.2),
            ising=Ising((20, 20)),
            expert_runs=400,
            experiments=4,
            runs_each=4,
            vicsek_steps=40,
            ising_steps=20,
            demo_steps=60,
            irl_iterations=3,
            learning_iterations=40,
            uncertainty_runs=600,
            uncertainty_times=(0, 5, 10, 20),
            runs_block=300,
            experiments_block=2,
        )
    raise InvalidInput(f"the scale must be one of {', '.join(SCALES)}, got {scale!r}")


SCALES = ("smoke", "quick", "paper")


def blocks(total: int, size: int) -> list[Ints]:
    """The numbers 0 to total - 1 in blocks of a size; the last may be smaller."""
    return [np.arange(begin, min(begin + size, total)) for begin in range(0, total, size)]
